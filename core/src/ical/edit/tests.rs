use jiff::Timestamp;

use super::collection::CollectionPatch;
use super::create::{NewEntity, NewFields, NewOverride, NewSeries, PRODID, create};
use super::patch::{Patch, Target, patch};
use super::recurrence_set::{NewRecurrence, Orphan, OverrideName};
use super::scalar::ScalarPatch;
use super::*;
use crate::ical::entity::Kind;
use crate::ical::value::{Geo, Temporal};

/// 2026-11-30 12:00:00 UTC.
fn now() -> Timestamp {
    Timestamp::from_second(1_796_040_000).expect("in range")
}

const STAMPS: &str = "DTSTAMP:20261130T120000Z\nLAST-MODIFIED:20261130T120000Z\n";

fn time(text: &str) -> Temporal {
    let (value, zone) = text
        .split_once(' ')
        .map_or((text, None), |(value, zone)| (value, Some(zone)));
    Temporal::parse(value.as_bytes(), zone).expect("a time")
}

/// A resource of components, with their lines.
fn resource(components: &[&str]) -> String {
    format!(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{}END:VCALENDAR\n",
        components.concat()
    )
}

fn event(lines: &str) -> String {
    format!("BEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\nLAST-MODIFIED:20260101T000000Z\n{lines}END:VEVENT\n")
}

fn todo(lines: &str) -> String {
    event(lines).replace("VEVENT", "VTODO")
}

fn stamped(lines: &str) -> String {
    format!("BEGIN:VEVENT\nUID:1\n{STAMPS}{lines}END:VEVENT\n")
}

fn edited(text: &str, target: &Target, scalars: Vec<ScalarPatch>) -> Result<Edited, Box<Error>> {
    patch(
        &Entity::read(text.to_owned().into()),
        target,
        &Patch {
            scalars,
            ..Patch::default()
        },
        now(),
    )
}

fn changed(text: &str, target: &Target, scalars: Vec<ScalarPatch>) -> String {
    match edited(text, target, scalars) {
        Ok(Edited::Changed(octets)) => String::from_utf8(octets.to_vec()).expect("text"),
        other => panic!("{other:?}\n{text}"),
    }
}

/// The first violation, or the code.
fn refused(text: &str, target: &Target, scalars: Vec<ScalarPatch>) -> String {
    let error = edited(text, target, scalars.clone()).expect_err(&format!("{scalars:?}"));
    error
        .violations
        .first()
        .map_or_else(|| format!("{:?}", error.code), |violation| violation.code.to_owned())
}

#[test]
fn scalars_change_their_line_and_nothing_else() {
    use ScalarPatch as S;
    let text = |value: &str| Some(value.to_owned());
    let table: Vec<(&str, S, &str)> = vec![
        (
            "SUMMARY;LANGUAGE=en:Old\nX-A:1\n",
            S::Summary(text("New, one")),
            "SUMMARY;LANGUAGE=en:New\\, one\nX-A:1\n",
        ),
        ("summary:a\n b\n", S::Summary(text("c\nd")), "summary:c\\nd\n"),
        ("X-A:1\n", S::Summary(text("New")), "X-A:1\nSUMMARY:New\n"),
        ("SUMMARY:a\nX-A:1\nSUMMARY:b\n", S::Summary(None), "X-A:1\n"),
        ("LOCATION:a\n", S::Location(text("b;c")), "LOCATION:b\\;c\n"),
        ("STATUS:tentative\n", S::Status(text("confirmed")), "STATUS:CONFIRMED\n"),
        ("STATUS:X-OLD\n", S::Status(text("x-new")), "STATUS:X-NEW\n"),
        (
            "TRANSP:OPAQUE\n",
            S::Transparency(text("TRANSPARENT")),
            "TRANSP:TRANSPARENT\n",
        ),
        ("CLASS:PUBLIC\n", S::Classification(None), ""),
        ("PRIORITY:0\n", S::Priority(Some(9)), "PRIORITY:9\n"),
        (
            "GEO:1.0;2.0\n",
            S::Geo(Some(Geo {
                latitude: 37.386013,
                longitude: -122.082932,
            })),
            "GEO:37.386013;-122.082932\n",
        ),
        (
            "URL;VALUE=URI:http://a/\n",
            S::Url(text("https://b/?x=1,2;3")),
            "URL;VALUE=URI:https://b/?x=1,2;3\n",
        ),
    ];
    for (before, scalar, after) in table {
        let start = "DTSTART:20260102T090000Z\n";
        let before = resource(&[&event(&format!("{start}{before}"))]);
        let want = resource(&[&stamped(&format!("{start}{after}"))]);
        assert_eq!(
            changed(&before, &Target::Master, vec![scalar.clone()]),
            want,
            "{scalar:?}"
        );
    }
}

