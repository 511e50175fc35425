//! Whether a stored resource means what was sent.
//!
//! Two resources mean the same if they have the same components with the same properties, parameters and values, in
//! any order and any spelling, but for what a server owns (`OWNED`). Events and To-dos are matched by their
//! RECURRENCE-ID; other components count with all that is in them.
//!
//! Times are compared by what they say: type, local time and moment. So a VTIMEZONE that was added, replaced or renamed
//! is as good as the one that was sent where the clock shows the same at the times that are there and, in a series, at its
//! time of day in the years to come. An EXDATE or RECURRENCE-ID only picks an occurrence: there the moment counts alone.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::document::{Component, Document, Parameter, Property};
use super::duration::Duration;
use super::entity::{Entity, Kind};
use super::raw;
use super::recur::{DAY, Rule, civil_second};
use super::structured::canonical_uri;
use super::value::request_status::RequestStatus;
use super::value::{DateOrPeriod, Geo, Temporal, Times, boolean, float, lossy, signed_integer, text, text_list};
use super::zone::{Zone, Zones};

/// The most differences that are told.
pub const MAX_DIFFERENCES: usize = 24;
/// The most that one sentence names.
const MAX_NAMED: usize = 8;
/// The longest name that is repeated.
const MAX_NAME: usize = 40;
/// For how many days after it was written a series has to be in the same place: ten years.
const AHEAD: i64 = 3_653;
/// The most days of series that are looked at in one resource.
const MAX_DAYS: i64 = 40_000;

/// What of a property is left to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    /// Whatever it does.
    All,
    /// That it raises the number.
    Raise,
    /// That it adds one where there was none.
    Add,
}

/// What servers write on their own, and which ones were seen to. A name that ends with a hyphen stands for all that
/// begin so.
const OWNED: [(&str, Leave, &str); 13] = [
    (
        "PRODID",
        Leave::All,
        "sabre and Nextcloud where it is missing, Google always",
    ),
    ("VERSION", Leave::All, "sabre and Nextcloud where it is missing"),
    ("METHOD", Leave::All, "stored resources have none: RFC 4791, 4.1"),
    (
        "DTSTAMP",
        Leave::All,
        "Radicale, SOGo and sabre where it is missing; when others change it, it is a stamp",
    ),
    ("CREATED", Leave::All, "a stamp"),
    ("LAST-MODIFIED", Leave::All, "a stamp"),
    ("SEQUENCE", Leave::Raise, "Cyrus, in overrides with attendees"),
    ("X-RADICALE-", Leave::Add, "Radicale"),
    ("X-SOGO-", Leave::Add, "SOGo"),
    ("X-CALENDARSERVER-", Leave::Add, "Apple, and Cyrus after it"),
    ("X-GOOGLE-", Leave::Add, "Google"),
    ("X-MICROSOFT-", Leave::Add, "gateways to Exchange"),
    ("X-MS-OLK-", Leave::Add, "gateways to Exchange"),
];

/// Parameters that scheduling servers set and take away (RFC 6638, 7.2 and 7.3).
const OWNED_PARAMETERS: [&str; 2] = ["SCHEDULE-STATUS", "SCHEDULE-FORCE-SEND"];

/// What is meant where nothing is said, by RFC 5545. SOGo adds CLASS.
const IMPLIED: [(&str, &str); 4] = [
    ("CALSCALE", "GREGORIAN"),
    ("CLASS", "PUBLIC"),
    ("TRANSP", "OPAQUE"),
    ("PRIORITY", "0"),
];

/// The same for parameters (RFC 5545, 3.2; RFC 6638, 7.1; RFC 7986, 6.1; RFC 9073, 5.3).
const IMPLIED_PARAMETERS: [(&str, &str); 11] = [
    ("CUTYPE", "INDIVIDUAL"),
    ("DERIVED", "FALSE"),
    ("DISPLAY", "BADGE"),
    ("ENCODING", "8BIT"),
    ("FBTYPE", "BUSY"),
    ("PARTSTAT", "NEEDS-ACTION"),
    ("RELATED", "START"),
    ("RELTYPE", "PARENT"),
    ("ROLE", "REQ-PARTICIPANT"),
    ("RSVP", "FALSE"),
    ("SCHEDULE-AGENT", "SERVER"),
];

