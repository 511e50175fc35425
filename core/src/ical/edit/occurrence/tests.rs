use proptest::prelude::*;

use super::*;
use crate::ical::edit::sample::{components, date, event, floating, series, utc, zoned};
use crate::ical::expand::{Frame, Instance, Lookup, Window};
use crate::ical::recur::Steps;
use crate::ical::zone::Zone;

type Step = fn(&Entity, &Temporal) -> Result<Option<Document>, Box<Error>>;

/// What stands between the lines that `before` and `after` share at the start, and the octets that they share at the end.
fn difference(before: &[u8], after: &[u8]) -> (String, String) {
    let start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let start = before[..start]
        .iter()
        .rposition(|octet| *octet == b'\n')
        .map_or(0, |at| at + 1);
    let (before, after) = (&before[start..], &after[start..]);
    let end = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let text = |octets: &[u8]| String::from_utf8_lossy(&octets[..octets.len() - end]).into_owned();
    (text(before), text(after))
}

/// The octets that a step makes; nothing if it changes nothing; the code of its refusal.
fn outcome(step: Step, inside: &str, identity: &Temporal) -> Result<Option<String>, Code> {
    let entity = series(inside);
    let done = step(&entity, identity).map_err(|error| error.code)?;
    Ok(done.map(|document| {
        assert!(Entity::read(document.bytes().clone()).opaque().is_none());
        components(&document)
    }))
}

/// Lines of a VEVENT, an identity, and what becomes of the lines.
type Row<'a> = (&'a str, Temporal, Result<Option<&'a str>, Code>);

