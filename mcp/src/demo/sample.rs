//! The sample: three calendars around a given day, with what real ones have: all-day and timed events, series with
//! exclusions, moved and cancelled occurrences, other people's zones, to-dos with and without a date.

use std::io;
use std::path::Path;

use bytes::Bytes;
use http::{Request, Uri};
use jiff::civil::{Date, Weekday, time};
use jiff::{Span, Timestamp};
use kalends_core::href::Href;
use kalends_core::ical::zone::Zone;
use kalends_local::Local;

/// Writes the sample into an empty folder by PUTs, as any client would. Returns the URL to configure.
pub(super) fn write(folder: &Path, zone: &Zone, now: i64) -> io::Result<Href> {
    let local = Local::folder(folder)?
        .with_calendar("personal", "Personal")
        .with_calendar("work", "Work")
        .with_calendar("tasks", "Tasks");
    let days = Days {
        zone,
        today: zone.local_at(now).date(),
        stamp: Timestamp::from_second(now)
            .unwrap_or_default()
            .strftime("%Y%m%dT%H%M%SZ")
            .to_string(),
    };
    let url = local.url();
    for (calendar, uid, components) in days.all() {
        let text = format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Kalends//Kalends {}//EN\r\n{components}END:VCALENDAR\r\n",
            env!("CARGO_PKG_VERSION")
        );
        let href = url.resolve(&format!("{}/{calendar}/{uid}.ics", url.path().trim_end_matches('/')));
        let uri = href.as_ref().map(Href::to_uri).unwrap_or_else(|| Uri::from_static("/"));
        let put = Request::put(uri)
            .header("content-type", "text/calendar")
            .body(Bytes::from(text));
        let response = local.answer(put.map_err(io::Error::other)?);
        if !response.status().is_success() {
            return Err(io::Error::other(format!(
                "the sample cannot be written: {}",
                response.status()
            )));
        }
    }
    Ok(url)
}

struct Days<'a> {
    zone: &'a Zone,
    today: Date,
    stamp: String,
}

