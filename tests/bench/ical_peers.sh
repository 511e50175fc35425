#!/usr/bin/env bash
# Parsing and expansion beside calcard, ical-rs, libical (Debian: libical-dev, with a C compiler) and ical.js (npm): CPU time of one
# operation and its ratio to ours, in one run.   See bench/README.md
#   usage: tests/bench/ical_peers.sh
# Everything is installed and written below target/bench. A peer whose tools are missing is left out, and said to be.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
work=$PWD/target/bench/ical-peers
mkdir -p "$work"
cargo bench --locked --quiet -p kalends-core --bench ratios -- --lines --inputs="$work" "parse of" "one of 1000:" "one of 10000:" "one of 200:" >"$work/lines"
if cc -O2 -o "$work/libical" tests/bench/ical_peers.c -lical 2>"$work/cc.log"; then
  "$work/libical" "$work" >>"$work/lines"
else
  echo "left out: libical (libical-dev and a C compiler; see $work/cc.log)" >&2
fi
if command -v npm >/dev/null; then
  [ -e "$work/node_modules/ical.js" ] || npm --prefix "$work" install --no-audit --no-fund --loglevel error ical.js@2.2.1 >/dev/null
  node tests/bench/ical_peers.mjs "$work" "$work/node_modules" >>"$work/lines"
else
  echo "left out: ical.js (Node 20)" >&2
fi
awk -F '\t' '
  !($1 in ours) { order[++measures] = $1 }
  $2 == "kalends" { ours[$1] = $3; next }
  { rows[$1] = rows[$1] sprintf("  %-16s %14.0f ns %8.1fx\n", $2, $3, $3 / ours[$1]) }
  END { for (n = 1; n <= measures; n++) printf "%s: %.1f ns\n%s", order[n], ours[order[n]], rows[order[n]] }
' "$work/lines"
