"""Judges random edits of the corpus, made by the example program `random_edits`, without any of its code.

  usage: random_edits.py --program PATH --root DIR [--libical PATH] [--count N] [--seed N] [--list]

An edit may change the properties and components that it is about, in the components of its scope, and the stamps of
those (DTSTAMP, LAST-MODIFIED, SEQUENCE). Every other octet has to be the same, in the same order. New are only an
override (a copy of what it overrides, but for its times), time zones, and what was asked for. Then python-icalendar,
ical.js and libical read the file before and after: what they find differs only in what the edit is about, and they find
there what was asked for.
"""

import argparse
import collections
import json
import multiprocessing
import pathlib
import shutil
import subprocess
import sys
import warnings

import icalendar

from check import Scan, corpora, normal, text_of

HERE = pathlib.Path(__file__).resolve().parent
STAMPS = {b"DTSTAMP", b"LAST-MODIFIED", b"SEQUENCE"}
SPAN = {b"DTSTART", b"DTEND", b"DUE", b"DURATION"}
SET = {b"RRULE", b"RDATE", b"EXDATE"}
FIELDS = {
    "summary": {b"SUMMARY"},
    "description": {b"DESCRIPTION"},
    "location": {b"LOCATION"},
    "start": SPAN,
    "end": SPAN,
    "duration": SPAN,
    "geo": {b"GEO"},
    "status": {b"STATUS"},
    "transparency": {b"TRANSP"},
    "classification": {b"CLASS"},
    "priority": {b"PRIORITY"},
    "percentComplete": {b"PERCENT-COMPLETE"},
    "url": {b"URL"},
    "organizer": {b"ORGANIZER"},
    "recurrenceSet": SET,
    "categories": {b"CATEGORIES"},
    "attendees": {b"ATTENDEE"},
    "contacts": {b"CONTACT"},
    "resources": {b"RESOURCES"},
    "relatedTo": {b"RELATED-TO"},
    "requestStatuses": {b"REQUEST-STATUS"},
    "attachments": {b"ATTACH"},
    "comments": {b"COMMENT"},
    "styledDescriptions": {b"STYLED-DESCRIPTION"},
    "images": {b"IMAGE"},
    "conferences": {b"CONFERENCE"},
    "links": {b"LINK"},
    "concepts": {b"CONCEPT"},
    "structuredDataUris": {b"STRUCTURED-DATA"},
    "complete": {b"STATUS", b"COMPLETED", b"PERCENT-COMPLETE"},
    "complete-occurrence": {b"STATUS", b"COMPLETED", b"PERCENT-COMPLETE"},
    "add": {b"RDATE"},
    "exclude": {b"EXDATE"},
    "restore_exclusion": {b"EXDATE"},
    "cancel": {b"STATUS"},
    "restore_cancellation": {b"STATUS"},
}
COMPONENTS = {
    "participants": b"PARTICIPANT",
    "alarms": b"VALARM",
    "locationUris": b"VLOCATION",
    "resourceUris": b"VRESOURCE",
}
# Edits of one occurrence that are about its override; the other ones are about the master.
IN_OVERRIDE = {"complete-occurrence", "cancel", "restore_cancellation"}
ENTITIES = (b"VEVENT", b"VTODO")
# What libical 3 does not know (RFC 9073, 9253), or gives back in words of its own.
NOT_OF_LIBICAL = {"styledDescriptions", "structuredDataUris", "concepts", "links", "requestStatuses", *COMPONENTS} - {"alarms"}
# Whose value every reader gives back as a text.
TEXTS = {"summary", "description", "location"}


class Part:
    """A component with the lines of its own, and the parts in it."""

    def __init__(self, name, begin):
        self.name, self.begin, self.lines, self.parts, self.end = name, begin, [], [], None


class File(Scan):
    def __init__(self, data):
        super().__init__(data)
        self.data, self.top, open_ = data, Part(b"", None), []
        open_.append(self.top)
        for line in self.lines:
            if line.plain and line.name == b"BEGIN":
                part = Part(line.value(data).strip().upper(), line)
                open_[-1].parts.append(part)
                open_.append(part)
            elif line.plain and line.name == b"END" and len(open_) > 1:
                open_.pop().end = line
            elif line.colon is not None:
                open_[-1].lines.append(line)

    def first_value(self, part, name):
        return next((line.value(self.data) for line in part.lines if line.name == name), None)

    def calendar(self):
        return next(part for part in self.top.parts if part.name == b"VCALENDAR")

    def series(self):
        return [part for part in self.calendar().parts if part.name in ENTITIES]

    def key(self, part):
        """Which occurrences it is about, as written."""
        for line in part.lines:
            if line.name == b"RECURRENCE-ID":
                head = self.data[line.start : line.colon].upper()
                return line.value(self.data).strip(), b"RANGE" in head
        return None


