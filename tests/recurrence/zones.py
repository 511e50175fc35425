"""Zones for generated sets: tzdata by name, tzdata written as a VTIMEZONE, and invented VTIMEZONEs with rules.

What a local time means is told by Python's zoneinfo with the tzdata package, and of the invented ones by dateutil's own
reading of their VTIMEZONE.
"""

import io
import sys
import types
from bisect import bisect_right
from collections import namedtuple
from datetime import datetime, timedelta, timezone
from functools import cache
from zoneinfo import ZoneInfo, reset_tzpath

import dateutil.rrule
from dateutil.tz import tzical

reset_tzpath(())  # the package tzdata, not what the system has
UTC = timezone.utc
# Gaps and folds of an hour, of half an hour (Lord_Howe), at midnight (Havana, Santiago, Asuncion), a whole day (Apia,
# 2011), negative summer time (Dublin), none at all, and changes that came late into tzdata.
NAMES = [
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana", "America/Santiago", "Pacific/Apia", "Europe/Dublin",
    "Asia/Kolkata", "Africa/Casablanca", "America/Sao_Paulo", "Asia/Tehran", "Pacific/Chatham", "America/St_Johns", "Asia/Gaza",
    "America/Vancouver", "Europe/London", "Australia/Sydney", "America/Asuncion", "Asia/Amman", "Antarctica/Troll",
]
FIRST, LAST = 1995, 2072
Change = namedtuple("Change", "local before after")


def limit_years(year):
    """dateutil walks a rule without occurrences up to the constant MAXYEAR of the module `datetime`."""
    stand_in = types.SimpleNamespace(**vars(sys.modules["datetime"]))
    stand_in.MAXYEAR = year
    dateutil.rrule.datetime = stand_in


