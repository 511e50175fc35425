//! The account that tests ask, and requests to it.

use std::path::Path;
use std::sync::OnceLock;
use std::{fs, io};

use bytes::Bytes;
use http::{Request, Response};
use kalends_local::{Local, Metadata};
use tempfile::TempDir;

/// An event with this UID and these further lines.
pub(crate) fn event(uid: &str, lines: &str) -> String {
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:{uid}\r\n{lines}END:VEVENT\r\nEND:VCALENDAR\r\n")
}

pub(crate) fn todo(uid: &str) -> String {
    event(uid, "").replace("VEVENT", "VTODO")
}

fn sample(local: Local) -> Local {
    let work = Metadata {
        name: Some("Work & <more>".into()),
        color: Some("#11AAFF".into()),
        order: Some(3),
        components: Some(vec!["VEVENT".into()]),
        ..Metadata::default()
    };
    local
        .with_metadata("work", &work)
        .with_calendar("é home", "Home")
        .put("work/a.ics", event("a", "DTSTART:20260601T100000Z\r\n"))
        .put("work/b.ics", event("b", "DTSTART:20200601T100000Z\r\n"))
        .put("é home/c d.ics", todo("c"))
}

/// Runs a test over memory and over a folder.
pub(crate) fn with_both(test: impl Fn(&Local)) {
    test(&sample(Local::memory().at("/dav/ann")));
    // Written once with all care, then copied with none.
    static SAMPLE: OnceLock<TempDir> = OnceLock::new();
    let original = SAMPLE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        drop(sample(Local::folder(folder.path()).expect("a folder")));
        folder
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(original.path(), folder.path()).expect("a copy");
    test(&Local::folder(folder.path()).expect("a folder"));
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&to)?;
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

pub(crate) fn send(
    local: &Local,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Response<Bytes> {
    let uri = local.url().resolve("./").expect("a root").to_uri().to_string() + path;
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    local.answer(request.body(body.into()).expect("a request"))
}

pub(crate) const DEPTH_0: (&str, &str) = ("Depth", "0");
pub(crate) const DEPTH_1: (&str, &str) = ("Depth", "1");

pub(crate) fn propfind(properties: &str) -> String {
    format!(
        "<propfind xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav' xmlns:S='http://calendarserver.org/ns/' \
         xmlns:A='http://apple.com/ns/ical/'><prop>{properties}</prop></propfind>"
    )
}

pub(crate) fn query(properties: &str, filter: &str) -> String {
    format!(
        "<C:calendar-query xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav'><prop>{properties}</prop>\
         <C:filter><C:comp-filter name='VCALENDAR'>{filter}</C:comp-filter></C:filter></C:calendar-query>"
    )
}