def spans(part):
    return part.begin.start, part.end.next


def octets(data, start, end, dropped):
    """What is left between two places."""
    out, at = [], start
    for first, last in sorted(dropped):
        if first >= at and last <= end:
            out.append(data[at:first])
            at = last
    return b"".join(out) + data[at:end]


def field(edit):
    return edit.get("field") or edit["tool"]


def about(edit):
    """The properties and the inner components that it is about."""
    name = field(edit)
    names = FIELDS.get(name, set())
    if name == "start" and edit["scope"] == "entire-set":
        names = names | SET | {b"EXRULE", b"RECURRENCE-ID"}
    return names, COMPONENTS.get(name)


def touches(edit, file, part):
    key = file.key(part)
    if edit["tool"] != "patch":
        return (key is not None) == (edit["tool"] in IN_OVERRIDE)
    return {"master": key is None, "entire-set": True}.get(edit["scope"], key is not None)


def judge(edit):
    """What is wrong by the octets, or how many were compared."""
    before, after = (File(pathlib.Path(edit[name]).read_bytes()) for name in ("before", "out"))
    names, inner = about(edit)

    def dropped(file, part, more=frozenset()):
        lines = [line for line in part.lines if line.name in names | STAMPS | more]
        inside = [spans(child) for child in part.parts if child.name == inner]
        return [(line.start, line.next) for line in lines] + inside

    def rest(file, part, more=frozenset()):
        start, end = part.begin.start, part.end.next
        return octets(file.data, start, end, dropped(file, part, more))

    moved = edit.get("field") == "start" and edit["scope"] == "entire-set"
    old, new = before.series(), after.series()
    old_keys, new_keys = [before.key(part) for part in old], [after.key(part) for part in new]
    if edit.get("field") == "recurrenceSet" or moved:
        # Overrides may go with the set, or move with it: they are told apart by their place.
        gone = [part for part, key in zip(old, old_keys) if key is not None and key not in new_keys] if not moved else []
        old = [part for part in old if part not in gone]
        made = []
    else:
        gone, made = [], [part for part, key in zip(new, new_keys) if key not in old_keys]
        new = [part for part in new if part not in made]
    if len(old) != len(new):
        return "other components"
    changed = 0
    for one, other in zip(old, new):
        if not moved and before.key(one) != after.key(other):
            return "components in another order"
        same = before.data[slice(*spans(one))] == after.data[slice(*spans(other))]
        if same:
            continue
        changed += 1
        if not touches(edit, before, one):
            return "a component beyond the scope"
        if rest(before, one) != rest(after, other):
            return "other octets of a component"
        starts = before.first_value(one, b"DTSTART"), after.first_value(other, b"DTSTART")
        if edit.get("field") in ("end", "duration") and starts[0] != starts[1]:
            return "another start"
        only = lambda file, part: octets(file.data, *spans(part), [(l.start, l.next) for l in part.lines if l.name in STAMPS])
        if only(before, one) == only(after, other):
            return "stamped for nothing"
        for name in (b"DTSTAMP", b"LAST-MODIFIED"):
            if len([line for line in other.lines if line.name == name]) != 1:
                return f"{name.decode()} is not there once"
    if len(made) > 1:
        return "several new components"
    for part in made:
        changed += 1
        key = after.key(part)
        # An occurrence that has an override may be named by that one's spelling.
        spelled = {value.decode() for value, _ in filter(None, old_keys)}
        if key is None or key[0].decode() != edit["identity"] and edit["identity"] not in spelled:
            return "a new component for another occurrence"
        own = SPAN | SET | {b"RECURRENCE-ID", b"EXRULE"}
        sources = [rest(before, source, own) for source in old if before.key(source) is None or before.key(source)[1]]
        made_rest, clean = rest(after, part, own), lambda data: data.rstrip(b"\r\n").replace(b"\r\n", b"\n")
        if clean(made_rest) not in map(clean, sources):
            return "a new component that is no copy"
    if not changed and not gone:
        return "nothing changed"
    # Around the components.
    known = {before.first_value(part, b"TZID") for part in before.calendar().parts if part.name == b"VTIMEZONE"}
    zones = [p for p in after.calendar().parts if p.name == b"VTIMEZONE" and after.first_value(p, b"TZID") not in known]
    around = octets(before.data, 0, len(before.data), [spans(part) for part in old + gone])
    now = octets(after.data, 0, len(after.data), [spans(part) for part in new + made + zones])
    if around != now:
        return "octets around the components"
    return len(before.data)


