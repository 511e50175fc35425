//! The properties that resources have, and PROPFIND (RFC 4918, section 9.1).

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode};
use kalends_core::ical::document::MAX_BYTES;

use crate::element::{APPLE, CALDAV, CALENDAR_SERVER, DAV, Element, Name};
use crate::metadata::Metadata;
use crate::multistatus::{Multistatus, element, escape, is_representable, property, property_in, refused};
use crate::path::{Base, Target};
use crate::store::{Store, Trouble};
use crate::summary::{Summary, etag};

/// What a request asks to know.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// These properties.
    Named(Vec<Name>),
    /// Those of RFC 4918 that are there, and these.
    All(Vec<Name>),
    /// The names of what is there.
    Names,
}

/// Properties of RFC 4918 and 3744 (`DAV:`) and of the others that exist anywhere here.
const EVERY: [(&str, &str); 20] = [
    (DAV, "resourcetype"),
    (DAV, "displayname"),
    (DAV, "getetag"),
    (DAV, "getcontentlength"),
    (DAV, "getcontenttype"),
    (DAV, "current-user-principal"),
    (DAV, "principal-URL"),
    (DAV, "owner"),
    (DAV, "current-user-privilege-set"),
    (DAV, "supported-report-set"),
    (CALDAV, "calendar-home-set"),
    (CALDAV, "calendar-description"),
    (CALDAV, "calendar-timezone"),
    (CALDAV, "supported-calendar-component-set"),
    (CALDAV, "supported-calendar-data"),
    (CALDAV, "max-resource-size"),
    (CALENDAR_SERVER, "getctag"),
    (APPLE, "calendar-color"),
    (APPLE, "calendar-order"),
    (CALDAV, "calendar-data"),
];
/// How many of them `allprop` gives.
const ALLPROP: usize = 5;

impl Wanted {
    /// Reads the body of a PROPFIND, or the like parts of a REPORT. Nothing at all means everything.
    pub(crate) fn read(root: Option<&Element>) -> Self {
        let names = |parent: &Element| parent.children.iter().map(|child| child.name.clone()).collect();
        let Some(root) = root else {
            return Self::All(Vec::new());
        };
        if let Some(list) = root.child(DAV, "prop") {
            Self::Named(names(list))
        } else if root.child(DAV, "propname").is_some() {
            Self::Names
        } else {
            Self::All(root.child(DAV, "include").map_or_else(Vec::new, names))
        }
    }

    /// Whether calendar data is among what is asked for.
    pub(crate) fn wants_data(&self) -> bool {
        match self {
            Self::Named(names) | Self::All(names) => names.iter().any(|name| name.is(CALDAV, "calendar-data")),
            Self::Names => false,
        }
    }
}

/// A resource whose properties are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// The root.
    Root,
    /// A Calendar by its name.
    Calendar(&'a str, &'a Metadata),
    /// A member and, if it was read, its content.
    Member(&'a Summary, Option<&'a Bytes>),
}

/// Writes the response of one resource.
pub(crate) fn describe(
    (store, base): (&dyn Store, &Base),
    wanted: &Wanted,
    subject: Subject<'_>,
    href: &str,
    out: &mut Multistatus,
) {
    let (mut found, mut missing) = (String::new(), Vec::new());
    let mut name_and_value = |name: &Name, space: &str, local: &str| match value((store, base), subject, space, local) {
        Some(inner) => {
            let inner = if matches!(wanted, Wanted::Names) { "" } else { &inner };
            match (space, local, subject) {
                (CALDAV, "calendar-description", Subject::Calendar(_, metadata)) => {
                    property_in(
                        &mut found,
                        name,
                        metadata.language.as_deref().filter(|it| is_representable(it)),
                        inner,
                    );
                }
                _ => property(&mut found, name, inner),
            }
            true
        }
        None => false,
    };
    let every = |count: usize| EVERY.iter().take(count);
    let named = |space: &str, local: &str| Name {
        space: space.to_owned(),
        local: local.to_owned(),
    };
    match wanted {
        Wanted::Names => {
            for (space, local) in every(EVERY.len()) {
                name_and_value(&named(space, local), space, local);
            }
        }
        Wanted::All(_) => {
            for (space, local) in every(ALLPROP) {
                name_and_value(&named(space, local), space, local);
            }
        }
        Wanted::Named(_) => {}
    }
    if let Wanted::Named(names) | Wanted::All(names) = wanted {
        for name in names {
            if !name_and_value(name, &name.space, &name.local) {
                missing.push(name);
            }
        }
    }
    out.response(href, &found, &missing);
}

/// The content of a property, if the resource has it and XML can hold it.
fn value(here: (&dyn Store, &Base), subject: Subject<'_>, space: &str, local: &str) -> Option<String> {
    content(here, subject, space, local).filter(|content| is_representable(content))
}