impl Days<'_> {
    fn day(&self, offset: i32) -> Date {
        self.today.checked_add(Span::new().days(offset)).unwrap_or(self.today)
    }

    /// The first such weekday that is `from` days from now or later.
    fn weekday(&self, weekday: Weekday, from: i32) -> Date {
        let since = self.day(from);
        let ahead = since.weekday().until(weekday);
        since.checked_add(Span::new().days(ahead)).unwrap_or(since)
    }

    /// A property with a local time in a zone.
    fn at(name: &str, date: Date, hour: i8, minute: i8, zone: &str) -> String {
        let local = date.to_datetime(time(hour, minute, 0, 0));
        let tzid = if zone == "UTC" {
            String::new()
        } else {
            format!(";TZID={zone}")
        };
        let suffix = if zone == "UTC" { "Z" } else { "" };
        format!("{name}{tzid}:{}{suffix}\r\n", local.strftime("%Y%m%dT%H%M%S"))
    }

    /// A property with a day.
    fn on(name: &str, date: Date) -> String {
        format!("{name};VALUE=DATE:{}\r\n", date.strftime("%Y%m%d"))
    }

    /// A component with these lines between its stamp and its end.
    fn component(&self, kind: &str, uid: &str, lines: &[String]) -> String {
        format!(
            "BEGIN:{kind}\r\nUID:{uid}\r\nDTSTAMP:{}\r\n{}END:{kind}\r\n",
            self.stamp,
            lines.concat()
        )
    }

    /// Calendar, UID and components of every resource.
    fn all(&self) -> Vec<(&'static str, &'static str, String)> {
        let (zone, line) = (self.zone.name(), |text: &str| format!("{text}\r\n"));
        let event = |uid: &'static str, lines: &[String]| self.component("VEVENT", uid, lines);
        let todo = |uid: &'static str, lines: &[String]| self.component("VTODO", uid, lines);
        let timed = |date: Date, from: (i8, i8), to: (i8, i8), zone: &str| {
            Self::at("DTSTART", date, from.0, from.1, zone) + &Self::at("DTEND", date, to.0, to.1, zone)
        };
        let standup = self.weekday(Weekday::Monday, -21);
        let (moved, dropped) = (self.weekday(Weekday::Wednesday, 1), self.weekday(Weekday::Friday, 1));
        let choir = self.weekday(Weekday::Thursday, 0);
        // A leap year, so that every day exists in it.
        let birth = self.day(2).with().year(1952).build().unwrap_or(self.today);
        let yoga = self.weekday(Weekday::Tuesday, 0);
        vec![
            (
                "personal",
                "dentist",
                event(
                    "dentist",
                    &[
                        timed(self.day(1), (8, 0), (8, 45), zone),
                        line("SUMMARY:Dentist"),
                        line("LOCATION:12 Harbour Street"),
                    ],
                ),
            ),
            (
                "personal",
                "birthday",
                event(
                    "birthday",
                    &[
                        Self::on("DTSTART", birth),
                        line("RRULE:FREQ=YEARLY"),
                        line("SUMMARY:Grandma's birthday"),
                        line("TRANSP:TRANSPARENT"),
                    ],
                ),
            ),
            (
                "personal",
                "visit",
                event(
                    "visit",
                    &[
                        Self::on("DTSTART", self.day(4)),
                        Self::on("DTEND", self.day(7)),
                        line("SUMMARY:Visit from Lena"),
                    ],
                ),
            ),
            (
                "personal",
                "yoga",
                event(
                    "yoga",
                    &[
                        timed(self.weekday(Weekday::Tuesday, -28), (18, 30), (19, 45), zone),
                        line("RRULE:FREQ=WEEKLY"),
                        Self::at("EXDATE", self.weekday(Weekday::Tuesday, 7), 18, 30, zone),
                        line("SUMMARY:Yoga"),
                        line("LOCATION:Studio on the hill"),
                    ],
                ) + &event(
                    "yoga",
                    &[
                        Self::at("RECURRENCE-ID", yoga, 18, 30, zone),
                        timed(yoga, (19, 0), (20, 15), zone),
                        line("SUMMARY:Yoga (half an hour later this week)"),
                        line("LOCATION:Studio on the hill"),
                    ],
                ),
            ),
            (
                "personal",
                "choir",
                event(
                    "choir",
                    &[
                        timed(self.weekday(Weekday::Thursday, -56), (20, 0), (22, 0), zone),
                        line("RRULE:FREQ=WEEKLY;BYDAY=TH"),
                        line("SUMMARY:Choir practice"),
                    ],
                ) + &event(
                    "choir",
                    &[
                        Self::at("RECURRENCE-ID", choir, 20, 0, zone),
                        timed(choir, (20, 0), (22, 0), zone),
                        line("SUMMARY:Choir practice"),
                        line("STATUS:CANCELLED"),
                    ],
                ),
            ),
            (
                "personal",
                "plants",
                event(
                    "plants",
                    &[
                        line(&format!("DTSTART:{}T073000", self.day(-7).strftime("%Y%m%d"))),
                        line("DURATION:PT15M"),
                        line("RRULE:FREQ=DAILY;INTERVAL=3"),
                        line("SUMMARY:Water the plants"),
                    ],
                ),
            ),
            (
                "work",
                "standup",
                event(
                    "standup",
                    &[
                        timed(standup, (9, 15), (9, 30), zone),
                        line("RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
                        Self::at("EXDATE", dropped, 9, 15, zone),
                        line("SUMMARY:Stand-up"),
                    ],
                ) + &event(
                    "standup",
                    &[
                        Self::at("RECURRENCE-ID", moved, 9, 15, zone),
                        timed(moved, (10, 30), (10, 45), zone),
                        line("SUMMARY:Stand-up\\, after the all-hands"),
                    ],
                ),
            ),
            (
                "work",
                "review",
                event(
                    "review",
                    &[
                        timed(self.day(1), (14, 0), (15, 30), zone),
                        line("SUMMARY:Design review"),
                        line("LOCATION:Room 4.12"),
                        line("STATUS:TENTATIVE"),
                    ],
                ),
            ),
            (
                "work",
                "newyork",
                event(
                    "newyork",
                    &[
                        timed(self.day(3 - 35), (10, 0), (11, 0), "America/New_York"),
                        line("RRULE:FREQ=WEEKLY;COUNT=20"),
                        line("SUMMARY:Call with the New York office"),
                        line("LOCATION:https://meet.example.com/ny"),
                    ],
                ),
            ),
            (
                "work",
                "tokyo",
                event(
                    "tokyo",
                    &[
                        timed(self.day(5), (16, 0), (17, 30), "Asia/Tokyo"),
                        line("SUMMARY:Handover with Tokyo"),
                    ],
                ),
            ),
            (
                "work",
                "golive",
                event(
                    "golive",
                    &[
                        timed(self.day(4), (12, 0), (14, 0), "UTC"),
                        line("SUMMARY:Go-live"),
                        line("LOCATION:Operations"),
                    ],
                ),
            ),
            (
                "work",
                "planning",
                event(
                    "planning",
                    &[
                        timed(self.day(9), (13, 0), (15, 0), zone),
                        line("SUMMARY:Quarterly planning"),
                        line("LOCATION:Room 1.01"),
                    ],
                ),
            ),
            (
                "tasks",
                "invoice",
                todo(
                    "invoice",
                    &[
                        Self::at("DTSTART", self.day(1), 9, 0, zone),
                        Self::at("DUE", self.day(1), 17, 0, zone),
                        line("SUMMARY:Send the invoice"),
                        line("PRIORITY:2"),
                    ],
                ),
            ),
            (
                "tasks",
                "passport",
                todo(
                    "passport",
                    &[
                        Self::on("DTSTART", self.day(3)),
                        Self::on("DUE", self.day(4)),
                        line("SUMMARY:Renew the passport"),
                    ],
                ),
            ),
            ("tasks", "bike", todo("bike", &[line("SUMMARY:Fix the bicycle")])),
        ]
    }
}
