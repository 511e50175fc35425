//! TLS, HTTP/2 and proxies: whom a host trusts, and by which way it goes.

use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use bytes::Bytes;
use kalends_core::machine::{BodyLimit, Failure, FailureKind, Sent};
use kalends_tests::conformance::{Ask, Script, Seen, Server, Then, Wire, listen, respond, stall};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::cases::{FRAMING, fault, one, unsent};
use crate::{Host, current_thread, with_blocking, with_tokio};

/// A certificate authority of this test only.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "authority-{}-{}.pem",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::SeqCst)
        );
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        fs::write(&file, params.self_signed(&key).unwrap().pem()).unwrap();
        let issuer = Issuer::new(params, key);
        Self { issuer, file }
    }

    /// A server configuration with a certificate for this host.
    fn certify(&self, host: &str) -> ServerConfig {
        self.sign(CertificateParams::new([host.to_owned()]).unwrap())
    }

    fn sign(&self, params: CertificateParams) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key.into())
            .unwrap()
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.file));
    }
}

/// What a user may set, for either host.
#[derive(Clone, Default)]
struct Setting {
    ca_file: Option<PathBuf>,
    https: Option<String>,
    all: Option<String>,
    no: Option<String>,
}

impl Setting {
    fn trusting(authority: &Authority) -> Self {
        Self {
            ca_file: Some(authority.file.clone()),
            ..Self::default()
        }
    }

    fn tokio(&self) -> kalends_tokio::Options {
        let Self {
            ca_file,
            https,
            all,
            no,
        } = self.clone();
        let proxy = kalends_tokio::Proxy { https, all, no };
        kalends_tokio::Options { ca_file, proxy }
    }

    fn blocking(&self) -> kalends_blocking::Options {
        let Self {
            ca_file,
            https,
            all,
            no,
        } = self.clone();
        let proxy = kalends_blocking::Proxy { https, all, no };
        kalends_blocking::Options { ca_file, proxy }
    }

    /// Runs a test on either host.
    fn on_both(&self, test: impl Fn(Host<'_>)) {
        with_tokio(self.tokio(), &test);
        with_blocking(self.blocking(), &test);
    }
}

fn secure(
    config: ServerConfig,
    answer: impl Fn(&Seen, &mut dyn Wire) -> io::Result<Then> + Send + Sync + 'static,
) -> Server {
    let config = Arc::new(config);
    let wrap = move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, stream))
    };
    Server::over(wrap, answer)
}

fn ok(_: &Seen, wire: &mut dyn Wire) -> io::Result<Then> {
    respond(wire, "200 OK", b"secure")
}

fn here(server: &Server) -> String {
    format!("https://127.0.0.1:{}/", server.port)
}

const UNTRUSTED: Failure = Failure {
    sent: Sent::No,
    kind: FailureKind::Untrusted,
};

#[test]
fn a_private_authority_is_trusted_if_named() {
    let authority = Authority::new();
    let server = secure(authority.certify("127.0.0.1"), ok);
    Setting::trusting(&authority).on_both(|host| {
        for ask in [Ask::read("REPORT", &here(&server)), Ask::write("PUT", &here(&server))] {
            let response = one(host, ask.with_body("<x/>")).unwrap();
            assert_eq!(response.body(), "secure");
        }
        let ask = Ask::read("GET", &here(&server)).limited(BodyLimit::Bytes(5));
        assert_eq!(fault(host, ask).kind, FailureKind::TooLarge);
    });
    for setting in [Setting::default(), Setting::trusting(&Authority::new())] {
        setting.on_both(|host| {
            for ask in [Ask::read("GET", &here(&server)), Ask::write("PUT", &here(&server))] {
                assert_eq!(fault(host, ask), UNTRUSTED);
            }
        });
    }
}