/// Properties whose values are tokens, in any case.
const TOKENS: [&str; 8] = [
    "ACTION",
    "BUSYTYPE",
    "CALSCALE",
    "CLASS",
    "COLOR",
    "PROXIMITY",
    "STATUS",
    "TRANSP",
];
/// Properties that hold lists of TEXT.
const LISTS: [&str; 5] = [
    "CATEGORIES",
    "LOCATION-TYPE",
    "PARTICIPANT-TYPE",
    "RESOURCE-TYPE",
    "RESOURCES",
];
/// Parameters whose values are tokens, in any case.
const TOKEN_PARAMETERS: [&str; 6] = ["ENCODING", "FEATURE", "FMTTYPE", "LANGUAGE", "RANGE", "VALUE"];
/// Parameters whose values are URIs.
const URI_PARAMETERS: [&str; 6] = ["ALTREP", "DELEGATED-FROM", "DELEGATED-TO", "DIR", "MEMBER", "SENT-BY"];

/// Something that a server stores otherwise than it was sent. It has names only, no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where.
    pub place: Place,
    /// The name of the property or inner component, in upper case; `None` for the whole of the place, and for a name
    /// that is none.
    pub name: Option<String>,
    /// What became of it.
    pub change: Change,
}

/// Where something differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The octets.
    Octets,
    /// Around the components.
    Calendar,
    /// The component without RECURRENCE-ID.
    Master(Kind),
    /// An override, with the identity of its occurrence.
    Override(Kind, Temporal),
}

/// What became of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was sent, and fewer or none are there.
    Missing,
    /// More are there than were sent.
    Added,
    /// It is there, and says something else.
    Changed,
}

impl Difference {
    /// The octets differ, where they should not.
    #[must_use]
    pub fn octets() -> Self {
        Self {
            place: Place::Octets,
            name: None,
            change: Change::Changed,
        }
    }

    fn new(place: &Place, name: &str, change: Change) -> Self {
        let legal = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-';
        let is_name = !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(legal);
        Self {
            place: place.clone(),
            name: Some(if is_name { name } else { "a property with an odd name" }.to_owned()),
            change,
        }
    }
}

/// As a clause, such as `ATTENDEE is missing in the Event`.
impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = match self.change {
            Change::Missing => "missing",
            Change::Added => "added",
            Change::Changed => "changed",
        };
        match &self.name {
            Some(name) => write!(out, "{name} is {change} in {}", self.place),
            None if self.place == Place::Octets => write!(out, "the octets are {change}"),
            None => write!(out, "{} is {change}", self.place),
        }
    }
}

/// As part of a clause.
impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Octets => write!(out, "the octets"),
            Self::Calendar => write!(out, "the calendar around it"),
            Self::Master(Kind::Event) => write!(out, "the Event"),
            Self::Master(Kind::Todo) => write!(out, "the To-do"),
            Self::Override(_, Temporal::Date(day)) => write!(out, "the override of {day}"),
            Self::Override(_, identity) => write!(out, "the override of {}", identity.civil()),
        }
    }
}

/// What differs, as part of a sentence. Names only.
#[must_use]
pub fn sentence(found: &[Difference]) -> String {
    let mut named: Vec<_> = found.iter().take(MAX_NAMED).map(Difference::to_string).collect();
    if found.len() > MAX_NAMED {
        named.push("and more".into());
    }
    named.join(", ")
}

/// What is stored otherwise than it was meant, at most [`MAX_DIFFERENCES`]; nothing if it means the same.
#[must_use]
pub fn differences(meant: &Entity, stored: &Entity) -> Vec<Difference> {
    let mut found = Vec::new();
    let until = written(meant.document()) + AHEAD * DAY;
    let [meant_parts, mut stored_parts] =
        [meant, stored].map(|entity| Reader::new(&entity.zones, until).parts(entity.document()));
    for (key, part) in &meant_parts {
        match stored_parts.remove(key) {
            Some(other) => part.compare(&other, &mut found),
            None => found.push(part.whole(Change::Missing)),
        }
    }
    found.extend(stored_parts.values().map(|part| part.whole(Change::Added)));
    if found.is_empty() && meant.opaque() != stored.opaque() {
        found.push(Difference {
            place: Place::Calendar,
            name: None,
            change: Change::Changed,
        });
    }
    found.truncate(MAX_DIFFERENCES);
    found
}

/// The latest DTSTAMP: about when it was written.
fn written(document: &Document) -> i64 {
    let stamps = document.roots().flat_map(Component::children).filter_map(|child| {
        let stamp = Times::of(child.first("DTSTAMP")?).single().ok()?;
        Some(civil_second(stamp.civil()))
    });
    stamps.max().unwrap_or(0)
}