#[test]
fn what_is_said_already_is_no_change() {
    use ScalarPatch as S;
    let text = |value: &str| Some(value.to_owned());
    let before = resource(&[&event(
        "DTSTART;TZID=\"Europe/Berlin\":20260102T090000\nDTEND;TZID=Europe/Berlin:20260102T100000\nSUMMARY:a\\nb\\:c\nSTATUS:confirmed\nGEO:01.50;2\nPRIORITY: 5\n",
    )]);
    let same = vec![
        S::Summary(text("a\r\nb:c")),
        S::Status(text("Confirmed")),
        S::Priority(Some(5)),
        S::Description(None),
        S::Start(Some(time("20260102T090000 europe/berlin"))),
        S::End(Some(time("20260102T100000 W. Europe Standard Time"))),
    ];
    assert_eq!(edited(&before, &Target::Master, same), Ok(Edited::Unchanged));
}

#[test]
fn what_cannot_be_stored_is_refused() {
    use ScalarPatch as S;
    let text = |value: &str| Some(value.to_owned());
    let series = resource(&[&event("DTSTART:20260102T090000Z\nRRULE:FREQ=DAILY\n")]);
    let single = resource(&[&event(
        "DTSTART:20260102T090000Z\nDTEND:20260102T100000Z\nSTATUS:ODD\nSUMMARY;DERIVED=TRUE:a\n",
    )]);
    let table: Vec<(&str, Vec<S>, &str)> = vec![
        (&single, vec![S::Location(text("a\u{0}b"))], "format_mismatch"),
        (&single, vec![S::Location(text("a\u{1b}[1m"))], "format_mismatch"),
        (&single, vec![S::Url(text("https://a/\r\nX-A:1"))], "format_mismatch"),
        (&single, vec![S::Url(text("no uri"))], "format_mismatch"),
        (
            &single,
            vec![S::Transparency(text("X-A\r\nX-B:1"))],
            "value_not_allowed",
        ),
        (&single, vec![S::Transparency(text("MAYBE"))], "value_not_allowed"),
        (&single, vec![S::Status(text("CONFIRMED"))], "value_not_allowed"),
        (&single, vec![S::Summary(text("b"))], "value_not_allowed"),
        (&single, vec![S::Priority(Some(10))], "out_of_range"),
        (
            &single,
            vec![S::Geo(Some(Geo {
                latitude: 91.0,
                longitude: 0.0,
            }))],
            "out_of_range",
        ),
        (
            &single,
            vec![S::Geo(Some(Geo {
                latitude: f64::NAN,
                longitude: 0.0,
            }))],
            "out_of_range",
        ),
        (&single, vec![S::PercentComplete(Some(5))], "value_not_allowed"),
        (
            &single,
            vec![S::Priority(Some(1)), S::Priority(Some(2))],
            "value_not_allowed",
        ),
        (&single, vec![S::Start(None)], "start_required"),
        (
            &single,
            vec![S::Start(Some(time("20260102T090000 Nowhere/Else")))],
            "temporal_value_invalid",
        ),
        (
            &single,
            vec![S::Start(Some(time("20260102T090000 Europe/Berlin\nX")))],
            "temporal_value_invalid",
        ),
        (
            &single,
            vec![S::Start(Some(time("20260102")))],
            "temporal_family_mismatch",
        ),
        (
            &single,
            vec![S::End(Some(time("20260103")))],
            "temporal_family_mismatch",
        ),
        (
            &single,
            vec![S::End(Some(time("20260102T093000")))],
            "temporal_family_mismatch",
        ),
        (
            &single,
            vec![S::End(Some(time("20260102T090000Z")))],
            "end_not_after_start",
        ),
        (&single, vec![S::Duration(text("PT0S"))], "duration_invalid"),
        (&single, vec![S::Duration(text("-PT1H"))], "duration_invalid"),
        (&single, vec![S::Duration(text("1 hour"))], "duration_invalid"),
        (
            &single,
            vec![S::End(Some(time("20260102T120000Z"))), S::Duration(text("PT1H"))],
            "end_duration_exclusive",
        ),
        (
            &series,
            vec![S::Start(Some(time("20260102T100000Z")))],
            "value_not_allowed",
        ),
    ];
    for (before, scalars, code) in table {
        assert_eq!(refused(before, &Target::Master, scalars.clone()), code, "{scalars:?}");
    }
    let far = Target::Occurrence(time("20260102T090000Z"));
    assert_eq!(refused(&single, &far, vec![S::Priority(Some(1))]), "value_not_allowed");
    assert_eq!(refused("BEGIN:VCALENDAR\n", &Target::Master, vec![]), "OpaqueResource");
}

