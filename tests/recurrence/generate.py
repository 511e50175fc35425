"""Recurrence sets from a seed: valid by RFC 5545, of all frequencies, parts, forms of time and kinds of zone."""

import random
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import zones

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
FREQUENCIES = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"]
PERIOD = {"YEARLY": 31_557_600, "MONTHLY": 2_629_800, "WEEKLY": 604_800, "DAILY": 86_400, "HOURLY": 3_600, "MINUTELY": 60, "SECONDLY": 1}
# date, floating, utc, iana: tzdata by name; listed: tzdata written as a VTIMEZONE with RDATEs under a name of its own;
# ruled: an invented VTIMEZONE with RRULEs.
KINDS = ["date", "floating", "utc", "iana", "listed", "ruled"]


@dataclass
class Rule:
    """A rule by its parts, in the order they are written."""

    parts: dict

    def __str__(self):
        return ";".join(f"{name}={value}" for name, value in self.parts.items())

    def has(self, *names):
        return any(name in self.parts for name in names)

    def list(self, name):
        return self.parts[name].split(",") if name in self.parts else []

    @property
    def frequency(self):
        return self.parts["FREQ"]

    @property
    def interval(self):
        return int(self.parts.get("INTERVAL", 1))

    @property
    def numbered(self):
        return [day for day in self.list("BYDAY") if len(day) > 2]

    def replaced(self, **parts):
        return Rule({name: value for name, value in {**self.parts, **parts}.items() if value is not None})


@dataclass
class Set:
    """One component. Times are local; `rdates` and `exdates` hold (property parameters, text)."""

    number: int
    kind: str
    zone: object
    start: datetime
    rules: list
    exrules: list = field(default_factory=list)
    rdates: list = field(default_factory=list)
    exdates: list = field(default_factory=list)

    @property
    def zoned(self):
        return self.zone is not None

    def time(self, value):
        """A local time in the form of DTSTART."""
        return value.strftime("%Y%m%d" if self.kind == "date" else "%Y%m%dT%H%M%SZ" if self.kind == "utc" else "%Y%m%dT%H%M%S")

    def parameters(self):
        return ";VALUE=DATE" if self.kind == "date" else f";TZID={self.zone.name}" if self.zoned else ""

    def document(self, with_zone, rules=None, exrules=None):
        """The calendar text; `rules` and `exrules` instead of its own."""
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN"]
        if with_zone and self.zoned:
            lines += self.zone.vtimezone
        lines += ["BEGIN:VEVENT", "UID:1", "DTSTAMP:20260101T000000Z", f"DTSTART{self.parameters()}:{self.time(self.start)}"]
        lines += [f"RRULE:{rule}" for rule in (self.rules if rules is None else rules)]
        lines += [f"EXRULE:{rule}" for rule in (self.exrules if exrules is None else exrules)]
        lines += [f"RDATE{parameters}:{text}" for parameters, text in self.rdates]
        lines += [f"EXDATE{parameters}:{text}" for parameters, text in self.exdates]
        return "\r\n".join([*lines, "END:VEVENT", "END:VCALENDAR", ""])


def signed(rng, most):
    return rng.choice([rng.randint(1, most), -rng.randint(1, most), 1, -1])


def numbers(rng, most, draw):
    return ",".join(str(n) for n in sorted({draw() for _ in range(rng.randint(1, most))}))


def rule(rng, start, kind):
    """A rule that RFC 5545 allows; parts are rare, so that few rules are empty."""
    frequency = rng.choices(FREQUENCIES[:4] if kind == "date" else FREQUENCIES, [25, 22, 17, 14, 9, 7, 6][: 4 if kind == "date" else 7])[0]
    parts = {"FREQ": frequency}
    slow = frequency in ("YEARLY", "MONTHLY")
    if rng.random() < 0.45:
        most = {"YEARLY": 6, "MONTHLY": 15, "WEEKLY": 12, "DAILY": 40, "HOURLY": 60, "MINUTELY": 2000, "SECONDLY": 20000}[frequency]
        parts["INTERVAL"] = rng.choice([2, 2, 3, 4, rng.randint(1, most)])
    if rng.random() < 0.25:
        parts["WKST"] = rng.choice(DAYS)
    near = rng.random() < 0.5  # parts that DTSTART fits
    if rng.random() < 0.3:
        months = {rng.randint(1, 12) for _ in range(rng.randint(1, 3))} | ({start.month} if near else set())
        parts["BYMONTH"] = ",".join(map(str, sorted(months)))
    if frequency == "YEARLY" and rng.random() < 0.12:
        parts["BYWEEKNO"] = numbers(rng, 3, lambda: rng.choice([signed(rng, 53), 1, 52, 53, -1]))
    if frequency in ("YEARLY", "HOURLY", "MINUTELY", "SECONDLY") and "BYWEEKNO" not in parts and rng.random() < 0.12:
        days = numbers(rng, 4, lambda: rng.choice([signed(rng, 366), 60, -1, 366]))
        parts["BYYEARDAY"] = f"{days},{start.timetuple().tm_yday}" if near and str(start.timetuple().tm_yday) not in days.split(",") else days
    if frequency != "WEEKLY" and rng.random() < (0.35 if slow else 0.15):
        days = numbers(rng, 3, lambda: rng.choice([signed(rng, 31), 29, 30, 31, -1]))
        parts["BYMONTHDAY"] = f"{days},{start.day}" if near and str(start.day) not in days.split(",") else days
    if rng.random() < (0.6 if frequency == "WEEKLY" else 0.35):
        most = 5 if frequency == "MONTHLY" or "BYMONTH" in parts else 53
        counted = slow and "BYWEEKNO" not in parts and rng.random() < 0.6
        mixed = counted and rng.random() < 0.1
        days = {(f"{signed(rng, most)}" if counted and not (mixed and n) else "") + rng.choice(DAYS) for n in range(rng.randint(1, 4))}
        if not counted and near:
            days.add(DAYS[start.weekday()])
        parts["BYDAY"] = ",".join(sorted(days))
    if "BYWEEKNO" in parts and "BYDAY" not in parts and rng.random() < 0.6:
        parts["BYDAY"] = rng.choice(DAYS)
    # Parts of time are applied below their own frequency, and with a DATE they are to be ignored.
    rare = 0.04 if kind == "date" else 0.15
    if rng.random() < rare:
        parts["BYHOUR"] = numbers(rng, 3, lambda: rng.choice([rng.randint(0, 23), start.hour, 2]))
    if rng.random() < rare:
        parts["BYMINUTE"] = numbers(rng, 3, lambda: rng.choice([rng.randint(0, 59), start.minute]))
    if rng.random() < rare * 0.7:
        parts["BYSECOND"] = numbers(rng, 2, lambda: rng.choice([rng.randint(0, 59), start.second]))
    if any(name.startswith("BY") for name in parts) and rng.random() < 0.18:
        parts["BYSETPOS"] = numbers(rng, 2, lambda: rng.choice([1, -1, 2, -2, signed(rng, 10)]))
    return Rule({name: str(value) for name, value in parts.items()})


