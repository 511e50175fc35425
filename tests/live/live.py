#!/usr/bin/env python3
"""Kalends against real CalDAV servers: the stdio server through official MCP clients, and the example programs.

  live.py --kalends PATH --root target/live [--agenda NAME=PATH ...] [--servers NAME,...] [--clients NAME,...]

Each server is started by its script in tests/servers and filled by PUT with a calendar of known content
(tests/bench/make_calendar.py); a counting proxy stands before it. The clients are below ROOT (tests/run.sh installs them).
Every check prints a line; a server or a client that does not come up is a failure.
"""
import argparse
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from base64 import b64encode
from collections import Counter

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TESTS, "bench")]
sys.dont_write_bytecode = True
import make_calendar  # noqa: E402
import mcp_bench  # noqa: E402
from proxy import Proxy  # noqa: E402

# name: (folder below ROOT, mode, revision that it negotiates)
CLIENTS = {
    "mcp 1.6.0": ("py-1.6.0", "session", "2024-11-05"),
    "mcp 1.9.4": ("py-1.9.4", "session", "2025-03-26"),
    "mcp 1.16.0": ("py-1.16.0", "session", "2025-06-18"),
    "mcp 1.30.0": ("py-1.30.0", "session", "2025-11-25"),
    "mcp 2.3.0 legacy": ("py-2.3.0", "legacy", "2025-11-25"),
    "mcp 2.3.0 auto": ("py-2.3.0", "auto", "2026-07-28"),
    "sdk 1.32.2": ("ts", "sdk", "2025-11-25"),
    "client 2.4.0 legacy": ("ts", "legacy", "2025-11-25"),
    "client 2.4.0 auto": ("ts", "auto", "2026-07-28"),
}
FAULTS = "mcp 1.30.0"   # the client of the conversations about faults
# server: (script, where the calendars of alice are)
SERVERS = {"radicale": ("radicale.sh", "/alice/"), "radicale 3.7.8": ("radicale-3.7.8.sh", "/alice/"),
           "xandikos": ("xandikos.sh", "/alice/calendars/")}
PROFILES = {"radicale 3.7.8": "radicale"}   # of servers whose reports need it
TOOLS = ["calendar_entities_query", "calendar_occurrences_query", "calendar_resources_changes", "calendar_resources_get",
         "calendars_free_busy", "calendars_inspect", "calendars_list", "todos_query"]
# what each server advertises about scheduling
SCHEDULING = {"radicale": "not_advertised", "radicale 3.7.8": "not_advertised", "xandikos": "advertised"}
RESOURCES, PROPFINDS = 100, 3
NO_CALDAV = {"upstream_protocol_error", "unsupported_capability", "not_found"}
TOO_LARGE = {"limit_exhausted", "payload_too_large", "upstream_protocol_error"}
with open(os.path.join(TESTS, "bench", "servers", "kalends.json")) as f:
    ITEMS = json.load(f)["items"]
DAV, CAL = "{DAV:}", "{urn:ietf:params:xml:ns:caldav}"


class Checks:
    def __init__(self):
        self.passed, self.failed, self.group = 0, [], ""

    def __call__(self, what, ok, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed.append(f"{self.group}: {what}")
        print(f"  {'ok  ' if ok else 'FAIL'} {what}" + ("" if ok or not detail else f": {detail}"), flush=True)

    def of(self, group):
        self.group = group
        print(group, flush=True)


# ---- servers ---------------------------------------------------------------

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def server(script):
    """a rig of tests/servers, up; ended with what it started"""
    folder = tempfile.mkdtemp(prefix="kalends-live.")
    pid = None
    try:
        port = free_port()
        done = subprocess.run([os.path.join(TESTS, "servers", script), str(port), folder], stdout=subprocess.PIPE,
                              text=True, timeout=300)
        with contextlib.suppress(OSError, ValueError), open(os.path.join(folder, "pid")) as f:
            pid = int(f.read())
        if done.returncode:
            raise RuntimeError(f"{script} did not come up")
        yield next(line[5:] for line in done.stdout.splitlines() if line.startswith("BASE="))
    finally:
        if pid:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM)
                for _ in range(100):
                    os.kill(pid, 0)
                    time.sleep(0.05)
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def request(base, method, path, body=None, headers=()):
    c = http.client.HTTPConnection(base.split("/")[2], timeout=120)
    c.request(method, path, body, {"Authorization": "Basic " + b64encode(b"alice:secret").decode(), **dict(headers)})
    r = c.getresponse()
    data = r.read()
    c.close()
    return r.status, data