/// Start and end move together, by the calendar where they are days, by the clock where they are times.
#[test]
fn the_end_goes_with_the_start() {
    use ScalarPatch as S;
    let set = |value: &str| Some(time(value));
    let table: Vec<(&str, Vec<S>, &str)> = vec![
        (
            "DTSTART:20260102T090000Z\nDTEND:20260102T103000Z\n",
            vec![S::Start(set("20260105T230000Z"))],
            "DTSTART:20260105T230000Z\nDTEND:20260106T003000Z\n",
        ),
        (
            "DTSTART;VALUE=DATE;X-A=1:20260102\nDTEND;VALUE=DATE:20260105\n",
            vec![S::Start(set("20260227"))],
            "DTSTART;VALUE=DATE;X-A=1:20260227\nDTEND;VALUE=DATE:20260302\n",
        ),
        // Three days stay three days.
        (
            "DTSTART;VALUE=DATE;X-A=1:20260102\nDTEND;VALUE=DATE:20260105\n",
            vec![S::Start(set("20260227T100000"))],
            "DTSTART;X-A=1:20260227T100000\nDTEND:20260302T100000\n",
        ),
        (
            "DTSTART;VALUE=DATE:20260102\n",
            vec![S::Start(set("20260227T100000Z"))],
            "DTSTART:20260227T100000Z\nDTEND:20260228T100000Z\n",
        ),
        (
            "DTSTART:20260102T090000Z\nDTEND:20260102T103000Z\n",
            vec![S::Start(set("20260102")), S::End(set("20260103"))],
            "DTSTART;VALUE=DATE:20260102\nDTEND;VALUE=DATE:20260103\n",
        ),
        (
            "DTSTART:20260102T090000Z\nDURATION:PT1H\n",
            vec![S::End(set("20260102T120000Z"))],
            "DTSTART:20260102T090000Z\nDTEND:20260102T120000Z\n",
        ),
        (
            "DTSTART:20260102T090000Z\nDTEND:20260102T103000Z\n",
            vec![S::Duration(Some("PT90M".into()))],
            "DTSTART:20260102T090000Z\nDURATION:PT90M\n",
        ),
        (
            "DTSTART:20260102T090000Z\nDURATION:PT1H\n",
            vec![S::Start(set("20260103T090000Z"))],
            "DTSTART:20260103T090000Z\nDURATION:PT1H\n",
        ),
        (
            "DTSTART:20260102T090000Z\nDTEND:20260102T103000Z\n",
            vec![S::End(None)],
            "DTSTART:20260102T090000Z\n",
        ),
        // Both days get their type, or neither.
        (
            "DTSTART:20260102\nDTEND:20260103\n",
            vec![S::End(set("20260104"))],
            "DTSTART;VALUE=DATE:20260102\nDTEND;VALUE=DATE:20260104\n",
        ),
        (
            "DTSTART:20260102\nDTEND:20260103\nSUMMARY:a\n",
            vec![S::Summary(Some("b".into()))],
            "DTSTART:20260102\nDTEND:20260103\nSUMMARY:b\n",
        ),
    ];
    for (before, scalars, after) in table {
        let before = resource(&[&event(before)]);
        let want = resource(&[&stamped(after)]);
        assert_eq!(changed(&before, &Target::Master, scalars.clone()), want, "{scalars:?}");
    }
}

/// A flight that starts in one zone and ends in another keeps both, and its length over the end of summer time.
#[test]
fn an_end_in_a_zone_of_its_own_stays_there() {
    let before = resource(&[&event(
        "DTSTART;TZID=Europe/Berlin:20261024T100000\nDTEND;TZID=America/New_York:20261024T130000\n",
    )]);
    let start = ScalarPatch::Start(Some(time("20261026T100000 Europe/Berlin")));
    let want = resource(&[&stamped(
        "DTSTART;TZID=Europe/Berlin:20261026T100000\nDTEND;TZID=America/New_York:20261026T140000\n",
    )]);
    // 9 hours: 10:00 CET is 09:00 UTC, 18:00 UTC is 14:00 EDT.
    assert_eq!(changed(&before, &Target::Master, vec![start]), want);
}

