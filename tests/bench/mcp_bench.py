#!/usr/bin/env python3
"""Side-by-side benchmark of stdio MCP calendar servers over one CalDAV server.

  mcp_bench.py --base http://127.0.0.1:15240 --truth DIR --sizes 100,1000,10000 \
      --rounds 10,5,3 --out results.json servers/*.json

Every server is described by one mapping file (JSON, see servers/*.json):
  name      label in the tables
  exact     true: the run fails unless every answer is complete and right
  command   argv;  env, cwd: as for a process.  "{base} {user} {password} {calurl}
            {calpath} {w7_start} ..." are filled in from the context below
  setup     calls made once after initialize (untimed); each may "capture" values
            from its answer: {"var": "regex with one group"}
  ops       list_calendars, week, year, search, get, create, update, delete:
            {"tool", "args", "capture", "pre": [calls made before, untimed]} or null
  continue  how the next page of week and year is asked for: {"cursor": path of the
            cursor in the answer, "args"}; "{cursor}" is filled in
  items     how to read occurrences out of an answer:
            {"path": "events", "token": "summary", "start": "start"} for JSON (dots go
            down, "*" flattens, a list of paths: the first that is there, "only":
            {path: value}: rows that count), or {"regex": "...(?P<token>)...(?P<start>)..."}

Cold: a fresh process per sample, its first tool call (the first page). Warm: the same
call again in the same process. All further pages are read untimed, and everything that
was read is compared with the truth. CPU is user + system of the server with its threads
and children during the call. The pseudo server "floor" sends one equivalent CalDAV
request with http.client on a fresh connection and reads the whole answer without
parsing: that is the CalDAV server's own time, and the unit of the ratios.
Servers are interleaved call by call, in a random order of fixed seed each round.
"""
import argparse
import base64
import datetime as dt
import http.client
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

UTC = dt.timezone.utc
OPS = ["list_calendars", "week", "year", "search", "get", "create", "update", "delete"]


MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
ABBR = {"UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}


class Timeout(Exception):
    pass


def fill(x, ctx):
    if isinstance(x, str):
        m = re.fullmatch(r"\{(\w+)\}", x)
        if m and m.group(1) in ctx:
            return ctx[m.group(1)]
        return re.sub(r"\{(\w+)\}", lambda m: str(ctx.get(m.group(1), m.group(0))), x)
    if isinstance(x, list):
        return [fill(y, ctx) for y in x]
    if isinstance(x, dict):
        return {k: fill(v, ctx) for k, v in x.items()}
    return x


def process_tree(pid):
    """a process and all its descendants, from /proc"""
    kids = {}
    for p in os.listdir("/proc"):
        if p.isdigit():
            try:
                with open(f"/proc/{p}/stat") as f:
                    kids.setdefault(int(f.read().rsplit(")", 1)[1].split()[1]), []).append(int(p))
            except OSError:
                pass
    tree, todo = [], [pid]
    while todo:
        q = todo.pop()
        tree.append(q)
        todo += kids.get(q, [])
    return tree


def rss_kib(pid):
    """RSS of a process and of all its descendants"""
    total = 0
    for q in process_tree(pid):
        try:
            with open(f"/proc/{q}/status") as f:
                m = re.search(r"VmRSS:\s+(\d+)", f.read())
            total += int(m.group(1)) if m else 0
        except OSError:
            pass
    return total


def cpu_ms(pid):
    """CPU time (user + system) of a process with its threads, its descendants, and its children that have ended, in ms"""
    tick, total = 1000 / os.sysconf("SC_CLK_TCK"), 0.0
    for q in process_tree(pid):
        try:
            total += time.clock_gettime(((~q) << 3) | 2) * 1000      # Linux: a CPU clock can be read by pid
            with open(f"/proc/{q}/stat") as f:
                total += sum(int(x) for x in f.read().rsplit(")", 1)[1].split()[13:15]) * tick
        except OSError:
            pass
    return total


class Server:
    """One stdio MCP server process."""

    def __init__(self, spec, ctx, errlog):
        self.spec, self.ctx, self.next = spec, dict(ctx), 0
        env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "SYSTEMROOT")}
        env.update({"TZ": "UTC"})
        env.update({k: str(v) for k, v in fill(spec.get("env", {}), ctx).items()})
        t = time.perf_counter()
        self.p = subprocess.Popen(fill(spec["command"], ctx), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=open(errlog, "ab"), env=env, cwd=fill(spec.get("cwd") or "/", ctx),
                                  start_new_session=True)
        r, _ = self.rpc("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                       "clientInfo": {"name": "mcp_bench", "version": "1"}}, 60)
        self.start_ms = (time.perf_counter() - t) * 1000
        self.start_cpu = cpu_ms(self.p.pid)
        self.info = r.get("result", {})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, m):
        self.p.stdin.write(json.dumps(m).encode() + b"\n")
        self.p.stdin.flush()

    def rpc(self, method, params, timeout):
        self.next += 1
        i = self.next
        fired = []
        timer = threading.Timer(timeout, lambda: (fired.append(1), self.kill()))
        timer.start()
        try:
            self.send({"jsonrpc": "2.0", "id": i, "method": method, "params": params})
            while True:
                line = self.p.stdout.readline()
                if not line:
                    raise Timeout("timed out" if fired else "server closed its output")
                try:
                    m = json.loads(line)
                except ValueError:
                    continue
                if m.get("id") == i and ("result" in m or "error" in m):
                    return m, len(line)
                if "method" in m and "id" in m:   # server asks the client: refuse
                    self.send({"jsonrpc": "2.0", "id": m["id"],
                               "error": {"code": -32601, "message": "not supported"}})
        finally:
            timer.cancel()

    def call(self, op, timeout=180):
        for pre in op.get("pre", []):
            self.call(pre, timeout)
        args = fill(op.get("args", {}), self.ctx)
        c = cpu_ms(self.p.pid)
        t = time.perf_counter()
        m, n = self.rpc("tools/call", {"name": op["tool"], "arguments": args}, timeout)
        ms = (time.perf_counter() - t) * 1000
        c = cpu_ms(self.p.pid) - c
        res = m.get("result", {})
        text = "\n".join(c.get("text", "") for c in res.get("content", []) if c.get("type") == "text")
        if not text and res.get("structuredContent"):
            text = json.dumps(res["structuredContent"])
        err = None
        if "error" in m:
            err = json.dumps(m["error"])[:300]
        elif res.get("isError"):
            err = text[:300]
        elif op.get("fail") and re.search(op["fail"], text):
            err = text[:300]
        raw = json.dumps(m)
        for var, rx in op.get("capture", {}).items():
            g = re.search(fill(rx, self.ctx), text) or re.search(fill(rx, self.ctx), raw)
            if g:
                v = g.group(1)
                if "\\" in v:   # captured inside a JSON string
                    try:
                        v = json.loads('"' + v + '"')
                    except ValueError:
                        pass
                self.ctx[var] = v
            elif not err:
                err = f"capture {var} failed: {text[:200]}"
        return {"ms": ms, "cpu": c, "bytes": n, "text": text, "result": res, "error": err}

    def kill(self):
        try:
            os.killpg(self.p.pid, signal.SIGKILL)
        except OSError:
            pass

    def close(self):
        try:
            self.p.stdin.close()
            self.p.wait(3)
        except Exception:
            self.kill()
            self.p.wait()
        try:
            os.killpg(self.p.pid, signal.SIGKILL)   # children that outlived it
        except OSError:
            pass


