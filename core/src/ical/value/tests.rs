use proptest::prelude::*;

use super::*;
use crate::ical::document::Document;

fn json(value: impl Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("serializes")
}

#[test]
fn temporals_are_what_is_written() {
    // RFC 5545, 3.3.4 and 3.3.5 with their examples.
    let zone = Some("America/New_York");
    for (text, zone, want) in [
        ("19970714", zone, r#"{"kind":"date","value":"1997-07-14"}"#),
        (
            "19980118T230000",
            None,
            r#"{"kind":"floatingDateTime","value":"1998-01-18T23:00:00"}"#,
        ),
        (
            "19980119T070000Z",
            zone,
            r#"{"kind":"utcDateTime","value":"1998-01-19T07:00:00Z"}"#,
        ),
        (
            " 19980119T020000\r",
            zone,
            r#"{"kind":"zonedDateTime","value":"1998-01-19T02:00:00","timeZoneId":"America/New_York"}"#,
        ),
        (
            "19970630T235960Z",
            None,
            r#"{"kind":"utcDateTime","value":"1997-06-30T23:59:59Z"}"#,
        ),
        (
            "20240229t000000z",
            None,
            r#"{"kind":"utcDateTime","value":"2024-02-29T00:00:00Z"}"#,
        ),
    ] {
        let read = Temporal::parse(text.as_bytes(), zone).expect(text);
        assert_eq!(serde_json::to_string(&read).expect("serializes"), want);
    }
    for text in [
        "",
        "1997",
        "19970732",
        "20230229",
        "19970714T",
        "19970714T1200",
        "19970714T240000",
        "19970714T120000-0500",
        "19970714 120000",
        "1997-07-14",
        "+9970714",
        "19970714T12000Z",
        "２０２６",
        "20260720T::",
    ] {
        assert_eq!(Temporal::parse(text.as_bytes(), None), Err(Malformed), "{text}");
    }
}

#[test]
fn lists_hold_moments_and_periods() {
    // RFC 5545, 3.8.5.2.
    let source = "BEGIN:X\nRDATE;VALUE=PERIOD:19960403T020000Z/19960403T040000Z,19960404T010000Z/PT3H\n\
                  EXDATE;TZID=America/New_York:19970714T083000,19970715\nEND:X";
    let document = Document::parse(source.into()).expect("small");
    let component = document.roots().next().expect("one");
    let times = Times::of(component.first("RDATE").expect("there"));
    let read: Vec<_> = times.each().collect();
    let utc = |text: &str| Temporal::parse(text.as_bytes(), None).expect("valid");
    let first = Period {
        start: utc("19960403T020000Z"),
        end: Ok(utc("19960403T040000Z")),
    };
    let second = Period {
        start: utc("19960404T010000Z"),
        end: Err("PT3H".into()),
    };
    assert_eq!(read, [first, second].map(|period| Ok(DateOrPeriod::Period(period))));
    let times = Times::of(component.first("EXDATE").expect("there"));
    let read: Vec<_> = times
        .each()
        .map(|value| value.expect("valid").start().clone())
        .collect();
    assert!(matches!(&read[0], Temporal::Zoned(_, zone) if &**zone == "America/New_York"));
    assert_eq!(
        read.iter().map(|value| times.misdeclares(value)).collect::<Vec<_>>(),
        [false, true]
    );
}

#[test]
fn periods_begin_before_they_end() {
    // RFC 5545, 3.3.9: its two examples, then what it forbids.
    for (text, zone, regular) in [
        ("19970101T180000Z/19970102T070000Z", None, true),
        ("19970101T180000Z/PT5H30M", None, true),
        ("19970101T180000/19970102T070000", None, true),
        ("19970101T180000/ P1W", Some("Europe/Berlin"), true),
        ("19970102T070000Z/19970101T180000Z", None, false),
        ("19970101T180000Z/19970101T180000Z", None, false),
        ("19970101T180000Z/19970102T070000", Some("Europe/Berlin"), false),
        ("19970101T180000/19970102T070000Z", None, false),
        ("19970101T180000Z/-PT1H", None, false),
        ("19970101T180000Z/PT0S", None, false),
        ("19970101T180000Z/PT", None, false),
        ("19970101T180000Z/19970102", None, false),
        ("19970101/19970102", None, false),
        ("19970101/P1D", None, false),
    ] {
        let period = Period::parse(text.as_bytes(), zone).expect(text);
        assert_eq!(period.is_regular(), regular, "{text}");
    }
    for bad in [
        "",
        "/",
        "19970101T180000Z",
        "19970101T180000Z/",
        "/PT1H",
        "PT1H/19970101T180000Z",
        "a/b",
    ] {
        assert_eq!(Period::parse(bad.as_bytes(), None), Err(Malformed), "{bad}");
    }
}

#[test]
fn text_is_decoded() {
    // RFC 5545, 3.3.11, its example first.
    for (value, want) in [
        (
            r"Project XYZ Final Review\nConference Room - 3B\nCome Prepared.",
            "Project XYZ Final Review\nConference Room - 3B\nCome Prepared.",
        ),
        (r"a\,b\;c\\n\N", "a,b;c\\n\n"),
        (r#"\:\"\t\"#, ":\"\\t\\"),
        ("plain: text; as, it is", "plain: text; as, it is"),
    ] {
        assert_eq!(text(Cow::Borrowed(value.as_bytes())), want);
    }
    assert_eq!(text(Cow::Borrowed(b"\xff\\,")), "\u{fffd},");
    assert!(matches!(text(Cow::Borrowed(b"borrowed")), Cow::Borrowed(_)));
    let list = text_list(Cow::Borrowed(br"APPOINTMENT,EDUCATION\, HIGHER,\\,"));
    assert_eq!(list, ["APPOINTMENT", "EDUCATION, HIGHER", "\\", ""]);
}

#[test]
fn numbers_places_and_uris_are_checked() {
    assert_eq!(
        json(Geo::parse(b"37.386013;-122.082932").expect("RFC 5545, 3.8.1.6")),
        serde_json::json!({"latitude":37.386_013,"longitude":-122.082_932})
    );
    for bad in [
        "37.38,-122.08",
        "91;0",
        "0;181",
        "NaN;0",
        "inf;0",
        "1e1;0",
        ";",
        "1;2;3",
    ] {
        assert_eq!(Geo::parse(bad.as_bytes()), Err(Malformed), "{bad}");
    }
    assert_eq!(integer(b" 9 ", 9), Ok(9));
    for bad in ["", "-1", "10", "1.0", "999999", "+", "++1"] {
        assert_eq!(integer(bad.as_bytes(), 9), Err(Malformed), "{bad}");
    }
    for good in [
        "http://example.com/pub/calendars/jsmith/mytime.ics",
        "mailto:a@b",
        "urn:uuid:1",
        "http://[::1]/%20",
    ] {
        assert_eq!(uri(good.as_bytes()).as_deref(), Ok(good));
    }
    for bad in [
        "",
        "example.com",
        ":x",
        "1a:b",
        "http:",
        "http://a b",
        "http://a/%2",
        "http://ä",
        "a:\u{7}",
        "x:<>",
    ] {
        assert_eq!(uri(bad.as_bytes()), Err(Malformed), "{bad}");
    }
}

#[test]
fn open_lists_tell_what_they_know() {
    let read = |text: &'static str| OpenEnum::read(Cow::Borrowed(text.as_bytes()), &["CONFIRMED"]);
    assert_eq!(
        json(read("Confirmed ")),
        serde_json::json!({"kind":"known","rawValue":"Confirmed"})
    );
    assert_eq!(
        json(read("x-mine")),
        serde_json::json!({"kind":"extension","rawValue":"x-mine"})
    );
    assert_eq!(
        json(read("Maybe")),
        serde_json::json!({"kind":"unknown","rawValue":"Maybe"})
    );
    assert_eq!(read("  "), None);
}

proptest! {
    #[test]
    fn temporals_come_back(second in -2_208_988_800_i64..4_102_444_800) {
        let time = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::from_second(second).expect("in range"));
        let text = time.strftime("%Y%m%dT%H%M%S").to_string();
        prop_assert_eq!(Temporal::parse(text.as_bytes(), None), Ok(Temporal::Floating(time)));
    }

    #[test]
    fn no_octets_panic(octets in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = (Temporal::parse(&octets, None), Geo::parse(&octets), uri(&octets), integer(&octets, 9));
        let list = text_list(Cow::Borrowed(&octets));
        prop_assert!(!list.is_empty());
        let _ = OpenEnum::read(Cow::Borrowed(&octets), &[]);
    }
}
