"""What changes a calendar: the life of Events and To-dos of every form through official clients, guests in both scheduling
modes, and two clients that want the same resource. The calendar `writes` is made for it."""
import contextlib
import os
import re
import tempfile

import rigs

BERLIN = "Europe/Berlin"
YES, NO, EMPTY = ({"action": "accept", "content": {"confirm": True}}, {"action": "decline"}, {"action": "accept", "content": {}})
DAYS = ["2027-03-15", "2027-03-22", "2027-03-29", "2027-04-05", "2027-04-12", "2027-04-19"]   # Mondays, across a change of clocks


def time(form, day, clock="09:00:00"):
    return {"all-day": {"kind": "date", "value": day},
            "utc": {"kind": "utcDateTime", "value": f"{day}T{clock}Z"},
            "floating": {"kind": "floatingDateTime", "value": f"{day}T{clock}"},
            "zoned": {"kind": "zonedDateTime", "value": f"{day}T{clock}", "timeZoneId": BERLIN}}[form]


def plain(value):
    return {"value": value, "parameters": []}


class Plan:
    """a conversation, built step by step; what is expected of an answer stands beside its step"""

    def __init__(self):
        self.steps, self.expected = [], {}

    def add(self, what, tool, args, use=None, outcome="success"):
        if tool not in ("calendar_resources_delete", "calendar_occurrences_query"):
            args = {**args, "detail": "full"}
        self.steps.append({"tool": tool, "args": args, "use": use or {}})
        self.expected[len(self.steps) - 1] = (what, outcome)
        return len(self.steps) - 1

    def answer(self, answer):
        self.steps.append({"answer": answer})
        return len(self.steps) - 1


REVISION = "snapshot/entityRevision"


def event(plan, destination, form):
    """from create to delete"""
    fields = {"summary": f"Life of {form}", "description": "one\ntwo; three, four", "categories": ["a b", "c"],
              "start": time(form, DAYS[0]), "recurrenceSet": {"rrule": "FREQ=WEEKLY;COUNT=6"},
              "end": time(form, "2027-03-16") if form == "all-day" else time(form, DAYS[0], "10:30:00"),
              "structuredData": {"alarms": [{"action": plain("display"), "description": plain("Soon"), "trigger": plain("-PT15M")}]}}
    target = lambda scope, day: {"scope": scope, "recurrenceIdentity": {"value": time(form, day)}}
    scalar = lambda field, value: {"scalars": [{"field": field, "operation": "set", "value": value}]}
    made = plan.add(f"{form}: create", "events_create", {"destination": destination, "entity": {"kind": "event", "fields": fields}})
    read = plan.add(f"{form}: read", "calendar_resources_get", {"href": ""}, {"href": [made, REVISION + "/href"]})
    at = plan.add(f"{form}: patch one occurrence", "events_patch",
                  {"target": target("one-occurrence", DAYS[1]), "patch": scalar("summary", "Another")}, {"snapshot": [read, REVISION]})
    plan.answer(EMPTY)
    plan.add(f"{form}: an empty form changes nothing", "events_patch",
             {"target": target("this-and-future", DAYS[3]), "patch": scalar("location", "Room 7")}, {"snapshot": [at, REVISION]},
             "confirmation_mismatch")
    plan.answer(YES)
    at = plan.add(f"{form}: this and future", "events_patch",
                  {"target": target("this-and-future", DAYS[3]), "patch": scalar("location", "Room 7")}, {"snapshot": [at, REVISION]})
    identity = lambda day: {"recurrenceIdentity": {"value": time(form, day)}}
    at = plan.add(f"{form}: exclude", "calendar_occurrences_exclude", identity(DAYS[2]), {"snapshot": [at, REVISION]})
    at = plan.add(f"{form}: cancel", "calendar_occurrences_cancel", identity(DAYS[4]), {"snapshot": [at, REVISION]})
    plan.add(f"{form}: cancelled already", "calendar_occurrences_cancel", identity(DAYS[4]), {"snapshot": [at, REVISION]}, "no_change")
    plan.add(f"{form}: a stale state", "events_patch", {"target": {"scope": "master"}, "patch": scalar("summary", "Late")},
             {"snapshot": [made, REVISION]}, "conflict")
    rows = plan.add(f"{form}: what is on", "calendar_occurrences_query",
                    {"scope": {"mode": "selected", "calendar": destination["calendar"]},
                     "from": time("utc", "2027-03-01", "00:00:00"), "to": time("utc", "2027-06-01", "00:00:00"), "evaluationTimeZone": BERLIN})
    plan.answer(NO)
    plan.add(f"{form}: not deleted", "calendar_resources_delete", {}, {"revision": [at, REVISION]}, "confirmation_declined")
    plan.answer(YES)
    plan.add(f"{form}: delete", "calendar_resources_delete", {}, {"revision": [at, REVISION]})
    plan.add(f"{form}: gone", "calendar_resources_get", {"href": ""}, {"href": [made, REVISION + "/href"]}, "not_found")
    return rows