/// Half past two of the last Sunday of October comes twice in Berlin: two hours after 01:30 it is for the second time.
#[test]
fn an_end_in_the_second_pass_of_a_fold_is_told_in_utc() {
    let before = resource(&[&event(
        "DTSTART;TZID=Europe/Berlin:20261020T013000\nDTEND;TZID=Europe/Berlin:20261020T033000\n",
    )]);
    let start = ScalarPatch::Start(Some(time("20261025T013000 Europe/Berlin")));
    let want = resource(&[&stamped(
        "DTSTART;TZID=Europe/Berlin:20261025T013000\nDTEND:20261025T013000Z\n",
    )]);
    assert_eq!(changed(&before, &Target::Master, vec![start]), want);
}

#[test]
fn sequence_goes_up_where_attendees_have_to_know() {
    use ScalarPatch as S;
    let start = "DTSTART:20260102T090000Z\n";
    let moved = "DTSTART:20260102T100000Z\n";
    let organizer = "ORGANIZER:mailto:a@example.com\n";
    let to = || S::Start(Some(time("20260102T100000Z")));
    let title = || S::Summary(Some("b".into()));
    let table: Vec<(String, S, String)> = vec![
        (format!("{start}SEQUENCE:3\n"), to(), format!("{moved}SEQUENCE:4\n")),
        (
            format!("{start}{organizer}"),
            to(),
            format!("{moved}{organizer}SEQUENCE:1\n"),
        ),
        (
            format!("{start}{organizer}SEQUENCE:2\n"),
            title(),
            format!("{start}{organizer}SEQUENCE:2\nSUMMARY:b\n"),
        ),
        (start.to_owned(), to(), moved.to_owned()),
        (
            format!("{start}SEQUENCE:0\n"),
            S::Status(Some("CANCELLED".into())),
            format!("{start}SEQUENCE:1\nSTATUS:CANCELLED\n"),
        ),
    ];
    for (before, scalar, after) in table {
        let (before, want) = (resource(&[&event(&before)]), resource(&[&stamped(&after)]));
        assert_eq!(
            changed(&before, &Target::Master, vec![scalar.clone()]),
            want,
            "{scalar:?}"
        );
    }
}

#[test]
fn the_whole_series_moves_with_what_names_its_occurrences() {
    let before = resource(&[
        &event(
            "DTSTART;TZID=Europe/Berlin:20261019T100000\nDTEND;TZID=Europe/Berlin:20261019T110000\nRRULE:FREQ=WEEKLY;UNTIL=20261102T090000Z;BYDAY=MO\nEXDATE;TZID=Europe/Berlin:20261026T100000,20261102T100000\nRDATE;VALUE=PERIOD;TZID=Europe/Berlin:20261027T100000/PT1H\n",
        ),
        &event("RECURRENCE-ID:20261026T090000Z\nDTSTART;TZID=Europe/Berlin:20261026T150000\nDURATION:PT2H\n"),
    ]);
    let later = vec![ScalarPatch::Start(Some(time("20261019T113000 Europe/Berlin")))];
    let want = resource(&[
        &stamped(
            "DTSTART;TZID=Europe/Berlin:20261019T113000\nDTEND;TZID=Europe/Berlin:20261019T123000\nRRULE:FREQ=WEEKLY;UNTIL=20261102T103000Z;BYDAY=MO\nEXDATE;TZID=Europe/Berlin:20261026T113000,20261102T113000\nRDATE;VALUE=PERIOD;TZID=Europe/Berlin:20261027T113000/PT1H\n",
        ),
        &stamped("RECURRENCE-ID:20261026T103000Z\nDTSTART;TZID=Europe/Berlin:20261026T163000\nDURATION:PT2H\n"),
    ]);
    assert_eq!(changed(&before, &Target::EntireSet, later), want);
    let other_day = vec![ScalarPatch::Start(Some(time("20261020T100000 Europe/Berlin")))];
    assert_eq!(
        refused(&before, &Target::EntireSet, other_day),
        "recurrence_start_mismatch"
    );
    let other_zone = vec![ScalarPatch::Start(Some(time("20261019T100000 Europe/Lisbon")))];
    assert_eq!(
        refused(&before, &Target::EntireSet, other_zone),
        "temporal_family_mismatch"
    );
}

