//! What is measured: made here, the same bytes in every run.

/// An event of about 1,400 bytes in a VCALENDAR of its own, as clients store them.
pub(crate) fn event() -> String {
    format!("{HEAD}{}{TAIL}", vevent(7))
}

/// A VCALENDAR with as many events as fit into so many bytes.
pub(crate) fn calendar(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes);
    text.push_str(HEAD);
    for number in 0.. {
        let event = vevent(number);
        if text.len() + event.len() + TAIL.len() > bytes {
            break;
        }
        text.push_str(&event);
    }
    text + TAIL
}

/// A series that starts at a local time of 2000, in the zone that [`zone`] defines.
pub(crate) fn series(start: &str, rule: &str) -> String {
    let end = start.replace("T09", "T10");
    format!(
        "{HEAD}{ZONE}BEGIN:VEVENT\r\nUID:series@example.com\r\nDTSTAMP:20000101T000000Z\r\nDTSTART;TZID=Europe/Berlin:{start}\r\n\
         DTEND;TZID=Europe/Berlin:{end}\r\nRRULE:{rule}\r\nSUMMARY:Series\r\nEND:VEVENT\r\n{TAIL}"
    )
}

/// A VCALENDAR with nothing but a zone, as Outlook writes it: rules without an end since 1601.
pub(crate) fn zone() -> String {
    format!("{HEAD}{ZONE}{TAIL}")
}

/// How the line ends of calendar data are written in XML.
#[derive(Clone, Copy)]
pub(crate) enum Data {
    /// A reference for each CR.
    References,
    /// A CDATA section.
    Section,
}

/// A multistatus with an event in each of so many responses.
pub(crate) fn multistatus(responses: u32, data: Data) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <d:multistatus xmlns:d=\"DAV:\" xmlns:cal=\"urn:ietf:params:xml:ns:caldav\">\n",
    );
    for number in 0..responses {
        let event = format!("{HEAD}{}{TAIL}", vevent(number));
        let data = match data {
            Data::References => event.replace('\r', "&#13;"),
            Data::Section => format!("<![CDATA[{event}]]>"),
        };
        text.push_str(&format!(
            " <d:response>\n  <d:href>/dav/calendars/ana/work/{number:08}.ics</d:href>\n  <d:propstat>\n   <d:prop>\n    \
             <d:getetag>&quot;{number:032x}&quot;</d:getetag>\n    <cal:calendar-data>{data}</cal:calendar-data>\n   </d:prop>\n   \
             <d:status>HTTP/1.1 200 OK</d:status>\n  </d:propstat>\n </d:response>\n"
        ));
    }
    text + "</d:multistatus>\n"
}

const HEAD: &str =
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example Corp.//Calendar 4.2//EN\r\nCALSCALE:GREGORIAN\r\n";
const TAIL: &str = "END:VCALENDAR\r\n";

fn vevent(number: u32) -> String {
    let (day, hour) = (number % 28 + 1, number % 10 + 8);
    format!(
        "BEGIN:VEVENT\r\n\
         UID:{number:08X}-7A31-4C0E-9E1D-2B6F0C5D8A44\r\n\
         DTSTAMP:20261101T081500Z\r\n\
         CREATED:20261020T101112Z\r\n\
         LAST-MODIFIED:20261101T081500Z\r\n\
         DTSTART;TZID=Europe/Berlin:202611{day:02}T{hour:02}0000\r\n\
         DTEND;TZID=Europe/Berlin:202611{day:02}T{hour:02}4500\r\n\
         SUMMARY:Planning of quarter {number}\\, rooms and budget\r\n\
         LOCATION:Meeting room Lise Meitner\\; second floor\r\n\
         DESCRIPTION:We go through the open points of the last meeting\\, look at th\r\n \
         e figures of the quarter and decide what is to be done until the end of th\r\n \
         e year.\\n\\nPlease bring your own numbers\\; the agenda is at https://examp\r\n \
         le.com/agenda/{number:06}.\r\n\
         CATEGORIES:Work,Planning\r\n\
         STATUS:CONFIRMED\r\n\
         TRANSP:OPAQUE\r\n\
         CLASS:PUBLIC\r\n\
         SEQUENCE:2\r\n\
         ORGANIZER;CN=\"Schmidt, Ana\":mailto:ana.schmidt@example.com\r\n\
         ATTENDEE;CN=Bob Baker;CUTYPE=INDIVIDUAL;PARTSTAT=ACCEPTED;ROLE=REQ-PARTICI\r\n \
         PANT;RSVP=TRUE:mailto:bob.baker@example.com\r\n\
         ATTENDEE;CN=Chen Li;PARTSTAT=NEEDS-ACTION:mailto:chen.li@example.org\r\n\
         ATTENDEE;CN=Dora Diaz;PARTSTAT=TENTATIVE:mailto:dora.diaz@example.net\r\n\
         X-APPLE-TRAVEL-ADVISORY-BEHAVIOR:AUTOMATIC\r\n\
         X-MICROSOFT-CDO-BUSYSTATUS:BUSY\r\n\
         URL:https://example.com/meetings/{number:06}\r\n\
         BEGIN:VALARM\r\n\
         UID:{number:08X}-ALARM\r\n\
         ACTION:DISPLAY\r\n\
         TRIGGER:-PT15M\r\n\
         DESCRIPTION:Reminder\r\n\
         END:VALARM\r\n\
         END:VEVENT\r\n"
    )
}

const ZONE: &str = "BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\n\
    BEGIN:STANDARD\r\nDTSTART:16010101T030000\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nTZNAME:CET\r\n\
    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\r\nEND:STANDARD\r\n\
    BEGIN:DAYLIGHT\r\nDTSTART:16010101T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nTZNAME:CEST\r\n\
    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE\r\n";
