use proptest::prelude::*;

use super::*;
use crate::ical::edit::sample::{date, event, floating, series, utc, zoned};

fn zones() -> Zones {
    Zones::read(&Document::unread(Default::default()))
}

fn code_of(refused: &Error) -> &'static str {
    refused.violations.first().map_or("", |violation| violation.code)
}

fn rule(text: &str, start: &Temporal) -> Result<(), (Code, &'static str)> {
    match check_rule(text, Some(start), &zones(), "/rrule") {
        Ok(_) => Ok(()),
        Err(refused) => Err((refused.code, code_of(&refused))),
    }
}

#[test]
fn rules_that_can_be_written() {
    let (day, time) = (date("2026-05-04"), utc("2026-05-04T08:00"));
    let berlin = zoned("2026-05-04T08:00", "Europe/Berlin");
    let local = floating("2026-05-04T08:00");
    let input = |code| Err((Code::InvalidInput, code));
    for (text, start, want) in [
        ("FREQ=WEEKLY", &time, Ok(())),
        ("freq=daily;count=10000;", &day, Ok(())),
        ("FREQ=DAILY;UNTIL=20260504", &day, Ok(())),
        // Through 8:00 in Berlin, which is 6:00 in UTC.
        ("FREQ=DAILY;UNTIL=20260504T060000Z", &berlin, Ok(())),
        (
            "FREQ=DAILY;UNTIL=20260504T055959Z",
            &berlin,
            input("recurrence_no_occurrences"),
        ),
        ("FREQ=HOURLY;UNTIL=20260510T080000", &local, Ok(())),
        ("FREQ=SECONDLY", &time, Ok(())),
        (
            "FREQ=DAILY;COUNT=10001",
            &time,
            input("recurrence_occurrence_limit_exceeded"),
        ),
        (
            "FREQ=SECONDLY;UNTIL=20260505T000000Z",
            &time,
            input("recurrence_occurrence_limit_exceeded"),
        ),
        ("FREQ=DAILY;COUNT=0", &time, input("recurrence_count_invalid")),
        ("FREQ=DAILY;COUNT=many", &time, input("recurrence_count_invalid")),
        ("RRULE:FREQ=DAILY", &time, input("recurrence_rule_invalid")),
        ("FREQ=DAILY\r\nATTENDEE:x", &time, input("recurrence_rule_invalid")),
        (
            "FREQ=DAILY;COUNT=2;UNTIL=20260505T080000Z",
            &time,
            input("recurrence_rule_invalid"),
        ),
        ("FREQ=HOURLY", &day, input("recurrence_rule_invalid")),
        ("FREQ=DAILY;UNTIL=20260510", &time, input("recurrence_family_mismatch")),
        (
            "FREQ=DAILY;UNTIL=20260510T080000",
            &berlin,
            input("recurrence_family_mismatch"),
        ),
        (
            "FREQ=DAILY;UNTIL=20260510T080000Z",
            &local,
            input("recurrence_family_mismatch"),
        ),
        (
            "FREQ=DAILY;UNTIL=20260510T080000Z",
            &day,
            input("recurrence_family_mismatch"),
        ),
        // 4 May 2026 is a Monday.
        ("FREQ=WEEKLY;BYDAY=TU", &time, input("recurrence_start_mismatch")),
        ("FREQ=DAILY;BYHOUR=9", &time, input("recurrence_start_mismatch")),
        (
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
            &time,
            input("recurrence_no_occurrences"),
        ),
        (
            "FREQ=YEARLY;UNTIL=20260101T000000Z",
            &time,
            input("recurrence_no_occurrences"),
        ),
        (
            "RSCALE=GREGORIAN;FREQ=YEARLY",
            &time,
            Err((Code::RecurrenceUnevaluable, "")),
        ),
        (
            "RSCALE=CHINESE;FREQ=YEARLY",
            &time,
            Err((Code::RecurrenceUnevaluable, "")),
        ),
        ("FREQ=MONTHLY;Skip=OMIT", &time, Err((Code::RecurrenceUnevaluable, ""))),
    ] {
        assert_eq!(rule(text, start), want, "{text}");
    }
    let refused = check_rule("FREQ=DAILY", None, &zones(), "/rrule").expect_err("no start");
    assert_eq!(code_of(&refused), "recurrence_start_required");
    assert_eq!(refused.violations[0].pointer, "/rrule");
}