fn check(step: Step, table: &[Row<'_>]) {
    for (lines, identity, want) in table {
        let got = outcome(step, &event(lines), identity);
        let want = want.map(|want| want.map(event));
        assert_eq!(got, want, "{lines} {identity:?}");
    }
}

const DAILY: &str = "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\n";
const BERLIN: &str = "DTSTART;TZID=Europe/Berlin:20260504T090000\r\nRRULE:FREQ=WEEKLY\r\n";

#[test]
fn an_exclusion_is_a_line_in_the_form_of_the_start() {
    check(
        excluded,
        &[
            (
                DAILY,
                utc("2026-05-05T08:00"),
                Ok(Some(
                    "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\nEXDATE:20260505T080000Z\r\n",
                )),
            ),
            (
                "DTSTART;VALUE=DATE:20260504\r\nRRULE:FREQ=DAILY\r\nBEGIN:VALARM\r\nEND:VALARM\r\n",
                date("2026-05-05"),
                Ok(Some(
                    "DTSTART;VALUE=DATE:20260504\r\nRRULE:FREQ=DAILY\r\nEXDATE;VALUE=DATE:20260505\r\nBEGIN:VALARM\r\nEND:VALARM\r\n",
                )),
            ),
            (
                "DTSTART:20260504T080000\r\nRRULE:FREQ=DAILY\r\nEXDATE:20260507T080000\r\nSUMMARY:A\r\n",
                floating("2026-05-05T08:00"),
                Ok(Some(
                    "DTSTART:20260504T080000\r\nRRULE:FREQ=DAILY\r\nEXDATE:20260507T080000\r\nSUMMARY:A\r\nEXDATE:20260505T080000\r\n",
                )),
            ),
            // An RDATE in UTC, named as it is stored.
            (
                "DTSTART;TZID=Europe/Berlin:20260504T090000\r\nRDATE:20260506T120000Z\r\n",
                utc("2026-05-06T12:00"),
                Ok(Some(
                    "DTSTART;TZID=Europe/Berlin:20260504T090000\r\nRDATE:20260506T120000Z\r\nEXDATE;TZID=Europe/Berlin:20260506T140000\r\n",
                )),
            ),
            // A zone by another name than that of the database.
            (
                "DTSTART;TZID=/x.org/Tzfile/Europe/Berlin:20260504T090000\r\nRRULE:FREQ=DAILY\r\n",
                zoned("2026-05-05T09:00", "/x.org/Tzfile/Europe/Berlin"),
                Ok(Some(
                    "DTSTART;TZID=/x.org/Tzfile/Europe/Berlin:20260504T090000\r\nRRULE:FREQ=DAILY\r\nEXDATE;TZID=/x.org/Tzfile/Europe/Berlin:20260505T090000\r\n",
                )),
            ),
            // Excluded in one form or another.
            (
                "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\nEXDATE:20260505T080000Z\r\n",
                utc("2026-05-05T08:00"),
                Ok(None),
            ),
            (
                "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\nEXDATE;VALUE=DATE:20260505\r\n",
                utc("2026-05-05T08:00"),
                Ok(None),
            ),
            (
                "DTSTART;TZID=Europe/Berlin:20260504T090000\r\nRRULE:FREQ=DAILY\r\nEXDATE:20260505T070000Z\r\n",
                zoned("2026-05-05T09:00", "Europe/Berlin"),
                Ok(None),
            ),
            // None of the series, also where a day is excluded that has no such time.
            (DAILY, utc("2026-05-07T08:00"), Err(Code::NotFound)),
            (DAILY, utc("2026-05-03T08:00"), Err(Code::NotFound)),
            (DAILY, utc("2026-05-05T08:01"), Err(Code::NotFound)),
            (BERLIN, utc("2026-05-11T07:00"), Err(Code::NotFound)),
            (
                "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\nEXDATE;VALUE=DATE:20260505\r\n",
                utc("2026-05-05T09:00"),
                Err(Code::NotFound),
            ),
            (
                "DTSTART:20260504T080000Z\r\nRDATE;VALUE=PERIOD:20260505T080000Z/PT1H\r\n",
                utc("2026-05-04T08:00"),
                Err(Code::UnsupportedCapability),
            ),
        ],
    );
}

#[test]
fn a_restored_exclusion_takes_out_exactly_its_value() {
    let quiet = "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\n";
    let with = |lines: &str| format!("{quiet}{lines}");
    let at = utc("2026-05-05T08:00");
    let table = [
        (
            with("EXDATE:20260505T080000Z\r\nSUMMARY:A\r\n"),
            at.clone(),
            Ok(Some(with("SUMMARY:A\r\n"))),
        ),
        (
            with("exdate;X-A=\"b,c\":20260504T080000Z,202605\r\n 05T080000Z,,20260506T080000Z\r\n"),
            at.clone(),
            Ok(Some(with("exdate;X-A=\"b,c\":20260504T080000Z,,20260506T080000Z\r\n"))),
        ),
        (
            with("EXDATE:,20260504T080000Z,,20260505T080000Z\r\nEXDATE:20260506T080000Z\r\n"),
            at.clone(),
            Ok(Some(with("EXDATE:,20260504T080000Z,\r\nEXDATE:20260506T080000Z\r\n"))),
        ),
        // The same moment twice, in two forms.
        (
            with(
                "EXDATE:20260506T080000Z\r\nEXDATE;TZID=Europe/Berlin:20260505T100000\r\nEXDATE:20260505T080000Z,20260507T080000Z\r\n",
            ),
            at.clone(),
            Ok(Some(with("EXDATE:20260506T080000Z\r\nEXDATE:20260507T080000Z\r\n"))),
        ),
        // An exclusion of nothing can be taken back too.
        (
            with("EXDATE:20260505T090000Z\r\n"),
            utc("2026-05-05T09:00"),
            Ok(Some(with(""))),
        ),
        (with("EXDATE:20260506T080000Z\r\n"), at.clone(), Ok(None)),
        (
            with("EXDATE:20260506T080000Z\r\n"),
            utc("2026-05-05T09:00"),
            Err(Code::NotFound),
        ),
        // A day with one occurrence, and with two.
        (
            with("EXDATE;VALUE=DATE:20260505,20260506\r\n"),
            at.clone(),
            Ok(Some(with("EXDATE;VALUE=DATE:20260506\r\n"))),
        ),
        (
            with("RDATE:20260505T200000Z\r\nEXDATE;VALUE=DATE:20260505\r\n"),
            at.clone(),
            Err(Code::Ambiguous),
        ),
        (
            with("RDATE:20260505T200000Z\r\nEXDATE;VALUE=DATE:20260505\r\nEXDATE:20260505T200000Z\r\n"),
            at,
            Ok(Some(with("RDATE:20260505T200000Z\r\nEXDATE:20260505T200000Z\r\n"))),
        ),
        (
            with("RDATE:20260505T200000Z\r\nEXDATE;VALUE=DATE:20260505\r\n"),
            date("2026-05-05"),
            Ok(Some(with("RDATE:20260505T200000Z\r\n"))),
        ),
        (
            with("EXDATE;VALUE=DATE:20260505\r\n"),
            date("2026-05-06"),
            Err(Code::NotFound),
        ),
    ];
    for (lines, identity, want) in table {
        let got = outcome(included, &event(&lines), &identity);
        assert_eq!(
            got,
            want.map(|want| want.map(|lines| event(&lines))),
            "{lines} {identity:?}"
        );
    }
}

#[test]
fn an_exclusion_in_utc_is_found_by_its_moment() {
    let lines = |more: &str| format!("{BERLIN}{more}");
    for identity in [zoned("2026-05-11T09:00", "Europe/Berlin"), utc("2026-05-11T07:00")] {
        let got = outcome(included, &event(&lines("EXDATE:20260511T070000Z\r\n")), &identity);
        assert_eq!(got, Ok(Some(event(BERLIN))));
    }
}

#[test]
fn an_added_date_is_a_line_in_the_form_of_the_start() {
    check(
        added,
        &[
            (
                DAILY,
                utc("2026-05-10T08:30"),
                Ok(Some(
                    "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\nRDATE:20260510T083000Z\r\n",
                )),
            ),
            (
                BERLIN,
                zoned("2026-05-12T10:00", "Europe/Berlin"),
                Ok(Some(
                    "DTSTART;TZID=Europe/Berlin:20260504T090000\r\nRRULE:FREQ=WEEKLY\r\nRDATE;TZID=Europe/Berlin:20260512T100000\r\n",
                )),
            ),
            (
                "DTSTART;VALUE=DATE:20260504\r\nRDATE;VALUE=DATE:20260506,20260511\r\n",
                date("2026-05-07"),
                Ok(Some(
                    "DTSTART;VALUE=DATE:20260504\r\nRDATE;VALUE=DATE:20260506,20260511\r\nRDATE;VALUE=DATE:20260507\r\n",
                )),
            ),
            (DAILY, utc("2026-05-06T08:00"), Ok(None)),
            (DAILY, utc("2026-05-04T08:00"), Ok(None)),
            (
                "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\nEXDATE:20260505T080000Z\r\n",
                utc("2026-05-05T08:00"),
                Err(Code::InvalidInput),
            ),
            // Excluded, and nothing would make it.
            (
                "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\nEXDATE:20260505T090000Z\r\n",
                utc("2026-05-05T09:00"),
                Err(Code::InvalidInput),
            ),
            // It would be excluded at once.
            (
                "DTSTART:20260504T080000Z\r\nEXDATE;VALUE=DATE:20260505\r\n",
                utc("2026-05-05T09:00"),
                Err(Code::InvalidInput),
            ),
            (BERLIN, utc("2026-05-12T08:00"), Err(Code::InvalidInput)),
            (BERLIN, date("2026-05-12"), Err(Code::InvalidInput)),
            (
                BERLIN,
                zoned("2026-05-12T10:00:00.5", "Europe/Berlin"),
                Err(Code::InvalidInput),
            ),
            (
                BERLIN,
                zoned("2026-05-12T10:00", "Europe/Paris"),
                Err(Code::InvalidInput),
            ),
        ],
    );
}

#[test]
fn what_a_rule_excludes_stays_excluded() {
    let series = event("DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\nEXRULE:FREQ=DAILY;INTERVAL=2\r\n");
    let (gone, other) = (utc("2026-05-06T08:00"), utc("2026-05-07T08:00"));
    assert_eq!(outcome(excluded, &series, &gone), Ok(None));
    assert_eq!(outcome(included, &series, &gone), Err(Code::UnsupportedCapability));
    assert_eq!(outcome(added, &series, &gone), Err(Code::InvalidInput));
    assert_eq!(outcome(cancelled, &series, &gone), Err(Code::NotFound));
    assert_eq!(outcome(included, &series, &other), Ok(None));
}

#[test]
fn a_cancelled_occurrence_has_an_override_that_says_so() {
    let master = event(DAILY);
    let own = |lines: &str| {
        event(&format!(
            "RECURRENCE-ID:20260505T080000Z\r\nDTSTART:20260505T080000Z\r\n{lines}"
        ))
    };
    let at = utc("2026-05-05T08:00");
    for (before, want) in [
        (master.clone(), Some(own("STATUS:CANCELLED\r\n"))),
        (
            master.clone() + &own("STATUS;X-A=b:CONFIRMED\r\nSUMMARY:A\r\n"),
            Some(own("STATUS;X-A=b:CANCELLED\r\nSUMMARY:A\r\n")),
        ),
        (
            master.clone() + &own("STATUS:TENTATIVE\r\nSTATUS:CONFIRMED\r\n"),
            Some(own("STATUS:CANCELLED\r\n")),
        ),
        (master.clone() + &own("status:cancelled\r\n"), None),
    ] {
        let got = outcome(cancelled, &before, &at);
        assert_eq!(got, Ok(want.map(|own| master.clone() + &own)));
    }
    let excluded = event("DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\nEXDATE:20260505T080000Z\r\n");
    assert_eq!(outcome(cancelled, &excluded, &at), Err(Code::NotFound));
    assert_eq!(
        outcome(cancelled, &master, &utc("2026-05-05T09:00")),
        Err(Code::NotFound)
    );
}

#[test]
fn a_restored_cancellation_takes_out_only_the_status() {
    let master = event(DAILY);
    let own = |lines: &str| event(&format!("RECURRENCE-ID:20260505T080000Z\r\nSUMMARY:A\r\n{lines}"));
    let at = utc("2026-05-05T08:00");
    let cancelled = master.clone() + &own("STATUS:CANCELLED\r\nSEQUENCE:1\r\n");
    let want = Ok(Some(master.clone() + &own("SEQUENCE:1\r\n")));
    assert_eq!(outcome(revived, &cancelled, &at), want);
    assert_eq!(
        outcome(revived, &(master.clone() + &own("STATUS:TENTATIVE\r\n")), &at),
        Ok(None)
    );
    assert_eq!(outcome(revived, &master, &at), Ok(None));
    assert_eq!(outcome(revived, &master, &utc("2026-05-05T09:00")), Err(Code::NotFound));
    // One of many that an override cancels: it gets a component of its own.
    let later =
        event("RECURRENCE-ID;RANGE=THISANDFUTURE:20260505T080000Z\r\nDTSTART:20260505T090000Z\r\nSTATUS:CANCELLED\r\n");
    let all = master + &later;
    let one = event("RECURRENCE-ID:20260506T080000Z\r\nDTSTART:20260506T090000Z\r\n");
    assert_eq!(
        outcome(revived, &all, &utc("2026-05-06T08:00")),
        Ok(Some(all.clone() + &one))
    );
    assert_eq!(outcome(super::cancelled, &all, &utc("2026-05-06T08:00")), Ok(None));
}

#[test]
fn a_resource_without_master_has_no_dates_to_edit() {
    let own = event("RECURRENCE-ID:20260505T080000Z\r\nDTSTART:20260505T090000Z\r\n");
    assert_eq!(
        outcome(excluded, &own, &utc("2026-05-05T08:00")),
        Err(Code::UnsupportedCapability)
    );
    assert_eq!(
        outcome(added, &own, &utc("2026-05-06T08:00")),
        Err(Code::UnsupportedCapability)
    );
    let want = own.replace("END:VEVENT", "STATUS:CANCELLED\r\nEND:VEVENT");
    assert_eq!(outcome(cancelled, &own, &utc("2026-05-05T08:00")), Ok(Some(want)));
}

#[test]
fn a_single_event_has_no_occurrences_to_edit() {
    let single = event("DTSTART:20260504T080000Z\r\n");
    let at = utc("2026-05-04T08:00");
    for step in [excluded as Step, included, cancelled, revived] {
        assert_eq!(outcome(step, &single, &at), Err(Code::InvalidInput));
    }
    // An added date makes it a series.
    let want = event("DTSTART:20260504T080000Z\r\nRDATE:20260505T080000Z\r\n");
    assert_eq!(outcome(added, &single, &utc("2026-05-05T08:00")), Ok(Some(want)));
}

#[test]
fn what_is_taken_back_leaves_stamps_only() {
    let now = "2026-05-01T12:00:00Z".parse().expect("a moment");
    let master = |stamps: &str, more: &str| {
        event(&format!(
            "DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\n{stamps}{more}ORGANIZER:mailto:a@example.org\r\n"
        ))
        .replace(
            "20260101T000000Z",
            if stamps.contains("MODIFIED:20260501") {
                "20260501T120000Z"
            } else {
                "20260101T000000Z"
            },
        )
    };
    let stamps = |second: &str, number: u8| format!("LAST-MODIFIED:{second}\r\nSEQUENCE:{number}\r\n");
    let entity = series(&master(&stamps("20260101T000000Z", 3), ""));
    let at = utc("2026-05-05T08:00");
    let Ok(Edited::Changed(without)) = exclude(&entity, &at, now) else {
        panic!("an occurrence");
    };
    let want = series(
        &master(&stamps("20260501T120000Z", 4), "")
            .replace("example.org\r\n", "example.org\r\nEXDATE:20260505T080000Z\r\n"),
    );
    assert_eq!(without, want.document().bytes());
    let without = Entity::read(without);
    assert_eq!(exclude(&without, &at, now), Ok(Edited::Unchanged));
    let Ok(Edited::Changed(again)) = restore_exclusion(&without, &at, now) else {
        panic!("an exclusion");
    };
    assert_eq!(
        again,
        series(&master(&stamps("20260501T120000Z", 5), "")).document().bytes()
    );
    let Ok(Edited::Changed(off)) = cancel(&entity, &at, now) else {
        panic!("an occurrence");
    };
    let own = event("RECURRENCE-ID:20260505T080000Z\r\nDTSTART:20260505T080000Z\r\nLAST-MODIFIED:20260501T120000Z\r\nSEQUENCE:4\r\nORGANIZER:mailto:a@example.org\r\nSTATUS:CANCELLED\r\n")
        .replace("20260101T000000Z", "20260501T120000Z");
    assert_eq!(
        off,
        series(&(master(&stamps("20260101T000000Z", 3), "") + &own))
            .document()
            .bytes()
    );
    let off = Entity::read(off);
    assert!(matches!(restore_cancellation(&off, &at, now), Ok(Edited::Changed(_))));
    assert!(matches!(
        add(&off, &utc("2026-05-05T09:00"), now),
        Ok(Edited::Changed(_))
    ));
}

/// Asks far away, and returns the steps that it took.
fn steps(lines: &str, identity: &Temporal) -> (bool, u64) {
    let entity = series(&event(lines));
    let set = entity.series().expect("evaluable").expect("a start");
    let (zones, evaluation) = (&entity.zones, &Zone::utc());
    let mut steps = Steps::new(1_000_000);
    let frame = Frame { zones, evaluation };
    let mut lookup = Lookup::new(&set, &frame, &mut steps).expect("evaluable");
    let member = lookup.membership(identity).expect("evaluable");
    (member.is_occurrence(), steps.used())
}

#[test]
fn an_occurrence_far_away_costs_no_walk() {
    for (lines, identity) in [
        (
            "DTSTART:20000101T080000Z\r\nRRULE:FREQ=DAILY\r\n",
            utc("2400-01-01T08:00"),
        ),
        (
            "DTSTART;TZID=Europe/Berlin:20000103T090000\r\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE\r\n",
            zoned("2090-01-02T09:00", "Europe/Berlin"),
        ),
        (
            "DTSTART;VALUE=DATE:20000131\r\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1\r\n",
            date("2399-02-28"),
        ),
        (
            "DTSTART:20000101T000000\r\nRRULE:FREQ=SECONDLY;INTERVAL=7\r\n",
            floating("2099-01-01T00:00:05"),
        ),
        (
            "DTSTART;TZID=Europe/Berlin:20000103T090000\r\nRRULE:FREQ=DAILY;COUNT=20000\r\n",
            zoned("2053-01-02T09:00", "Europe/Berlin"),
        ),
    ] {
        let (member, steps) = steps(lines, &identity);
        assert!(member, "{lines}");
        // What is laid out of a fast rule at once is at most 512 times.
        assert!(steps < 600, "{steps} steps for {lines}");
    }
}

#[test]
fn too_much_work_is_a_limit() {
    let many: String = (0..10_001).map(|_| "EXDATE:20270101T000000Z\r\n").collect();
    let entity = series(&event(&format!("{DAILY}{many}")));
    let refused = excluded(&entity, &utc("2026-05-05T08:00")).expect_err("a limit");
    assert_eq!(refused.code, Code::LimitExhausted);
    assert_eq!(refused.limits.expect("limits").limit, 10_000);
    // A day that is excluded with more occurrences than an edit looks at.
    let flood = "DTSTART:20260504T080000Z\r\nRRULE:FREQ=SECONDLY\r\nEXDATE;VALUE=DATE:20260505\r\n";
    assert_eq!(
        outcome(included, &event(flood), &utc("2026-05-05T08:00")),
        Err(Code::LimitExhausted)
    );
}

fn year(entity: &Entity) -> Vec<Instance> {
    let window = Window {
        from: 1_767_225_600,
        to: 1_798_761_600,
    };
    let all = entity.occurrences(&Zone::utc(), window, &mut Steps::new(1_000_000));
    all.expect("evaluable")
        .into_iter()
        .filter(|instance| !instance.cancelled)
        .collect()
}

/// A series around the changes of the clock, with dates and overrides in several forms.
fn any_series() -> impl Strategy<Value = String> {
    let start = prop_oneof![
        Just((
            "TZID=Europe/Berlin:20260320T023000",
            "TZID=Europe/Berlin:20260320T033000"
        )),
        Just(("X-A=b:20260320T013000Z", "X-A=b:20260321T023000Z")),
        Just(("X-A=b:20260320T023000", "X-A=b:20260320T043000")),
        Just(("VALUE=DATE:20260320", "VALUE=DATE:20260322")),
        Just((
            "TZID=America/New_York:20260301T023000",
            "TZID=Europe/Berlin:20260301T093000"
        )),
    ];
    let rule = prop_oneof![
        Just("FREQ=DAILY;COUNT=20"),
        Just("FREQ=DAILY;INTERVAL=3"),
        Just("FREQ=WEEKLY;BYDAY=FR,SA,SU"),
        Just("FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=5"),
        Just("FREQ=YEARLY;BYDAY=2SU;BYMONTH=3,4,5"),
    ];
    let exdate = prop::option::of(prop_oneof![
        Just("EXDATE;VALUE=DATE:20260321,20260327\r\n"),
        Just("EXDATE:20260326T013000Z\r\n")
    ]);
    let own = prop::option::of(prop_oneof![
        Just("RECURRENCE-ID:20260323T013000Z\r\nDTSTART:20260401T120000Z\r\nSUMMARY:B\r\n"),
        Just("RECURRENCE-ID;RANGE=THISANDFUTURE:20260323T013000Z\r\nDTSTART:20260323T023000Z\r\nSUMMARY:C\r\n"),
        Just("RECURRENCE-ID;VALUE=DATE:20260322\r\nSTATUS:CANCELLED\r\n"),
    ]);
    (start, rule, exdate, own, any::<bool>()).prop_map(|((start, end), rule, exdate, own, lf)| {
        let exdate = exdate.unwrap_or_default();
        let master = event(&format!(
            "DTSTART;{start}\r\nDTEND;{end}\r\nRRULE:{rule}\r\n{exdate}SUMMARY:A\r\nBEGIN:VALARM\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n"
        ));
        let all = master + &own.map(event).unwrap_or_default();
        if lf { all.replace("\r\n", "\n") } else { all }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn an_edit_is_about_one_occurrence_and_nothing_else(inside in any_series(), place in any::<prop::sample::Index>()) {
        let entity = series(&inside);
        let all = year(&entity);
        prop_assume!(!all.is_empty());
        let chosen = place.get(&all);
        let identity = &chosen.identity;
        prop_assume!(membership(&entity, identity).is_ok());
        let others: Vec<_> = all.iter().filter(|instance| instance.identity != *identity).cloned().collect();
        let octets = entity.document().bytes();

        let without = excluded(&entity, identity).expect("an occurrence").expect("a change");
        let without = Entity::from_document(without);
        prop_assert!(year(&without) == others);
        let (gone, new) = difference(octets, without.document().bytes());
        prop_assert_eq!(gone, "");
        prop_assert_eq!(new.lines().count(), 1, "{}", new);
        prop_assert!(excluded(&without, identity).expect("excluded").is_none());
        let again = included(&without, identity).expect("excluded").expect("a change");
        prop_assert_eq!(again.bytes(), octets);
        prop_assert!(included(&entity, identity).expect("an occurrence").is_none());

        let off = cancelled(&entity, identity).expect("an occurrence").expect("a change");
        let off = Entity::from_document(off);
        let timing = |instances: &[Instance]| -> Vec<_> {
            instances.iter().map(|each| (each.from, each.to, each.start.clone())).collect()
        };
        // A new component moves the numbers of later ones.
        prop_assert!(timing(&year(&off)) == timing(&others));
        prop_assert!(cancelled(&off, identity).expect("cancelled").is_none());
        let back = revived(&off, identity).expect("cancelled").expect("a change");
        prop_assert!(timing(&year(&Entity::from_document(back))) == timing(&all));
    }

    #[test]
    fn an_added_date_is_one_more_occurrence(inside in any_series(), hours in 1..2_000_i64) {
        let entity = series(&inside);
        let master = entity.master.as_ref().and_then(|master| master.start.clone()).expect("a start");
        let identity = super::super::temporal::with_civil(&master, crate::ical::recur::civil_second(master.civil()) + hours * 3_600);
        let member = membership(&entity, &identity).expect("evaluable");
        match added(&entity, &identity) {
            Ok(None) => prop_assert!(member.is_occurrence()),
            Err(refused) => {
                prop_assert_eq!(refused.code, Code::InvalidInput);
                prop_assert!(!member.exclusions.is_empty());
            }
            Ok(Some(document)) => {
                prop_assert!(!member.is_named());
                let more = Entity::from_document(document);
                let (gone, new) = difference(entity.document().bytes(), more.document().bytes());
                prop_assert_eq!(gone, "");
                prop_assert_eq!(new.lines().count(), 1, "{}", new);
                let (mut before, after) = (year(&entity), year(&more));
                prop_assert_eq!(after.len(), before.len() + 1);
                before.retain(|each| after.contains(each));
                prop_assert_eq!(before.len() + 1, after.len());
                prop_assert!(membership(&more, &identity).expect("evaluable").is_occurrence());
            }
        }
    }
}

/// The set of a case file, its instances in a year of windows, and its only Event.
fn case(name: &str, uid: Option<&str>) -> Entity {
    let path = format!("{}/../tests/cases/{name}/series.ics", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the case");
    // One of the cases holds two Events, as an import would split them.
    let text = match uid {
        None => text,
        Some(uid) => {
            let (head, events) = text.split_at(text.find("BEGIN:VEVENT").expect("an Event"));
            let mut own = events
                .split_inclusive("END:VEVENT\n")
                .chain(events.split_inclusive("END:VEVENT\r\n"));
            let own = own.find(|event| event.matches("BEGIN:VEVENT").count() == 1 && event.contains(uid));
            format!("{head}{}END:VCALENDAR\r\n", own.expect("the Event"))
        }
    };
    let entity = Entity::read(text.into());
    assert_eq!(entity.opaque(), None);
    entity
}

fn lines_that_differ(before: &Entity, after: &Document) -> (Vec<String>, Vec<String>) {
    let (gone, new) = difference(before.document().bytes(), after.bytes());
    let lines = |text: String| text.lines().map(str::to_owned).collect();
    (lines(gone), lines(new))
}

#[test]
fn case_029_a_day_that_excludes_one_occurrence_is_restored_by_it() {
    let entity = case("029-exdate-as-date-on-timed-series", None);
    let at = zoned("2026-03-21T14:30", "Europe/Prague");
    assert!(excluded(&entity, &at).expect("of the series").is_none());
    let restored = included(&entity, &at).expect("of the series").expect("a change");
    assert_eq!(
        year(&Entity::from_document(restored.clone())).len(),
        year(&entity).len() + 1
    );
    let kept = String::from_utf8_lossy(restored.bytes()).into_owned();
    assert!(kept.contains("EXDATE;VALUE=DATE:20260404") && !kept.contains("20260321"));
}

#[test]
fn case_033_a_date_that_the_rule_counts_out_is_added() {
    let entity = case("033-count-before-exdate-and-rdate", None);
    for (day, want) in [
        ("2026-05-06", Ok(0)),
        ("2026-05-05", Err(Code::InvalidInput)),
        ("2026-05-08", Ok(1)),
    ] {
        let done = added(&entity, &date(day)).map_err(|refused| refused.code);
        let more =
            done.map(|done| done.map_or(0, |done| year(&Entity::from_document(done)).len() - year(&entity).len()));
        assert_eq!(more, want, "{day}");
    }
}

#[test]
fn case_035_an_override_in_utc_is_the_one_that_is_cancelled() {
    let entity = case("035-recurrence-id-in-utc", None);
    for at in [utc("2026-03-26T17:30"), zoned("2026-03-26T18:30", "Europe/Stockholm")] {
        let done = cancelled(&entity, &at).expect("an occurrence").expect("a change");
        let (gone, new) = lines_that_differ(&entity, &done);
        assert_eq!((gone, new), (vec![], vec!["STATUS:CANCELLED".to_owned()]));
        assert_eq!(year(&Entity::from_document(done)).len(), 2);
    }
    // What is written is in the form of DTSTART.
    let done = excluded(&entity, &utc("2026-03-26T17:30"))
        .expect("an occurrence")
        .expect("a change");
    let (_, new) = lines_that_differ(&entity, &done);
    assert_eq!(new, ["EXDATE;TZID=Europe/Stockholm:20260326T183000"]);
}

#[test]
fn case_036_a_moved_occurrence_keeps_its_identity() {
    let entity = case("036-override-moved-across-the-window", None);
    let moved = zoned("2026-10-01T15:00", "Europe/Berlin");
    assert_eq!(
        excluded(&entity, &moved).expect_err("where it takes place").code,
        Code::NotFound
    );
    let done = excluded(&entity, &zoned("2026-09-15T15:00", "Europe/Berlin"))
        .expect("its identity")
        .expect("a change");
    assert_eq!(year(&Entity::from_document(done)).len(), 5);
}

#[test]
fn case_037_periods_are_not_edited_one_by_one() {
    let entity = case("037-rdate-with-periods", None);
    for step in [excluded as Step, included, added, cancelled, revived] {
        let refused = step(&entity, &utc("2026-06-16T17:00")).expect_err("a series with periods");
        assert_eq!(refused.code, Code::UnsupportedCapability);
    }
}

#[test]
fn case_048_one_day_of_a_series_goes() {
    let entity = case("048-delete-matching-one-day-takes-the-series", None);
    let at = zoned("2026-06-10T12:30", "Europe/Lisbon");
    let done = excluded(&entity, &at).expect("an occurrence").expect("a change");
    assert_eq!(
        lines_that_differ(&entity, &done),
        (vec![], vec!["EXDATE;TZID=Europe/Lisbon:20260610T123000".to_owned()])
    );
    let days: Vec<_> = year(&Entity::from_document(done))
        .iter()
        .map(|each| each.start.civil().date().to_string())
        .collect();
    assert_eq!(days, ["2026-06-03", "2026-06-17", "2026-06-24", "2026-07-01"]);
}

#[test]
fn case_054_a_series_with_nothing_left_gets_an_occurrence_back() {
    let entity = case("054-series-with-nothing-left", Some("empty@example.com"));
    assert_eq!(year(&entity), []);
    let done = included(&entity, &utc("2026-05-05T08:00"))
        .expect("excluded")
        .expect("a change");
    assert_eq!(year(&Entity::from_document(done)).len(), 1);
    assert_eq!(
        excluded(&entity, &utc("2026-05-07T08:00"))
            .expect_err("counted out")
            .code,
        Code::NotFound
    );
}

#[test]
fn an_override_beside_one_of_later_occurrences_leaves_it_alone() {
    let now = "2026-05-01T12:00:00Z".parse().expect("a moment");
    let master = event("DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\nSEQUENCE:1\r\n");
    let later =
        event("RECURRENCE-ID;RANGE=THISANDFUTURE:20260506T080000Z\r\nDTSTART:20260506T090000Z\r\nSEQUENCE:2\r\n");
    let entity = series(&(master.clone() + &later));
    let at = utc("2026-05-06T08:00");
    let Ok(Edited::Changed(off)) = cancel(&entity, &at, now) else {
        panic!("an occurrence");
    };
    let own = event("RECURRENCE-ID:20260506T080000Z\r\nDTSTART:20260506T090000Z\r\nSEQUENCE:3\r\nSTATUS:CANCELLED\r\nLAST-MODIFIED:20260501T120000Z\r\n")
        .replace("20260101T000000Z", "20260501T120000Z");
    assert_eq!(off, series(&(master + &later + &own)).document().bytes());
    let off = Entity::read(off);
    assert_eq!(year(&off).len(), year(&entity).len() - 1);
    let Ok(Edited::Changed(back)) = restore_cancellation(&off, &at, now) else {
        panic!("cancelled");
    };
    let timing = |entity: &Entity| -> Vec<_> { year(entity).iter().map(|each| (each.from, each.to)).collect() };
    assert_eq!(timing(&Entity::read(back)), timing(&entity));
}

proptest! {
    #[test]
    fn a_damaged_series_is_edited_or_refused(
        inside in any_series(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..9_usize, "[A-Z0-9;:=,\\n\"TZ ]{0,6}"), 0..5),
        moved in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        hour in 0..400_i64,
    ) {
        let mut octets = series(&inside).document().bytes().to_vec();
        for (place, length, new) in damage {
            let at = place.index(octets.len());
            let end = (at + length).min(octets.len());
            octets.splice(at..end, new.into_bytes());
        }
        let mut lines: Vec<Vec<u8>> = octets.split_inclusive(|octet| *octet == b'\n').map(<[u8]>::to_vec).collect();
        for place in moved {
            let line = lines[place.index(lines.len())].clone();
            lines.insert(place.index(lines.len()), line);
        }
        let entity = Entity::read(lines.concat().into());
        let now = Timestamp::UNIX_EPOCH;
        let start = utc("2026-03-20T01:30");
        let civil = crate::ical::recur::date_time(crate::ical::recur::civil_second(start.civil()) + hour * 1_800);
        let some = entity.overrides.iter().filter_map(|part| part.identity.clone());
        let identities = [
            Temporal::Utc(civil),
            Temporal::Floating(civil),
            Temporal::Date(civil.date()),
            Temporal::Zoned(civil, "Europe/Berlin".into()),
        ];
        for identity in identities.into_iter().chain(some) {
            let all = [
                add(&entity, &identity, now),
                exclude(&entity, &identity, now),
                restore_exclusion(&entity, &identity, now),
                cancel(&entity, &identity, now),
                restore_cancellation(&entity, &identity, now),
                super::super::complete::complete(&entity, Some(&identity), now),
            ];
            for octets in all.into_iter().flatten() {
                if let Edited::Changed(octets) = octets {
                    let after = Entity::read(octets);
                    prop_assert_eq!(after.opaque(), None);
                    prop_assert_eq!(after.uid(), entity.uid());
                }
            }
        }
    }
}
