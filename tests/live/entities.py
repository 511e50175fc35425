"""`calendar_entities_query` and `todos_query` on what the suite has PUT: the bench calendar and the hand-written resources."""
import datetime as dt
import re
from zoneinfo import ZoneInfo

import mixed
from occurrences import Truth, instant, window

LATE = dt.datetime.max.replace(tzinfo=dt.timezone.utc)


class Todos:
    """what is true of every To-do: {file: (text, [(state, start, due)])}"""

    def __init__(self, files):
        self.known, self.text = {}, files
        for name, text in files.items():
            if name.startswith("work/") and "BEGIN:VTODO" in text:
                day = re.search(r"DUE;VALUE=DATE:(\d{4})(\d\d)(\d\d)", text)
                self.known[name] = [("completed" if "STATUS:COMPLETED" in text else "open", None, "-".join(day.groups()))]
        for name, (_, rows) in mixed.TODOS.items():
            if f"more/{name}.ics" in files:
                self.known[f"more/{name}.ics"] = rows

    def rows(self, zone, states=("open",), span=None, due=None, text=""):
        """[(file, state, start, due)] in order, times as instants"""
        at = lambda t: t and instant(t, ZoneInfo(zone))
        out = []
        for name, rows in self.known.items():
            summary = re.search(r"SUMMARY:(.*)", self.text[name])[1]
            words = [(row[3:] or [summary])[0].lower() for row in rows]
            for n, (state, start, end, *_) in enumerate(rows if span else rows[:1]):     # without a window a series is one row
                # A whole series is found by the words of any of its components.
                if not any(text in own for own in (words[n:n + 1] if span else words)):
                    continue
                if state in states and (not span or touches(at(start), at(end), *span)) and (not due or end and due[0] <= at(end) < due[1]):
                    out.append((name, state, at(start), at(end)))
        return sorted(out, key=lambda r: (r[3] or LATE, r[2] or LATE, r[0]))


def touches(start, due, first, last):
    """as RFC 4791, 9.9, but half-open throughout: what is due at the end of a window belongs to the next one"""
    if start and due:
        return first < due and start < last
    return first <= (due or start) < last if due or start else True


def pages(ask, tool, **args):
    """all rows, or what went wrong"""
    rows, extra = [], None
    args = {"pageSize": 60, **args}
    while True:
        out = ask(tool, **args)
        content = out["content"]
        if out["error"]:
            return [str(content)], content
        rows, extra = rows + content["items"], content
        cursor = content["pagination"]["nextCursor"]
        if not cursor:
            return rows, extra
        args = {"cursor": cursor, "pageSize": 60}


def moment(value):
    """the instant of a full row's `due` or `start`"""
    return value and dt.datetime.fromisoformat(value.get("evaluatedUtc", value)["value"])


def shown(row):
    target = row["completionTarget"]
    href = (target.get("entityRevision") or target["resourceRevision"])["href"]
    return "/".join(href.rsplit("/", 2)[1:]), row["completionState"], moment(row.get("start")), moment(row.get("due"))


def todos(check, ask, files):
    truth = Todos(files)
    week = (instant("2026-11-30T00:00:00Z", None), instant("2026-12-08T00:00:00Z", None))
    midweek = (instant("2026-12-02T12:00:00Z", None), instant("2026-12-04T12:00:00Z", None))
    every = ["open", "completed", "cancelled", "indeterminate"]
    for what, zone, args in (
            ("open ones", "UTC", {}),
            *((f"{state} ones", "UTC", {"states": [state]}) for state in every[1:]),
            ("a week of all states", "UTC", {"states": every, "span": week}),
            ("a week of all states in Auckland", "Pacific/Auckland", {"states": every, "span": week}),
            ("those due in two days", "Europe/Lisbon", {"states": every, "due": midweek}),
            ("those due in two days in Kolkata, in a week", "Asia/Kolkata", {"states": every, "due": midweek, "span": week}),
            ("those with a word", "UTC", {"states": every, "text": "plants"}),
            ("those with a word of an override", "UTC", {"states": every, "text": "skip"}),
            ("occurrences with a word of the others", "UTC", {"states": every, "text": "water", "span": week}),
            ("occurrences with a word of their own", "UTC", {"states": every, "text": "skip", "span": week})):
        want = truth.rows(zone, **args)
        sent = {"scope": {"mode": "all"}, "evaluationTimeZone": zone, "detail": "full",
                "projection": ["summary", "due", "start", "status", "categories", "recurrence"]}
        if "states" in args:
            sent["completionStates"] = args["states"]
        if "text" in args:
            sent["text"] = args["text"]
        if "span" in args:
            sent.update(window(*args["span"]))
        if "due" in args:
            sent.update(zip(("dueFrom", "dueTo"), window(*args["due"]).values()))
        got, last = pages(ask, "todos_query", **sent)
        got = got if got and isinstance(got[0], str) else [shown(r) for r in got]
        check(f"to-dos, {what}: {len(want)}", got == want, f"missing {[r for r in want if r not in got][:4]}, too many {[r for r in got if r not in want][:4]}"
              f"{', in another order' if sorted(map(str, got)) == sorted(map(str, want)) else ''}")
        torn = 1 if "states" not in args and "more/todo-torn.ics" in files else 0
        if "states" not in args:
            check("those whose state cannot be told are counted", last.get("excludedIndeterminateCount") == torn, last.get("excludedIndeterminateCount"))


def entities(check, ask, files, found):
    """`found`: the oracle's occurrences"""
    known = Todos(files).known
    week = (instant("2026-11-30T00:00:00Z", None), instant("2026-12-07T00:00:00Z", None))
    at = lambda t: t and instant(t, dt.timezone.utc)
    on = {name for name, _, _ in Truth({n: rows for n, rows in found.items() if n not in known}, "UTC").cut(*week)}
    due = {name for name, rows in known.items() if any(touches(at(start), at(end), *week) for _, start, end, *_ in rows)}
    events = set(files) - set(known)
    for what, want, args in (
            ("events", events, {"entityKinds": ["event"]}),
            ("to-dos", set(known), {"entityKinds": ["todo"]}),
            ("events of a week", on, {"entityKinds": ["event"], **window(*week)}),
            ("all of a week", on | due, {"entityKinds": ["event", "todo"], **window(*week)}),
            ("those with the word of an override", {"more/word.ics"}, {"entityKinds": ["todo", "event"], "text": f"{mixed.WORD.upper()} choir"}),
            ("those of a category", {"more/todo-open.ics", "more/todo-undated.ics"} & set(files),
             {"entityKinds": ["event", "todo"], "categories": ["home"]}),
            ("those with words of two properties, in a category", {"more/todo-open.ics"} & set(files),
             {"entityKinds": ["todo"], "text": "winter fence", "categories": ["GARDEN", "Home"]})):
        rows, _ = pages(ask, "calendar_entities_query", scope={"mode": "all"}, detail="full", **args)
        if rows and isinstance(rows[0], str):
            check(f"entities, {what}: {len(want)}", False, rows[0])
            continue
        hrefs = [r["entityRevision"]["href"] for r in rows]
        got = {"/".join(h.rsplit("/", 2)[1:]): r["projection"]["kind"] for h, r in zip(hrefs, rows)}
        kinds = {name: "todo" if name in known else "event" for name in want}
        check(f"entities, {what}: {len(want)}", got == kinds and len(rows) == len(got) and hrefs == sorted(hrefs),
              f"missing {sorted(set(want) - set(got))[:4]}, too many {sorted(set(got) - set(want))[:4]}"
              f"{'' if hrefs == sorted(hrefs) else ', in another order'}")
