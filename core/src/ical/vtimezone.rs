//! VTIMEZONE (RFC 5545, 3.6.5): [`Offsets`] reads it, [`vtimezone`] writes it.
//!
//! A definition that is read becomes a list of onsets and a few yearly rules.
//!
//! Rules that end soon are listed; rules without an end stay rules, so a definition that begins in 1601 costs nothing.
//! An onset is the instant at which the offset changes. Between onsets the offset is the TZOFFSETTO of the latest one,
//! and before the first the TZOFFSETFROM of that one.
//!
//! What is bent: DAYLIGHT or STANDARD alone is enough; a DTSTART that its own RRULE does not make is no onset
//! (Outlook writes 1 January 1601); DTSTART and RDATE are local whether or not they end with `Z`; UNTIL is local
//! without `Z`. What makes a definition unusable: no observance, an observance without DTSTART or TZOFFSETTO, an
//! RRULE with anything else than one onset a year, too many onsets.

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
mod value;
mod write;
mod yearly;

use super::document::{Component, Property};
use super::value::utc_offset;
use super::zone::LocalKind;
use value::Local;
use yearly::{Pattern, Yearly};

pub use write::{Horizon, vtimezone};

/// Seconds east of UTC.
pub type Offset = i32;

/// The most onsets that are listed.
pub const MAX_ONSETS: usize = 1_000;
/// The most rules that are kept as rules.
pub const MAX_RULES: usize = 8;
/// The most years that are looked at while a definition is read.
const MAX_YEARS: u32 = 5_000;
/// A rule that covers more years is not listed.
const LONG: i64 = 200;

/// A VTIMEZONE understood: the offset at any instant.
#[derive(Clone, Debug)]
pub struct Offsets {
    /// Before the first onset.
    initial: Offset,
    /// By instant, each once.
    onsets: Box<[Onset]>,
    rules: Box<[Yearly]>,
    least: Offset,
    most: Offset,
}

/// An instant at which the offset changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Onset {
    /// Unix seconds.
    pub(super) second: i64,
    /// The offset from then on.
    pub(super) to: Offset,
}

impl Offsets {
    /// Reads a VTIMEZONE. `None` if it is unusable.
    #[must_use]
    pub fn read(definition: Component<'_>) -> Option<Self> {
        let observances: Vec<_> = definition
            .children()
            .filter(|child| child.is("STANDARD") || child.is("DAYLIGHT"))
            .take(MAX_ONSETS + 1)
            .collect();
        let alone = observances.len() == 1;
        let mut builder = Builder::new();
        for observance in observances {
            builder.add(observance, alone)?;
        }
        builder.finish()
    }

    /// The offset in force at an instant.
    #[must_use]
    pub fn at(&self, second: i64) -> Offset {
        let listed = self.onsets.partition_point(|onset| onset.second <= second);
        let mut latest = listed.checked_sub(1).map(|at| self.onsets[at]);
        for rule in &self.rules {
            if let Some(second) = rule.latest(second)
                && latest.is_none_or(|latest| latest.second <= second)
            {
                latest = Some(Onset { second, to: rule.to });
            }
        }
        latest.map_or(self.initial, |onset| onset.to)
    }

    /// The onsets after one instant and before another.
    pub(super) fn between(&self, start: i64, end: i64) -> Vec<Onset> {
        let listed = self.onsets.partition_point(|onset| onset.second <= start);
        let mut onsets = self.onsets[listed..].to_vec();
        for rule in &self.rules {
            let years = rule.years_between(start, end);
            let ruled = years.filter_map(|year| rule.onset(year));
            onsets.extend(ruled.map(|second| Onset { second, to: rule.to }));
        }
        onsets.retain(|onset| (start + 1..end).contains(&onset.second));
        sort(&mut onsets);
        onsets
    }

    /// The earliest onset after an instant.
    fn next(&self, second: i64) -> Option<i64> {
        let listed = self.onsets.partition_point(|onset| onset.second <= second);
        let listed = self.onsets.get(listed).map(|onset| onset.second);
        let rules = self.rules.iter().filter_map(|rule| rule.next(second));
        rules.chain(listed).min()
    }

