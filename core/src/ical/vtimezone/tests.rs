//! Definitions as programs write them, against the IANA database and the text of RFC 5545.

use bytes::Bytes;
use jiff::civil::date;

use super::*;
use crate::ical::document::Document;
use crate::ical::zone::{LocalInstant, Zone};

fn read(text: &str) -> Option<Offsets> {
    let octets = Bytes::from(text.trim_start().replace('\n', "\r\n"));
    let document = Document::parse(octets).expect("small");
    Offsets::read(document.roots().next()?)
}

/// One observance: kind, DTSTART, offsets before and after, and more lines.
pub(super) fn observance(kind: &str, start: &str, from: &str, to: &str, more: &str) -> String {
    format!("BEGIN:{kind}\nDTSTART:{start}\nTZOFFSETFROM:{from}\nTZOFFSETTO:{to}\n{more}\nEND:{kind}\n")
}

pub(super) fn definition(observances: &[String]) -> Option<Offsets> {
    let text = format!("BEGIN:VTIMEZONE\nTZID:X\n{}END:VTIMEZONE\n", observances.concat());
    read(&text)
}

pub(super) fn second(text: &str) -> i64 {
    Local::parse(text).expect("a good date").0.second()
}

/// Compares every 31 hours and around every onset, in both directions, from the first year up to the last.
fn assert_agrees(offsets: &Offsets, zone: &str, years: std::ops::Range<i16>) {
    let zone = Zone::iana(zone).expect("a known zone");
    let check = |at: i64| {
        let offset = zone.offset_at(at);
        assert_eq!(offsets.at(at), offset, "{} at {at}", zone.name());
        for shift in [0, 1800, 3600, 5400] {
            let local = at + i64::from(offset) + shift;
            let (offset, kind) = offsets.of_local(local);
            let second = local - i64::from(offset);
            let expected = zone.resolve_local(Zone::utc().local_at(local));
            assert_eq!(LocalInstant { second, kind }, expected, "{} local {local}", zone.name());
        }
    };
    let second = |year| Zone::utc().resolve_local(date(year, 1, 1).at(0, 0, 0, 0)).second;
    let (mut at, end) = (second(years.start), second(years.end));
    let mut onset = offsets.next(at);
    while at < end {
        check(at);
        at += 31 * 3600;
    }
    while let Some(at) = onset.filter(|at| *at < end) {
        (-2..2).for_each(|step| check(at + step * 1800));
        check(at - 1);
        onset = offsets.next(at);
    }
}

const OUTLOOK: &str = "
BEGIN:VTIMEZONE
TZID:W. Europe Standard Time
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
";

const APPLE: &str = "
BEGIN:VTIMEZONE
TZID:America/New_York
BEGIN:DAYLIGHT
TZOFFSETFROM:-0500
RRULE:FREQ=YEARLY;UNTIL=19860427T070000Z;BYMONTH=4;BYDAY=-1SU
DTSTART:19760425T020000
TZNAME:EDT
TZOFFSETTO:-0400
END:DAYLIGHT
BEGIN:DAYLIGHT
TZOFFSETFROM:-0500
RRULE:FREQ=YEARLY;UNTIL=20060402T070000Z;BYMONTH=4;BYDAY=1SU
DTSTART:19870405T020000
TZNAME:EDT
TZOFFSETTO:-0400
END:DAYLIGHT
BEGIN:DAYLIGHT
TZOFFSETFROM:-0500
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU
DTSTART:20070311T020000
TZNAME:EDT
TZOFFSETTO:-0400
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:-0400
RRULE:FREQ=YEARLY;UNTIL=20061029T060000Z;BYMONTH=10;BYDAY=-1SU
DTSTART:19671029T020000
TZNAME:EST
TZOFFSETTO:-0500
END:STANDARD
BEGIN:STANDARD
TZOFFSETFROM:-0400
RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU
DTSTART:20071104T020000
TZNAME:EST
TZOFFSETTO:-0500
END:STANDARD
END:VTIMEZONE
";

const GOOGLE: &str = "
BEGIN:VTIMEZONE
TZID:Europe/Berlin
X-LIC-LOCATION:Europe/Berlin
BEGIN:DAYLIGHT
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
TZNAME:GMT+2
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
TZNAME:GMT+1
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
END:VTIMEZONE
";

const LOTUS: &str = "
BEGIN:VTIMEZONE
TZID:Eastern
BEGIN:STANDARD
DTSTART:19501105T020000
TZOFFSETFROM:-0400
TZOFFSETTO:-0500
RRULE:FREQ=YEARLY;BYMINUTE=0;BYHOUR=2;BYDAY=1SU;BYMONTH=11
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:19500312T020000
TZOFFSETFROM:-0500
TZOFFSETTO:-0400
RRULE:FREQ=YEARLY;BYMINUTE=0;BYHOUR=2;BYDAY=2SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
";

