//! Recurrence: rules on local times, and whole recurrence sets in a zone.

use bytes::Bytes;
use calcard::common::timezone::Tz;
use calcard::icalendar::ICalendar;
use calcard::icalendar::dates::CalendarExpand;
use ical::recur::expand::IcalRecurExpand;
use ical::recur::set::IcalRecurSet;
use ical::recur::{IcalRecurDateTime, IcalRecurRule};
use ical::tree::cst::IcalCst;
use ical::tz::{IcalTz, IcalTzTransitions};
use kalends_core::ical::entity::Entity;
use kalends_core::ical::expand::Window;
use kalends_core::ical::recur::{Occurrences, Rule, Steps, civil_second};
use kalends_core::ical::value::Temporal;
use kalends_core::ical::zone::Zone;

use crate::input;
use crate::measure::{Measure, Other};

pub(crate) fn measures() -> Vec<Measure<'static>> {
    vec![
        walk("FREQ=WEEKLY;BYDAY=MO,WE,FR", "20240101T090000", 1_000, 10.0, Some(4.0)),
        walk("FREQ=DAILY", "20240101T090000", 10_000, 10.0, Some(4.0)),
        walk("FREQ=MONTHLY;BYDAY=-1FR", "20240126T090000", 1_000, 20.0, None),
        walk("FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", "20241128T090000", 200, 20.0, None),
        month(),
        set("FREQ=WEEKLY;BYDAY=MO,WE,FR", "20240101T090000", 1_000),
        set("FREQ=MONTHLY;BYDAY=-1FR", "20240126T090000", 200),
    ]
}

/// The first occurrences of a rule. What is found is the sum of their local seconds.
fn walk(rule: &str, start: &str, count: usize, calcard: f64, ical_rs: Option<f64>) -> Measure<'static> {
    let own = Rule::parse(rule).expect("a rule");
    let anchor = second(start);
    Measure {
        name: format!("one of {count}: {rule}"),
        operations: count,
        ours: Box::new(move || {
            let mut steps = Steps::new(u64::MAX);
            let mut made = Occurrences::new(&own, anchor, false);
            let mut sum = 0;
            for _ in 0..count {
                sum += made.next(&mut steps).expect("a budget").expect("no end");
            }
            sum as u64
        }),
        others: vec![
            calcard_walk(rule, start, count, calcard),
            Other {
                name: "ical-rs",
                goal: ical_rs,
                run: {
                    let (rule, start) = ical_rs_rule(rule, start);
                    Box::new(move || {
                        let made = IcalRecurExpand::new(rule.clone(), start).take(count);
                        made.map(|time| time.seconds()).sum::<i64>() as u64
                    })
                },
            },
        ],
    }
}

/// calcard expands components only; a floating one leaves zones aside.
fn calcard_walk(rule: &str, start: &str, count: usize, goal: f64) -> Other<'static> {
    let calendar = calcard_series(rule, start);
    Other {
        name: "calcard",
        goal: Some(goal),
        run: Box::new(move || {
            let events = calendar.expand_dates(Tz::Floating, count).events;
            let seconds = events
                .iter()
                .map(|event| event.start.naive_local().and_utc().timestamp());
            seconds.sum::<i64>() as u64
        }),
    }
}

/// November 2026 of a daily series that began in 2000.
fn month() -> Measure<'static> {
    let (rule, start) = ("FREQ=DAILY", "20000101T090000");
    let own = Rule::parse(rule).expect("a rule");
    let anchor = second(start);
    let (from, to) = (second("20261101T000000"), second("20261201T000000"));
    // So many occurrences lie before the end of the window: a walk has to make them all.
    let walked = ((to - anchor) / 86_400 + 1) as usize;
    Measure {
        name: "one month of a daily series, 26 years after its start".to_owned(),
        operations: 1,
        ours: Box::new(move || {
            let mut steps = Steps::new(u64::MAX);
            let mut made = Occurrences::new(&own, anchor, false);
            made.seek(from);
            let mut sum = 0;
            while let Some(second) = made.next(&mut steps).expect("a budget").filter(|second| *second < to) {
                sum += second;
            }
            sum as u64
        }),
        others: vec![
            Other {
                name: "calcard",
                goal: Some(1_000.0),
                run: {
                    let calendar = calcard_series(rule, start);
                    Box::new(move || {
                        let events = calendar.expand_dates(Tz::Floating, walked).events;
                        let seconds = events
                            .iter()
                            .map(|event| event.start.naive_local().and_utc().timestamp());
                        seconds.filter(|second| (from..to).contains(second)).sum::<i64>() as u64
                    })
                },
            },
            Other {
                name: "ical-rs",
                goal: Some(1_000.0),
                run: {
                    let (rule, start) = ical_rs_rule(rule, start);
                    Box::new(move || {
                        let made = IcalRecurExpand::new(rule.clone(), start).map(|time| time.seconds());
                        let within = made
                            .skip_while(|second| *second < from)
                            .take_while(|second| *second < to);
                        within.sum::<i64>() as u64
                    })
                },
            },
        ],
    }
}

/// All occurrences of an event with a VTIMEZONE before an instant, laid on the time line. What is found is the sum of their
/// instants.
fn set(rule: &str, start: &str, count: usize) -> Measure<'static> {
    let text = input::series(start, rule);
    let entity = Entity::read(Bytes::from(text.clone()));
    let calcard = ICalendar::parse(&text).expect("a calendar");
    let tree = IcalCst::parse(&text).expect("a calendar");
    let calendar = tree.decode();
    let set = IcalRecurSet::of_uid(&calendar.components, "series@example.com");
    let zone = IcalTz::of_calendar(&calendar, "Europe/Berlin").expect("a zone");
    let seconds = |events: CalendarExpand| {
        events
            .events
            .iter()
            .map(|event| event.start.timestamp())
            .collect::<Vec<_>>()
    };
    let last = seconds(calcard.expand_dates(Tz::UTC, count))
        .into_iter()
        .max()
        .expect("some");
    Measure {
        name: format!("one of {count} of the set: {rule}"),
        operations: count,
        ours: Box::new(move || {
            let window = Window { from: 0, to: last + 1 };
            let instances = entity.occurrences(&Zone::utc(), window, &mut Steps::new(u64::MAX));
            instances
                .expect("evaluable")
                .iter()
                .map(|instance| instance.from)
                .sum::<i64>() as u64
        }),
        others: vec![
            Other {
                name: "calcard",
                goal: None,
                run: Box::new(move || seconds(calcard.expand_dates(Tz::UTC, count)).iter().sum::<i64>() as u64),
            },
            Other {
                name: "ical-rs",
                goal: None,
                run: Box::new(move || {
                    let mut transitions = IcalTzTransitions::of_zone(zone.clone());
                    let made = set.expand_in_zone(&zone).map(|made| {
                        let local = made.start;
                        transitions.resolve(local).literal_instant(local)
                    });
                    made.take_while(|second| *second <= last).sum::<i64>() as u64
                }),
            },
        ],
    }
}

fn second(time: &str) -> i64 {
    civil_second(Temporal::parse(time.as_bytes(), None).expect("a time").civil())
}

fn calcard_series(rule: &str, start: &str) -> ICalendar {
    let text = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:{start}\r\nRRULE:{rule}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    );
    ICalendar::parse(text).expect("a calendar")
}

fn ical_rs_rule(rule: &str, start: &str) -> (IcalRecurRule, IcalRecurDateTime) {
    let rule = IcalRecurRule::parse(rule).expect("a rule");
    (rule, IcalRecurDateTime::parse(start).expect("a time"))
}