def fill(base, home, gen):
    """two calendars, one of known content and one empty"""
    for name in ("work", "empty"):
        status, _ = request(base, "MKCALENDAR", f"{home}{name}/", (
            '<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>'
            f'<D:displayname>{name.title()} &amp; more</D:displayname></D:prop></D:set></C:mkcalendar>'), {"Content-Type": "application/xml"})
        if status != 201:
            raise RuntimeError(f"MKCALENDAR {name}: {status}")
    make_calendar.put_all(gen.items, f"{base.rstrip('/')}{home}work/", "alice", "secret")


def listing(base, home):
    """the paths of the calendars in a home, read by another program than the one under test"""
    body = '<propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>'
    _, data = request(base, "PROPFIND", home, body, {"Depth": "1", "Content-Type": "application/xml"})
    return {r.findtext(DAV + "href") for r in ET.fromstring(data).iter(DAV + "response") if r.find(f".//{CAL}calendar") is not None}


def busy_of(gen, first, last):
    """when events that are not transparent take place in a window, joined where they touch; days are those of UTC"""
    out, opaque = [], [o for o in gen.occ if "TRANSP:TRANSPARENT" not in gen.items[o[0]][1]]
    for a, b in sorted((f"{a:%Y-%m-%dT%H:%M:%SZ}", f"{b:%Y-%m-%dT%H:%M:%SZ}") for _, _, a, b in opaque if a < b):
        a, b = max(a, first), min(b, last)
        if a < b and out and a <= out[-1][1]:
            out[-1][1] = max(b, out[-1][1])
        elif a < b:
            out.append([a, b])
    return out


# ---- the stdio server through a client -------------------------------------

def window(truth, name, scope, **more):
    time_of = lambda i: {"kind": "utcDateTime", "value": truth[name][i]}
    return {"tool": "calendar_occurrences_query", "all": True,
            "args": {"scope": scope, "from": time_of(0), "to": time_of(1), "pageSize": 50, **more}}


def converse(a, client, env, steps, timeout=120):
    folder, mode, _ = CLIENTS[client]
    folder = os.path.join(a.root, folder)
    argv = ["node", os.path.join(HERE, "client.mjs"), mode, folder] if folder.endswith("ts") else \
           [os.path.join(folder, "bin", "python"), os.path.join(HERE, "client.py"), mode]
    plan = {"command": [a.kalends], "steps": steps,
            "env": {"CALDAV_USERNAME": "alice", "CALDAV_PASSWORD": "secret", "CALDAV_EVALUATION_TIME_ZONE": "UTC", **env}}
    try:
        done = subprocess.run(argv, input=json.dumps(plan), capture_output=True, text=True, timeout=timeout)
        record = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as e:
        return {"steps": [], "exception": f"{type(e).__name__}: {e}"}
    if "exception" in record:
        record["exception"] += "\n" + done.stderr[-2000:]
    return record


def judge(check, record, steps):
    """what holds for every conversation; tells whether it came to its end"""
    whole = "exception" not in record and len(record["steps"]) == len(steps)
    why = record.get("exception", "").strip().splitlines()[-12:]
    check("the client is content to the end", whole, "\n       ".join(why))
    if not whole:
        return False
    tools = next((out for s, out in zip(steps, record["steps"]) if "tools" in s), [])
    schemas = {t["name"]: t["outputSchema"] for t in tools if t.get("outputSchema")}
    answers = [(s["tool"], out) for s, out in zip(steps, record["steps"]) if "tool" in s]
    check("the text of every answer says the same as its structured content", all(out["mirrored"] for _, out in answers))
    for tool, out in answers:
        if tool in schemas:
            try:
                jsonschema.validate(out["content"], schemas[tool])
            except jsonschema.ValidationError as e:
                check(f"{tool} answers by its own output schema", False, e.message[:300])
    return True


