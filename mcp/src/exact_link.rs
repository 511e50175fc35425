//! Links to the octets of one state of a resource: `exact_get` gives them, `resources/read` follows them.
//!
//! A link names the href and the Entity Tag. It holds no right: what it names is checked like the href of any call.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use kalends_core::ops::get_resource::GetResource;
use kalends_core::outcome::{Code, Error, Outcome, Phase};

use crate::caller::Caller;
use crate::session::Session;

/// What the contents of a link are.
pub(crate) const MEDIA_TYPE: &str = "text/calendar; charset=utf-8";

const PREFIX: &str = "caldav-exact://snapshot/";
const TAG: &str = "?etag=";
/// The longest link, in bytes.
const MAX_LINK: usize = 64 << 10;

/// One state of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExactLink {
    /// Absolute URL.
    pub(crate) href: String,
    /// Strong Entity Tag, with its quotes.
    pub(crate) tag: String,
}

impl ExactLink {
    pub(crate) fn uri(&self) -> String {
        let [href, tag] = [&self.href, &self.tag].map(|part| URL_SAFE_NO_PAD.encode(part));
        format!("{PREFIX}{href}{TAG}{tag}")
    }

    /// Reads a link in the one spelling that [`Self::uri`] gives.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        if uri.len() > MAX_LINK {
            return None;
        }
        let (href, tag) = uri.strip_prefix(PREFIX)?.split_once(TAG)?;
        let text = |part: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(part).ok()?).ok();
        let (href, tag) = (text(href)?, text(tag)?);
        (!href.is_empty() && !tag.is_empty()).then_some(Self { href, tag })
    }

    /// Reads the octets.
    ///
    /// # Errors
    /// Those of reading; `conflict` if the resource is in another state by now.
    pub(crate) async fn read(self, session: &Session, caller: Caller) -> Outcome<Bytes> {
        let read = GetResource { href: self.href };
        let resource = session.engine.run(read, &session.account, caller).await?;
        if resource.etag.as_ref() != Some(&self.tag) {
            return Err(Error::new(
                Code::Conflict,
                Phase::TargetRevision,
                "The resource has changed since this link was made. Get a new one with calendar_resources_exact_get.",
            ));
        }
        Ok(resource.entity.document().bytes().clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_has_one_spelling() {
        let link = ExactLink {
            href: "https://dav.example/cal/a/x.ics".into(),
            tag: "\"7\"".into(),
        };
        // Python: base64.urlsafe_b64encode(...).rstrip(b"=")
        let uri = "caldav-exact://snapshot/aHR0cHM6Ly9kYXYuZXhhbXBsZS9jYWwvYS94Lmljcw?etag=Ijci";
        assert_eq!(link.uri(), uri);
        assert_eq!(ExactLink::parse(uri), Some(link));
        for other in [
            "",
            "caldav-exact://snapshot/",
            "caldav-exact://snapshot/?etag=",
            "caldav-exact://snapshot/YQ?etag=",
            "caldav-exact://snapshot/YQ",
            "caldav-exact://snapshot/YQ==?etag=Ijci",
            "caldav-exact://snapshot/YQ?etag=Ijci&x=1",
            "caldav-exact://snapshot/YR?etag=Ijci",
            "caldav-exact://snapshot/_w?etag=Ijci",
            "caldav-exact://other/YQ?etag=Ijci",
            "file:///etc/passwd",
            &format!("{PREFIX}{}?etag=Ijci", "YQ".repeat(MAX_LINK)),
        ] {
            assert_eq!(ExactLink::parse(other), None, "{other}");
        }
    }
}