#[test]
fn a_certificate_must_fit_the_server_and_the_day() {
    let authority = Authority::new();
    let mut past = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    (past.not_before, past.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
    for config in [
        authority.certify("127.0.0.2"),
        authority.certify("example.com"),
        authority.sign(past),
    ] {
        let server = secure(config, ok);
        Setting::trusting(&authority).on_both(|host| {
            assert_eq!(fault(host, Ask::write("PUT", &here(&server))), UNTRUSTED);
        });
    }
    let clear = listen(|mut stream| {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")?;
        stall(&mut stream).map(drop)
    });
    Setting::default().on_both(|host| {
        assert_eq!(
            fault(host, Ask::write("PUT", &format!("https://127.0.0.1:{clear}/"))),
            UNTRUSTED
        );
    });
}

#[test]
fn a_handshake_that_does_not_end_sends_nothing() {
    let silent = listen(|mut stream| stall(&mut stream).map(drop));
    let closing = listen(|stream| stream.peek(&mut [0]).map(drop));
    Setting::default().on_both(|host| {
        let ask = |port| Ask::write("PUT", &format!("https://127.0.0.1:{port}/"));
        assert_eq!(fault(host, ask(silent).hasty()), unsent(FailureKind::TimedOut));
        assert_eq!(fault(host, ask(closing)), unsent(FailureKind::Unreachable));
    });
}

/// Without the farewell of TLS, a body that ends with its connection may have been cut (RFC 8446, 6.1). The library
/// of the blocking host does not tell, so there it shows only where the body is read: cut XML or iCalendar.
#[test]
fn a_body_that_may_have_been_cut_is_broken() {
    let authority = Authority::new();
    let server = secure(authority.certify("127.0.0.1"), |_, wire| {
        wire.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf a calen")?;
        wire.flush()?;
        Ok(Then::Close)
    });
    with_tokio(Setting::trusting(&authority).tokio(), |host| {
        let failure = fault(host, Ask::read("GET", &here(&server)));
        assert_eq!(failure.kind, FailureKind::Broken);
    });
}

/// What an HTTP/2 server saw: which connection, the request, its body.
type Requests = Arc<Mutex<Vec<(usize, http::Request<Vec<u8>>)>>>;

/// An HTTP/2 server that echoes the request body.
fn http2(mut config: ServerConfig) -> (u16, Requests) {
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let log = Requests::default();
    let seen = Arc::clone(&log);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let serve = async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        for connection in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            let (acceptor, seen) = (acceptor.clone(), Arc::clone(&seen));
            tokio::spawn(async move {
                let mut server = h2::server::handshake(acceptor.accept(stream).await.unwrap())
                    .await
                    .unwrap();
                while let Some(Ok((request, mut respond))) = server.accept().await {
                    let seen = Arc::clone(&seen);
                    tokio::spawn(async move {
                        let (head, mut body) = request.into_parts();
                        let mut bytes = Vec::new();
                        while let Some(Ok(chunk)) = body.data().await {
                            bytes.extend_from_slice(&chunk);
                        }
                        let mut answer = respond.send_response(http::Response::new(()), false).unwrap();
                        answer.send_data(Bytes::from(bytes.clone()), true).unwrap();
                        seen.lock()
                            .unwrap()
                            .push((connection, http::Request::from_parts(head, bytes)));
                    });
                }
            });
        }
    };
    thread::spawn(move || current_thread().block_on(serve));
    (port, log)
}

