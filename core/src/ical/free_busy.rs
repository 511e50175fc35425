//! VFREEBUSY as a server answers a free-busy-query with it (RFC 4791, 7.10; RFC 5545, 3.6.4).
//!
//! The text is untrusted and must be understood whole: what cannot be read fails the report, since a period that is
//! left out would look like free time.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;

use super::document::{Component, Document, Property, TooLarge};
use super::duration::Duration;
use super::expand::Window;
use super::recur::civil_second;
use super::value::{DateOrPeriod, Period, Temporal, Times, lossy};
use super::zone::{Resolution, Zone, Zones};

/// The most periods of one report, before they are merged.
pub const MAX_PERIODS: usize = 5_000;
/// The most content lines of one report.
pub const MAX_LINES: usize = 40_000;
/// The longest FBTYPE, in bytes.
const MAX_TYPE: usize = 256;
const DAY: i64 = 86_400;

/// Time that is taken, in Unix seconds, half-open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BusyPeriod {
    /// When it begins.
    pub from: i64,
    /// When it is over.
    pub to: i64,
    /// FBTYPE in upper case: `BUSY`, `BUSY-UNAVAILABLE`, `BUSY-TENTATIVE` or another word, which means busy too.
    pub busy_type: String,
}

/// How a server writes its reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One VFREEBUSY with FREEBUSY properties.
    Standard,
    /// Also one VFREEBUSY for each period, with DTSTART, DTEND and a property FBTYPE, and none at all for free time.
    ByComponent,
}

/// Why a report tells nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// More than [`MAX_PERIODS`].
    TooManyPeriods,
    /// More than [`MAX_LINES`].
    TooManyLines,
    /// It is no free/busy report, or a part of it cannot be understood.
    Malformed(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyPeriods => write!(out, "more than {MAX_PERIODS} periods"),
            Self::TooManyLines => write!(out, "more than {MAX_LINES} lines"),
            Self::Malformed(what) => out.write_str(what),
        }
    }
}

impl std::error::Error for Fault {}

/// Reads a report: its busy time within the window, merged for each type, by start, end and type.
///
/// # Errors
/// [`Fault`], whenever anything in it is not understood.
pub fn read(text: Bytes, window: Window, shape: Shape) -> Result<Vec<BusyPeriod>, Fault> {
    let document = Document::parse(text).map_err(|fault| match fault {
        TooLarge::Lines => Fault::TooManyLines,
        TooLarge::Bytes => Fault::Malformed("it is too large"),
    })?;
    if document.line_count() > MAX_LINES {
        return Err(Fault::TooManyLines);
    }
    let calendar = calendar(&document)?;
    let mut report = Report {
        zones: Zones::read(&document),
        periods: Vec::new(),
        count: 0,
    };
    let mut components = 0;
    for component in calendar.children() {
        // VCALENDAR, VTIMEZONE and its observances are all the depth that a report needs.
        if component.children().any(|inner| inner.children().next().is_some()) {
            return Err(Fault::Malformed("its components lie too deep in each other"));
        }
        if component.is("VFREEBUSY") {
            components += 1;
            report.component(component, shape)?;
        } else if !component.is("VTIMEZONE") {
            return Err(Fault::Malformed(
                "it holds another component than VFREEBUSY and VTIMEZONE",
            ));
        }
    }
    if components == 0 && shape == Shape::Standard {
        return Err(Fault::Malformed("it holds no VFREEBUSY"));
    }
    Ok(merged(report.periods, window))
}

/// The only VCALENDAR, with nothing broken in it and nothing around it.
fn calendar(document: &Document) -> Result<Component<'_>, Fault> {
    let mut roots = document.roots();
    let calendar = roots.next().filter(|root| root.is("VCALENDAR"));
    let calendar = calendar.ok_or(Fault::Malformed("it is no VCALENDAR"))?;
    let octets = document.bytes();
    let (before, after) = (&octets[..calendar.range().start], &octets[calendar.range().end..]);
    let before = before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(before);
    if roots.next().is_some() || !before.trim_ascii().is_empty() || !after.trim_ascii().is_empty() {
        return Err(Fault::Malformed("something stands beside its VCALENDAR"));
    }
    if !document.faults().is_empty() {
        return Err(Fault::Malformed("its lines are broken or cut short"));
    }
    if calendar.first("FBTYPE").is_some() {
        return Err(STRAY);
    }
    Ok(calendar)
}

const STRAY: Fault = Fault::Malformed("an FBTYPE belongs to no period");

struct Report {
    zones: Zones,
    periods: Vec<BusyPeriod>,
    count: usize,
}

