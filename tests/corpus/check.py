"""Edits calendar files with the example program `edit_corpus` and judges the outcome without any of its code.

  usage: check.py --program PATH --root DIR [--repository DIR] [--list]

For every file and every edit: octets outside the addressed line are the same, the new line is folded as it should be
and ends as its neighbours do, and python-icalendar and (where Node and DIR/ts/node_modules/ical.js are there) ical.js
read the new value and see nothing else change, if they can read the file at all. Files are those of this folder, of the
sdists in DIR/sdists and of the crates in the lock file of the repository that are in cargo's registry.
"""

import argparse
import collections
import json
import multiprocessing
import pathlib
import shutil
import subprocess
import sys
import tarfile
import warnings

import icalendar
import icalendar.error
from icalendar.prop import vBroken

HERE = pathlib.Path(__file__).resolve().parent
MAX_DEPTH = 64
LONG = "".join("aä€🎉 "[i % 5] for i in range(300))
# What a reader may say of an edit: it refuses the file before and after, reads the new value, or had read another tree or
# another first SUMMARY from the start.
GOOD = ("read", "refused", "read otherwise")
TEXTS = [
    "Lunch",
    "",
    "commas, semicolons; colons: and = equals",
    "two\nlines\n\nand more",
    "carriage\r\nreturn",
    "\"double\" 'single' \\ back\\nslash \\\\ ^n ^'",
    "Grüße aus Köln – ÄÖÜß",
    "🎉 Fête 👨‍👩‍👧 שלום",
    "a\ttab",
    LONG,
    "x" * 300,
]
EVERYTHING = "Größe, \"a\"; b: c\\d\n🎉 " + LONG
NAMES = ["Bob", "Müller, Jörg; Dr.: \"JM\"", "^ two\nlines 🎉 'x'", "n" * 70 + "ä" * 60]
ADDRESS = "mailto:new.guest@example.com"


# --- scanner


class Line:
    def __init__(self, data, start):
        self.start, at = start, start
        while True:
            newline = data.find(b"\n", at)
            if newline < 0:
                self.end = self.next = len(data)
                break
            self.next = newline + 1
            if data[newline + 1 : newline + 2] not in (b" ", b"\t") or not data[newline + 1 : newline + 2]:
                self.end = newline - (newline > start and data[newline - 1 : newline] == b"\r")
                break
            at = newline + 1
        quoted, self.colon, self.semicolon = False, None, None
        for i in range(self.start, self.end):
            c = data[i]
            if c == 0x22:
                quoted = not quoted
            elif c == 0x3B and self.semicolon is None:
                self.semicolon = i
            elif c == 0x3A and not quoted:
                self.colon = i
                break
        if self.colon is None and quoted:
            found = data.find(b":", self.start, self.end)
            self.colon = found if found >= 0 else None
        head = self.end if self.colon is None else self.colon
        name_end = head if self.semicolon is None else min(head, self.semicolon)
        self.name = unfolded(data[self.start : name_end]).upper()
        self.plain = name_end == self.colon
        self.component = None

    def value(self, data):
        return unfolded(data[self.colon + 1 : self.end])


def unfolded(data):
    for fold in (b"\r\n ", b"\r\n\t", b"\n ", b"\n\t"):
        data = data.replace(fold, b"\0FOLD\0")
    return data.replace(b"\0FOLD\0", b"")


class Scan:
    """Lines, and components as [name, BEGIN line, inside]."""

    def __init__(self, data):
        self.lines, self.components, self.depths, stack, buried = [], [], [], [], 0
        at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        while at < len(data):
            line = Line(data, at)
            at = line.next
            if line.start == line.end:
                continue
            self.lines.append(line)
            if line.plain and line.name == b"BEGIN":
                if len(stack) == MAX_DEPTH:
                    buried += 1
                    continue
                self.depths.append(len(stack))
                stack.append(len(self.components))
                self.components.append((line.value(data).strip().upper(), line))
            elif line.plain and line.name == b"END":
                if buried:
                    buried -= 1
                    continue
                name = line.value(data).strip().upper()
                open_ = [i for i, component in enumerate(stack) if self.components[component][0] == name]
                if open_:
                    del stack[open_[-1] :]
            elif line.colon is not None and not buried and stack:
                line.component = stack[-1]
        self.entities = [i for i, (name, _) in enumerate(self.components) if name in (b"VEVENT", b"VTODO")]

    def tree(self):
        """The names of the components in order, each with how many are around it."""
        return [[name.decode(errors="replace").lower(), depth] for (name, _), depth in zip(self.components, self.depths)]

    def first(self, name):
        lines = [line for line in self.lines if line.name == name and line.component is not None]
        for entity in self.entities:
            for line in lines:
                if line.component == entity:
                    return line
        return None