#[test]
fn http_2_is_spoken_if_the_server_likes() {
    let authority = Authority::new();
    let (port, log) = http2(authority.certify("127.0.0.1"));
    let uri = format!("https://127.0.0.1:{port}/a%40b/");
    let ask = |at: usize| match at % 3 {
        2 => Ask::write("PUT", &uri).with_header("depth", "1"),
        _ => Ask::read("PROPFIND", &uri).with_header("depth", "1"),
    };
    with_tokio(Setting::trusting(&authority).tokio(), |host| {
        let asks = (0..9).map(|at| ask(at).with_body(format!("body {at}")));
        for (at, reply) in host(Script::one_by_one(asks)).into_iter().enumerate() {
            assert_eq!(reply.unwrap().body(), format!("body {at}").as_bytes());
        }
        let ask = ask(0).with_body("123456").limited(BodyLimit::Bytes(5));
        assert_eq!(fault(host, ask).kind, FailureKind::TooLarge);
    });
    let log = log.lock().unwrap();
    for (at, (connection, request)) in log.iter().enumerate() {
        assert_eq!(request.version(), http::Version::HTTP_2);
        assert_eq!(request.uri().path(), "/a%40b/");
        let added = request
            .headers()
            .keys()
            .filter(|name| !FRAMING.contains(&name.as_str()));
        assert_eq!(added.collect::<Vec<_>>(), ["depth"]);
        let is_reused = log[..at].iter().any(|(earlier, _)| earlier == connection);
        assert_eq!(
            is_reused,
            request.method() != "PUT" && at > 0,
            "reads share one connection, writes have their own"
        );
    }
}

/// A proxy that reaches every server at one port of this machine. Tells which tunnels were asked of it.
fn proxy(answer: &'static str, server: u16) -> Server {
    let target = move |inbound: TcpStream| {
        let outbound = TcpStream::connect(("127.0.0.1", server))?;
        Ok(Tunnel { inbound, outbound })
    };
    Server::over(target, move |_, wire| {
        write!(wire, "HTTP/1.1 {answer}\r\n\r\n")?;
        wire.flush()?;
        // Reading a tunnel moves its bytes.
        stall(wire)
    })
}

/// Two connections of a proxy: reads the client until told to relay by the first write.
struct Tunnel {
    inbound: TcpStream,
    outbound: TcpStream,
}

impl Read for Tunnel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inbound.read(buffer)
    }
}

impl Write for Tunnel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inbound.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let relay = |mut from: TcpStream, mut to: TcpStream| {
            thread::spawn(move || io::copy(&mut from, &mut to).and_then(|_| to.shutdown(std::net::Shutdown::Write)))
        };
        let up = relay(self.inbound.try_clone()?, self.outbound.try_clone()?);
        let down = relay(self.outbound.try_clone()?, self.inbound.try_clone()?);
        for relay in [up, down] {
            drop(relay.join());
        }
        Ok(())
    }
}

#[test]
fn a_proxy_tunnels_to_servers_it_alone_can_find() {
    let authority = Authority::new();
    let server = secure(authority.certify("calendar.invalid"), ok);
    let clear = Server::start(ok);
    let (proxy, clear_proxy) = (proxy("200 OK", server.port), proxy("200 OK", clear.port));
    let setting = Setting {
        https: Some(format!("http://user:p%40ss@127.0.0.1:{}", proxy.port)),
        all: Some(format!("http://127.0.0.1:{}", clear_proxy.port)),
        ..Setting::trusting(&authority)
    };
    setting.on_both(|host| {
        for uri in [
            "https://calendar.invalid/",
            "https://calendar.invalid:8443/",
            "http://calendar.invalid/",
        ] {
            for ask in [Ask::read("GET", uri), Ask::write("PUT", uri)] {
                assert_eq!(one(host, ask).unwrap().body(), "secure", "{uri}");
            }
        }
    });
    let lines = |log: &[Seen]| {
        log.iter()
            .map(|seen| seen.line.clone())
            .collect::<std::collections::BTreeSet<_>>()
    };
    let asked = lines(&proxy.log());
    assert!(asked.iter().eq([
        "CONNECT calendar.invalid:443 HTTP/1.1",
        "CONNECT calendar.invalid:8443 HTTP/1.1"
    ]));
    assert!(
        lines(&clear_proxy.log())
            .iter()
            .eq(["CONNECT calendar.invalid:80 HTTP/1.1"])
    );
    // user:p@ss
    assert!(
        proxy
            .log()
            .iter()
            .all(|seen| seen.header("proxy-authorization") == Some("Basic dXNlcjpwQHNz"))
    );
    for seen in server.log().iter().chain(&clear.log()) {
        assert!(
            seen.headers.iter().all(|(name, _)| FRAMING.contains(&name.as_str())),
            "{seen:?}"
        );
    }
}

