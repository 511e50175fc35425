//! Makes the agents that hold the connections, and watches them connect.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use http::Uri;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use ureq::config::{Config, ConfigBuilder};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::typestate::AgentScope;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector, NextTimeout, Transport};
use ureq::{Agent, Error, ProxyProtocol};

use crate::options::{Options, Proxy, SetupError};

/// One agent for each scheme, since the proxies differ and only one of them needs to know whom to trust.
#[derive(Debug)]
pub(crate) struct Agents {
    http: Agent,
    /// Made with the first `https` exchange, which reads the platform's trust store.
    https: OnceLock<Agent>,
    https_proxy: Option<ureq::Proxy>,
    own: Vec<CertificateDer<'static>>,
}

impl Agents {
    pub(crate) fn new(options: &Options) -> Result<Self, SetupError> {
        let Proxy { https, all, no } = &options.proxy;
        let make = |url: &Option<String>| url.as_deref().map(|url| proxy(url, no.as_deref())).transpose();
        let (https, all) = (make(https)?, make(all)?);
        Ok(Self {
            http: agent(config().proxy(all.clone()).build()),
            https: OnceLock::new(),
            https_proxy: https.or(all),
            own: options
                .ca_file
                .as_deref()
                .map(read_ca_file)
                .transpose()?
                .unwrap_or_default(),
        })
    }

    pub(crate) fn of(&self, server: &Uri) -> &Agent {
        if server.scheme_str() != Some("https") {
            return &self.http;
        }
        self.https.get_or_init(|| {
            let config = config()
                .proxy(self.https_proxy.clone())
                .tls_config(tls_config(&self.own));
            agent(config.build())
        })
    }
}

/// Redirects, statuses, methods and headers are the machine's business.
fn config() -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .user_agent("")
        .accept("")
        .accept_encoding("")
        .no_delay(true)
}

fn agent(config: Config) -> Agent {
    Agent::with_parts(config, WatchedConnector::default(), WatchedResolver::default())
}

fn tls_config(own: &[CertificateDer<'static>]) -> TlsConfig {
    // A platform without a readable store trusts nobody but `own`: every other server is then untrusted.
    let platform = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<_> = platform
        .iter()
        .chain(own)
        .map(|der| Certificate::from_der(der).to_owned())
        .collect();
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

fn read_ca_file(path: &Path) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let pem = fs::read(path).map_err(|error| SetupError::CaFileUnreadable(path.into(), error))?;
    let invalid = || SetupError::CaFileInvalid(path.into());
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|_| invalid())?;
    let mut store = RootCertStore::empty();
    for certificate in &certificates {
        store.add(certificate.clone()).map_err(|_| invalid())?;
    }
    if store.is_empty() {
        Err(invalid())
    } else {
        Ok(certificates)
    }
}

fn proxy(url: &str, no: Option<&str>) -> Result<ureq::Proxy, SetupError> {
    let make = || {
        let parsed = ureq::Proxy::new(url)?;
        let mut builder = ureq::Proxy::builder(parsed.protocol())
            .host(parsed.host())
            .port(parsed.port());
        if let Some(username) = parsed.username() {
            builder = builder.username(username);
        }
        if let Some(password) = parsed.password() {
            builder = builder.password(password);
        }
        for host in no
            .unwrap_or_default()
            .split(',')
            .map(str::trim)
            .filter(|host| !host.is_empty())
        {
            // A URI writes an IPv6 address in brackets; a name stands for its subdomains too.
            let name = host.trim_start_matches('.');
            builder = if name.contains(':') && !name.starts_with('[') {
                builder.no_proxy(&format!("[{name}]"))
            } else if name.starts_with('*') {
                builder.no_proxy(name)
            } else {
                builder.no_proxy(name).no_proxy(&format!(".{name}"))
            };
        }
        builder.build()
    };
    let proxy = make().map_err(|_: Error| SetupError::ProxyInvalid)?;
    if proxy.protocol() == ProxyProtocol::Http {
        Ok(proxy)
    } else {
        Err(SetupError::ProxyInvalid)
    }
}

thread_local! {
    static PROGRESS: Cell<Progress> = const { Cell::new(Progress::NONE) };
}

/// How far the exchange of this thread has come in connecting. The library's errors do not tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// Lookups and connections begun and not complete: a proxy's lie within that of the server.
    pending: u32,
    /// Whether a new connection, TLS included, is complete. None is made where a kept one is used.
    pub(crate) is_connected: bool,
}

impl Progress {
    const NONE: Self = Self {
        pending: 0,
        is_connected: false,
    };

    /// Forgets the exchange before.
    pub(crate) fn reset() {
        PROGRESS.set(Self::NONE);
    }

    pub(crate) fn get() -> Self {
        PROGRESS.get()
    }

    /// Whether the exchange ended while it looked for the server or connected to it.
    pub(crate) fn failed_to_connect(self) -> bool {
        self.pending > 0
    }
}

fn watch<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let note = |step: fn(u32) -> u32| {
        let mut progress = PROGRESS.get();
        progress.pending = step(progress.pending);
        PROGRESS.set(progress);
    };
    note(|pending| pending + 1);
    let done = work()?;
    note(|pending| pending.saturating_sub(1));
    Ok(done)
}

/// Connects as the library does and notes the [`Progress`].
#[derive(Debug, Default)]
struct WatchedConnector(DefaultConnector);

impl Connector for WatchedConnector {
    type Out = Box<dyn Transport>;

    fn connect(&self, details: &ConnectionDetails<'_>, chained: Option<()>) -> Result<Option<Self::Out>, Error> {
        let transport = watch(|| self.0.connect(details, chained))?;
        let progress = PROGRESS.get();
        PROGRESS.set(Progress {
            is_connected: progress.pending == 0,
            ..progress
        });
        Ok(transport)
    }
}

/// Looks names up as the library does and notes the [`Progress`].
#[derive(Debug, Default)]
struct WatchedResolver(DefaultResolver);

impl Resolver for WatchedResolver {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        watch(|| self.0.resolve(uri, config, timeout))
    }
}

/// Whether a connection failed because the other end could not be trusted.
pub(crate) fn is_untrusted(error: &Error) -> bool {
    if matches!(error, Error::Rustls(_) | Error::Tls(_)) {
        return true;
    }
    // A failed handshake comes as the library's error inside an I/O error.
    let Error::Io(io) = error else { return false };
    let mut next = io.get_ref();
    while let Some(error) = next {
        if error.is::<rustls::Error>() {
            return true;
        }
        next = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    }
    false
}
