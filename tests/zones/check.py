"""Checks time zones against tzdata read by Python's zoneinfo, and the VTIMEZONEs that are written against readers that
share no code: python-icalendar (with dateutil), ical.js and libical.

usage: check.py --zones PROGRAM [--icaljs NODE_MODULES] [--libical PROGRAM]
  --zones    tests/examples/zones.rs, built
  --icaljs   a folder with ical.js and cldr-core, read with node
  --libical  tests/zones/libical.c, built

The packages tzdata and icalendar have to be there; the system's time zone files are not read."""

import argparse
import importlib.resources
import json
import multiprocessing
import os
import re
import struct
import subprocess
import sys
import tempfile
import zoneinfo
from datetime import datetime, timedelta, timezone

zoneinfo.reset_tzpath(to=[])
EPOCH = datetime(1970, 1, 1)
# What a reader makes of the definition of a zone other than tzdata does, with the reason; (reader, horizon) -> zones.
DEVIATIONS = {
    ("ical.js", "Through2100"): {"Africa/Monrovia": "-00:44:30 up to 1972: ical.js leaves the seconds of an offset out"},
}


def year(number):
    return (datetime(number, 1, 1) - EPOCH) // timedelta(seconds=1)


class Truth:
    """A zone by zoneinfo, and its changes of offset by its file and, after 2037, by search."""

    kept = {}

    def __init__(self, name):
        path = importlib.resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
        self.zone = zoneinfo.ZoneInfo(name)
        octets = path.read_bytes()
        if octets not in self.kept:
            self.kept[octets] = self.find(octets)
        self.changes = self.kept[octets]

    def offset(self, second):
        moment = (EPOCH + timedelta(seconds=second)).replace(tzinfo=timezone.utc)
        return int(moment.astimezone(self.zone).utcoffset().total_seconds())

    def local(self, clock):
        """The instant of a local time and its kind (PEP 495)."""
        local = (EPOCH + timedelta(seconds=clock)).replace(tzinfo=self.zone)
        first, second = (int(local.replace(fold=fold).utcoffset().total_seconds()) for fold in (0, 1))
        kind = "Plain" if first == second else "Fold" if first > second else "Gap"
        return clock - first, kind

    def find(self, octets):
        def header(at):
            return struct.unpack(">6I", octets[at + 20 : at + 44])

        isut, isstd, leap, times, types, chars = header(0)
        at = 44 + times * 5 + types * 6 + chars + leap * 8 + isstd + isut
        times = header(at)[3]
        explicit = struct.unpack(f">{times}q", octets[at + 44 : at + 44 + 8 * times])
        changes = {second for second in explicit if year(1970) <= second < year(2038)}
        week = 7 * 86400
        for start in range(year(2037), year(2061), week):
            low, high = start, start + week
            if self.offset(low) == self.offset(high):
                continue
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if self.offset(middle) == self.offset(low) else (low, middle)
            changes.add(high)
        return sorted(second for second in changes if self.offset(second - 1) != self.offset(second))


