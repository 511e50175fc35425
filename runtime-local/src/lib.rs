//! A CalDAV server as a plain function, over a folder or over memory, and a host that drives machines with it.
//!
//! ```
//! use bytes::Bytes;
//! use kalends_local::Local;
//!
//! let event = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
//! let local = Local::memory().with_calendar("work", "Work").put("work/a.ics", event);
//! let request = http::Request::get("http://localhost/work/a.ics").body(Bytes::new())?;
//! assert_eq!(local.answer(request).into_body(), event);
//! # Ok::<(), http::Error>(())
//! ```
//!
//! # Layout
//!
//! The root is principal and calendar home at once; every folder in it is a Calendar, and every `.ics` file in such
//! a folder a member, served as the octets that it holds, iCalendar or not. Names that begin with a dot are no one's
//! business, and neither are names that are not UTF-8, symbolic links, and other files. A Calendar's name, colour,
//! order and kinds of component may be in its file [`.calendar.json`](Metadata).
//!
//! Hrefs of a folder are those of its `file` URL, requests come as `file://localhost/…`. Hrefs in memory begin at
//! `/` or where [`Local::at`] says. Scheme and host of a request are not looked at.
//!
//! # Requests
//!
//! | request | answer |
//! |---|---|
//! | OPTIONS | 200 with `DAV: 1, 3, calendar-access` |
//! | PROPFIND, depth 0 or 1 | 207; depth infinity 403 `propfind-finite-depth` |
//! | REPORT calendar-query on a Calendar | 207; no `Depth` 400; a filter that is none 403 `valid-filter` |
//! | REPORT free-busy-query on a Calendar | 200 with one VFREEBUSY; 500 if an event in the window cannot be evaluated |
//! | REPORT sync-collection on a Calendar, depth 0 | 207; a token that is not remembered 403 `valid-sync-token` |
//! | REPORT calendar-multiget on a Calendar or the root | 207; a member that is not there has status 404 in it |
//! | GET, HEAD of a member | 200, 304, 404, 412; of anything else 405 |
//! | PUT of a member | 201 or 204 with the Entity Tag of what is stored, unchanged; 412, 403 or 409 with its precondition |
//! | DELETE of a member | 204, 404, 412 |
//! | MOVE of a member, with `Destination` and `Overwrite` | 201 or 204; 412, 403, 409 with its precondition, 502 to another server |
//! | DELETE of a Calendar | 204 with all members; 403 if its folder holds other files |
//! | PROPPATCH of a Calendar | 207: all properties are changed or none |
//! | MKCALENDAR directly in the root | 201; 405 `resource-must-be-null` |
//! | a path outside the root | 404 |
//! | a path that no file could have (`..`, an encoded slash or NUL) | 400 |
//! | a name that begins with a dot, a member that cannot be read | 403, for a member also within a 207 |
//!
//! Entity Tags are hashes of the content, so they are the same in every process and never return for other content.
//! Calendar data that XML cannot hold (not UTF-8, control characters) is `404` in its `propstat`: GET gives it.
//!
//! # Missing
//!
//! 501 is answered to: COPY, and calendar data that is to be expanded or limited; 405 to MOVE of a Calendar. Calendar data
//! is always whole, whatever parts are asked for. A calendar-query evaluates the kind of component exactly and a time range generously, and
//! ignores finer filters: it answers too much, never too little.
//!
//! # Several processes
//!
//! Nothing that was read is used again without a look at the file. Writers keep each other out by a lock on the file
//! `.kalends.lock` in the root (on Unix; elsewhere within the process only), and a file is replaced by a rename, so
//! that no one ever sees half of it, also after a crash.

mod element;
mod folder;
mod free_busy;
mod host;
mod memory;
mod metadata;
mod multistatus;
mod path;
mod precondition;
mod property;
mod report;
mod store;
mod summary;
mod sync;
mod write;

use std::fmt;
use std::io;
#[cfg(unix)]
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, ETAG, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use kalends_core::account::Account;
use kalends_core::env::Env;
use kalends_core::href::Href;
use kalends_core::machine::Machine;
use kalends_core::operation::Operation;
use kalends_core::time::Moment;

pub use crate::metadata::Metadata;

use crate::element::Element;
use crate::folder::Folder;
use crate::memory::Memory;
use crate::multistatus::empty;
use crate::path::{Base, Target};
use crate::precondition::{Verdict, judge};
use crate::property::{Depth, content_type, header, propfind};
use crate::store::{Store, Trouble};
use crate::summary::Summary;
use crate::sync::History;

/// A CalDAV account in this process. Cheap to clone; clones share their content.
#[derive(Clone)]
pub struct Local {
    store: Arc<dyn Store>,
    base: Base,
    scheme: &'static str,
    history: Arc<History>,
    /// Where the host's monotonic clock begins.
    start: Instant,
}