def text_of(value):
    out, at = [], 0
    while at < len(value):
        c = value[at]
        if c == "\\" and at + 1 < len(value) and value[at + 1] in 'nN,;\\:"':
            at += 1
            c = "\n" if value[at] in "nN" else value[at]
        out.append(c)
        at += 1
    return "".join(out)


def encoded(text):
    for raw, escape in ("\\", "\\\\"), (";", "\\;"), (",", "\\,"), ("\n", "\\n"):
        text = normal(text).replace(raw, escape)
    return text


def normal(text):
    return text.replace("\r\n", "\n")


def line_end(data, line):
    return b"\n" if data[line.end : line.next] == b"\n" else b"\r\n"


def folding(data, start, end, ending, column):
    """What is wrong with the folds of new octets that begin in a column."""
    for i, physical in enumerate(data[start:end].split(ending)):
        width = len(physical) + (column if i == 0 else 0)
        if width > 75 and not (i == 0 and column > 75 and not physical):
            return f"a line of {width} octets"
        if i and not physical.startswith(b" "):
            return "a continuation without a blank"
        try:
            (physical[1:] if i else physical).decode()
        except UnicodeDecodeError:
            return "a fold inside a character"
        if b"\r" in physical or b"\n" in physical:
            return "another line end"
    return None


def judge(before, after, job, answer):
    """What is wrong with an edit, by the octets alone."""
    scan, splices = Scan(before), answer["splices"]
    if job["edit"] == "none":
        return None if before == after and not splices else "not the same octets"
    at, made = 0, b""
    rest = after
    for start, end, length in splices:
        if rest[: start - at] != before[at:start]:
            return "octets before the splice"
        made, rest, at = rest[start - at : start - at + length], rest[start - at + length :], end
    if rest != before[at:] or len(splices) != 1:
        return "octets after the splice"
    (start, end, length), then = splices[0], Scan(after)
    if job["edit"] == "summary":
        line = scan.first(b"SUMMARY")
        if (start, end) != (line.colon + 1, line.end):
            return "not the value of the first SUMMARY"
        column = line.colon + 1 - max(before.rfind(b"\n", 0, line.colon) + 1, line.start)
        new = then.first(b"SUMMARY")
        if len(then.lines) != len(scan.lines) or new.value(after).decode() != encoded(job["text"]):
            return "another value"
        return folding(after, start, start + length, line_end(before, line), column)
    if job["edit"] == "attendee":
        target = scan.entities[0]
        begin = scan.components[target][1]
        ending = line_end(before, begin)
        if start != end or not (start == len(before) or any(line.start == start for line in scan.lines)):
            return "not an insertion between lines"
        where = start + (len(ending) if made.startswith(ending) else 0)
        if where != start and (start != len(before) or before.endswith(b"\n")):
            return "a blank line"
        new = [line for line in then.lines if line.start == where]
        if len(then.lines) != len(scan.lines) + 1 or not new or new[0].next != start + length:
            return "not one line"
        if new[0].component != target or new[0].name != b"ATTENDEE":
            return "not in the component"
        if not made.endswith(ending) or new[0].value(after).decode() != job["value"]:
            return "another line end or value"
        return folding(after, where, start + length - len(ending), ending, 0)
    line = scan.first(b"EXDATE")
    values = line.value(before).split(b",")
    if len(values) == 1:
        return None if (start, end, length) == (line.start, line.next, 0) else "not the line"
    if (start, end) != (line.colon + 1, line.end):
        return "not the value of the first EXDATE"
    new = then.first(b"EXDATE")
    if len(then.lines) != len(scan.lines) or new.value(after).split(b",") != values[1:]:
        return "another list"
    column = line.colon + 1 - max(before.rfind(b"\n", 0, line.colon) + 1, line.start)
    return folding(after, start, start + length, line_end(before, line), column)


