"""Occurrences of 40 windows in 4 evaluation zones, cut from what another implementation (oracle.py) says of the same files."""
import bisect
import datetime as dt
import json
import os
import re
import subprocess
from collections import Counter
from zoneinfo import ZoneInfo

UTC = dt.timezone.utc
ZONES = ["Europe/Lisbon", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"]
SPAN = ("2024-12-20", "2028-03-10")     # days that hold all windows with a margin
# Where recurring-ical-events is not right: (resource, start): (its end, the right end).
# - A series with DTEND has one exact duration (RFC 5545, 3.8.5.3); it keeps the time of the clock instead, which differs
#   in the night of a change of clocks.
# - A To-do that begins on a day has that day, as an Event has (3.6.1); it says nothing about To-dos, and gives none.
DEVIATIONS = {
    ("more/night-shift.ics", "2026-03-28T22:00:00Z"): ("2026-03-29T05:00:00Z", "2026-03-29T06:00:00Z"),
    ("more/night-shift.ics", "2026-10-24T21:00:00Z"): ("2026-10-25T06:00:00Z", "2026-10-25T05:00:00Z"),
    ("more/todo-start.ics", "2026-12-05"): ("2026-12-05", "2026-12-06"),
}
HERE = os.path.dirname(os.path.abspath(__file__))


def windows(zone):
    """40 windows of a minute to 366 days: most from midnight to midnight in the zone, many around a change of clocks"""
    zone = ZoneInfo(zone)
    midnight = lambda day, ahead=0: dt.datetime.combine(dt.date.fromisoformat(day) + dt.timedelta(ahead), dt.time(), zone)
    out = [(midnight(day), midnight(day, 1)) for day in (
        "2026-03-08", "2026-03-29", "2026-04-05", "2026-09-27", "2026-10-25", "2026-11-01", "2027-03-14", "2027-03-28",
        "2026-12-02", "2026-12-03", "2026-12-04", "2027-02-28")]
    out += [(midnight(day), midnight(day, 7)) for day in (
        "2025-03-26", "2025-10-22", "2026-03-05", "2026-03-26", "2026-04-02", "2026-10-22", "2026-10-29", "2026-11-30", "2027-09-23")]
    out += [(midnight(day), midnight(day, 31)) for day in ("2025-01-01", "2026-03-15", "2026-10-15", "2027-12-15")]
    out += [(midnight(day), midnight(day, days)) for day, days in (("2025-06-01", 92), ("2026-09-01", 92), ("2026-06-01", 365), ("2027-01-01", 366))]
    moment = lambda text: dt.datetime.fromisoformat(text).replace(tzinfo=UTC)
    out += [(moment(a), moment(b)) for a, b in (
        ("2026-12-03T11:59:59", "2026-12-03T12:00:00"), ("2026-12-03T12:00:00", "2026-12-03T12:00:01"), ("2026-12-03T16:00:00", "2026-12-03T16:01:00"),
        ("2026-12-02T23:45:00", "2026-12-03T00:15:00"), ("2026-10-25T00:30:00", "2026-10-25T01:30:00"), ("2026-11-01T05:30:00", "2026-11-01T06:30:00"),
        ("2026-03-29T00:59:00", "2026-03-29T01:01:00"), ("2026-12-04T10:00:00", "2026-12-05T10:00:00"), ("2026-11-30T13:37:00", "2026-12-02T08:15:00"),
        ("2026-09-19T12:00:00", "2026-09-30T12:00:00"), ("2028-02-28T18:00:00", "2028-03-01T06:00:00"))]
    assert len(out) == 40
    return [(a.astimezone(UTC), b.astimezone(UTC)) for a, b in out]


def oracle(root, files):
    """{name: [(start, end)]} of all files in SPAN"""
    argv = [os.path.join(root, "recurring", "bin", "python"), os.path.join(HERE, "oracle.py"), *SPAN]
    found = json.loads(subprocess.run(argv, input=json.dumps(files), stdout=subprocess.PIPE, text=True, check=True).stdout)
    for (name, start), (wrong, right) in DEVIATIONS.items():
        if name in found:
            found[name][found[name].index([start, wrong])] = [start, right]
    return found


def instant(text, zone):
    """the moment of a day, a floating time or an instant"""
    if text.endswith("Z"):
        return dt.datetime.fromisoformat(text)
    return dt.datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


class Truth:
    """what is on in a window, in one evaluation zone (RFC 4791, 9.9)"""

    def __init__(self, found, zone):
        zone, self.rows, self.longest = ZoneInfo(zone), [], dt.timedelta()
        for name, rows in found.items():
            for start, end in rows:
                a, b = instant(start, zone), instant(end, zone)
                self.rows.append((a, b, (name, start, end)))
                self.longest = max(self.longest, b - a)
        self.rows.sort()

    def cut(self, first, last):
        low = bisect.bisect_left(self.rows, first - self.longest, key=lambda r: r[0])
        high = bisect.bisect_left(self.rows, last, key=lambda r: r[0])
        # What lasts no time is on at its instant.
        return Counter(what for a, b, what in self.rows[low:high] if b > first or a == b >= first)


# ---- what Kalends says -----------------------------------------------------

def later(local, duration):
    """a local time and a duration: (nominal part added, exact rest)"""
    m = re.fullmatch(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", duration)
    w, d, h, minutes, s = (int(x or 0) for x in m.groups())
    return local + dt.timedelta(weeks=w, days=d), dt.timedelta(hours=h, minutes=minutes, seconds=s)


def plain(time, zone_of):
    """(a stored time in the oracle's form, the time itself)"""
    text = time["value"]
    if len(text) == 10:
        return text, dt.date.fromisoformat(text)
    if not text.endswith("Z") and (zone := time.get("timeZoneId") or (time.get("kind") is None and zone_of)):
        t = dt.datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(WINDOWS.get(zone, zone)))
        return t.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), t
    return text, dt.datetime.fromisoformat(text)