def ask(program, questions):
    text = "".join("\t".join(map(str, question)) + "\n" for question in questions)
    out = subprocess.run([program], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    assert len(out) == len(questions), f"{len(out)} answers to {len(questions)} questions"
    return out


def check_zones(program, truths):
    """Offsets and local times around every change from 1970 to 2037."""
    questions, expected = [], []
    for name, truth in truths.items():
        for second in truth.changes:
            if second >= year(2038):
                break
            before, after = truth.offset(second - 1), truth.offset(second)
            for at in (second - 1, second, second + 1):
                questions.append(("utc", name, at))
                expected.append(str(truth.offset(at)))
            edges = [second + before, second + after]
            for clock in sorted({edge + step for edge in edges for step in (-1, 0, 1)} | {sum(edges) // 2}):
                instant, kind = truth.local(clock)
                questions.append(("local", name, clock))
                expected.append(f"{instant}\t{kind}")
    wrong = [item for item in zip(questions, ask(program, questions), expected) if item[1] != item[2]]
    assert not wrong, f"{len(wrong)} wrong, e.g. (question, answer, expected) {wrong[:3]}"
    kinds = {kind: sum(answer.endswith(kind) for answer in expected) for kind in ("Plain", "Gap", "Fold")}
    print(f"zones: {len(truths)} names, {len(questions)} answers agree with tzdata around every change 1970 to 2037, {kinds}")


def check_windows(program, modules):
    with open(os.path.join(modules, "cldr-core", "supplemental", "windowsZones.json")) as file:
        rows = json.load(file)["supplemental"]["windowsZones"]["mapTimezones"]
    rows = {row["mapZone"]["_other"]: row["mapZone"]["_type"] for row in rows if row["mapZone"]["_territory"] == "001"}
    found = dict(zip(rows, ask(program, [("windows", name) for name in rows])))
    assert found == rows and len(rows) == 139, (len(rows), {name for name in rows if found[name] != rows[name]})
    print(f"Windows names: all {len(rows)} as in CLDR")


class Definition:
    """A VTIMEZONE without its name, the zones that have it, and the instants to look at with their local times."""

    def __init__(self, text):
        self.text, self.names, self.seconds = text, [], set()

    def add(self, name, truth, start):
        self.names.append(name)
        for second in truth.changes:
            if second >= start:
                self.seconds.update((second - 1, second, second + 1))
        for month in range(0, (2061 - 2000) * 12, 1 if start == year(2000) else 7):
            middle = datetime(2000 + month // 12, month % 12 + 1, 15, 12)
            self.seconds.add((middle - EPOCH) // timedelta(seconds=1))


def definitions(program, truths, start, horizon):
    found = {}
    for name, text in zip(truths, ask(program, [("vtimezone", name, start, horizon) for name in truths])):
        text, count = re.subn(r"TZID:.*\r\n", "TZID:Zone\r\n", json.loads(text))
        assert count == 1, text
        found.setdefault(text, Definition(text)).add(name, truths[name], year(start))
    return list(found.values())


def calendar(text):
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//check//EN\r\n{text}END:VCALENDAR\r\n"


def python_icalendar(item):
    """The offset at each (instant, local time, whether it is the second in a fold, whether it is the only one)."""
    import icalendar

    text, queries = item
    zone = icalendar.Calendar.from_ical(calendar(text)).walk("VTIMEZONE")[0].to_tz(lookup_tzid=False)
    locals_ = ((EPOCH + timedelta(seconds=clock)).replace(fold=fold) for _, clock, fold, _ in queries)
    return [int(zone.utcoffset(local).total_seconds()) for local in locals_]


def read_python(work):
    with multiprocessing.Pool(os.cpu_count()) as pool:
        return pool.map(python_icalendar, work, chunksize=8)


def read_with(command):
    """A reader that is handed a JSON list of [text, [[instant, local time, fold, plain] ...]] and prints one of lists."""

    def read(work):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump([[calendar(text), queries] for text, queries in work], file)
            file.flush()
            return json.loads(subprocess.run([*command, file.name], stdout=subprocess.PIPE, check=True).stdout)

    return read


def read_libical(program):
    def read(work):
        parts = []
        for text, queries in work:
            text = calendar(text)
            parts.append(f"{len(text)} {len(queries)}\n{text}" + "".join(f"{at} {clock} {plain}\n" for at, clock, _, plain in queries))
        out = subprocess.run([program], input="".join(parts), stdout=subprocess.PIPE, text=True, check=True).stdout
        out = iter(out.split())
        return [[int(next(out)) for _ in queries] for _, queries in work]

    return read


def check_reader(reader, read, found, truths, start, horizon, folds):
    """Compares what a reader says with zoneinfo."""
    work = []
    for definition in found:
        truth, queries = truths[definition.names[0]], []
        for second in sorted(definition.seconds):
            clock = second + truth.offset(second)
            first, kind = truth.local(clock)
            if folds or kind == "Plain":
                queries.append((second, clock, int(first != second), int(kind == "Plain")))
        work.append((definition.text, queries))
    answers, deviating, count = read(work), {}, 0
    for definition, (_, queries), offsets in zip(found, work, answers):
        for name in definition.names:
            for (second, *_), offset in zip(queries, offsets):
                count += 1
                if offset != truths[name].offset(second):
                    deviating.setdefault(name, (second, offset, truths[name].offset(second)))
    expected = DEVIATIONS.get((reader, horizon), {})
    assert set(deviating) == set(expected), (
        f"{reader}, {horizon}: unexpected {[(n, deviating[n]) for n in sorted(set(deviating) - set(expected))][:9]} of"
        f" {len(deviating)}, not found {sorted(set(expected) - set(deviating))[:9]}"
    )
    known = "".join(f"; {name}: {reason}" for name, reason in expected.items())
    print(f"{reader}: {len(truths)} VTIMEZONEs from {start} ({horizon}), {count} offsets up to 2060 agree{known}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zones", required=True)
    parser.add_argument("--icaljs")
    parser.add_argument("--libical")
    options = parser.parse_args()
    import tzdata

    version = ask(options.zones, [("version",)])[0]
    assert version == tzdata.IANA_VERSION, f"tzdata {version} here, {tzdata.IANA_VERSION} in the package"
    names = importlib.resources.files("tzdata").joinpath("zones").read_text().split()
    truths = {name: Truth(name) for name in names}
    assert len(truths) == 598, len(truths)
    check_zones(options.zones, truths)
    if options.icaljs:
        check_windows(options.zones, options.icaljs)
    readers = [("python-icalendar", read_python, True)]
    if options.icaljs:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "icaljs.mjs")
        readers.append(("ical.js", read_with(["node", script, options.icaljs]), False))
    if options.libical:
        readers.append(("libical", read_libical(options.libical), True))
    for start, horizon in ((2000, "Open"), (1970, "Through2100")):
        found = definitions(options.zones, truths, start, horizon)
        octets = sum(len(definition.text) * len(definition.names) for definition in found) // len(truths)
        print(f"VTIMEZONEs from {start} ({horizon}): {len(found)} different ones, {octets} octets on average")
        for reader, read, folds in readers:
            check_reader(reader, read, found, truths, start, horizon, folds)


if __name__ == "__main__":
    main()
