//! Reports as servers send them, and as nobody should.

use proptest::prelude::*;

use super::*;

/// 2027-07-01 to 2027-08-01.
const JULY: Window = Window {
    from: 1_814_400_000,
    to: 1_817_078_400,
};

fn report(lines: &str) -> Bytes {
    let lines = lines.replace(" | ", "\r\n");
    let text = format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\n{lines}\r\nEND:VCALENDAR\r\n");
    text.into()
}

fn one(lines: &str) -> Bytes {
    report(&format!(
        "BEGIN:VFREEBUSY | DTSTART:20270701T000000Z | DTEND:20270801T000000Z | {lines} | END:VFREEBUSY"
    ))
}

/// Day, hour and type of the periods of July 2027.
fn told(text: Bytes, shape: Shape) -> Result<Vec<String>, Fault> {
    let show = |period: &BusyPeriod| {
        let at = |second: i64| {
            let text = jiff::Timestamp::from_second(second).expect("in range").to_string();
            text[8..16].to_owned()
        };
        format!("{} {} {}", at(period.from), at(period.to), period.busy_type)
    };
    Ok(read(text, JULY, shape)?.iter().map(show).collect())
}

#[test]
fn reports_of_real_servers_are_read() {
    let expected = ["03T10:00 03T11:00 BUSY-TENTATIVE", "04T10:00 04T12:00 BUSY"];
    // Transparent on the 1st, cancelled on the 2nd, tentative on the 3rd, two overlapping ones on the 4th.
    for (server, lines) in [
        (
            "Radicale 3.9.0",
            "FREEBUSY;FBTYPE=FREE:20270702T100000Z/20270702T110000Z | FREEBUSY;FBTYPE=BUSY-TENTATIVE:20270703T100000Z/20270703T110000Z \
             | FREEBUSY;FBTYPE=BUSY:20270704T100000Z/20270704T120000Z",
        ),
        (
            "Xandikos",
            "FREEBUSY;VALUE=PERIOD:20270704T100000Z/20270704T110000Z | FREEBUSY;VALUE=PERIOD:20270704T103000Z/20270704T120000Z \
             | FREEBUSY;FBTYPE=BUSY-TENTATIVE;VALUE=PERIOD:20270703T100000Z/20270703T110000Z",
        ),
        (
            "Nextcloud",
            "FREEBUSY;FBTYPE=BUSY-TENTATIVE:20270703T100000Z/20270703T110000Z | FREEBUSY:20270704T100000Z/20270704T120000Z",
        ),
        (
            "as a list with lengths",
            "FREEBUSY;fbtype=busy:20270704T100000Z/PT1H,20270704T103000Z/PT90M | freebusy;FBTYPE=busy-tentative:20270703T100000Z/PT1H",
        ),
    ] {
        for shape in [Shape::Standard, Shape::ByComponent] {
            assert_eq!(told(one(lines), shape).unwrap(), expected, "{server}");
        }
    }
    // Cyrus writes an all-day event so.
    assert_eq!(
        told(one("FREEBUSY:20270705T000000Z/P1D"), Shape::Standard).unwrap(),
        ["05T00:00 06T00:00 BUSY"]
    );
    assert_eq!(told(one("COMMENT:nothing"), Shape::Standard).unwrap(), [""; 0]);
}

#[test]
fn one_component_for_each_period_is_taken_where_it_is_expected_only() {
    let component = |lines: &str| format!("BEGIN:VFREEBUSY | {lines} | END:VFREEBUSY");
    let by_component = [
        "DTSTART:20270702T100000Z | DTEND:20270702T110000Z | FBTYPE:FREE",
        "DTSTART:20270704T100000Z | DTEND:20270704T110000Z | FBTYPE:BUSY",
        "FBTYPE:busy | DTSTART;TZID=Europe/Berlin:20270704T123000 | DTEND:20270704T120000Z",
    ]
    .map(component)
    .join(" | ");
    assert_eq!(
        told(report(&by_component), Shape::ByComponent).unwrap(),
        ["04T10:00 04T12:00 BUSY"]
    );
    assert_eq!(told(report(&by_component), Shape::Standard), Err(STRAY));
    // Nothing at all is free time there and nowhere else.
    assert_eq!(told(report("X-A:b"), Shape::ByComponent).unwrap(), [""; 0]);
    assert!(matches!(
        told(report("X-A:b"), Shape::Standard),
        Err(Fault::Malformed(_))
    ));
    for stray in [
        "FBTYPE:BUSY",
        "DTSTART:20270704T100000Z | FBTYPE:BUSY",
        "DTEND:20270704T100000Z | FBTYPE:BUSY",
        "DTSTART:20270704T100000Z | DTSTART:20270704T100000Z | DTEND:20270704T110000Z | FBTYPE:BUSY",
        "DTSTART:20270704T100000Z | DTEND:20270704T110000Z | FBTYPE:BUSY | FBTYPE:FREE",
        "DTSTART:20270704T100000Z | DTEND:20270704T110000Z | FBTYPE:BUSY | FREEBUSY:20270703T100000Z/PT1H",
        "DTSTART;VALUE=DATE:20270704 | DTEND;VALUE=DATE:20270705 | FBTYPE:BUSY",
    ] {
        let found = told(report(&component(stray)), Shape::ByComponent);
        assert!(matches!(found, Err(Fault::Malformed(_))), "{stray}: {found:?}");
    }
    assert_eq!(
        told(
            report(&format!("FBTYPE:BUSY | {}", component("X-A:b"))),
            Shape::ByComponent
        ),
        Err(STRAY)
    );
}