/// Shows where the account is kept, never what it holds.
impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.scheme == FILE { "folder" } else { "memory" };
        f.debug_struct("Local").field("kind", &kind).finish_non_exhaustive()
    }
}

const FILE: &str = "file://";

impl Local {
    /// Opens a folder, and creates it if it is missing. A relative path is taken from the current directory.
    ///
    /// # Errors
    /// If it cannot be created or read.
    pub fn folder(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut path = std::path::absolute(path)?;
        if path.components().any(|component| component == Component::ParentDir) {
            // URLs have no such segment, and only the system knows where it leads.
            std::fs::create_dir_all(&path)?;
            path = std::fs::canonicalize(path)?;
        }
        let segments = path.components().filter_map(|component| match component {
            Component::RootDir | Component::CurDir => None,
            Component::Prefix(_) | Component::ParentDir | Component::Normal(_) => {
                Some(component.as_os_str().as_encoded_bytes().to_vec())
            }
        });
        Ok(Self {
            base: Base::new(segments.collect()),
            scheme: FILE,
            history: Arc::default(),
            start: Instant::now(),
            store: Arc::new(Folder::open(path)?),
        })
    }

    /// Opens the folder that a `file` URL names. The account is then best configured with [`Self::url`].
    ///
    /// # Errors
    /// If it is no `file` URL, names nothing that a path can be, or the folder cannot be created or read.
    pub fn open(url: &Href) -> io::Result<Self> {
        let unusable = || io::Error::new(io::ErrorKind::InvalidInput, "the URL names no folder");
        if url.origin().scheme != "file" {
            return Err(unusable());
        }
        let mut path = PathBuf::from("/");
        for segment in url.path().split('/').filter(|segment| !segment.is_empty()) {
            let octets = path::decode(segment).ok_or_else(unusable)?;
            #[cfg(unix)]
            path.push(std::ffi::OsString::from_vec(octets));
            #[cfg(not(unix))]
            match String::from_utf8(octets) {
                // A drive takes the place of the root.
                Ok(drive) if drive.ends_with(':') => path = PathBuf::from(drive + "/"),
                Ok(segment) => path.push(segment),
                Err(_) => return Err(unusable()),
            }
        }
        Self::folder(path)
    }

    /// An empty account in memory, whose root is `/`.
    #[must_use]
    pub fn memory() -> Self {
        Self {
            store: Arc::new(Memory::default()),
            base: Base::new(Vec::new()),
            scheme: "http://localhost",
            history: Arc::default(),
            start: Instant::now(),
        }
    }

    /// The same account in memory with its root at another path, percent-encoded: `/dav/ann`.
    ///
    /// # Panics
    /// If this is a folder, whose path is its own, or the path is none.
    #[must_use]
    pub fn at(self, path: &str) -> Self {
        assert!(self.scheme != FILE, "a folder stays where it is");
        let segments = path.split('/').filter(|segment| !segment.is_empty());
        Self {
            base: Base::new(
                segments
                    .map(|segment| path::decode(segment).unwrap_or_default())
                    .collect(),
            ),
            ..self
        }
    }

    /// The URL to configure: that of the root.
    #[must_use]
    pub fn url(&self) -> Href {
        let text = format!("{}{}", self.scheme, self.base.href());
        Href::parse(&text).expect("a percent-encoded path makes an href")
    }

    /// Adds a Calendar with this folder name and display name.
    ///
    /// # Panics
    /// If the folder's name cannot be used or is taken.
    #[must_use]
    pub fn with_calendar(self, folder: &str, name: &str) -> Self {
        let metadata = Metadata {
            name: Some(name.to_owned()),
            ..Metadata::default()
        };
        self.with_metadata(folder, &metadata)
    }

    /// Adds a Calendar of which this is known.
    ///
    /// # Panics
    /// If the folder's name cannot be used or is taken.
    #[must_use]
    pub fn with_metadata(self, folder: &str, metadata: &Metadata) -> Self {
        assert!(path::is_safe(folder), "a folder needs a plain name");
        assert!(self.store.metadata(folder).is_err(), "the Calendar is there already");
        self.store.create(folder, metadata).expect("the Calendar can be made");
        self
    }

    /// Stores octets as they are, valid or not, at `calendar/name.ics`.
    ///
    /// # Panics
    /// If the Calendar is not there or the name cannot be used.
    #[must_use]
    pub fn put(self, path: &str, content: impl Into<Bytes>) -> Self {
        let (calendar, name) = path.split_once('/').expect("a member lies in a Calendar");
        assert!(
            path::is_safe(name) && folder::is_member(name),
            "a member has a plain name in .ics"
        );
        self.store
            .write(calendar, name, &content.into())
            .expect("the member can be stored");
        self
    }

