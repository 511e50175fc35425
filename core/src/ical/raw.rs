//! Properties as they are stored, for what is not projected further.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::document::{Component, Document, Parameter, Property};

/// The most properties of an opaque resource that are shown.
pub const MAX_SHOWN: usize = 1_000;
/// The most octets that their content lines have, with 32 for each component around one. They are shown twice,
/// decoded and as they are, so a result stays below 1 MiB but for characters that JSON has to escape.
pub const MAX_SHOWN_OCTETS: usize = 256 * 1024;
/// What a step of a path takes in a result, in octets.
const SEGMENT: usize = 32;

/// One property with where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CalendarProperty {
    /// From the outermost component to its own.
    pub component_path: Path,
    /// As written.
    pub name: String,
    /// In order.
    pub parameters: Vec<Parameter>,
    /// By VALUE, else by the name's default.
    pub value_type: &'static str,
    /// Unfolded and otherwise as written; bad UTF-8 becomes U+FFFD.
    pub raw_encoded_value: String,
    /// The whole content line with folds and line end; bad UTF-8 becomes U+FFFD.
    pub original_slice: String,
}

/// A component and those around it. Siblings and children share what they have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    outer: Option<Arc<Self>>,
    segment: PathSegment,
    depth: usize,
}

/// As an array, outermost first.
impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut segments: Vec<_> = std::iter::successors(Some(self), |path| path.outer.as_deref()).collect();
        segments.reverse();
        serializer.collect_seq(segments.iter().map(|path| &path.segment))
    }
}

/// A component among its siblings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct PathSegment {
    /// Its name in upper case; characters other than letters, digits and hyphens become hyphens.
    name: String,
    /// Which one of those with this name, from 0.
    occurrence: usize,
}

/// What VALUE and the defaults of RFC 5545, 7986, 9073 and 9253 say, where the results have a word for it.
const TYPES: [(&str, &str); 11] = [
    (
        "text",
        "CALSCALE METHOD PRODID VERSION CATEGORIES CLASS COMMENT DESCRIPTION LOCATION RESOURCES STATUS SUMMARY TRANSP TZID TZNAME CONTACT RELATED-TO UID ACTION REQUEST-STATUS NAME COLOR LOCATION-TYPE PARTICIPANT-TYPE RESOURCE-TYPE STYLED-DESCRIPTION REFID",
    ),
    (
        "date-time",
        "COMPLETED DTEND DUE DTSTART RECURRENCE-ID EXDATE RDATE CREATED DTSTAMP LAST-MODIFIED ACKNOWLEDGED",
    ),
    ("date", ""),
    (
        "uri",
        "ATTACH TZURL ATTENDEE ORGANIZER URL SOURCE IMAGE CONFERENCE CALENDAR-ADDRESS CONCEPT LINK",
    ),
    ("duration", "DURATION TRIGGER REFRESH-INTERVAL"),
    ("integer", "PERCENT-COMPLETE PRIORITY REPEAT SEQUENCE"),
    ("float", "GEO"),
    ("period", "FREEBUSY"),
    ("recur", "RRULE EXRULE"),
    ("binary", ""),
    ("uid", ""),
];

impl CalendarProperty {
    /// The properties of every component, in the order of the components, and how many are left out: those beyond
    /// [`MAX_SHOWN`], and those that would make more than [`MAX_SHOWN_OCTETS`] with the ones before them.
    #[must_use]
    pub fn all(document: &Document) -> (Vec<Self>, usize) {
        let (mut shown, mut omitted, mut room) = (Vec::new(), 0, MAX_SHOWN_OCTETS);
        let mut open = numbered(document.roots(), None);
        open.reverse();
        while let Some((component, path)) = open.pop() {
            for property in component.properties() {
                let octets = property.range().len() + path.depth * SEGMENT;
                if shown.len() == MAX_SHOWN || octets > room {
                    omitted += 1;
                } else if let Some(property) = Self::read(property, &path) {
                    shown.push(property);
                    room -= octets;
                }
            }
            let children = numbered(component.children(), Some(&Arc::new(path)));
            open.extend(children.into_iter().rev());
        }
        (shown, omitted)
    }

    /// The properties that stand in a VCALENDAR itself.
    #[must_use]
    pub fn of_calendars(document: &Document) -> Vec<Self> {
        let calendars = numbered(document.roots().filter(|root| root.is("VCALENDAR")), None);
        let own = |(component, path): &(Component<'_>, Path)| -> Vec<Self> {
            component
                .properties()
                .filter_map(|property| Self::read(property, path))
                .collect()
        };
        calendars.iter().flat_map(own).collect()
    }

    /// `None` for a line that has no name.
    fn read(property: Property<'_>, path: &Path) -> Option<Self> {
        let name = String::from_utf8_lossy(&property.name()).into_owned();
        let parameters = property
            .parameters()
            .into_iter()
            .filter(|parameter| !parameter.name.is_empty());
        (!name.is_empty()).then(|| Self {
            component_path: path.clone(),
            value_type: value_type(&name, property.parameter("VALUE").as_deref()),
            name,
            parameters: parameters.collect(),
            raw_encoded_value: String::from_utf8_lossy(&property.value()).into_owned(),
            original_slice: String::from_utf8_lossy(property.slice()).into_owned(),
        })
    }
}

/// Components with their paths.
fn numbered<'a>(
    components: impl Iterator<Item = Component<'a>>,
    outer: Option<&Arc<Path>>,
) -> Vec<(Component<'a>, Path)> {
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    let path = |component: Component<'a>| {
        let legal = |octet: &u8| {
            if octet.is_ascii_alphanumeric() {
                char::from(octet.to_ascii_uppercase())
            } else {
                '-'
            }
        };
        let mut name: String = component.name().iter().map(legal).collect();
        if name.is_empty() {
            name.push('-');
        }
        let next = met.entry(name.clone()).or_default();
        let segment = PathSegment {
            name,
            occurrence: *next,
        };
        *next += 1;
        let depth = outer.map_or(0, |path| path.depth) + 1;
        let outer = outer.cloned();
        (component, Path { outer, segment, depth })
    };
    components.map(path).collect()
}

/// The value type by VALUE, else by name.
pub(super) fn value_type(name: &str, declared: Option<&str>) -> &'static str {
    let found = match declared {
        Some(declared) => TYPES.iter().find(|(kind, _)| kind.eq_ignore_ascii_case(declared)),
        None if name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("X-")) => Some(&TYPES[0]),
        None => TYPES
            .iter()
            .find(|(_, names)| names.split(' ').any(|known| known.eq_ignore_ascii_case(name))),
    };
    match (found, declared) {
        (Some((kind, _)), _) => kind,
        (None, Some(declared)) if declared.eq_ignore_ascii_case("CAL-ADDRESS") => "uri",
        (None, _) => "unknown",
    }
}
