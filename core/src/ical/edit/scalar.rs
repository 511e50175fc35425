//! Scalar fields of one component.

use super::collection::set_organizer;
use super::recurrence_set::{NewRecurrence, Orphan};
use super::temporal::{self, Measure, Times, TimesPatch, set_plain};
use super::{fault, refusal, unwritable};
use crate::ical::changes::Changes;
use crate::ical::document::{Component, Property};
use crate::ical::duration::Duration;
use crate::ical::encode::escape_text;
use crate::ical::entity::Kind;
use crate::ical::structured::NamedUri;
use crate::ical::value::{Geo, OpenEnum, OpenEnumKind, Temporal, lossy, text, uri};
use crate::ical::zone::Zones;
use crate::outcome::{Code, Error};

/// One scalar field with its new value; `None` takes it out.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarPatch {
    /// SUMMARY.
    Summary(Option<String>),
    /// DESCRIPTION.
    Description(Option<String>),
    /// LOCATION of an Event.
    Location(Option<String>),
    /// DTSTART.
    Start(Option<Temporal>),
    /// DTEND of an Event, DUE of a To-do.
    End(Option<Temporal>),
    /// DURATION (RFC 5545, 3.3.6), longer than nothing.
    Duration(Option<String>),
    /// GEO of an Event.
    Geo(Option<Geo>),
    /// STATUS: a registered token in any case, or `X-…`.
    Status(Option<String>),
    /// TRANSP of an Event, as STATUS.
    Transparency(Option<String>),
    /// CLASS of an Event, as STATUS.
    Classification(Option<String>),
    /// PRIORITY, 0 to 9.
    Priority(Option<u8>),
    /// PERCENT-COMPLETE of a To-do, 0 to 100.
    PercentComplete(Option<u8>),
    /// URL of an Event, absolute.
    Url(Option<String>),
    /// ORGANIZER; the whole property is replaced.
    Organizer(Option<NamedUri>),
    /// RRULE, RDATE and EXDATE; for the entire set only.
    RecurrenceSet {
        /// The new rule and dates; `None` makes it a single one.
        set: Option<NewRecurrence>,
        /// All that the new set does not make any more, and that goes with it.
        orphans: Vec<Orphan>,
    },
}

/// The registered values of STATUS (RFC 5545, 3.8.1.11).
pub(super) fn statuses(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Event => &["TENTATIVE", "CONFIRMED", "CANCELLED"],
        Kind::Todo => &["NEEDS-ACTION", "COMPLETED", "IN-PROCESS", "CANCELLED"],
    }
}
/// The registered values of TRANSP (RFC 5545, 3.8.2.7).
pub(super) const TRANSPARENCIES: &[&str] = &["OPAQUE", "TRANSPARENT"];
/// The registered values of CLASS (RFC 5545, 3.8.1.3).
pub(super) const CLASSES: &[&str] = &["PUBLIC", "PRIVATE", "CONFIDENTIAL"];

impl ScalarPatch {
    /// The field as the tools name it.
    #[must_use]
    pub fn field(&self, kind: Kind) -> &'static str {
        match self {
            Self::Summary(_) => "summary",
            Self::Description(_) => "description",
            Self::Location(_) => "location",
            Self::Start(_) => "start",
            Self::End(_) if kind == Kind::Todo => "due",
            Self::End(_) => "end",
            Self::Duration(_) => "duration",
            Self::Geo(_) => "geo",
            Self::Status(_) => "status",
            Self::Transparency(_) => "transparency",
            Self::Classification(_) => "classification",
            Self::Priority(_) => "priority",
            Self::PercentComplete(_) => "percentComplete",
            Self::Url(_) => "url",
            Self::Organizer(_) => "organizer",
            Self::RecurrenceSet { .. } => "recurrenceSet",
        }
    }

    /// The property that it is about.
    pub(super) fn property(&self, kind: Kind) -> &'static str {
        match self {
            Self::Summary(_) => "SUMMARY",
            Self::Description(_) => "DESCRIPTION",
            Self::Location(_) => "LOCATION",
            Self::Start(_) => "DTSTART",
            Self::End(_) => temporal::end_property(kind),
            Self::Duration(_) => "DURATION",
            Self::Geo(_) => "GEO",
            Self::Status(_) => "STATUS",
            Self::Transparency(_) => "TRANSP",
            Self::Classification(_) => "CLASS",
            Self::Priority(_) => "PRIORITY",
            Self::PercentComplete(_) => "PERCENT-COMPLETE",
            Self::Url(_) => "URL",
            Self::Organizer(_) => "ORGANIZER",
            Self::RecurrenceSet { .. } => "RRULE",
        }
    }

    /// Whether it is about start, end or duration.
    pub(super) fn is_time(&self) -> bool {
        matches!(self, Self::Start(_) | Self::End(_) | Self::Duration(_))
    }

    /// Whether a component of this kind has the field.
    pub(super) fn fits(&self, kind: Kind) -> bool {
        match self {
            Self::Location(_) | Self::Geo(_) | Self::Transparency(_) | Self::Classification(_) | Self::Url(_) => {
                kind == Kind::Event
            }
            Self::PercentComplete(_) => kind == Kind::Todo,
            Self::Summary(_)
            | Self::Description(_)
            | Self::Start(_)
            | Self::End(_)
            | Self::Duration(_)
            | Self::Status(_)
            | Self::Organizer(_)
            | Self::RecurrenceSet { .. }
            | Self::Priority(_) => true,
        }
    }
}