def failed(out, codes):
    """whether an answer is a typed error with one of these codes"""
    c = out["content"] or {}
    return out["error"] and c.get("code") in codes and "outcome" not in c and \
        all(c.get(k) for k in ("category", "message", "phase")) and isinstance(c.get("retryable"), bool)


def said(out):
    c = out["content"] or {}
    return f"{c.get('code') or c.get('outcome')} ({c.get('message', '')})"


def compare(check, what, got, want):
    """occurrences against the truth: (token, start) pairs, all of them and no other"""
    got, want = Counter(got), Counter(tuple(x) for x in want)
    check(f"{what}: {sum(want.values())} occurrences", got == want,
          f"missing {list((want - got).elements())[:5]}, too many {list((got - want).elements())[:5]}")


def rows(check, what, out, truth, occ):
    if out["error"]:
        return check(f"{what}: {len(truth[occ])} occurrences", False, said(out))
    got, _ = mcp_bench.occurrences({"result": {"structuredContent": out["content"]}, "text": ""}, ITEMS)
    midnight = lambda t, s: (t, s[:10]) if s and s.endswith("T00:00:00Z") and [t, s[:10]] in known else (t, s)
    known = [list(x) for x in truth[occ]]       # a day may be told as the midnight that begins it
    compare(check, what, [midnight(t, s) for t, s in got], truth[occ])


def matrix(check, a, client, proxy, home, truth, calendars):
    """the tools through one client: discovery, both windows, one resource, refusals"""
    check.of(f"{client} on {a.server}")
    work = {"mode": "selected", "calendar": {"by": "href", "href": f"{proxy.base}{home}work/"}}
    href = f"{proxy.base}{home}work/{truth['get_uid']}.ics"
    steps = [
        {"tools": True}, {"get": proxy.base + "/__reset"},
        window(truth, "w7", {"mode": "all"}), {"get": proxy.base + "/__counts"},
        {"tool": "calendars_list", "args": {}},
        window(truth, "w365", work), window(truth, "w365", work, pageSize=200, detail="full"),
        {"tool": "calendar_resources_get", "args": {"href": href}},
        {"tool": "calendar_resources_get", "args": {"href": href.replace(".ics", "-not-there.ics")}},
        {"tool": "calendar_occurrences_query", "args": {"scope": {"mode": "all"}, "colour": "red"}},
        {"tool": "calendars_inspect", "args": {"calendarHref": f"{proxy.base}{home}work/"}},
        {"tool": "calendars_free_busy", "args": {"calendarHref": f"{proxy.base}{home}work/", "from": truth["w7"][0], "to": truth["w7"][1]}},
        {"tool": "calendar_resources_changes", "args": {"calendarHref": f"{proxy.base}{home}work/", "pageSize": 40}, "all": True},
    ]
    profile = PROFILES.get(a.server, "")
    record = converse(a, client, {"CALDAV_URL": proxy.base + "/", "CALDAV_INTEROPERABILITY_PROFILE": profile}, steps)
    if not judge(check, record, steps):
        return
    tools, _, week, counts, found, year, full, one, none, wrong, inspected, busy, changes = record["steps"]
    check(f"revision {CLIENTS[client][2]}", record.get("revision") == CLIENTS[client][2], record.get("revision"))
    check("the server names itself and gives instructions", record.get("server") == "kalends" and record.get("instructions"),
          f"{record.get('server')}, {record.get('instructions')}")
    check("lists its tools", sorted(t["name"] for t in tools) == TOOLS, [t["name"] for t in tools])
    rows(check, "week", week, truth, "occ7")
    check(f"a cold week needs {counts}", 1 <= counts.get("PROPFIND", 0) <= PROPFINDS and counts.get("GET", 0) == 0, str(counts))
    got = {c["calendar"]["href"]: c["displayName"] for c in (found["content"] or {}).get("items", [])}
    check(f"finds {len(calendars)} calendars", set(got) == {proxy.base + p for p in calendars}, str(got))
    check("reads display names", got.get(f"{proxy.base}{home}work/") == "Work & more", str(got))
    rows(check, "year", year, truth, "occ365")
    rows(check, "year in full detail", full, truth, "occ365")
    snapshot = (one["content"] or {}).get("snapshot", {})
    projection = snapshot.get("projection", {})
    revision = snapshot.get("entityRevision") or snapshot.get("resourceRevision") or {}   # compact leaves one out
    check("gets a resource", projection.get("uid") == truth["get_uid"] and revision.get("href") == href
          and f"#{truth['get_token']:05d}" in projection.get("fields", {}).get("summary", ""), said(one))
    check("a resource that is not there is not_found", failed(none, {"not_found"}), said(none))
    check("an unknown argument is invalid_input", failed(wrong, {"invalid_input"}), said(wrong))
    c = inspected["content"] or {}
    reports = {r["localName"] for r in c.get("reports", [])}
    check("inspects a calendar", c.get("displayName") == "Work & more" and {"calendar-query", "sync-collection"} <= reports and
          c["scheduling"] == {"state": SCHEDULING[a.server], "statusCode": 200}, f"{said(inspected)} {c}")
    got = [[p["from"], p["to"]] for p in (busy["content"] or {}).get("periods", [])]
    check(f"free/busy: {len(truth['busy7'])} periods", got == truth["busy7"], f"{said(busy)} {got} {truth['busy7']}")
    if profile:
        plain = converse(a, client, {"CALDAV_URL": proxy.base + "/"}, steps[-2:-1])["steps"]
        check("free/busy without the profile is an error", plain and failed(plain[0], {"upstream_protocol_error"}), str(plain)[:300])
    c, later = changes["content"] or {}, (changes.get("later") or {}).get("content") or {}
    got = {x["href"] for x in c.get("changes", []) if x["kind"] == "changed" and x["etag"]}
    want = {f"{proxy.base}{home}work/{uid}.ics" for uid in truth["uids"]}
    check(f"lists {len(want)} resources in pages", got == want and not c["hasMore"] and c["mode"] == "initial", said(changes))
    check("tells no change afterwards", later.get("changes") == [] and later.get("mode") == "incremental", str(later)[:300])


