//! How this host reaches servers, as plain data.

use std::env;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// How to reach servers. The default is the platform's trust store and no proxy.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A PEM file of certificate authorities to trust besides those of the platform.
    pub ca_file: Option<PathBuf>,
    /// Which proxy to use, if any.
    pub proxy: Proxy,
}

impl Options {
    /// The proxies that the environment names, and the platform's trust store.
    #[must_use]
    pub fn from_env() -> Self {
        Self {
            ca_file: None,
            proxy: Proxy::from_env(),
        }
    }
}

/// HTTP proxies, which are asked for a tunnel by `CONNECT` (RFC 9110, 9.3.6).
#[derive(Clone, Default)]
pub struct Proxy {
    /// For `https` servers: `http://user:password@host:port`, all but the host optional.
    pub https: Option<String>,
    /// For `http` servers, and for `https` servers if `https` names none.
    pub all: Option<String>,
    /// Hosts to reach directly: names (with their subdomains), addresses and networks, separated by commas.
    pub no: Option<String>,
}

impl Proxy {
    /// `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, or the same in lower case. Empty means unset.
    #[must_use]
    pub fn from_env() -> Self {
        let read = |name: &str| {
            let value = env::var(name).or_else(|_| env::var(name.to_lowercase()));
            value.ok().filter(|value| !value.is_empty())
        };
        Self {
            https: read("HTTPS_PROXY"),
            all: read("ALL_PROXY"),
            no: read("NO_PROXY"),
        }
    }
}

/// Shows which proxies are set, not where they are: a proxy URL may hold a password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("https", &self.https.is_some())
            .field("all", &self.all.is_some())
            .field("no", &self.no)
            .finish()
    }
}

/// Why a host cannot be made from these [`Options`].
#[derive(Debug)]
pub enum SetupError {
    /// The certificate file cannot be read.
    CaFileUnreadable(PathBuf, io::Error),
    /// The certificate file holds no certificate, or one that is no X.509 trust anchor.
    CaFileInvalid(PathBuf),
    /// A proxy is no URL of the form `http://user:password@host:port`. The URL is not shown.
    ProxyInvalid,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CaFileUnreadable(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::CaFileInvalid(path) => write!(f, "{} holds no usable PEM certificates", path.display()),
            Self::ProxyInvalid => f.write_str("a proxy must be given as http://user:password@host:port"),
        }
    }
}

impl std::error::Error for SetupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::CaFileUnreadable(_, error) => Some(error),
            Self::CaFileInvalid(_) | Self::ProxyInvalid => None,
        }
    }
}
