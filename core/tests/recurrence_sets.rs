//! Recurrence sets and zones: the `sets` and `zones` of the vectors, and what RFC 5545 says beyond them.

mod ics;
mod vector_file;

use ics::{Sets, temporal};
use jiff::civil::DateTime;
use kalends_core::ical::expand::{
    Frame, Instance, MAX_OCCURRENCES, Series, SeriesOverride, Span, Unevaluable, Window, occurrences,
};
use kalends_core::ical::recur::{Rule, RuleFault, Steps, civil_second, date_time};
use kalends_core::ical::value::Temporal;
use kalends_core::ical::zone::{Zone, Zones};
use vector_file::{list, text, vectors};

fn utc(text: &str) -> i64 {
    civil_second(text.trim_end_matches('Z').parse::<DateTime>().expect("a time"))
}

fn written(second: i64) -> String {
    date_time(second).strftime("%Y%m%dT%H%M%SZ").to_string()
}

fn always() -> Window {
    Window {
        from: utc("00010101T000000Z"),
        to: utc("99991231T235959Z"),
    }
}

/// A start as the vectors write it: an instant where there is one.
fn start(instance: &Instance) -> String {
    match &instance.start {
        Temporal::Date(date) => date.strftime("%Y%m%d").to_string(),
        Temporal::Floating(time) => time.strftime("%Y%m%dT%H%M%S").to_string(),
        Temporal::Utc(_) | Temporal::Zoned(..) => written(instance.from),
    }
}

fn starts(sets: &Sets) -> Vec<String> {
    let mut all: Vec<Instance> = Vec::new();
    for uid in sets.series.keys() {
        all.extend(sets.expand(uid, &Zone::utc(), always()).expect("it can be evaluated"));
    }
    all.sort_by_key(|instance| instance.from);
    all.iter().map(start).collect()
}

