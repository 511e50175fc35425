//! Why an answer is no multistatus.

use crate::dav::xml::XmlFault;

/// The most characters of a body that a fault quotes, before escaping.
const EXCERPT: usize = 80;

/// An answer that cannot be used, with what identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DavFault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Status of the answer.
    pub status: u16,
    /// Media type of the answer, lower case, without parameters.
    pub media_type: Option<String>,
    /// The member in whose response it is, where its href was read, as the server spelled it.
    pub member: Option<String>,
    /// The beginning of the body, escaped to ASCII: untrusted text, for a person.
    pub excerpt: String,
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The status is not 207.
    Status,
    /// The body is declared as HTML.
    MediaType,
    /// The body is not usable XML.
    Xml(XmlFault),
    /// XML, but not a multistatus as RFC 4918, section 13, describes it.
    Shape(&'static str),
}

impl From<XmlFault> for FaultKind {
    fn from(fault: XmlFault) -> Self {
        Self::Xml(fault)
    }
}

impl DavFault {
    pub(crate) fn new(kind: FaultKind, status: u16, content_type: Option<&str>, body: &[u8]) -> Self {
        let head = String::from_utf8_lossy(&body[..body.len().min(4 * EXCERPT)]);
        Self {
            kind,
            status,
            media_type: content_type
                .map(media_type)
                .map(|media| media.chars().take(EXCERPT).collect()),
            member: None,
            excerpt: head.chars().take(EXCERPT).flat_map(char::escape_default).collect(),
        }
    }
}

impl std::fmt::Display for DavFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let media = self.media_type.as_deref().unwrap_or("none");
        match &self.kind {
            FaultKind::Status => write!(f, "status {} where 207 is needed (media type {media})", self.status),
            FaultKind::MediaType => write!(f, "status {} with media type {media} where XML is needed", self.status),
            FaultKind::Xml(fault) => write!(f, "the XML of the answer cannot be used: {fault}"),
            FaultKind::Shape(what) => write!(f, "the answer is not a DAV multistatus: {what}"),
        }
    }
}

impl std::error::Error for DavFault {}

/// The media type of a `Content-Type` header: lower case, without parameters, only characters of RFC 9110, 5.6.2.
pub(crate) fn media_type(content_type: &str) -> String {
    let media = content_type.split(';').next().unwrap_or("").trim();
    let token = |c: &char| c.is_ascii_alphanumeric() || "/!#$&-^_.+".contains(*c);
    media.chars().filter(token).collect::<String>().to_ascii_lowercase()
}

/// The `charset` parameter of a `Content-Type` header, lower case.
pub(crate) fn charset(content_type: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"');
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.to_ascii_lowercase())
    })
}