fn period(start: Temporal, end: Result<Temporal, &str>) -> DateOrPeriod {
    let end = end.map_err(Into::into);
    DateOrPeriod::Period(Period { start, end })
}

#[test]
fn dates_are_in_the_form_of_the_start() {
    let start = zoned("2026-05-04T08:00", "Europe/Berlin");
    let at = |hour: u8| zoned(&format!("2026-05-05T{hour:02}:00"), "Europe/Berlin");
    let plain = DateOrPeriod::Date;
    for (rdates, exdates, want) in [
        (
            vec![plain(at(9)), period(at(9), Ok(at(10))), period(at(9), Err("PT1H"))],
            vec![at(8)],
            None,
        ),
        (
            vec![plain(utc("2026-05-05T09:00"))],
            vec![],
            Some(("/rdates/0", "recurrence_family_mismatch")),
        ),
        (
            vec![],
            vec![at(8), zoned("2026-05-05T08:00", "Europe/Paris")],
            Some(("/exdates/1", "recurrence_family_mismatch")),
        ),
        (
            vec![],
            vec![date("2026-05-05")],
            Some(("/exdates/0", "recurrence_family_mismatch")),
        ),
        (
            vec![],
            vec![zoned("2026-05-05T08:00:00.5", "Europe/Berlin")],
            Some(("/exdates/0", "temporal_value_invalid")),
        ),
        (
            vec![period(at(9), Ok(at(9)))],
            vec![],
            Some(("/rdates/0/end", "end_not_after_start")),
        ),
        (
            vec![period(at(9), Ok(utc("2026-05-05T10:00")))],
            vec![],
            Some(("/rdates/0/end", "recurrence_family_mismatch")),
        ),
        (
            vec![period(at(9), Err("-PT1H"))],
            vec![],
            Some(("/rdates/0/duration", "duration_invalid")),
        ),
        (
            vec![period(at(9), Err("soon"))],
            vec![],
            Some(("/rdates/0/duration", "duration_invalid")),
        ),
        (
            vec![],
            vec![at(8); 10_001],
            Some(("/exdates", "recurrence_occurrence_limit_exceeded")),
        ),
    ] {
        let checked = check_dates(Some(&start), &rdates, &exdates, &zones(), "");
        let got = checked
            .err()
            .map(|refused| (refused.violations[0].pointer.clone(), code_of(&refused)));
        assert_eq!(
            got,
            want.map(|(pointer, code)| (pointer.to_owned(), code)),
            "{rdates:?}"
        );
    }
    let days = [period(date("2026-05-05"), Err("P1D"))];
    let refused = check_dates(Some(&date("2026-05-04")), &days, &[], &zones(), "").expect_err("days have no periods");
    assert_eq!(code_of(&refused), "recurrence_family_mismatch");
}

#[test]
fn a_set_is_written_with_a_line_for_each_date() {
    let at = |hour: u8| zoned(&format!("2026-05-05T{hour:02}:00"), "Europe/Berlin");
    let set = NewRecurrence {
        rrule: Some(" freq=Daily; count=3;".to_owned()),
        rdates: Some(vec![
            DateOrPeriod::Date(at(9)),
            period(at(10), Ok(at(11))),
            period(at(12), Err("pt1h")),
        ]),
        exdates: Some(vec![at(8)]),
        overrides: None,
    };
    let lines = lines(&set).expect("lines");
    let lines: Vec<_> = lines
        .iter()
        .map(|line| String::from_utf8_lossy(line.octets()).into_owned())
        .collect();
    assert_eq!(
        lines,
        [
            "RRULE:FREQ=DAILY;COUNT=3",
            "RDATE;TZID=Europe/Berlin:20260505T090000",
            "RDATE;VALUE=PERIOD;TZID=Europe/Berlin:20260505T100000/20260505T110000",
            "RDATE;VALUE=PERIOD;TZID=Europe/Berlin:20260505T120000/PT1H",
            "EXDATE;TZID=Europe/Berlin:20260505T080000",
        ]
    );
}