    /// This host's clock, counted from its construction.
    #[must_use]
    pub fn now(&self) -> Moment {
        Moment(self.start.elapsed())
    }

    /// Fresh clocks and entropy for one machine.
    ///
    /// # Panics
    /// If the operating system gives no entropy.
    #[must_use]
    pub fn env(&self) -> Env {
        host::env(self.now())
    }

    /// Starts an operation and drives it to its end.
    pub fn run<O: Operation>(&self, operation: O, account: &Arc<Account>) -> O::Outcome {
        self.drive(operation.start(self.env(), account))
    }

    /// Drives a machine to its end, answering every exchange at once. Waits are not waited out: the machine is told
    /// that the time has passed.
    ///
    /// # Panics
    /// If the machine waits for nothing.
    pub fn drive<M: Machine>(&self, machine: M) -> M::Output {
        host::drive(self, machine)
    }

    /// Answers a request, completely and at once. See the [crate] for what is answered.
    #[must_use]
    pub fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (head, body) = request.into_parts();
        let is_head = head.method == Method::HEAD;
        let mut response = match self.base.target(head.uri.path()) {
            Ok(target) => self
                .dispatch((&head.method, &head.uri), &target, &head.headers, &body)
                .unwrap_or_else(|trouble| empty(trouble.status())),
            Err(status) => empty(status),
        };
        if is_head {
            *response.body_mut() = Bytes::new();
        }
        response
    }

    fn dispatch(
        &self,
        (method, uri): (&Method, &Uri),
        target: &Target,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Response<Bytes>, Trouble> {
        let here = (&*self.store, &self.base);
        let tree = || Element::read(body).map_err(|_| Trouble::NotXml);
        match (method.as_str(), target) {
            ("OPTIONS", _) => Ok(with_allow(StatusCode::OK, target)),
            ("PROPFIND", _) => propfind(
                here,
                target,
                depth(headers).unwrap_or(Depth::Infinity),
                tree()?.as_ref(),
            ),
            ("REPORT", _) => {
                let tree = tree()?.ok_or(Trouble::NotXml)?;
                report::report(here, &self.history, (target, depth(headers)), &tree)
            }
            ("GET" | "HEAD", Target::Member(calendar, name)) => self.get(calendar, name, headers),
            ("PUT", Target::Member(calendar, name)) => write::put(here, (calendar, name), headers, body),
            ("DELETE", Target::Member(calendar, name)) => write::delete(here.0, (calendar, name), headers),
            ("MKCALENDAR", _) => write::make_calendar(here.0, target, tree()?.as_ref()),
            ("DELETE", Target::Calendar(calendar)) => write::remove_calendar(here.0, calendar),
            ("MOVE", Target::Member(calendar, name)) => write::relocate(here, (calendar, name), uri, headers),
            ("PROPPATCH", _) => write::change_properties(here, target, tree()?.as_ref()),
            ("COPY", _) => Ok(empty(StatusCode::NOT_IMPLEMENTED)),
            _ => Ok(with_allow(StatusCode::METHOD_NOT_ALLOWED, target)),
        }
    }

    fn get(&self, calendar: &str, name: &str, headers: &HeaderMap) -> Result<Response<Bytes>, Trouble> {
        if !folder::is_member(name) {
            return Err(Trouble::Missing);
        }
        let content = self.store.read(calendar, name)?;
        let summary = Summary::read(&content);
        let mut response = match judge(headers, Some(&summary.etag)) {
            Verdict::Holds => Response::new(content),
            Verdict::Known => empty(StatusCode::NOT_MODIFIED),
            Verdict::Changed => return Ok(empty(StatusCode::PRECONDITION_FAILED)),
        };
        let head = response.headers_mut();
        head.insert(ETAG, header(&summary.etag));
        head.insert(CONTENT_TYPE, header(&content_type(&summary)));
        Ok(response)
    }
}

fn depth(headers: &HeaderMap) -> Option<Depth> {
    let depth = headers.get("depth")?.as_bytes().trim_ascii();
    Some(match depth {
        b"0" => Depth::Zero,
        b"1" => Depth::One,
        _ => Depth::Infinity,
    })
}

fn with_allow(status: StatusCode, target: &Target) -> Response<Bytes> {
    let mut response = empty(status);
    let head = response.headers_mut();
    head.insert(
        HeaderName::from_static("dav"),
        HeaderValue::from_static("1, 3, calendar-access"),
    );
    let allow = match target {
        Target::Root => "OPTIONS, PROPFIND, REPORT",
        Target::Calendar(_) => "OPTIONS, PROPFIND, PROPPATCH, REPORT, MKCALENDAR, DELETE",
        Target::Member(..) => "OPTIONS, PROPFIND, GET, HEAD, PUT, DELETE, MOVE",
    };
    head.insert(ALLOW, HeaderValue::from_static(allow));
    response
}