def todo(plan, destination):
    entity = lambda **fields: {"destination": destination, "entity": {"kind": "todo", "fields": fields}}
    made = plan.add("to-do: create", "todos_create", entity(summary="Taxes", due=time("zoned", DAYS[0])))
    at = plan.add("to-do: patch", "todos_patch", {"target": {"scope": "master"}, "patch": {"scalars": [
        {"field": "priority", "operation": "set", "value": 1}, {"field": "percentComplete", "operation": "set", "value": 40}]}},
        {"snapshot": [made, REVISION]})
    at = plan.add("to-do: complete", "todos_complete", {}, {"snapshot": [at, REVISION]})
    plan.add("to-do: complete again", "todos_complete", {}, {"snapshot": [at, REVISION]}, "no_change")
    plan.add("to-do: delete", "calendar_resources_delete", {}, {"revision": [at, REVISION]})
    series = plan.add("series of to-dos: create", "todos_create", entity(
        summary="Water the plants", start=time("zoned", DAYS[0]), due=time("zoned", DAYS[0], "12:00:00"), recurrenceSet={"rrule": "FREQ=WEEKLY;COUNT=6"}))
    at = plan.add("series of to-dos: complete one", "todos_complete", {"recurrenceIdentity": {"value": time("zoned", DAYS[1])}},
                  {"snapshot": [series, REVISION]})
    plan.add("series of to-dos: delete", "calendar_resources_delete", {}, {"revision": [at, REVISION]})


def lives(check, a, client, converse, judge, said, proxy):
    """every form of Event and To-do through one client"""
    check.of(f"changes by {client} on {a.server}")
    destination = {"mode": "selected", "calendar": {"by": "href", "href": f"{proxy.base}{a.rig.home}writes/"}}
    plan, on = Plan(), {}
    plan.answer(YES)
    for form in ("zoned", "utc", "floating", "all-day"):
        if form not in a.rig.rewrites:
            on[form] = event(plan, destination, form)
    todo(plan, destination)
    record = converse(a, client, {"CALDAV_URL": a.url(proxy)}, plan.steps, timeout=300)
    for number, (what, outcome) in plan.expected.items():
        out = record["steps"][number] if number < len(record["steps"]) else {"content": None}
        content = out["content"] or {}
        check(what, (content.get("outcome") or content.get("code")) == outcome, said(out))
    if not judge(check, a, record, plan.steps):
        return
    for form, number in on.items():
        rows = (record["steps"][number]["content"] or {}).get("items", [])
        got = [(r["timing"]["effectiveStart"]["value"][:10], r["snapshot"]["projection"]["fields"].get("summary")) for r in rows]
        want = [(DAYS[0], f"Life of {form}"), (DAYS[1], "Another"), (DAYS[3], f"Life of {form}"), (DAYS[5], f"Life of {form}")]
        check(f"{form}: four occurrences are left", got == want, got)
    asked = [message for step, out in zip(plan.steps, record["steps"]) if "answer" in step for message in out]
    check(f"{len(asked)} questions name what is at stake", len(asked) == 4 * len(on) - 1 and all("Entity Tag: " in m and "Title: " in m for m in asked), asked[:2])


