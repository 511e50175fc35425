#!/usr/bin/env python3
"""All occurrences of calendar files by another implementation: recurring-ical-events on icalendar.

  oracle.py FROM TO <files.json >occurrences.json

FROM and TO are days; files.json holds {name: iCalendar}. The answer holds {name: [[start, end], ...]}: a day (`2026-12-01`),
a floating time (`2026-12-01T08:00:00`) or an instant (`2026-12-01T08:00:00Z`) each. Cancelled occurrences and To-dos without
DTSTART are left out, as Kalends has it.
"""
import datetime as dt
import json
import multiprocessing
import sys

import icalendar
import recurring_ical_events

UTC = dt.timezone.utc


def said(t):
    if not isinstance(t, dt.datetime):
        return t.isoformat()
    return t.isoformat() if t.tzinfo is None else t.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def end(c):
    start = c["DTSTART"].dt
    for name in ("DTEND", "DUE"):
        if name in c:
            return c[name].dt
    if isinstance(start, dt.datetime):
        return start
    return start + dt.timedelta(1)


def occurrences(job):
    name, text, first, last = job
    calendar = icalendar.Calendar.from_ical(text)
    found = recurring_ical_events.of(calendar, components=["VEVENT", "VTODO"]).between(first, last)
    if any("DTSTART" not in c for c in calendar.walk("VTODO")):     # it is given one by the library
        return name, []
    rows = [[said(c["DTSTART"].dt), said(end(c))] for c in found if str(c.get("STATUS", "")).upper() != "CANCELLED"]
    return name, sorted(rows)


def main():
    first, last = (dt.date.fromisoformat(day) for day in sys.argv[1:3])
    jobs = [(name, text, first, last) for name, text in json.load(sys.stdin).items()]
    with multiprocessing.Pool() as pool:
        json.dump(dict(pool.imap_unordered(occurrences, jobs, chunksize=50)), sys.stdout)


if __name__ == "__main__":
    main()
