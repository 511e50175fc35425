//! `DAV:error`: which preconditions a server names (RFC 4918, section 16).

use crate::dav::fault::charset;
use crate::dav::name::{Name, Space};
use crate::dav::props::hrefs;
use crate::dav::xml::{Limits, Reader, XmlFault};

/// The largest error body that is looked at, in bytes.
pub const MAX_ERROR_BODY: usize = 64 << 10;

/// The most preconditions that are kept of one `DAV:error`.
const MAX_PRECONDITIONS: usize = 32;

/// The longest name and description that are kept, in characters.
const MAX_NAME: usize = 100;
const MAX_DESCRIPTION: usize = 1000;

/// A precondition or postcondition that failed, such as `valid-sync-token` or `no-uid-conflict`.
///
/// It is known by its local name: servers put the same name into `DAV:`, CalDAV and no namespace at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precondition {
    /// Local name.
    pub name: String,
    /// Hrefs within, as the server spelled them.
    pub hrefs: Vec<String>,
}

/// What the body of an error answer says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorBody {
    /// The failed conditions.
    pub preconditions: Vec<Precondition>,
    /// `DAV:responsedescription`: untrusted text, at most 1,000 characters.
    pub description: Option<String>,
}

impl ErrorBody {
    /// Whether a condition of this name failed.
    #[must_use]
    pub fn names(&self, condition: &str) -> bool {
        self.preconditions
            .iter()
            .any(|precondition| precondition.name == condition)
    }
}

/// Reads the body of an answer with an error status. A body that is no well-formed `DAV:error`, or is larger than
/// [`MAX_ERROR_BODY`], says nothing: the status alone counts then.
#[must_use]
pub fn read(content_type: Option<&str>, body: &[u8]) -> ErrorBody {
    let limits = Limits {
        bytes: MAX_ERROR_BODY,
        ..Limits::default()
    };
    read_document(content_type, body, limits).unwrap_or_default()
}

fn read_document(content_type: Option<&str>, body: &[u8], limits: Limits) -> Result<ErrorBody, XmlFault> {
    let mut xml = Reader::new(body, content_type.and_then(charset).as_deref(), limits)?;
    let mut error = ErrorBody::default();
    if xml.root()? == Name::Error {
        error.preconditions = preconditions(&mut xml, &mut error.description)?;
    } else {
        xml.skip()?;
    }
    xml.finish()?;
    Ok(error)
}

/// Reads the conditions of the `DAV:error` that is open, to its end.
pub(crate) fn preconditions(
    xml: &mut Reader<'_>,
    description: &mut Option<String>,
) -> Result<Vec<Precondition>, XmlFault> {
    let mut conditions = Vec::new();
    while let Some(name) = xml.child()? {
        // Names of a vendor's own namespace (exceptions, stack traces) are no conditions.
        if name == Name::ResponseDescription {
            *description = Some(self::description(xml)?);
        } else if xml.space() == Space::Other || conditions.len() == MAX_PRECONDITIONS {
            xml.skip()?;
        } else {
            let name = xml.local().chars().take(MAX_NAME).collect();
            let (hrefs, _) = hrefs(xml)?;
            conditions.push(Precondition { name, hrefs });
        }
    }
    Ok(conditions)
}

/// Reads the `DAV:responsedescription` that is open, to its end.
pub(crate) fn description(xml: &mut Reader<'_>) -> Result<String, XmlFault> {
    Ok(xml.text()?.trim().chars().take(MAX_DESCRIPTION).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(body: &str) -> Vec<String> {
        let error = read(Some("application/xml"), body.as_bytes());
        error
            .preconditions
            .into_iter()
            .map(|condition| condition.name)
            .collect()
    }

    #[test]
    fn conditions_are_found_in_what_servers_send() {
        let caldav = "xmlns:C=\"urn:ietf:params:xml:ns:caldav\"";
        for (body, expected) in [
            // Radicale, Cyrus
            (
                format!("<D:error xmlns:D=\"DAV:\" {caldav}><C:no-uid-conflict /></D:error>"),
                vec!["no-uid-conflict"],
            ),
            // Xandikos
            (
                "<ns0:error xmlns:ns0=\"DAV:\"><ns0:valid-sync-token /></ns0:error>".into(),
                vec!["valid-sync-token"],
            ),
            // sabre/dav
            (
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<d:error xmlns:d=\"DAV:\" \
                 xmlns:s=\"http://sabredav.org/ns\"><s:exception>Sabre\\DAV\\Exception</s:exception>\
                 <s:message>Too many</s:message><d:number-of-matches-within-limits/></d:error>"
                    .into(),
                vec!["number-of-matches-within-limits"],
            ),
            // SOGo
            (
                "<D:error xmlns:D=\"DAV\">Event UID already in use.</D:error>".into(),
                vec![],
            ),
            ("<html><body>no</body></html>".into(), vec![]),
            ("plain".into(), vec![]),
            ("<D:error xmlns:D=\"DAV:\"><D:valid-sync-token/>".into(), vec![]),
            (
                format!(
                    "<D:error xmlns:D=\"DAV:\"><D:a/>{}</D:error>",
                    " ".repeat(MAX_ERROR_BODY)
                ),
                vec![],
            ),
        ] {
            assert_eq!(named(&body), expected, "{body:.200}");
        }
    }

    #[test]
    fn hrefs_of_a_condition_are_kept() {
        let body = "<D:error xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\">\
                    <C:unique-scheduling-object-resource><D:href>/dav/a.ics</D:href>\
                    </C:unique-scheduling-object-resource><D:responsedescription> no </D:responsedescription></D:error>";
        let error = read(None, body.as_bytes());
        assert!(error.names("unique-scheduling-object-resource"));
        assert_eq!(error.preconditions[0].hrefs, ["/dav/a.ics"]);
        assert_eq!(error.description.as_deref(), Some("no"));
    }
}
