//! `DAV:multistatus` (RFC 4918, section 13), read one response at a time.

mod pattern;

use std::ops::ControlFlow;

use crate::dav::error_body::{self, Precondition};
use crate::dav::fault::{DavFault, FaultKind, charset, media_type};
use crate::dav::name::Name;
use crate::dav::props::Props;
use crate::dav::xml::{Limited, Limits, Reader, XmlFault};
use crate::href::MAX_HREF;

use pattern::Pattern;

/// The most failed conditions and unavailable properties that are kept of one response.
const MAX_REMARKS: usize = 64;

/// One `DAV:response`, or one href of a response that names several; remarks stand with the first of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// As the server spelled it, trimmed; empty only in [`Tail::bare`].
    pub href: String,
    /// The status of the response as a whole, where it has one.
    pub status: Option<u16>,
    /// Failed conditions, of the response or of its propstats.
    pub error: Vec<Precondition>,
    /// Values of the properties with status 200.
    pub props: Props,
    /// Understood properties with another status.
    pub other: Vec<(Name, u16)>,
    /// `DAV:responsedescription`: untrusted text.
    pub description: Option<String>,
}

impl Member {
    /// The status that the property was answered with, if it was not 200.
    #[must_use]
    pub fn refused(&self, property: Name) -> Option<u16> {
        self.other
            .iter()
            .find(|(name, _)| *name == property)
            .map(|(_, status)| *status)
    }
}

/// What stands beside the responses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    /// How many members were given out.
    pub members: usize,
    /// `DAV:sync-token` (RFC 6578, 6.2).
    pub sync_token: Option<String>,
    /// `DAV:responsedescription`: untrusted text.
    pub description: Option<String>,
    /// Propstats without a response, as Cyrus and DAViCal answer a refused MKCALENDAR.
    pub bare: Option<Box<Member>>,
    /// The receiver stopped; the rest of the body was not looked at.
    pub stopped: bool,
}

/// Reads an answer and gives each member to `each`, which may stop the reading.
///
/// Members come out before the end of the body has been seen: if this ends with a fault, what was given out is no
/// answer and must not be used.
///
/// # Errors
/// The answer is not a 207 with a well-formed multistatus within the limits.
pub fn read(
    status: u16,
    content_type: Option<&str>,
    body: &[u8],
    limits: &Limits,
    each: &mut dyn FnMut(Member) -> ControlFlow<()>,
) -> Result<Tail, DavFault> {
    let fault = |kind| DavFault::new(kind, status, content_type, body);
    if status != 207 {
        return Err(fault(FaultKind::Status));
    }
    // Media types are often wrong, but nobody means a multistatus by HTML.
    if content_type.is_some_and(|content_type| media_type(content_type) == "text/html") {
        return Err(fault(FaultKind::MediaType));
    }
    let mut within = None;
    read_body(content_type, body, limits, each, &mut within).map_err(|kind| DavFault {
        member: within,
        ..fault(kind)
    })
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "names are open: what is not read is skipped"
)]
fn read_body(
    content_type: Option<&str>,
    body: &[u8],
    limits: &Limits,
    each: &mut dyn FnMut(Member) -> ControlFlow<()>,
    within: &mut Option<String>,
) -> Result<Tail, FaultKind> {
    let charset = content_type.and_then(charset);
    let mut xml = Reader::new(body, charset.as_deref(), *limits)?;
    if xml.root()? != Name::Multistatus {
        return Err(FaultKind::Shape("the root is not DAV:multistatus"));
    }
    let mut tail = Tail::default();
    let mut pattern = None;
    loop {
        let begin = xml.at();
        let fits = pattern.as_ref().filter(|_| tail.members < limits.responses);
        if let Some(member) = fits.and_then(|pattern: &Pattern<'_>| pattern.next(&mut xml, limits.text)) {
            tail.members += 1;
            if each(member).is_break() {
                tail.stopped = true;
                return Ok(tail);
            }
            continue;
        }
        let Some(name) = xml.child()? else { break };
        match name {
            Name::Response => {
                let mut member = Member::default();
                let read = response(&mut xml, limits, &mut tail, &mut member, begin, &mut pattern, each);
                if let Err(fault) = read {
                    *within = Some(member.href).filter(|href| !href.is_empty());
                    return Err(fault);
                }
                if tail.stopped {
                    return Ok(tail);
                }
            }
            Name::Propstat => {
                let bare = tail.bare.get_or_insert_default();
                propstat(&mut xml, bare)?;
            }
            Name::SyncToken => tail.sync_token = Some(xml.text()?.trim().to_owned()),
            Name::ResponseDescription => tail.description = Some(error_body::description(&mut xml)?),
            _ => xml.skip()?,
        }
    }
    xml.finish()?;
    Ok(tail)
}