class Floor:
    """The same CalDAV work with http.client: one request per op."""
    info, start_ms = {}, 0.0

    def __init__(self, ctx):
        u = urlsplit(ctx["base"])
        self.ctx, self.host, self.c = dict(ctx), u.netloc, None
        self.auth = "Basic " + base64.b64encode(f"{ctx['user']}:{ctx['password']}".encode()).decode()

    def req(self, method, path, body=None, headers=None):
        h = {"Authorization": self.auth}
        if body is not None:
            h["Content-Type"] = "application/xml; charset=utf-8"
        h.update(headers or {})
        for attempt in (0, 1):
            try:
                if self.c is None:
                    self.c = http.client.HTTPConnection(self.host, timeout=300)
                self.c.request(method, path, body.encode() if body else None, h)
                r = self.c.getresponse()
                data = r.read()
                if r.will_close:
                    self.c.close()
                    self.c = None
                return r.status, dict(r.getheaders()), data
            except (http.client.HTTPException, OSError):
                self.c = None
                if attempt:
                    raise

    def query(self, flt):
        return ('<?xml version="1.0"?><C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">'
                '<D:prop><D:getetag/><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR">'
                f'<C:comp-filter name="VEVENT">{flt}</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>')

    def do(self, name, timeout=300):
        c = self.ctx
        basic = lambda x: x.replace("-", "").replace(":", "")
        ics = lambda s: ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//floor//EN\r\nBEGIN:VEVENT\r\nUID:floor-event\r\n"
                         f"DTSTAMP:20260101T000000Z\r\nDTSTART:20261203T100000Z\r\nDTEND:20261203T110000Z\r\nSUMMARY:{s}\r\n"
                         "END:VEVENT\r\nEND:VCALENDAR\r\n")
        t = time.perf_counter()
        if name == "list_calendars":
            r = self.req("PROPFIND", c["homepath"], '<?xml version="1.0"?><D:propfind xmlns:D="DAV:"><D:prop><D:displayname/>'
                         '<D:resourcetype/></D:prop></D:propfind>', {"Depth": "1"})
        elif name in ("week", "year"):
            w = "w7" if name == "week" else "w365"
            r = self.req("REPORT", c["calpath"], self.query(
                f'<C:time-range start="{basic(c[w + "_start"])}" end="{basic(c[w + "_end"])}"/>'), {"Depth": "1"})
        elif name == "search":
            r = self.req("REPORT", c["calpath"], self.query(
                f'<C:prop-filter name="SUMMARY"><C:text-match>{c["word"]}</C:text-match></C:prop-filter>'), {"Depth": "1"})
        elif name == "get":
            r = self.req("GET", c["calpath"] + c["get_uid"] + ".ics")
        elif name == "create":
            r = self.req("PUT", c["calpath"] + "floor-event.ics", ics("Floor"), {"Content-Type": "text/calendar", "If-None-Match": "*"})
        elif name == "update":
            r = self.req("PUT", c["calpath"] + "floor-event.ics", ics("Floor changed"), {"Content-Type": "text/calendar"})
        elif name == "delete":
            r = self.req("DELETE", c["calpath"] + "floor-event.ics")
        ms = (time.perf_counter() - t) * 1000
        return {"ms": ms, "bytes": len(r[2]), "text": r[2].decode("utf-8", "replace"), "result": {},
                "error": None if r[0] < 300 else f"HTTP {r[0]}"}


# ---- reading answers -------------------------------------------------------

def down(x, path):
    for k in path.split(".") if path else []:
        if k == "*":
            out = []
            for y in (x.values() if isinstance(x, dict) else x):
                out += y if isinstance(y, list) else [y]
            x = out
        elif isinstance(x, list):
            x = x[int(k)]
        elif isinstance(x, dict):
            x = x.get(k)
        if x is None:
            return None
    return x


def norm(s):
    """-> 'YYYY-MM-DD' or '...Z' or None"""
    if isinstance(s, dict) and s.get("timeZoneId"):
        x = dt.datetime.fromisoformat(s["value"]).replace(tzinfo=ZoneInfo(s["timeZoneId"]))
        return x.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(s, dict):
        s = s.get("dateTime") or s.get("date") or s.get("value") or ""
    s = str(s).strip()
    e = re.match(r"([A-Z][a-z]+) (\d+), (\d{4})(?:,? (?:at )?(\d+):(\d\d)\s*([AP])M\s*(\S*))?", s)
    if e:   # "December 6, 2026, 11:30 AM GMT+5:30"
        x = dt.datetime(int(e.group(3)), MONTHS.index(e.group(1)[:3]) + 1, int(e.group(2)))
        if e.group(4) is None:
            return x.strftime("%Y-%m-%d")
        x = x.replace(hour=int(e.group(4)) % 12 + (12 if e.group(6) == "P" else 0), minute=int(e.group(5)))
        z = e.group(7)
        o = re.match(r"(?:GMT|UTC)([+-])(\d+)(?::(\d\d))?$", z)
        if o:
            x -= (1 if o.group(1) == "+" else -1) * dt.timedelta(hours=int(o.group(2)), minutes=int(o.group(3) or 0))
        elif z in ABBR:
            x -= dt.timedelta(hours=ABBR[z])
        return x.strftime("%Y-%m-%dT%H:%M:%SZ") + ("" if z else "?")
    m = re.match(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):?(\d\d)(?::?(\d\d))?(?:\.\d+)?\s*(Z|UTC|[+-]\d\d:?\d\d)?)?", s)
    if not m:
        return None
    d = "-".join(m.group(1, 2, 3))
    if m.group(4) is None:
        return d
    x = dt.datetime(*[int(v or 0) for v in m.group(1, 2, 3, 4, 5, 6)])
    z = m.group(7)
    if z and z not in ("Z", "UTC"):
        x -= (1 if z[0] == "+" else -1) * dt.timedelta(hours=int(z[1:3]), minutes=int(z[-2:]))
    return x.strftime("%Y-%m-%dT%H:%M:%SZ") + ("" if z else "?")   # "?" = no zone was given


