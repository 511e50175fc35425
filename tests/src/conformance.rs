//! What the conformance suite of the hosts is made of: a machine with a script, and small HTTP/1.1 servers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use kalends_core::machine::{BodyLimit, Effect, Exchange, ExchangeId, Machine, Moment, Mutation, Reply, Step};

/// One exchange of a [`Script`].
#[derive(Clone)]
pub struct Ask {
    request: Request<Bytes>,
    effect: Effect,
    patience: Duration,
    body: BodyLimit,
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.request.method(), self.request.uri())
    }
}

impl Ask {
    /// A read, with ample time and room.
    ///
    /// # Panics
    /// If the method or the URI is malformed.
    #[must_use]
    pub fn read(method: &str, uri: &str) -> Self {
        let request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).expect("a method"))
            .uri(uri)
            .body(Bytes::new())
            .expect("a URI");
        Self {
            request,
            effect: Effect::Read,
            patience: Duration::from_secs(60),
            body: BodyLimit::Bytes(1 << 20),
        }
    }

    /// A write, with ample time and room.
    #[must_use]
    pub fn write(method: &str, uri: &str) -> Self {
        Self {
            effect: Effect::Write,
            ..Self::read(method, uri)
        }
    }

    /// The same with this request body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        *self.request.body_mut() = body.into();
        self
    }

    /// The same with one more header.
    ///
    /// # Panics
    /// If the value is malformed.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &str) -> Self {
        let value = value.parse().expect("a header value");
        self.request.headers_mut().append(name, value);
        self
    }

    /// The same with this limit on the response body.
    #[must_use]
    pub fn limited(mut self, body: BodyLimit) -> Self {
        self.body = body;
        self
    }

    /// The same with little time: enough for a server on this machine that answers at once, not for one that stalls.
    #[must_use]
    pub fn hasty(self) -> Self {
        self.within(Duration::from_millis(200))
    }

    /// The same with this much time.
    #[must_use]
    pub fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

/// A machine that emits its exchanges, and ends when all that it did not abort are answered.
#[derive(Debug)]
pub struct Script {
    asks: VecDeque<Ask>,
    one_by_one: bool,
    abort: Option<(ExchangeId, Ask)>,
    sent: u32,
    unwanted: BTreeSet<ExchangeId>,
    replies: BTreeMap<ExchangeId, Reply>,
}

impl Script {
    /// Emits all of these before it waits.
    #[must_use]
    pub fn at_once(asks: impl IntoIterator<Item = Ask>) -> Self {
        Self {
            asks: asks.into_iter().collect(),
            one_by_one: false,
            abort: None,
            sent: 0,
            unwanted: BTreeSet::new(),
            replies: BTreeMap::new(),
        }
    }

    /// Emits each of these after the reply to the one before.
    #[must_use]
    pub fn one_by_one(asks: impl IntoIterator<Item = Ask>) -> Self {
        Self {
            one_by_one: true,
            ..Self::at_once(asks)
        }
    }

    /// The same, but aborts the first exchange once another is answered, and emits this one then.
    #[must_use]
    pub fn aborting_the_first(mut self, then: Ask) -> Self {
        self.abort = Some((ExchangeId(0), then));
        self
    }

    fn is_answered(&self) -> bool {
        self.replies.len() + self.unwanted.len() == self.sent as usize
    }
}

impl Machine for Script {
    type Output = Vec<Reply>;

    fn step(&mut self, now: Moment) -> Step<Vec<Reply>> {
        if (!self.one_by_one || self.is_answered())
            && let Some(ask) = self.asks.pop_front()
        {
            let id = ExchangeId(self.sent);
            self.sent += 1;
            return Step::Send(Exchange {
                id,
                request: ask.request,
                effect: ask.effect,
                deadline: now + ask.patience,
                body: ask.body,
            });
        }
        if let Some((id, then)) = self
            .abort
            .take_if(|(id, _)| self.replies.keys().any(|answered| answered != id))
        {
            self.asks.push_back(then);
            self.replies.remove(&id);
            self.unwanted.insert(id);
            return Step::Abort(id);
        }
        if self.is_answered() {
            return Step::Done(std::mem::take(&mut self.replies).into_values().collect());
        }
        Step::Wait(None)
    }

