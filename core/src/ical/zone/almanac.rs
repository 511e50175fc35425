//! The onsets of the years that calendars mostly ask about, indexed: most lookups end here after a few instructions.

use crate::ical::vtimezone::{Offset, Onset};

/// Each part of the index covers 2^24 seconds, which is 194 days.
const SHIFT: u32 = 24;
/// 1989-09-02, in Unix seconds.
pub(super) const START: i64 = 37 << SHIFT;
const PARTS: usize = 133;
/// 2060-05-18, in Unix seconds.
pub(super) const END: i64 = (37 + PARTS as i64) << SHIFT;

/// All onsets from [`START`] to [`END`].
#[derive(Clone, Debug)]
pub(super) struct Almanac {
    /// By instant. The first one stands for the offset at [`START`].
    onsets: Box<[Onset]>,
    /// For each part, how many onsets lie before it; and how many there are.
    index: Box<[u16; PARTS + 1]>,
    least: i64,
    most: i64,
}

impl Almanac {
    /// From the offset at [`START`] and the onsets after it and before [`END`], sorted. `None` if they are too many.
    pub(super) fn new(initial: Offset, onsets: impl IntoIterator<Item = Onset>) -> Option<Self> {
        let first = Onset {
            second: i64::MIN,
            to: initial,
        };
        let onsets: Box<[_]> = std::iter::once(first).chain(onsets).collect();
        let mut index = Box::new([u16::try_from(onsets.len()).ok()?; PARTS + 1]);
        for (part, entry) in index.iter_mut().enumerate().take(PARTS) {
            let start = START + ((part as i64) << SHIFT);
            *entry = onsets.partition_point(|onset| onset.second < start) as u16;
        }
        let offsets = || onsets.iter().map(|onset| i64::from(onset.to));
        Some(Self {
            least: offsets().min()?,
            most: offsets().max()?,
            onsets,
            index,
        })
    }

    /// How many onsets lie at or before an instant; `None` beyond the years of the almanac.
    fn position(&self, second: i64) -> Option<usize> {
        let part = usize::try_from(second.checked_sub(START)? >> SHIFT).ok()?;
        if part >= PARTS {
            return None;
        }
        let (from, to) = (usize::from(self.index[part]), usize::from(self.index[part + 1]));
        let within = self.onsets.get(from..to)?;
        Some(from + within.partition_point(|onset| onset.second <= second))
    }

    /// The offset at an instant, if it lies in the years of the almanac.
    pub(super) fn offset_at(&self, second: i64) -> Option<Offset> {
        Some(self.onsets[self.position(second)? - 1].to)
    }

    /// The offset of a local time (seconds since 1970-01-01 00:00 of the local clock) that no onset is near.
    pub(super) fn plain_offset(&self, local: i64) -> Option<Offset> {
        let (earliest, latest) = (local - self.most, local - self.least);
        let position = self.position(earliest)?;
        let end = self.onsets.get(position).map_or(END, |onset| onset.second);
        (latest < end).then(|| self.onsets[position - 1].to)
    }

    /// The local times that the clock skips at the onsets after one instant and up to another: half-open ranges of
    /// seconds since 1970-01-01 00:00 of the local clock. `None` beyond the years of the almanac.
    pub(super) fn gaps(&self, after: i64, to: i64) -> Option<impl Iterator<Item = (i64, i64)>> {
        let (first, last) = (self.position(after)?, self.position(to)?);
        let onsets = self.onsets.get(first - 1..last)?;
        let gaps = onsets.windows(2).map(|pair| {
            let (before, onset) = (i64::from(pair[0].to), pair[1]);
            (onset.second + before, onset.second + i64::from(onset.to))
        });
        Some(gaps.filter(|(start, end)| start < end))
    }

    /// The instants of the onsets.
    #[cfg(test)]
    pub(super) fn onsets(&self) -> impl Iterator<Item = i64> {
        self.onsets[1..].iter().map(|onset| onset.second)
    }
}
