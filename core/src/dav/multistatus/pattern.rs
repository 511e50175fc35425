//! Responses that are written like the one before them.
//!
//! A server writes the members of a report by one template: they differ in the text of `DAV:href` and of three
//! properties, and are the same octet by octet otherwise. A response that fits the pattern of an earlier one of its
//! document says the same, but for these texts; where anything else differs it is read like any other.

use std::borrow::Cow;
use std::mem::take;

use super::Member;
use crate::dav::etag::EntityTag;
use crate::dav::name::Name;
use crate::dav::xml::{Reader, resolved};
use crate::href::MAX_HREF;

/// A response with holes: the pieces of its source around them.
#[derive(Debug)]
pub(super) struct Pattern<'a> {
    first: &'a str,
    /// What stands in each hole, and the piece after it.
    holes: Vec<(Name, &'a str)>,
    /// The response without what stands in the holes.
    blank: Member,
    elements: usize,
}

impl<'a> Pattern<'a> {
    /// The pattern of a response that was just read whole, from where it begins in the document. `None` if its texts are
    /// not the plain contents of one element each.
    pub(super) fn of(xml: &Reader<'a>, begin: usize, elements: usize, member: &mut Member) -> Option<Self> {
        let plain = member.status.is_none() && member.error.is_empty() && member.description.is_none();
        if !plain {
            return None;
        }
        let source = &xml.source()[..xml.at()];
        let (mut first, mut holes, mut from) = (None, Vec::<(Name, &str)>::new(), begin);
        for (name, at) in xml.marks() {
            let length = source.get(*at..)?.find('<')?;
            let end = at + length;
            if length == 0 || !source[end..].starts_with("</") || holes.iter().any(|(known, _)| known == name) {
                return None;
            }
            let piece = source.get(from..*at)?;
            match holes.last_mut() {
                Some((_, after)) => *after = piece,
                None => first = Some(piece),
            }
            holes.push((*name, ""));
            from = end;
        }
        holes.last_mut()?.1 = &source[from..];
        let has = |wanted: Name| holes.iter().any(|(name, _)| *name == wanted);
        let props = &member.props;
        let complete = has(Name::Href)
            && has(Name::Etag) == props.etag.is_some()
            && has(Name::ContentLength) == props.content_length.is_some()
            && has(Name::CalendarData) == props.calendar_data.is_some();
        if !complete {
            return None;
        }
        Some(Self {
            first: first?,
            holes,
            blank: blank(member),
            elements,
        })
    }

    /// The next response, if it fits and nothing is wrong with its texts; the document is then read to its end.
    pub(super) fn next(&self, xml: &mut Reader<'_>, longest: usize) -> Option<Member> {
        let mut rest = xml.source()[xml.at()..].strip_prefix(self.first)?;
        let mut member = self.blank.clone();
        for (name, after) in &self.holes {
            let end = memchr::memchr(b'<', rest.as_bytes())?;
            let (raw, following) = rest.split_at(end);
            rest = following.strip_prefix(*after)?;
            if end > longest {
                return None;
            }
            let text = resolved(raw)?;
            let props = &mut member.props;
            if *name == Name::Href {
                member.href = Some(text.trim())
                    .filter(|href| (1..=MAX_HREF).contains(&href.len()))?
                    .to_owned();
            } else if *name == Name::Etag {
                props.etag = EntityTag::parse(&text);
            } else if *name == Name::ContentLength {
                props.content_length = text.trim().parse().ok();
            } else {
                props.calendar_data = Some(Cow::into_owned(text));
            }
        }
        let length = xml.source().len() - xml.at() - rest.len();
        xml.pass(length, self.elements).then_some(member)
    }
}

/// The same without the texts that differ.
fn blank(member: &mut Member) -> Member {
    let Member { href, props, .. } = member;
    let (href, etag) = (take(href), take(&mut props.etag));
    let (length, data) = (take(&mut props.content_length), take(&mut props.calendar_data));
    let blank = member.clone();
    member.href = href;
    member.props.etag = etag;
    member.props.content_length = length;
    member.props.calendar_data = data;
    blank
}