/// Things of one name, in any order: how many, and a sum of their digests. It tells accidents apart, not forgeries; a server
/// that wanted to lie would do so in its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Sum {
    count: u32,
    digests: u128,
}

impl Sum {
    fn add(&mut self, thing: impl Hash) {
        let half = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            thing.hash(&mut hasher);
            u128::from(hasher.finish())
        };
        self.count += 1;
        self.digests = self.digests.wrapping_add(half(0) << 64 | half(1));
    }
}

/// What is in a component, by name.
type Names = BTreeMap<String, Sum>;

/// An Event or To-do, or what is around them.
#[derive(Debug)]
struct Part {
    place: Place,
    sequence: i32,
    names: Names,
    /// When a series is due in the years to come.
    days: Option<u64>,
}

impl Part {
    fn whole(&self, change: Change) -> Difference {
        Difference {
            place: self.place.clone(),
            name: None,
            change,
        }
    }

    fn compare(&self, stored: &Self, found: &mut Vec<Difference>) {
        let mut differs = |name: &str, change| found.push(Difference::new(&self.place, name, change));
        let nothing = Sum::default();
        for (name, meant) in &self.names {
            let stored = stored.names.get(name).unwrap_or(&nothing);
            if meant != stored {
                differs(
                    name,
                    match stored.count.cmp(&meant.count) {
                        std::cmp::Ordering::Less => Change::Missing,
                        std::cmp::Ordering::Equal => Change::Changed,
                        std::cmp::Ordering::Greater => Change::Added,
                    },
                );
            }
        }
        let added = stored.names.keys().filter(|name| !self.names.contains_key(*name));
        for name in added.filter(|name| owned(name) != Some(Leave::Add)) {
            differs(name, Change::Added);
        }
        if stored.sequence < self.sequence {
            differs("SEQUENCE", Change::Changed);
        }
        let moved = self.days.is_some() && stored.days.is_some() && self.days != stored.days;
        if moved && self.names.get("DTSTART") == stored.names.get("DTSTART") {
            differs("DTSTART", Change::Changed);
        }
    }
}

/// What of a property is left to the server, if anything.
fn owned(name: &str) -> Option<Leave> {
    let is = |listed: &str| match listed.ends_with('-') {
        true => name.starts_with(listed),
        false => name == listed,
    };
    OWNED
        .iter()
        .find(|(listed, _, _)| is(listed))
        .map(|(_, leave, _)| *leave)
}

/// Which part of one resource is which of the other: its kind, its UID, its occurrence by moment with whether later ones
/// are meant too, and its place among those that have all this in common.
type Key = (Option<Kind>, String, Option<(String, bool)>, usize);

/// Reads parts into a form in which equal meanings are equal.
#[derive(Debug)]
struct Reader<'a> {
    zones: &'a Zones,
    /// Up to when series are looked at.
    until: i64,
    /// How many days may still be looked at.
    days: i64,
}

impl<'a> Reader<'a> {
    fn new(zones: &'a Zones, until: i64) -> Self {
        Self {
            zones,
            until,
            days: MAX_DAYS,
        }
    }

    fn parts(&mut self, document: &Document) -> BTreeMap<Key, Part> {
        let mut parts = BTreeMap::new();
        let mut around = Names::new();
        for root in document.roots() {
            if !root.is("VCALENDAR") {
                self.add(root, &mut around);
                continue;
            }
            self.properties(root, &mut around);
            for child in root.children().filter(|child| !child.is("VTIMEZONE")) {
                let kind = [Kind::Event, Kind::Todo]
                    .into_iter()
                    .find(|kind| child.is(kind.component()));
                let Some(kind) = kind else {
                    self.add(child, &mut around);
                    continue;
                };
                let part = self.part(kind, child);
                let mut key = self.key(kind, child);
                while parts.contains_key(&key) {
                    key.3 += 1;
                }
                parts.insert(key, part);
            }
        }
        let part = Part {
            place: Place::Calendar,
            sequence: 0,
            names: around,
            days: None,
        };
        parts.insert((None, String::new(), None, 0), part);
        parts
    }

    fn key(&self, kind: Kind, component: Component<'_>) -> Key {
        let identity = component.first("RECURRENCE-ID").map(|property| {
            let range = property.parameter("RANGE").is_some();
            (self.moments(property, true), range)
        });
        let uid = component
            .first("UID")
            .map(|property| text(property.value()).into_owned());
        (Some(kind), uid.unwrap_or_default(), identity, 0)
    }

