#!/usr/bin/env python3
"""Kalends against real CalDAV servers: the stdio server through official MCP clients, and the example programs.

  live.py --kalends PATH --root target/live [--agenda NAME=PATH ...] [--servers NAME,...] [--clients NAME,...] [--jobs N]

Each server (rigs.py) is started by its script in tests/servers and filled by PUT with a calendar of known content
(tests/bench/make_calendar.py) and with hand-written resources (mixed.py); a counting proxy stands before it. `memory` is
the bench's server with 10,000 resources, for the comparison of occurrences only (occurrences.py). The clients are below
ROOT (tests/run.sh installs them). Every check prints a line; a client that does not come up is a failure, and so is a
server, but for those that rigs.py lets be left out.

KALENDS_REFERENCE_CATALOG may name a catalog of tools with output schemas: each error and each full result is validated by it.
"""
import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TESTS, "bench")]
sys.dont_write_bytecode = True
import entities  # noqa: E402
import kills  # noqa: E402
import make_calendar  # noqa: E402
import mcp_bench  # noqa: E402
import mixed  # noqa: E402
import occurrences  # noqa: E402
import rigs  # noqa: E402
import writes  # noqa: E402
from proxy import Proxy  # noqa: E402
from rigs import RIGS  # noqa: E402

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
WRITERS = {"mcp 1.30.0", "mcp 2.3.0 auto", "sdk 1.32.2", "client 2.4.0 auto"}     # asked in the middle of a call, and by a further one
FAULTS = "mcp 1.30.0"   # the client of the conversations about faults
TOOLS = ["calendar_entities_query", "calendar_occurrences_add", "calendar_occurrences_cancel", "calendar_occurrences_exclude",
         "calendar_occurrences_query", "calendar_occurrences_restore_cancellation", "calendar_occurrences_restore_exclusion",
         "calendar_resources_changes", "calendar_resources_delete", "calendar_resources_get", "calendar_resources_move",
         "calendars_create", "calendars_delete", "calendars_free_busy", "calendars_inspect", "calendars_list", "calendars_patch", "events_create", "events_patch", "todos_complete", "todos_create", "todos_patch",
         "todos_query"]
RESOURCES, MORE, MEMORY, PROPFINDS = 100, 1000, 10_000, 3     # MORE on Radicale 3.9 only
# tools whose results have two forms
DETAIL = {tool for tool in TOOLS if tool.startswith(("events_", "todos_", "calendar_occurrences_"))} | {
    "calendar_entities_query", "calendar_resources_get", "calendar_resources_move", "calendar_resources_exact_create",
    "calendar_resources_exact_replace"}
NO_CALDAV = {"upstream_protocol_error", "unsupported_capability", "not_found"}
TOO_LARGE = {"limit_exhausted", "payload_too_large", "upstream_protocol_error"}
with open(os.path.join(TESTS, "bench", "servers", "kalends.json")) as f:
    ITEMS = json.load(f)["items"]