fn replaced(before: &str, set: Option<&NewRecurrence>, orphans: &[Orphan]) -> Result<String, (Code, Vec<String>)> {
    let done = replace(&series(before), set, orphans, "/patch/scalars/0").map_err(|refused| {
        let violations = refused.violations.iter();
        (
            refused.code,
            violations.map(|it| format!("{} {}", it.pointer, it.code)).collect(),
        )
    })?;
    assert!(Entity::read(done.bytes().clone()).opaque().is_none());
    let whole = String::from_utf8_lossy(done.bytes()).into_owned();
    let inside = whole.strip_prefix("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n");
    Ok(inside
        .and_then(|inside| inside.strip_suffix("END:VCALENDAR\r\n"))
        .expect("what stands around stays")
        .to_owned())
}

fn only(rrule: &str) -> NewRecurrence {
    NewRecurrence {
        rrule: Some(rrule.to_owned()),
        ..NewRecurrence::default()
    }
}

#[test]
fn only_lines_that_say_something_else_are_written() {
    let lines = "X-A:1\r\nDTSTART:20260504T080000Z\r\nrrule;x=y:freq=DAILY;\r\n COUNT=5\r\nX-B:2\r\nEXDATE:20260505T080000Z,\r\n 20260506T080000Z\r\nRDATE:20260520T080000Z\r\nX-C:3\r\n";
    let before = event(lines);
    let exdates = vec![utc("2026-05-05T08:00"), utc("2026-05-06T08:00")];
    let same = NewRecurrence {
        rdates: Some(vec![DateOrPeriod::Date(utc("2026-05-20T08:00"))]),
        exdates: Some(exdates.clone()),
        ..only("FREQ=DAILY;COUNT=5")
    };
    assert_eq!(replaced(&before, Some(&same), &[]), Ok(before.clone()));
    assert_eq!(
        replaced(&before, Some(&only("FREQ=DAILY;COUNT=5")), &[]),
        Ok(before.clone())
    );
    let rule = lines.replace("rrule;x=y:freq=DAILY;\r\n COUNT=5", "RRULE:FREQ=DAILY;COUNT=6");
    assert_eq!(
        replaced(&before, Some(&only("FREQ=DAILY;COUNT=6")), &[]),
        Ok(event(&rule))
    );
    let fewer = NewRecurrence {
        exdates: Some(vec![utc("2026-05-06T08:00")]),
        rdates: Some(Vec::new()),
        ..same
    };
    let want = lines
        .replace(
            "EXDATE:20260505T080000Z,\r\n 20260506T080000Z",
            "EXDATE:20260506T080000Z",
        )
        .replace("RDATE:20260520T080000Z\r\n", "");
    assert_eq!(replaced(&before, Some(&fewer), &[]), Ok(event(&want)));
    // No rule: the dates are left.
    let dates = NewRecurrence::default();
    let gone = [Orphan::Exdate(exdates[0].clone()), Orphan::Exdate(exdates[1].clone())];
    let want = "X-A:1\r\nDTSTART:20260504T080000Z\r\nX-B:2\r\nRDATE:20260520T080000Z\r\nX-C:3\r\n";
    assert_eq!(replaced(&before, Some(&dates), &gone), Ok(event(want)));
    // Nothing is left.
    let want = "X-A:1\r\nDTSTART:20260504T080000Z\r\nX-B:2\r\nX-C:3\r\n";
    assert_eq!(replaced(&before, None, &[]), Ok(event(want)));
    let empty = NewRecurrence {
        rdates: Some(Vec::new()),
        ..NewRecurrence::default()
    };
    let refused = Err((
        Code::InvalidInput,
        vec!["/patch/scalars/0/value recurrence_data_required".to_owned()],
    ));
    assert_eq!(replaced(&before, Some(&empty), &[]), refused);
    let refused = Err((
        Code::InvalidInput,
        vec!["/patch/scalars/0/value/rrule recurrence_start_mismatch".to_owned()],
    ));
    assert_eq!(replaced(&before, Some(&only("FREQ=WEEKLY;BYDAY=FR")), &[]), refused);
    // A single Event becomes a series.
    let single = event("DTSTART:20260504T080000Z\r\nBEGIN:VALARM\r\nEND:VALARM\r\n");
    let want = event("DTSTART:20260504T080000Z\r\nRRULE:FREQ=DAILY\r\nBEGIN:VALARM\r\nEND:VALARM\r\n");
    assert_eq!(replaced(&single, Some(&only("FREQ=DAILY")), &[]), Ok(want));
}