# --- readers: each gives a list of (depth, name, [(property, value)]) or None


def python_reads(path):
    warnings.simplefilter("ignore")

    def flat(component, depth):
        # Values as they are: python-icalendar turns some into dates and drops spellings, but the same ones alike.
        values = []
        for name, value in component.property_items(recursive=False):
            if name not in ("BEGIN", "END"):
                said = getattr(value, "params", {})
                said = [str(said[known]) for known in ("TZID", "RANGE") if known in said]
                text = value.to_ical() if hasattr(value, "to_ical") else value
                text = text.decode() if isinstance(text, bytes) else str(text)
                values.append((name, "\x1f".join([text] + said)))
        yield depth, component.name.upper(), values
        for child in component.subcomponents:
            yield from flat(child, depth + 1)

    try:
        roots = icalendar.Component.from_ical(pathlib.Path(path).read_bytes(), multiple=True)
        return [each for root in roots for each in flat(root, 0)]
    except Exception:  # It has many ways to refuse.
        return None


def javascript_reads(paths, root):
    library = root / "ts" / "node_modules" / "ical.js"
    if not shutil.which("node") or not library.exists():
        return None
    run = subprocess.run(
        ["node", HERE / "dump.mjs", library / "dist" / "ical.js"], input="\n".join(paths), capture_output=True, text=True
    )
    if run.returncode:
        sys.exit(run.stderr)
    files = map(json.loads, run.stdout.splitlines())
    upper = lambda file: file and [(d, name.upper(), [(own.upper(), value) for own, value in own_]) for d, name, own_ in file]
    return [upper(file) for file in files]


def libical_reads(paths, program):
    run = subprocess.run([program], input="".join(path + "\n" for path in paths).encode(), capture_output=True, check=True)
    files, open_ = [], []
    for line in run.stdout.decode(errors="replace").split("\n"):
        if line == ".":
            files.append(open_ or None)
            open_ = []
        elif line.startswith("C "):
            _, depth, name = line.split(" ", 2)
            open_.append((int(depth), name.upper(), []))
        elif line.startswith("P "):
            name, _, value = line[2:].partition("\x1f")
            open_[-1][2].append((name.upper(), value))
    return files


