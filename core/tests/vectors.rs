//! The recurrence vectors of `tests/data`: published by RFC 5545, libical, ical.js, dateutil and ical-rs.

mod vector_file;

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use kalends_core::ical::recur::{Occurrences, Rule, RuleFault, Steps, civil_second, date_time};
use serde_json::Value;
use vector_file::{list, text, vectors};

/// `YYYYMMDD` or `YYYYMMDDTHHMMSS` with or without Z, as local seconds.
fn local(text: &str) -> i64 {
    let text = if text.len() == 8 {
        format!("{text}T000000")
    } else {
        text.trim_end_matches('Z').to_owned()
    };
    civil_second(text.parse::<DateTime>().expect("a basic ISO time"))
}

fn written(second: i64, date: bool) -> String {
    date_time(second)
        .strftime(if date { "%Y%m%d" } else { "%Y%m%dT%H%M%S" })
        .to_string()
}

/// Up to `most` occurrences, and the steps they took.
fn expand(rule: &str, start: &str, most: usize) -> (Result<Vec<String>, RuleFault>, u64) {
    let date = start.len() == 8;
    let mut steps = Steps::new(50_000_000);
    let rule = match Rule::parse(rule) {
        Ok(rule) => rule,
        Err(fault) => return (Err(fault), 0),
    };
    let mut occurrences = Occurrences::new(&rule, local(start), date);
    let mut out = Vec::new();
    while out.len() < most
        && let Some(second) = occurrences.next(&mut steps).expect("enough steps")
    {
        out.push(written(second, date));
    }
    (Ok(out), steps.used())
}

/// What of a class differs from `expected`.
fn run(class: &str, expected: impl Fn(&Value) -> Vec<String>) -> (usize, Vec<String>) {
    let (mut count, mut differ) = (0, Vec::new());
    for vector in vectors("rules").iter().filter(|vector| text(vector, "c") == class) {
        count += 1;
        let expected = expected(vector);
        let most = expected.len() + usize::from(vector["ends"] == Value::Bool(true));
        let (found, _) = expand(text(vector, "rule"), text(vector, "dtstart"), most);
        if found.as_ref() != Ok(&expected) {
            let (id, rule, start) = (text(vector, "id"), text(vector, "rule"), text(vector, "dtstart"));
            differ.push(format!(
                "{id} {rule} from {start}\n  expected {expected:?}\n  found {found:?}"
            ));
        }
    }
    (count, differ)
}

#[test]
fn every_core_rule() {
    let (count, differ) = run("core", |vector| list(&vector["expect"]));
    assert!(differ.is_empty(), "{} of {count}:\n{}", differ.len(), differ.join("\n"));
    assert_eq!(count, 652);
}

#[test]
fn every_gregorian_skip_rule() {
    let (count, differ) = run("rfc7529", |vector| list(&vector["expect"]));
    assert!(differ.is_empty(), "{} of {count}:\n{}", differ.len(), differ.join("\n"));
    assert_eq!(count, 13);
}

/// Contested rules: the answer that the documentation of `recur` chooses. BYMONTHDAY without BYMONTH means every
/// month, and INTERVAL counts calendar years, as dateutil has it; BYWEEKNO without BYDAY takes the weekday of DTSTART,
/// as libical 4 has it; a rule yields its own occurrences, and the recurrence set adds DTSTART.
#[test]
fn contested_rules_follow_the_documented_choice() {
    let choice = |vector: &Value| {
        let family = match text(vector, "tag") {
            "yearly-bymonthday-without-bymonth" | "byweekno-year-boundary-interval" | "dtstart-not-on-rule" => {
                "dateutil"
            }
            "byweekno-without-byday" => "libical4",
            _ => return list(&vector["expect"]),
        };
        if list(&vector["agree"]).iter().any(|agrees| agrees == family) {
            return list(&vector["expect"]);
        }
        let date = text(vector, "dtstart").len() == 8;
        let other = text(&vector["alt"], family);
        other
            .split(',')
            .map(|time| time[..if date { 8 } else { 15 }].to_owned())
            .collect()
    };
    let (mut count, mut differ) = (0, Vec::new());
    for vector in vectors("rules")
        .iter()
        .filter(|vector| text(vector, "c") == "contested")
    {
        count += 1;
        let expected = choice(vector);
        let (found, _) = expand(text(vector, "rule"), text(vector, "dtstart"), expected.len());
        if found.as_ref() != Ok(&expected) {
            differ.push(format!(
                "{} {}\n {expected:?}\n {found:?}",
                text(vector, "id"),
                text(vector, "rule")
            ));
        }
    }
    assert!(differ.is_empty(), "{} of {count}:\n{}", differ.len(), differ.join("\n"));
    assert_eq!(count, 29);
}