fn content((store, base): (&dyn Store, &Base), subject: Subject<'_>, space: &str, local: &str) -> Option<String> {
    let text = |text: &str| {
        let mut out = String::new();
        escape(text, &mut out);
        Some(out)
    };
    let root = || {
        let mut out = String::new();
        element(&mut out, "D:href", base.href());
        Some(out)
    };
    match (space, local, subject) {
        (DAV, "resourcetype", Subject::Root) => Some("<D:collection/><D:principal/>".into()),
        (DAV, "resourcetype", Subject::Calendar(..)) => Some("<D:collection/><C:calendar/>".into()),
        (DAV, "resourcetype", Subject::Member(..)) => Some(String::new()),
        (DAV, "current-user-principal" | "owner", _)
        | (DAV, "principal-URL", Subject::Root)
        | (CALDAV, "calendar-home-set", Subject::Root) => root(),
        (DAV, "current-user-privilege-set", _) => {
            let names = [
                "all",
                "read",
                "write",
                "write-properties",
                "write-content",
                "bind",
                "unbind",
            ];
            let privilege = |name: &str| format!("<D:privilege><D:{name}/></D:privilege>");
            Some(names.map(privilege).concat())
        }
        (DAV, "supported-report-set", Subject::Calendar(..)) => {
            let report =
                |name: &str| format!("<D:supported-report><D:report><{name}/></D:report></D:supported-report>");
            let names = [
                "C:calendar-query",
                "C:calendar-multiget",
                "C:free-busy-query",
                "D:sync-collection",
            ];
            Some(names.map(report).concat())
        }
        (DAV, "displayname", Subject::Calendar(name, metadata)) => text(metadata.name.as_deref().unwrap_or(name)),
        (DAV, "displayname", Subject::Root) => text("Local calendars"),
        (CALDAV, "calendar-description", Subject::Calendar(_, metadata)) => text(metadata.description.as_deref()?),
        (CALDAV, "calendar-timezone", Subject::Calendar(_, metadata)) => text(metadata.timezone.as_deref()?),
        (APPLE, "calendar-color", Subject::Calendar(_, metadata)) => text(metadata.color.as_deref()?),
        (APPLE, "calendar-order", Subject::Calendar(_, metadata)) => Some(metadata.order?.to_string()),
        (CALDAV, "supported-calendar-component-set", Subject::Calendar(_, metadata)) => {
            let mut out = String::new();
            for kind in metadata.kinds() {
                out.push_str("<C:comp name=\"");
                escape(kind, &mut out);
                out.push_str("\"/>");
            }
            Some(out)
        }
        (CALDAV, "supported-calendar-data", Subject::Calendar(..)) => {
            Some("<C:calendar-data content-type=\"text/calendar\" version=\"2.0\"/>".into())
        }
        (CALDAV, "max-resource-size", Subject::Calendar(..)) => Some(MAX_BYTES.to_string()),
        (CALENDAR_SERVER, "getctag", Subject::Calendar(name, _)) => text(&change_tag(store, name).ok()?),
        (DAV, "getetag", Subject::Member(summary, _)) => text(&summary.etag),
        (DAV, "getcontentlength", Subject::Member(summary, _)) => Some(summary.length.to_string()),
        (DAV, "getcontenttype", Subject::Member(summary, _)) => text(&content_type(summary)),
        (CALDAV, "calendar-data", Subject::Member(_, Some(content))) => text(std::str::from_utf8(content).ok()?),
        _ => None,
    }
}

/// The media type of a member.
pub(crate) fn content_type(summary: &Summary) -> String {
    let plain = |kind: &str| kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match summary.kind().filter(|kind| plain(kind)) {
        Some(kind) => format!("text/calendar; charset=utf-8; component={kind}"),
        None => "text/calendar; charset=utf-8".into(),
    }
}

/// A header value of our own making.
pub(crate) fn header(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("Entity Tags and media types are plain ASCII")
}

/// Changes whenever a member is added, changed or removed.
fn change_tag(store: &dyn Store, calendar: &str) -> Result<String, Trouble> {
    let mut state = String::new();
    for member in store.members(calendar)? {
        state.push_str(&member.name);
        state.push('\n');
        state.push_str(member.content.as_ref().map_or("-", |summary| &summary.etag));
        state.push('\n');
    }
    Ok(etag(state.as_bytes()).trim_matches('"').to_owned())
}

/// How deep a request reaches (RFC 4918, 10.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The resource alone.
    Zero,
    /// With its members.
    One,
    /// With everything below; also what is not understood.
    Infinity,
}

/// Answers a PROPFIND.
pub(crate) fn propfind(
    (store, base): (&dyn Store, &Base),
    target: &Target,
    depth: Depth,
    body: Option<&Element>,
) -> Result<Response<Bytes>, Trouble> {
    if body.is_some_and(|body| !body.name.is(DAV, "propfind")) {
        return Ok(crate::multistatus::empty(StatusCode::UNPROCESSABLE_ENTITY));
    }
    if depth == Depth::Infinity && !matches!(target, Target::Member(..)) {
        return Ok(refused(StatusCode::FORBIDDEN, DAV, "propfind-finite-depth", None));
    }
    let here = (store, base);
    let wanted = Wanted::read(body);
    let mut out = Multistatus::new();
    match target {
        Target::Root => {
            describe(here, &wanted, Subject::Root, base.href(), &mut out);
            let inside = if depth == Depth::One {
                store.calendars()?
            } else {
                Vec::new()
            };
            for calendar in inside {
                // Removed by another program while we looked.
                let Ok(metadata) = store.metadata(&calendar) else {
                    continue;
                };
                let subject = Subject::Calendar(&calendar, &metadata);
                describe(here, &wanted, subject, &base.calendar(&calendar), &mut out);
            }
        }
        Target::Calendar(calendar) => {
            let metadata = store.metadata(calendar)?;
            describe(
                here,
                &wanted,
                Subject::Calendar(calendar, &metadata),
                &base.calendar(calendar),
                &mut out,
            );
            let inside = if depth == Depth::One {
                store.members(calendar)?
            } else {
                Vec::new()
            };
            for member in inside {
                let href = base.member(calendar, &member.name);
                match member.content {
                    Ok(summary) => describe(here, &wanted, Subject::Member(&summary, None), &href, &mut out),
                    Err(trouble) => out.status(&href, trouble.status()),
                }
            }
        }
        Target::Member(calendar, name) => {
            let content = store.read(calendar, name)?;
            let summary = Summary::read(&content);
            describe(
                here,
                &wanted,
                Subject::Member(&summary, None),
                &base.member(calendar, name),
                &mut out,
            );
        }
    }
    Ok(out.finish())
}