impl Report {
    fn component(&mut self, component: Component<'_>, shape: Shape) -> Result<(), Fault> {
        let (mut listed, mut stray) = (false, None);
        for property in component.properties() {
            if property.is("FREEBUSY") {
                listed = true;
                self.property(property)?;
            } else if property.is("FBTYPE") && stray.replace(property).is_some() {
                return Err(STRAY);
            }
        }
        match stray {
            None => Ok(()),
            Some(busy_type) if shape == Shape::ByComponent && !listed => self.own_interval(component, busy_type),
            Some(_) => Err(STRAY),
        }
    }

    fn property(&mut self, property: Property<'_>) -> Result<(), Fault> {
        let busy_type = busy_type(&property.parameter("FBTYPE").unwrap_or_else(|| "BUSY".into()))?;
        let mut any = false;
        for value in Times::of(property).each() {
            any = true;
            match value {
                Ok(DateOrPeriod::Period(period)) => self.period(&period, &busy_type)?,
                Ok(DateOrPeriod::Date(_)) | Err(_) => return Err(NO_PERIOD),
            }
        }
        if any { Ok(()) } else { Err(NO_PERIOD) }
    }

    /// The interval of a component that is a period itself.
    fn own_interval(&mut self, component: Component<'_>, named: Property<'_>) -> Result<(), Fault> {
        let time = |name: &str| {
            let mut all = component.all(name);
            let (first, second) = (all.next(), all.next());
            let time = first
                .filter(|_| second.is_none())
                .map(|property| Times::of(property).single());
            time.and_then(Result::ok).ok_or(NO_PERIOD)
        };
        let period = Period {
            start: time("DTSTART")?,
            end: Ok(time("DTEND")?),
        };
        let busy_type = busy_type(&lossy(named.value()))?;
        self.period(&period, &busy_type)
    }

    fn period(&mut self, period: &Period, busy_type: &str) -> Result<(), Fault> {
        self.count += 1;
        if self.count > MAX_PERIODS {
            return Err(Fault::TooManyPeriods);
        }
        let from = self.instant(&period.start)?;
        let to = match &period.end {
            Ok(end) => self.instant(end)?,
            Err(length) => {
                let length = Duration::parse(length).filter(|length| !length.is_negative());
                let length = length.ok_or(Fault::Malformed("a period has no length that can be read"))?;
                let clock = civil_second(period.start.civil()) + length.nominal_days() * DAY;
                self.zone(&period.start)?.resolve_clock(clock).second + length.exact_seconds()
            }
        };
        if to < from {
            return Err(Fault::Malformed("a period ends before it begins"));
        }
        if busy_type != "FREE" {
            self.periods.push(BusyPeriod {
                from,
                to,
                busy_type: busy_type.to_owned(),
            });
        }
        Ok(())
    }

    fn instant(&self, time: &Temporal) -> Result<i64, Fault> {
        Ok(self.zone(time)?.resolve_clock(civil_second(time.civil())).second)
    }

    /// A time with a TZID means what the report itself or the IANA database says, and nothing else.
    fn zone(&self, time: &Temporal) -> Result<Zone, Fault> {
        match time {
            Temporal::Utc(_) => Ok(Zone::utc()),
            Temporal::Zoned(_, tzid) => match self.zones.resolve(tzid) {
                Resolution::Own(zone) | Resolution::Iana(zone) => Ok(zone),
                Resolution::External(_) | Resolution::Unresolved => {
                    Err(Fault::Malformed("the time zone of a period is not known"))
                }
            },
            Temporal::Date(_) | Temporal::Floating(_) => Err(Fault::Malformed("a period is not in UTC")),
        }
    }
}

const NO_PERIOD: Fault = Fault::Malformed("a period cannot be read");

fn busy_type(text: &str) -> Result<String, Fault> {
    let text = text.trim();
    let legal = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !legal || !(1..=MAX_TYPE).contains(&text.len()) {
        return Err(Fault::Malformed("an FBTYPE is no word"));
    }
    Ok(text.to_ascii_uppercase())
}

/// Cuts periods to a window, joins those of one type that touch, and orders them by start, end and type.
#[must_use]
pub fn merged(periods: Vec<BusyPeriod>, window: Window) -> Vec<BusyPeriod> {
    let mut by_type: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for BusyPeriod { from, to, busy_type } in periods {
        let (from, to) = (from.max(window.from), to.min(window.to));
        if from < to {
            by_type.entry(busy_type).or_default().push((from, to));
        }
    }
    let mut out: Vec<BusyPeriod> = Vec::new();
    for (busy_type, mut spans) in by_type {
        spans.sort_unstable();
        let first = out.len();
        for (from, to) in spans {
            match out[first..].last_mut() {
                Some(last) if from <= last.to => last.to = last.to.max(to),
                _ => out.push(BusyPeriod {
                    from,
                    to,
                    busy_type: busy_type.clone(),
                }),
            }
        }
    }
    out.sort_unstable();
    out
}

#[cfg(test)]
mod tests;