#[test]
fn definitions_of_well_known_programs_agree_with_the_database() {
    for (text, zone, years) in [
        (OUTLOOK, "Europe/Berlin", 1997..2061),
        (APPLE, "America/New_York", 1977..2061),
        (GOOGLE, "Europe/Berlin", 1997..2061),
        (LOTUS, "America/New_York", 2008..2061),
    ] {
        assert_agrees(&read(text).expect("usable"), zone, years);
    }
}

#[test]
fn odd_rules_agree_with_the_database() {
    let yearly = |rule: &str| format!("RRULE:FREQ=YEARLY;{rule}");
    for (zone, years, observances) in [
        (
            "Africa/Cairo",
            2024..2061,
            [
                (
                    "STANDARD",
                    "20231027T000000",
                    "+0300",
                    "+0200",
                    "BYYEARDAY=-67,-66,-65,-64,-63,-62,-61;BYDAY=FR",
                ),
                ("DAYLIGHT", "20230428T000000", "+0200", "+0300", "BYMONTH=4;BYDAY=-1FR"),
            ],
        ),
        (
            "America/Nuuk",
            2025..2061,
            [
                (
                    "DAYLIGHT",
                    "20240330T230000",
                    "-0200",
                    "-0100",
                    "BYMONTH=3;BYMONTHDAY=24,25,26,27,28,29,30;BYDAY=SA",
                ),
                (
                    "STANDARD",
                    "20241027T000000",
                    "-0100",
                    "-0200",
                    "BYDAY=SU;BYMONTH=10;BYSETPOS=-1",
                ),
            ],
        ),
        (
            "America/Santiago",
            2024..2061,
            [
                (
                    "DAYLIGHT",
                    "20230903T000000",
                    "-0400",
                    "-0300",
                    "BYMONTH=9;BYMONTHDAY=8,7,6,5,4,3,2;BYDAY=SU",
                ),
                (
                    "STANDARD",
                    "20230402T000000",
                    "-0300",
                    "-0400",
                    "BYMONTH=4;BYMONTHDAY=2,3,4,5,6,7,8;BYDAY=SU",
                ),
            ],
        ),
        (
            "Australia/Lord_Howe",
            2009..2061,
            [
                ("DAYLIGHT", "20081005T020000", "+1030", "+1100", "BYMONTH=10;BYDAY=1SU"),
                (
                    "STANDARD",
                    "20080406T020000",
                    "+1100",
                    "+1030",
                    "BYMONTH=4;BYDAY=+1SU;WKST=SU",
                ),
            ],
        ),
        (
            "Pacific/Chatham",
            2009..2061,
            [
                ("DAYLIGHT", "20070930T024500", "+1245", "+1345", "BYMONTH=9;BYDAY=-1SU"),
                (
                    "STANDARD",
                    "20080406T034500",
                    "+1345",
                    "+1245",
                    "BYMONTH=4;BYMONTHDAY=1,2,3,4,5,6,7;BYDAY=SU",
                ),
            ],
        ),
    ] {
        let observances =
            observances.map(|(kind, start, from, to, rule)| observance(kind, start, from, to, &yearly(rule)));
        let offsets = definition(&observances).expect("usable");
        assert_agrees(&offsets, zone, years);
    }
}

#[test]
fn lists_of_dates_agree_with_the_database() {
    let offsets = definition(&[
        observance(
            "DAYLIGHT",
            "20230319T030000",
            "+0100",
            "+0000",
            "RDATE:20240310T030000,20250223T030000\nRDATE:20260215T030000",
        ),
        observance(
            "STANDARD",
            "20230423T020000",
            "+0000",
            "+0100",
            "RDATE:20240414T020000\nRDATE:20250406T020000,20260322T020000",
        ),
        observance("STANDARD", "20260920T020000", "+0100", "+0000", ""),
    ]);
    assert_agrees(&offsets.expect("usable"), "Africa/Casablanca", 2023..2061);
}

#[test]
fn rules_from_1601_are_not_listed() {
    let offsets = read(OUTLOOK).expect("usable");
    assert_eq!((offsets.onsets.len(), offsets.rules.len()), (0, 2));
    // The rules hold in every year from 1601 on, and not before.
    assert_eq!(offsets.at(second("16010701T000000")), 7200);
    assert_eq!(offsets.at(second("16010101T120000")), 3600);
    assert_eq!(offsets.at(second("99990701T000000")), 7200);
    assert_eq!(offsets.at(second("99991231T000000")), 3600);
}