    fn part(&mut self, kind: Kind, component: Component<'_>) -> Part {
        let identity = component.first("RECURRENCE-ID");
        let identity = identity.and_then(|property| Times::of(property).single().ok());
        let sequence = component.first("SEQUENCE");
        let sequence = sequence.and_then(|property| signed_integer(&property.value()).ok());
        let start = component.first("RRULE").and_then(|_| component.first("DTSTART"));
        Part {
            place: match identity {
                Some(identity) => Place::Override(kind, identity),
                None => Place::Master(kind),
            },
            sequence: sequence.unwrap_or(0),
            names: self.names(component),
            days: start.and_then(|start| self.days(start)),
        }
    }

    fn names(&mut self, component: Component<'_>) -> Names {
        let mut names = Names::new();
        self.properties(component, &mut names);
        for child in component.children() {
            self.add(child, &mut names);
        }
        names
    }

    fn add(&mut self, component: Component<'_>, names: &mut Names) {
        let name = String::from_utf8_lossy(&component.name()).to_ascii_uppercase();
        let inside = self.names(component);
        names.entry(name).or_default().add(inside);
    }

    fn properties(&mut self, component: Component<'_>, names: &mut Names) {
        for property in component.properties() {
            let name = String::from_utf8_lossy(&property.name()).trim().to_ascii_uppercase();
            if matches!(owned(&name), Some(Leave::All | Leave::Raise)) {
                continue;
            }
            let mut values = self.values(&name, property);
            values.retain(|value| !IMPLIED.contains(&(&*name, value)));
            if values.is_empty() {
                continue;
            }
            let mut said = Sum::default();
            said.add(parameters(&name, property));
            let sum = names.entry(name).or_default();
            for value in values {
                sum.add((value, said));
            }
        }
    }

    /// The values of a property, each in a form that is the same for all its spellings.
    fn values(&self, name: &str, property: Property<'_>) -> Vec<String> {
        let declared = property.parameter("VALUE");
        let value = property.value();
        let plain = || lossy(value.clone()).trim().to_owned();
        let one = match raw::value_type(name, declared.as_deref()) {
            "date-time" | "date" | "period" => {
                let identity = matches!(name, "EXDATE" | "RECURRENCE-ID");
                let moments = self.moments(property, identity);
                return moments.split_inclusive(';').map(str::to_owned).collect();
            }
            "duration" => match Duration::parse(&plain()) {
                Some(duration) => length(duration),
                None => self.moments(property, false),
            },
            "integer" => signed_integer(&value).map_or_else(|_| plain(), |number| number.to_string()),
            "float" if name == "GEO" => Geo::parse(&value).map_or_else(|_| plain(), |geo| format!("{geo:?}")),
            "float" => float(&value).map_or_else(|_| plain(), |number| number.to_string()),
            "recur" => rule(&plain()),
            "uri" => uri(&plain()),
            "binary" => plain().split_ascii_whitespace().collect(),
            _ if TOKENS.contains(&name) => plain().to_ascii_uppercase(),
            _ if LISTS.contains(&name) => {
                let mut values = text_list(value);
                values.retain(|value| !value.is_empty());
                return values.iter().map(|value| lines(value)).collect();
            }
            _ if name == "REQUEST-STATUS" => {
                RequestStatus::parse(&value).map_or_else(|_| plain(), |status| status.to_string())
            }
            _ => lines(&text(value)),
        };
        vec![one]
    }

    /// The times of a property, each with a semicolon after it. Where they only pick an occurrence, their zones do not count.
    fn moments(&self, property: Property<'_>, identity: bool) -> String {
        let (mut out, times) = (String::new(), Times::of(property));
        let mut zones = BTreeMap::new();
        for value in times.each() {
            match value {
                Ok(DateOrPeriod::Date(time)) => self.moment(&time, identity, &mut zones, &mut out),
                Ok(DateOrPeriod::Period(period)) => {
                    self.moment(&period.start, identity, &mut zones, &mut out);
                    out.push('/');
                    match period.end {
                        Ok(end) => self.moment(&end, identity, &mut zones, &mut out),
                        Err(text) => out.push_str(&Duration::parse(&text).map_or(text.to_string(), length)),
                    }
                }
                Err(_) => return format!("{:?}", lossy(property.value()).replace(';', ":")),
            }
            out.push(';');
        }
        out
    }

