#!/usr/bin/env python3
"""Deterministic CalDAV test calendar with known answers.

Writes a Radicale collection folder directly (--storage) or PUTs into any
CalDAV collection (--put), and a truth file (JSON) that says which occurrences
a correct client must report for two windows, which resources a text search
must find, and so on.  The expansion of the truth is done here, on naive local
times, with python-dateutil and zoneinfo only: no iCalendar library is used.

  make_calendar.py --n 1000 --storage STORAGE \
      --user bench1000 --calendar work --truth 1000.json

Mix: 70 % single timed events over 3 years (2025-2027), 10 % all-day,
15 % recurring (weekly 60 %, monthly 25 %, yearly 15 %; EXDATE in about half,
overrides in about 40 %) in 8 time zones, 5 % todos.  Every SUMMARY carries a
token "#00042" that is unique to the resource, so answers of any server can be
matched with the truth whatever IDs it prints.
"""
import argparse
import base64
import datetime as dt
import http.client
import json
import os
import random
import shutil
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

UTC = dt.timezone.utc
# name -> (standard offset, standard name, daylight offset, name, DST start rule, end rule)
ZONES = {
    "America/New_York": ("-0500", "EST", "-0400", "EDT",
                         ("20070311T020000", "FREQ=YEARLY;BYMONTH=3;BYDAY=2SU"),
                         ("20071104T020000", "FREQ=YEARLY;BYMONTH=11;BYDAY=1SU")),
    "America/Los_Angeles": ("-0800", "PST", "-0700", "PDT",
                            ("20070311T020000", "FREQ=YEARLY;BYMONTH=3;BYDAY=2SU"),
                            ("20071104T020000", "FREQ=YEARLY;BYMONTH=11;BYDAY=1SU")),
    "Europe/Berlin": ("+0100", "CET", "+0200", "CEST",
                      ("19960331T020000", "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"),
                      ("19961027T030000", "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU")),
    "Europe/London": ("+0000", "GMT", "+0100", "BST",
                      ("19960331T010000", "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"),
                      ("19961027T020000", "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU")),
    "Australia/Sydney": ("+1000", "AEST", "+1100", "AEDT",
                         ("20081005T020000", "FREQ=YEARLY;BYMONTH=10;BYDAY=1SU"),
                         ("20080406T030000", "FREQ=YEARLY;BYMONTH=4;BYDAY=1SU")),
    "Asia/Kolkata": ("+0530", "IST", None, None, None, None),
    "Asia/Tokyo": ("+0900", "JST", None, None, None, None),
    "America/Sao_Paulo": ("-0300", "-03", None, None, None, None),
}
WORDS = ("quarterly budget review planning roadmap retro design sync interview onboarding "
         "dentist yoga choir school parents travel flight hotel invoice audit release "
         "standup deployment incident customer demo workshop training lunch coffee").split()
PLACES = ["Room 4.12, Building C", "Zoom https://zoom.example/j/88213377", "Café Central; table 3",
          "HQ, 1 Main St, Springfield", "Online", ""]
W7 = (dt.datetime(2026, 11, 30, tzinfo=UTC), dt.datetime(2026, 12, 7, tzinfo=UTC))
W365 = (dt.datetime(2026, 6, 1, tzinfo=UTC), dt.datetime(2027, 6, 1, tzinfo=UTC))
FIRST, DAYS = dt.date(2025, 1, 1), 365 * 3
NEEDLE = "zebrafinch"  # rare word for the text search: 1 in 200 single events


def vtimezone(name):
    so, sn, do, dn, ds, de = ZONES[name]
    out = ["BEGIN:VTIMEZONE", f"TZID:{name}"]
    if do is None:
        out += ["BEGIN:STANDARD", "DTSTART:19700101T000000", f"TZOFFSETFROM:{so}",
                f"TZOFFSETTO:{so}", f"TZNAME:{sn}", "END:STANDARD"]
    else:
        out += ["BEGIN:DAYLIGHT", f"DTSTART:{ds[0]}", f"RRULE:{ds[1]}", f"TZOFFSETFROM:{so}",
                f"TZOFFSETTO:{do}", f"TZNAME:{dn}", "END:DAYLIGHT",
                "BEGIN:STANDARD", f"DTSTART:{de[0]}", f"RRULE:{de[1]}", f"TZOFFSETFROM:{do}",
                f"TZOFFSETTO:{so}", f"TZNAME:{sn}", "END:STANDARD"]
    return out + ["END:VTIMEZONE"]