/// From any instant on, a rule yields what it yields from DTSTART, less what lies before.
#[test]
fn every_rule_resumes_from_an_instant() {
    let (mut count, mut refused) = (0, Vec::new());
    for vector in vectors("rules") {
        let (rule, start) = (text(&vector, "rule"), text(&vector, "dtstart"));
        let rule = match Rule::parse(rule) {
            Ok(rule) => rule,
            Err(fault) if text(&vector, "c") == "resume" => {
                refused.push(fault);
                continue;
            }
            Err(_) => continue,
        };
        if text(&vector, "c") == "resume" {
            count += 1;
        }
        let date = start.len() == 8;
        let all: Vec<i64> = list(&vector["expect"]).iter().map(|time| local(time)).collect();
        let (all, _) = match text(&vector, "c") {
            "resume" => (all, 0),
            _ => (
                expand(text(&vector, "rule"), start, 40)
                    .0
                    .expect("it parses")
                    .iter()
                    .map(|it| local(it))
                    .collect(),
                0,
            ),
        };
        let mut targets: Vec<i64> = all
            .iter()
            .flat_map(|second| [second - 1, *second, second + 1])
            .collect();
        targets.extend((text(&vector, "c") == "resume").then(|| local(text(&vector, "start_at"))));
        for target in targets {
            let mut steps = Steps::new(10_000_000);
            let mut occurrences = Occurrences::new(&rule, local(start), date);
            occurrences.seek(target);
            let expected: Vec<i64> = all.iter().copied().filter(|second| *second >= target).collect();
            for expected in expected {
                let found = occurrences.next(&mut steps).expect("enough steps");
                assert_eq!(
                    found,
                    Some(expected),
                    "{} from {}",
                    text(&vector, "id"),
                    written(target, date)
                );
            }
        }
    }
    assert_eq!((count, refused), (7, vec![RuleFault::Scale("CHINESE".into())]));
}

/// The classes that the tests here know are all that there are.
#[test]
fn no_vector_is_passed_over() {
    let mut counts = BTreeMap::new();
    for vector in vectors("rules") {
        *counts.entry(text(&vector, "c").to_owned()).or_insert(0) += 1;
    }
    let known = [
        ("contested", 29),
        ("core", 652),
        ("error", 1),
        ("extension", 21),
        ("resume", 8),
        ("rfc-forbidden", 46),
        ("rfc7529", 13),
        ("rfc7529-icu", 18),
    ];
    assert_eq!(counts, known.map(|(class, count)| (class.to_owned(), count)).into());
}

/// Whatever is refused says why, and nothing that the RFC forbids is guessed at.
#[test]
fn what_is_not_evaluated_is_refused_with_a_reason() {
    let mut counts = [0; 4];
    for vector in vectors("rules") {
        let fault = Rule::parse(text(&vector, "rule")).err();
        let (class, expected) = match text(&vector, "c") {
            "error" => (0, matches!(fault, Some(RuleFault::Scale(_)))),
            "rfc7529-icu" => (1, matches!(fault, Some(RuleFault::Scale(_)))),
            "extension" => (2, matches!(fault, Some(RuleFault::UnknownPart(_)))),
            "rfc-forbidden" => (3, matches!(fault, Some(RuleFault::Forbidden(_)))),
            _ => continue,
        };
        counts[class] += 1;
        assert!(expected, "{} {}: {fault:?}", text(&vector, "id"), text(&vector, "rule"));
    }
    assert_eq!(counts, [1, 18, 21, 46]);
}

#[test]
fn hostile_rules_cost_few_steps() {
    let mut count = 0;
    for vector in vectors("hostile") {
        count += 1;
        let (rule, start) = (text(&vector, "rule"), text(&vector, "dtstart"));
        if vector["expect"].is_array() {
            let expected = list(&vector["expect"]);
            let most = expected.len().max(1) + usize::from(start.starts_with("9999"));
            let (found, steps) = expand(rule, start, most);
            assert_eq!(found.as_ref(), Ok(&expected), "{rule}");
            assert!(steps < 10_000, "{rule}: {steps} steps");
        } else if rule.ends_with("BYSECOND=60") {
            let (found, _) = expand(rule, start, 1);
            assert_eq!(found, Ok(vec!["20240101T090059".to_owned()]), "clamped to 59");
        } else {
            assert!(matches!(Rule::parse(rule), Err(RuleFault::Value(_))), "{rule}");
        }
    }
    assert_eq!(count, 11);
}