#[test]
fn short_rules_are_listed() {
    let offsets = read(APPLE).expect("usable");
    assert_eq!((offsets.onsets.len(), offsets.rules.len()), (11 + 20 + 40, 2));
}

#[test]
fn one_observance_is_enough() {
    let daylight = [observance(
        "DAYLIGHT",
        "20260329T020000",
        "+0100",
        "+0200",
        "TZNAME:CEST",
    )];
    let offsets = definition(&daylight).expect("usable");
    assert_eq!(offsets.at(second("20260329T005959")), 3600);
    assert_eq!(offsets.at(second("20260329T010000")), 7200);
    assert_eq!(offsets.at(second("20261224T000000")), 7200);
    let standard = ["BEGIN:STANDARD\nDTSTART:19700101\nTZOFFSETTO:+05:30\nEND:STANDARD\n".to_owned()];
    let offsets = definition(&standard).expect("usable");
    assert_eq!((offsets.at(i64::MIN / 2), offsets.at(0)), (19_800, 19_800));
}

#[test]
fn rules_end_with_until_and_count() {
    let onsets = |rule: &str| {
        let rule = format!("RRULE:FREQ=YEARLY;{rule}");
        let offsets = definition(&[observance("STANDARD", "20001029T030000", "+0200", "+0100", &rule)]);
        offsets
            .expect("usable")
            .onsets
            .iter()
            .map(|onset| onset.second)
            .collect::<Vec<_>>()
    };
    let expected: Vec<_> = ["20001029T010000", "20011028T010000", "20021027T010000"]
        .map(second)
        .into();
    for rule in [
        "BYMONTH=10;BYDAY=-1SU;UNTIL=20021027T010000Z",
        "BYMONTH=10;BYDAY=-1SU;UNTIL=20031026T005959Z",
        "BYMONTH=10;BYDAY=-1SU;UNTIL=20021027T030000",
        "BYMONTH=10;BYDAY=-1SU;UNTIL=20021027",
        "BYMONTH=10;BYDAY=-1SU;UNTIL=20031026T025959",
        "COUNT=3;BYDAY=-1SU;BYMONTH=10;",
    ] {
        assert_eq!(onsets(rule), expected, "{rule}");
    }
    assert_eq!(
        onsets("UNTIL=20011231"),
        ["20001029T010000", "20011029T010000"].map(second)
    );
    assert_eq!(onsets("BYMONTHDAY=30;BYMONTH=10;COUNT=1"), [second("20001030T010000")]);
    assert_eq!(onsets("BYMONTH=9;COUNT=1"), [second("20010929T010000")]);
    assert_eq!(onsets("BYYEARDAY=-1;COUNT=1"), [second("20001231T010000")]);
    assert_eq!(onsets("BYDAY=-1SU;COUNT=1"), [second("20001231T010000")]);
    assert_eq!(
        onsets("BYMONTH=2;BYMONTHDAY=29;COUNT=2"),
        ["20040229T010000", "20080229T010000"].map(second)
    );
    assert_eq!(
        onsets("BYMONTH=11;BYMONTHDAY=1,2,3;BYDAY=SU;COUNT=3"),
        ["20021103T010000", "20031102T010000", "20081102T010000"].map(second)
    );
    // A rule that makes nothing leaves DTSTART.
    assert_eq!(
        onsets("BYMONTH=10;BYDAY=-1SU;UNTIL=19991231T000000Z"),
        [second("20001029T010000")]
    );
}

#[test]
fn a_rule_that_ends_late_is_not_listed() {
    let rule = "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=99991231T235959Z";
    let offsets = definition(&[observance("STANDARD", "20001029T030000", "+0200", "+0100", rule)]).expect("usable");
    assert_eq!((offsets.onsets.len(), offsets.rules.len()), (0, 1));
    let rule = "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T010000Z";
    let offsets = definition(&[observance("STANDARD", "16011028T030000", "+0200", "+0100", rule)]).expect("usable");
    assert_eq!((offsets.onsets.len(), offsets.rules.len()), (0, 1));
    assert_eq!(offsets.at(second("20260101T000000")), 3600);
    assert_eq!(offsets.next(second("20061028T000000")), Some(second("20061029T010000")));
    assert_eq!(offsets.next(second("20061029T010000")), None);
}