/// A token of an open list in the spelling that is written: upper case.
pub(super) fn token(value: &str, registered: &[&str], pointer: &str) -> Result<String, Box<Error>> {
    let value = value.to_ascii_uppercase();
    let extension = value.strip_prefix("X-").is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-')
    });
    if extension || registered.contains(&&*value) {
        return Ok(value);
    }
    let message = format!("Send one of {}, or a value that begins with X-.", registered.join(", "));
    Err(fault(pointer, "value_not_allowed", &message))
}

/// GEO as it is written (RFC 5545, 3.8.1.6).
pub(super) fn geo(geo: Geo, pointer: &str) -> Result<String, Box<Error>> {
    let value = format!("{};{}", geo.latitude, geo.longitude);
    match Geo::parse(value.as_bytes()) {
        Ok(_) => Ok(value),
        Err(_) => Err(fault(
            pointer,
            "out_of_range",
            "Send -90 to 90 degrees of latitude and -180 to 180 of longitude.",
        )),
    }
}

/// An absolute URI as it is written.
pub(super) fn absolute(value: &str, pointer: &str) -> Result<String, Box<Error>> {
    uri(value.as_bytes()).map_err(|_| {
        fault(
            pointer,
            "format_mismatch",
            "Send an absolute URI, such as https://example.com/.",
        )
    })
}

/// DURATION of an input.
pub(super) fn duration(text: &str, pointer: &str) -> Result<Duration, Box<Error>> {
    let duration = Duration::parse(text).filter(|duration| !duration.is_negative() && !duration.is_zero());
    duration.ok_or_else(|| {
        let message = "Send a duration of RFC 5545 that is longer than nothing, such as PT1H30M or P1D.";
        fault(pointer, "duration_invalid", message)
    })
}

/// A small number in its range.
pub(super) fn number(value: u8, most: u8, pointer: &str) -> Result<String, Box<Error>> {
    if value <= most {
        return Ok(value.to_string());
    }
    Err(fault(
        pointer,
        "out_of_range",
        &format!("Send a number from 0 to {most}."),
    ))
}

/// How a plain field is stored.
struct Plain<'p> {
    name: &'static str,
    /// The encoded value.
    value: Option<String>,
    /// What it says, to compare with what is stored.
    says: fn(&[u8]) -> String,
    registered: Option<&'static [&'static str]>,
    pointer: &'p str,
}

/// TEXT, decoded.
fn says_text(value: &[u8]) -> String {
    text(value.into()).into_owned()
}

/// Anything else: without blanks around it, and for tokens in upper case.
fn says_token(value: &[u8]) -> String {
    lossy(value.into()).trim().to_ascii_uppercase()
}

fn says_plain(value: &[u8]) -> String {
    lossy(value.into()).trim().to_owned()
}

/// Adds what instructions change in a component, and tells its times before and after. `instructions` come with the
/// pointer to each. Fields that nobody names keep their octets.
pub(super) fn apply<'a>(
    changes: &mut Changes<'a>,
    component: Component<'a>,
    kind: Kind,
    instructions: &[(ScalarPatch, String)],
) -> Result<(Times, Times), Box<Error>> {
    let (mut times, mut reopened, mut percent) = (TimesPatch::default(), false, false);
    for (instruction, pointer) in instructions {
        percent |= matches!(instruction, ScalarPatch::PercentComplete(_));
        derived(component, instruction.property(kind), pointer)?;
        let Some(plain) = plain(instruction, kind, pointer)? else {
            note(&mut times, instruction, pointer)?;
            continue;
        };
        if instruction.property(kind) == "STATUS" {
            reopened = kind == Kind::Todo && plain.value.as_deref() != Some("COMPLETED");
        }
        set(changes, component, &plain)?;
    }
    if reopened {
        reopen(changes, component, percent)?;
    }
    for (instruction, pointer) in instructions {
        if let ScalarPatch::Organizer(organizer) = instruction {
            set_organizer(changes, component, organizer.as_ref(), pointer)?;
        }
    }
    let old = temporal::stored(component, kind);
    if times.is_empty() {
        return Ok((old.clone(), old));
    }
    let zones = Zones::read(component.document());
    let mut new = temporal::decide(kind, &old, &times, Measure(&zones))?;
    temporal::write(changes, component, kind, &old, &new).map_err(|fault| unwritable("/patch", fault))?;
    // Without DTSTART an override starts where its identity is.
    new.start = new.start.or_else(|| temporal::stored_time(component, "RECURRENCE-ID"));
    Ok((old, new))
}