#[test]
fn orphans_are_named_all_and_no_others() {
    let master = |rule: &str, exdates: &str| {
        event(&format!(
            "DTSTART;TZID=Europe/Berlin:20260504T090000\r\nRRULE:{rule}\r\n{exdates}"
        ))
    };
    let own = |identity: &str| event(&format!("RECURRENCE-ID{identity}\r\nDTSTART:20260520T080000Z\r\n"));
    let (tuesday, saturday) = (
        ":20260505T070000Z",
        ";RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260509T090000",
    );
    let exdates =
        "EXDATE:20260506T070000Z,20260511T070000Z\r\nEXDATE;VALUE=DATE:20260510\r\nEXDATE;VALUE=DATE:20260518\r\n";
    let before = master("FREQ=DAILY", exdates) + &own(tuesday) + &own(saturday);
    let weekly = only("FREQ=WEEKLY");
    let berlin = |day: &str| zoned(&format!("2026-05-{day}T09:00"), "Europe/Berlin");
    let name = |identity, future| Orphan::Override(OverrideName { identity, future });
    let all = [
        Orphan::Exdate(berlin("06")),
        Orphan::Exdate(date("2026-05-10")),
        name(berlin("05"), false),
        name(berlin("09"), true),
    ];
    let want = master(
        "FREQ=WEEKLY",
        "EXDATE:20260511T070000Z\r\nEXDATE;VALUE=DATE:20260518\r\n",
    );
    assert_eq!(replaced(&before, Some(&weekly), &all), Ok(want.clone()));
    // As they are stored, and in another order.
    let stored = [
        name(utc("2026-05-05T07:00"), false),
        all[3].clone(),
        all[1].clone(),
        Orphan::Exdate(utc("2026-05-06T07:00")),
    ];
    assert_eq!(replaced(&before, Some(&weekly), &stored), Ok(want));
    let refused = |violations: &[&str]| {
        let violations = violations
            .iter()
            .map(|it| format!("/patch/scalars/0/orphanReconciliations{it}"))
            .collect();
        Err((Code::InvalidCalendarData, violations))
    };
    assert_eq!(
        replaced(&before, Some(&weekly), &all[1..]),
        refused(&[" required_member"])
    );
    let wrong = [&all[..3], &[name(berlin("09"), false)]].concat();
    assert_eq!(
        replaced(&before, Some(&weekly), &wrong),
        refused(&[" required_member", "/3 value_not_allowed"])
    );
    let more = [&all[..], &[Orphan::Exdate(berlin("11"))]].concat();
    assert_eq!(
        replaced(&before, Some(&weekly), &more),
        refused(&["/4 value_not_allowed"])
    );
    let twice = [&all[..], &all[..1]].concat();
    assert_eq!(
        replaced(&before, Some(&weekly), &twice),
        refused(&["/4 value_not_allowed"])
    );
    // New EXDATEs are what the caller means.
    let exact = NewRecurrence {
        exdates: Some(vec![berlin("11")]),
        ..weekly
    };
    let want = master("FREQ=WEEKLY", "EXDATE;TZID=Europe/Berlin:20260511T090000\r\n");
    assert_eq!(replaced(&before, Some(&exact), &all[2..]), Ok(want));
    // Clearing keeps what is about the start itself.
    let at_start = own(";TZID=Europe/Berlin:20260504T090000");
    let want = event("DTSTART;TZID=Europe/Berlin:20260504T090000\r\n") + &at_start;
    assert_eq!(replaced(&(before + &at_start), None, &all[2..]), Ok(want));
}

