//! What holds for every rule: no panic, ascending order, and the same occurrences from wherever one starts.

use kalends_core::ical::duration::Duration;
use kalends_core::ical::expand::{Frame, Series, Span, Unevaluable, Window, occurrences};
use kalends_core::ical::recur::{Occurrences, Rule, Steps, StepsExhausted, civil_second, date_time};
use kalends_core::ical::value::Temporal;
use kalends_core::ical::zone::{Zone, Zones};
use proptest::collection::btree_set;
use proptest::option;
use proptest::prelude::*;

/// 1 January 1995 to 2035 in local seconds.
const STARTS: std::ops::Range<i64> = 788_918_400..2_051_222_400;

fn list(name: &'static str, values: impl Strategy<Value = i64>, most: usize) -> impl Strategy<Value = String> {
    btree_set(values, 1..=most).prop_map(move |values| {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        format!(";{name}={}", values.join(","))
    })
}

fn signed(most: i64) -> impl Strategy<Value = i64> {
    prop_oneof![1..=most, -most..=-1, Just(1), Just(-1)]
}

fn weekdays(numbered: bool) -> impl Strategy<Value = String> {
    let day = prop_oneof![
        Just("MO"),
        Just("TU"),
        Just("WE"),
        Just("TH"),
        Just("FR"),
        Just("SA"),
        Just("SU")
    ];
    let number = if numbered {
        prop_oneof![Just(String::new()), signed(5).prop_map(|it| it.to_string())].boxed()
    } else {
        Just(String::new()).boxed()
    };
    let days = btree_set((number, day).prop_map(|(number, day)| format!("{number}{day}")), 1..4);
    days.prop_map(|days| format!(";BYDAY={}", days.into_iter().collect::<Vec<_>>().join(",")))
}

/// A rule that is valid, without COUNT and UNTIL. Most parts are rare, so that not all rules are empty.
fn rules() -> impl Strategy<Value = String> {
    let frequencies = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"];
    (0..frequencies.len()).prop_flat_map(move |at| {
        let rare =
            |strategy: BoxedStrategy<String>| option::weighted(0.25, strategy).prop_map(Option::unwrap_or_default);
        let never = || Just(String::new()).boxed();
        let part =
            |allowed: bool, strategy: BoxedStrategy<String>| if allowed { rare(strategy).boxed() } else { never() };
        let yearly = at == 0;
        let days = (
            part(true, list("BYMONTH", 1_i64..=12, 4).boxed()),
            part(at != 2, list("BYMONTHDAY", signed(31), 4).boxed()),
            part(yearly || at > 3, list("BYYEARDAY", signed(366), 4).boxed()),
            part(true, weekdays(at < 2).boxed()),
        );
        let times = (
            part(true, list("BYHOUR", 0_i64..=23, 3).boxed()),
            part(true, list("BYMINUTE", 0_i64..=59, 3).boxed()),
            part(true, list("BYSECOND", 0_i64..=60, 3).boxed()),
            part(true, list("BYSETPOS", signed(8), 2).boxed()),
        );
        let interval = prop_oneof![4 => 1..5_i64, 2 => 1..100_i64, 1 => 1..100_000_i64];
        let skip = prop_oneof![
            4 => Just(""),
            1 => Just(";RSCALE=GREGORIAN;SKIP=FORWARD"),
            1 => Just(";RSCALE=GREGORIAN;SKIP=BACKWARD")
        ];
        let start = prop_oneof![2 => Just(""), 1 => Just(";WKST=SU"), 1 => Just(";WKST=TH")];
        (days, times, interval, skip, start).prop_map(move |(days, times, interval, skip, start)| {
            format!(
                "FREQ={};INTERVAL={interval}{}{}{}{}{}{}{}{}{skip}{start}",
                frequencies[at], days.0, days.1, days.2, days.3, times.0, times.1, times.2, times.3
            )
        })
    })
}

/// Up to `most` occurrences, from a local second on.
fn take(rule: &Rule, start: i64, from: i64, most: usize) -> Result<Vec<i64>, StepsExhausted> {
    let mut steps = Steps::new(200_000);
    let mut made = Occurrences::new(rule, start, false);
    made.seek(from);
    let mut out = Vec::new();
    while out.len() < most
        && let Some(second) = made.next(&mut steps)?
    {
        out.push(second);
    }
    Ok(out)
}

