//! How requests to the account's origin prove who asks (RFC 7617, RFC 6750).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

use crate::account::secret::Secret;

/// A way to authenticate. Sent with the first request, since some servers never ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Nothing is sent: the local account.
    None,
    /// RFC 7617.
    Basic {
        /// May not hold a colon.
        username: String,
        /// Any text.
        password: Secret,
    },
    /// RFC 6750, a token that does not change.
    Bearer(Secret),
}

/// Why a credential cannot be put into a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialFault {
    /// A Basic user name holds a colon or a control character, or a password holds a control character.
    BasicText,
    /// A bearer token holds something other than visible ASCII.
    BearerText,
}

impl Credential {
    /// The value of `Authorization`, marked sensitive.
    ///
    /// # Errors
    /// [`CredentialFault`] if the text does not fit into the scheme.
    pub fn header(&self) -> Result<Option<HeaderValue>, CredentialFault> {
        let (text, fault) = match self {
            Self::None => return Ok(None),
            Self::Basic { username, password } => {
                if username.contains(':') || username.chars().chain(password.expose().chars()).any(char::is_control) {
                    return Err(CredentialFault::BasicText);
                }
                let pair = STANDARD.encode(format!("{username}:{}", password.expose()));
                (format!("Basic {pair}"), CredentialFault::BasicText)
            }
            Self::Bearer(token) => {
                if token.expose().is_empty() || !token.expose().bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
                    return Err(CredentialFault::BearerText);
                }
                (format!("Bearer {}", token.expose()), CredentialFault::BearerText)
            }
        };
        let mut value = HeaderValue::from_str(&text).map_err(|_| fault)?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_follow_the_schemes() {
        let basic = |username: &str, password: &str| Credential::Basic {
            username: username.into(),
            password: Secret::new(password),
        };
        // RFC 7617, section 2 and 2.1.
        let header = |credential: Credential| {
            credential
                .header()
                .map(|value| value.map(|v| v.to_str().unwrap().to_owned()))
        };
        assert_eq!(
            header(basic("Aladdin", "open sesame")),
            Ok(Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".into()))
        );
        assert_eq!(header(basic("test", "123£")), Ok(Some("Basic dGVzdDoxMjPCow==".into())));
        assert_eq!(header(basic("a:b", "c")), Err(CredentialFault::BasicText));
        assert_eq!(header(basic("a", "c\n")), Err(CredentialFault::BasicText));
        assert_eq!(
            header(Credential::Bearer(Secret::new("abc.def"))),
            Ok(Some("Bearer abc.def".into()))
        );
        assert_eq!(
            header(Credential::Bearer(Secret::new("a b"))),
            Err(CredentialFault::BearerText)
        );
        assert_eq!(header(Credential::None), Ok(None));
    }

    #[test]
    fn nothing_prints_a_secret() {
        let credential = Credential::Basic {
            username: "ana".into(),
            password: Secret::new("hunter2"),
        };
        assert!(!format!("{credential:?}").contains("hunter2"));
        assert!(!format!("{:?}", credential.header().unwrap()).contains("aHVudGVyMg"));
    }
}
