use proptest::prelude::*;

use super::tests::{event, projection, year};
use super::*;
use crate::ical::series::OccurrenceTiming;
use crate::ical::zone::Zone;

/// Does everything that can be done with a resource.
fn exercise(octets: Vec<u8>) -> Result<(), TestCaseError> {
    let entity = Entity::read(octets.clone().into());
    prop_assert_eq!(&entity.document().bytes()[..], &octets[..]);
    let shown = projection(&entity);
    prop_assert_eq!(shown["kind"] == "opaque", entity.opaque().is_some());
    let error = entity
        .diagnostics()
        .iter()
        .any(|diagnostic| diagnostic.severity == crate::outcome::Severity::Error);
    prop_assert_eq!(error, entity.opaque().is_some());
    serde_json::to_vec(&entity.calendar_properties()).expect("serializes");
    let _ = (entity.completion(None), entity.searchable(None), entity.is_recurring());
    if let Ok(found) = year(&entity) {
        for instance in found.iter().take(20) {
            prop_assert!(instance.from <= instance.to);
            serde_json::to_vec(&OccurrenceTiming::of(instance, &Zone::utc())).expect("serializes");
            serde_json::to_vec(&entity.occurrence_fields(instance)).expect("serializes");
        }
    }
    Ok(())
}

/// Calendars with most of what there is, to be cut and mixed.
fn realistic() -> Vec<u8> {
    let zone = "BEGIN:VTIMEZONE\r\nTZID:Here\r\nBEGIN:STANDARD\r\nDTSTART:19701025T030000\r\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\n\
                TZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n";
    let series = event(
        "DTSTART;TZID=Here:20260504T080000\r\nDTEND;TZID=Europe/Berlin:20260504T090000\r\nRRULE:FREQ=WEEKLY;BYDAY=MO,TH;UNTIL=20260901T000000Z\r\n\
         EXDATE;TZID=Here:20260507T080000,20260511T080000\r\nRDATE;VALUE=PERIOD:20260510T100000Z/PT2H,20260512T100000Z/20260512T110000Z\r\n\
         SUMMARY;LANGUAGE=de:Gr\u{fc}\u{df}e\\, alle\r\n zusammen\r\nGEO:1;2\r\nCATEGORIES:A,B\r\nSTATUS:CONFIRMED\r\nURL:https://example.com/\r\n\
         ORGANIZER;CN=O:mailto:o@example.com\r\nATTENDEE;CN=\"A, B\";ROLE=CHAIR;RSVP=TRUE;DELEGATED-TO=\"mailto:b@example.com\",\"mailto:c@example.com\":mailto:a@example.com\r\n\
         REQUEST-STATUS:2.0;Success;a\\;b\r\nRESOURCES:a,b\r\nATTACH;ENCODING=BASE64;VALUE=BINARY:AAAA\r\nRELATED-TO;RELTYPE=CHILD:x\r\n\
         BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nREPEAT:2\r\nDURATION:PT5M\r\nACKNOWLEDGED:20260101T000000Z\r\n\
         BEGIN:VLOCATION\r\nUID:l\r\nGEO:1;2\r\nLOCATION-TYPE:a,b\r\nEND:VLOCATION\r\nEND:VALARM\r\n\
         BEGIN:PARTICIPANT\r\nUID:p\r\nPARTICIPANT-TYPE:SPEAKER\r\nCALENDAR-ADDRESS:mailto:a@example.com\r\nEND:PARTICIPANT\r\n",
    );
    let moved = event(
        "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Here:20260514T080000\r\nDTSTART:20260515T080000Z\r\nDURATION:P1DT1H\r\n",
    );
    let text = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nX-WR-TIMEZONE:Europe/Berlin\r\n{zone}{series}{moved}END:VCALENDAR\r\n"
    );
    text.into_bytes()
}

proptest! {
    #[test]
    fn any_octets_are_an_entity(octets in prop::collection::vec(any::<u8>(), 0..300)) {
        exercise(octets)?;
    }

    #[test]
    fn a_damaged_calendar_is_an_entity(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, prop::collection::vec(any::<u8>(), 0..6)), 1..6),
        todo in any::<bool>(),
    ) {
        let mut octets = realistic();
        if todo {
            octets = String::from_utf8(octets).expect("text").replace("VEVENT", "VTODO").replace("DTEND", "DUE").into_bytes();
        }
        for (place, length, new) in edits {
            let at = place.index(octets.len());
            let end = (at + length).min(octets.len());
            octets.splice(at..end, new);
        }
        exercise(octets)?;
    }

    #[test]
    fn mixed_lines_are_an_entity(places in prop::collection::vec(any::<prop::sample::Index>(), 0..60)) {
        let whole = realistic();
        let lines: Vec<&[u8]> = whole.split_inclusive(|octet| *octet == b'\n').collect();
        let inside: Vec<&[u8]> = places.iter().map(|place| lines[place.index(lines.len())]).collect();
        let start = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;TZID=Here:20260504T080000\r\n";
        exercise([&start[..], &inside.concat(), b"END:VEVENT\r\nEND:VCALENDAR\r\n"].concat())?;
    }
}