proptest! {
    #[test]
    fn seeking_equals_filtering(text in rules(), start in STARTS, at in 0..60_usize, past in -5_000_i64..5_000) {
        let rule = Rule::parse(&text).expect("valid");
        let Ok(all) = take(&rule, start, start, 80) else { return Ok(()) };
        prop_assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{} from {}", text, date_time(start));
        prop_assert!(all.iter().all(|second| *second >= start));
        let Some(near) = all.get(at.min(all.len().saturating_sub(1))) else { return Ok(()) };
        let target = near + past;
        let expected: Vec<i64> = all.iter().copied().filter(|second| *second >= target).collect();
        let found = take(&rule, start, target, expected.len());
        prop_assert_eq!(found.as_ref(), Ok(&expected), "{} from {} to {}", text, date_time(start), date_time(target));
    }

    #[test]
    fn seeking_twice_equals_seeking_once(text in rules(), start in STARTS, at in 0..40_usize) {
        let rule = Rule::parse(&text).expect("valid");
        let Ok(all) = take(&rule, start, start, 80) else { return Ok(()) };
        let Some(target) = all.get(at + 10) else { return Ok(()) };
        let mut steps = Steps::new(200_000);
        let mut made = Occurrences::new(&rule, start, false);
        for _ in 0..at.min(5) {
            made.next(&mut steps).expect("enough steps");
        }
        made.seek(all[at + 5]);
        made.seek(*target);
        made.seek(start);
        prop_assert_eq!(made.next(&mut steps), Ok(Some(*target)), "{} from {}", text, date_time(start));
    }

    #[test]
    fn counting_in_bulk_equals_counting_one_by_one(text in rules(), start in STARTS, count in 1..60_u32, at in 0..60_usize) {
        let endless = Rule::parse(&text).expect("valid");
        let rule = Rule::parse(&format!("{text};COUNT={count}")).expect("valid");
        let Ok(all) = take(&endless, start, start, count as usize) else { return Ok(()) };
        prop_assert_eq!(take(&rule, start, start, 100), Ok(all.clone()));
        let Some(target) = all.get(at) else { return Ok(()) };
        let found = take(&rule, start, *target, 100);
        prop_assert_eq!(found.as_deref(), Ok(&all[at..]), "{} from {} to {}", text, date_time(start), date_time(*target));
    }

    /// A window shows what lies in it of the whole set, under a zone with gaps and folds.
    #[test]
    fn a_window_is_a_part_of_the_whole(
        text in rules(), start in STARTS, count in option::of(1..80_u32), at in 0..80_usize, length in 0..200_000_u32, nominal in any::<bool>(),
    ) {
        let text = count.map_or(text.clone(), |count| format!("{text};COUNT={count}"));
        let length = if nominal { format!("P{}D", length / 10_000) } else { format!("PT{length}S") };
        let series = Series {
            start: Some(Temporal::Zoned(date_time(start), "America/New_York".into())),
            span: Span::Length(Duration::parse(&length).expect("valid")),
            rules: vec![Rule::parse(&text).expect("valid")],
            exrules: Vec::new(),
            rdates: Vec::new(),
            exdates: Vec::new(),
            overrides: Vec::new(),
        };
        let zones = Zones::default();
        let frame = Frame { zones: &zones, evaluation: &Zone::utc() };
        let expand = |from, to| occurrences(&series, &frame, Window { from, to }, &mut Steps::new(300_000));
        let Ok(all) = expand(start - 100_000, start + 90 * 86_400) else { return Ok(()) };
        let Some(near) = all.get(at.min(all.len().saturating_sub(1))) else { return Ok(()) };
        let window = Window { from: near.from - 1_800, to: near.from + 40_000 };
        prop_assume!(window.to < start + 89 * 86_400);
        let expected: Vec<_> = all.iter().filter(|instance| window.holds(instance.from, instance.to)).cloned().collect();
        prop_assert_eq!(expand(window.from, window.to), Ok(expected), "{} from {}", text, date_time(start));
    }

    #[test]
    fn nothing_panics(
        text in rules(), start in -200_000_000_000_i64..260_000_000_000, date in any::<bool>(), from in any::<i64>(), to in any::<i64>(),
        weeks in any::<u32>(), until in option::of(STARTS),
    ) {
        let text = until.map_or(text.clone(), |until| format!("{text};UNTIL={}", date_time(until).strftime("%Y%m%dT%H%M%SZ")));
        let time = date_time(start);
        let series = Series {
            start: Some(if date { Temporal::Date(time.date()) } else { Temporal::Floating(time) }),
            span: Span::Length(Duration::parse(&format!("P{weeks}W")).expect("valid")),
            rules: vec![Rule::parse(&text).expect("valid")],
            exrules: Vec::new(),
            rdates: Vec::new(),
            exdates: Vec::new(),
            overrides: Vec::new(),
        };
        let (zones, evaluation) = (Zones::default(), Zone::iana("Pacific/Apia").expect("known"));
        let frame = Frame { zones: &zones, evaluation: &evaluation };
        let mut steps = Steps::new(20_000);
        let found = occurrences(&series, &frame, Window { from, to }, &mut steps);
        prop_assert!(steps.used() <= 20_000);
        if let Err(Unevaluable::Rule(fault)) = found {
            prop_assert!(date, "{fault}");
        }
        let rule = Rule::parse(&text).expect("valid");
        let mut made = Occurrences::new(&rule, civil_second(time), date);
        made.seek(from);
        let _ = made.next(&mut Steps::new(1_000));
    }
}
