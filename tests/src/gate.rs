//! An honest CalDAV server on loopback that holds requests until a test lets them go.

use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError, mpsc};

use bytes::Bytes;
use http::Request;
use kalends_local::Local;

use crate::conformance::{Seen, Server, Then, Wire, stall};

/// A request that waits for its answer.
#[derive(Debug)]
pub struct Held {
    /// What is asked.
    pub seen: Seen,
    verdict: mpsc::Sender<Verdict>,
}

enum Verdict {
    Answer,
    Ignore(Box<dyn FnOnce() + Send>),
}

impl fmt::Debug for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answer => "Answer",
            Self::Ignore(_) => "Ignore",
        })
    }
}

impl Held {
    /// Lets it be answered.
    pub fn pass(self) {
        // An error means that its connection is gone.
        let _ = self.verdict.send(Verdict::Answer);
    }

    /// Never answers it, and says when the client has hung up.
    pub fn ignore(self, hung_up: impl FnOnce() + Send + 'static) {
        let _ = self.verdict.send(Verdict::Ignore(Box::new(hung_up)));
    }
}

/// A server of this account. Each request that `holds` selects is handed out and waits.
pub fn gate(
    local: Local,
    holds: impl FnMut(&Seen) -> bool + Send + 'static,
    hand_out: impl Fn(Held) + Send + Sync + 'static,
) -> Server {
    let holds = Mutex::new(holds);
    Server::start(move |seen, wire| {
        let held = (*holds.lock().unwrap_or_else(PoisonError::into_inner))(seen);
        if held {
            let (verdict, judged) = mpsc::channel();
            let seen = seen.clone();
            hand_out(Held { seen, verdict });
            match judged.recv() {
                Ok(Verdict::Answer) => {}
                Ok(Verdict::Ignore(hung_up)) => {
                    let end = stall(wire);
                    hung_up();
                    return end;
                }
                // The test has ended.
                Err(_) => return Ok(Then::Close),
            }
        }
        honest(&local, seen, wire)
    })
}

/// Answers as CalDAV has it.
///
/// # Errors
/// If the client has closed the connection, or what came is no HTTP.
pub fn honest(local: &Local, seen: &Seen, wire: &mut dyn Wire) -> io::Result<Then> {
    let mut words = seen.line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = Request::builder().method(method).uri(target);
    for (name, value) in &seen.headers {
        request = request.header(name, value);
    }
    let request = request.body(Bytes::from(seen.body.clone())).map_err(io::Error::other)?;
    let response = local.answer(request);
    write!(wire, "HTTP/1.1 {}\r\n", response.status())?;
    for (name, value) in response.headers().iter().filter(|(name, _)| *name != "content-length") {
        write!(wire, "{name}: {}\r\n", value.to_str().map_err(io::Error::other)?)?;
    }
    write!(wire, "content-length: {}\r\n\r\n", response.body().len())?;
    wire.write_all(response.body())?;
    wire.flush()?;
    Ok(Then::Keep)
}
