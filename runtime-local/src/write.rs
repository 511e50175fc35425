//! PUT, DELETE and MKCALENDAR (RFC 4791, sections 5.3.1 and 5.3.2).

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG};
use http::{HeaderMap, Response, StatusCode};
use kalends_core::ical::document::{Document, MAX_BYTES};

use crate::element::{APPLE, CALDAV, DAV, Element};
use crate::folder::is_member;
use crate::metadata::Metadata;
use crate::multistatus::{empty, refused};
use crate::path::{Base, Target};
use crate::precondition::{Verdict, judge};
use crate::property::header;
use crate::store::{Store, Trouble};
use crate::summary::{CALENDAR, etag, text};

/// Stores a member.
pub(crate) fn put(
    (store, base): (&dyn Store, &Base),
    (calendar, name): (&str, &str),
    headers: &HeaderMap,
    content: &Bytes,
) -> Result<Response<Bytes>, Trouble> {
    if !is_member(name) {
        return Ok(empty(StatusCode::FORBIDDEN));
    }
    let _guard = store.lock()?;
    let metadata = match store.metadata(calendar) {
        Err(Trouble::Missing) => return Ok(empty(StatusCode::CONFLICT)),
        metadata => metadata?,
    };
    let members = store.members(calendar)?;
    let current = members.iter().find(|member| member.name == name);
    let current = current
        .map(|member| member.content.as_ref().map_err(|trouble| *trouble))
        .transpose()?;
    if judge(headers, current.map(|summary| summary.etag.as_str())) != Verdict::Holds {
        return Ok(empty(StatusCode::PRECONDITION_FAILED));
    }
    let is_calendar = |kind: &[u8]| {
        let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
        kind.trim_ascii().eq_ignore_ascii_case(b"text/calendar")
    };
    if headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| !is_calendar(kind.as_bytes()))
    {
        return Ok(refused(StatusCode::FORBIDDEN, CALDAV, "supported-calendar-data", None));
    }
    let object = match CalendarObject::read(content) {
        Ok(object) => object,
        Err(condition) => return Ok(refused(StatusCode::FORBIDDEN, CALDAV, condition, None)),
    };
    if !metadata.kinds().contains(&object.kind.as_str()) {
        return Ok(refused(
            StatusCode::FORBIDDEN,
            CALDAV,
            "supported-calendar-component",
            None,
        ));
    }
    let in_the_way = members.iter().find(|member| {
        let uids = member.content.as_ref().map_or(&[][..], |summary| &summary.uids);
        let same = uids.contains(&object.uid);
        if member.name == name {
            !same && !uids.is_empty()
        } else {
            same
        }
    });
    if let Some(other) = in_the_way {
        let href = base.member(calendar, &other.name);
        return Ok(refused(StatusCode::CONFLICT, CALDAV, "no-uid-conflict", Some(&href)));
    }
    store.write(calendar, name, content)?;
    let status = if current.is_some() {
        StatusCode::NO_CONTENT
    } else {
        StatusCode::CREATED
    };
    let mut response = empty(status);
    response.headers_mut().insert(ETAG, header(&etag(content)));
    Ok(response)
}

/// The least that makes octets a Calendar Object Resource (RFC 4791, 4.1).
struct CalendarObject {
    kind: String,
    uid: String,
}