def guests(check, a, stdio, ask, said, proxy):
    """what has guests, in both scheduling modes"""
    check.of(f"guests on {a.server}")
    calendar = {"by": "href", "href": f"{proxy.base}{a.rig.home}writes/"}
    person = lambda uri: {"uri": uri, "parameters": []}
    entity = {"kind": "event", "fields": {
        "summary": "With guests", "start": time("zoned", DAYS[0]), "end": time("zoned", DAYS[0], "10:00:00"),
        "structuredData": {"organizer": person("mailto:alice@example.com"), "attendees": [person("mailto:ben@example.com")]}}}
    for mode in ("storage_only", "server_managed"):
        with contextlib.closing(stdio(a, a.url(proxy), CALDAV_SCHEDULING_MODE=mode, CALDAV_CONFIRMATION_POLICY="never")) as server:
            proxy.counts.clear()
            out = ask(check, a, server, "events_create", destination={"mode": "selected", "calendar": calendar}, entity=entity)
            content, puts = out["content"], proxy.counts.get("PUT", 0)
            if a.rig.scheduling == "advertised" and mode == "storage_only":
                check("guests are refused and named where the server would write to them", content.get("code") == "unsupported_capability"
                      and "ben@example.com" in content["message"] and content["mutationState"] == "not_attempted" and puts == 0, said(out))
                continue
            side = {"advertised": "possible", "not_advertised": "none"}[a.rig.scheduling]
            want = side if mode == "server_managed" else None
            good = content.get("mutationState") == "committed" and content.get("schedulingSideEffects") == want and puts == 1
            check(f"guests are written under {mode}", good, f"{said(out)} {content.get('schedulingSideEffects')} {puts}")
            snapshot = content.get("snapshot") or content.get("currentSnapshot") or {}
            if snapshot.get("entityRevision"):
                out = ask(check, a, server, "calendar_resources_delete", revision=snapshot["entityRevision"])
                check("and deleted", out["content"].get("mutationState") == "committed", said(out))
                if out["content"].get("code") is None:
                    check("which says that nobody was asked", out["content"].get("confirmation") == "skipped_by_policy", said(out))


def rewritten(check, a, stdio, ask, said, proxy):
    """what the server does not keep as it was sent is told, and not called a success"""
    destination = {"mode": "selected", "calendar": {"by": "href", "href": f"{proxy.base}{a.rig.home}writes/"}}
    with contextlib.closing(stdio(a, a.url(proxy), CALDAV_CONFIRMATION_POLICY="never")) as server:
        for form in a.rig.rewrites:
            out = ask(check, a, server, "events_create", destination=destination, entity={"kind": "event", "fields": {
                "summary": f"Rewritten {form}", "start": time(form, DAYS[0]), "end": time(form, DAYS[0], "10:00:00")}})
            content = out["content"]
            check(f"a {form} time that is stored otherwise is told", content.get("code") == "fidelity_failure" and content["mutationState"] == "committed"
                  and "DTSTART" in content["message"], said(out))
            revision = content.get("currentSnapshot", {}).get("entityRevision")
            out = ask(check, a, server, "calendar_resources_delete", revision=revision)
            check("and can be deleted", out["content"].get("outcome") == "success", said(out))


def race(check, a, stdio, ask, said, proxy):
    """two clients with the same state of one resource: the second is told, and nothing is lost"""
    check.of(f"two clients on {a.server}")
    destination = {"mode": "selected", "calendar": {"by": "href", "href": f"{proxy.base}{a.rig.home}writes/"}}
    patch = lambda field, value: {"target": {"scope": "master"}, "patch": {"scalars": [{"field": field, "operation": "set", "value": value}]}}
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(contextlib.closing(stdio(a, a.url(proxy), CALDAV_CONFIRMATION_POLICY="never"))) for _ in range(2))
        made = ask(check, a, one, "events_create", destination=destination, entity={"kind": "event", "fields": {
            "summary": "Race", "start": time("zoned", DAYS[0]), "end": time("zoned", DAYS[0], "10:00:00")}})
        revision = made["content"]["snapshot"]["entityRevision"]
        remarks = [d["code"] for d in made["content"]["diagnostics"]]
        check("a server that checks no condition is named", remarks == ([] if a.rig.protects else ["precondition_not_enforced"]), remarks)
        first = ask(check, a, one, "events_patch", snapshot=revision, **patch("summary", "First"))
        second = ask(check, a, two, "events_patch", snapshot=revision, **patch("location", "Second"))
        current = second["content"].get("currentSnapshot", {})
        check("the first is committed", first["content"].get("mutationState") == "committed", said(first))
        check("the second is a conflict that shows the first", second["content"].get("code") == "conflict"
              and second["content"]["mutationState"] == "not_attempted"
              and current.get("projection", {}).get("fields", {}).get("summary") == "First", said(second))
        again = ask(check, a, two, "events_patch", snapshot=current["entityRevision"], **patch("location", "Second"))
        fields = again["content"].get("snapshot", {}).get("projection", {}).get("fields", {})
        check("with the shown state nothing is lost", (fields.get("summary"), fields.get("location")) == ("First", "Second"), said(again))
        body = rigs.request(a.base, "GET", re.sub(r"^https?://[^/]*", "", revision["href"]))[1].decode()
        check("both are stored", "First" in body and "Second" in body, body)
        ask(check, a, one, "calendar_resources_delete", revision=again["content"]["snapshot"]["entityRevision"])


