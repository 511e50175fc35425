//! Whether a redirect is followed (RFC 9110, 15.4).

use http::header::LOCATION;
use http::{Response, StatusCode};

use crate::account::Account;
use crate::exchange::budget::{HOPS, WRITE_HOPS};
use crate::href::Href;
use crate::machine::Effect;

/// What to do with a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redirect {
    /// The response is the answer.
    Stop,
    /// The same request, at this place.
    Follow(Href),
    /// The redirect leads where nothing may be sent.
    Refuse(Refusal),
}

/// Why a redirect is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another origin than the account's, and not allowed by the user.
    Untrusted(Href),
    /// No `Location`, or one that is no usable URL.
    NoTarget,
    /// A status that asks for another method (303), or one that this kind of request does not follow.
    WrongKind(StatusCode),
    /// To another place than this request may change.
    Elsewhere,
    /// More redirects than are followed.
    TooMany,
}

/// Reads follow 301, 302, 307 and 308 with the same method; writes only 307 and 308. Nobody follows 303, leaves the
/// trusted origins or walks more than [`HOPS`], or [`WRITE_HOPS`] with a write.
#[must_use]
pub fn redirect<B>(account: &Account, effect: Effect, from: &Href, response: &Response<B>, hops: u32) -> Redirect {
    let status = response.status();
    if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
        return Redirect::Stop;
    }
    let followed = match status.as_u16() {
        307 | 308 => true,
        301 | 302 => effect == Effect::Read,
        _ => false,
    };
    if !followed {
        return Redirect::Refuse(Refusal::WrongKind(status));
    }
    let most = if effect == Effect::Write { WRITE_HOPS } else { HOPS };
    let location = response
        .headers()
        .get(LOCATION)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    match location.and_then(|location| from.resolve(&location)) {
        None => Redirect::Refuse(Refusal::NoTarget),
        Some(target) if !account.trusts(&target) => Redirect::Refuse(Refusal::Untrusted(target)),
        Some(_) if hops >= most => Redirect::Refuse(Refusal::TooMany),
        Some(target) => Redirect::Follow(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Settings;
    use crate::account::credential::Credential;
    use crate::account::trust::RedirectHost;

    #[test]
    fn each_status_and_target_has_its_answer() {
        let href = |text: &str| Href::parse(text).unwrap();
        let mut settings = Settings::new(href("https://dav.example/"), Credential::None);
        settings.redirect_hosts = vec![RedirectHost::parse("p1.dav.example").unwrap()];
        let account = Account::new(settings).unwrap();
        let ask = |status: u16, location: Option<&str>, effect, hops| {
            let mut response = Response::builder().status(status);
            if let Some(location) = location {
                response = response.header(LOCATION, location);
            }
            redirect(
                &account,
                effect,
                &href("https://dav.example/a/b"),
                &response.body(()).unwrap(),
                hops,
            )
        };
        use Effect::{Read, Write};
        for status in [200, 207, 304, 401, 404, 500] {
            assert_eq!(ask(status, Some("/x"), Read, 0), Redirect::Stop);
        }
        for status in [301, 302, 307, 308] {
            assert_eq!(
                ask(status, Some("/x"), Read, 0),
                Redirect::Follow(href("https://dav.example/x"))
            );
        }
        for status in [301, 302] {
            assert!(matches!(
                ask(status, Some("/x"), Write, 0),
                Redirect::Refuse(Refusal::WrongKind(_))
            ));
        }
        assert_eq!(
            ask(308, Some("c"), Write, 0),
            Redirect::Follow(href("https://dav.example/a/c"))
        );
        assert!(matches!(
            ask(303, Some("/x"), Read, 0),
            Redirect::Refuse(Refusal::WrongKind(_))
        ));
        assert!(matches!(
            ask(300, Some("/x"), Read, 0),
            Redirect::Refuse(Refusal::WrongKind(_))
        ));
        assert_eq!(
            ask(301, Some("https://p1.dav.example/"), Read, 0),
            Redirect::Follow(href("https://p1.dav.example/"))
        );
        for target in [
            "https://evil.example/",
            "http://dav.example/x",
            "http://p1.dav.example/",
            "//evil.example/",
        ] {
            assert!(
                matches!(ask(301, Some(target), Read, 0), Redirect::Refuse(Refusal::Untrusted(_))),
                "{target}"
            );
        }
        assert_eq!(ask(301, None, Read, 0), Redirect::Refuse(Refusal::NoTarget));
        assert_eq!(
            ask(301, Some("https://u:p@dav.example/"), Read, 0),
            Redirect::Refuse(Refusal::NoTarget)
        );
        assert_eq!(
            ask(301, Some("/x"), Read, HOPS - 1),
            Redirect::Follow(href("https://dav.example/x"))
        );
        assert_eq!(ask(301, Some("/x"), Read, HOPS), Redirect::Refuse(Refusal::TooMany));
        assert_eq!(
            ask(307, Some("/x"), Write, WRITE_HOPS),
            Redirect::Refuse(Refusal::TooMany)
        );
    }
}
