//! Body of the CALDAV:free-busy-query report (RFC 4791, 7.10).

use bytes::Bytes;

use crate::dav::calendar_query::utc;
use crate::dav::xml::Writer;

/// Asks for the busy time between two instants of the years 1 to 9999, in Unix seconds. The REPORT needs `Depth: 1`.
#[must_use]
pub fn body(from: i64, to: i64) -> Bytes {
    let mut xml = Writer::new("C:free-busy-query");
    xml.empty("C:time-range", &[("start", &utc(from)), ("end", &utc(to))]);
    xml.finish()
}
