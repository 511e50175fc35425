//! Body of MKCALENDAR (RFC 4791, 5.3.1.1).

use bytes::Bytes;

use crate::dav::xml::Writer;

/// What a new Calendar is to be like.
#[derive(Clone, Debug, Default)]
pub struct NewCalendar<'a> {
    /// `DAV:displayname`.
    pub display_name: &'a str,
    /// The names of the components that it takes.
    pub components: &'a [&'a str],
    /// Apple `calendar-color`.
    pub color: Option<&'a str>,
    /// Apple `calendar-order`.
    pub order: Option<u32>,
    /// `CALDAV:calendar-timezone`: an iCalendar object.
    pub time_zone: Option<&'a str>,
}

/// Asks for a new Calendar.
#[must_use]
pub fn body(calendar: &NewCalendar<'_>) -> Bytes {
    let mut xml = Writer::new("C:mkcalendar");
    xml.open("D:set", &[]).open("D:prop", &[]);
    xml.element("D:displayname", calendar.display_name);
    xml.open("C:supported-calendar-component-set", &[]);
    for component in calendar.components {
        xml.empty("C:comp", &[("name", component)]);
    }
    xml.close();
    if let Some(color) = calendar.color {
        xml.element("A:calendar-color", color);
    }
    if let Some(order) = calendar.order {
        xml.element("A:calendar-order", &order.to_string());
    }
    if let Some(time_zone) = calendar.time_zone {
        xml.element("C:calendar-timezone", time_zone);
    }
    xml.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calendar_is_asked_for_as_in_rfc_4791() {
        let all = NewCalendar {
            display_name: "A & B",
            components: &["VEVENT", "VTODO"],
            color: Some("#11AAFF"),
            order: Some(3),
            time_zone: Some("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"),
        };
        let text = String::from_utf8(body(&all).to_vec()).unwrap();
        let inner = "><D:set><D:prop><D:displayname>A &amp; B</D:displayname><C:supported-calendar-component-set>\
                     <C:comp name=\"VEVENT\"/><C:comp name=\"VTODO\"/></C:supported-calendar-component-set>\
                     <A:calendar-color>#11AAFF</A:calendar-color><A:calendar-order>3</A:calendar-order>\
                     <C:calendar-timezone>BEGIN:VCALENDAR&#xD;\nEND:VCALENDAR&#xD;\n</C:calendar-timezone></D:prop></D:set></C:mkcalendar>";
        assert!(text.ends_with(inner), "{text}");
    }
}
