//! Compact rows as an agenda: days with their weekday, all-day first, in the reader's zone, and in the event's own
//! zone beside it where that is another one.

use jiff::Span;
use jiff::civil::{Date, DateTime};
use kalends_core::ical::zone::Zone;
use serde_json::Value;

/// One row, in the reader's zone.
struct Entry {
    summary: String,
    location: Option<String>,
    tentative: bool,
    todo: bool,
    when: When,
}

enum When {
    /// First day and last day.
    Days(Date, Date),
    /// Local start, local end, and the same in the event's own zone if that is another one.
    Times(DateTime, DateTime, Option<(DateTime, DateTime, String)>),
}

/// The agenda of so many days from `today`.
pub(super) fn render(rows: &[Value], zone: &Zone, today: Date, days: i32) -> String {
    let mut entries: Vec<Entry> = rows.iter().filter_map(|row| Entry::read(row, zone)).collect();
    entries.sort_by_key(|entry| match &entry.when {
        When::Days(first, _) => (0, first.at(0, 0, 0, 0)),
        When::Times(_, end, _) if entry.todo => (1, *end),
        When::Times(start, ..) => (1, *start),
    });
    let mut out = String::new();
    for offset in 0..days {
        let day = today.checked_add(Span::new().days(offset)).unwrap_or(today);
        out.push_str(&format!("\n{}\n", day.strftime("%A, %-d %B %Y")));
        let lines: Vec<String> = entries.iter().filter_map(|entry| entry.line(day, today)).collect();
        if lines.is_empty() {
            out.push_str("  nothing\n");
        }
        lines.iter().for_each(|line| out.push_str(&format!("  {line}\n")));
    }
    out
}

impl Entry {
    fn read(row: &Value, zone: &Zone) -> Option<Self> {
        let (projection, timing) = (&row["snapshot"]["projection"], &row["timing"]);
        let fields = &projection["fields"];
        let text = |member: &str| fields[member].as_str().map(one_line);
        Some(Self {
            summary: text("summary").unwrap_or_else(|| "(no title)".into()),
            location: text("location"),
            tentative: fields["status"]["rawValue"] == "TENTATIVE",
            todo: projection["kind"] == "todo",
            when: When::read(timing, zone)?,
        })
    }

    /// What a day shows of it.
    fn line(&self, day: Date, first_day: Date) -> Option<String> {
        let (time, note) = match &self.when {
            When::Days(first, last) if *first <= day && day <= *last => {
                ("all day".to_owned(), day_of(*first, *last, day))
            }
            When::Days(..) => return None,
            When::Times(start, end, own) => {
                let shown = if self.todo {
                    end.date() == day
                } else {
                    start.date() == day || (day == first_day && start.date() < day && end.date() >= day)
                };
                if !shown {
                    return None;
                }
                let time = if self.todo {
                    format!("by {}", end.strftime("%H:%M"))
                } else {
                    span(*start, *end, day)
                };
                (
                    time,
                    own.as_ref()
                        .map(|(start, end, name)| format!("{} {name}", span(*start, *end, start.date()))),
                )
            }
        };
        let mut line = format!("{time:<14} {}{}", if self.todo { "to do: " } else { "" }, self.summary);
        if self.tentative {
            line.push_str(" (tentative)");
        }
        for part in self.location.iter().chain(&note) {
            line.push_str(&format!("  ·  {part}"));
        }
        Some(line)
    }
}

impl When {
    fn read(timing: &Value, zone: &Zone) -> Option<Self> {
        let (start, end) = (&timing["effectiveStart"], &timing["effectiveEnd"]);
        let value = start["value"].as_str()?;
        if value.len() == 10 {
            let first: Date = value.parse().ok()?;
            let last = end["value"].as_str().and_then(|text| text.parse::<Date>().ok());
            let last = last
                .and_then(|last| last.yesterday().ok())
                .map_or(first, |last| last.max(first));
            return Some(Self::Days(first, last));
        }
        let name = start["timeZoneId"].as_str();
        let own = name.and_then(Zone::iana);
        let from = match timing["evaluatedStartUtc"]["value"].as_str() {
            Some(text) => second(text, zone),
            None => second(value, own.as_ref().unwrap_or(zone)),
        }?;
        let to = match (end["value"].as_str(), timing["effectiveDuration"].as_str()) {
            (Some(text), _) => {
                let end_zone = end["timeZoneId"].as_str().and_then(Zone::iana).or(own.clone());
                second(text, end_zone.as_ref().unwrap_or(zone))?
            }
            (None, Some(length)) => {
                from + length
                    .parse::<jiff::SignedDuration>()
                    .map_or(0, |length| length.as_secs())
            }
            (None, None) => from,
        };
        let foreign = own.filter(|own| own.name() != zone.name());
        let foreign = foreign.map(|own| (own.local_at(from), own.local_at(to), own.name().to_owned()));
        Some(Self::Times(zone.local_at(from), zone.local_at(to), foreign))
    }
}

/// The instant of a time in the form of the results.
fn second(text: &str, zone: &Zone) -> Option<i64> {
    match text.strip_suffix('Z') {
        Some(local) => Some(Zone::utc().resolve_local(local.parse().ok()?).second),
        None => Some(zone.resolve_local(text.parse().ok()?).second),
    }
}

fn span(start: DateTime, end: DateTime, day: Date) -> String {
    let clock = |at: DateTime| at.strftime("%H:%M").to_string();
    let end_text = if end.date() == start.date() {
        clock(end)
    } else {
        end.strftime("%a %H:%M").to_string()
    };
    if start.date() < day {
        format!("until {}", clock(end))
    } else if start == end {
        clock(start)
    } else {
        format!("{}–{end_text}", clock(start))
    }
}

fn day_of(first: Date, last: Date, day: Date) -> Option<String> {
    let days = |to: Date| to.since(first).map_or(0, |span| span.get_days()) + 1;
    (first != last).then(|| format!("day {} of {}", days(day), days(last)))
}

/// Calendar text may hold line ends and control characters; a line of the agenda may not.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn days_zones_and_spans_read_as_people_write_them() {
        let zone = Zone::iana("Europe/Berlin").unwrap();
        let row = |summary: &str, timing: Value| json!({"snapshot": {"projection": {"kind": "event", "fields": {"summary": summary}}}, "timing": timing});
        let rows = [
            row(
                "call",
                json!({
                    "effectiveStart": {"value": "2026-11-30T10:00:00", "timeZoneId": "America/New_York"},
                    "effectiveEnd": {"value": "2026-11-30T11:00:00"},
                    "evaluatedStartUtc": {"value": "2026-11-30T15:00:00Z"}
                }),
            ),
            row(
                "trip",
                json!({"effectiveStart": {"value": "2026-11-29"}, "effectiveEnd": {"value": "2026-12-01"}}),
            ),
            row(
                "night\nshift",
                json!({"effectiveStart": {"value": "2026-11-30T22:00:00Z"}, "effectiveDuration": "PT8H"}),
            ),
        ];
        let text = render(&rows, &zone, Date::constant(2026, 11, 30), 1);
        let expected = "\nMonday, 30 November 2026\n  \
             all day        trip  ·  day 2 of 2\n  \
             16:00–17:00    call  ·  10:00–11:00 America/New_York\n  \
             23:00–Tue 07:00 night shift\n";
        assert_eq!(text, expected);
    }
}
