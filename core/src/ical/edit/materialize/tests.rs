use super::*;
use crate::ical::edit::Edited;
use crate::ical::edit::patch::{Patch, Target, patch};
use crate::ical::edit::sample::{date, event, floating, series, utc, zoned};
use crate::ical::edit::scalar::ScalarPatch;

/// The octets that were put into a document, and where.
fn inserted(before: &Entity, after: &Materialized) -> String {
    let (old, new) = (before.document().bytes(), after.document.bytes());
    let component = after.document.component(after.component);
    let range = component.range();
    let rest = [&new[..range.start], &new[range.end..]].concat();
    assert_eq!(
        String::from_utf8_lossy(&rest),
        String::from_utf8_lossy(old),
        "all other octets"
    );
    assert!(Entity::read(new.clone()).opaque().is_none());
    String::from_utf8_lossy(component.slice()).into_owned()
}

fn made(inside: &str, identity: &Temporal) -> String {
    let entity = series(inside);
    let made = individual(&entity, identity).expect("an occurrence");
    assert!(made.created);
    inserted(&entity, &made)
}

#[test]
fn an_override_is_the_master_at_another_time() {
    let table = [
        (
            "DTSTART;TZID=Europe/Berlin:20260907T090000\r\nDTEND;TZID=Europe/Berlin:20260907T100000\r\nRRULE:FREQ=WEEKLY\r\nSUMMARY:A\r\n",
            zoned("2026-10-26T09:00", "Europe/Berlin"),
            "RECURRENCE-ID;TZID=Europe/Berlin:20261026T090000\r\nDTSTART;TZID=Europe/Berlin:20261026T090000\r\nDTEND;TZID=Europe/Berlin:20261026T100000\r\nSUMMARY:A\r\n",
        ),
        // A day keeps its number of days; the RDATE, EXDATE and EXRULE go.
        (
            "RDATE;VALUE=DATE:20260507\r\nDTSTART;VALUE=DATE:20260504\r\nDTEND;VALUE=DATE:20260506\r\nRRULE:FREQ=DAILY;INTERVAL=7\r\nEXDATE;VALUE=DATE:20260518\r\n",
            date("2026-05-11"),
            "RECURRENCE-ID;VALUE=DATE:20260511\r\nDTSTART;VALUE=DATE:20260511\r\nDTEND;VALUE=DATE:20260513\r\n",
        ),
        // A duration stays as it is written, with what stands beside it.
        (
            "SUMMARY:A\r\nDTSTART:20260504T080000\r\nDURATION;X-A=b:PT90M\r\nRRULE:FREQ=DAILY\r\n",
            floating("2026-05-06T08:00"),
            "SUMMARY:A\r\nRECURRENCE-ID:20260506T080000\r\nDTSTART:20260506T080000\r\nDURATION;X-A=b:PT90M\r\n",
        ),
        // The first occurrence, with parameters, case and folds of the master.
        (
            "dtstart;X-Q=\"a;b\":2026050\r\n 4T080000Z\r\nRRULE:FREQ=DAILY\r\n",
            utc("2026-05-04T08:00"),
            "RECURRENCE-ID:20260504T080000Z\r\ndtstart;X-Q=\"a;b\":2026050\r\n 4T080000Z\r\n",
        ),
        // The day that Berlin has 23 hours: an end by DTEND is exactly as late (RFC 5545, 3.8.5.3).
        (
            "DTSTART;TZID=Europe/Berlin:20260327T220000\r\nDTEND;TZID=Europe/Berlin:20260328T060000\r\nRRULE:FREQ=DAILY\r\n",
            zoned("2026-03-28T22:00", "Europe/Berlin"),
            "RECURRENCE-ID;TZID=Europe/Berlin:20260328T220000\r\nDTSTART;TZID=Europe/Berlin:20260328T220000\r\nDTEND;TZID=Europe/Berlin:20260329T070000\r\n",
        ),
        // 02:30 happens twice that night; the end is in a zone of its own.
        (
            "DTSTART;TZID=Europe/Berlin:20261024T023000\r\nDTEND:20261024T013000Z\r\nRRULE:FREQ=DAILY\r\n",
            zoned("2026-10-25T02:30", "Europe/Berlin"),
            "RECURRENCE-ID;TZID=Europe/Berlin:20261025T023000\r\nDTSTART;TZID=Europe/Berlin:20261025T023000\r\nDTEND:20261025T013000Z\r\n",
        ),
        // The clock shows 02:30 twice, and the end is the second: UTC says which (RFC 5545, 3.3.5 reads the first).
        (
            "DTSTART;TZID=Europe/Berlin:20261024T023000\r\nDTEND;X-A=b;TZID=Europe/Berlin:20261024T033000\r\nRRULE:FREQ=DAILY\r\n",
            zoned("2026-10-25T02:30", "Europe/Berlin"),
            "RECURRENCE-ID;TZID=Europe/Berlin:20261025T023000\r\nDTSTART;TZID=Europe/Berlin:20261025T023000\r\nDTEND;X-A=b:20261025T013000Z\r\n",
        ),
        // An RDATE in another form than DTSTART: the override is in the form of DTSTART.
        (
            "DTSTART;TZID=Europe/Berlin:20260504T090000\r\nRRULE:FREQ=WEEKLY\r\nRDATE:20260506T120000Z\r\n",
            utc("2026-05-06T12:00"),
            "RECURRENCE-ID;TZID=Europe/Berlin:20260506T140000\r\nDTSTART;TZID=Europe/Berlin:20260506T140000\r\n",
        ),
        // Components inside stay as they are, to the octet.
        (
            "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\nBEGIN:VALARM\r\nUID:a\r\nACKNOWLEDGED:20260504T075500Z\r\nTRIGGER;RELATED=START:-PT5M\r\nRRULE:x\r\nEND:VALARM\r\nBEGIN:X-MORE\r\nDTSTART:x\r\nEND:X-MORE\r\n",
            utc("2026-05-05T08:00"),
            "RECURRENCE-ID:20260505T080000Z\r\nDTSTART:20260505T080000Z\r\nBEGIN:VALARM\r\nUID:a\r\nACKNOWLEDGED:20260504T075500Z\r\nTRIGGER;RELATED=START:-PT5M\r\nRRULE:x\r\nEND:VALARM\r\nBEGIN:X-MORE\r\nDTSTART:x\r\nEND:X-MORE\r\n",
        ),
        // A DTSTART that no clock shows is read with the offset before the gap, and is an occurrence as it stands.
        (
            "DTSTART;TZID=Europe/Berlin:20260329T023000\r\nRRULE:FREQ=DAILY\r\n",
            zoned("2026-03-29T02:30", "Europe/Berlin"),
            "RECURRENCE-ID;TZID=Europe/Berlin:20260329T023000\r\nDTSTART;TZID=Europe/Berlin:20260329T023000\r\n",
        ),
        // An end of another type than the start says nothing, and goes.
        (
            "DTSTART:20260504T080000Z\r\nDTEND;VALUE=DATE:20260505\r\nRRULE:FREQ=DAILY\r\n",
            utc("2026-05-05T08:00"),
            "RECURRENCE-ID:20260505T080000Z\r\nDTSTART:20260505T080000Z\r\n",
        ),
    ];
    for (master, identity, want) in table {
        assert_eq!(made(&event(master), &identity), event(want), "{master}");
    }
}

