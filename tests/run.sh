#!/usr/bin/env bash
# All tests: Rust, then the live suite (Kalends against real CalDAV servers, through real MCP clients).
#   usage: tests/run.sh [--no-live | --live] [--all-sets]
#   --no-live   Rust tests only
#   --live      also what needs Debian packages, as root (CI=true means the same)
#   --all-sets  compares 20,000 recurrence sets with other implementations instead of 2,000 (minutes)
# Needs cargo, Python 3.11 and Node 20 (without Node its clients are skipped). Everything is installed below target/.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
live=1 system= sets=2000
[ "${CI:-}" = true ] && system=1
for argument in "$@"; do
  case $argument in
    --no-live) live= ;;
    --live) system=1 ;;
    --all-sets) sets=20000 ;;
    *) sed -n '2,7s/^# //p' "$0" >&2; exit 2 ;;
  esac
done
export PYTHONDONTWRITEBYTECODE=1
. tests/servers/common.sh
target=${CARGO_TARGET_DIR:-$PWD/target}
root=$target/live
step() { # step NAME COMMAND...: runs it and tells how long it took
  local name=$1 began=$SECONDS
  shift
  echo "== $name"
  "$@"
  echo "== $name: $((SECONDS - began)) s"
}
skip() { echo "skipped: $*"; }

# What is installed, while cargo builds: the Debian packages in one go, then the clients and the servers from PyPI.
node=
node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' 2>/dev/null && node=1
packages=(gcc libc6-dev libical-dev python3-venv curl procps cyrus-caldav cyrus-imapd cyrus-common sasl2-bin
  davical php-cli php-curl php-pgsql postgresql sogo memcached php-mbstring php-sqlite3 php-xml php-sabre-dav php-sabre-vobject)
prepare() {
  # A server whose packages do not come is left out, or fails, when its turn comes.
  [ -z "$system" ] || RIG_SYSTEM=1 need "${packages[@]}" || skip "some Debian packages"
  venv "$root/py" python-dateutil==2.9.0.post0 tzdata jsonschema==4.25.1
  venv "$root/recurring" recurring-ical-events==3.8.2 icalendar==7.3.2 tzdata==2026.6
  for v in 3.9.0 3.7.8; do venv "$RIG_CACHE/radicale-$v" radicale==$v; done
  venv "$RIG_CACHE/xandikos-0.4.10" xandikos==0.4.10
  for v in 1.6.0 1.9.4 1.16.0; do venv "$root/py-$v" mcp==$v pydantic==2.11.7; done # newer pydantic breaks them
  for v in 1.30.0 2.3.0; do venv "$root/py-$v" mcp==$v; done
  [ -z "$node" ] || [ -e "$root/ts/.done" ] ||
    { npm install --prefix "$root/ts" --no-audit --no-fund --loglevel error @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0 && touch "$root/ts/.done"; }
}
prepared() { wait "$preparing" || { cat "$root/prepare.log" >&2; return 1; }; cat "$root/prepare.log"; }
if [ -n "$live" ]; then
  mkdir -p "$root"
  (set -e; prepare) >"$root/prepare.log" 2>&1 &
  preparing=$!
  trap 'kill "$preparing" 2>/dev/null || true' EXIT
fi

rust_tests() {
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --workspace --locked
    cargo test --workspace --locked --doc --quiet
  else
    cargo test --workspace --locked --quiet
  fi
}
step "Rust tests" rust_tests

# The same features as above, so that nothing is built twice. Prints NAME=PATH of each agenda example to target/live/agendas.
build() {
  mkdir -p "$root"
  cargo build --workspace --locked --bins --examples --message-format=json-render-diagnostics >"$root/build.json"
  python3 - "$root/build.json" >"$root/agendas" <<'EOF'
import json, os, sys
seen = {}
for line in open(sys.argv[1]):
    m = json.loads(line)
    if m.get("reason") == "compiler-artifact" and m.get("executable") and m["target"]["src_path"].endswith("/examples/agenda.rs"):
        path = m["executable"]
        if path in seen.values():
            sys.exit(f"two examples are built to {path}: give them different names in Cargo.toml")
        seen[os.path.basename(os.path.dirname(os.path.dirname(m["target"]["src_path"])))] = path
for name, path in seen.items():
    print(f"{name}={path}")
EOF
}
step "build" build

demo() {
  local out
  out=$("$target/debug/kalends" demo)
  grep -q mcpServers <<<"$out" && grep -Eq '(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day' <<<"$out" || { echo "$out"; echo "the demo prints no agenda" >&2; return 1; }
}
step "demo" demo

