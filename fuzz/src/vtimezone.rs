//! VTIMEZONEs of any octets, and written ones read back.

use jiff::civil::DateTime;
use kalends_core::ical::document::Document;
use kalends_core::ical::encode::LineEnd;
use kalends_core::ical::vtimezone::{Horizon, Offsets, vtimezone as write};
use kalends_core::ical::zone::{LocalKind, Zone, Zones, bundled_names};

/// More lookups than a zone answers without an index of its onsets.
const MANY: i64 = 80;
const DAY: i64 = 86_400;

/// Reads octets as the inside of a VTIMEZONE, and writes and reads the IANA zone that the first octets pick.
///
/// # Panics
/// If an instant does not show the local time that led to it, a zone disagrees with its definition, or a written
/// definition with its zone.
pub fn vtimezone(data: &[u8]) {
    any(data);
    written(data);
}

fn any(data: &[u8]) {
    let inside = [b"BEGIN:VTIMEZONE\r\nTZID:Z\r\n", data, b"\r\nEND:VTIMEZONE\r\n"].concat();
    let Ok(document) = Document::parse(
        [b"BEGIN:VCALENDAR\r\n", &inside[..], b"END:VCALENDAR\r\n"]
            .concat()
            .into(),
    ) else {
        return;
    };
    let zones = Zones::read(&document);
    let resolution = zones.resolve("Z");
    let definition = document.roots().next().and_then(|calendar| calendar.children().next());
    let (Some(offsets), Some(zone)) = (definition.and_then(Offsets::read), resolution.zone()) else {
        return;
    };
    // Steps of about a year, so that all seasons are met; the beginning depends on the input.
    let begin = data
        .iter()
        .fold(-4_000_000_000, |sum, octet| sum + i64::from(*octet) * 1_000_003);
    for second in (0..MANY).map(|step| begin + step * 365 * DAY) {
        let offset = offsets.at(second);
        let (found, kind) = offsets.of_local(second);
        assert!(offset.abs() < DAY as i32 && found.abs() < DAY as i32);
        if kind != LocalKind::Gap {
            assert_eq!(offsets.at(second - i64::from(found)), found, "local {second}");
        }
        // A definition of the same name that came first is the one that is resolved.
        if zone.name() == "Z" {
            assert_eq!(zone.offset_at(second), offset, "{second}");
        }
    }
}

fn written(data: &[u8]) {
    let [a, b, c, d, instants @ ..] = data else { return };
    let (number, year) = (
        u16::from_le_bytes([*a, *b]),
        1800 + i16::from(*c) + i16::from(*d & 0x3F),
    );
    let horizon = if d & 0x80 == 0 {
        Horizon::Open
    } else {
        Horizon::Through2100
    };
    let name = bundled_names()
        .nth(usize::from(number) % bundled_names().count())
        .expect("a name");
    let zone = Zone::iana(name).expect("a known zone");
    let mut text = Vec::new();
    let component = write(name, year, horizon).expect("a known zone");
    component.write(LineEnd::CrLf, &mut text);
    let document = Document::parse(text.into()).expect("small");
    let offsets = document.roots().next().and_then(Offsets::read).expect("usable");
    let second = |year| {
        Zone::utc()
            .resolve_local(DateTime::constant(year, 1, 3, 0, 0, 0, 0))
            .second
    };
    let start = second(year.min(2100));
    let end = second(if horizon == Horizon::Open { 2400 } else { 2101 }) - 4 * DAY;
    for chunk in instants.chunks_exact(4).take(64) {
        let part = u32::from_le_bytes(chunk.try_into().expect("four octets"));
        let at = start + i64::try_from((u128::from(part) * (end - start) as u128) >> 32).expect("below the end");
        assert_eq!(offsets.at(at), zone.offset_at(at), "{name} from {year} at {at}");
        let found = zone.resolve_local(Zone::utc().local_at(at));
        let (offset, kind) = offsets.of_local(at);
        assert_eq!(
            (at - i64::from(offset), kind),
            (found.second, found.kind),
            "{name} from {year}, local {at}"
        );
    }
}