#[test]
fn a_to_do_moves_with_its_due() {
    let todo = |lines: &str| event(lines).replace("VEVENT", "VTODO");
    let master =
        "DTSTART;TZID=Europe/Oslo:20260902T090000\r\nDUE;TZID=Europe/Oslo:20260902T180000\r\nRRULE:FREQ=WEEKLY\r\n";
    let want = "RECURRENCE-ID;TZID=Europe/Oslo:20260909T090000\r\nDTSTART;TZID=Europe/Oslo:20260909T090000\r\nDUE;TZID=Europe/Oslo:20260909T180000\r\n";
    assert_eq!(
        made(&todo(master), &zoned("2026-09-09T09:00", "Europe/Oslo")),
        todo(want)
    );
}

#[test]
fn it_stands_after_the_last_component_of_its_series_and_ends_its_lines_alike() {
    let master = event("DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\n");
    let other = event("RECURRENCE-ID:20260506T080000Z\r\nDTSTART:20260506T090000Z\r\n");
    let text = format!(
        "\u{feff}BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{master}\r\n{other}BEGIN:X-LAST\r\nEND:X-LAST\r\nEND:VCALENDAR"
    )
    .replace("\r\n", "\n");
    let entity = Entity::read(text.into());
    let made = individual(&entity, &utc("2026-05-05T08:00")).expect("an occurrence");
    let want = event("RECURRENCE-ID:20260505T080000Z\r\nDTSTART:20260505T080000Z\r\n").replace("\r\n", "\n");
    assert_eq!(inserted(&entity, &made), want);
    let at = made.document.component(made.component).range().end;
    assert!(made.document.bytes()[at..].starts_with(b"BEGIN:X-LAST"));
}

