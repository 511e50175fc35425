//! Body of the CALDAV:calendar-query report (RFC 4791, 7.8).

use bytes::Bytes;
use jiff::Timestamp;
use jiff::tz::Offset;

use crate::dav::xml::Writer;

/// 0001-01-02T00:00:00Z and 9999-12-30T00:00:00Z: what four digits of a year hold, whatever zone a server computes in.
const EARLIEST: i64 = -62_135_510_400;
const LATEST: i64 = 253_402_128_000;

/// A query for the members of a Calendar. The server's answer is a hint: servers find too much and too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalendarQuery<'a> {
    /// Name of the component below VCALENDAR, such as `VEVENT`. Some servers find nothing without it.
    pub component: &'a str,
    /// Beginning and end in Unix seconds, half-open.
    pub window: Option<(i64, i64)>,
    /// A text that one of the component's properties has to contain.
    pub text: Option<TextMatch<'a>>,
    /// Whether `calendar-data` is wanted beside entity tag and size.
    pub data: bool,
}

/// A text in a property, compared without case in ASCII (RFC 4791, 9.7.5; RFC 4790, 9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextMatch<'a> {
    /// Name of the property, such as `SUMMARY`.
    pub property: &'a str,
    /// What it has to contain.
    pub text: &'a str,
}

impl CalendarQuery<'_> {
    /// The body of the REPORT, which needs `Depth: 1`.
    ///
    /// A window is cut to the years that iCalendar can write, and an empty one becomes one second long, since RFC 4791,
    /// 9.9, wants the end after the start.
    #[must_use]
    pub fn body(&self) -> Bytes {
        let mut xml = Writer::new("C:calendar-query");
        xml.open("D:prop", &[])
            .empty("D:getetag", &[])
            .empty("D:getcontentlength", &[]);
        if self.data {
            xml.empty("C:calendar-data", &[]);
        }
        xml.close()
            .open("C:filter", &[])
            .open("C:comp-filter", &[("name", "VCALENDAR")]);
        let name = [("name", self.component)];
        if self.window.is_none() && self.text.is_none() {
            xml.empty("C:comp-filter", &name);
            return xml.finish();
        }
        xml.open("C:comp-filter", &name);
        if let Some((from, to)) = self.window {
            let from = from.clamp(EARLIEST, LATEST - 1);
            let to = to.clamp(from + 1, LATEST);
            xml.empty("C:time-range", &[("start", &*utc(from)), ("end", &*utc(to))]);
        }
        if let Some(TextMatch { property, text }) = self.text {
            xml.open("C:prop-filter", &[("name", property)])
                .open("C:text-match", &[("collation", "i;ascii-casemap")])
                .text(text)
                .close()
                .close();
        }
        xml.finish()
    }
}

/// The date and time in the form of RFC 5545, 3.3.5, with UTC.
pub(super) fn utc(second: i64) -> String {
    let instant = Timestamp::from_second(second).expect("the second lies between EARLIEST and LATEST");
    let civil = Offset::UTC.to_datetime(instant);
    format!(
        "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
        civil.year(),
        civil.month(),
        civil.day(),
        civil.hour(),
        civil.minute(),
        civil.second()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(query: CalendarQuery<'_>) -> String {
        let body = String::from_utf8(query.body().to_vec()).unwrap();
        body[body.find("<D:prop>").unwrap()..].to_owned()
    }

    #[test]
    fn the_body_is_the_one_of_rfc_4791() {
        // The window of RFC 4791, 7.8.1 and 7.8.5.
        let query = CalendarQuery {
            component: "VEVENT",
            window: Some((1_136_332_800, 1_136_419_200)),
            text: None,
            data: true,
        };
        assert_eq!(
            text(query),
            "<D:prop><D:getetag/><D:getcontentlength/><C:calendar-data/></D:prop><C:filter>\
             <C:comp-filter name=\"VCALENDAR\"><C:comp-filter name=\"VEVENT\">\
             <C:time-range start=\"20060104T000000Z\" end=\"20060105T000000Z\"/></C:comp-filter></C:comp-filter>\
             </C:filter></C:calendar-query>"
        );
        let query = CalendarQuery {
            component: "VTODO",
            window: None,
            text: None,
            data: false,
        };
        assert_eq!(
            text(query),
            "<D:prop><D:getetag/><D:getcontentlength/></D:prop><C:filter><C:comp-filter name=\"VCALENDAR\">\
             <C:comp-filter name=\"VTODO\"/></C:comp-filter></C:filter></C:calendar-query>"
        );
        // The shape of RFC 4791, 7.8.6 and 9.7.5.
        let query = CalendarQuery {
            text: Some(TextMatch {
                property: "SUMMARY",
                text: "a<b",
            }),
            ..query
        };
        assert_eq!(
            text(query),
            "<D:prop><D:getetag/><D:getcontentlength/></D:prop><C:filter><C:comp-filter name=\"VCALENDAR\">\
             <C:comp-filter name=\"VTODO\"><C:prop-filter name=\"SUMMARY\">\
             <C:text-match collation=\"i;ascii-casemap\">a&lt;b</C:text-match></C:prop-filter></C:comp-filter>\
             </C:comp-filter></C:filter></C:calendar-query>"
        );
    }

    #[test]
    fn any_window_can_be_written() {
        for (window, expected) in [
            (
                (i64::MIN, i64::MAX),
                "start=\"00010102T000000Z\" end=\"99991230T000000Z\"",
            ),
            ((0, 0), "start=\"19700101T000000Z\" end=\"19700101T000001Z\""),
            (
                (i64::MAX, i64::MIN),
                "start=\"99991229T235959Z\" end=\"99991230T000000Z\"",
            ),
            ((-1, 1), "start=\"19691231T235959Z\" end=\"19700101T000001Z\""),
        ] {
            let window = Some(window);
            let query = CalendarQuery {
                component: "VEVENT",
                window,
                text: None,
                data: false,
            };
            assert!(text(query).contains(expected), "{}", text(query));
        }
    }
}
