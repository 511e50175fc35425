#!/usr/bin/env bash
# Measures kalends over an in-memory CalDAV server, beside a bare HTTP client (the floor).   See bench/README.md
#   usage: tests/bench.sh [--sizes 100,1000,10000] [--rounds 10,10,5] [--radicale] [--peers]
#   --radicale  measures over Radicale 3.9.0 too (sizes up to 1,000)
#   --peers     measures other MCP servers too (installed from npm and PyPI)
# Everything is installed and written below target/bench. KALENDS_BIN names a binary to measure instead of a release build.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
sizes=100,1000,10000 rounds=10,10,5 radicale= peers=
while [ $# -gt 0 ]; do
  case $1 in
    --sizes) sizes=$2; shift ;;
    --rounds) rounds=$2; shift ;;
    --radicale) radicale=1 ;;
    --peers) peers=1 ;;
    *) sed -n '2,6s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done
export TZ=UTC PYTHONDONTWRITEBYTECODE=1 BENCH_ROOT=$PWD/target/bench
. tests/servers/common.sh
mkdir -p "$BENCH_ROOT/truth"
run=$(mktemp -d "$BENCH_ROOT/run.XXXXXX")
pids=()
finish() { # every process that this script started, by its pid
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; wait "$p" 2>/dev/null || true; done
  rm -rf "$run"
}
trap finish EXIT
trap 'exit 130' INT TERM

if [ -z "${KALENDS_BIN:-}" ]; then
  cargo build --release --locked -p kalends-mcp --bin kalends
  export KALENDS_BIN=${CARGO_TARGET_DIR:-$PWD/target}/release/kalends
fi
venv "$BENCH_ROOT/py" python-dateutil==2.9.0.post0 tzdata
py=$BENCH_ROOT/py/bin/python
specs=(tests/bench/servers/kalends.json)
if [ "$peers" ]; then
  [ -e "$BENCH_ROOT/npm-caldav-mcp/node_modules/caldav-mcp" ] ||
    npm --prefix "$BENCH_ROOT/npm-caldav-mcp" install --no-audit --no-fund --loglevel error caldav-mcp@0.10.0
  venv "$BENCH_ROOT/py-cal-scheduler-mcp" cal-scheduler-mcp==1.1.3
  venv "$BENCH_ROOT/py-agents-calendar" agents-calendar==0.1.2
  specs+=(tests/bench/servers/{caldav-mcp,cal-scheduler,agents-calendar}.json)
fi

# started LOG PATTERN: waits for the line that says where the server in the last of $pids listens
started() {
  for _ in $(seq 600); do
    if grep -qs "$2" "$1"; then return 0; fi
    kill -0 "${pids[-1]}" 2>/dev/null || { cat "$1" >&2; return 1; }
    sleep 0.1
  done
  echo "no answer in 60 s: $1" >&2; return 1
}
status=0
measure() { # measure LABEL SIZES BASE ARGUMENT...
  echo; echo "## $1"
  "$py" tests/bench/mcp_bench.py --base "$3" --dav-pid "${pids[-1]}" --truth "$BENCH_ROOT/truth" --sizes "$2" --rounds "$rounds" \
    --out "$BENCH_ROOT/$1.json" --log "$BENCH_ROOT/$1.stderr" "${@:4}" "${specs[@]}" || status=1
}

for n in ${sizes//,/ }; do "$py" tests/bench/make_calendar.py --n "$n" --truth "$BENCH_ROOT/truth/$n.json"; done
"$py" tests/bench/fastdav.py --sizes "$sizes" >"$run/fastdav.log" 2>&1 & pids+=($!)
started "$run/fastdav.log" '^ready '
measure fastdav "$sizes" "$(sed -n 's/^ready //p' "$run/fastdav.log")" --stats /__stats

if [ "$radicale" ]; then
  venv "$BENCH_ROOT/radicale-3.9.0" radicale==3.9.0
  some=()
  for n in ${sizes//,/ }; do
    [ "$n" -le 1000 ] || continue
    some+=("$n")
    "$py" tests/bench/make_calendar.py --n "$n" --storage "$run/storage" --user "bench$n" >/dev/null
    echo "bench$n:bench" >>"$run/users"
  done
  port=$("$py" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  "$BENCH_ROOT/radicale-3.9.0/bin/radicale" --server-hosts "127.0.0.1:$port" --auth-type htpasswd --auth-htpasswd-filename "$run/users" \
    --auth-htpasswd-encryption plain --auth-delay 0 --storage-filesystem-folder "$run/storage" >"$run/radicale.log" 2>&1 & pids+=($!)
  started "$run/radicale.log" 'Radicale server ready'
  for n in "${some[@]}"; do # fills Radicale's cache, which the first measured call would pay otherwise
    propfind "http://127.0.0.1:$port/bench$n/work/" "bench$n:bench" 1 >/dev/null
  done
  measure radicale "$(IFS=,; echo "${some[*]}")" "http://127.0.0.1:$port"
fi
exit $status