def move(check, a, stdio, ask, said, proxy):
    """to another calendar: where the family of the server is known to do it right, and nowhere else"""
    check.of(f"moves on {a.server}")
    rigs.make(a.base, f"{a.rig.home}moved/", "Moved")
    home = proxy.base + a.rig.home
    to = lambda name: {"mode": "selected", "calendar": {"by": "href", "href": f"{home}{name}/"}}
    fields = {"summary": "Moves", "start": time("zoned", DAYS[0]), "end": time("zoned", DAYS[0], "10:00:00")}
    env = {"CALDAV_CONFIRMATION_POLICY": "never", "CALDAV_INTEROPERABILITY_PROFILE": a.rig.moves}
    with contextlib.closing(stdio(a, a.url(proxy), **env)) as server:
        made = ask(check, a, server, "events_create", destination=to("writes"), entity={"kind": "event", "fields": fields})
        revision = made["content"]["snapshot"]["entityRevision"]
        proxy.counts.clear()
        out = ask(check, a, server, "calendar_resources_move", revision=revision, destination=to("moved"))
        content, counts = out["content"], dict(proxy.counts)
        if a.rig.moves:
            there = content.get("snapshot", {}).get("entityRevision", {})
            check("is moved", content.get("outcome") == "success" and there.get("href", "").startswith(f"{home}moved/"), said(out))
            check(f"in {sum(counts.values())} requests", sum(counts.values()) <= 8 and counts.get("MOVE") == 1, counts)
            gone = ask(check, a, server, "calendar_resources_get", href=revision["href"])
            check("and not where it was", gone["content"].get("code") == "not_found", said(gone))
            revision = there
        else:
            codes = [v["code"] for v in content.get("violations", [])]
            check("a move is refused without a word to the server", content.get("code") == "unsupported_capability" and "MOVE" not in counts
                  and codes == ["interoperability_profile_unverified"] and content["mutationState"] == "not_attempted", f"{said(out)} {codes} {counts}")
        out = ask(check, a, server, "calendar_resources_delete", revision=revision)
        check("it can be deleted afterwards", out["content"].get("outcome") == "success", said(out))


def calendars(check, a, stdio, ask, said, proxy):
    """a Calendar from its creation to its end, and what the server makes of its properties"""
    check.of(f"calendars on {a.server}")
    with contextlib.closing(stdio(a, a.url(proxy), CALDAV_CONFIRMATION_POLICY="never", CALDAV_SCHEDULING_MODE="server_managed")) as server:
        told = lambda out: (out["content"].get("outcome") or out["content"].get("code"), out["content"].get("mutationState"))
        out = ask(check, a, server, "calendars_create", displayName="Made here", entityKinds=["event", "todo"], color="#336699")
        check(f"a calendar is made: {told(out)}", told(out) == a.rig.makes, said(out))
        again = ask(check, a, server, "calendars_create", displayName="made HERE ", entityKinds=["event"])
        check("a name that is taken is refused", told(again) == ("conflict", "not_attempted"), said(again))
        found = [c for c in ask(check, a, server, "calendars_list")["content"]["items"] if c["displayName"] == "Made here"]
        if not found:
            return check("the new calendar is listed", False, said(out))
        href = found[0]["calendar"]["href"]
        out = ask(check, a, server, "calendars_patch", calendarHref=href, patch={"displayName": {"operation": "set", "value": "Renamed"}})
        check(f"is renamed: {told(out)}", told(out) == a.rig.renames, said(out))
        out = ask(check, a, server, "calendars_delete", href=href)
        check(f"is deleted: {told(out)}", told(out) == ("success", "committed"), said(out))
        hrefs = [c["calendar"]["href"] for c in ask(check, a, server, "calendars_list")["content"]["items"]]
        check("and is not listed any more", href not in hrefs, hrefs)