#[test]
fn the_entire_set_shares_fields_and_lengths() {
    let before = resource(&[
        &event("DTSTART:20261019T100000\nDTEND:20261019T110000\nRRULE:FREQ=DAILY\nSUMMARY:a\n"),
        &event("RECURRENCE-ID:20261020T100000\nDTSTART:20261020T120000\nDTEND:20261020T123000\nSUMMARY:other\n"),
    ]);
    let scalars = vec![
        ScalarPatch::End(Some(time("20261019T113000"))),
        ScalarPatch::Summary(Some("b".into())),
    ];
    let want = resource(&[
        &stamped("DTSTART:20261019T100000\nDTEND:20261019T113000\nRRULE:FREQ=DAILY\nSUMMARY:b\n"),
        &stamped("RECURRENCE-ID:20261020T100000\nDTSTART:20261020T120000\nDTEND:20261020T130000\nSUMMARY:b\n"),
    ]);
    assert_eq!(changed(&before, &Target::EntireSet, scalars), want);
    let status = |status: &str| vec![ScalarPatch::Status(Some(status.into()))];
    assert_eq!(
        refused(&before, &Target::EntireSet, status("cancelled")),
        "value_not_allowed"
    );
    let cancelled = before.replace("SUMMARY:other", "STATUS:CANCELLED");
    assert_eq!(
        refused(&cancelled, &Target::EntireSet, status("CONFIRMED")),
        "value_not_allowed"
    );
}

#[test]
fn a_patch_reopens_a_todo_and_does_not_complete_it() {
    use ScalarPatch as S;
    let status = |status: &str| S::Status(Some(status.into()));
    let done = resource(&[&todo(
        "STATUS:COMPLETED\nCOMPLETED:20260101T000000Z\nPERCENT-COMPLETE:100\nSUMMARY:a\n",
    )]);
    let want = resource(&[&stamped("STATUS:NEEDS-ACTION\nSUMMARY:a\n").replace("VEVENT", "VTODO")]);
    assert_eq!(changed(&done, &Target::Master, vec![status("NEEDS-ACTION")]), want);
    let open = resource(&[&todo("STATUS:IN-PROCESS\nSUMMARY:a\n")]);
    for scalars in [vec![status("COMPLETED")], vec![S::PercentComplete(Some(100))]] {
        assert_eq!(refused(&open, &Target::Master, scalars), "InvalidInput");
    }
    let half = resource(&[&stamped("STATUS:IN-PROCESS\nSUMMARY:a\nPERCENT-COMPLETE:50\n").replace("VEVENT", "VTODO")]);
    assert_eq!(
        changed(&open, &Target::Master, vec![S::PercentComplete(Some(50))]),
        half
    );
    let due = vec![S::Duration(Some("PT1H".into()))];
    assert_eq!(refused(&open, &Target::Master, due), "duration_start_required");
}

#[test]
fn new_resources_are_complete() {
    let made = |kind, fields| {
        let entity = NewEntity {
            kind,
            uid: "u-1".into(),
            fields,
            series: None,
        };
        create(&entity, now()).map(|octets| String::from_utf8(octets.to_vec()).expect("text"))
    };
    let head = format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:{PRODID}\r\n");
    let stamps =
        "UID:u-1\r\nDTSTAMP:20261130T120000Z\r\nCREATED:20261130T120000Z\r\nLAST-MODIFIED:20261130T120000Z\r\n";
    let whole =
        |kind: &str, lines: &str| format!("{head}BEGIN:{kind}\r\n{stamps}{lines}END:{kind}\r\nEND:VCALENDAR\r\n");
    let start = |value: &str| NewFields {
        start: Some(time(value)),
        ..NewFields::default()
    };
    // Some servers refuse an all-day Event without its end.
    assert_eq!(
        made(Kind::Event, start("20261224")),
        Ok(whole(
            "VEVENT",
            "DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261225\r\n"
        ))
    );
    assert_eq!(
        made(Kind::Event, start("20261224T180000Z")),
        Ok(whole("VEVENT", "DTSTART:20261224T180000Z\r\nDURATION:PT1H\r\n"))
    );
    assert_eq!(made(Kind::Todo, NewFields::default()), Ok(whole("VTODO", "")));
    let full = NewFields {
        summary: Some("a, b".into()),
        description: Some("c\r\nX-INJECTED:1".into()),
        location: Some("d".into()),
        status: Some("tentative".into()),
        transparency: Some("transparent".into()),
        classification: Some("private".into()),
        priority: Some(1),
        categories: vec!["e,f".into(), "g".into()],
        url: Some("https://example.com/".into()),
        geo: Some(Geo {
            latitude: 1.5,
            longitude: -2.0,
        }),
        duration: Some("PT30M".into()),
        ..start("20261224T180000")
    };
    let want = "DTSTART:20261224T180000\r\nDURATION:PT30M\r\nSUMMARY:a\\, b\r\nDESCRIPTION:c\\nX-INJECTED:1\r\nLOCATION:d\r\n\
                GEO:1.5;-2\r\nSTATUS:TENTATIVE\r\nTRANSP:TRANSPARENT\r\nCLASS:PRIVATE\r\nPRIORITY:1\r\nCATEGORIES:e\\,f,g\r\n\
                URL:https://example.com/\r\n";
    assert_eq!(made(Kind::Event, full), Ok(whole("VEVENT", want)));
    let code = |made: Result<String, Box<Error>>| made.expect_err("refused").violations.remove(0);
    assert_eq!(code(made(Kind::Event, NewFields::default())).code, "start_required");
    let due = NewFields {
        end: Some(time("20261224T170000Z")),
        ..start("20261224T180000Z")
    };
    let early = code(made(Kind::Todo, due));
    assert_eq!(
        (early.code, &*early.pointer),
        ("due_not_after_start", "/entity/fields/start")
    );
}

