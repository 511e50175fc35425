//! A whole host for another runtime, as proof that the contract is small: plain HTTP/1.1, one connection a request.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use async_std::future::timeout;
use async_std::io::{ReadExt, WriteExt};
use async_std::net::TcpStream;
use async_std::task::sleep;
use bytes::Bytes;
use http::Response;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use kalends_core::machine::{Exchange, Failure, FailureKind, Intake, Machine, Moment, Reply, Sent, Step};

/// The largest response head.
const HEAD: usize = 64 * 1024;

pub(crate) async fn drive<M: Machine>(mut machine: M) -> M::Output {
    let epoch = Instant::now();
    let now = || Moment(epoch.elapsed());
    loop {
        match machine.step(now()) {
            Step::Send(exchange) => {
                let (id, patience) = (exchange.id, exchange.deadline.since(now()));
                let connected = AtomicBool::new(false);
                let reply = timeout(patience, perform(exchange, &connected)).await;
                let reply = reply.unwrap_or_else(|_| Err(fail(&connected, FailureKind::TimedOut)));
                machine.receive(id, reply);
            }
            Step::Wait(moment) => sleep(moment.expect("nothing is in flight").since(now())).await,
            Step::Abort(_) => {}
            Step::Done(output) => return output,
        }
    }
}

fn fail(connected: &AtomicBool, kind: FailureKind) -> Failure {
    let sent = if connected.load(Ordering::Acquire) {
        Sent::Maybe
    } else {
        Sent::No
    };
    Failure { sent, kind }
}

async fn perform(exchange: Exchange, connected: &AtomicBool) -> Reply {
    let (head, body) = exchange.request.into_parts();
    let unreachable = || fail(connected, FailureKind::Unreachable);
    let authority = head
        .uri
        .authority()
        .filter(|_| head.uri.scheme_str() == Some("http"))
        .ok_or_else(unreachable)?;
    let address = (authority.host(), authority.port_u16().unwrap_or(80));
    let mut stream = TcpStream::connect(address).await.map_err(|_| unreachable())?;
    connected.store(true, Ordering::Release);
    let broken = || fail(connected, FailureKind::Broken);

    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut out = format!(
        "{} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n",
        head.method
    )
    .into_bytes();
    out.extend(format!("Content-Length: {}\r\n", body.len()).bytes());
    for (name, value) in &head.headers {
        out.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    out.extend([b"\r\n".as_slice(), &body].concat());
    stream.write_all(&out).await.map_err(|_| broken())?;

    let (mut raw, mut chunk) = (Vec::new(), vec![0; 16 * 1024]);
    let end = loop {
        if let Some(at) = raw.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        let read = stream.read(&mut chunk).await.map_err(|_| broken())?;
        if read == 0 || raw.len() > HEAD {
            return Err(broken());
        }
        raw.extend_from_slice(&chunk[..read]);
    };
    let (head, announced) = parse(&raw[..end]).ok_or_else(broken)?;
    let mut intake = Intake::new(exchange.body);
    let mut received = raw.len() - end - 4;
    intake.push(&raw[end + 4..])?;
    while intake.wants_body() && announced.is_none_or(|length| received < length) {
        let read = stream.read(&mut chunk).await.map_err(|_| broken())?;
        match announced {
            _ if read > 0 => intake.push(&chunk[..read])?,
            Some(_) => return Err(broken()),
            None => break,
        }
        received += read;
    }
    Ok(intake.finish(head))
}

/// The head, and how long the body is if it does not end with the connection.
fn parse(head: &[u8]) -> Option<(http::response::Parts, Option<usize>)> {
    let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.1 ")?.split(' ').next()?;
    let mut response = Response::builder().status(status).body(Bytes::new()).ok()?;
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let name: HeaderName = name.parse().ok()?;
        response
            .headers_mut()
            .append(name, HeaderValue::from_str(value.trim()).ok()?);
    }
    let length = match response.headers().get(CONTENT_LENGTH) {
        Some(length) => Some(length.to_str().ok()?.parse().ok()?),
        None if response.status() == http::StatusCode::NO_CONTENT => Some(0),
        None => None,
    };
    Some((response.into_parts().0, length))
}