def faults(check, a, proxy, truth):
    """one process lives through a server that misbehaves"""
    check.of(f"faults on {a.server}, in one process")
    plan = [("unauthorized", {"upstream_unauthorized"}), ("html", NO_CALDAV), ("unavailable", {"upstream_unavailable"}),
            ("reset", {"upstream_unavailable"}), ("huge", TOO_LARGE), ("bomb", TOO_LARGE)]
    week = window(truth, "w7", {"mode": "all"})
    steps = [week]
    for name, _ in plan:
        steps += [{"get": f"{proxy.base}/__fault/{name}"}, week]
    steps += [{"get": proxy.base + "/__fault"}, week, {"tools": True}]
    record = converse(a, FAULTS, {"CALDAV_URL": proxy.base + "/"}, steps)
    proxy.fault = ""
    if not judge(check, record, steps):
        return
    out = record["steps"]
    rows(check, "week before", out[0], truth, "occ7")
    for (name, codes), answer in zip(plan, out[2::2]):
        check(f"{name} is {said(answer)}", failed(answer, codes), f"expected one of {sorted(codes)}")
    rows(check, "week after", out[-2], truth, "occ7")


def wrong_settings(a, base):
    """(what, environment, codes) of accounts that cannot work"""
    page = Proxy(fault="html")
    return [("wrong password", {"CALDAV_URL": base, "CALDAV_PASSWORD": "wrong"}, {"upstream_unauthorized"}),
            ("dead port", {"CALDAV_URL": f"http://127.0.0.1:{free_port()}/"}, {"upstream_unavailable"}),
            ("no CalDAV server", {"CALDAV_URL": page.base + "/"}, NO_CALDAV),
            ("no TLS server", {"CALDAV_URL": page.base.replace("http:", "https:") + "/"}, {"upstream_unavailable"})]