/// 29 February is a Sunday in 2088, and next in 2128.
#[test]
fn rules_may_pass_over_decades() {
    let rule = "RRULE:FREQ=YEARLY;BYMONTH=2;BYDAY=5SU";
    let offsets = definition(&[
        observance("STANDARD", "20000101T000000", "+0000", "+0100", rule),
        observance("STANDARD", "20890101T000000", "+0100", "+0000", ""),
    ])
    .expect("usable");
    assert_eq!(offsets.at(second("20881231T000000")), 3600);
    assert_eq!(offsets.at(second("21270101T000000")), 0);
    assert_eq!(offsets.next(second("20890201T000000")), Some(second("21280229T000000")));
    let offsets = definition(&[observance("STANDARD", "20000101T000000", "+0000", "+0100", rule)]).expect("usable");
    assert_eq!(offsets.at(second("20031231T000000")), 0);
    assert_eq!(offsets.at(second("21270101T000000")), 3600);
}

#[test]
fn what_cannot_be_used_is_not_guessed() {
    let rule = |rule: &str| {
        observance(
            "STANDARD",
            "20001029T030000",
            "+0200",
            "+0100",
            &format!("RRULE:{rule}"),
        )
    };
    let good = observance("DAYLIGHT", "20000326T020000", "+0100", "+0200", "");
    assert!(definition(&[rule("FREQ=YEARLY"), good.clone()]).is_some());
    assert!(definition(&[]).is_none());
    for bad in [
        rule("FREQ=MONTHLY;BYDAY=-1SU"),
        rule("BYMONTH=10;BYDAY=-1SU"),
        rule("FREQ=YEARLY;INTERVAL=2;BYMONTH=10;BYDAY=-1SU"),
        rule("FREQ=YEARLY;BYMONTH=3,9;BYDAY=-1SU"),
        rule("FREQ=YEARLY;BYMONTH=10;BYDAY=SU"),
        rule("FREQ=YEARLY;BYMONTH=10;BYDAY=1SU,2SU"),
        rule("FREQ=YEARLY;BYMONTHDAY=1"),
        rule("FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=1,2"),
        rule("FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=1,3;BYDAY=SU"),
        rule("FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=1,2,3,4,5,6,7,8;BYDAY=SU"),
        rule("FREQ=YEARLY;BYMONTH=13"),
        rule("FREQ=YEARLY;BYWEEKNO=20"),
        rule("FREQ=YEARLY;COUNT=0"),
        rule("FREQ=YEARLY;UNTIL=2000"),
        rule("FREQ=YEARLY;COUNT=4000000000"),
        rule("FREQ"),
        rule(""),
        observance("STANDARD", "20001329T030000", "+0200", "+0100", ""),
        observance("STANDARD", "20000230T030000", "+0200", "+0100", ""),
        observance("STANDARD", "20001029T030000", "+0200", "1 hour", ""),
        observance("STANDARD", "20001029T030000", "", "+0100", ""),
        observance("STANDARD", "20001029T030000", "+0200", "+0100", "RDATE:tomorrow"),
        "BEGIN:STANDARD\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nEND:STANDARD\n".to_owned(),
        "BEGIN:STANDARD\nDTSTART:20001029T030000\nTZOFFSETFROM:+0200\nEND:STANDARD\n".to_owned(),
    ] {
        assert!(definition(&[bad.clone(), good.clone()]).is_none(), "{bad}");
    }
}

#[test]
fn too_many_onsets_or_rules_are_refused() {
    let dates = |count| vec!["20010101T000000"; count].join(",");
    let listed = |count| {
        observance(
            "STANDARD",
            "20000101T000000",
            "+0000",
            "+0100",
            &format!("RDATE:{}", dates(count)),
        )
    };
    assert!(definition(&[listed(MAX_ONSETS - 1)]).is_some());
    assert!(definition(&[listed(MAX_ONSETS)]).is_none());
    let single = observance("STANDARD", "20000101T000000", "+0000", "+0100", "");
    assert!(definition(&vec![single; MAX_ONSETS + 1]).is_none());
    let rule = observance("STANDARD", "20000101T000000", "+0000", "+0100", "RRULE:FREQ=YEARLY");
    assert!(definition(&vec![rule.clone(); MAX_RULES]).is_some());
    assert!(definition(&vec![rule; MAX_RULES + 1]).is_none());
    let rare = "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=1000";
    let rare = observance("STANDARD", "20000101T000000", "+0000", "+0100", rare);
    assert!(definition(std::slice::from_ref(&rare)).is_some());
    assert!(definition(&[rare.clone(), rare]).is_none());
}

#[test]
fn of_several_onsets_at_one_instant_the_last_holds() {
    let first = observance("STANDARD", "20000101T000000", "+0000", "+0100", "");
    let last = observance("DAYLIGHT", "20000101T010000", "+0100", "+0200", "");
    let offsets = definition(&[first, last]).expect("usable");
    assert_eq!(offsets.at(second("20000101T000000")), 7200);
    assert_eq!(offsets.at(second("19991231T235959")), 0);
}