def meaning(edit, before, after, of_text, knows):
    """What is wrong with what a reader finds: "read", "refused", or words."""
    if before is None or (edit["tool"] == "create" and after is None):
        return "refused" if before is None else "is not read"
    if after is None:
        return "is not read any more"
    names, inner = about(edit)
    names, inner = {name.decode() for name in names}, inner and inner.decode()
    stamps = {name.decode() for name in STAMPS}

    def parts(file):
        """Entities by identity with what the edit is not about, and with what it is about."""
        out, others, now, skipped = {}, [], None, None
        for depth, name, values in file:
            if skipped is not None and depth > skipped:
                continue
            skipped = None
            if depth <= 1:
                now = None
                if name in ("VEVENT", "VTODO"):
                    identity = [value for own, value in values if own == "RECURRENCE-ID"]
                    now = out.setdefault(str(identity), ([], []))
            if name == "VTIMEZONE":
                skipped = depth
                continue
            if now is not None and depth > 1 and name == inner:
                now[1].append((name, json.dumps(values)))
                skipped = depth
                continue
            kept = sorted((own, value) for own, value in values if now is None or depth > 1 or own not in names | stamps)
            (others if now is None else now[0]).append((depth, name, kept))
            if now is not None and depth == 1:
                now[1].extend((own, value) for own, value in values if own in names)
        return {key: (sorted(rest), own) for key, (rest, own) in out.items()}, sorted(others)

    (old, old_around), (new, new_around) = parts(before), parts(after)
    if old_around != new_around and edit["tool"] != "create":
        return "other things around"
    moved = edit.get("field") in ("start", "recurrenceSet")
    if not moved:
        if not set(old) <= set(new):
            return "components are missing"
        for key, (rest, _) in old.items():
            if inner is None and rest != new[key][0]:
                return "other properties"
    found = [value for key, (_, own) in new.items() for value in own if key not in old or sorted(old[key][1]) != sorted(own)]
    if knows and edit.get("mark") and edit["tool"] == "patch" and not any(edit["mark"] in value for _, value in found):
        return "what was added is not found"
    if edit.get("field") in TEXTS and edit["how"] == "set":
        if not any(of_text(value) == normal(edit["text"]) for _, value in found):
            return f"{edit['field']} is {found}"
    return "read"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--libical")
    parser.add_argument("--repository", default=HERE.parent.parent, type=pathlib.Path)
    parser.add_argument("--count", default="2000")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--list", action="store_true", help="print what was refused, and by whom")
    options = parser.parse_args()
    out = options.root / "random"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    paths = [str(path) for _, files in corpora(options.root, options.repository) for path in files]
    program = subprocess.run(
        [options.program, out, options.count, options.seed], input="\n".join(paths), capture_output=True, text=True
    )
    if program.returncode:
        sys.exit(program.stderr)
    edits = [json.loads(line) for line in program.stdout.splitlines()]
    changed = [edit for edit in edits if edit["result"] == "changed"]
    edited = [edit for edit in changed if edit["tool"] != "create"]
    table = collections.defaultdict(collections.Counter)
    for edit in edits:
        table[field(edit), edit.get("scope", "")][edit["result"]] += 1
    for (name, scope), results in sorted(table.items()):
        print(f"{name} {scope}: " + ", ".join(f"{n} {what}" for what, n in sorted(results.items())))
    # The recurrence set is that of the whole series.
    refused = {("recurrenceSet", scope) for scope in ("master", "one-occurrence", "this-and-future")}
    untouched = sorted(key for key, results in table.items() if not results["changed"] and key not in refused)
    totals = collections.Counter(edit["result"] for edit in edits)
    print("all: " + ", ".join(f"{n} {what}" for what, n in sorted(totals.items())))
    print("never changed anything: " + (", ".join(" ".join(key).strip() for key in untouched) or "none"))
    files = sorted({edit[name] for edit in changed for name in ("before", "out") if edit[name]})
    failures = []
    with multiprocessing.Pool() as pool:
        judged = pool.map_async(judge, edited, chunksize=16)
        python = pool.map_async(python_reads, files, chunksize=16)
        readers = {"ical.js": javascript_reads(files, options.root)}
        readers["libical"] = libical_reads(files, options.libical) if options.libical else None
        readers["python-icalendar"] = python.get()
        compared = 0
        for edit, result in zip(edited, judged.get(), strict=True):
            if isinstance(result, int):
                compared += result
            else:
                failures.append(f"octets: {json.dumps(edit)}: {result}")
    print(f"octets: {len(edited)} edits, {compared} octets compared")
    decode = {"ical.js": lambda value: json.loads(value)[1], "libical": lambda value: text_of(value.split("\x1f")[0])}
    decode["python-icalendar"] = lambda value: text_of(value.split("\x1f")[0])
    for reader, results in readers.items():
        if results is None:
            print(f"skipped: {reader}: not installed" + (" (CI=true or --live installs it)" if reader == "libical" else ""))
            continue
        read, counts = dict(zip(files, results, strict=True)), collections.Counter()
        for edit in changed:
            before = read[edit["before"]] if edit["before"] else []
            knows = reader != "libical" or field(edit) not in NOT_OF_LIBICAL
            result = meaning(edit, before, read[edit["out"]], decode[reader], knows)
            counts[result if result in ("read", "refused") else "wrong"] += 1
            if result not in ("read", "refused"):
                failures.append(f"{reader}: {json.dumps(edit)}: {result}")
        print(f"{reader}: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    if options.list:
        print(*(json.dumps(edit) for edit in edits if edit["result"] != "changed"), sep="\n")
    if totals["changed"] < int(options.count) or untouched:
        failures.append("too few edits")
    if failures:
        (out / "failures").write_text("\n".join(failures))
        print("\n".join(failures[:20]), f"and more in {out / 'failures'}", sep="\n")
        sys.exit(f"{len(failures)} failures")


if __name__ == "__main__":
    main()