class Zone:
    """A zone by its name in documents."""

    def __init__(self, name, info, vtimezone=(), step=4):
        """`step`: fewer days than there are between two changes."""
        self.name, self.info, self.lines, self.cached, self.step = name, info, list(vtimezone), None, timedelta(days=step)

    def offset(self, local):
        return local.replace(tzinfo=self.info).utcoffset()

    def all(self):
        """Every change of the offset from FIRST to LAST: the local time before it, and both offsets."""
        if self.cached is None:
            self.cached, at = [], datetime(FIRST, 1, 1, tzinfo=UTC)
            before = at.astimezone(self.info).utcoffset()
            while at.year < LAST:
                later = at + self.step
                after = later.astimezone(self.info).utcoffset()
                if after != before:
                    low, high = at, later
                    while high - low > timedelta(seconds=1):
                        middle = low + timedelta(seconds=(high - low).total_seconds() // 2)
                        low, high = (middle, high) if middle.astimezone(self.info).utcoffset() == before else (low, middle)
                    self.cached.append(Change((high + before).replace(tzinfo=None), before, after))
                at, before = later, after
        return self.cached

    def changes(self, first, last):
        found = [change for change in self.all() if first <= change.local.year <= last]
        return found or [Change(datetime(2020, 6, 1, 2), timedelta(), timedelta())]

    def near(self, local):
        """The changes around a local time: the last before it, and the next."""
        at = bisect_right(self.all(), local, key=lambda change: change.local)
        return self.cached[max(at - 1, 0) : at + 1]

    def gap(self, local):
        """The offset before the gap that a local time lies in, if it lies in one."""
        return next((change.before for change in self.near(local) if change.local <= local < change.local + change.after - change.before), None)

    def fold(self, local):
        """The offset before the fold that a local time lies in, if it lies in one."""
        return next((change.before for change in self.near(local) if change.local + change.after - change.before <= local < change.local), None)

    def utc(self, local):
        """The instant of a local time that somebody wrote (RFC 5545, 3.3.5): in a gap by the offset before it, in a
        fold the first."""
        gap = self.gap(local)
        return local - (self.offset(local) if gap is None else gap)

    def local(self, instant):
        """The local time at an instant."""
        return instant.replace(tzinfo=UTC).astimezone(self.info).replace(tzinfo=None)

    @property
    def vtimezone(self):
        if not self.lines:
            self.lines = listed(self)
        return self.lines


def sign(offset):
    seconds = int(offset.total_seconds())
    minutes, rest = divmod(abs(seconds), 60)
    return f"{'-' if seconds < 0 else '+'}{minutes // 60:02}{minutes % 60:02}" + (f"{rest:02}" if rest else "")


def listed(zone):
    """The zone as a VTIMEZONE: each pair of offsets is an observance with its onsets as RDATEs."""
    groups = {}
    for change in zone.all():
        groups.setdefault((change.before, change.after), []).append(change.local)
    if not groups:
        offset = zone.offset(datetime(FIRST, 1, 1))
        groups[offset, offset] = [datetime(FIRST, 1, 1)]
    lines = ["BEGIN:VTIMEZONE", f"TZID:{zone.name}"]
    for (before, after), onsets in groups.items():
        name = "DAYLIGHT" if after > before else "STANDARD"
        lines += [f"BEGIN:{name}", f"TZOFFSETFROM:{sign(before)}", f"TZOFFSETTO:{sign(after)}", f"DTSTART:{onsets[0]:%Y%m%dT%H%M%S}"]
        lines += [f"RDATE:{onset:%Y%m%dT%H%M%S}" for onset in onsets[1:]]
        lines.append(f"END:{name}")
    return [*lines, "END:VTIMEZONE"]


@cache
def iana(name):
    return Zone(name, ZoneInfo(name))


@cache
def private(name):
    return Zone(f"Office of {name.split('/')[1]}", ZoneInfo(name))


@cache
def ruled(number):
    """An invented zone whose summer time begins and ends by rules."""
    standard = timedelta(minutes=[-480, -210, 60, 330, 570, 765, 0, 120][number % 8])
    saving = timedelta(minutes=[60, 30, 120, 60, 20][number % 5])
    spring, autumn = [("3;BYDAY=-1SU", "10;BYDAY=-1SU"), ("3;BYDAY=2SU", "11;BYDAY=1SU"), ("4;BYDAY=1FR", "9;BYDAY=-1TH"), ("10;BYDAY=1SU", "4;BYDAY=1SU")][number % 4]
    hour = [2, 0, 3, 1, 23][number % 5]
    first = {"3;BYDAY=-1SU": "0326", "10;BYDAY=-1SU": "1029", "3;BYDAY=2SU": "0312", "11;BYDAY=1SU": "1105", "4;BYDAY=1FR": "0407", "9;BYDAY=-1TH": "0928", "10;BYDAY=1SU": "1001", "4;BYDAY=1SU": "0402"}
    name = f"Invented {number}"
    lines = ["BEGIN:VTIMEZONE", f"TZID:{name}"]
    for part, rule, before, after in [("DAYLIGHT", spring, standard, standard + saving), ("STANDARD", autumn, standard + saving, standard)]:
        lines += [f"BEGIN:{part}", f"TZOFFSETFROM:{sign(before)}", f"TZOFFSETTO:{sign(after)}"]
        lines += [f"DTSTART:1995{first[rule]}T{hour:02}0000", f"RRULE:FREQ=YEARLY;BYMONTH={rule}", f"END:{part}"]
    lines.append("END:VTIMEZONE")
    limit_years(LAST)
    zone = Zone(name, tzical(io.StringIO("\r\n".join(lines) + "\r\n")).get(), lines, 28)
    zone.offset(datetime(LAST + 2, 1, 1))  # dateutil keeps all onsets that it has found by then
    return zone


def draw(rng, kind):
    if kind == "iana":
        return iana(rng.choice(NAMES))
    if kind == "listed":
        return private(rng.choice(NAMES))
    return ruled(rng.randint(0, 19)) if kind == "ruled" else None
