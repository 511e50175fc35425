#!/usr/bin/env python3
"""Compares generated recurrence sets with two implementations that share no code: python-dateutil and ical-rs.

  usage: oracles.py ANSWERS [--sets N] [--first N] [--seed TEXT] [--jobs N]

ANSWERS is the example program `recurrence_answers` of the crate kalends-tests, which holds Kalends and ical-rs.
dateutil expands the rules, by aware times where DTSTART has a zone; the set operations of RFC 5545, 3.8.5, and the
instants of local times (zones.py) are done here.

Every set has to end as one of these: all three agree; one oracle differs and the table in classes.py says why; both do,
each by its own class, and either a count day by day (weeks.py) agrees with Kalends, or one of the two on each occurrence.
Whatever is left fails the run.
"""

import argparse
import calendar
import collections
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import warnings
from datetime import datetime, timedelta, timezone
from functools import partial

import dateutil.rrule

import classes
import generate
import weeks
import zones

UTC = timezone.utc
CHUNK = 250
# Occurrences that are compared of one rule.
MOST = 200
# How far from DTSTART, in days: rules below DAILY that filter days cost dateutil every period.
HORIZON = {"YEARLY": 40 * 366, "MONTHLY": 12 * 366, "WEEKLY": 5 * 366, "DAILY": 3 * 366, "HOURLY": 400, "MINUTELY": 40, "SECONDLY": 3}


