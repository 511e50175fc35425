//! PUT, DELETE, MOVE, PROPPATCH and MKCALENDAR (RFC 4918, section 9; RFC 4791, sections 5.3.1 and 5.3.2).

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG};
use http::{HeaderMap, Response, StatusCode, Uri};
use kalends_core::href::Href;
use kalends_core::ical::document::{Document, MAX_BYTES};

use crate::element::{APPLE, CALDAV, DAV, Element, Name};
use crate::folder::is_member;
use crate::metadata::Metadata;
use crate::multistatus::{Multistatus, empty, refused};
use crate::path::{Base, Target};
use crate::precondition::{Verdict, judge};
use crate::property::header;
use crate::store::{Store, Trouble};
use crate::summary::{CALENDAR, Summary, etag, text};

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

/// Removes a Calendar with all that is in it.
pub(crate) fn remove_calendar(store: &dyn Store, calendar: &str) -> Result<Response<Bytes>, Trouble> {
    let _guard = store.lock()?;
    store.discard(calendar)?;
    Ok(empty(StatusCode::NO_CONTENT))
}

/// Moves a member (RFC 4918, 9.9; RFC 4791, 5.3.2.1).
pub(crate) fn relocate(
    (store, base): (&dyn Store, &Base),
    from: (&str, &str),
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Response<Bytes>, Trouble> {
    let to = match destination(base, uri, headers) {
        Ok(to) => to,
        Err(status) => return Ok(empty(status)),
    };
    let to = (to.0.as_str(), to.1.as_str());
    if from == to || !is_member(to.1) {
        return Ok(empty(StatusCode::FORBIDDEN));
    }
    let _guard = store.lock()?;
    if !is_member(from.1) {
        return Err(Trouble::Missing);
    }
    let content = store.read(from.0, from.1)?;
    if judge(headers, Some(&etag(&content))) != Verdict::Holds {
        return Ok(empty(StatusCode::PRECONDITION_FAILED));
    }
    let metadata = match store.metadata(to.0) {
        Err(Trouble::Missing) => return Ok(empty(StatusCode::CONFLICT)),
        metadata => metadata?,
    };
    let members = store.members(to.0)?;
    let occupied = members.iter().any(|member| member.name == to.1);
    if occupied && headers.get("overwrite").is_some_and(|value| value == "F") {
        return Ok(empty(StatusCode::PRECONDITION_FAILED));
    }
    let summary = Summary::read(&content);
    if summary.kind().is_some_and(|kind| !metadata.kinds().contains(&kind)) {
        let condition = "supported-calendar-component";
        return Ok(refused(StatusCode::FORBIDDEN, CALDAV, condition, None));
    }
    let in_the_way = members.iter().find(|member| {
        let uids = member.content.as_ref().map_or(&[][..], |summary| &summary.uids);
        let stays = member.name != to.1 && (to.0, member.name.as_str()) != from;
        stays && uids.iter().any(|uid| summary.uids.contains(uid))
    });
    if let Some(other) = in_the_way {
        let href = base.member(to.0, &other.name);
        return Ok(refused(StatusCode::CONFLICT, CALDAV, "no-uid-conflict", Some(&href)));
    }
    store.relocate(from, to)?;
    Ok(empty(if occupied {
        StatusCode::NO_CONTENT
    } else {
        StatusCode::CREATED
    }))
}

/// The Calendar and name that a `Destination` means (RFC 4918, 10.3).
///
/// # Errors
/// 400 if it is none, 502 on another server, 403 where no member can be.
fn destination(base: &Base, uri: &Uri, headers: &HeaderMap) -> Result<(String, String), StatusCode> {
    let text = headers.get("destination").and_then(|value| value.to_str().ok());
    let text = text.ok_or(StatusCode::BAD_REQUEST)?.trim();
    let target = if text.starts_with('/') {
        base.target(text)?
    } else {
        let href = Href::parse(text).map_err(|_| StatusCode::BAD_REQUEST)?;
        let own = Href::from_uri(uri);
        if own.is_some_and(|own| own.origin() != href.origin()) {
            return Err(StatusCode::BAD_GATEWAY);
        }
        base.target(href.path())?
    };
    match target {
        Target::Member(calendar, name) => Ok((calendar, name)),
        Target::Root | Target::Calendar(_) => Err(StatusCode::FORBIDDEN),
    }
}

/// Changes properties of a Calendar, all of them or none (RFC 4918, 9.2).
pub(crate) fn change_properties(
    (store, base): (&dyn Store, &Base),
    target: &Target,
    body: Option<&Element>,
) -> Result<Response<Bytes>, Trouble> {
    let Some(body) = body.filter(|body| body.name.is(DAV, "propertyupdate")) else {
        return Ok(empty(StatusCode::UNPROCESSABLE_ENTITY));
    };
    let Target::Calendar(calendar) = target else {
        return Ok(empty(StatusCode::FORBIDDEN));
    };
    let _guard = store.lock()?;
    let mut metadata = store.metadata(calendar)?;
    let mut outcomes: Vec<(&Name, StatusCode)> = Vec::new();
    let instructions = body.children.iter().filter(|it| it.name.space == DAV);
    for instruction in instructions {
        let removes = instruction.name.local == "remove";
        if !removes && instruction.name.local != "set" {
            continue;
        }
        for list in instruction.all(DAV, "prop") {
            let outer = [body, instruction, list].map(|outer| outer.attribute("lang"));
            for property in &list.children {
                let language = property.attribute("lang").or(outer[2]).or(outer[1]).or(outer[0]);
                let status = if removes {
                    remove(&mut metadata, &property.name)
                } else if property.name.is(CALDAV, COMPONENTS) {
                    StatusCode::FORBIDDEN
                } else {
                    set(&mut metadata, property, language)
                };
                outcomes.push((&property.name, status));
            }
        }
    }
    if outcomes.is_empty() {
        return Ok(empty(StatusCode::UNPROCESSABLE_ENTITY));
    }
    if outcomes.iter().all(|(_, status)| status.is_success()) {
        store.describe(calendar, &metadata)?;
    } else {
        for (_, status) in &mut outcomes {
            if status.is_success() {
                *status = StatusCode::FAILED_DEPENDENCY;
            }
        }
    }
    let mut grouped: Vec<(StatusCode, Vec<&Name>)> = Vec::new();
    for (name, status) in outcomes {
        match grouped.iter_mut().find(|(known, _)| *known == status) {
            Some((_, names)) => names.push(name),
            None => grouped.push((status, vec![name])),
        }
    }
    let mut out = Multistatus::new();
    out.changed(&base.calendar(calendar), &grouped);
    Ok(out.finish())
}

const COMPONENTS: &str = "supported-calendar-component-set";

/// Takes a property away. One that is not there is gone already (RFC 4918, 14.23).
fn remove(metadata: &mut Metadata, name: &Name) -> StatusCode {
    match (name.space.as_str(), name.local.as_str()) {
        (DAV, "displayname") => metadata.name = None,
        (CALDAV, "calendar-description") => (metadata.description, metadata.language) = (None, None),
        (CALDAV, "calendar-timezone") => metadata.timezone = None,
        (APPLE, "calendar-color") => metadata.color = None,
        (APPLE, "calendar-order") => metadata.order = None,
        _ => return StatusCode::FORBIDDEN,
    }
    StatusCode::OK
}

/// Gives a property a value.
fn set(metadata: &mut Metadata, property: &Element, language: Option<&str>) -> StatusCode {
    let value = property.text.trim().to_owned();
    match (property.name.space.as_str(), property.name.local.as_str()) {
        (DAV, "displayname") => metadata.name = Some(value),
        (CALDAV, "calendar-description") => {
            metadata.description = Some(value);
            metadata.language = language.filter(|language| !language.is_empty()).map(str::to_owned);
        }
        (CALDAV, "calendar-timezone") => {
            if !is_time_zone(&property.text) {
                return StatusCode::FORBIDDEN;
            }
            metadata.timezone = Some(property.text.clone());
        }
        (APPLE, "calendar-color") => metadata.color = Some(value),
        (APPLE, "calendar-order") => match value.parse() {
            Ok(order) => metadata.order = Some(order),
            Err(_) => return StatusCode::CONFLICT,
        },
        (CALDAV, COMPONENTS) => {
            let kinds = property.all(CALDAV, "comp").filter_map(|kind| kind.attribute("name"));
            metadata.components = Some(kinds.map(str::to_ascii_uppercase).collect());
        }
        _ => return StatusCode::FORBIDDEN,
    }
    StatusCode::OK
}

/// Whether a text is one VCALENDAR with one VTIMEZONE and nothing else (RFC 4791, 5.2.2).
fn is_time_zone(text: &str) -> bool {
    let Ok(document) = Document::parse(Bytes::copy_from_slice(text.as_bytes())) else {
        return false;
    };
    let mut roots = document.roots();
    let (Some(calendar), None) = (roots.next(), roots.next()) else {
        return false;
    };
    let mut components = calendar.children();
    let one = components.next().is_some_and(|component| component.is("VTIMEZONE"));
    calendar.is(CALENDAR) && document.faults().is_empty() && one && components.next().is_none()
}

/// The properties that a new Calendar is given; `None` if one of them cannot be set.
fn read_metadata(body: &Element) -> Option<Metadata> {
    let mut metadata = Metadata::default();
    for list in body.all(DAV, "set").flat_map(|set| set.all(DAV, "prop")) {
        for property in &list.children {
            let language = property.attribute("lang");
            if !property.name.is(DAV, "resourcetype") && !set(&mut metadata, property, language).is_success() {
                return None;
            }
        }
    }
    Some(metadata)
}