#[test]
fn zones_are_the_reports_own_then_those_of_iana() {
    let own = "BEGIN:VTIMEZONE | TZID:Here | BEGIN:STANDARD | DTSTART:19700101T000000 | TZOFFSETFROM:+0500 | TZOFFSETTO:+0500 | END:STANDARD \
               | END:VTIMEZONE | ";
    let busy = |tzid: &str, before: &str| {
        report(&format!(
            "{before}BEGIN:VFREEBUSY | FREEBUSY;TZID={tzid}:20270704T100000/20270704T110000 | END:VFREEBUSY"
        ))
    };
    assert_eq!(
        told(busy("Here", own), Shape::Standard).unwrap(),
        ["04T05:00 04T06:00 BUSY"]
    );
    assert_eq!(
        told(busy("Europe/Berlin", ""), Shape::Standard).unwrap(),
        ["04T08:00 04T09:00 BUSY"]
    );
    for unknown in ["Here", "W. Europe Standard Time", "/prefix/Europe/Berlin"] {
        assert!(told(busy(unknown, ""), Shape::Standard).is_err(), "{unknown}");
    }
    // A day in a zone is a day of its clock: that of 28 March 2027 has 23 hours in Berlin.
    let march = Window {
        from: 1_805_846_400,
        to: 1_806_624_000,
    };
    let short = read(
        one("FREEBUSY;TZID=Europe/Berlin:20270328T000000/P1D"),
        march,
        Shape::Standard,
    )
    .unwrap();
    assert_eq!(short[0].to - short[0].from, 23 * 3600);
}

#[test]
fn what_is_not_understood_is_never_free_time() {
    for bad in [
        "FREEBUSY:",
        "FREEBUSY:20270704T100000Z",
        "FREEBUSY:20270704/20270705",
        "FREEBUSY:20270704T100000/20270704T110000",
        "FREEBUSY:20270704T110000Z/20270704T100000Z",
        "FREEBUSY:20270704T100000Z/-PT1H",
        "FREEBUSY:20270704T100000Z/P",
        "FREEBUSY:20270732T100000Z/PT1H",
        "FREEBUSY;FBTYPE=:20270704T100000Z/PT1H",
        "FREEBUSY;FBTYPE=A B:20270704T100000Z/PT1H",
        "FREEBUSY;FBTYPE=FREE:nonsense",
        "no colon",
        "BEGIN:X | BEGIN:Y | END:Y | END:X",
    ] {
        let found = told(one(bad), Shape::ByComponent);
        assert!(matches!(found, Err(Fault::Malformed(_))), "{bad}: {found:?}");
    }
    let whole = one("FREEBUSY:20270704T100000Z/PT1H");
    let text = String::from_utf8(whole.to_vec()).unwrap();
    for bad in [
        String::new(),
        "<html/>".into(),
        format!("Warning: x\r\n{text}"),
        format!("{text}more"),
        format!("{text}{text}"),
        text[..text.len() - 8].to_owned(),
        text.replace("VFREEBUSY", "VEVENT"),
        text.replace("VCALENDAR", "VCARD"),
    ] {
        assert!(told(bad.clone().into(), Shape::ByComponent).is_err(), "{bad}");
    }
    assert!(told(format!("\u{feff}{text}\r\n").into(), Shape::Standard).is_ok());
    let long = format!("FREEBUSY;FBTYPE={}:20270704T100000Z/PT1H", "X".repeat(256));
    assert!(told(one(&long), Shape::Standard).is_ok());
    assert!(told(one(&long.replace(":2", "X:2")), Shape::Standard).is_err());
}

#[test]
fn periods_and_lines_are_bounded() {
    let periods = |count: usize| one(&format!("FREEBUSY:{}", vec!["20270704T100000Z/PT1H"; count].join(",")));
    assert_eq!(told(periods(MAX_PERIODS), Shape::Standard).unwrap().len(), 1);
    assert_eq!(
        told(periods(MAX_PERIODS + 1), Shape::Standard),
        Err(Fault::TooManyPeriods)
    );
    let lines = |count: usize| one(&vec!["X-A:b"; count].join("\r\n"));
    assert!(told(lines(MAX_LINES - 8), Shape::Standard).is_ok());
    assert_eq!(told(lines(MAX_LINES), Shape::Standard), Err(Fault::TooManyLines));
}

proptest! {
    /// Against a clock that is looked at every second.
    #[test]
    fn merging_keeps_every_busy_second(
        spans in prop::collection::vec((0_i64..60, 0_i64..20, 0_usize..3), 0..12),
        (from, length) in (0_i64..40, 1_i64..40),
    ) {
        let window = Window { from, to: from + length };
        let types = ["BUSY", "BUSY-TENTATIVE", "X"];
        let periods = spans.iter().map(|(from, length, kind)| BusyPeriod {
            from: *from,
            to: from + length,
            busy_type: types[*kind].into(),
        });
        let out = merged(periods.collect(), window);
        for kind in types {
            let busy = |second: i64| {
                let within = |(from, length, own): &(i64, i64, usize)| {
                    types[*own] == kind && (*from..from + length).contains(&second)
                };
                (window.from..window.to).contains(&second) && spans.iter().any(within)
            };
            let mine: Vec<_> = out.iter().filter(|period| period.busy_type == kind).collect();
            for second in -1..100 {
                let count = mine.iter().filter(|period| (period.from..period.to).contains(&second)).count();
                prop_assert_eq!(count, usize::from(busy(second)));
            }
            prop_assert!(mine.windows(2).all(|pair| pair[0].to < pair[1].from));
        }
        prop_assert!(out.is_sorted_by_key(|period| (period.from, period.to, period.busy_type.clone())));
    }
}
