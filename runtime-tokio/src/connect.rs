//! Opens connections: directly or through a proxy's tunnel, in clear or with TLS.

use std::error::Error;
use std::fs;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tower_service::Service;

use crate::options::{Options, Proxy, SetupError};

type BoxError = Box<dyn Error + Send + Sync>;
type Connecting<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;
type Tcp = TokioIo<TcpStream>;

/// How long a connection may be idle before TCP asks whether the other end is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Opens a connection to the server of a URI. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connector {
    road: Road,
    trust: Arc<Trust>,
    /// Set once a connection, TLS included, is ready to carry a request.
    connected: Arc<AtomicBool>,
}

impl Connector {
    pub(crate) fn new(options: &Options) -> Result<Self, SetupError> {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEP_ALIVE));
        tcp.enforce_http(false);
        Ok(Self {
            road: Road {
                tcp,
                proxies: Arc::new(proxies(&options.proxy)?),
            },
            trust: Arc::new(Trust::new(options.ca_file.as_deref())?),
            connected: Arc::default(),
        })
    }

    /// The same connector with a flag of its own.
    pub(crate) fn noting(&self, connected: &Arc<AtomicBool>) -> Self {
        Self {
            connected: Arc::clone(connected),
            ..self.clone()
        }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<Tcp>;
    type Error = BoxError;
    type Future = Connecting<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let Self {
            mut road,
            trust,
            connected,
        } = self.clone();
        Box::pin(async move {
            let stream = match server.scheme_str() {
                Some("https") => HttpsConnector::from((road, trust.config().await?)).call(server).await?,
                Some("http") => MaybeHttpsStream::Http(road.call(server).await?),
                _ => return Err("only http and https servers can be reached".into()),
            };
            connected.store(true, Ordering::Release);
            Ok(stream)
        })
    }
}

/// Opens the bytes' way to a server, directly or through a proxy.
#[derive(Clone)]
struct Road {
    tcp: HttpConnector,
    proxies: Arc<Matcher>,
}

impl Service<Uri> for Road {
    type Response = Tcp;
    type Error = BoxError;
    type Future = Connecting<Tcp>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let Self { mut tcp, proxies } = self.clone();
        Box::pin(async move {
            let Some(proxy) = proxies.intercept(&server) else {
                return Ok(tcp.call(server).await?);
            };
            let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
            if let Some(credentials) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(credentials.clone());
            }
            Ok(tunnel.call(with_port(server)?).await?)
        })
    }
}

/// The server with its port spelled out, since a tunnel's own default is 443 for every scheme.
fn with_port(server: Uri) -> Result<Uri, http::Error> {
    if server.port().is_some() || server.scheme_str() != Some("http") {
        return Ok(server);
    }
    let authority = format!("{}:80", server.host().unwrap_or_default());
    Uri::builder()
        .scheme("http")
        .authority(authority)
        .path_and_query("/")
        .build()
}

fn proxies(proxy: &Proxy) -> Result<Matcher, SetupError> {
    let mut builder = Matcher::builder();
    for (url, is_https) in [(&proxy.https, true), (&proxy.all, false)] {
        let Some(url) = url else { continue };
        // The matcher drops what it does not understand, so each URL is tried on its own.
        let tried = Matcher::builder().all(url.clone()).build();
        let understood = tried.intercept(&Uri::from_static("http://server.invalid/"));
        if understood.is_none_or(|proxy| proxy.uri().scheme_str() != Some("http")) {
            return Err(SetupError::ProxyInvalid);
        }
        builder = if is_https {
            builder.https(url.clone())
        } else {
            builder.all(url.clone())
        };
    }
    let no = proxy.no.as_deref().unwrap_or_default();
    if no.split(',').any(|host| host.trim() == "*") {
        // The matcher takes this for all names, but not for addresses.
        return Ok(Matcher::builder().build());
    }
    Ok(builder.no(no).build())
}

/// Whom to trust. The platform's store is read with the first `https` exchange, off the async threads.
struct Trust {
    own: Vec<CertificateDer<'static>>,
    config: OnceCell<Arc<ClientConfig>>,
}

impl Trust {
    fn new(ca_file: Option<&Path>) -> Result<Self, SetupError> {
        Ok(Self {
            own: ca_file.map(read_ca_file).transpose()?.unwrap_or_default(),
            config: OnceCell::new(),
        })
    }

    async fn config(&self) -> io::Result<Arc<ClientConfig>> {
        let make = || async {
            let own = self.own.clone();
            Ok(tokio::task::spawn_blocking(|| Arc::new(client_config(own))).await?)
        };
        self.config.get_or_try_init(make).await.cloned()
    }
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

fn client_config(own: Vec<CertificateDer<'static>>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    // A platform without a readable store trusts nobody but `own`: every other server is then untrusted.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots.add_parsable_certificates(own);
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports the default protocol versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// Whether a connection failed because the other end could not be trusted.
pub(crate) fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<rustls::Error>() {
            return true;
        }
        // An I/O error hides the error it wraps from `source`.
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}