#[test]
fn an_override_that_there_is_is_taken_as_it_is() {
    let master = event("DTSTART;TZID=Europe/Stockholm:20260319T183000\r\nRRULE:FREQ=WEEKLY;COUNT=3\r\n");
    let own = event("RECURRENCE-ID:20260326T173000Z\r\nSUMMARY:Moved\r\n");
    let entity = series(&(master + &own));
    for identity in [utc("2026-03-26T17:30"), zoned("2026-03-26T18:30", "Europe/Stockholm")] {
        let made = individual(&entity, &identity).expect("an occurrence");
        assert!(!made.created);
        assert_eq!(made.document.bytes(), entity.document().bytes());
        assert_eq!(made.document.component(made.component).slice(), own.as_bytes());
    }
}

#[test]
fn later_occurrences_are_copies_of_the_override_that_is_in_force() {
    let master = event("DTSTART:20260504T080000Z\r\nDTEND:20260504T090000Z\r\nRRULE:FREQ=DAILY\r\nSUMMARY:A\r\n");
    let later = event(
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20260506T080000Z\r\nDTSTART;TZID=Europe/Berlin:20260507T110000\r\nDURATION:PT2H\r\nSUMMARY:B\r\n",
    );
    let bare = event("RECURRENCE-ID;RANGE=THISANDFUTURE:20260510T080000Z\r\nSUMMARY:C\r\n");
    let all = master + &later + &bare;
    for (identity, want) in [
        (
            "2026-05-05T08:00",
            "RECURRENCE-ID:20260505T080000Z\r\nDTSTART:20260505T080000Z\r\nDTEND:20260505T090000Z\r\nSUMMARY:A\r\n",
        ),
        // One day and one hour later than the identity; also where the override itself begins.
        (
            "2026-05-06T08:00",
            "RECURRENCE-ID:20260506T080000Z\r\nDTSTART;TZID=Europe/Berlin:20260507T110000\r\nDURATION:PT2H\r\nSUMMARY:B\r\n",
        ),
        (
            "2026-05-08T08:00",
            "RECURRENCE-ID:20260508T080000Z\r\nDTSTART;TZID=Europe/Berlin:20260509T110000\r\nDURATION:PT2H\r\nSUMMARY:B\r\n",
        ),
        // An override without times has those of the set.
        (
            "2026-05-12T08:00",
            "SUMMARY:C\r\nRECURRENCE-ID:20260512T080000Z\r\nDTSTART:20260512T080000Z\r\nDTEND:20260512T090000Z\r\n",
        ),
    ] {
        assert_eq!(made(&all, &utc(identity)), event(want), "{identity}");
    }
}

#[test]
fn an_override_of_later_ones_is_found_or_made() {
    let master = event("DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\n");
    let own = event("RECURRENCE-ID:20260506T080000Z\r\nDTSTART:20260506T120000Z\r\n");
    let entity = series(&(master + &own));
    let made = future(&entity, &utc("2026-05-06T08:00")).expect("an occurrence");
    let want = event("RECURRENCE-ID;RANGE=THISANDFUTURE:20260506T080000Z\r\nDTSTART:20260506T080000Z\r\n");
    assert_eq!(inserted(&entity, &made), want);
    // Both stay: the one of the occurrence alone decides about it.
    let entity = Entity::read(made.document.bytes().clone());
    let again = future(&entity, &utc("2026-05-06T08:00")).expect("an occurrence");
    assert!(!again.created);
    assert_eq!(again.document.component(again.component).slice(), want.as_bytes());
    let own_again = individual(&entity, &utc("2026-05-06T08:00")).expect("an occurrence");
    assert_eq!(
        own_again.document.component(own_again.component).slice(),
        own.as_bytes()
    );
}