fn collection(json: serde_json::Value) -> CollectionPatch {
    CollectionPatch::from_json(&json, Kind::Event, "/patch/collections/0").expect("a patch")
}

fn gathered(text: &str, target: &Target, collections: Vec<CollectionPatch>) -> Result<String, Box<Error>> {
    let all = Patch {
        collections,
        ..Patch::default()
    };
    match patch(&Entity::read(text.to_owned().into()), target, &all, now())? {
        Edited::Changed(octets) => Ok(String::from_utf8(octets.to_vec()).expect("text")),
        Edited::Unchanged => Ok("unchanged".into()),
    }
}

/// An alarm that is added to the master moves the components behind it; each still gets what is meant for it.
#[test]
fn collections_are_patched_in_every_component_of_a_scope() {
    let master = "DTSTART:20261019T100000\nRRULE:FREQ=DAILY\nCATEGORIES:A,B\n";
    let instance = "RECURRENCE-ID:20261020T100000\nDTSTART:20261020T120000\nCATEGORIES:B\n";
    let before = resource(&[&event(master), &event(instance)]);
    let alarm = "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT5M\nDESCRIPTION:now\nEND:VALARM\n";
    let patches = vec![
        collection(serde_json::json!({"field": "categories", "operation": "addRemove", "add": ["C"], "remove": ["A"]})),
        collection(
            serde_json::json!({"field": "alarms", "operation": "addRemove", "add": [{
                "action": {"value": "display", "parameters": []},
                "trigger": {"value": "-PT5M", "parameters": []},
                "description": {"value": "now", "parameters": []},
            }]}),
        ),
    ];
    let want = resource(&[
        &stamped(&format!("{}CATEGORIES:C\n{alarm}", master.replace("A,B", "B"))),
        &stamped(&format!("{instance}CATEGORIES:C\n{alarm}")),
    ]);
    assert_eq!(gathered(&before, &Target::EntireSet, patches), Ok(want));
    let missing = collection(serde_json::json!({"field": "categories", "operation": "addRemove", "remove": ["Z"]}));
    let error = gathered(&before, &Target::EntireSet, vec![missing.clone()]).expect_err("no Z anywhere");
    assert_eq!(error.code, Code::NotFound);
    let twice = gathered(&before, &Target::Master, vec![missing.clone(), missing]).expect_err("twice");
    assert_eq!(twice.violations[0].pointer, "/patch/collections/1/field");
}

/// RFC 5545, 3.6: the properties of a component stand before the components in it.
#[test]
fn new_properties_stand_before_new_alarms() {
    let before = resource(&[&event("DTSTART:20261019T100000\n")]);
    let alarm = "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT5M\nDESCRIPTION:now\nEND:VALARM\n";
    let patches = vec![
        collection(
            serde_json::json!({"field": "alarms", "operation": "addRemove", "add": [{
                "action": {"value": "display", "parameters": []},
                "trigger": {"value": "-PT5M", "parameters": []},
                "description": {"value": "now", "parameters": []},
            }]}),
        ),
        collection(serde_json::json!({"field": "categories", "operation": "replaceAll", "values": ["A"]})),
    ];
    let want = resource(&[&stamped(&format!("DTSTART:20261019T100000\nCATEGORIES:A\n{alarm}"))]);
    assert_eq!(gathered(&before, &Target::Master, patches), Ok(want));
}