#[test]
fn a_proxy_is_passed_by_for_the_hosts_so_named() {
    let authority = Authority::new();
    let server = secure(authority.certify("127.0.0.1"), ok);
    let clear = Server::start(ok);
    let proxy = proxy("200 OK", server.port);
    for no in ["127.0.0.1", "*", "example.com, 127.0.0.1"] {
        let setting = Setting {
            all: Some(format!("http://127.0.0.1:{}", proxy.port)),
            no: Some(no.into()),
            ..Setting::trusting(&authority)
        };
        setting.on_both(|host| {
            for uri in [here(&server), clear.uri("/")] {
                assert_eq!(one(host, Ask::read("GET", &uri)).unwrap().body(), "secure");
            }
        });
    }
    assert!(proxy.log().is_empty());
    for (no, is_direct) in [
        ("calendar.invalid", true),
        ("invalid", true),
        (".invalid", true),
        ("dar.invalid", false),
    ] {
        let setting = Setting {
            all: Some(format!("http://127.0.0.1:{}", proxy.port)),
            no: Some(no.into()),
            ..Setting::default()
        };
        setting.on_both(|host| {
            // Through the proxy it is found and not trusted; directly it is not found.
            let failure = fault(host, Ask::read("GET", "https://calendar.invalid/"));
            let kind = if is_direct {
                FailureKind::Unreachable
            } else {
                FailureKind::Untrusted
            };
            assert_eq!(failure, unsent(kind), "{no}");
        });
    }
}

#[test]
fn a_proxy_that_refuses_sends_nothing() {
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start(ok);
    let ports = ["407 Proxy Authentication Required", "502 Bad Gateway"].map(|answer| proxy(answer, server.port).port);
    let silent = listen(|stream| stall(&mut BufReader::new(stream).into_inner()).map(drop));
    let setting = |port| Setting {
        all: Some(format!("127.0.0.1:{port}")),
        ..Setting::default()
    };
    for uri in ["http://calendar.invalid/", "https://calendar.invalid/"] {
        for port in ports.into_iter().chain([refused]) {
            setting(port).on_both(|host| {
                assert_eq!(fault(host, Ask::write("PUT", uri)), unsent(FailureKind::Unreachable));
            });
        }
        setting(silent).on_both(|host| {
            assert_eq!(
                fault(host, Ask::write("PUT", uri).hasty()),
                unsent(FailureKind::TimedOut)
            );
        });
    }
    assert!(server.log().is_empty());
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no-authority.pem");
    fs::write(&file, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    let empty = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("empty.pem");
    fs::write(&empty, "no certificate").unwrap();
    let with_file = |path: &str| Setting {
        ca_file: Some(path.into()),
        ..Setting::default()
    };
    let with_proxy = |url: &str| Setting {
        all: Some(url.into()),
        ..Setting::default()
    };
    let bad = [
        with_file("/nonexistent/ca.pem"),
        with_file(file.to_str().unwrap()),
        with_file(empty.to_str().unwrap()),
        with_proxy("socks5://127.0.0.1:1"),
        with_proxy("https://127.0.0.1:1"),
        with_proxy("http://user:secret@"),
        with_proxy("not a url, secret"),
    ];
    for setting in bad {
        let tokio = kalends_tokio::Tokio::new(setting.tokio()).unwrap_err().to_string();
        let blocking = kalends_blocking::Blocking::new(setting.blocking())
            .unwrap_err()
            .to_string();
        assert_eq!(tokio, blocking);
        assert!(!tokio.contains("secret"));
    }
    let shown = format!(
        "{:?} {:?}",
        with_proxy("http://u:secret@h").tokio(),
        with_proxy("http://u:secret@h").blocking()
    );
    assert!(!shown.contains("secret"));
}
