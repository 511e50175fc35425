//! Body of the DAV:sync-collection report (RFC 6578, 3.2), and what it tells of one member.

use bytes::Bytes;

use crate::dav::xml::Writer;
use crate::href::Href;

/// A member that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where it is, or was.
    pub href: Href,
    /// The Entity Tag of a member that is there, weak ones included; empty where the server gives none. Absent for one
    /// that is gone, or that the user may not see any more.
    pub etag: Option<String>,
}

/// Asks for the Entity Tags of all members that have changed since a token; of all there are, where it is empty. The
/// REPORT needs `Depth: 0`.
///
/// No `DAV:limit` is sent: some servers cut the answer and give the token of what they left out (Nextcloud, Xandikos).
#[must_use]
pub fn body(token: &str) -> Bytes {
    let mut xml = Writer::new("D:sync-collection");
    xml.element("D:sync-token", token)
        .element("D:sync-level", "1")
        .open("D:prop", &[])
        .empty("D:getetag", &[]);
    xml.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_the_one_of_rfc_6578() {
        let text = |token| {
            let body = String::from_utf8(body(token).to_vec()).unwrap();
            body[body.find("<D:sync-token>").unwrap()..].to_owned()
        };
        let rest = "<D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>";
        assert_eq!(text(""), format!("<D:sync-token></D:sync-token>{rest}"));
        assert_eq!(text("a<&b"), format!("<D:sync-token>a&lt;&amp;b</D:sync-token>{rest}"));
    }
}