# --- python-icalendar


def in_order(components, depth=0):
    for component in components:
        component.depth = depth
        yield component
        yield from in_order(component.subcomponents, depth + 1)


def read(data):
    """The components of a file, or None if python-icalendar refuses it."""
    try:
        return list(in_order(icalendar.Component.from_ical(data, multiple=True)))
    except Exception:  # It has many ways to refuse.
        return None


def each(component, name):
    values = component.get(name)
    return values if isinstance(values, list) else [] if values is None else [values]


def shape(components):
    return [(c.name, sorted(name for name, _ in c.property_items(recursive=False))) for c in components]


def python_reads(job):
    """What is wrong, or one of GOOD."""
    warnings.simplefilter("ignore")
    before = pathlib.Path(job["file"]).read_bytes()
    old = read(before)
    if old is None:
        return "refused"
    result = python_sees(job, old)
    if result in GOOD:
        return result
    # What is wrong counts only if python-icalendar and the scanner were of one mind about the file.
    scan, summaries = Scan(before), [value for c in old for value in each(c, "SUMMARY")]
    first = scan.first(b"SUMMARY")
    same = [[c.name.lower(), c.depth] for c in old] == scan.tree()
    if same and not (job["edit"] == "summary" and str(summaries[0]) != text_of(first.value(before).decode())):
        return result
    return "read otherwise"


def python_sees(job, old):
    new = read(pathlib.Path(job["out"]).read_bytes())
    if new is None:
        return "is not read any more"
    entities = lambda components: [c for c in components if c.name in ("VEVENT", "VTODO")]
    expected = shape(old)
    if job["edit"] == "summary":
        values = [value for c in entities(new) for value in each(c, "SUMMARY")]
        if not values:
            return "refused" if not any(each(c, "SUMMARY") for c in entities(old)) else "no SUMMARY"
        if str(values[0]) != normal(job["text"]):
            return f"SUMMARY is {str(values[0])!r}"
    elif job["edit"] == "attendee":
        if not entities(new):
            return "refused" if not entities(old) else "no Event or To-do"
        guests = [guest for guest in each(entities(new)[0], "ATTENDEE") if str(guest) == job["value"]]
        if len(guests) != 1:
            return f"{len(guests)} guests"
        for name, value in job["parameters"]:
            if guests[0].params.get(name) != value:
                return f"{name} is {guests[0].params.get(name)!r}"
        target = next(i for i, c in enumerate(new) if c.name in ("VEVENT", "VTODO"))
        expected[target][1].append("ATTENDEE")
        expected[target][1].sort()
    elif job["edit"] == "exdate":
        dates = lambda components: [d.dt for c in entities(components) for v in each(c, "EXDATE") for d in v.dts]
        try:
            return "read" if dates(new) == dates(old)[1:] else "other EXDATEs"
        except icalendar.error.BrokenCalendarProperty:
            return "refused" if any(isinstance(v, vBroken) for c in entities(old) for v in each(c, "EXDATE")) else "is broken now"
    return "read" if shape(new) == expected else "other properties"


# --- ical.js


def javascript_reads(jobs, root):
    """The same of each job, or None without ical.js."""
    library = root / "ts" / "node_modules" / "ical.js"
    if not shutil.which("node") or not library.exists():
        return None
    run = subprocess.run(
        ["node", HERE / "check.mjs", library / "dist" / "ical.js"],
        input="\n".join(map(json.dumps, jobs)),
        capture_output=True,
        text=True,
    )
    if run.returncode:
        sys.exit(run.stderr)
    return [json.loads(line) for line in run.stdout.splitlines()]


# --- files


