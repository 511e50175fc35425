"""Hand-written resources with what the bench calendar lacks: times of every form, rules that cross changes of clocks,
overrides with a text of their own, and To-dos in every state. A resource is named like its UID.
"""
LISBON = """BEGIN:VTIMEZONE
TZID:Europe/Lisbon
BEGIN:DAYLIGHT
DTSTART:19960331T010000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
TZOFFSETFROM:+0000
TZOFFSETTO:+0100
TZNAME:WEST
END:DAYLIGHT
BEGIN:STANDARD
DTSTART:19961027T020000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
TZOFFSETFROM:+0100
TZOFFSETTO:+0000
TZNAME:WET
END:STANDARD
END:VTIMEZONE
"""
WORD = "quagga"     # stands in one override and nowhere else

# name: components of an Event
EVENTS = {
    "word": ["""SUMMARY:Choir
DTSTART;TZID=Europe/Lisbon:20260902T190000
DTEND;TZID=Europe/Lisbon:20260902T203000
RRULE:FREQ=WEEKLY;COUNT=30""", """SUMMARY:Choir sings the Quagga song
RECURRENCE-ID;TZID=Europe/Lisbon:20261202T190000
DTSTART;TZID=Europe/Lisbon:20261203T200000
DTEND;TZID=Europe/Lisbon:20261203T213000"""],
    "floating": ["""SUMMARY:Take the pills
DTSTART:20261030T080000
DTEND:20261030T081500
RRULE:FREQ=DAILY;COUNT=40"""],
    "floating-midnight": ["""SUMMARY:Floats over midnight
DTSTART:20261202T233000
DTEND:20261203T003000"""],
    "instant": ["""SUMMARY:An instant
DTSTART:20261203T120000Z"""],
    "instant-day": ["""SUMMARY:A day without an end
DTSTART;VALUE=DATE:20261204"""],
    "hours": ["""SUMMARY:Two hours
DTSTART:20261203T150000Z
DURATION:PT2H"""],
    "nominal-day": ["""SUMMARY:One day across the change of clocks
DTSTART;TZID=Europe/Lisbon:20261024T120000
DURATION:P1D"""],
    "night-shift": ["""SUMMARY:Night shift
DTSTART;TZID=Europe/Lisbon:20260320T220000
DTEND;TZID=Europe/Lisbon:20260321T060000
RRULE:FREQ=DAILY;UNTIL=20261101T230000Z"""],
    "holidays": ["""SUMMARY:Holidays
DTSTART;VALUE=DATE:20260320
DTEND;VALUE=DATE:20260323
RRULE:FREQ=MONTHLY;COUNT=12
EXDATE;VALUE=DATE:20260520""", """SUMMARY:Holidays later
RECURRENCE-ID;VALUE=DATE:20260920
DTSTART;VALUE=DATE:20260926
DTEND;VALUE=DATE:20260929"""],
    "last-workday": ["""SUMMARY:Last workday
DTSTART;TZID=Europe/Lisbon:20250131T170000
DTEND;TZID=Europe/Lisbon:20250131T180000
RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"""],
    "extra-dates": ["""SUMMARY:Extra dates
DTSTART;TZID=Europe/Lisbon:20260907T100000
DTEND;TZID=Europe/Lisbon:20260907T110000
RRULE:FREQ=WEEKLY;COUNT=4
RDATE;TZID=Europe/Lisbon:20261030T100000,20261101T160000
EXDATE;TZID=Europe/Lisbon:20260921T100000"""],
    "cancelled-once": ["""SUMMARY:One is cancelled
DTSTART:20261201T090000Z
DTEND:20261201T093000Z
RRULE:FREQ=DAILY;COUNT=5""", """SUMMARY:One is cancelled
RECURRENCE-ID:20261203T090000Z
DTSTART:20261203T090000Z
DTEND:20261203T093000Z
STATUS:CANCELLED"""],
    "from-then-on": ["""SUMMARY:From then on an hour later
DTSTART;TZID=Europe/Lisbon:20261005T090000
DTEND;TZID=Europe/Lisbon:20261005T100000
RRULE:FREQ=WEEKLY;COUNT=12""", """SUMMARY:An hour later
RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Lisbon:20261102T090000
DTSTART;TZID=Europe/Lisbon:20261102T100000
DTEND;TZID=Europe/Lisbon:20261102T113000"""],
    "windows-zone": ["""SUMMARY:A zone by its Windows name
DTSTART;TZID=W. Europe Standard Time:20261202T090000
DTEND;TZID=W. Europe Standard Time:20261202T100000"""],
    "bare-zone": ["""SUMMARY:A zone without a definition
DTSTART;TZID=Australia/Sydney:20261202T090000
DTEND;TZID=Australia/Sydney:20261202T100000
RRULE:FREQ=WEEKLY"""],
    "forever": ["""SUMMARY:Leap day
DTSTART;VALUE=DATE:20240229
DTEND;VALUE=DATE:20240301
RRULE:FREQ=YEARLY"""],
    "transparent": ["""SUMMARY:Not busy
CATEGORIES:Rest,Très Important
DTSTART:20261203T070000Z
DTEND:20261203T073000Z
TRANSP:TRANSPARENT"""],
}