class Checks:
    def __init__(self, rig=None):
        self.passed, self.failed, self.group, self.validated, self.began = 0, [], "", 0, time.monotonic()
        self.refuses, self.refused = rig.refuses if rig else {}, set()

    def __call__(self, what, ok, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed.append(f"{self.group}: {what}")
        print(f"  {'ok  ' if ok else 'FAIL'} {what}" + ("" if ok or not detail else f": {detail}"), flush=True)

    def of(self, group):
        self.group = group
        print(f"{time.monotonic() - self.began:.0f} s: {group}", flush=True)

    def takes(self, what, out):
        """whether a server does what is asked; if it is known not to, its refusal has to be the known one"""
        code = self.refuses.get(what)
        if code:
            self.refused.add(what)
            self(f"{what} is refused: {code}", out == code if isinstance(code, int) else failed(out, {code}), str(out)[:300])
        return code is None


class Reference:
    """the output schemas of another catalog, if there is one"""

    def __init__(self, path):
        self.tools, self.defs = {}, {}
        if path:
            with open(path) as f:
                catalog = json.load(f)
            self.defs = catalog["$defs"]
            for tool in catalog["tools"]:
                schema = {"$schema": catalog["$schema"], **tool["outputSchema"], "$defs": self.defs}
                self.tools[tool["name"].replace(".", "_")] = jsonschema.Draft202012Validator(schema)

    def validate(self, check, tool, args, error, content):
        """errors, and results in full detail"""
        whole = error or args.get("detail") == "full" or tool not in DETAIL
        if not whole or tool not in self.tools:
            return
        wrong = next(self.tools[tool].iter_errors(content), None)
        check.validated += 1
        if wrong:
            check(f"{tool} answers by the reference catalog", False, f"{wrong.json_path}: {wrong.message[:600]}")


# ---- what is true ----------------------------------------------------------

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


def judge(check, a, record, steps):
    """what holds for every conversation; tells whether it came to its end"""
    whole = "exception" not in record and len(record["steps"]) == len(steps)
    why = record.get("exception", "").strip().splitlines()[-12:]
    check("the client is content to the end", whole, "\n       ".join(why))
    if not whole:
        return False
    tools = next((out for s, out in zip(steps, record["steps"]) if "tools" in s), [])
    schemas = {t["name"]: t["outputSchema"] for t in tools if t.get("outputSchema")}
    answers = [(s["tool"], s["args"], out) for s, out in zip(steps, record["steps"]) if "tool" in s]
    check("the text of every answer says the same as its structured content", all(out["mirrored"] for _, _, out in answers))
    for tool, args, out in answers:
        a.reference.validate(check, tool, args, out["error"], out["content"])
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


def matrix(check, a, client, proxy):
    """the tools through one client: discovery, both windows, one resource, refusals"""
    check.of(f"{client} on {a.server}")
    truth, home = a.truth, proxy.base + a.rig.home
    work = {"mode": "selected", "calendar": {"by": "href", "href": f"{home}work/"}}
    href = f"{home}work/{truth['get_uid']}.ics"
    steps = [
        {"tools": True}, {"get": proxy.base + "/__reset"},
        window(truth, "w7", {"mode": "all"}), {"get": proxy.base + "/__counts"},
        {"tool": "calendars_list", "args": {}},
        window(truth, "w365", work), window(truth, "w365", work, pageSize=200, detail="full"),
        {"tool": "calendar_entities_query", "args": {"scope": work, "entityKinds": ["todo"], "detail": "full", "pageSize": 3}, "all": True},
        {"tool": "todos_query", "args": {"scope": work, "detail": "full", "pageSize": 2}, "all": True},
        {"tool": "calendar_resources_get", "args": {"href": href}},
        {"tool": "calendar_resources_get", "args": {"href": href, "detail": "full"}},
        {"tool": "calendar_resources_get", "args": {"href": href.replace(".ics", "-not-there.ics")}},
        {"tool": "calendar_occurrences_query", "args": {"scope": {"mode": "all"}, "colour": "red"}},
        {"tool": "calendars_inspect", "args": {"calendarHref": f"{home}work/"}},
        {"tool": "calendars_free_busy", "args": {"calendarHref": f"{home}work/", "from": truth["w7"][0], "to": truth["w7"][1]}},
        {"tool": "calendar_resources_changes", "args": {"calendarHref": f"{home}work/", "pageSize": 40}, "all": True},
    ]
    profile = a.rig.profile
    record = converse(a, client, {"CALDAV_URL": a.url(proxy), "CALDAV_INTEROPERABILITY_PROFILE": profile}, steps)
    if not judge(check, a, record, steps):
        return
    tools, _, week, counts, found, year, full, stored, todo, one, whole, none, wrong, inspected, busy, changes = record["steps"]
    check(f"revision {CLIENTS[client][2]}", record.get("revision") == CLIENTS[client][2], record.get("revision"))
    check("the server names itself and gives instructions", record.get("server") == "kalends" and record.get("instructions"),
          f"{record.get('server')}, {record.get('instructions')}")
    check("lists its tools", sorted(t["name"] for t in tools) == TOOLS, [t["name"] for t in tools])
    rows(check, "week", week, truth, "occ7")
    check(f"a cold week needs {counts}", 1 <= counts.get("PROPFIND", 0) <= PROPFINDS and counts.get("GET", 0) == 0, str(counts))
    got = {c["calendar"]["href"]: c["displayName"] for c in (found["content"] or {}).get("items", [])}
    want = {f"{home}{name}/" for name in a.rig.own | {"work", "empty"}}
    check(f"finds {len(want)} calendars", set(got) == want, str(got))
    check("reads display names", got.get(f"{home}work/") == a.rig.work, str(got))
    rows(check, "year", year, truth, "occ365")
    rows(check, "year in full detail", full, truth, "occ365")
    for what, out, want in (("to-dos", stored, len(a.gen.todos)), ("open to-dos", todo, sum(1 for _, done in a.gen.todos if not done))):
        check(f"{want} {what} in pages", not out["error"] and len(out["content"]["items"]) == want, said(out))
    for what, out in (("gets a resource", one), ("gets a resource in full detail", whole)):
        snapshot = (out["content"] or {}).get("snapshot", {})
        projection = snapshot.get("projection", {})
        revision = snapshot.get("entityRevision") or snapshot.get("resourceRevision") or {}   # compact leaves one out
        check(what, projection.get("uid") == truth["get_uid"] and revision.get("href") == href
              and f"#{truth['get_token']:05d}" in projection.get("fields", {}).get("summary", ""), said(out))
    check("a resource that is not there is not_found", failed(none, {"not_found"}), said(none))
    check("an unknown argument is invalid_input", failed(wrong, {"invalid_input"}), said(wrong))
    c = inspected["content"] or {}
    want = {"calendar-query"} | ({"sync-collection"} if "calendar_resources_changes" not in a.rig.refuses else set())
    got = {r["localName"] for r in c.get("reports", [])} & {"calendar-query", "sync-collection"}
    check("inspects a calendar", c.get("displayName") == a.rig.work and got == want and
          c["scheduling"] == {"state": a.rig.scheduling, "statusCode": 200}, f"{said(inspected)} {c}")
    if check.takes("calendars_free_busy", busy):
        got = [[p["from"], p["to"]] for p in (busy["content"] or {}).get("periods", [])]
        check(f"free/busy: {len(truth['busy7'])} periods", got == truth["busy7"], f"{said(busy)} {got} {truth['busy7']}")
    if profile:
        plain = converse(a, client, {"CALDAV_URL": a.url(proxy)}, steps[-2:-1])["steps"]
        check("free/busy without the profile is an error", plain and failed(plain[0], {"upstream_protocol_error"}), str(plain)[:300])
    if check.takes("calendar_resources_changes", changes):
        c, later = changes["content"] or {}, (changes.get("later") or {}).get("content") or {}
        got = {x["href"] for x in c.get("changes", []) if x["kind"] == "changed" and x["etag"]}
        want = {f"{home}work/{uid}.ics" for uid in truth["uids"]}
        check(f"lists {len(want)} resources in pages", got == want and not c["hasMore"] and c["mode"] == "initial", said(changes))
        check("tells no change afterwards", later.get("changes") == [] and later.get("mode") == "incremental", str(later)[:300])


def faults(check, a, proxy):
    """one process lives through a server that misbehaves"""
    check.of(f"faults on {a.server}, in one process")
    plan = [("unauthorized", {"upstream_unauthorized"}), ("html", NO_CALDAV), ("unavailable", {"upstream_unavailable"}),
            ("reset", {"upstream_unavailable"}), ("huge", TOO_LARGE), ("bomb", TOO_LARGE)]
    truth = a.truth
    week = window(truth, "w7", {"mode": "all"})
    steps = [week]
    for name, _ in plan:
        steps += [{"get": f"{proxy.base}/__fault/{name}"}, week]
    steps += [{"get": proxy.base + "/__fault"}, week, {"tools": True}]
    record = converse(a, FAULTS, {"CALDAV_URL": a.url(proxy)}, steps)
    proxy.fault = ""
    if not judge(check, a, record, steps):
        return
    out = record["steps"]
    rows(check, "week before", out[0], truth, "occ7")
    for (name, codes), answer in zip(plan, out[2::2]):
        check(f"{name} is {said(answer)}", failed(answer, codes), f"expected one of {sorted(codes)}")
    rows(check, "week after", out[-2], truth, "occ7")


def wrong_settings(base):
    """(what, environment, codes) of accounts that cannot work"""
    page = Proxy(fault="html")
    return [("wrong password", {"CALDAV_URL": base, "CALDAV_PASSWORD": "wrong"}, {"upstream_unauthorized"}),
            ("dead port", {"CALDAV_URL": f"http://127.0.0.1:{rigs.free_port()}/"}, {"upstream_unavailable"}),
            ("no CalDAV server", {"CALDAV_URL": page.base + "/"}, NO_CALDAV),
            ("no TLS server", {"CALDAV_URL": page.base.replace("http:", "https:") + "/"}, {"upstream_unavailable"})]


def misconfigured(check, a):
    truth = a.truth
    for what, env, codes in wrong_settings(a.base):
        check.of(f"{what} on {a.server}")
        steps = [{"tool": "calendars_list", "args": {}}, window(truth, "w7", {"mode": "all"}), {"tools": True}]
        record = converse(a, FAULTS, env, steps)
        if judge(check, a, record, steps):
            for answer, tool in zip(record["steps"], ("calendars_list", "calendar_occurrences_query")):
                check(f"{tool} is {said(answer)}", failed(answer, codes), f"expected one of {sorted(codes)}")
            check("the server lives on", len(record["steps"][2]) == len(TOOLS))


# ---- the example programs --------------------------------------------------

def agenda(check, a, name, path, proxy):
    check.of(f"agenda of {name} on {a.server}")
    truth, url = a.truth, a.url(proxy)

    def run(env, w, *more):
        env = {"PATH": os.environ["PATH"], "CALDAV_USERNAME": "alice", "CALDAV_PASSWORD": "secret",
               "CALDAV_EVALUATION_TIME_ZONE": "UTC", **env}
        return subprocess.run([path, *truth[w], *more], env=env, capture_output=True, text=True, timeout=120)

    for w, occ in (("w7", "occ7"), ("w365", "occ365")):
        proxy.counts.clear()
        done = run({"CALDAV_URL": url}, w, "--tsv")
        lines = [line.split("\t", 1) for line in done.stdout.splitlines()]
        got = [(int(summary[-5:]), start) for start, summary in lines if int(summary[-5:]) not in a.todos]
        compare(check, w, got, truth[occ])
        check(f"{w} needs {dict(proxy.counts)}", 1 <= proxy.counts["PROPFIND"] <= PROPFINDS, str(dict(proxy.counts)))
        check(f"{w} ends well", done.returncode == 0 and not done.stderr, f"{done.returncode}: {done.stderr[-500:]}")
    done = run({"CALDAV_URL": url}, "w7")
    tokens = {f"#{t:05d}" for t, _ in truth["occ7"]}
    check("prints a readable week", done.returncode == 0 and all(t in done.stdout for t in tokens), done.stderr[-500:])
    for what, env, _ in wrong_settings(a.base):
        done = run(env, "w7")
        check(f"{what}: {done.stderr.strip()[:160]}", done.returncode not in (0, 101) and done.stderr.strip() and
              "panicked" not in done.stderr and not done.stdout, f"{done.returncode}")


# ---- content ---------------------------------------------------------------

def stdio(a, url, **env):
    """a bare stdio process"""
    env = {"CALDAV_URL": url, "CALDAV_USERNAME": "alice", "CALDAV_PASSWORD": "secret", "CALDAV_EVALUATION_TIME_ZONE": "UTC", **env}
    return mcp_bench.Server({"command": [a.kalends], "env": env}, {}, os.devnull)


def ask(check, a, server, tool, **args):
    """one answer, validated; a later page has the detail of its first"""
    answer = server.call({"tool": tool, "args": args})
    out = {"error": bool(answer["error"]), "content": answer["result"].get("structuredContent")}
    if "cursor" not in args:
        server.detail = args.get("detail")
    a.reference.validate(check, tool, {"detail": server.detail}, out["error"], out["content"])
    return out


def more(check, a):
    """the hand-written resources, as the server takes them"""
    check.of(f"more on {a.server}")
    rigs.make(a.base, a.rig.home + "more/", "More")
    resources = {name: mixed.file(name, components) for name, components in mixed.EVENTS.items()}
    resources.update({name: mixed.file(name, components, "VTODO") for name, (components, _) in mixed.TODOS.items()})
    for name, text in resources.items():
        status = rigs.put(a.base, f"{a.rig.home}more/{name}.ics", text)
        if check.takes(f"PUT {name}", status):
            check(f"PUT {name}", status == 201, status)
            for put, kept in a.rig.stores.get(name, []):
                text = text.replace(put, kept.replace("\n", "\r\n"))
            a.files[f"more/{name}.ics"] = text


def many(check, a):
    """one more calendar, of another size; its scope"""
    rigs.make(a.base, a.rig.home + "many/", "Many")
    gen = make_calendar.Gen(MORE, 42).run()
    status = rigs.put(a.base, a.rig.home + "many/", make_calendar.joined(gen.items))
    check(f"PUT of {MORE} resources", status == 201, status)
    a.files = {f"many/{uid}.ics": text for uid, text in gen.items}
    return {"mode": "selected", "calendar": {"by": "href", "href": f"http://{urlsplit(a.base).netloc}{a.rig.home}many/"}}


def stored(check, a, proxy):
    """entities and To-dos"""
    check.of(f"entities and to-dos on {a.server}")
    with contextlib.closing(stdio(a, a.url(proxy))) as server:
        some = lambda tool, **args: ask(check, a, server, tool, **args)
        entities.entities(check, some, a.files, occurrences.oracle(a.root, a.files))
        entities.todos(check, some, a.files)


def word(check, a, proxy):
    """a word that stands only in an override; a resource that is made anew under its name while a process runs"""
    check.of(f"words and new content on {a.server}")
    all_of = {"scope": {"mode": "all"}, **occurrences.window(*(occurrences.instant(t, None) for t in ("2026-11-01T00:00:00Z", "2027-02-01T00:00:00Z")))}

    def found(**args):
        out = ask(check, a, server, "calendar_occurrences_query", **all_of, **args)
        return said(out) if out["error"] else [(occurrences.row(r)[:2], r["snapshot"]["projection"]["fields"]["summary"]) for r in out["content"]["items"]]

    with contextlib.closing(stdio(a, a.url(proxy))) as server:
        got = found(text=mixed.WORD)
        check("a word of an override is found", got == [(("more/word.ics", "2026-12-03T20:00:00Z"), "Choir sings the Quagga song")], got)
        got = found(text=mixed.WORD + " choir", categories=["no such"])
        check("a category that is nowhere is not found", got == [], got)
        got = found(text="busy", categories=["très important"])
        check("a category with other letters is found", got == [(("more/transparent.ics", "2026-12-03T07:00:00Z"), "Not busy")], got)
        path = f"{a.rig.home}more/{mixed.AGAIN}.ics"
        for n, (components, start) in enumerate(mixed.AGAIN_AS):
            status = rigs.put(a.base, path, mixed.file(mixed.AGAIN, components))
            got = found(text=mixed.AGAIN)
            check(f"content {n + 1} under one name is shown", status == 201 and got == [((f"more/{mixed.AGAIN}.ics", start), f"Again {n + 1}")], f"{status} {got}")
            status, _ = rigs.request(a.base, "DELETE", path)
            check("it is deleted", status in (200, 204), status)
        got = found(text=mixed.AGAIN)
        check("what is deleted is not shown", got == [], got)


def warm(check, a, proxy):
    """what an equal query costs in a process that has asked before"""
    check.of(f"warm queries on {a.server}")
    with contextlib.closing(stdio(a, a.url(proxy))) as server:
        calendars = len(ask(check, a, server, "calendars_list")["content"]["items"])
        for w in ("w7", "w365"):
            args = {**window(a.truth, w, {"mode": "all"})["args"], "pageSize": 200, "detail": "full"}
            first = ask(check, a, server, "calendar_occurrences_query", **args)
            proxy.counts.clear()
            proxy.bodies = 0
            again = ask(check, a, server, "calendar_occurrences_query", **args)
            counts = dict(proxy.counts)
            check("the answer is the same", not first["error"] and again["content"].get("items") == first["content"].get("items"), said(again))
            check(f"{w} needs {counts} on {calendars} calendars", counts.get("PROPFIND", 0) <= 1 and counts.get("REPORT", 0) <= 2 * calendars
                  and set(counts) <= {"PROPFIND", "REPORT"})
            check(f"{w} brings {proxy.bodies} bodies again", (proxy.bodies == 0) == a.rig.shelf)


def rooted(check, a):
    """discovery from the host alone (RFC 6764)"""
    check.of(f"discovery on {a.server}")
    root = "http://" + urlsplit(a.base).netloc
    with contextlib.closing(stdio(a, root + "/")) as server:
        out = ask(check, a, server, "calendars_list")
    if check.takes("discovery from the host alone", out):
        got = {c["calendar"]["href"] for c in (out["content"] or {}).get("items", [])}
        want = {f"{root}{a.rig.home}{name}/" for name in a.rig.own | {"work", "empty"}}
        check(f"finds {len(want)} calendars from the host alone", got == want, f"{said(out)} {got}")


def on(check, a):
    """the whole suite on one server that is up"""
    with contextlib.ExitStack() as stack:
        check.of(f"server {a.server}")
        try:
            a.base = stack.enter_context(rigs.server(a.rig.script))
        except Exception as e:
            if a.rig.must:
                return check("is up", False, f"{type(e).__name__}: {e}")
            return print(f"skipped: {a.server} ({type(e).__name__}: {e})", flush=True)
        a.url = lambda proxy: proxy.base + urlsplit(a.base).path
        for name in ("work", "empty"):
            rigs.make(a.base, f"{a.rig.home}{name}/", f"{name.title()} &amp; more")
        rigs.fill(a.base, a.rig.home + "work/", a.gen.items)
        a.files = {f"work/{uid}.ics": text for uid, text in a.gen.items}
        clients = a.clients if not a.rig.client else [a.rig.client if a.rig.client in a.clients else FAULTS]
        for client in clients:
            matrix(check, a, client, Proxy(a.base))
        if not a.rig.system:
            faults(check, a, Proxy(a.base))
        misconfigured(check, a)
        rooted(check, a)
        for spec in a.agenda:
            agenda(check, a, *spec.split("=", 1), Proxy(a.base))
        more(check, a)
        word(check, a, Proxy(a.base))
        warm(check, a, Proxy(a.base))
        writers = [client for client in a.clients if client in WRITERS]
        writes.all_of(check, a, writers, converse, judge, stdio, ask, said, lambda: Proxy(a.base))
        stored(check, a, Proxy(a.base))
        if a.server == "radicale":
            kills.run(check, a, stdio)
        check.of(f"occurrences on {a.server}")
        scope = many(check, a) if a.server == "radicale" else {"mode": "all"}
        occurrences.compare(check, lambda: stdio(a, a.base), occurrences.oracle(a.root, a.files), scope)
        check("every refusal that is known of it was met", check.refused == set(a.rig.refuses), set(a.rig.refuses) - check.refused)


def memory(check, a):
    check.of(f"occurrences of {MEMORY} resources in memory")
    files = {f"work/{uid}.ics": text for uid, text in make_calendar.Gen(MEMORY, 42).run().items}
    with rigs.in_memory(MEMORY) as base:
        start = lambda: stdio(a, base, CALDAV_USERNAME=f"bench{MEMORY}")
        occurrences.compare(check, start, occurrences.oracle(a.root, files), {"mode": "all"})


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--kalends", required=True)
    ap.add_argument("--root", required=True)
    ap.add_argument("--agenda", action="append", default=[], metavar="NAME=PATH")
    ap.add_argument("--servers", default=",".join(["memory", *RIGS]))
    ap.add_argument("--clients", default=",".join(CLIENTS))
    ap.add_argument("--jobs", type=int, default=1, help="servers at a time, each with a process of this suite")
    a = ap.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))     # servers are ended on the way out
    began, servers, a.clients = time.monotonic(), a.servers.split(","), a.clients.split(",")
    if len(servers) > 1:
        return each(a, servers, began)
    a.kalends, a.root = os.path.abspath(a.kalends), os.path.abspath(a.root)
    a.server, a.rig = servers[0], RIGS.get(servers[0])
    a.reference = Reference(os.environ.get("KALENDS_REFERENCE_CATALOG"))
    check = Checks(a.rig)
    if a.rig is None:
        memory(check, a)
    else:
        a.gen = make_calendar.Gen(RESOURCES, 42).run()
        a.truth, a.todos = json.loads(json.dumps(a.gen.truth())), {t for t, _ in a.gen.todos}
        a.truth["busy7"] = busy_of(a.gen, *a.truth["w7"])
        try:
            on(check, a)
        except Exception as e:
            check("the suite comes to its end", False, f"{type(e).__name__}: {e}")
            traceback.print_exc()
    told = f", {check.validated} results valid by the reference catalog" if a.reference.tools else ""
    print(f"live: {a.server}: {check.passed} checks passed, {len(check.failed)} failed{told}, {time.monotonic() - began:.0f} s")
    for line in check.failed:
        print(f"  FAIL {line}")
    sys.exit(1 if check.failed else 0)


def each(a, servers, began):
    """every server by a process of its own; what one has to say is printed when it is done"""
    children = []

    def run(name):
        argv = [sys.executable, os.path.abspath(__file__), "--kalends", a.kalends, "--root", a.root, "--servers", name,
                "--clients", ",".join(a.clients), *(x for spec in a.agenda for x in ("--agenda", spec))]
        child = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        children.append(child)
        said, _ = child.communicate()
        print(said, end="", flush=True)
        return child.returncode, said

    pool = ThreadPoolExecutor(a.jobs)
    try:
        results = list(pool.map(run, servers))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.terminate()
        raise
    lines = [line for _, said in results for line in said.splitlines()]
    print(f"\nlive suite: {time.monotonic() - began:.0f} s")
    for line in lines:
        if line.startswith(("live: ", "  FAIL ", "skipped: ")):
            print(line)
    sys.exit(1 if any(code for code, _ in results) else 0)


if __name__ == "__main__":
    main()