    fn moment(&self, time: &Temporal, identity: bool, zones: &mut BTreeMap<Arc<str>, Option<Zone>>, out: &mut String) {
        let civil = civil_second(time.civil());
        let instant = match time {
            Temporal::Zoned(_, tzid) => {
                let resolve = || self.zones.resolve(tzid).zone().cloned();
                let zone = zones.entry(tzid.clone()).or_insert_with(resolve);
                zone.as_ref().map(|zone| zone.resolve_clock(civil).second)
            }
            Temporal::Date(_) | Temporal::Floating(_) | Temporal::Utc(_) => None,
        };
        // Writing to a String does not fail.
        let _ = match (time, instant) {
            (Temporal::Date(day), _) => write!(out, "{day}"),
            (Temporal::Floating(_), _) => write!(out, "{civil}"),
            (Temporal::Utc(_), _) => write!(out, "{civil}Z"),
            (Temporal::Zoned(..), Some(instant)) if identity => write!(out, "{instant}Z"),
            (Temporal::Zoned(..), Some(instant)) => write!(out, "{civil}@{instant}"),
            (Temporal::Zoned(_, tzid), None) => write!(out, "{civil}@{:?}", tzid.replace([';', ','], ":")),
        };
    }

    /// When the clock of a series shows its time of day, in the years to come.
    fn days(&mut self, start: Property<'_>) -> Option<u64> {
        let start = Times::of(start).single().ok()?;
        let Temporal::Zoned(civil, tzid) = start else {
            return None;
        };
        let resolution = self.zones.resolve(&tzid);
        let zone = resolution.zone()?;
        let first = civil_second(civil);
        let days = (self.until - first).div_euclid(DAY).max(AHEAD).min(self.days);
        self.days -= days;
        let mut hasher = DefaultHasher::new();
        for day in 1..=days {
            let clock = first + day * DAY;
            zone.resolve_clock(clock).second.hash(&mut hasher);
        }
        Some(hasher.finish())
    }
}

/// The parameters in a form that is the same for all their spellings, without those that the value tells.
fn parameters(name: &str, property: Property<'_>) -> Vec<(String, String)> {
    if property.is_plain() {
        return Vec::new();
    }
    let declared = property.parameter("VALUE");
    let timed = |word| matches!(word, "date-time" | "date" | "period" | "duration");
    let word = raw::value_type(name, declared.as_deref());
    let usual = raw::value_type(name, None);
    let is_usual = word == usual && word != "unknown" || usual == "unknown" && word == "text";
    let mut out = Vec::new();
    for Parameter { name: own, values } in property.parameters() {
        let own = own.to_ascii_uppercase();
        let told = match &*own {
            "" => true,
            "VALUE" => is_usual || timed(word),
            "TZID" => timed(word),
            own => OWNED_PARAMETERS.contains(&own),
        };
        if told {
            continue;
        }
        // A comma that should have been quoted.
        let values = if own == "CN" { vec![values.join(", ")] } else { values };
        for value in values {
            let implied = IMPLIED_PARAMETERS.iter().find(|(implied, _)| *implied == own);
            let value = match &*own {
                "RSVP" | "DERIVED" => {
                    boolean(value.as_bytes()).map_or(value, |word| word.to_string().to_ascii_uppercase())
                }
                // Cyrus quotes the list.
                "FEATURE" | "DISPLAY" => {
                    let tokens = value.split(',').map(|token| token.trim().to_ascii_uppercase());
                    let said = tokens.filter(|token| implied.is_none_or(|(_, text)| text != token));
                    out.extend(said.map(|token| (own.clone(), token)));
                    continue;
                }
                own if implied.is_some() || TOKEN_PARAMETERS.contains(&own) => value.trim().to_ascii_uppercase(),
                own if URI_PARAMETERS.contains(&own) => uri(&value),
                _ => lines(&value),
            };
            if implied.is_none_or(|(_, text)| *text != value) {
                out.push((own.clone(), value));
            }
        }
    }
    out.sort();
    out
}

/// A duration by what it adds to the calendar and to the clock.
fn length(duration: Duration) -> String {
    format!("{}+{}", duration.nominal_days(), duration.exact_seconds())
}

/// A rule by what it says; one that cannot be understood by its parts, in any order and case.
fn rule(text: &str) -> String {
    if let Ok(rule) = Rule::parse(text) {
        return format!("{rule:?}");
    }
    let mut parts: Vec<_> = text.split(';').map(|part| part.trim().to_ascii_uppercase()).collect();
    parts.retain(|part| !part.is_empty());
    parts.sort();
    parts.join(";")
}

fn uri(text: &str) -> String {
    match text.contains(':') {
        true => canonical_uri(text),
        false => text.to_owned(),
    }
}

/// With one kind of line ends.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests;