/// `None` for start, end and duration, which are decided together, and for what has an edit of its own.
fn plain<'p>(instruction: &ScalarPatch, kind: Kind, pointer: &'p str) -> Result<Option<Plain<'p>>, Box<Error>> {
    let name = instruction.property(kind);
    let open = |value: &Option<String>, registered: &'static [&'static str]| {
        let value = value
            .as_ref()
            .map(|value| token(value, registered, pointer))
            .transpose()?;
        Ok::<_, Box<Error>>(Plain {
            name,
            value,
            says: says_token,
            registered: Some(registered),
            pointer,
        })
    };
    let other = |value: Option<Result<String, Box<Error>>>| {
        Ok::<_, Box<Error>>(Plain {
            name,
            value: value.transpose()?,
            says: says_plain,
            registered: None,
            pointer,
        })
    };
    Ok(Some(match instruction {
        ScalarPatch::Summary(value) | ScalarPatch::Description(value) | ScalarPatch::Location(value) => Plain {
            name,
            value: value.as_ref().map(|value| escape_text(value).into_owned()),
            says: says_text,
            registered: None,
            pointer,
        },
        ScalarPatch::Status(value) => open(value, statuses(kind))?,
        ScalarPatch::Transparency(value) => open(value, TRANSPARENCIES)?,
        ScalarPatch::Classification(value) => open(value, CLASSES)?,
        ScalarPatch::Geo(value) => other(value.map(|value| geo(value, pointer)))?,
        ScalarPatch::Priority(value) => other(value.map(|value| number(value, 9, pointer)))?,
        ScalarPatch::PercentComplete(value) => other(value.map(|value| number(value, 100, pointer)))?,
        ScalarPatch::Url(value) => other(value.as_ref().map(|value| absolute(value, pointer)))?,
        ScalarPatch::Start(_)
        | ScalarPatch::End(_)
        | ScalarPatch::Duration(_)
        | ScalarPatch::Organizer(_)
        | ScalarPatch::RecurrenceSet { .. } => return Ok(None),
    }))
}

/// Adds an instruction about start, end or duration.
fn note<'p>(times: &mut TimesPatch<'p>, instruction: &ScalarPatch, pointer: &'p str) -> Result<(), Box<Error>> {
    if let ScalarPatch::Start(start) = instruction {
        times.start = Some((start.clone(), pointer));
    }
    if let ScalarPatch::End(end) = instruction {
        times.end = Some((end.clone(), pointer));
    }
    if let ScalarPatch::Duration(text) = instruction {
        let length = text.as_ref().map(|text| duration(text, pointer)).transpose()?;
        times.duration = Some((length, pointer));
    }
    Ok(())
}

fn set<'a>(changes: &mut Changes<'a>, component: Component<'a>, plain: &Plain<'_>) -> Result<(), Box<Error>> {
    let stored = component.first(plain.name);
    if let (Some(registered), Some(stored)) = (plain.registered, stored)
        && let Some(OpenEnum {
            kind: OpenEnumKind::Unknown,
            ..
        }) = OpenEnum::read(stored.value(), registered)
    {
        let message = "The stored value is none of those that are known, and cannot be changed here.";
        return Err(fault(plain.pointer, "value_not_allowed", message));
    }
    if let (Some(value), Some(stored)) = (&plain.value, stored)
        && (plain.says)(&stored.value()) == (plain.says)(value.as_bytes())
    {
        return Ok(());
    }
    set_plain(changes, component, plain.name, plain.value.as_deref()).map_err(|fault| unwritable(plain.pointer, fault))
}

/// What another status leaves of a completed To-do: neither a time of completion nor 100 %.
fn reopen<'a>(changes: &mut Changes<'a>, component: Component<'a>, percent: bool) -> Result<(), Box<Error>> {
    let full = |property: &Property<'_>| lossy(property.value()).trim() == "100";
    component
        .all("COMPLETED")
        .for_each(|property| changes.replace(property, &[]));
    if !percent && component.first("PERCENT-COMPLETE").as_ref().is_some_and(full) {
        set_plain(changes, component, "PERCENT-COMPLETE", None).map_err(|fault| unwritable("/patch", fault))?;
    }
    Ok(())
}

/// A property that is derived from others cannot be edited (RFC 9073, 5.3).
pub(super) fn derived(component: Component<'_>, name: &str, pointer: &str) -> Result<(), Box<Error>> {
    let derived = |property: Property<'_>| {
        property
            .parameter("DERIVED")
            .is_some_and(|derived| derived.eq_ignore_ascii_case("TRUE"))
    };
    if component.all(name).any(derived) {
        let message = "This property is derived from others: change those instead.";
        return Err(fault(pointer, "value_not_allowed", message));
    }
    Ok(())
}

/// A completed To-do is made by completing it, not by its status.
pub(super) fn refuse_completion() -> Box<Error> {
    refusal(
        Code::InvalidInput,
        "Complete a To-do with the tool that completes To-dos.",
    )
}
