//! TLS: whom the process trusts, and what it says where it does not.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use kalends_tests::conformance::{Wire, listen, respond, stall};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::rig::{Hostile, Kalends};

/// A certificate authority of one test, in a file of this name.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    fn new(name: &str) -> Self {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}.pem", std::process::id()));
        let mut params = CertificateParams::new([]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        fs::write(&file, params.self_signed(&key).expect("signed").pem()).expect("written");
        Self {
            issuer: Issuer::new(params, key),
            file,
        }
    }

    fn sign(&self, params: &CertificateParams) -> ServerConfig {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("signed");
        config(certificate.der().clone(), &key)
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

fn config(certificate: rustls::pki_types::CertificateDer<'static>, key: &KeyPair) -> ServerConfig {
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has them")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())
        .expect("certificate and key fit")
}

fn host(name: &str) -> CertificateParams {
    CertificateParams::new([name.to_owned()]).expect("a name")
}

/// Healthy as soon as it is healed; before that, and to whoever does not trust it, it has nothing to say.
fn secure(config: ServerConfig) -> Hostile {
    let config = Arc::new(config);
    let wrap = move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, stream))
    };
    Hostile::over(wrap, |_, wire| respond(wire, "503 Service Unavailable", b""))
}

fn url(server: &Hostile) -> String {
    format!("https://127.0.0.1:{}/", server.server.port)
}

#[test]
fn a_certificate_that_is_not_trusted_is_named_as_that() {
    let (authority, other) = (Authority::new("own"), Authority::new("other"));
    let own = authority.file.to_str().expect("UTF-8");
    let foreign = other.file.to_str().expect("UTF-8");
    let key = KeyPair::generate().expect("a key");
    let lone = host("127.0.0.1").self_signed(&key).expect("signed");
    let mut past = host("127.0.0.1");
    (past.not_before, past.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
    for (config, trusted) in [
        (config(lone.der().clone(), &key), None),
        (authority.sign(&host("127.0.0.1")), None),
        (authority.sign(&host("127.0.0.1")), Some(foreign)),
        (authority.sign(&host("calendar.example")), Some(own)),
        (authority.sign(&past), Some(own)),
    ] {
        let server = secure(config);
        server.heal();
        let more: Vec<_> = trusted.iter().map(|file| ("CALDAV_CA_FILE", *file)).collect();
        let mut kalends = Kalends::at(&url(&server), &more);
        kalends.both_fail("upstream_unavailable", &["TLS", "certificate", "CALDAV_CA_FILE"]);
        kalends.finish();
        assert!(server.server.log().is_empty(), "nothing is sent to whom is not trusted");
    }
}

#[test]
fn a_private_authority_is_trusted_if_named() {
    let authority = Authority::new("named");
    let server = secure(authority.sign(&host("127.0.0.1")));
    let file = authority.file.to_str().expect("UTF-8");
    let mut kalends = Kalends::at(&url(&server), &[("CALDAV_CA_FILE", file)]);
    kalends.both_fail("upstream_unavailable", &["503"]);
    server.heal();
    kalends.both_work();
    kalends.finish();
}

#[test]
fn the_wrong_scheme_is_an_error_like_others() {
    let clear = listen(|mut stream| {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")?;
        stall(&mut stream as &mut dyn Wire).map(drop)
    });
    let mut kalends = Kalends::at(&format!("https://127.0.0.1:{clear}/"), &[]);
    kalends.both_fail("upstream_unavailable", &["TLS"]);
    kalends.finish();
    let authority = Authority::new("scheme");
    let server = secure(authority.sign(&host("127.0.0.1")));
    let mut kalends = Kalends::at(&server.url(), &[]);
    kalends.both_fail("upstream_unavailable", &["https"]);
    kalends.finish();
}