def horizon(made):
    """The last local time that is looked at."""
    days = [min(HORIZON[rule.frequency] * max(1, rule.interval // 4), 40 * 366) for rule in made.rules] or [400]
    days = [min(each, 400) if rule.frequency in ("MINUTELY", "SECONDLY") else each for each, rule in zip(days, made.rules)] or days
    last = made.start + timedelta(days=min(days))
    return min(last, datetime(zones.LAST - 2, 1, 1)) if made.zoned else last


def bound(made, rule, last):
    """The earlier of `last` and UNTIL: an instant where DTSTART has a zone, else a local time."""
    instant = made.zone.utc if made.zoned else lambda local: local
    until = rule.parts.get("UNTIL")
    if until is None:
        return instant(last)
    time = datetime.strptime(until.rstrip("Z"), "%Y%m%d" if len(until) == 8 else "%Y%m%dT%H%M%S")
    return min(instant(last), time if until.endswith("Z") else instant(time))


def exists(made, local):
    """Whether a rule can make a local time (RFC 5545, 3.3.10). DTSTART is there whatever the clock does."""
    return not made.zoned or local == made.start or made.zone.gap(local) is None


def times(made, rule, last, count=True):
    """Local times of a rule up to `last` by dateutil, at most MOST."""
    until = bound(made, rule, last)
    if until < made.start - timedelta(days=2):
        return []
    text = rule.replaced(UNTIL=until.strftime("%Y%m%dT%H%M%S") + "Z" * made.zoned, COUNT=rule.parts.get("COUNT") if count else None)
    start = made.start.replace(tzinfo=made.zone.info) if made.zoned else made.start
    try:
        expansion = dateutil.rrule.rrulestr(str(text), dtstart=start)
        kept, dropped = [], False
        for time in itertools.islice(expansion, MOST * 100):
            local = time.replace(tzinfo=None)
            if exists(made, local):
                kept.append(local)
            else:
                dropped = True
            if len(kept) == MOST:
                break
    except ValueError as error:
        if "generates an empty set" in str(error) or "Invalid combination" in str(error):
            return []
        raise
    if count and rule.has("COUNT") and dropped:
        return times(made, rule, last, count=False)[: int(rule.parts["COUNT"])]
    return kept


def times_by_weeks(made, rule, last):
    """The same, day by day where there is BYWEEKNO."""
    if not rule.has("BYWEEKNO"):
        return times(made, rule, last)
    until, instant = bound(made, rule, last), made.zone.utc if made.zoned else lambda local: local
    found = [time for time in weeks.times(rule, made.start, last) if instant(time) <= until and exists(made, time)]
    return found[: int(rule.parts.get("COUNT", MOST))]


def second(instant):
    return calendar.timegm(instant.timetuple())


class Question:
    """A set with what dateutil says, and what is to be asked of the other two."""

    def __init__(self, seed, number):
        self.made, rng = generate.generate(seed, number)
        made = self.made
        last = horizon(made)
        zones.limit_years(last.year + 1)
        self.spelled = set()
        rules = [classes.spell(made, rule, self.spelled) for rule in made.rules]
        exrules = [classes.spell(made, rule, self.spelled) for rule in made.exrules]
        found = [times(made, rule, last) for rule in rules]
        excluded = [times(made, rule, last) for rule in exrules]
        generate.dates(made, rng, sorted(time for each in found for time in each))
        last = min([last, *(each[-1] for each in found + excluded if len(each) == MOST)])
        self.to = second(self.instant(last))
        self.last, self.rules, self.exrules = last, rules, exrules
        self.dateutil = self.combined(found, excluded)
        near = [self.second_of(key) for key in self.dateutil] or [self.to]
        late = rng.choice(near)
        self.ask = {
            "ics": made.document(made.kind in ("listed", "ruled")),
            "zoned": made.document(True, rules, exrules),
            "from": second(self.instant(made.start)) - 172_800,
            "late": late if late < self.to else self.to - 1,
            "to": self.to,
        }

    def combined(self, found, excluded):
        """The set (RFC 5545, 3.8.5) of what its rules make and its exclusion rules take away."""
        made = self.made
        local = {made.start, *(time for each in found for time in each)}
        kept = {self.key(time) for time in local} | {self.written(*date) for date in made.rdates}
        gone = {self.key(time) for each in excluded for time in each}
        days = {text for parameters, text in made.exdates if self.is_day(parameters)}
        gone |= {self.written(*date) for date in made.exdates if not self.is_day(date[0])}
        kept = {key for key in kept - gone if not days or self.day(key) not in days}
        return sorted(key for key in kept if self.second_of(key) < self.to)

    def by_weeks(self):
        """The set with its BYWEEKNO rules day by day; `None` if it has none."""
        if not any(rule.has("BYWEEKNO") for rule in self.rules + self.exrules):
            return None
        return self.combined(*([times_by_weeks(self.made, rule, self.last) for rule in rules] for rules in (self.rules, self.exrules)))

    def is_day(self, parameters):
        return self.made.kind != "date" and parameters == ";VALUE=DATE"

    def instant(self, local):
        return self.made.zone.utc(local) if self.made.zoned else local

    def key(self, local):
        return local.strftime("%Y%m%d") if self.made.kind == "date" else second(self.instant(local))

    def written(self, parameters, text):
        if self.made.kind == "date":
            return text
        local = datetime.strptime(text.rstrip("Z"), "%Y%m%dT%H%M%S")
        return second(local) if text.endswith("Z") else second(self.instant(local))

    def second_of(self, key):
        return second(datetime.strptime(key, "%Y%m%d")) if self.made.kind == "date" else key

    def day(self, key):
        local = datetime(1970, 1, 1) + timedelta(seconds=key)
        return (self.made.zone.local(local) if self.made.zoned else local).strftime("%Y%m%d")


def judge(question, answer):
    """The names of the classes that explain a set, or the reason why none does."""
    if "fault" in answer:
        return None, f"kalends: {answer['fault']}"
    if not answer["seeks"]:
        return None, "kalends finds something else when it begins later"
    ours = answer["kalends"]
    found = {"dateutil": set(question.dateutil), "ical-rs": set(answer["ical"])}
    differ = {name for name in found if sorted(found[name]) != ours}
    names = []
    for oracle in sorted(differ):
        name = next((each.name for each in classes.DEVIATIONS if each.oracle == oracle and each.applies(question.made)), None)
        if name is None:
            return None, f"{' and '.join(sorted(differ))} differ"
        names.append(name)
    if len(differ) == 2 and question.by_weeks() != ours:
        disputed = set(ours).union(*found.values())
        if not all(any((key in oracle) == (key in ours) for oracle in found.values()) for key in disputed):
            return None, "both differ"
    return names, None


def run(answers, seed, first):
    warnings.simplefilter("ignore")
    numbers, begin = first
    asked = [Question(seed, number) for number in range(begin, begin + numbers)]
    lines = "".join(json.dumps(each.ask) + "\n" for each in asked)
    done = subprocess.run([answers], input=lines, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{answers}: {done.stderr}\nin sets {begin} to {begin + numbers}")
    tally, left = collections.Counter(), []
    for question, line in zip(asked, done.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        names, fault = judge(question, answer)
        tally["occurrences"] += len(answer.get("kalends", []))
        tally["empty"] += not answer.get("kalends")
        tally[f"kind {question.made.kind}"] += 1
        for rule in question.made.rules:
            tally[f"frequency {rule.frequency}"] += 1
        for name in question.spelled:
            tally["spelled", name] += 1
        if fault:
            tally["unexplained"] += 1
            left.append((question.made.number, fault, question.ask, question.dateutil, answer))
        elif names:
            tally["both deviate" if len(names) == 2 else "one deviates"] += 1
            for name in names:
                tally["deviation", name] += 1
        else:
            tally["agree"] += 1
    return tally, left


def show(number, fault, ask, ours, answer):
    lines = [line for line in ask["ics"].splitlines() if line.startswith(("DTSTART", "RRULE", "EXRULE", "RDATE", "EXDATE", "TZID"))]
    print(f"set {number}: {fault}\n  " + "\n  ".join(line for line in lines if "TZID:" in line or not line.startswith("RDATE:") or len(lines) < 20))
    sets = {"kalends": answer.get("kalends", []), "dateutil": ours, "ical-rs": answer.get("ical", [])}
    seen = set().union(*sets.values())
    odd = sorted(key for key in seen if any(key not in found for found in sets.values()))
    for key in odd[:6]:
        text = key if isinstance(key, str) else datetime.fromtimestamp(key, UTC).strftime("%Y%m%dT%H%M%SZ")
        print(f"    {text}: {', '.join(name for name, found in sets.items() if key in found)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("answers")
    parser.add_argument("--sets", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="kalends")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    chunks = [(min(CHUNK, options.first + options.sets - at), at) for at in range(options.first, options.first + options.sets, CHUNK)]
    tally, left = collections.Counter(), []
    with multiprocessing.Pool(options.jobs) as pool:
        for counts, faults in pool.imap(partial(run, options.answers, options.seed), chunks):
            tally += counts
            left += faults
    for each in left[:20]:
        show(*each)
    print(f"{options.sets} sets with {tally.pop('occurrences')} occurrences: {tally.pop('agree', 0)} agree with dateutil and ical-rs,")
    print(f"  {tally.pop('one deviates', 0)} with one of them while the other deviates, {tally.pop('both deviate', 0)} with the weeks day by day or one of them each time;")
    print(f"  {tally.pop('unexplained', 0)} are unexplained; {tally.pop('empty', 0)} are empty")
    for name, count in sorted(tally.items(), key=str):
        print(f"  {count:6} {': '.join(name) if isinstance(name, tuple) else name}")
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