def first(row, paths):
    """what the first of the paths that is there leads to"""
    return next((x for x in (down(row, p) for p in ([paths] if isinstance(paths, str) else paths)) if x is not None), None)


def rows_of(ans, items):
    """the rows of an answer, or None"""
    sc = ans["result"].get("structuredContent")
    for cand in ([sc] if sc is not None else []) + [ans["text"]]:
        try:
            rows = down(json.loads(cand) if isinstance(cand, str) else cand, items["path"])
            if isinstance(rows, list):
                return rows
        except ValueError:
            continue
    return None


def occurrences(ans, items):
    """list of (token, start) in an answer, and the bytes of each row as compact JSON"""
    out, sizes = [], []
    if "regex" in items:
        for m in re.finditer(items["regex"], ans["text"]):
            t = re.search(r"#(\d{5})", m.group("token"))
            if t:
                out.append((int(t.group(1)), norm(m.groupdict().get("start") or "")))
        return out, [len(ans["text"].encode()) // len(out)] * len(out) if out else []
    rows = rows_of(ans, items)
    for row in rows or []:
        if any(down(row, path) != value for path, value in items.get("only", {}).items()):
            continue
        sizes.append(len(json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode()))
        t = re.search(r"#(\d{5})", str(first(row, items["token"])))
        out.append((int(t.group(1)) if t else -1, norm(first(row, items["start"]))))
    return (None if rows is None else out), sizes


def score(got, truth, by_resource=False):
    """how many of the true occurrences are there; by token count and by (token, start)"""
    if got is None:
        return None
    if by_resource:
        g, w = set(t for t, _ in got), set(truth)
        return {"want": len(w), "found": len(g & w), "extra": len(g - w), "rows": len(got)}
    want = Counter(t for t, _ in truth)
    have = Counter(t for t, _ in got)
    ws = Counter((t, s) for t, s in truth)
    hs = Counter()
    noz = 0
    for t, s in got:
        if s and s.endswith("?"):
            noz += 1
            s = s[:-1]
        if s and "T" in s and (t, s) not in ws and (t, s[:10]) in ws and s.endswith("T00:00:00Z"):
            s = s[:10]   # an all-day event told as midnight
        hs[(t, s)] += 1
    return {"want": sum(want.values()), "found": sum((want & have).values()), "extra": sum((have - want).values()),
            "exact": sum((ws & hs).values()), "nozone": noz, "rows": len(got)}


# ---- driver ----------------------------------------------------------------

def context(base, n, truth, userfmt, password):
    u = userfmt.format(n=n)
    day = lambda z: z[:10]
    w7, w365 = truth["w7"], truth["w365"]
    home = f"/{u}/"
    return {"root": os.environ.get("BENCH_ROOT", "target/bench"), "kalends": os.environ.get("KALENDS_BIN", "target/release/kalends"),
            "base": base, "user": u, "password": password, "homepath": home, "calpath": home + "work/",
            "calurl": base + home + "work/", "calname": "Work", "word": truth["search_word"],
            "w7_start": w7[0], "w7_end": w7[1], "w365_start": w365[0], "w365_end": w365[1],
            "w7_start_day": day(w7[0]), "w7_end_day": day(w7[1]),
            "w365_start_day": day(w365[0]), "w365_end_day": day(w365[1]),
            "w7_start_naive": w7[0][:-1], "w7_end_naive": w7[1][:-1],
            "w365_start_naive": w365[0][:-1], "w365_end_naive": w365[1][:-1],
            "get_uid": truth["get_uid"], "get_url": base + home + "work/" + truth["get_uid"] + ".ics",
            "get_path": home + "work/" + truth["get_uid"] + ".ics",
            "new_start": "2026-12-03T10:00:00Z", "new_end": "2026-12-03T11:00:00Z",
            "new_start_naive": "2026-12-03T10:00:00", "new_end_naive": "2026-12-03T11:00:00"}


def stats(a):
    if not a.stats:
        return None
    c = http.client.HTTPConnection(urlsplit(a.base).netloc, timeout=30)
    c.request("GET", a.stats)
    x = json.loads(c.getresponse().read())
    c.close()
    return x


def spread(xs):
    """median, and the range"""
    return {"median": round(statistics.median(xs), 2), "min": round(min(xs), 2), "max": round(max(xs), 2)} if xs else None


def start(specs, a, ctx, rnd):
    """process start to initialize answer, interleaved"""
    out = {}
    for i in range(a.starts):
        for s in rnd.sample(specs, len(specs)):
            try:
                srv = Server(s, ctx, a.log)
            except Exception as e:
                print(f"start {s['name']}: {e}", file=sys.stderr)
                continue
            d = out.setdefault(s["name"], {"ms": [], "cpu": [], "version": srv.info.get("serverInfo")})
            d["ms"].append(srv.start_ms)
            d["cpu"].append(srv.start_cpu)
            if i == 0:
                time.sleep(0.3)
                d["rss_idle_kib"] = rss_kib(srv.p.pid)
                m, n = srv.rpc("tools/list", {}, 60)
                d["tools_list_bytes"], d["tools"] = n, len(m["result"]["tools"])
            srv.close()
    for d in out.values():
        d["ms"], d["cpu"] = spread(d["ms"]), spread(d["cpu"])
    return out


def whole(srv, spec, op, ans, a, second):
    """all occurrences from an answer on, its further pages included; the bytes of their rows; what went wrong. The call for
    the second page is timed into `second`"""
    items = spec["ops"][op].get("items") or spec["items"]
    got, sizes = occurrences(ans, items)
    more, pages = spec.get("continue"), 1
    while more and got is not None:
        cursor = down(ans["result"].get("structuredContent") or {}, more["cursor"])
        if not cursor:
            break
        srv.ctx["cursor"] = cursor
        call = lambda: srv.call({"tool": spec["ops"][op]["tool"], "args": more["args"]}, a.timeout)
        ans = call() if pages > 1 else timed(call, a)
        if pages == 1 and not ans["error"]:
            note(second, ans)
        if ans["error"] or pages == 10000:
            return got, sizes, pages, ans["error"] or "pages without an end"
        rows, more_sizes = occurrences(ans, items)
        got, sizes, pages = got + (rows or []), sizes + more_sizes, pages + 1
    return got, sizes, pages, None


def timed(call, a):
    """one call between two readings of the CalDAV server's counters"""
    h0, c0 = stats(a), cpu_ms(a.dav_pid) if a.dav_pid else 0
    ans = call()
    if a.dav_pid:
        ans["dav_cpu"] = cpu_ms(a.dav_pid) - c0
    if h0:
        h1 = stats(a)
        ans["http"] = [h1["requests"] - h0["requests"], h1["bytes"] - h0["bytes"]]
    return ans


def note(d, ans):
    for key in ("ms", "cpu", "dav_cpu"):
        if key in ans:
            d.setdefault(key, []).append(ans[key])
    if "http" in ans:
        d.setdefault("http", []).append(ans["http"])
    d["bytes"] = ans["bytes"]


def sample(spec, op, a, ctx, want, out):
    """cold and warm call of one operation in one fresh process"""
    cold, warm = out.setdefault("cold", {"errors": []}), out.setdefault("warm", {"errors": []})
    if spec is None:
        floor = Floor(ctx)
        note(cold, timed(lambda: floor.do(op), a))
        note(warm, timed(lambda: floor.do(op), a))
        return
    o = spec["ops"].get(op)
    if not o or len(cold["errors"]) >= 2 or (cold.get("ms") and cold["ms"][-1] > a.slow * 1000):
        return      # a slow call is sampled once
    srv = None
    try:
        srv = Server(spec, ctx, a.log)
        for c in spec.get("setup", []):
            r = srv.call(c, a.timeout)
            if r["error"]:
                raise RuntimeError(f"setup: {r['error']}")
        for d in (cold, warm):
            ans = timed(lambda: srv.call(o, a.timeout), a)
            if ans["error"]:
                d["errors"].append(ans["error"])
                break
            note(d, ans)
            if op in want and "score" not in d:
                got, sizes, d["pages"], error = whole(srv, spec, op, ans, a, d.setdefault("second", {}))
                d["score"] = score(got, want[op], by_resource=op == "search")
                d["row_bytes"] = dict(spread(sizes) or {}, mean=round(statistics.mean(sizes), 1)) if sizes else None
                if error:
                    d["errors"].append(error)
            out["rss_after_kib"] = rss_kib(srv.p.pid)
            if ans["ms"] > a.slow * 1000:
                break
    except Exception as e:
        cold["errors"].append(f"{type(e).__name__}: {e}")
    finally:
        if srv:
            srv.close()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("specs", nargs="+")
    ap.add_argument("--base", default="http://127.0.0.1:15240")
    ap.add_argument("--truth", required=True, help="folder with N.json from make_calendar.py")
    ap.add_argument("--sizes", default="100,1000,10000")
    ap.add_argument("--rounds", default="10,10,5", help="samples of every operation, for each size")
    ap.add_argument("--starts", type=int, default=10)
    ap.add_argument("--userfmt", default="bench{n}")
    ap.add_argument("--password", default="bench")
    ap.add_argument("--out", required=True)
    ap.add_argument("--log", default=os.devnull, help="the servers' standard error")
    ap.add_argument("--timeout", type=float, default=180)
    ap.add_argument("--slow", type=float, default=20, help="seconds; an operation slower than this is sampled once")
    ap.add_argument("--ops", default="list_calendars,week,year,search,get")
    ap.add_argument("--dav-pid", type=int, help="pid of the CalDAV server, to tell its CPU time per call")
    ap.add_argument("--stats", help="path of request counters on the CalDAV server (fastdav: /__stats)")
    a = ap.parse_args()
    specs = [json.load(open(f)) for f in a.specs]
    ops, rnd = a.ops.split(","), random.Random(7)
    sizes, rounds = [int(x) for x in a.sizes.split(",")], [int(x) for x in a.rounds.split(",")]
    rounds += rounds[-1:] * (len(sizes) - len(rounds))
    truths = {n: json.load(open(os.path.join(a.truth, f"{n}.json"))) for n in sizes}
    ctx = context(a.base, sizes[0], truths[sizes[0]], a.userfmt, a.password)
    res = {"when": dt.datetime.now(UTC).isoformat(timespec="seconds"), "start": start(specs, a, ctx, rnd), "sizes": {}}
    for n, R in zip(sizes, rounds):
        truth = truths[n]
        ctx = context(a.base, n, truth, a.userfmt, a.password)
        want = {k: [tuple(x) for x in truth[w]] for k, w in (("week", "occ7"), ("year", "occ365"))}
        want["search"] = truth["search"]
        out = res["sizes"][str(n)] = {s["name"]: {} for s in specs}
        out["floor"] = {}
        for r in range(R):
            for op in ops:
                for spec in rnd.sample([*specs, None], len(specs) + 1):
                    sample(spec, op, a, ctx, want, out[spec["name"] if spec else "floor"].setdefault(op, {}))
            print(f"[{n}] round {r + 1}/{R}", file=sys.stderr, flush=True)
        for by_op in out.values():
            for d in by_op.values():
                for temperature in ("cold", "warm"):
                    for key in ("ms", "cpu", "dav_cpu"):
                        if key in d.get(temperature, {}):
                            d[temperature][key] = spread(d[temperature][key])
    with open(a.out, "w") as f:
        json.dump(res, f, indent=1)
    report(res, ops)
    wrong = [w for s in specs if s.get("exact") for w in faults(s["name"], res)]
    for w in wrong:
        print(f"WRONG: {w}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


def faults(name, res):
    """what an exact server did not get right"""
    if name not in res["start"]:
        yield f"{name} did not start"
    for n, out in res["sizes"].items():
        for op, d in out[name].items():
            for temperature in ("cold", "warm"):
                t = d.get(temperature) or {}
                for e in t.get("errors", []):
                    yield f"{n} {op} {temperature}: {e}"
                s = t.get("score")
                if op in ("week", "year", "search") and (not s or s.get("exact", s["found"]) != s["want"] or s["extra"]):
                    yield f"{n} {op} {temperature}: {s}"


def report(res, ops):
    fmt = lambda x: "—" if x is None else (f"{x:.2f}" if x < 10 else f"{x:.1f}" if x < 100 else f"{x:.0f}")
    print("\n### start\n\n| server | to initialize, ms | CPU ms | idle RSS MiB | tools | tools/list bytes |\n|---|---|---|---|---|---|")
    for name, d in res["start"].items():
        print(f"| {name} | {fmt(d['ms']['median'])} ({fmt(d['ms']['min'])}–{fmt(d['ms']['max'])}) | {fmt(d['cpu']['median'])} "
              f"| {d['rss_idle_kib'] / 1024:.1f} | {d['tools']} | {d['tools_list_bytes']} |")
    for n, out in res["sizes"].items():
        for temperature in ("cold", "warm"):
            print(f"\n### {n} resources, {temperature}: median ms (/ floor) · CPU ms (/ floor) · HTTP requests, kB\n")
            print("| server | " + " | ".join(ops) + " |\n|" + "---|" * (len(ops) + 1))
            for name, by_op in out.items():
                row = []
                for op in ops:
                    d = (by_op.get(op) or {}).get(temperature) or {}
                    if not d.get("ms"):
                        row.append("error" if d.get("errors") else "—")
                        continue
                    floor = out["floor"][op][temperature]["ms"]["median"]
                    cell = f"{fmt(d['ms']['median'])}" + (f" (**{d['ms']['median'] / floor:.2f}**)" if name != "floor" else "")
                    if d.get("cpu"):
                        cell += f" · {fmt(d['cpu']['median'])} (**{d['cpu']['median'] / floor:.2f}**)"
                    if d.get("http"):
                        cell += f" · {max(h[0] for h in d['http'])}, {d['http'][-1][1] // 1000}"
                    row.append(cell)
                print(f"| {name} | " + " | ".join(row) + " |")
        print(f"\n### {n} resources: occurrences found/known +extra (right moment), bytes of a row mean (largest), pages\n")
        print("| server | week cold | week warm | year cold | year warm | RSS after year MiB |\n|---|---|---|---|---|---|")
        later = []
        for name, by_op in out.items():
            if name == "floor":
                continue
            row = []
            for op in ("week", "year"):
                for temperature in ("cold", "warm"):
                    d = (by_op.get(op) or {}).get(temperature) or {}
                    s, b = d.get("score"), d.get("row_bytes")
                    row.append("—" if not s else f"{s['found']}/{s['want']} +{s['extra']} ({s['exact']})"
                               + (f", {b['mean']:.0f} ({b['max']:.0f}) B" if b else "") + f", {d['pages']} p")
            for temperature in ("cold", "warm"):
                d = (by_op.get("year") or {}).get(temperature) or {}
                if d.get("second", {}).get("ms"):
                    second = d["second"]
                    asked = second["http"][0][0] if second.get("http") else "?"
                    later.append(f"{name}, {temperature}: the second page of the year took {second['ms'][0] / d['ms']['median']:.3f} of the first, "
                                 f"CPU {second['cpu'][0]:.2f} ms, {asked} HTTP requests")
            print(f"| {name} | " + " | ".join(row) + f" | {(by_op.get('year') or {}).get('rss_after_kib', 0) / 1024:.1f} |")
        print("".join(f"\n{line}" for line in later))
        for name, by_op in out.items():
            for op, d in by_op.items():
                for e in (d.get("cold") or {}).get("errors", []) + (d.get("warm") or {}).get("errors", []):
                    print(f"\n{name}, {op}: {e[:200]}")


if __name__ == "__main__":
    main()