# name: (components, [(state, start, due)]) of a To-do, or of each occurrence of one that recurs, with a summary of its own at
# the end where it has one; times as they are stored
TODOS = {
    "todo-open": (["""SUMMARY:Paint the fence
DESCRIPTION:Before the winter
CATEGORIES:Home,Garden
PRIORITY:1
STATUS:NEEDS-ACTION
DTSTART;TZID=Europe/Lisbon:20261201T090000
DUE;TZID=Europe/Lisbon:20261203T170000"""], [("open", "2026-12-01T09:00:00Z", "2026-12-03T17:00:00Z")]),
    "todo-undated": (["SUMMARY:Some day\nCATEGORIES:Home"], [("open", None, None)]),
    "todo-day": (["""SUMMARY:By that day
STATUS:IN-PROCESS
PERCENT-COMPLETE:40
DUE;VALUE=DATE:20261204"""], [("open", None, "2026-12-04")]),
    "todo-floating": (["SUMMARY:Wherever I am\nDUE:20261202T200000"], [("open", None, "2026-12-02T20:00:00")]),
    "todo-start": (["SUMMARY:Not before\nDTSTART;VALUE=DATE:20261205"], [("open", "2026-12-05", None)]),
    "todo-length": (["SUMMARY:Three hours\nDTSTART:20261206T100000Z\nDURATION:PT3H"], [("open", "2026-12-06T10:00:00Z", "2026-12-06T13:00:00Z")]),
    "todo-done": (["""SUMMARY:Done
STATUS:COMPLETED
COMPLETED:20261130T180000Z
PERCENT-COMPLETE:100
DUE:20261201T120000Z"""], [("completed", None, "2026-12-01T12:00:00Z")]),
    "todo-cancelled": (["SUMMARY:Not any more\nSTATUS:CANCELLED\nDUE:20261206T120000Z"], [("cancelled", None, "2026-12-06T12:00:00Z")]),
    "todo-torn": (["""SUMMARY:Done or not
STATUS:NEEDS-ACTION
COMPLETED:20261130T180000Z
DUE:20261203T120000Z"""], [("indeterminate", None, "2026-12-03T12:00:00Z")]),
    "todo-weekly": (["""SUMMARY:Water the plants
DTSTART;TZID=Europe/Lisbon:20261109T080000
DUE;TZID=Europe/Lisbon:20261109T100000
RRULE:FREQ=WEEKLY;COUNT=6""", """SUMMARY:Water the plants
RECURRENCE-ID;TZID=Europe/Lisbon:20261130T080000
DTSTART;TZID=Europe/Lisbon:20261130T080000
DUE;TZID=Europe/Lisbon:20261130T100000
STATUS:COMPLETED
COMPLETED:20261130T093000Z""", """SUMMARY:Skip the plants
RECURRENCE-ID;TZID=Europe/Lisbon:20261207T080000
DTSTART;TZID=Europe/Lisbon:20261207T080000
DUE;TZID=Europe/Lisbon:20261207T100000
STATUS:CANCELLED"""], [
        ("open", "2026-11-09T08:00:00Z", "2026-11-09T10:00:00Z"), ("open", "2026-11-16T08:00:00Z", "2026-11-16T10:00:00Z"),
        ("open", "2026-11-23T08:00:00Z", "2026-11-23T10:00:00Z"), ("completed", "2026-11-30T08:00:00Z", "2026-11-30T10:00:00Z"),
        ("cancelled", "2026-12-07T08:00:00Z", "2026-12-07T10:00:00Z", "Skip the plants"), ("open", "2026-12-14T08:00:00Z", "2026-12-14T10:00:00Z")]),
}

# A name whose resource is deleted and made again: its contents, and where they start.
AGAIN = "again"
AGAIN_AS = [(["""SUMMARY:Again 1
DTSTART:20261204T100000Z
DTEND:20261204T110000Z"""], "2026-12-04T10:00:00Z"), (["""SUMMARY:Again 2
DTSTART:20261205T120000Z
DTEND:20261205T130000Z"""], "2026-12-05T12:00:00Z")]


def file(name, components, kind="VEVENT"):
    head = f"BEGIN:{kind}\nUID:{name}\nDTSTAMP:20260101T000000Z\n"
    text = "".join(f"{head}{c}\nEND:{kind}\n" for c in components)
    zones = LISBON if "TZID=Europe/Lisbon" in text else ""
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Kalends//live suite//EN\n{zones}{text}END:VCALENDAR\n".replace("\n", "\r\n")