WINDOWS = {"W. Europe Standard Time": "Europe/Berlin"}


def row(r):
    """(calendar/resource, start, end) of a compact row of calendar_occurrences_query"""
    t, snapshot = r["timing"], r["snapshot"]
    href = (snapshot.get("entityRevision") or snapshot["resourceRevision"])["href"]
    start, at = plain(t["effectiveStart"], None)
    if "effectiveEnd" in t:
        end, _ = plain(t["effectiveEnd"], t["effectiveStart"].get("timeZoneId"))
    elif "effectiveDuration" in t:
        to, rest = later(at, t["effectiveDuration"])
        if isinstance(to, dt.datetime) and to.tzinfo:
            end = (to.astimezone(UTC) + rest).strftime("%Y-%m-%dT%H:%M:%SZ")
        else:
            end = (to + rest).isoformat()
    else:
        end = start if isinstance(at, dt.datetime) else (at + dt.timedelta(1)).isoformat()
    known = {"evaluatedStartUtc": start, "evaluatedEndUtc": end}
    start, end = (t[name]["value"] if name in t else value for name, value in known.items())
    return "/".join(href.rsplit("/", 2)[1:]), start, end


def window(first, last):
    time = lambda t: {"kind": "utcDateTime", "value": t.strftime("%Y-%m-%dT%H:%M:%SZ")}
    return {"from": time(first), "to": time(last)}


KEPT = 16       # results that a process keeps for their further pages


def ask(server, zone, first, last, scope):
    """(rows, pages, what went wrong) of one window"""
    args, rows, pages = {**window(first, last), "scope": scope, "evaluationTimeZone": zone, "pageSize": 200}, [], 0
    while True:
        answer, pages = server.call({"tool": "calendar_occurrences_query", "args": args}), pages + 1
        if answer["error"]:
            return rows, pages, answer["error"]
        content = answer["result"]["structuredContent"]
        if content.get("diagnostics") or content.get("temporallyUnresolved"):
            return rows, pages, json.dumps([content.get("diagnostics"), content.get("temporallyUnresolved")])
        rows += content["items"]
        cursor = content["pagination"]["nextCursor"]
        if not cursor:
            return rows, pages, None
        args = {"cursor": cursor, "pageSize": 200}


def compare(check, start, found, scope):
    """all windows in all zones; `found` is the oracle's"""
    for zone in ZONES:
        truth, total, wrong, kept = Truth(found, zone), 0, [], 0
        server = start()
        try:
            for first, last in windows(zone):
                if kept == KEPT:
                    server.close()
                    server, kept = start(), 0
                rows, pages, error = ask(server, zone, first, last, scope)
                kept += pages > 1
                got, want = Counter(map(row, rows)), truth.cut(first, last)
                total += sum(want.values())
                if error or got != want:
                    wrong.append(f"{first:%Y-%m-%dT%H:%MZ}/{last:%Y-%m-%dT%H:%MZ}: {error or ''} missing {list((want - got).elements())[:3]}, "
                                 f"too many {list((got - want).elements())[:3]}")
        finally:
            server.close()
        check(f"40 windows in {zone}: {total} occurrences as recurring-ical-events has them", not wrong,
              f"{len(wrong)} windows\n       " + "\n       ".join(wrong[:4]))