def exact(check, a, stdio, ask, said, proxy):
    """octets as they are, on a server that keeps them or not"""
    check.of(f"exact writes on {a.server}")
    home = f"{proxy.base}{a.rig.home}writes/"
    text = ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:exact\r\nDTSTAMP:20260101T000000Z\r\n"
            "DTSTART:20270315T090000Z\r\nDTEND:20270315T100000Z\r\nSUMMARY:Exact\r\nX-ODD;A=b:c\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
    with contextlib.closing(stdio(a, a.url(proxy), CALDAV_CONFIRMATION_POLICY="never", CALDAV_EXPOSE_EXACT_TOOLS="true")) as server:
        out = ask(check, a, server, "calendar_resources_exact_create", destinationHref=home + "exact.ics", utf8Resource=text)
        told = out["content"].get("outcome") or out["content"].get("code")
        stored = rigs.request(a.base, "GET", f"{a.rig.home}writes/exact.ics")[1]
        check(f"is stored, and told as what it is: {told}", out["content"]["mutationState"] == "committed"
              and (told == "success") == (stored == text.encode()) and told in ("success", "fidelity_failure"), f"{said(out)} {stored}")
        out = ask(check, a, server, "calendar_resources_get", href=home + "exact.ics")
        revision = out["content"]["snapshot"]["entityRevision"]
        again = ask(check, a, server, "calendar_resources_exact_create", destinationHref=home + "exact.ics", utf8Resource=text.replace("Exact", "Other"))
        check("what is there is not overwritten", again["content"].get("mutationState") in ("not_attempted", "not_committed")
              and b"SUMMARY:Exact" in rigs.request(a.base, "GET", f"{a.rig.home}writes/exact.ics")[1], said(again))
        out = ask(check, a, server, "calendar_resources_exact_replace", revision=revision, utf8Resource=text.replace("Exact", "Replaced"))
        check("is replaced", out["content"].get("mutationState") == "committed"
              and b"SUMMARY:Replaced" in rigs.request(a.base, "GET", f"{a.rig.home}writes/exact.ics")[1], said(out))
        out = ask(check, a, server, "calendar_resources_get", href=home + "exact.ics")
        out = ask(check, a, server, "calendar_resources_delete", revision=out["content"]["snapshot"]["entityRevision"])
        check("is deleted", out["content"].get("outcome") == "success", said(out))


def folder(check, a, stdio, ask, said):
    """moves of the account that is a folder"""
    check.of("moves in a folder")
    with tempfile.TemporaryDirectory() as root:
        for name in ("one", "two"):
            os.mkdir(os.path.join(root, name))
        none = {"CALDAV_USERNAME": "", "CALDAV_PASSWORD": "", "CALDAV_CONFIRMATION_POLICY": "never"}
        to = lambda name: {"mode": "selected", "calendar": {"by": "name", "name": name}}
        with contextlib.closing(stdio(a, f"file://{root}", **none)) as server:
            made = ask(check, a, server, "events_create", destination=to("one"), entity={"kind": "event", "fields": {
                "summary": "Moves", "start": time("utc", DAYS[0])}})
            out = ask(check, a, server, "calendar_resources_move", revision=made["content"]["snapshot"]["entityRevision"], destination=to("two"))
            check("is moved", out["content"].get("outcome") == "success" and len(os.listdir(os.path.join(root, "two"))) == 1
                  and not os.listdir(os.path.join(root, "one")), said(out))


def all_of(check, a, clients, converse, judge, stdio, ask, said, proxy):
    rigs.make(a.base, f"{a.rig.home}writes/", "Writes")
    for client in clients:
        lives(check, a, client, converse, judge, said, proxy())
    guests(check, a, stdio, ask, said, proxy())
    rewritten(check, a, stdio, ask, said, proxy())
    race(check, a, stdio, ask, said, proxy())
    move(check, a, stdio, ask, said, proxy())
    calendars(check, a, stdio, ask, said, proxy())
    exact(check, a, stdio, ask, said, proxy())
    if a.server == "radicale":
        folder(check, a, stdio, ask, said)
