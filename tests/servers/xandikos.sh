#!/usr/bin/env bash
# Xandikos on loopback.            usage: xandikos.sh [PORT=5234] [DIR]
#   XANDIKOS_VERSION  PyPI version (default 0.4.10)
#   XANDIKOS_STRICT=0 adds --no-strict (workarounds for other clients' faults)
# Xandikos does no authentication on plain HTTP: it runs in multi-user mode behind a small gate (Python, written below) that
# checks Basic auth and passes X-Remote-User. Users alice/secret and bob/secret; --defaults gives each /USER/calendars/calendar/.
# Stop: kill "$(cat DIR/pid)"   (the gate; it ends Xandikos too)
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/common.sh"
port=${1:-5234}
dir=${2:-$(mktemp -d /tmp/rig-xandikos.XXXXXX)}
version=${XANDIKOS_VERSION:-0.4.10}
venv=$RIG_CACHE/xandikos-$version
mkdir -p "$dir/data" "$dir/state"
venv "$venv" "xandikos==$version"
cat >"$dir/gate.py" <<'EOF'
import base64, os, signal, subprocess, sys
from aiohttp import ClientSession, ClientTimeout, UnixConnector, web
port, d, xandikos, *extra = sys.argv[1:]
sock = d + '/sock'
child = subprocess.Popen([xandikos, 'multi-user', '-d', d + '/data', '--state-dir', d + '/state', '--defaults', '--no-detect-systemd',
                          '-l', sock, '--trust-x-remote-user-unix', *extra])
HOP = {'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'te', 'trailer', 'upgrade'}
async def handle(req):
    try:
        u, p = base64.b64decode(req.headers.get('Authorization', '').removeprefix('Basic ')).decode().split(':', 1)
    except Exception:
        u = p = None
    if u not in ('alice', 'bob') or p != 'secret':
        return web.Response(status=401, headers={'WWW-Authenticate': 'Basic realm="rig"'}, text='login needed\n')
    h = [(k, v) for k, v in req.headers.items() if k.lower() not in HOP | {'authorization', 'x-remote-user'}] + [('X-Remote-User', u)]
    body = await req.read()
    async with req.app['s'].request(req.method, 'http://' + req.headers['Host'] + req.raw_path, headers=h, data=body or None, allow_redirects=False) as r:
        out = web.Response(status=r.status, reason=r.reason, body=await r.read())
        for k, v in r.headers.items():
            if k.lower() not in HOP: out.headers[k] = v
        return out
async def start(app): app['s'] = ClientSession(connector=UnixConnector(sock), timeout=ClientTimeout(total=900), auto_decompress=False)
async def stop(app): await app['s'].close(); child.terminate()
app = web.Application(client_max_size=1 << 28); app.router.add_route('*', '/{x:.*}', handle)
app.on_startup.append(start); app.on_cleanup.append(stop)
web.run_app(app, host='127.0.0.1', port=int(port), print=None)
EOF
"$venv/bin/python" "$dir/gate.py" "$port" "$dir" "$venv/bin/xandikos" $([ "${XANDIKOS_STRICT:-1}" = 0 ] && echo --no-strict || true) >"$dir/log" 2>&1 &
echo $! >"$dir/pid"
up "http://127.0.0.1:$port/" 207
for u in alice bob; do propfind "http://127.0.0.1:$port/$u/" "$u:secret" >/dev/null; done
announce "http://127.0.0.1:$port/"
