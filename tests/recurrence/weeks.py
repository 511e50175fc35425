"""YEARLY rules with BYWEEKNO, day by day, by the definition of RFC 5545, 3.3.10."""

import calendar
from datetime import datetime, time, timedelta

from generate import DAYS


def week(day, start):
    """The number of the week that a day is in, and the number from the end of its year."""
    middle = day - timedelta(days=(day.weekday() - start) % 7) + timedelta(days=3)
    last = datetime(middle.year, 12, 28)
    last = last - timedelta(days=(last.weekday() - start) % 7) + timedelta(days=3)
    number, count = ((each.timetuple().tm_yday - 1) // 7 + 1 for each in (middle, last))
    return number, number - count - 1


def times(rule, start, last):
    """The local times of a rule up to `last`; COUNT and UNTIL are left aside."""
    week_start = DAYS.index(rule.parts.get("WKST", "MO"))
    wanted = {name: set(map(int, rule.list(name))) for name in ("BYWEEKNO", "BYMONTH", "BYMONTHDAY", "BYHOUR", "BYMINUTE", "BYSECOND")}
    hours, minutes, seconds = (sorted(wanted[name]) or [own] for name, own in (("BYHOUR", start.hour), ("BYMINUTE", start.minute), ("BYSECOND", start.second)))
    of_day = [time(hour, minute, second) for hour in hours for minute in minutes for second in seconds]
    found = []
    for year in range(start.year, last.year + 1, rule.interval):
        days = (datetime(year, 1, 1) + timedelta(days=n) for n in range(366))
        days = [
            day
            for day in days
            if day.year == year
            and wanted["BYWEEKNO"] & set(week(day, week_start))
            and DAYS[day.weekday()] in rule.list("BYDAY")
            and (not wanted["BYMONTH"] or day.month in wanted["BYMONTH"])
            and (not wanted["BYMONTHDAY"] or wanted["BYMONTHDAY"] & {day.day, day.day - 1 - calendar.monthrange(year, day.month)[1]})
        ]
        made = [datetime.combine(day, of) for day in days for of in of_day]
        if rule.has("BYSETPOS"):
            at = {position - 1 if position > 0 else len(made) + position for position in map(int, rule.list("BYSETPOS"))}
            made = [time for n, time in enumerate(made) if n in at]
        found += [time for time in made if start <= time <= last]
    return found