/// Reads the response that is open, to its end.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "names are open: what is not read is skipped"
)]
fn response<'a>(
    xml: &mut Reader<'a>,
    limits: &Limits,
    tail: &mut Tail,
    member: &mut Member,
    begin: usize,
    pattern: &mut Option<Pattern<'a>>,
    each: &mut dyn FnMut(Member) -> ControlFlow<()>,
) -> Result<(), FaultKind> {
    // The start of the response is behind.
    let elements = xml.elements() - 1;
    xml.unmark();
    let mut further = Vec::new();
    let mut has_propstat = false;
    while let Some(name) = xml.child()? {
        match name {
            Name::Href => {
                let href = href(xml)?;
                xml.mark(Name::Href);
                let observed = tail.members + further.len() + 1;
                if observed > limits.responses {
                    return Err(FaultKind::Xml(XmlFault::Limit {
                        limited: Limited::Responses,
                        observed,
                        limit: limits.responses,
                    }));
                }
                if member.href.is_empty() {
                    member.href = href;
                } else {
                    further.push(href);
                }
            }
            Name::Status => member.status = Some(status(&xml.text()?)?),
            Name::Propstat => {
                has_propstat = true;
                propstat(xml, member)?;
            }
            Name::Error => error(xml, member)?,
            Name::ResponseDescription => member.description = Some(error_body::description(xml)?),
            _ => xml.skip()?,
        }
    }
    if member.href.is_empty() {
        return Err(FaultKind::Shape("a response has no href"));
    }
    if member.status.is_none() && !has_propstat {
        return Err(FaultKind::Shape("a response has neither status nor properties"));
    }
    if has_propstat && !further.is_empty() {
        return Err(FaultKind::Shape("a response has several hrefs and properties"));
    }
    if further.is_empty() {
        *pattern = Pattern::of(xml, begin, xml.elements() - elements, member);
    }
    // Remarks are not repeated: a copy for each of many hrefs would multiply the body.
    let status = member.status;
    let others = further.into_iter().map(|href| Member {
        href,
        status,
        ..Member::default()
    });
    for member in std::iter::once(std::mem::take(member)).chain(others) {
        tail.members += 1;
        if each(member).is_break() {
            tail.stopped = true;
            return Ok(());
        }
    }
    Ok(())
}

/// Reads the propstat that is open, to its end. Its status may stand before or after its properties.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "names are open: what is not read is skipped"
)]
fn propstat(xml: &mut Reader<'_>, member: &mut Member) -> Result<(), FaultKind> {
    let mut props = Props::default();
    let mut names = [Name::Unknown; MAX_REMARKS];
    let mut count = 0;
    let mut answered = None;
    while let Some(name) = xml.child()? {
        match name {
            Name::Prop => {
                xml.tolerate_undeclared(true);
                while let Some(property) = xml.child()? {
                    if property != Name::Unknown && count < names.len() {
                        names[count] = property;
                        count += 1;
                    }
                    props.read(property, xml)?;
                    if matches!(property, Name::Etag | Name::ContentLength | Name::CalendarData) {
                        xml.mark(property);
                    }
                }
                xml.tolerate_undeclared(false);
            }
            Name::Status => answered = Some(status(&xml.text()?)?),
            Name::Error => error(xml, member)?,
            Name::ResponseDescription => member.description = Some(error_body::description(xml)?),
            _ => xml.skip()?,
        }
    }
    match answered {
        Some(200) if member.props == Props::default() => member.props = props,
        Some(200) => member.props.absorb(props),
        Some(status) => {
            let room = MAX_REMARKS.saturating_sub(member.other.len());
            let named = names[..count].iter().take(room);
            member.other.extend(named.map(|name| (*name, status)));
        }
        None => return Err(FaultKind::Shape("a propstat has no status")),
    }
    Ok(())
}

fn error(xml: &mut Reader<'_>, member: &mut Member) -> Result<(), FaultKind> {
    let conditions = error_body::preconditions(xml, &mut member.description)?;
    let room = MAX_REMARKS.saturating_sub(member.error.len());
    member.error.extend(conditions.into_iter().take(room));
    Ok(())
}

fn href(xml: &mut Reader<'_>) -> Result<String, FaultKind> {
    let text = xml.text()?;
    let href = text.trim();
    if href.len() > MAX_HREF {
        return Err(FaultKind::Shape("an href is too long"));
    }
    if href.is_empty() {
        return Err(FaultKind::Shape("an href is empty"));
    }
    // The usual href has no white space around it and need not be copied.
    Ok(if href.len() == text.len() {
        text
    } else {
        href.to_owned()
    })
}

/// The code of a status line (RFC 4918, 14.28); the version and the reason may be missing.
fn status(text: &str) -> Result<u16, FaultKind> {
    let text = text.trim();
    let rest = match text.get(..5) {
        Some(http) if http.eq_ignore_ascii_case("HTTP/") => text.split_once([' ', '\t']).map_or("", |(_, rest)| rest),
        _ => text,
    };
    let code = rest.split_ascii_whitespace().next().unwrap_or("");
    let legal = code.len() == 3 && code.bytes().all(|b| b.is_ascii_digit());
    let code = code.parse().ok().filter(|code| legal && (100..=599).contains(code));
    code.ok_or(FaultKind::Shape("a status is no HTTP status"))
}