/// What the first occurrence of November 2026 costs where a rule can jump: no step for what lies before. With COUNT this
/// holds where periods have the same number of occurrences.
#[test]
fn a_far_window_costs_no_walk() {
    let table = [
        ("FREQ=SECONDLY", "20000101T000000"),
        ("FREQ=SECONDLY;INTERVAL=7", "20000101T000000"),
        ("FREQ=MINUTELY", "20000101T000000"),
        ("FREQ=MINUTELY;INTERVAL=7;BYHOUR=9;BYDAY=MO", "20000101T000000"),
        ("FREQ=HOURLY", "20000101T000000"),
        ("FREQ=HOURLY;INTERVAL=5", "20000101T000000"),
        ("FREQ=DAILY", "00010101T090000"),
        ("FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR", "00010101T090000"),
        ("FREQ=WEEKLY", "00010101T090000"),
        ("FREQ=MONTHLY", "00010101T090000"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "00010101T090000"),
        ("FREQ=YEARLY", "00010101T090000"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "00040229T000000"),
        ("FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO", "00010101T090000"),
        ("FREQ=SECONDLY;COUNT=4000000000", "19800101T000000"),
        ("FREQ=SECONDLY;INTERVAL=7;COUNT=4000000000", "19800101T000000"),
        ("FREQ=MINUTELY;COUNT=4000000000", "19800101T000000"),
        ("FREQ=MINUTELY;INTERVAL=90;COUNT=4000000000", "19800101T000000"),
        ("FREQ=HOURLY;COUNT=4000000000", "19800101T000000"),
        (
            "FREQ=HOURLY;INTERVAL=5;BYMINUTE=0,30;COUNT=4000000000",
            "19800101T000000",
        ),
        ("FREQ=DAILY;COUNT=4000000", "00010101T090000"),
        ("FREQ=DAILY;INTERVAL=3;BYHOUR=9,12;COUNT=4000000", "00010101T090000"),
        ("FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=4000000", "00010101T090000"),
        ("FREQ=WEEKLY;COUNT=1000000", "00010101T090000"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,FR;COUNT=1000000", "00010101T090000"),
        ("FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2;COUNT=1000000", "00010101T090000"),
        ("FREQ=MONTHLY;COUNT=1000000", "00010128T090000"),
        ("FREQ=MONTHLY;BYMONTHDAY=1,15;COUNT=1000000", "00010101T090000"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=1000000", "00010131T090000"),
        ("FREQ=MONTHLY;BYDAY=2TU;COUNT=1000000", "00010109T090000"),
        ("FREQ=MONTHLY;BYDAY=-1FR,-2MO;COUNT=1000000", "00010101T090000"),
        (
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=1000000",
            "00010131T090000",
        ),
        ("FREQ=YEARLY;COUNT=1000000", "00010131T090000"),
        ("FREQ=YEARLY;BYMONTH=6,11;COUNT=1000000", "00010601T090000"),
        ("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31;COUNT=1000000", "00011231T090000"),
        ("FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=1000000", "00011122T090000"),
        ("FREQ=YEARLY;BYYEARDAY=100,200;COUNT=1000000", "00010410T090000"),
    ];
    for (rule, start) in table {
        let parsed = Rule::parse(rule).expect("valid");
        let (start, target) = (local(start), local("20261101T000000"));
        // The seconds of an hour are made together.
        let mut steps = Steps::new(if rule.starts_with("FREQ=SECONDLY") { 3_700 } else { 100 });
        let mut occurrences = Occurrences::new(&parsed, start, false);
        occurrences.seek(target);
        let found = occurrences
            .next(&mut steps)
            .unwrap_or_else(|fault| panic!("{rule}: {fault}"));
        let found = found.expect("it goes on");
        assert!(found >= target, "{rule}: {}", written(found, false));
    }
}

/// Rules whose steps never meet their filters are known to be empty without a walk.
#[test]
fn what_never_meets_costs_nothing() {
    for rule in [
        "FREQ=SECONDLY;INTERVAL=60;BYSECOND=1",
        "FREQ=MINUTELY;INTERVAL=60;BYMINUTE=7",
        "FREQ=MINUTELY;INTERVAL=120;BYHOUR=1,3,5",
        "FREQ=HOURLY;INTERVAL=24;BYHOUR=5",
        "FREQ=HOURLY;INTERVAL=6;BYHOUR=1,2,3",
        "FREQ=SECONDLY;INTERVAL=86400;BYMINUTE=30",
        "FREQ=SECONDLY;BYSETPOS=2",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=SECONDLY;BYMONTH=4,6;BYMONTHDAY=31",
    ] {
        let parsed = Rule::parse(rule).expect("valid");
        let mut steps = Steps::new(1);
        let found = Occurrences::new(&parsed, local("20240101T000000"), false).next(&mut steps);
        assert_eq!(found, Ok(None), "{rule}");
    }
}

#[test]
fn a_rule_tells_whether_it_makes_its_start() {
    let table = [
        ("FREQ=WEEKLY;BYDAY=WE", "20240101T090000", false),
        ("FREQ=WEEKLY;BYDAY=MO", "20240101T090000", true),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "20240131", true),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "20240101", false),
        ("FREQ=DAILY;BYHOUR=10", "20240101T090000", false),
    ];
    for (rule, start, makes) in table {
        let rule = Rule::parse(rule).expect("valid");
        let found = rule.makes(date_time(local(start)), start.len() == 8, &mut Steps::new(1_000));
        assert_eq!(found, Ok(makes), "{start}");
    }
}