def misconfigured(check, a, base, truth):
    for what, env, codes in wrong_settings(a, base):
        check.of(f"{what} on {a.server}")
        steps = [{"tool": "calendars_list", "args": {}}, window(truth, "w7", {"mode": "all"}), {"tools": True}]
        record = converse(a, FAULTS, env, steps)
        if judge(check, record, steps):
            for answer, tool in zip(record["steps"], ("calendars_list", "calendar_occurrences_query")):
                check(f"{tool} is {said(answer)}", failed(answer, codes), f"expected one of {sorted(codes)}")
            check("the server lives on", len(record["steps"][2]) == len(TOOLS))


# ---- the example programs --------------------------------------------------

def agenda(check, a, name, path, proxy, base, truth, todos):
    check.of(f"agenda of {name} on {a.server}")

    def run(env, w, *more):
        env = {"PATH": os.environ["PATH"], "CALDAV_USERNAME": "alice", "CALDAV_PASSWORD": "secret",
               "CALDAV_EVALUATION_TIME_ZONE": "UTC", **env}
        return subprocess.run([path, *truth[w], *more], env=env, capture_output=True, text=True, timeout=120)

    for w, occ in (("w7", "occ7"), ("w365", "occ365")):
        proxy.counts.clear()
        done = run({"CALDAV_URL": proxy.base + "/"}, w, "--tsv")
        lines = [line.split("\t", 1) for line in done.stdout.splitlines()]
        got = [(int(summary[-5:]), start) for start, summary in lines if int(summary[-5:]) not in todos]
        compare(check, w, got, truth[occ])
        check(f"{w} needs {dict(proxy.counts)}", 1 <= proxy.counts["PROPFIND"] <= PROPFINDS, str(dict(proxy.counts)))
        check(f"{w} ends well", done.returncode == 0 and not done.stderr, f"{done.returncode}: {done.stderr[-500:]}")
    done = run({"CALDAV_URL": proxy.base + "/"}, "w7")
    tokens = {f"#{t:05d}" for t, _ in truth["occ7"]}
    check("prints a readable week", done.returncode == 0 and all(t in done.stdout for t in tokens), done.stderr[-500:])
    for what, env, _ in wrong_settings(a, base):
        done = run(env, "w7")
        check(f"{what}: {done.stderr.strip()[:160]}", done.returncode not in (0, 101) and done.stderr.strip() and
              "panicked" not in done.stderr and not done.stdout, f"{done.returncode}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--kalends", required=True)
    ap.add_argument("--root", required=True)
    ap.add_argument("--agenda", action="append", default=[], metavar="NAME=PATH")
    ap.add_argument("--servers", default=",".join(SERVERS))
    ap.add_argument("--clients", default=",".join(CLIENTS))
    a = ap.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))     # servers are ended on the way out
    a.kalends, a.root = os.path.abspath(a.kalends), os.path.abspath(a.root)
    check, began = Checks(), time.monotonic()
    gen = make_calendar.Gen(RESOURCES, 42).run()
    truth, todos = json.loads(json.dumps(gen.truth())), {t for t, _ in gen.todos}
    truth["busy7"] = busy_of(gen, *truth["w7"])
    for name in a.servers.split(","):
        a.server = name
        script, home = SERVERS[name]
        with contextlib.ExitStack() as stack:
            check.of(f"server {name}")
            try:
                base = stack.enter_context(server(script))
                fill(base, home, gen)
                calendars = listing(base, home)
                check(f"is up with {len(calendars)} calendars", home + "work/" in calendars, str(calendars))
            except Exception as e:
                check("is up and filled", False, f"{type(e).__name__}: {e}")
                continue
            for client in a.clients.split(","):
                matrix(check, a, client, Proxy(base), home, truth, calendars)
            faults(check, a, Proxy(base), truth)
            misconfigured(check, a, base, truth)
            for spec in a.agenda:
                agenda(check, a, *spec.split("=", 1), Proxy(base), base, truth, todos)
    print(f"live: {check.passed} checks passed, {len(check.failed)} failed, {time.monotonic() - began:.0f} s")
    for line in check.failed:
        print(f"  FAIL {line}")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