# What the list of tools costs a model.
tokens() {
  [ -e "$root/tokens/.done" ] ||
    { npm install --prefix "$root/tokens" --no-audit --no-fund --loglevel error gpt-tokenizer@4.0.0 && touch "$root/tokens/.done"; }
  node tests/tokens/count.mjs "$target/debug/kalends" "$root/tokens/node_modules"
}
if [ -n "$node" ]; then step "tokens" tokens; else skip "tokens of the tools: no Node 20"; fi

if [ -z "$live" ]; then
  skip "the live suite (--no-live)"
  exit 0
fi
servers="memory,radicale,radicale 3.7.8,xandikos"
if [ -n "$system" ]; then
  export RIG_SYSTEM=1
  servers+=",cyrus,davical,sogo,sabre/dav 1.8"
else
  skip "Cyrus, DAViCal, SOGo, sabre/dav 1.8 (CI=true or --live installs them)"
fi
clients="mcp 1.6.0,mcp 1.9.4,mcp 1.16.0,mcp 1.30.0,mcp 2.3.0 legacy,mcp 2.3.0 auto"
if [ -n "$node" ]; then
  clients+=",sdk 1.32.2,client 2.4.0 legacy,client 2.4.0 auto"
else
  [ "${CI:-}" != true ] || { echo "Node 20 is missing" >&2; exit 1; }
  skip "MCP clients for TypeScript: no Node 20"
fi
step "install" prepared
# The tzdata that Kalends bundles.
recurrence_sets() {
  venv "$root/recurrence" python-dateutil==2.9.0.post0 tzdata==2026.6
  "$root/recurrence/bin/python" tests/recurrence/oracles.py "$target/debug/examples/recurrence_answers" --sets "$sets"
}
step "recurrence sets" recurrence_sets

# Readers that share no code with ours, and the calendar files that come with their sources.
corpus() {
  venv "$root/py-icalendar" icalendar==7.3.2
  [ -e "$root/sdists/.done" ] ||
    { "$root/py-icalendar/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$root/sdists" \
        icalendar==7.3.2 recurring-ical-events==3.8.2 && touch "$root/sdists/.done"; }
  ! command -v npm >/dev/null || [ -e "$root/ts/node_modules/ical.js" ] ||
    npm install --prefix "$root/ts" --no-audit --no-fund --loglevel error ical.js@2.2.1
  "$root/py-icalendar/bin/python" tests/corpus/check.py --program "$target/debug/examples/edit_corpus" --root "$root"
}
step "corpus" corpus

# Random edits of these files, and what three readers find in them.
random_edits() {
  local libical=()
  if [ -n "$system" ]; then
    RIG_SYSTEM=1 need gcc libc6-dev libical-dev
    gcc -O1 -Wall -o "$root/corpus-libical" tests/corpus/dump.c -lical
    libical=(--libical "$root/corpus-libical")
  fi
  "$root/py-icalendar/bin/python" tests/corpus/random_edits.py --program "$target/debug/examples/random_edits" --root "$root" "${libical[@]}"
}
step "random edits" random_edits

# Time zones and VTIMEZONEs against independent readers.
zones() {
  local readers=()
  venv "$root/py-zones" tzdata==2026.6 icalendar==7.3.2 python-dateutil==2.9.0.post0
  if command -v node >/dev/null; then
    [ -e "$root/js-zones/.done" ] ||
      { npm install --prefix "$root/js-zones" --no-audit --no-fund --loglevel error ical.js@2.2.1 cldr-core@48.2.0 && touch "$root/js-zones/.done"; }
    readers+=(--icaljs "$root/js-zones/node_modules")
  else
    skip "ical.js and the Windows names of CLDR: no Node"
  fi
  if [ -n "$system" ]; then
    RIG_SYSTEM=1 need gcc libc6-dev libical-dev
    gcc -O1 -Wall -o "$root/zones-libical" tests/zones/libical.c -lical
    readers+=(--libical "$root/zones-libical")
  else
    skip "libical (CI=true or --live installs it)"
  fi
  "$root/py-zones/bin/python" tests/zones/check.py --zones "$target/debug/examples/zones" "${readers[@]}"
}
step "time zones" zones

agendas=()
while read -r agenda; do agendas+=(--agenda "$agenda"); done <"$root/agendas"
[ ${#agendas[@]} -gt 0 ] || skip "the example programs: there is no examples/agenda.rs"
step "live suite" "$root/py/bin/python" tests/live/live.py --kalends "$target/debug/kalends" --root "$root" --clients "$clients" \
  --servers "$servers" --jobs 2 "${agendas[@]}"