def fold(line):
    raw = line.encode()
    if len(raw) <= 75:
        return line
    parts, cur = [], b""
    for ch in line:
        b = ch.encode()
        if len(cur) + len(b) > (75 if not parts else 74):
            parts.append(cur)
            cur = b""
        cur += b
    parts.append(cur)
    return "\r\n ".join(p.decode() for p in parts)


def esc(s):
    return s.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")


def fmt(x):
    return x.strftime("%Y%m%d") if not isinstance(x, dt.datetime) else x.strftime("%Y%m%dT%H%M%S")


class Gen:
    def __init__(self, n, seed):
        self.r = random.Random(seed * 1000003 + n)
        self.n = n
        self.items = []   # (uid, text)
        self.occ = []     # (token, start "YYYY-MM-DD" or "...Z", startdt, enddt)
        self.search = []
        self.todos = []
        self.kinds = {"single": 0, "allday": 0, "recurring": 0, "todo": 0}

    def uid(self):
        h = "%032x" % self.r.getrandbits(128)
        return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    def dtprop(self, name, x, tz):
        if not isinstance(x, dt.datetime):
            return f"{name};VALUE=DATE:{fmt(x)}"
        if tz is None:
            return f"{name}:{fmt(x)}Z"
        return f"{name};TZID={tz}:{fmt(x)}"

    def common(self, i, rare):
        w = self.r.sample(WORDS, 3)
        summary = f"{w[0].capitalize()} {w[1]}{' ' + NEEDLE if rare else ''} #{i:05d}"
        out = [f"SUMMARY:{esc(summary)}"]
        desc = " ".join(self.r.choice(WORDS) for _ in range(self.r.randint(5, 45)))
        out.append("DESCRIPTION:" + esc(f"Agenda:\n- {desc}\n- notes; see https://wiki.example/{w[2]}"))
        p = self.r.choice(PLACES)
        if p:
            out.append("LOCATION:" + esc(p))
        if self.r.random() < 0.3:
            out.append(f"CATEGORIES:{w[2].upper()},WORK")
        if self.r.random() < 0.2:
            out.append("ORGANIZER;CN=Boss:mailto:boss@example.com")
            for k in range(self.r.randint(1, 4)):
                out.append(f"ATTENDEE;CN=Person {k};ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=TRUE"
                           f":mailto:person{k}@example.com")
        return summary, out

    def alarm(self):
        if self.r.random() < 0.4:
            return ["BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Reminder",
                    "TRIGGER:-PT15M", "END:VALARM"]
        return []

    def emit(self, uid, comps, tzs):
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//bench//make_calendar//EN", "CALSCALE:GREGORIAN"]
        for z in sorted(tzs):
            lines += vtimezone(z)
        for c in comps:
            lines += c
        lines.append("END:VCALENDAR")
        self.items.append((uid, "\r\n".join(fold(x) for x in lines) + "\r\n"))

    def add_occ(self, token, start, dur, tz):
        if isinstance(start, dt.datetime):
            a = start.replace(tzinfo=ZoneInfo(tz) if tz else UTC).astimezone(UTC)
            # nominal duration: end has the same wall clock difference; all of ours are under a
            # day and none starts between 00:00 and 04:00 local, so it equals the exact one
            b = (start + dur).replace(tzinfo=ZoneInfo(tz) if tz else UTC).astimezone(UTC)
            self.occ.append((token, a.strftime("%Y-%m-%dT%H:%M:%SZ"), a, b))
        else:
            a = dt.datetime.combine(start, dt.time(), UTC)
            self.occ.append((token, start.isoformat(), a, a + dur))

    def single(self, i):
        self.kinds["single"] += 1
        uid, rare = self.uid(), self.r.random() < 1 / 200
        tz = self.r.choice([None, None] + list(ZONES))
        day = FIRST + dt.timedelta(self.r.randrange(DAYS))
        start = dt.datetime.combine(day, dt.time(self.r.randint(7, 18), self.r.choice([0, 15, 30, 45])))
        dur = dt.timedelta(minutes=self.r.choice([15, 30, 45, 60, 60, 90, 120]))
        summary, c = self.common(i, rare)
        self.emit(uid, [["BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20250101T000000Z", "CREATED:20250101T000000Z",
                         "LAST-MODIFIED:20250101T000000Z", "SEQUENCE:0", self.dtprop("DTSTART", start, tz),
                         self.dtprop("DTEND", start + dur, tz)] + c + ["STATUS:CONFIRMED", "TRANSP:OPAQUE"]
                        + self.alarm() + ["END:VEVENT"]], {tz} - {None})
        self.add_occ(i, start, dur, tz)
        if rare:
            self.search.append(i)

    def allday(self, i):
        self.kinds["allday"] += 1
        uid = self.uid()
        day = FIRST + dt.timedelta(self.r.randrange(DAYS))
        dur = dt.timedelta(self.r.choice([1, 1, 1, 2, 5]))
        summary, c = self.common(i, False)
        self.emit(uid, [["BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20250101T000000Z",
                         self.dtprop("DTSTART", day, None), self.dtprop("DTEND", day + dur, None)] + c
                        + ["TRANSP:TRANSPARENT", "END:VEVENT"]], set())
        self.add_occ(i, day, dur, None)

    def recurring(self, i):
        self.kinds["recurring"] += 1
        r, uid = self.r, self.uid()
        allday = r.random() < 0.15
        tz = None if allday else r.choice(list(ZONES))
        day = dt.date(2024, 6, 1) + dt.timedelta(r.randrange(365 * 3))
        kind = r.choices(["w", "m", "y"], [60, 25, 15])[0]
        BYDAY = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
        if kind == "w":
            days = sorted({day.weekday()} | ({r.randrange(5)} if r.random() < 0.4 else set()))
            rule = "FREQ=WEEKLY" + (";INTERVAL=2" if r.random() < 0.3 else "") + ";BYDAY=" + ",".join(BYDAY[d] for d in days)
            step = 7
        elif kind == "m":
            if r.random() < 0.5:
                day = day.replace(day=min(day.day, 28))
                rule = f"FREQ=MONTHLY;BYMONTHDAY={day.day}"
            else:
                nth = (day.day - 1) // 7 + 1
                if nth == 5:
                    day -= dt.timedelta(7)
                    nth = 4
                rule = f"FREQ=MONTHLY;BYDAY={nth}{BYDAY[day.weekday()]}"
            step = 31
        else:
            day = day.replace(day=min(day.day, 28))
            rule = "FREQ=YEARLY"
            step = 366
        start = day if allday else dt.datetime.combine(day, dt.time(r.randint(7, 18), r.choice([0, 30])))
        lim = r.random()
        if lim < 0.25:
            rule += f";COUNT={r.randint(4, 60) if kind == 'w' else r.randint(2, 20)}"
        elif lim < 0.5:
            until = day + dt.timedelta(r.randint(step * 3, 900 + step * 2))
            if allday:
                rule += f";UNTIL={fmt(until)}"
            else:
                u = dt.datetime.combine(until, dt.time(23, 59, 59)).replace(tzinfo=ZoneInfo(tz)).astimezone(UTC)
                rule += f";UNTIL={fmt(u)}Z"
        dur = dt.timedelta(1) if allday else dt.timedelta(minutes=r.choice([30, 60, 90]))
        # expand on naive local time
        nstart = dt.datetime.combine(start, dt.time()) if allday else start
        nrule = rule
        if "UNTIL=" in rule:
            nrule = rule[:rule.index("UNTIL=")] + "UNTIL=" + fmt(dt.datetime.combine(until, dt.time(23, 59, 59)))
        hits = [x for x in rrulestr(nrule, dtstart=nstart).between(
            nstart, dt.datetime(2030, 1, 1), inc=True)]
        if allday:
            hits = [x.date() for x in hits]
        # exdates and overrides are chosen near our windows as well as anywhere
        cand = hits[1:]
        near = [x for x in cand if dt.date(2026, 11, 25) <= (x if allday else x.date()) <= dt.date(2026, 12, 9)]
        ex, ov = [], []
        if cand and r.random() < 0.5:
            ex = sorted(set(r.sample(cand, min(len(cand), r.randint(1, 4)))))
            if near and r.random() < 0.3:
                ex = sorted(set(ex) | {r.choice(near)})
        rest = [x for x in cand if x not in ex]
        if rest and r.random() < 0.4:
            ov = set(r.sample(rest, min(len(rest), r.randint(1, 2))))
            nr = [x for x in near if x not in ex]
            if nr and r.random() < 0.4:
                ov |= {r.choice(nr)}
            ov = sorted(ov)
        summary, c = self.common(i, False)
        head = ["BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20250101T000000Z"]
        master = head + [self.dtprop("DTSTART", start, tz), self.dtprop("DTEND", start + dur, tz), "RRULE:" + rule]
        if ex:
            if r.random() < 0.5:
                p = self.dtprop("EXDATE", ex[0], tz)
                master.append(p + "".join("," + fmt(x) for x in ex[1:]))
            else:
                master += [self.dtprop("EXDATE", x, tz) for x in ex]
        comps = [master + c + self.alarm() + ["END:VEVENT"]]
        for x in hits:
            if x not in ex and x not in ov:
                self.add_occ(i, x, dur, tz)
        for x in ov:
            if allday:
                ns = x + dt.timedelta(r.choice([0, 1, 2]))
            else:
                ns = x + dt.timedelta(days=r.choice([0, 0, 1]))
                ns = ns.replace(hour=r.randint(7, 18))
            comps.append(head + [self.dtprop("RECURRENCE-ID", x, tz), self.dtprop("DTSTART", ns, tz),
                                 self.dtprop("DTEND", ns + dur, tz), f"SUMMARY:{esc('Moved: ' + summary)}",
                                 "SEQUENCE:1", "END:VEVENT"])
            self.add_occ(i, ns, dur, tz)
        self.emit(uid, comps, {tz} - {None})

    def todo(self, i):
        self.kinds["todo"] += 1
        uid = self.uid()
        day = FIRST + dt.timedelta(self.r.randrange(DAYS))
        summary, c = self.common(i, False)
        done = self.r.random() < 0.4
        lines = ["BEGIN:VTODO", f"UID:{uid}", "DTSTAMP:20250101T000000Z", self.dtprop("DUE", day, None)] + c
        lines += ["STATUS:COMPLETED", "PERCENT-COMPLETE:100", "COMPLETED:20260101T120000Z"] if done else \
                 ["STATUS:NEEDS-ACTION", f"PRIORITY:{self.r.choice([1, 5, 9])}"]
        self.emit(uid, [lines + ["END:VTODO"]], set())
        self.todos.append((i, done))

    def run(self):
        n = self.n
        order = (["single"] * (n * 70 // 100) + ["allday"] * (n * 10 // 100)
                 + ["recurring"] * (n * 15 // 100) + ["todo"] * (n * 5 // 100))
        order += ["single"] * (n - len(order))
        self.r.shuffle(order)
        for i, k in enumerate(order):
            getattr(self, k)(i)
        if not self.search:   # small calendars: make sure that the search has one hit
            for j, (uid, text) in enumerate(self.items):
                if order[j] == "single":
                    self.items[j] = (uid, text.replace("SUMMARY:", f"SUMMARY:{NEEDLE} ", 1))
                    self.search.append(j)
                    break
        return self

    def truth(self):
        def win(w):
            return sorted((t, s) for t, s, a, b in self.occ if a < w[1] and b > w[0])
        # a resource to "get": first single event inside the 7-day window
        singles = [(t, s) for t, s in win(W7) if sum(1 for o in self.occ if o[0] == t) == 1 and "T" in s]
        if not singles:
            singles = [(t, s) for t, s in win(W365) if sum(1 for o in self.occ if o[0] == t) == 1 and "T" in s]
        g = singles[0][0]
        z = lambda x: x.strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"n": self.n, "kinds": self.kinds, "bytes": sum(len(t.encode()) for _, t in self.items),
                "w7": [z(W7[0]), z(W7[1])], "w365": [z(W365[0]), z(W365[1])],
                "occ7": win(W7), "occ365": win(W365), "search_word": NEEDLE, "search": sorted(self.search),
                "get_token": g, "get_uid": self.items[g][0], "get_start": singles[0][1],
                "todos_open": sorted(t for t, d in self.todos if not d),
                "uids": {u: k for k, (u, _) in enumerate(self.items)}}


def write_storage(items, storage, user, cal, empty):
    root = os.path.join(storage, "collection-root", user)
    shutil.rmtree(root, ignore_errors=True)
    for name, its in ((cal, items), (empty, [])):
        d = os.path.join(root, name)
        os.makedirs(d)
        props = {"tag": "VCALENDAR", "D:displayname": name.capitalize(), "ICAL:calendar-color": "#3366cc",
                 "C:supported-calendar-component-set": "VEVENT,VTODO,VJOURNAL"}
        with open(os.path.join(d, ".Radicale.props"), "w") as f:
            json.dump(props, f)
        for uid, text in its:
            with open(os.path.join(d, uid + ".ics"), "w", newline="") as f:
                f.write(text)


def put_all(items, url, user, password):
    u = urlsplit(url)
    c = (http.client.HTTPSConnection if u.scheme == "https" else http.client.HTTPConnection)(u.netloc)
    auth = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    for uid, text in items:
        c.request("PUT", u.path.rstrip("/") + f"/{uid}.ics", text.encode(),
                  {"Authorization": auth, "Content-Type": "text/calendar; charset=utf-8"})
        r = c.getresponse()
        r.read()
        if r.status not in (201, 204):
            raise SystemExit(f"PUT {uid}: {r.status}")


def joined(items):
    """everything as one VCALENDAR"""
    out = ["BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\n"]
    out += ["\r\n".join(vtimezone(z)) + "\r\n" for z in sorted(ZONES)]
    for _, text in items:
        body = text.split("CALSCALE:GREGORIAN\r\n", 1)[1].rsplit("END:VCALENDAR", 1)[0]
        while body.startswith("BEGIN:VTIMEZONE"):
            body = body.split("END:VTIMEZONE\r\n", 1)[1]
        out.append(body)
    return "".join(out) + "END:VCALENDAR\r\n"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--n", type=int, required=True)
    p.add_argument("--seed", type=int, default=42)
    p.add_argument("--storage")
    p.add_argument("--put")
    p.add_argument("--user", default="bench")
    p.add_argument("--password", default="bench")
    p.add_argument("--calendar", default="work")
    p.add_argument("--empty-calendar", default="home")
    p.add_argument("--truth")
    p.add_argument("--ics", help="also write everything into one .ics file (parser benchmark)")
    a = p.parse_args()
    g = Gen(a.n, a.seed).run()
    if a.storage:
        write_storage(g.items, a.storage, a.user, a.calendar, a.empty_calendar)
    if a.put:
        put_all(g.items, a.put, a.user, a.password)
    t = g.truth()
    if a.truth:
        os.makedirs(os.path.dirname(a.truth) or ".", exist_ok=True)
        with open(a.truth, "w") as f:
            json.dump(t, f)
    if a.ics:
        with open(a.ics, "w", newline="") as f:
            f.write(joined(g.items))
    print(json.dumps({k: t[k] for k in ("n", "kinds", "bytes", "search", "get_token", "get_start")}
                     | {"occ7": len(t["occ7"]), "occ365": len(t["occ365"])}))


if __name__ == "__main__":
    main()
