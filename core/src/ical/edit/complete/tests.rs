use super::*;
use crate::ical::edit::sample::{components, date, event, series, utc, zoned};

fn todo(lines: &str) -> String {
    event(lines).replace("VEVENT", "VTODO")
}

fn now() -> Timestamp {
    "2026-09-09T16:20:30.75Z".parse().expect("a moment")
}

fn outcome(inside: &str, identity: Option<&Temporal>) -> Result<Option<String>, Code> {
    let entity = series(inside);
    let done = completed(&entity, identity, now()).map_err(|error| error.code)?;
    Ok(done.map(|document| components(&document)))
}

const DONE: &str = "STATUS:COMPLETED\r\nPERCENT-COMPLETE:100\r\nCOMPLETED:20260909T162030Z\r\n";

#[test]
fn a_single_to_do_is_completed_in_place() {
    for (lines, want) in [
        ("SUMMARY:A\r\n", Ok(Some(format!("SUMMARY:A\r\n{DONE}")))),
        (
            "STATUS;X-A=b:IN-PROCESS\r\nPERCENT-COMPLETE:50\r\nSUMMARY:A\r\nBEGIN:VALARM\r\nEND:VALARM\r\n",
            Ok(Some(
                "STATUS;X-A=b:COMPLETED\r\nPERCENT-COMPLETE:100\r\nSUMMARY:A\r\nCOMPLETED:20260909T162030Z\r\nBEGIN:VALARM\r\nEND:VALARM\r\n".to_owned(),
            )),
        ),
        ("STATUS:COMPLETED\r\n", Ok(None)),
        ("COMPLETED:20260101T000000Z\r\n", Ok(None)),
        ("PERCENT-COMPLETE:100\r\n", Ok(None)),
        ("STATUS:CANCELLED\r\n", Err(Code::InvalidInput)),
        ("STATUS:NEEDS-ACTION\r\nCOMPLETED:20260101T000000Z\r\n", Err(Code::CompletionStateConflict)),
        ("STATUS:COMPLETED\r\nPERCENT-COMPLETE:10\r\n", Err(Code::CompletionStateConflict)),
        ("STATUS:X-LATER\r\n", Err(Code::CompletionStateConflict)),
        ("STATUS:NEEDS-ACTION\r\nSTATUS:NEEDS-ACTION\r\n", Err(Code::CompletionStateConflict)),
        ("PERCENT-COMPLETE:high\r\n", Err(Code::CompletionStateConflict)),
    ] {
        assert_eq!(outcome(&todo(lines), None), want.map(|want| want.map(|lines| todo(&lines))), "{lines}");
    }
    let single = todo("DTSTART:20260901T080000Z\r\n");
    assert_eq!(
        outcome(&single, Some(&utc("2026-09-01T08:00"))),
        Err(Code::InvalidInput)
    );
    assert_eq!(
        outcome(&event("DTSTART:20260901T080000Z\r\n"), None),
        Err(Code::EntityKindMismatch)
    );
    assert_eq!(outcome(&todo("DTSTART:tomorrow\r\n"), None), Err(Code::OpaqueResource));
}

#[test]
fn one_occurrence_is_completed_and_the_series_stays_open() {
    let master = todo(
        "DTSTART;VALUE=DATE:20260902\r\nRRULE:FREQ=WEEKLY\r\nEXDATE;VALUE=DATE:20260923\r\nSTATUS:NEEDS-ACTION\r\n",
    );
    let own = |lines: &str| todo(&format!("RECURRENCE-ID;VALUE=DATE:20260909\r\n{lines}"));
    let at = date("2026-09-09");
    for (before, want) in [
        (
            master.clone(),
            Ok(Some(own(&format!("DTSTART;VALUE=DATE:20260909\r\n{DONE}")))),
        ),
        (
            master.clone() + &own("SUMMARY:B\r\n"),
            Ok(Some(own(&format!("SUMMARY:B\r\n{DONE}")))),
        ),
        (master.clone() + &own("STATUS:COMPLETED\r\n"), Ok(None)),
        (master.clone() + &own("STATUS:CANCELLED\r\n"), Err(Code::InvalidInput)),
        (
            master.clone() + &own("STATUS:OTHER\r\n"),
            Err(Code::CompletionStateConflict),
        ),
    ] {
        let got = outcome(&before, Some(&at));
        assert_eq!(got, want.map(|want| want.map(|own| master.clone() + &own)), "{before}");
    }
    assert_eq!(outcome(&master, None), Err(Code::InvalidInput));
    for day in ["2026-09-23", "2026-09-10", "2026-08-26"] {
        assert_eq!(outcome(&master, Some(&date(day))), Err(Code::NotFound));
    }
    // Of those that an override completes, none is open.
    let later = todo("RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20260916\r\nSTATUS:COMPLETED\r\n");
    assert_eq!(outcome(&(master + &later), Some(&date("2026-09-30"))), Ok(None));
}

#[test]
fn case_028_complete_one_occurrence_of_a_task() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/cases/028-complete-one-occurrence-of-a-task/before.ics"
    );
    let before = std::fs::read(path).expect("the case");
    let entity = Entity::read(before.clone().into());
    let at = zoned("2026-09-09T09:00", "Europe/Oslo");
    let done = completed(&entity, Some(&at), now())
        .expect("an occurrence")
        .expect("a change");
    let text = String::from_utf8(done.bytes().to_vec()).expect("text");
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let new = [
        "BEGIN:VTODO",
        "UID:water@example.com",
        "DTSTAMP:20260101T000000Z",
        "RECURRENCE-ID;TZID=Europe/Oslo:20260909T090000",
        "DTSTART;TZID=Europe/Oslo:20260909T090000",
        "DUE;TZID=Europe/Oslo:20260909T180000",
        "SUMMARY:Water the plants",
        "STATUS:COMPLETED",
        "PERCENT-COMPLETE:100",
        "COMPLETED:20260909T162030Z",
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        "TRIGGER;RELATED=END:-PT1H",
        "DESCRIPTION:Plants",
        "END:VALARM",
        "END:VTODO",
        "",
    ]
    .join(end);
    let before = String::from_utf8(before).expect("text");
    let at_end = before.rfind("END:VCALENDAR").expect("an end");
    assert_eq!(text, [&before[..at_end], &new, &before[at_end..]].concat());
    let again = completed(&Entity::from_document(done), Some(&at), now()).expect("an occurrence");
    assert!(again.is_none(), "completing it again changes nothing");
    assert_eq!(
        completed(&entity, None, now()).expect_err("which one").code,
        Code::InvalidInput
    );
}
