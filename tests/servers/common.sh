# Sourced by the rig scripts.
# RIG_CACHE: where virtual environments are kept (default: target/rigs of this project)
RIG_CACHE=${RIG_CACHE:-$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")/target/rigs}
# need PACKAGE...: installs the Debian packages that are missing, but only with CI=true or RIG_SYSTEM=1 (one apt-get update
# when the lists are missing or stale); policy-rc.d keeps them from starting daemons of their own.
need() {
  dpkg -s "$@" >/dev/null 2>&1 && return 0
  if [ "${CI:-}" != true ] && [ "${RIG_SYSTEM:-}" != 1 ]; then
    echo "missing packages ($*): CI=true or RIG_SYSTEM=1 lets this script install them system-wide" >&2
    return 1
  fi
  local made=
  [ -e /usr/sbin/policy-rc.d ] || { printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d; made=1; }
  local ok=0
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1 ||
    { apt-get update >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null; } || ok=1
  [ -z "$made" ] || rm -f /usr/sbin/policy-rc.d
  return $ok
}
# venv DIR REQUIREMENT...: a Python virtual environment, made once
venv() {
  local v=$1; shift
  [ -e "$v/.done" ] && return 0
  python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv || return 1
  python3 -m venv "$v" && "$v/bin/pip" install -q --disable-pip-version-check "$@" && touch "$v/.done"
}
# propfind URL [USER:PASSWORD [DEPTH]]: prints the status of a PROPFIND, 000 if there is no answer (Python: curl may be missing)
propfind() {
  python3 - "$1" "${2:-alice:secret}" "${3:-0}" <<'EOF'
import base64, http.client, sys, urllib.parse
url, user, depth = sys.argv[1:]
u = urllib.parse.urlsplit(url)
try:
    c = http.client.HTTPConnection(u.netloc, timeout=60)
    c.request("PROPFIND", u.path or "/", headers={"Depth": depth, "Authorization": "Basic " + base64.b64encode(user.encode()).decode()})
    r = c.getresponse()
    r.read()
    print(r.status)
except (OSError, http.client.HTTPException):
    print("000")
EOF
}
# up URL CODE LOG: waits (20 s) until URL answers (with CODE, when given, as alice); the server's process is in $dir/pid
up() {
  local _ c
  for _ in $(seq 200); do
    c=$(propfind "$1")
    if [ -n "${2:-}" ]; then [ "$c" = "$2" ] && return 0; elif [ "$c" != 000 ]; then return 0; fi
    kill -0 "$(cat "$dir/pid")" 2>/dev/null || { cat "${3:-$dir/log}" >&2; return 1; }
    sleep 0.1
  done
  echo "no answer from $1 in 20 s" >&2; return 1
}
# announce BASE: what every rig prints when it is up
announce() {
  echo "BASE=$1"
  echo "USERS=alice:secret bob:secret"
  echo "PIDFILE=$dir/pid"
  echo "PID=$(cat "$dir/pid")"
}