def corpora(root, repository):
    yield "own", sorted(HERE.glob("*.ics"))
    unpacked = root / "corpora"
    for archive in sorted((root / "sdists").glob("*.tar.gz")):
        place = unpacked / archive.name.removesuffix(".tar.gz")
        if not place.exists():
            with tarfile.open(archive) as tar:
                members = [m for m in tar.getmembers() if m.isfile() and m.name.endswith(".ics")]
                tar.extractall(place, members, filter="data")
        yield archive.name.removesuffix(".tar.gz"), sorted(place.rglob("*.ics"))
    metadata = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
    out = subprocess.run(metadata, cwd=repository, capture_output=True, text=True)
    crates = {}
    if out.returncode == 0:
        for package in json.loads(out.stdout)["packages"]:
            crates[package["name"]] = pathlib.Path(package["manifest_path"]).parent
    for name in ("icalendar", "calcard", "ical-rs"):
        if name in crates:
            yield f"crate {name}", sorted(crates[name].rglob("*.ics"))
        else:
            print(f"skipped: the files of the crate {name}: nothing depends on it")


def jobs_of(number, path, own, out):
    def job(edit, **more):
        return {"file": str(path), "edit": edit, **more}

    jobs = [job("none"), job("exdate")]
    jobs += [job("summary", text=text) for text in (TEXTS if own else [EVERYTHING])]
    for name in NAMES if own else NAMES[1:2]:
        jobs.append(job("attendee", value=ADDRESS, parameters=[["CN", name], ["ROLE", "CHAIR"], ["X-TEST", "a:b"]]))
    for i, each_job in enumerate(jobs):
        each_job["out"] = str(out / f"{number}-{i}.ics")
    return jobs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--repository", default=HERE.parent.parent, type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="print what is not changed or read")
    options = parser.parse_args()
    out = options.root / "edited"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    jobs, number = [], 0
    for corpus, files in corpora(options.root, options.repository):
        print(f"{corpus}: {len(files)} files")
        for path in files:
            number += 1
            jobs += jobs_of(number, path, corpus == "own", out)
    program = subprocess.run(
        [options.program], input="\n".join(map(json.dumps, jobs)), capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in program.stdout.splitlines()]
    assert len(answers) == len(jobs)
    skipped = collections.Counter()
    made = []
    for job, answer in zip(jobs, answers):
        if why := answer.get("skipped"):
            skipped[job["edit"], why] += 1
            if options.list:
                print(f"{job['edit']} skipped: {job['file']}: {why}")
        else:
            made.append((job, answer))
    for (edit, why), count in sorted(skipped.items()):
        print(f"{edit}: {count} not made: {why}")
    failures = []
    trees = {file: Scan(pathlib.Path(file).read_bytes()).tree() for file in {job["file"] for job, _ in made}}
    with multiprocessing.Pool() as pool:
        by_python = pool.map_async(python_reads, [job for job, _ in made], chunksize=16)
        by_javascript = javascript_reads([job | {"tree": trees[job["file"]]} for job, _ in made], options.root)
        octets = pool.starmap_async(check_octets, made, chunksize=16)
        judged = {"octets": octets.get(), "python-icalendar": by_python.get()}
    if by_javascript is None:
        print("skipped: ical.js: no Node or no package")
    else:
        judged["ical.js"] = by_javascript
    for reader, results in judged.items():
        counts, notes = collections.Counter(), set()
        for (job, _), result in zip(made, results, strict=True):
            good = result in GOOD
            counts[job["edit"], result if good else "wrong"] += 1
            if not good:
                failures.append(f"{reader}: {job['edit']} {job.get('text', '')!r}: {job['file']} -> {job['out']}: {result}")
            elif result != "read" and (options.list or result != "refused"):
                notes.add(f"{reader}: {job['edit']}: {result}: {job['file']}")
        for edit in ("none", "summary", "attendee", "exdate"):
            print(f"{reader}: {edit}: " + ", ".join(f"{n} {what}" for (e, what), n in sorted(counts.items()) if e == edit))
        print(*sorted(notes), sep="\n", end="\n" * bool(notes))
    if failures:
        print("\n".join(failures))
        sys.exit(f"{len(failures)} failures")


def check_octets(job, answer):
    before, after = pathlib.Path(job["file"]).read_bytes(), pathlib.Path(job["out"]).read_bytes()
    return judge(before, after, job, answer) or "read"


if __name__ == "__main__":
    main()