    fn receive(&mut self, id: ExchangeId, reply: Reply) {
        if !self.unwanted.contains(&id) {
            assert!(self.replies.insert(id, reply).is_none(), "one exchange, one reply");
        }
    }

    fn cancel(&mut self) {}

    fn mutation(&self) -> Mutation {
        Mutation::NotAttempted
    }
}

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Counts the connections of the server from zero.
    pub connection: usize,
    /// The request line.
    pub line: String,
    /// Header names in lower case, with their values, in order.
    pub headers: Vec<(String, String)>,
    /// The body that `Content-Length` announced.
    pub body: Vec<u8>,
}

impl Seen {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Reads a request; nothing if the client has closed the connection.
    ///
    /// # Errors
    /// If the connection breaks or the request is malformed.
    pub fn read(connection: usize, stream: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut next = || -> io::Result<String> {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            Ok(line.trim_end().to_owned())
        };
        let line = next()?;
        if line.is_empty() {
            return Ok(None);
        }
        let mut headers = Vec::new();
        loop {
            let header = next()?;
            let Some((name, value)) = header.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut seen = Self {
            connection,
            line,
            headers,
            body: Vec::new(),
        };
        let length = seen.header("content-length").map_or(Ok(0), str::parse);
        seen.body = vec![0; length.map_err(io::Error::other)?];
        stream.read_exact(&mut seen.body)?;
        Ok(Some(seen))
    }
}

/// What a server does with its connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Reads the next request.
    Keep,
    /// Closes the connection.
    Close,
}

/// A connection, in clear or with TLS.
pub trait Wire: Read + Write {}

impl<T: Read + Write> Wire for T {}

/// Accepts connections on a loopback port, each on a thread of its own, until the process ends.
#[derive(Clone, Debug)]
pub struct Server {
    /// Where it listens.
    pub port: u16,
    log: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Answers every request by this function.
    pub fn start(answer: impl Fn(&Seen, &mut dyn Wire) -> io::Result<Then> + Send + Sync + 'static) -> Self {
        Self::over(Ok, answer)
    }

    /// The same over TLS, or whatever else makes a stream of a connection.
    ///
    /// # Panics
    /// If no port is free.
    pub fn over<W: Wire>(
        wrap: impl Fn(TcpStream) -> io::Result<W> + Send + Sync + 'static,
        answer: impl Fn(&Seen, &mut dyn Wire) -> io::Result<Then> + Send + Sync + 'static,
    ) -> Self {
        let log = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&log);
        let connections = AtomicUsize::new(0);
        let port = listen(move |stream| {
            let connection = connections.fetch_add(1, Ordering::SeqCst);
            let mut stream = BufReader::new(wrap(stream)?);
            while let Some(request) = Seen::read(connection, &mut stream)? {
                seen.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(request.clone());
                if answer(&request, stream.get_mut())? == Then::Close {
                    break;
                }
            }
            Ok(())
        });
        Self { port, log }
    }

    /// A URI of this server.
    #[must_use]
    pub fn uri(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The requests so far.
    #[must_use]
    pub fn log(&self) -> Vec<Seen> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Serves each connection to a fresh loopback port on a thread of its own. An error ends that connection only.
///
/// # Panics
/// If no port is free.
pub fn listen(serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free loopback port");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || stream.set_nodelay(true).and_then(|()| serve(stream)));
        }
    });
    port
}

/// Writes a response with this head (status and headers, lines separated by `\n`) and a body of announced length.
///
/// # Errors
/// If the client has closed the connection.
pub fn respond(wire: &mut dyn Wire, head: &str, body: &[u8]) -> io::Result<Then> {
    let head = head.replace('\n', "\r\n");
    write!(wire, "HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", body.len())?;
    wire.write_all(body)?;
    wire.flush()?;
    Ok(Then::Keep)
}

/// Says nothing more until the client closes the connection.
///
/// # Errors
/// If the connection breaks.
pub fn stall(wire: &mut dyn Wire) -> io::Result<Then> {
    wire.flush()?;
    while wire.read(&mut [0; 4096])? > 0 {}
    Ok(Then::Close)
}
