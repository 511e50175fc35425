//! Every case of `tests/cases` that the product answers, through its operations.

mod answer;

use std::collections::BTreeMap;

use answer::{dav, ical, moves, write};
use kalends_tests::case::Case;

/// How a case was answered.
pub(crate) enum Answered {
    /// All that it asks.
    Whole,
    /// Not yet: there is no operation for its kind.
    Later,
}

use Answered::{Later, Whole};

/// Kinds without an operation.
const LATER: [&str; 1] = ["auth"];

/// The question of each case, by its number or by the shape of its answer.
fn answer(case: &Case) -> Answered {
    match case.number {
        1..=3 => dav::discovery(case),
        4 => dav::spellings(case),
        7 => {
            write::rate_limited(case);
            dav::rate_limited(case)
        }
        8 => dav::status_only(case),
        9 => dav::texts(case),
        10 => {
            write::missing_tag(case);
            dav::missing_tags(case)
        }
        11 => {
            write::odd_tags(case);
            dav::odd_tags(case)
        }
        12 => {
            write::strong_tag(case);
            dav::weak_tag(case)
        }
        13 => dav::not_xml(case),
        14 => dav::access(case),
        15 => {
            write::name_alone(case);
            dav::colors(case)
        }
        16 => dav::outside_the_window(case),
        17 => dav::forgotten_token(case),
        18 => dav::cut_report(case),
        19 => moves::taken(case),
        20 => write::no_tag(case),
        21 => write::lost_answer(case),
        22 => write::other_name(case),
        23 => write::hostile_uids(case),
        24 => write::keeps_everything(case),
        25 => write::masked(case),
        26 => write::forbidden(case),
        27 => write::stale(case),
        28 => write::completes_one(case),
        31 => ical::one_of(case),
        41 => ical::floating(case),
        42 => ical::days(case),
        43 => ical::texts(case),
        45 => ical::attendees(case),
        46 => dav::busy_by_component(case),
        47 => Later,
        48 => {
            write::takes_one_day(case);
            Whole
        }
        50 => write::guests(case),
        51 => {
            write::by_name(case, &dav::home());
            dav::names(case)
        }
        53 => dav::one_uid(case),
        _ if LATER.contains(&case.kind.as_str()) => Later,
        _ => ical::queries(case),
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the summary is for people who run this test")]
fn every_case_has_its_right_answer() {
    let cases = Case::all();
    assert!(cases.len() >= 54, "only {} cases were found", cases.len());
    let mut summary: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let mut failed = Vec::new();
    for case in &cases {
        let counts = summary.entry(case.kind.as_str()).or_default();
        match std::panic::catch_unwind(|| answer(case)) {
            Ok(Whole) => counts[0] += 1,
            Ok(Later) => counts[1] += 1,
            Err(_) => failed.push(format!("{} {}", case.number, case.title)),
        }
    }
    for (kind, [whole, later]) in &summary {
        println!("{kind}: {whole} answered, elsewhere or later: {later}");
    }
    assert!(failed.is_empty(), "wrong answers: {failed:#?}");
}