#[test]
fn overrides_that_are_told_are_those_that_remain() {
    let master = |rule: &str| event(&format!("DTSTART:20260504T080000Z\r\nRRULE:{rule}\r\n"));
    let own = |day: &str| event(&format!("RECURRENCE-ID:202605{day}T080000Z\r\nSUMMARY:B\r\n"));
    let before = master("FREQ=DAILY") + &own("05") + &own("11");
    let name = |day: &str| OverrideName {
        identity: utc(&format!("2026-05-{day}T08:00")),
        future: false,
    };
    let gone = [Orphan::Override(name("05"))];
    let set = |overrides| NewRecurrence {
        overrides: Some(overrides),
        ..only("FREQ=WEEKLY")
    };
    let want = Ok(master("FREQ=WEEKLY") + &own("11"));
    assert_eq!(replaced(&before, Some(&set(vec![name("11")])), &gone), want);
    for wrong in [vec![], vec![name("05"), name("11")], vec![name("18")]] {
        let refused = replaced(&before, Some(&set(wrong)), &gone).expect_err("others remain");
        assert_eq!(refused.0, Code::InvalidCalendarData);
        assert!(
            refused.1[0].starts_with("/patch/scalars/0/value/overrides"),
            "{refused:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_told_as_missing_is_what_has_to_be_named(
        days in prop::collection::btree_set(0..40_i8, 0..12),
        interval in 1..9_u8,
        count in prop::option::of(1..30_u8),
    ) {
        let start = utc("2026-05-01T08:00");
        let at = |day: &i8| Temporal::Utc(start.civil().checked_add(jiff::Span::new().days(*day)).expect("in range"));
        let exdates: String = days.iter().map(|day| format!("EXDATE:{}\r\n", at(day).encoded())).collect();
        let before = event(&format!("DTSTART:20260501T080000Z\r\nRRULE:FREQ=DAILY\r\n{exdates}"));
        let count_part = count.map(|count| format!(";COUNT={count}")).unwrap_or_default();
        let set = only(&format!("FREQ=DAILY;INTERVAL={interval}{count_part}"));
        let gone: Vec<_> = days
            .iter()
            .filter(|day| !(**day as u8).is_multiple_of(interval) || count.is_some_and(|count| **day as u8 / interval >= count))
            .collect();
        let orphans: Vec<_> = gone.iter().map(|day| Orphan::Exdate(at(day))).collect();
        let done = replaced(&before, Some(&set), &orphans);
        let kept: String = days
            .iter()
            .filter(|day| !gone.contains(day))
            .map(|day| format!("EXDATE:{}\r\n", at(day).encoded()))
            .collect();
        let want = event(&format!("DTSTART:20260501T080000Z\r\nRRULE:{}\r\n{kept}", set.rrule.as_deref().unwrap_or_default()));
        prop_assert_eq!(done, Ok(want));
        if !orphans.is_empty() {
            prop_assert!(replaced(&before, Some(&set), &orphans[1..]).is_err());
        }
    }
}
