"""Where implementations read RFC 5545 differently, and where an oracle is known to be wrong: one table.

SPELLED: rules whose meaning is a choice of ours. The oracles are asked the rule that says the same without doubt.
DEVIATIONS: an oracle differs from us, and the other one agrees with us. Both may deviate, each in its own way, if one of them
agrees with us on each occurrence, or, in rules with BYWEEKNO, the days that `weeks.py` finds by the definition.
"""

from collections import namedtuple
from datetime import datetime, timedelta

from generate import DAYS

Spelled = namedtuple("Spelled", "name applies rule reason")
Deviation = namedtuple("Deviation", "name oracle applies reason")


def weeks_without_days(made, rule):
    return rule.has("BYWEEKNO") and not rule.has("BYDAY")


def times_of_dates(made, rule):
    return made.kind == "date" and rule.has("BYHOUR", "BYMINUTE", "BYSECOND")


SPELLED = [
    Spelled(
        "BYWEEKNO without BYDAY",
        weeks_without_days,
        lambda made, rule: rule.replaced(BYDAY=DAYS[made.start.weekday()]),
        'RFC 5545, 3.3.10: "Information, not contained in the rule, necessary to determine the various recurrence instance start time'
        ' and dates are derived from the Start Time": the weekday of DTSTART (libical 4 reads it so); both oracles take all seven days',
    ),
    Spelled(
        "a DATE with BYHOUR, BYMINUTE or BYSECOND",
        times_of_dates,
        lambda made, rule: rule.replaced(BYHOUR=None, BYMINUTE=None, BYSECOND=None),
        'RFC 5545, 3.3.10: "The BYSECOND, BYMINUTE and BYHOUR rule parts MUST NOT be specified when the associated "DTSTART" property has a'
        ' DATE value type. These rule parts MUST be ignored"; both oracles apply them',
    ),
]


def spell(made, rule, used):
    """The rule that the oracles are asked; adds to `used` why it is another one."""
    for each in SPELLED:
        if each.applies(made, rule):
            used.add(each.name)
            rule = each.rule(made, rule)
    return rule


def any_rule(test):
    return lambda made: any(test(rule) for rule in made.rules + made.exrules)


def mixed_days(rule):
    return bool(rule.numbered) and len(rule.numbered) < len(rule.list("BYDAY"))


def changes_after(made, rule):
    """Whether UNTIL lies within a day before a change of offset."""
    until = rule.parts.get("UNTIL", "")
    if not until.endswith("Z"):
        return False
    instant = datetime.strptime(until, "%Y%m%dT%H%M%SZ")
    return made.zone.local(instant) - instant != made.zone.local(instant + timedelta(days=1)) - instant - timedelta(days=1)


DEVIATIONS = [
    Deviation(
        "BYDAY with and without numbers",
        "dateutil",
        any_rule(mixed_days),
        'RFC 5545, 3.3.10: "Each BYDAY value can also be preceded by a positive (+n) or negative (-n) integer": each value by itself, so'
        " that the list is a union; dateutil asks for days that satisfy both kinds",
    ),
    Deviation(
        "BYSETPOS in the first period",
        "dateutil",
        any_rule(lambda rule: rule.has("BYSETPOS")),
        'RFC 5545, 3.3.10: "Each BYSETPOS value corresponds to the nth occurrence within the set of occurrences specified by the rule" in one'
        " interval, which does not begin with DTSTART; dateutil drops what lies before DTSTART first",
    ),
    Deviation(
        "BYWEEKNO over New Year",
        "dateutil",
        any_rule(lambda rule: rule.has("BYWEEKNO")),
        'RFC 5545, 3.3.10: "Week number one of the calendar year is the first week that contains at least four (4) days in that calendar'
        ' year": dateutil takes the days of January that belong to week 52 or 53 of the year before by the length of the wrong year',
    ),
    Deviation(
        "BYWEEKNO with INTERVAL or BYSETPOS",
        "ical-rs",
        any_rule(lambda rule: rule.has("BYWEEKNO") and (rule.interval > 1 or rule.has("BYSETPOS"))),
        "RFC 5545, 3.3.10, counts INTERVAL and BYSETPOS in years and does not say whether those of weeks or of the calendar: ical-rs takes"
        " the years of weeks, dateutil and Kalends calendar years",
    ),
    Deviation(
        "COUNT from a DTSTART that does not exist",
        "ical-rs",
        lambda made: made.zoned and made.zone.gap(made.start) is not None and any(rule.has("COUNT") for rule in made.rules),
        'RFC 5545, 3.3.10: "The "DTSTART" property value always counts as the first occurrence", and 3.3.5 gives one in a gap its meaning;'
        " ical-rs has it in the set and does not count it",
    ),
    Deviation(
        "EXDATE in UTC for a DTSTART that does not exist",
        "ical-rs",
        lambda made: made.zoned and made.zone.gap(made.start) is not None and any(not parameters for parameters, _ in made.exdates),
        'RFC 5545, 3.3.5: a local time in a gap "refers to the date and time value using the UTC offset before the gap", so that the UTC time'
        " names it; ical-rs compares local times",
    ),
    Deviation(
        "UNTIL from a DTSTART that does not exist",
        "dateutil",
        lambda made: made.zoned and made.zone.gap(made.start) is not None and any(rule.has("UNTIL") for rule in made.rules + made.exrules),
        'RFC 5545, 3.3.10: "Recurrence rules may generate recurrence instances with an invalid date (e.g., February 30) or nonexistent'
        ' local time (e.g., 1:30 AM on a day where the local time is moved forward by an hour at 1:00 AM). Such recurrence instances MUST'
        ' be ignored": dateutil ends a rule at the first local time in the gap that reads later than UNTIL',
    ),
    Deviation(
        "EXRULE for a DTSTART that does not exist",
        "ical-rs",
        lambda made: made.zoned and made.zone.gap(made.start) is not None and bool(made.exrules),
        'RFC 5545, 3.3.5, gives a DTSTART in a gap its meaning, and RFC 2445, 4.8.5.2, takes away what the rule makes from it;'
        " ical-rs makes nothing in a gap",
    ),
    Deviation(
        "UNTIL within a day before a change of offset",
        "ical-rs",
        lambda made: made.zoned and any(changes_after(made, rule) for rule in made.rules + made.exrules),
        'RFC 5545, 3.3.10: UNTIL "MUST be specified as a date with UTC time", an instant; ical-rs reads its local time by the offset that'
        " comes next",
    ),
    Deviation(
        "EXDATE as a DATE in a series of times",
        "ical-rs",
        lambda made: made.kind != "date" and any(parameters == ";VALUE=DATE" for parameters, _ in made.exdates),
        "RFC 5545, 3.8.5.1, wants the type of DTSTART and does not say what another one means: people mean the day, ical-rs midnight",
    ),
]