/// RFC 5545, 3.6.5: a TZID needs its VTIMEZONE. One that others left out is not ours to add.
#[test]
fn a_zone_that_comes_in_is_defined() {
    let before = resource(&[&event("DTSTART;TZID=Asia/Tokyo:20260102T090000\n")]);
    let to = |value: &str| vec![ScalarPatch::Start(Some(time(value)))];
    let after = changed(&before, &Target::Master, to("20260102T090000 W. Europe Standard Time"));
    let start = stamped("DTSTART;TZID=Europe/Berlin:20260102T090000\n");
    assert!(
        after.starts_with("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VTIMEZONE\nTZID:Europe/Berlin\n"),
        "{after}"
    );
    assert!(
        after.ends_with(&format!("END:VTIMEZONE\n{start}END:VCALENDAR\n")),
        "{after}"
    );
    assert_eq!(after.matches("BEGIN:VTIMEZONE").count(), 1);
    let again = changed(&after, &Target::Master, to("20260103T090000 Europe/Berlin"));
    assert_eq!(again.matches("BEGIN:VTIMEZONE").count(), 1);
    let kept = changed(&before, &Target::Master, to("20260103T090000 Asia/Tokyo"));
    assert_eq!(kept, resource(&[&stamped("DTSTART;TZID=Asia/Tokyo:20260103T090000\n")]));
}

fn fields(start: &str) -> NewFields {
    NewFields {
        start: Some(time(start)),
        ..NewFields::default()
    }
}

fn new_series(fields: NewFields, rrule: &str, overrides: Vec<NewOverride>) -> Result<String, Box<Error>> {
    let entity = NewEntity {
        kind: Kind::Event,
        uid: "u-1".into(),
        fields,
        series: Some(NewSeries {
            set: NewRecurrence {
                rrule: Some(rrule.into()),
                exdates: Some(vec![time("20261013T100000 W. Europe Standard Time")]),
                ..NewRecurrence::default()
            },
            overrides,
        }),
    };
    create(&entity, now()).map(|octets| String::from_utf8(octets.to_vec()).expect("text"))
}