impl CalendarObject {
    /// Reads it, or tells the precondition that fails (RFC 4791, 5.3.2.1).
    fn read(content: &Bytes) -> Result<Self, &'static str> {
        if content.len() > MAX_BYTES {
            return Err("max-resource-size");
        }
        let document = Document::parse(content.clone()).map_err(|_| "valid-calendar-data")?;
        let mut roots = document.roots();
        let (Some(calendar), None) = (roots.next(), roots.next()) else {
            return Err("valid-calendar-data");
        };
        if !calendar.is(CALENDAR) || !document.faults().is_empty() {
            return Err("valid-calendar-data");
        }
        let mut object: Option<Self> = None;
        for component in calendar.children().filter(|component| !component.is("VTIMEZONE")) {
            let uid = component.first("UID").map(|uid| text(&uid.value()));
            let this = Self {
                kind: String::from_utf8_lossy(&component.name()).to_ascii_uppercase(),
                uid: uid
                    .filter(|uid| !uid.is_empty())
                    .ok_or("valid-calendar-object-resource")?,
            };
            match &object {
                Some(first) if (&first.kind, &first.uid) != (&this.kind, &this.uid) => {
                    return Err("valid-calendar-object-resource");
                }
                Some(_) => {}
                None => object = Some(this),
            }
        }
        let object = object.ok_or("valid-calendar-object-resource")?;
        if calendar.first("METHOD").is_some() {
            return Err("valid-calendar-object-resource");
        }
        Ok(object)
    }
}

/// Removes a member.
pub(crate) fn delete(
    store: &dyn Store,
    (calendar, name): (&str, &str),
    headers: &HeaderMap,
) -> Result<Response<Bytes>, Trouble> {
    let _guard = store.lock()?;
    if !is_member(name) {
        return Err(Trouble::Missing);
    }
    let current = etag(&store.read(calendar, name)?);
    if judge(headers, Some(&current)) != Verdict::Holds {
        return Ok(empty(StatusCode::PRECONDITION_FAILED));
    }
    store.remove(calendar, name)?;
    Ok(empty(StatusCode::NO_CONTENT))
}

/// Makes a Calendar.
pub(crate) fn make_calendar(
    store: &dyn Store,
    target: &Target,
    body: Option<&Element>,
) -> Result<Response<Bytes>, Trouble> {
    let Target::Calendar(calendar) = target else {
        return Ok(refused(
            StatusCode::FORBIDDEN,
            CALDAV,
            "calendar-collection-location-ok",
            None,
        ));
    };
    let metadata = match body {
        Some(body) if !body.name.is(CALDAV, "mkcalendar") => return Ok(empty(StatusCode::UNPROCESSABLE_ENTITY)),
        Some(body) => match read_metadata(body) {
            Some(metadata) => metadata,
            None => {
                return Ok(refused(
                    StatusCode::FORBIDDEN,
                    DAV,
                    "cannot-modify-protected-property",
                    None,
                ));
            }
        },
        None => Metadata::default(),
    };
    let _guard = store.lock()?;
    match store.metadata(calendar) {
        Ok(_) => {
            return Ok(refused(
                StatusCode::METHOD_NOT_ALLOWED,
                DAV,
                "resource-must-be-null",
                None,
            ));
        }
        Err(Trouble::Missing) => {}
        Err(trouble) => return Err(trouble),
    }
    store.create(calendar, &metadata)?;
    Ok(empty(StatusCode::CREATED))
}

/// The properties that a new Calendar is given; `None` if one of them cannot be set.
fn read_metadata(body: &Element) -> Option<Metadata> {
    let mut metadata = Metadata::default();
    let properties = body.all(DAV, "set").flat_map(|set| set.all(DAV, "prop"));
    for property in properties.flat_map(|list| &list.children) {
        let value = property.text.trim().to_owned();
        match (property.name.space.as_str(), property.name.local.as_str()) {
            (DAV, "displayname") => metadata.name = Some(value),
            (DAV, "resourcetype") => {}
            (CALDAV, "calendar-description") => metadata.description = Some(value),
            (CALDAV, "calendar-timezone") => metadata.timezone = Some(property.text.clone()),
            (APPLE, "calendar-color") => metadata.color = Some(value),
            (APPLE, "calendar-order") => metadata.order = Some(value.parse().ok()?),
            (CALDAV, "supported-calendar-component-set") => {
                let kinds = property.all(CALDAV, "comp").filter_map(|kind| kind.attribute("name"));
                metadata.components = Some(kinds.map(str::to_ascii_uppercase).collect());
            }
            _ => return None,
        }
    }
    Some(metadata)
}