def bound(rng, made, start, kind):
    """COUNT or UNTIL or neither, and UNTIL in each form that is asked for, and sometimes in another."""
    choice = rng.random()
    if choice < 0.3:
        return made.replaced(COUNT=str(rng.choice([1, 2, 3, 5, 10, rng.randint(1, 60)])))
    if choice > 0.6:
        return made
    periods = rng.randint(0, 40) * made.interval
    until = start + timedelta(seconds=min(PERIOD[made.frequency] * periods, 10**9) + rng.choice([0, 0, 0, 1, -1, 3_600, 43_200]))
    form = {"date": "%Y%m%d", "floating": "%Y%m%dT%H%M%S"}.get(kind, "%Y%m%dT%H%M%SZ")
    if rng.random() < 0.05:
        form = "%Y%m%d"
    return made.replaced(UNTIL=until.strftime(form))


def moment(rng, kind, zone):
    """DTSTART: often a leap day, the end of a month or year, or a day on which the clock changes."""
    choice = rng.random()
    if zone is not None and choice < 0.45:
        change = rng.choice(zone.changes(1997, 2030))
        day = (change.local - timedelta(days=rng.choice([0, 0, 1, 2, 7, 14, 28, 30, 31, 365]))).date()
        time = change.local + timedelta(minutes=rng.choice([-60, -30, -1, 0, 1, 15, 30, 59, 60]))
        return datetime.combine(day, time.time())
    if choice < 0.55:
        day = date(rng.choice([2000, 2004, 2024]), 2, 29)
    elif choice < 0.7:
        day = date(rng.randint(1997, 2030), rng.choice([1, 3, 5, 7, 8, 10, 12]), rng.choice([31, 30, 29, 1]))
    elif choice < 0.8:
        day = date(rng.randint(1997, 2030), 1, 1) + timedelta(days=rng.randint(-5, 5))
    else:
        day = date(1997, 1, 1) + timedelta(days=rng.randint(0, 12_000))
    if kind == "date":
        return datetime.combine(day, datetime.min.time())
    return datetime(day.year, day.month, day.day, rng.randint(0, 23), rng.choice([0, 15, 30, 45, rng.randint(0, 59)]), rng.choice([0, 0, 0, rng.randint(0, 59)]))


def generate(seed, number):
    """The set of this number, without dates that are added or excluded: `dates` adds those."""
    rng = random.Random(f"{seed}/{number}")
    kind = rng.choices(KINDS, [30, 12, 20, 24, 7, 7])[0]
    zone = zones.draw(rng, kind)
    start = moment(rng, kind, zone)
    count = rng.choices([1, 2, 0], [85, 10, 5])[0]
    rules = [bound(rng, rule(rng, start, kind), start, kind) for _ in range(count)]
    exrules = [bound(rng, rule(rng, start, kind), start, kind)] if rng.random() < 0.05 else []
    # ical-rs searches an EXRULE that has ended, or never begins, anew for each occurrence: a million periods each.
    exrules = [each for each in exrules if each.frequency not in ("MINUTELY", "SECONDLY")]
    return Set(number, kind, zone, start, rules, exrules), rng


def dates(made, rng, occurrences):
    """Adds RDATEs and EXDATEs, some of which hit what the rules make."""

    def form(value):
        if made.zoned and rng.random() < 0.3:
            return "", made.zone.utc(value).strftime("%Y%m%dT%H%M%SZ")
        return made.parameters(), made.time(value)

    step = timedelta(days=1) if made.kind == "date" else timedelta(minutes=rng.choice([15, 60, 90, 1_440]))
    near = [made.start, *occurrences[:12]]
    if rng.random() < 0.25 or not made.rules:
        made.rdates = [form(rng.choice(near) + step * rng.randint(0, 9)) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.3:
        made.exdates = [form(rng.choice(near)) for _ in range(rng.randint(1, 4))]
    if made.exdates and made.kind != "date" and rng.random() < 0.05:
        made.exdates.append((";VALUE=DATE", rng.choice(near).strftime("%Y%m%d")))