/// Two contested sets are read otherwise than the file recommends: a DATE as
/// EXDATE excludes the day, and COUNT counts what the rule makes, so that a DTSTART off the rule comes in addition.
#[test]
fn every_recurrence_set() {
    let (mut count, mut differ) = (0, Vec::new());
    for vector in vectors("sets") {
        count += 1;
        let mut expected = list(&vector["starts"]);
        if text(&vector, "name") == "EXDATE DATE value on a timed series" {
            expected.retain(|start| !start.starts_with("20240102"));
        }
        if text(&vector, "name") == "DTSTART not on the rule" {
            expected.push("20240117T080000Z".to_owned());
        }
        let found = starts(&Sets::read(text(&vector, "ics").as_bytes()));
        if found != expected {
            let (id, name) = (text(&vector, "id"), text(&vector, "name"));
            differ.push(format!("{id} {name}\n {expected:?}\n {found:?}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert_eq!(count, 39);
}

fn zoned(tzid: &str, start: &str, rule: &str) -> Series {
    Series {
        start: Some(temporal(start, (!tzid.is_empty()).then_some(tzid))),
        span: Span::None,
        rules: vec![Rule::parse(rule).expect("a rule")],
        exrules: Vec::new(),
        rdates: Vec::new(),
        exdates: Vec::new(),
        overrides: Vec::new(),
    }
}

fn expand(series: &Series, window: Window, steps: &mut Steps) -> Result<Vec<Instance>, Unevaluable> {
    let zones = Zones::default();
    let frame = Frame {
        zones: &zones,
        evaluation: &Zone::utc(),
    };
    occurrences(series, &frame, window, steps)
}

#[test]
fn every_zoned_series() {
    let mut count = 0;
    for vector in vectors("zones") {
        count += 1;
        let series = zoned(text(&vector, "tzid"), text(&vector, "dtstart"), text(&vector, "rule"));
        let found = expand(&series, always(), &mut Steps::new(10_000)).expect("it can be evaluated");
        let instants: Vec<_> = found.iter().map(|instance| written(instance.from)).collect();
        let local: Vec<_> = found
            .iter()
            .map(|instance| instance.start.civil().strftime("%Y%m%dT%H%M%S").to_string())
            .collect();
        assert_eq!(instants, list(&vector["utc"]), "{}", text(&vector, "id"));
        assert_eq!(local, list(&vector["expect"]), "{}", text(&vector, "id"));
    }
    assert_eq!(count, 27);
}

/// A document with one component for each list of lines, all with one UID.
fn document(components: &[&[&str]]) -> Sets {
    let mut lines = vec!["BEGIN:VCALENDAR"];
    for component in components {
        lines.extend(["BEGIN:VEVENT", "UID:1"]);
        lines.extend(*component);
        lines.push("END:VEVENT");
    }
    lines.push("END:VCALENDAR");
    Sets::read(lines.join("\r\n").as_bytes())
}

fn within(sets: &Sets, from: &str, to: &str) -> Result<Vec<Instance>, Unevaluable> {
    let window = Window {
        from: utc(from),
        to: utc(to),
    };
    sets.expand("1", &Zone::utc(), window)
}

/// Starts and ends.
fn spans(found: &Result<Vec<Instance>, Unevaluable>) -> Vec<(String, String)> {
    let found = found.as_ref().expect("it can be evaluated");
    found.iter().map(|it| (written(it.from), written(it.to))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected
        .iter()
        .map(|(from, to)| (format!("{from}Z"), format!("{to}Z")))
        .collect()
}

#[test]
fn an_override_belongs_where_it_takes_place() {
    let sets = document(&[
        &[
            "DTSTART;TZID=Europe/Berlin:20260901T150000",
            "DURATION:PT1H",
            "RRULE:FREQ=WEEKLY;BYDAY=TU",
        ],
        &[
            "RECURRENCE-ID;TZID=Europe/Berlin:20260915T150000",
            "DTSTART;TZID=Europe/Berlin:20261001T150000",
            "DURATION:PT2H",
        ],
        &[
            "RECURRENCE-ID:20270105T140000Z",
            "DTSTART;TZID=Europe/Berlin:20260930T150000",
            "STATUS:CANCELLED",
        ],
    ]);
    assert_eq!(within(&sets, "20260914T000000", "20260921T000000"), Ok(Vec::new()));
    assert_eq!(within(&sets, "20270104T000000", "20270110T000000"), Ok(Vec::new()));
    let found = within(&sets, "20260928T000000", "20261005T000000");
    let expected = [
        ("20260929T130000", "20260929T140000"),
        ("20260930T130000", "20260930T130000"),
        ("20261001T130000", "20261001T150000"),
    ];
    assert_eq!(spans(&found), pairs(&expected));
    let found = found.expect("it can be evaluated");
    assert_eq!(
        found.iter().map(|it| it.cancelled).collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(found[1].identity, temporal("20270105T140000Z", None), "as it is stored");
    assert_eq!(
        found[1].source_start,
        temporal("20270105T150000", Some("Europe/Berlin"))
    );
    assert_eq!(found[2].identity, temporal("20260915T150000", Some("Europe/Berlin")));
}

#[test]
fn this_and_future_shifts_by_the_clock_and_keeps_its_length() {
    let sets = document(&[
        &[
            "DTSTART;TZID=Europe/Berlin:20260324T090000",
            "DTEND;TZID=Europe/Berlin:20260324T100000",
            "RRULE:FREQ=DAILY;COUNT=30",
        ],
        &[
            "RECURRENCE-ID;RANGE=THISANDFUTURE:20260327T080000Z",
            "DTSTART;TZID=Europe/Berlin:20260328T233000",
            "DTEND;TZID=Europe/Berlin:20260329T013000",
        ],
        &[
            "RECURRENCE-ID;TZID=Europe/Berlin:20260330T090000",
            "DTSTART;TZID=Europe/Berlin:20260330T060000",
        ],
    ]);
    // The occurrence of the 28th moves to the 29th 23:30, when summer time has begun.
    let expected = [
        ("20260328T223000", "20260329T003000"),
        ("20260329T213000", "20260329T233000"),
        ("20260330T040000", "20260330T040000"),
        ("20260330T213000", "20260330T233000"),
    ];
    assert_eq!(
        spans(&within(&sets, "20260328T000000", "20260331T000000")),
        pairs(&expected)
    );
    // Far from its identity, and before the shift.
    assert_eq!(spans(&within(&sets, "20260423T000000", "20260424T000000")).len(), 1);
    assert_eq!(
        spans(&within(&sets, "20260326T000000", "20260327T000000")),
        pairs(&[("20260326T080000", "20260326T090000")])
    );
    assert_eq!(spans(&within(&sets, "20260327T000000", "20260328T000000")), []);
}

#[test]
fn overrides_may_exist_without_a_master() {
    let sets = document(&[&[
        "RECURRENCE-ID:20260915T150000Z",
        "DTSTART:20260916T150000Z",
        "DURATION:PT1H",
    ]]);
    let found = within(&sets, "20260916T000000", "20260917T000000");
    assert_eq!(spans(&found), pairs(&[("20260916T150000", "20260916T160000")]));
    assert_eq!(within(&sets, "20260915T000000", "20260916T000000"), Ok(Vec::new()));
    let nothing = document(&[&["SUMMARY:undated"]]);
    assert_eq!(within(&nothing, "20260101T000000", "20270101T000000"), Ok(Vec::new()));
}

#[test]
fn identities_match_by_day_and_by_the_clock_of_the_series() {
    let sets = document(&[
        &[
            "DTSTART;TZID=Asia/Tokyo:20260601T080000",
            "RRULE:FREQ=DAILY;COUNT=4",
            "EXDATE:20260602T080000",
        ],
        &[
            "RECURRENCE-ID;VALUE=DATE:20260603",
            "DTSTART;TZID=Asia/Tokyo:20260603T100000",
        ],
    ]);
    let expected = [
        ("20260531T230000", "20260531T230000"),
        ("20260603T010000", "20260603T010000"),
        ("20260603T230000", "20260603T230000"),
    ];
    assert_eq!(
        spans(&within(&sets, "20260501T000000", "20260701T000000")),
        pairs(&expected)
    );
}

#[test]
fn a_gap_is_dropped_from_the_rule_but_not_from_what_is_written() {
    // 02:30 does not exist in New York on 8 March 2026.
    let start = |date: &str, rest: &str| format!("{date};TZID=America/New_York:{rest}");
    let sets = |first: &str, extra: &str| {
        document(&[&[
            &start("DTSTART", first),
            "RRULE:FREQ=DAILY;COUNT=3",
            &start("RDATE", extra),
        ]])
    };
    let before = sets("20260307T023000", "20260308T024500");
    let times = |days: &[&str]| {
        days.iter()
            .map(|it| (format!("{it}Z"), format!("{it}Z")))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        spans(&within(&before, "20260301T000000", "20260401T000000")),
        times(&[
            "20260307T073000",
            "20260308T074500",
            "20260309T063000",
            "20260310T063000"
        ]),
    );
    let inside = sets("20260308T023000", "20260308T023000");
    assert_eq!(
        spans(&within(&inside, "20260301T000000", "20260401T000000")),
        times(&["20260308T073000", "20260309T063000", "20260310T063000"]),
    );
    let far = within(&before, "20260310T000000", "20260311T000000");
    assert_eq!(
        spans(&far),
        times(&["20260310T063000"]),
        "the gap is not counted for a window behind it either"
    );
}

#[test]
fn durations_are_nominal_and_ends_exact() {
    // Berlin goes to summer time on 29 March 2026: that day has 23 hours.
    let zone = "DTSTART;TZID=Europe/Berlin:20260327T120000";
    let lengths = [
        ("DURATION:P1D", "20260328T110000", "20260329T100000"),
        ("DURATION:PT24H", "20260328T110000", "20260329T110000"),
        (
            "DTEND;TZID=Europe/Berlin:20260328T120000",
            "20260328T110000",
            "20260329T110000",
        ),
        (
            "DTEND;TZID=America/New_York:20260327T080000",
            "20260328T110000",
            "20260328T120000",
        ),
        ("DURATION:-P1D", "20260328T110000", "20260328T110000"),
        (
            "DTEND;TZID=Europe/Berlin:20260320T120000",
            "20260328T110000",
            "20260328T110000",
        ),
    ];
    for (length, from, to) in lengths {
        let sets = document(&[&[zone, length, "RRULE:FREQ=DAILY"]]);
        let found = within(&sets, "20260328T110000", "20260328T120000");
        let found = spans(&found)
            .into_iter()
            .filter(|(start, _)| start.starts_with("20260328"))
            .collect::<Vec<_>>();
        assert_eq!(found, pairs(&[(from, to)]), "{length}");
    }
}

#[test]
fn a_period_gives_its_own_length_to_an_occurrence_that_the_rule_makes_too() {
    let sets = document(&[&[
        "DTSTART:20260615T133000Z",
        "DURATION:PT40M",
        "RRULE:FREQ=DAILY;COUNT=2",
        "RRULE:FREQ=WEEKLY;COUNT=2",
        "RDATE;VALUE=PERIOD:20260616T133000Z/PT2H,20260616T133000Z/20260616T143000Z",
        "EXDATE:20260622T133000Z",
    ]]);
    let expected = [
        ("20260615T133000", "20260615T141000"),
        ("20260616T133000", "20260616T153000"),
    ];
    assert_eq!(
        spans(&within(&sets, "20260601T000000", "20260701T000000")),
        pairs(&expected)
    );
}

/// RFC 2445, 4.8.5.2: an EXRULE takes away what it makes, also of RDATEs and overrides, and also far from DTSTART.
#[test]
fn an_exclusion_rule_takes_away_what_it_makes() {
    let sets = document(&[
        &[
            "DTSTART:20000103T090000Z",
            "RRULE:FREQ=DAILY",
            "RDATE:20260606T090000Z,20260607T100000Z",
            "EXRULE:FREQ=WEEKLY;BYDAY=MO,SA",
        ],
        &["RECURRENCE-ID:20260601T090000Z", "DTSTART:20260604T120000Z"],
        &["RECURRENCE-ID:20260602T090000Z", "DTSTART:20260604T150000Z"],
    ]);
    let starts = [
        "20260603T090000",
        "20260604T090000",
        "20260604T150000",
        "20260605T090000",
        "20260607T090000",
        "20260607T100000",
    ];
    let expected: Vec<_> = starts.iter().map(|start| (*start, *start)).collect();
    assert_eq!(
        spans(&within(&sets, "20260601T000000", "20260609T000000")),
        pairs(&expected)
    );
}

/// Clocks go from 02:00 to 03:00. 02:58 is read as 01:58 UTC, and 03:00, which the rule makes later, is 01:00 UTC: what
/// does not exist between them says nothing about where the rule ends, or the window.
#[test]
fn a_start_in_a_gap_is_later_than_what_follows_it() {
    let sets = document(&[&[
        "DTSTART;TZID=Europe/Berlin:20260329T025800",
        "RRULE:FREQ=MINUTELY;UNTIL=20260329T015800Z",
    ]]);
    let minute = |minute: u32| format!("20260329T01{minute:02}00");
    let all: Vec<_> = (0..59).map(minute).collect();
    let expected: Vec<_> = all.iter().map(|start| (&**start, &**start)).collect();
    assert_eq!(
        spans(&within(&sets, "20260329T000000", "20260330T000000")),
        pairs(&expected)
    );
    assert_eq!(
        spans(&within(&sets, "20260329T000000", "20260329T012000")),
        pairs(&expected[..20])
    );
    assert_eq!(
        spans(&within(&sets, "20260329T012000", "20260330T000000")),
        pairs(&expected[20..])
    );
}

/// 10:00 in Berlin is 04:00 in New York and 17:00 in Tokyo, in summer.
#[test]
fn dates_in_another_zone_name_their_moments() {
    let sets = document(&[
        &[
            "DTSTART;TZID=Europe/Berlin:20260601T100000",
            "RRULE:FREQ=DAILY;COUNT=4",
            "EXDATE;TZID=America/New_York:20260602T040000,20260603T100000",
            "RDATE;TZID=Asia/Tokyo:20260610T170000",
        ],
        &[
            "RECURRENCE-ID;TZID=Asia/Tokyo:20260604T170000",
            "DTSTART;TZID=America/New_York:20260604T060000",
        ],
    ]);
    let starts = [
        "20260601T080000",
        "20260603T080000",
        "20260604T100000",
        "20260610T080000",
    ];
    let expected: Vec<_> = starts.iter().map(|start| (*start, *start)).collect();
    assert_eq!(
        spans(&within(&sets, "20260501T000000", "20260701T000000")),
        pairs(&expected)
    );
}

#[test]
fn a_floating_period_is_in_the_zone_of_the_series() {
    let sets = document(&[&[
        "DTSTART;TZID=Asia/Tokyo:20260601T080000",
        "RDATE;VALUE=PERIOD:20260603T080000/20260603T100000,20260604T080000/PT1H",
    ]]);
    let expected = [
        ("20260531T230000", "20260531T230000"),
        ("20260602T230000", "20260603T010000"),
        ("20260603T230000", "20260604T000000"),
    ];
    assert_eq!(
        spans(&within(&sets, "20260501T000000", "20260701T000000")),
        pairs(&expected)
    );
}

#[test]
fn what_cannot_be_told_is_a_typed_fault() {
    let unknown = document(&[&["DTSTART;TZID=Nowhere/Land:20260101T090000", "RRULE:FREQ=DAILY"]]);
    let fault = within(&unknown, "20260101T000000", "20260201T000000");
    assert_eq!(fault, Err(Unevaluable::Zone("Nowhere/Land".into())));

    let excluded = document(&[&[
        "DTSTART:20260101T090000Z",
        "RRULE:FREQ=DAILY",
        "EXDATE;TZID=Nowhere:20260102T090000",
    ]]);
    assert_eq!(
        within(&excluded, "20260101T000000", "20260201T000000"),
        Err(Unevaluable::Zone("Nowhere".into()))
    );

    let mixed = document(&[&["DTSTART:20260101T090000Z", "RDATE;VALUE=DATE:20260105"]]);
    assert_eq!(
        within(&mixed, "20260101T000000", "20260201T000000"),
        Err(Unevaluable::DateType)
    );

    let hourly = document(&[&["DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=HOURLY"]]);
    let fault = Unevaluable::Rule(RuleFault::Forbidden("FREQ"));
    assert_eq!(within(&hourly, "20260101T000000", "20260201T000000"), Err(fault));

    let flood = zoned("", "20260101T090000Z", "FREQ=SECONDLY");
    let hours = |hours: i64| Window {
        from: utc("20300101T000000Z"),
        to: utc("20300101T000000Z") + hours * 3_600,
    };
    let found = expand(&flood, hours(2), &mut Steps::new(100_000)).expect("fewer than the limit");
    assert_eq!(found.len(), 7_200);
    assert_eq!(
        expand(&flood, hours(3), &mut Steps::new(100_000)),
        Err(Unevaluable::Occurrences)
    );
    let fault = expand(&flood, hours(2), &mut Steps::new(5_000)).expect_err("too few steps");
    assert!(matches!(fault, Unevaluable::Steps(steps) if steps.limit == 5_000));
    assert_eq!(found.len().min(MAX_OCCURRENCES), 7_200);
}

#[test]
fn the_calendar_ends_with_year_9999() {
    for rule in [
        "FREQ=DAILY",
        "FREQ=YEARLY",
        "FREQ=HOURLY;INTERVAL=6",
        "FREQ=MONTHLY;BYDAY=-1FR",
        "FREQ=WEEKLY",
    ] {
        let series = Series {
            span: Span::Length(kalends_core::ical::duration::Duration::parse("P4000000000W").expect("a duration")),
            ..zoned("Asia/Tokyo", "99991230T090000", rule)
        };
        let window = Window {
            from: i64::MIN,
            to: i64::MAX,
        };
        let found = expand(&series, window, &mut Steps::new(1_000)).expect("few steps");
        assert!(found.iter().all(|instance| instance.to >= instance.from), "{rule}");
        assert!(!found.is_empty() && found.len() < 10, "{rule}: {}", found.len());
    }
}

#[test]
fn a_month_out_of_26_years_costs_few_steps() {
    for rule in [
        "FREQ=DAILY",
        "FREQ=WEEKLY;BYDAY=MO,WE,FR",
        "FREQ=MONTHLY;BYDAY=2TU",
        "FREQ=YEARLY;BYMONTH=11",
    ] {
        let series = zoned("Europe/Berlin", "20000103T090000", rule);
        let window = Window {
            from: utc("20261101T000000Z"),
            to: utc("20261201T000000Z"),
        };
        let mut steps = Steps::new(100);
        let found = expand(&series, window, &mut steps).expect("few steps");
        assert!(!found.is_empty(), "{rule}");
        assert!(steps.used() < 80, "{rule}: {}", steps.used());
    }
}

/// Overrides and exclusions cost one step each, and an occurrence of a daily rule two.
#[test]
fn ten_thousand_overrides_are_looked_up_not_searched() {
    let day = |at: i64| temporal(&written(utc("20000101T090000") + at * 86_400), None);
    let series = Series {
        exdates: (0..5_000).map(day).collect(),
        overrides: (5_000..10_000)
            .map(|at| SeriesOverride {
                component: at as usize,
                identity: day(at),
                future: at % 2 == 0,
                start: Some(day(at)),
                span: None,
                cancelled: false,
            })
            .collect(),
        ..zoned("", "20000101T090000Z", "FREQ=DAILY")
    };
    let mut steps = Steps::new(31_000);
    let window = Window {
        from: utc("20000101T000000"),
        to: utc("20280101T000000"),
    };
    let found = expand(&series, window, &mut steps).expect("few steps each");
    assert_eq!(found.len(), 10_227 - 5_000);
}

#[test]
fn a_far_window_counts_the_gaps_before_it() {
    let table = [
        ("America/New_York", "20000101T023000", "FREQ=DAILY;COUNT=9000"),
        (
            "America/New_York",
            "20070311T021500",
            "FREQ=MINUTELY;INTERVAL=15;COUNT=9000",
        ),
        ("America/New_York", "20000402T020000", "FREQ=HOURLY;COUNT=9000"),
        (
            "Australia/Lord_Howe",
            "20010101T021500",
            "FREQ=WEEKLY;BYDAY=SU,MO;COUNT=2000",
        ),
        ("Pacific/Apia", "20000101T090000", "FREQ=DAILY;COUNT=9000"),
        ("Europe/Berlin", "20000101T023000", "FREQ=MONTHLY;BYDAY=-1SU;COUNT=300"),
    ];
    for (tzid, start, rule) in table {
        let series = zoned(tzid, start, rule);
        let all = expand(&series, always(), &mut Steps::new(30_000)).expect("fewer than the limit");
        let dense = all.len() - 3;
        let window = Window {
            from: all[dense].from,
            to: all[all.len() - 1].from + 100 * 86_400,
        };
        let mut steps = Steps::new(1_000);
        let found = expand(&series, window, &mut steps);
        assert_eq!(found.as_deref(), Ok(&all[dense..]), "{rule} in {tzid}");
    }
}

/// The hostile rules of the vectors, in a month far from their start.
#[test]
fn hostile_rules_end_in_an_answer_or_a_typed_limit() {
    let mut limits = 0;
    for vector in vectors("hostile") {
        if !vector["expect"].is_array() {
            continue;
        }
        for (tzid, count) in [("Europe/Berlin", ""), ("", ";COUNT=4000000000")] {
            let series = zoned(
                tzid,
                text(&vector, "dtstart"),
                &format!("{}{count}", text(&vector, "rule")),
            );
            let window = Window {
                from: utc("20261101T000000Z"),
                to: utc("20261201T000000Z"),
            };
            let mut steps = Steps::new(300_000);
            match expand(&series, window, &mut steps) {
                Ok(found) => assert!(found.len() < 10 && steps.used() < 10_000, "{}", text(&vector, "rule")),
                Err(Unevaluable::Occurrences | Unevaluable::Steps(_)) => limits += 1,
                Err(fault) => panic!("{}: {fault}", text(&vector, "rule")),
            }
        }
    }
    assert_eq!(limits, 2, "only the rule with a time for every second is too much");
}