    /// The offset by which a local time is to be read, given in seconds since 1970-01-01 00:00 of the local clock:
    /// before a gap the one before it, in a fold the first (RFC 5545, 3.3.5).
    #[must_use]
    pub fn of_local(&self, local: i64) -> (Offset, LocalKind) {
        // Any instant with this local time lies between these two.
        let (mut at, latest) = (local - i64::from(self.most), local - i64::from(self.least));
        let (mut start, mut offset) = (i64::MIN, self.at(at));
        let (mut found, mut gap) = (None, None);
        loop {
            let end = self.next(at).filter(|end| *end <= latest).unwrap_or(i64::MAX);
            let second = local - i64::from(offset);
            if (start..end).contains(&second) {
                if let Some(first) = found {
                    return (first, LocalKind::Fold);
                }
                found = Some(offset);
            }
            if end == i64::MAX {
                break;
            }
            let to = self.at(end);
            if gap.is_none() && second >= end && local - i64::from(to) < end {
                gap = Some(offset);
            }
            (at, start, offset) = (end, end, to);
        }
        match found {
            Some(offset) => (offset, LocalKind::Plain),
            None => (gap.unwrap_or(offset), LocalKind::Gap),
        }
    }
}

struct Builder {
    onsets: Vec<Onset>,
    rules: Vec<Yearly>,
    /// The first onset of all and the offset before it.
    first: Option<(i64, Offset)>,
    years: u32,
}

impl Builder {
    fn new() -> Self {
        Self {
            onsets: Vec::new(),
            rules: Vec::new(),
            first: None,
            years: MAX_YEARS,
        }
    }

    /// Adds what one STANDARD or DAYLIGHT says. One that is `alone` may lack TZOFFSETFROM.
    fn add(&mut self, observance: Component<'_>, alone: bool) -> Option<()> {
        let offset = |name| utc_offset(&observance.first(name)?.value()).ok();
        let (start, _) = Local::parse(&text(observance.first("DTSTART")?)?)?;
        let to = offset("TZOFFSETTO")?;
        let from = offset("TZOFFSETFROM").or(alone.then_some(to))?;
        let before = self.onsets.len() + self.rules.len();
        let mut ruled = false;
        for rule in observance.all("RRULE") {
            ruled = true;
            let pattern = Pattern::parse(&text(rule)?, start)?;
            let rule = Yearly::bind(pattern, start, from, to, &mut self.years)?;
            self.add_rule(rule, from, to)?;
        }
        for dates in observance.all("RDATE") {
            for date in text(dates)?.trim_end_matches(',').split(',') {
                let (date, _) = Local::parse(date.split_once('/').map_or(date, |(start, _)| start))?;
                self.add_onset(date.second() - i64::from(from), from, to)?;
            }
        }
        if !ruled || self.onsets.len() + self.rules.len() == before {
            self.add_onset(start.second() - i64::from(from), from, to)?;
        }
        Some(())
    }

    fn add_rule(&mut self, rule: Yearly, from: Offset, to: Offset) -> Option<()> {
        let years = rule.years();
        if years.end() - years.start() <= LONG {
            for year in years {
                self.years = self.years.checked_sub(1)?;
                if let Some(onset) = rule.onset(year) {
                    self.add_onset(onset, from, to)?;
                }
            }
        } else if let Some(first) = rule.first_onset() {
            if self.rules.len() == MAX_RULES {
                return None;
            }
            self.begin(first, from);
            self.rules.push(rule);
        }
        Some(())
    }

    fn add_onset(&mut self, second: i64, from: Offset, to: Offset) -> Option<()> {
        if self.onsets.len() == MAX_ONSETS {
            return None;
        }
        self.begin(second, from);
        self.onsets.push(Onset { second, to });
        Some(())
    }

    fn begin(&mut self, second: i64, from: Offset) {
        if self.first.is_none_or(|(first, _)| second < first) {
            self.first = Some((second, from));
        }
    }

    fn finish(mut self) -> Option<Offsets> {
        let (_, initial) = self.first?;
        sort(&mut self.onsets);
        let listed = self.onsets.iter().map(|onset| onset.to);
        let ruled = self.rules.iter().map(|rule| rule.to);
        let (least, most) = listed
            .chain(ruled)
            .fold((initial, initial), |(least, most), to| (least.min(to), most.max(to)));
        Some(Offsets {
            initial,
            onsets: self.onsets.into(),
            rules: self.rules.into(),
            least,
            most,
        })
    }
}

/// Of several onsets at one instant the last holds.
fn sort(onsets: &mut Vec<Onset>) {
    onsets.reverse();
    onsets.sort_by_key(|onset| onset.second);
    onsets.dedup_by_key(|onset| onset.second);
}

fn text(property: Property<'_>) -> Option<String> {
    String::from_utf8(property.value().into_owned()).ok()
}
