#!/usr/bin/env bash
# Radicale on loopback.            usage: radicale.sh [PORT=5232] [DIR]
#   RADICALE_VERSION  PyPI version (default 3.9.0)
#   RIG_CACHE         where the venv is kept (default target/rigs)
# Users alice/secret and bob/secret (htpasswd, plain).  The calendar home is /USER/.
# Radicale makes a principal on its first authenticated request; no calendar exists at the start.
# Stop: kill "$(cat DIR/pid)"
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"
port=${1:-5232}
dir=${2:-$(mktemp -d /tmp/rig-radicale.XXXXXX)}
version=${RADICALE_VERSION:-3.9.0}
venv=$RIG_CACHE/radicale-$version
mkdir -p "$dir/collections"

venv "$venv" "radicale==$version"

printf 'alice:secret\nbob:secret\n' >"$dir/users"
cat >"$dir/config" <<EOF
[server]
hosts = 127.0.0.1:$port
[auth]
type = htpasswd
htpasswd_filename = $dir/users
htpasswd_encryption = plain
delay = 0
[storage]
filesystem_folder = $dir/collections
[logging]
level = warning
EOF

"$venv/bin/radicale" --config "$dir/config" >"$dir/log" 2>&1 &
echo $! >"$dir/pid"
up "http://127.0.0.1:$port/"
for u in alice bob; do propfind "http://127.0.0.1:$port/$u/" "$u:secret" >/dev/null; done
announce "http://127.0.0.1:$port/"