/// Overrides are complete components, also where the caller says only what is different.
#[test]
fn a_new_series_has_its_exceptions() {
    let each = |identity: &str, cancelled, fields| NewOverride {
        identity: time(identity),
        future: false,
        cancelled,
        fields,
    };
    let master = NewFields {
        summary: Some("a".into()),
        end: Some(time("20261006T113000 Europe/Berlin")),
        ..fields("20261006T100000 Europe/Berlin")
    };
    let later = NewFields {
        summary: Some("b".into()),
        ..fields("20261027T120000 Europe/Berlin")
    };
    let overrides = vec![
        each("20261020T100000 Europe/Berlin", true, NewFields::default()),
        each("20261027T100000 Europe/Berlin", false, later),
    ];
    let made = new_series(master.clone(), "FREQ=WEEKLY;BYDAY=TU", overrides).expect("a series");
    let parts: Vec<_> = made.split("BEGIN:VEVENT\r\n").collect();
    let stamps =
        "UID:u-1\r\nDTSTAMP:20261130T120000Z\r\nCREATED:20261130T120000Z\r\nLAST-MODIFIED:20261130T120000Z\r\n";
    let zone = "TZID=Europe/Berlin";
    assert!(parts[0].contains("TZID:Europe/Berlin\r\n"));
    assert_eq!(
        parts[1],
        format!(
            "{stamps}DTSTART;{zone}:20261006T100000\r\nDTEND;{zone}:20261006T113000\r\nRRULE:FREQ=WEEKLY;BYDAY=TU\r\n\
             EXDATE;{zone}:20261013T100000\r\nSUMMARY:a\r\nEND:VEVENT\r\n"
        )
    );
    assert_eq!(
        parts[2],
        format!(
            "{stamps}DTSTART;{zone}:20261020T100000\r\nDTEND;{zone}:20261020T113000\r\nRECURRENCE-ID;{zone}:20261020T100000\r\n\
             SUMMARY:a\r\nSTATUS:CANCELLED\r\nEND:VEVENT\r\n"
        )
    );
    assert_eq!(
        parts[3],
        format!(
            "{stamps}DTSTART;{zone}:20261027T120000\r\nDTEND;{zone}:20261027T133000\r\nRECURRENCE-ID;{zone}:20261027T100000\r\n\
             SUMMARY:b\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        )
    );
    let code = |made: Result<String, Box<Error>>| made.expect_err("refused").violations.remove(0).code;
    let none = NewFields::default;
    let one = |identity: &str| vec![each(identity, false, none())];
    let rule = "FREQ=WEEKLY;BYDAY=TU";
    assert_eq!(
        code(new_series(master.clone(), "FREQ=WEEKLY;BYDAY=WE", vec![])),
        "recurrence_start_mismatch"
    );
    assert_eq!(
        code(new_series(master.clone(), rule, one("20261021T100000 Europe/Berlin"))),
        "value_not_allowed"
    );
    assert_eq!(
        code(new_series(master.clone(), rule, one("20261020T080000Z"))),
        "recurrence_family_mismatch"
    );
    let twice = [
        one("20261020T100000 Europe/Berlin"),
        one("20261020T100000 Europe/Berlin"),
    ]
    .concat();
    assert_eq!(
        code(new_series(master.clone(), rule, twice)),
        "recurrence_override_duplicate"
    );
    let odd = NewFields {
        status: Some("CANCELLED".into()),
        ..none()
    };
    let conflict = vec![each("20261020T100000 Europe/Berlin", false, odd)];
    assert_eq!(code(new_series(master, rule, conflict)), "override_status_conflict");
}

/// One occurrence gets a component of its own, later ones share a shift, and what changes nothing is not written.
#[test]
fn single_occurrences_and_later_ones_are_patched() {
    let master = "DTSTART:20261001T100000\nDTEND:20261001T110000\nRRULE:FREQ=DAILY\nSUMMARY:a\n";
    let moved = "RECURRENCE-ID:20261008T100000\nDTSTART:20261008T150000\nDTEND:20261008T160000\nSUMMARY:b\n";
    let before = resource(&[&event(master), &event(moved)]);
    let title = || vec![ScalarPatch::Summary(Some("new".into()))];
    let own = "RECURRENCE-ID:20261003T100000\nDTSTART:20261003T100000\nDTEND:20261003T110000\nSUMMARY:new\n";
    let want = resource(&[&event(master), &event(moved), &stamped(own)]);
    assert_eq!(
        changed(&before, &Target::Occurrence(time("20261003T100000")), title()),
        want
    );
    let same = vec![ScalarPatch::Summary(Some("a".into()))];
    assert_eq!(
        edited(&before, &Target::Occurrence(time("20261003T100000")), same),
        Ok(Edited::Unchanged)
    );
    let start = vec![ScalarPatch::Start(Some(time("20261005T113000")))];
    let future = "RECURRENCE-ID;RANGE=THISANDFUTURE:20261005T100000\nDTSTART:20261005T113000\nDTEND:20261005T123000\nSUMMARY:a\n";
    let shifted = moved.replace("T150000", "T163000").replace("T160000", "T173000");
    let want = resource(&[&event(master), &stamped(&shifted), &stamped(future)]);
    assert_eq!(
        changed(&before, &Target::ThisAndFuture(time("20261005T100000")), start),
        want
    );
    let zoned = vec![
        ScalarPatch::Start(Some(time("20261005T113000Z"))),
        ScalarPatch::End(Some(time("20261005T123000Z"))),
    ];
    assert_eq!(
        refused(&before, &Target::ThisAndFuture(time("20261005T100000")), zoned),
        "temporal_family_mismatch"
    );
    assert_eq!(
        refused(&before, &Target::Occurrence(time("20261003T110000")), title()),
        "NotFound"
    );
}

#[test]
fn a_recurrence_set_is_replaced_for_the_entire_set() {
    let before = resource(&[
        &event("DTSTART:20261001T100000\nRRULE:FREQ=DAILY\n"),
        &event("RECURRENCE-ID:20261003T100000\nDTSTART:20261003T150000\n"),
    ]);
    let weekly = |orphans| {
        vec![ScalarPatch::RecurrenceSet {
            set: Some(NewRecurrence {
                rrule: Some("FREQ=WEEKLY".into()),
                ..NewRecurrence::default()
            }),
            orphans,
        }]
    };
    let orphan = Orphan::Override(OverrideName {
        identity: time("20261003T100000"),
        future: false,
    });
    let want = resource(&[&stamped("DTSTART:20261001T100000\nRRULE:FREQ=WEEKLY\n")]);
    assert_eq!(changed(&before, &Target::EntireSet, weekly(vec![orphan])), want);
    assert_eq!(refused(&before, &Target::EntireSet, weekly(vec![])), "required_member");
    assert_eq!(refused(&before, &Target::Master, weekly(vec![])), "value_not_allowed");
    let single = resource(&[&event("DTSTART:20261001T100000\n")]);
    let both = [weekly(vec![]), vec![ScalarPatch::Start(Some(time("20261002T100000")))]].concat();
    let want = resource(&[&stamped("DTSTART:20261002T100000\nRRULE:FREQ=WEEKLY\n")]);
    assert_eq!(changed(&single, &Target::EntireSet, both), want);
}
