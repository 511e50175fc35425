//! One contract, three hosts: what `core/src/machine.rs` asks of a host, checked over loopback sockets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod async_std_host;
mod cases;
mod tls;

use std::future::pending;
use std::sync::Mutex;
use std::sync::mpsc::Sender;

use kalends_blocking::Blocking;
use kalends_core::env::Env;
use kalends_core::flow::Flow;
use kalends_core::machine::{BodyLimit, Effect, ExchangeId, FailureKind, Machine, Mutation, Reply, Sent, Step};
use kalends_core::time::{Moment, Utc};
use kalends_tests::conformance::{Ask, Script, Server, respond};
use kalends_tokio::Tokio;

/// Runs a script to its end.
type Host<'host> = &'host dyn Fn(Script) -> Vec<Reply>;

/// What a host does beyond the bare contract. Cases for what it lacks are skipped, and named on standard error.
#[derive(Clone, Copy)]
struct Capabilities {
    name: &'static str,
    /// Performs several exchanges of one machine at a time, and drops an aborted one.
    concurrent: bool,
    /// Keeps connections for later reads.
    keeps_connections: bool,
    gzip: bool,
    chunked: bool,
}

const TOKIO: Capabilities = Capabilities {
    name: "tokio",
    concurrent: true,
    keeps_connections: true,
    gzip: true,
    chunked: true,
};

const BLOCKING: Capabilities = Capabilities {
    name: "blocking",
    concurrent: false,
    ..TOKIO
};

const ASYNC_STD: Capabilities = Capabilities {
    name: "async-std",
    concurrent: false,
    keeps_connections: false,
    gzip: false,
    chunked: false,
};

fn current_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn with_tokio(options: kalends_tokio::Options, test: impl FnOnce(Host<'_>)) {
    let runtime = current_thread();
    let host = Tokio::new(options).unwrap();
    test(&|script| runtime.block_on(host.drive(script, pending())));
}

fn with_blocking(options: kalends_blocking::Options, test: impl FnOnce(Host<'_>)) {
    let host = Blocking::new(options).unwrap();
    test(&|script| host.drive(script));
}

#[test]
fn tokio_keeps_the_contract() {
    with_tokio(kalends_tokio::Options::default(), |host| {
        cases::conformance(host, TOKIO)
    });
}

#[test]
fn tokio_keeps_the_contract_on_many_threads() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let host = Tokio::new(kalends_tokio::Options::default()).unwrap();
    let drive = |script| {
        let host = host.clone();
        let run = runtime.spawn(async move { host.drive(script, pending()).await });
        runtime.block_on(run).unwrap()
    };
    cases::conformance(&drive, TOKIO);
}

#[test]
fn blocking_keeps_the_contract() {
    with_blocking(kalends_blocking::Options::default(), |host| {
        cases::conformance(host, BLOCKING)
    });
}

#[test]
fn a_host_of_another_runtime_keeps_the_contract() {
    let host = |script| async_std::task::block_on(async_std_host::drive(script));
    cases::conformance(&host, ASYNC_STD);
}

/// Answers a write only after the machine was told to finish early, so that only a host that goes on hears it.
#[test]
fn tokio_hears_an_open_write_out() {
    let (cancel, canceled) = tokio::sync::oneshot::channel();
    let (allow, allowed) = std::sync::mpsc::channel();
    let signals = Mutex::new(Some((cancel, allowed)));
    let server = Server::start(move |_, wire| {
        let (cancel, allowed) = signals.lock().unwrap().take().unwrap();
        cancel.send(()).unwrap();
        allowed.recv().map_err(std::io::Error::other)?;
        respond(wire, "201 Created", b"")
    });
    let host = Tokio::new(kalends_tokio::Options::default()).unwrap();
    let machine = Canceled {
        script: Script::at_once([Ask::write("PUT", &server.uri("/"))]),
        allow,
    };
    let canceled = async { canceled.await.unwrap() };
    let replies = current_thread().block_on(host.drive(machine, canceled));
    assert_eq!(replies[0].as_ref().unwrap().status(), 201);
}

#[test]
fn tokio_sends_nothing_for_a_machine_that_was_canceled_before() {
    let host = Tokio::new(kalends_tokio::Options::default()).unwrap();
    let machine = Flow::new(host.now(), |io| async move {
        let request = http::Request::new(bytes::Bytes::new());
        io.send(request, Effect::Read, BodyLimit::HeadersOnly).await
    });
    let reply = current_thread().block_on(host.drive(machine, std::future::ready(())));
    let failure = reply.expect_err("there is no server");
    assert_eq!((failure.sent, failure.kind), (Sent::No, FailureKind::Canceled));
}

/// A script that tells when it is canceled, and goes on.
struct Canceled {
    script: Script,
    allow: Sender<()>,
}

impl Machine for Canceled {
    type Output = Vec<Reply>;

    fn step(&mut self, now: Moment) -> Step<Vec<Reply>> {
        self.script.step(now)
    }

    fn receive(&mut self, id: ExchangeId, reply: Reply) {
        self.script.receive(id, reply);
    }

    fn cancel(&mut self) {
        self.allow.send(()).unwrap();
    }

    fn mutation(&self) -> Mutation {
        self.script.mutation()
    }
}

#[test]
fn every_machine_gets_its_own_entropy_and_later_clocks() {
    fn check(env: impl Fn() -> Env) {
        let (first, second) = (env(), env());
        assert_ne!(first.seed, second.seed);
        assert!(first.now <= second.now);
        // 2020-01-01T00:00:00Z
        assert!(first.utc > Utc(1_577_836_800_000));
    }
    let host = Tokio::new(kalends_tokio::Options::default()).unwrap();
    check(|| host.env());
    let host = Blocking::new(kalends_blocking::Options::default()).unwrap();
    check(|| host.env());
}