#[test]
fn what_is_told_of_later_ones_goes_for_the_override_beside_it_too() {
    let master = event("DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\n");
    let own = |day: u8, more: &str| {
        event(&format!(
            "RECURRENCE-ID:202605{day:02}T080000Z\r\nDTSTART:202605{day:02}T120000Z\r\n{more}"
        ))
    };
    let entity = series(&(master.clone() + &own(5, "") + &own(6, "") + &own(7, "")));
    let target = Target::ThisAndFuture(utc("2026-05-06T08:00"));
    let say = Patch {
        scalars: vec![ScalarPatch::Summary(Some("B".to_owned()))],
        ..Patch::default()
    };
    let now = jiff::Timestamp::from_second(1_767_225_600).expect("in range");
    let Ok(Edited::Changed(octets)) = patch(&entity, &target, &say, now) else {
        panic!("an occurrence");
    };
    let stamped = "SUMMARY:B\r\nLAST-MODIFIED:20260101T000000Z\r\n";
    let later = event(&format!(
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20260506T080000Z\r\nDTSTART:20260506T080000Z\r\n{stamped}"
    ));
    let want = master + &own(5, "") + &own(6, stamped) + &own(7, stamped) + &later;
    let want = series(&want);
    assert_eq!(
        String::from_utf8_lossy(&octets),
        String::from_utf8_lossy(want.document().bytes())
    );
}

#[test]
fn what_is_no_occurrence_has_no_override() {
    let master = event(
        "DTSTART;TZID=Europe/Berlin:20260301T023000\r\nRRULE:FREQ=DAILY\r\nEXDATE;TZID=Europe/Berlin:20260303T023000\r\n",
    );
    let entity = series(&master);
    for identity in [
        zoned("2026-03-03T02:30", "Europe/Berlin"),
        zoned("2026-02-28T02:30", "Europe/Berlin"),
        zoned("2026-03-02T02:31", "Europe/Berlin"),
        // Skipped by the clock: a rule makes no such time (RFC 5545, 3.3.10).
        zoned("2026-03-29T02:30", "Europe/Berlin"),
        // The right moment in another form.
        zoned("2026-03-02T02:30", "europe/berlin"),
        zoned("2026-03-02T02:30", "Europe/Paris"),
        utc("2026-03-02T01:30"),
        floating("2026-03-02T02:30"),
        date("2026-03-02"),
        zoned("2026-03-02T02:30:00.5", "Europe/Berlin"),
    ] {
        let refused = individual(&entity, &identity).expect_err("no occurrence");
        assert_eq!(refused.code, Code::NotFound, "{identity:?}");
    }
    for (lines, want) in [
        (
            "DTSTART:20260504T080000Z\r\nRDATE;VALUE=PERIOD:20260505T080000Z/PT1H\r\n",
            Code::UnsupportedCapability,
        ),
        (
            "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY;BYEASTER=1\r\n",
            Code::RecurrenceUnevaluable,
        ),
        (
            "DTSTART;TZID=Nowhere:20260504T080000\r\nRRULE:FREQ=DAILY\r\n",
            Code::TemporalUnresolved,
        ),
        (
            "DTSTART:20260504T080000Z\r\nDTSTART:20260504T080000Z\r\n",
            Code::OpaqueResource,
        ),
    ] {
        let refused = individual(&series(&event(lines)), &utc("2026-05-05T08:00")).expect_err("refused");
        let refused_zoned =
            individual(&series(&event(lines)), &zoned("2026-05-05T08:00", "Nowhere")).expect_err("refused");
        assert!(
            refused.code == want || refused_zoned.code == want,
            "{lines} {refused:?}"
        );
    }
}
