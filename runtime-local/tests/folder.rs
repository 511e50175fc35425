//! The folder as others see it: files, links, leftovers of a crash, a second process.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Barrier;

use bytes::Bytes;
use http::{Request, Response};
use kalends_core::href::Href;
use kalends_local::{Local, Metadata};

fn event(uid: &str, summary: &str) -> String {
    format!("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nSUMMARY:{summary}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
}

fn send(local: &Local, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Response<Bytes> {
    let mut request = Request::builder()
        .method(method)
        .uri(local.url().to_uri().to_string() + path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    local.answer(request.body(body.into()).expect("a request"))
}

fn status(local: &Local, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> u16 {
    send(local, method, path, headers, body.to_owned()).status().as_u16()
}

/// The last segments of the hrefs of a listing, each with the status that it has as a whole.
fn listing(local: &Local, path: &str) -> Vec<(String, Option<u16>)> {
    let response = send(local, "PROPFIND", path, &[("Depth", "1")], "");
    assert_eq!(response.status().as_u16(), 207);
    let text = String::from_utf8(response.into_body().to_vec()).expect("UTF-8");
    let own = local
        .url()
        .resolve(&format!("./{path}"))
        .expect("a path")
        .path()
        .to_owned();
    let read = |response: &str| {
        let href = response
            .split("</D:href>")
            .next()
            .and_then(|text| text.split("<D:href>").nth(1));
        let status = response.split("</D:href><D:status>HTTP/1.1 ").nth(1);
        let name = href
            .and_then(|href| href.strip_prefix(own.as_str()))
            .unwrap_or_default();
        (name.to_owned(), status.and_then(|status| status[..3].parse().ok()))
    };
    text.split("<D:response>")
        .skip(1)
        .map(read)
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

fn names(local: &Local, path: &str) -> Vec<String> {
    listing(local, path).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_missing_folder_is_made_and_its_url_is_that_of_the_files() {
    let outer = tempfile::tempdir().expect("a temporary folder");
    let path = outer.path().join("mine & yours/cal");
    let local = Local::folder(&path)
        .expect("a folder")
        .with_calendar("a b", "A")
        .put("a b/x.ics", event("x", ""));
    assert!(local.url().as_str().ends_with("/mine%20%26%20yours/cal/"));
    let file = path.join("a b/x.ics");
    assert_eq!(fs::read_to_string(&file).expect("a file"), event("x", ""));
    assert_eq!(status(&local, "GET", "a%20b/x.ics", &[], ""), 200);
    let not_a_folder = Local::folder(file);
    assert!(not_a_folder.is_err());
}

#[test]
fn a_folder_is_opened_by_its_url() {
    let outer = tempfile::tempdir().expect("a temporary folder");
    let path = outer.path().join("50% é");
    let local = Local::folder(&path).expect("a folder").with_calendar("work", "Work");
    let again = Local::open(&local.url()).expect("a folder");
    assert_eq!(
        (again.url(), names(&again, "")),
        (local.url(), vec!["work/".to_owned()])
    );
    let plain = Href::parse(&format!("file://{}", path.to_str().expect("UTF-8"))).expect("a URL");
    assert_eq!(Local::open(&plain).expect("a folder").url(), local.url());
    let dots = Local::folder(path.join("work/..")).expect("a folder");
    assert_eq!(names(&dots, ""), ["work/"]);
    assert!(!dots.url().as_str().contains(".."));
    for bad in ["http://localhost/x", "file:///a%2Fb", "file:///a%00b"] {
        assert!(Local::open(&Href::parse(bad).expect("a URL")).is_err(), "{bad}");
    }
}

#[test]
fn any_folder_is_a_calendar_with_or_without_metadata() {
    let root = tempfile::tempdir().expect("a temporary folder");
    for folder in ["plain", "named", "broken", "odd", ".hidden"] {
        fs::create_dir(root.path().join(folder)).expect("a folder");
    }
    fs::write(
        root.path().join("named/.calendar.json"),
        r##"{"name":"N","color":"#123456","x":1}"##,
    )
    .expect("a file");
    fs::write(root.path().join("broken/.calendar.json"), "{").expect("a file");
    fs::write(root.path().join("odd/.calendar.json"), r#"{"name":"\u0001"}"#).expect("a file");
    fs::write(root.path().join("loose.ics"), event("x", "")).expect("a file");
    let local = Local::folder(root.path()).expect("a folder");
    assert_eq!(names(&local, ""), ["broken/", "named/", "odd/", "plain/"]);
    for (path, name) in [("plain/", "plain"), ("named/", "N"), ("broken/", "broken")] {
        let response = send(&local, "PROPFIND", path, &[("Depth", "0")], "");
        let text = String::from_utf8(response.into_body().to_vec()).expect("UTF-8");
        assert!(
            text.contains(&format!("<D:displayname>{name}</D:displayname>")),
            "{text}"
        );
    }
    let response = send(&local, "PROPFIND", "odd/", &[("Depth", "0")], "");
    let text = String::from_utf8(response.into_body().to_vec()).expect("UTF-8");
    assert!(!text.contains("displayname"), "XML cannot hold it: {text}");
    assert_eq!(status(&local, "GET", "loose.ics", &[], ""), 405);
}

#[test]
fn metadata_is_kept_in_the_folder() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let metadata = Metadata {
        name: Some("Work".into()),
        order: Some(2),
        ..Metadata::default()
    };
    drop(
        Local::folder(root.path())
            .expect("a folder")
            .with_metadata("work", &metadata),
    );
    let json = fs::read_to_string(root.path().join("work/.calendar.json")).expect("a file");
    assert_eq!(json, "{\n  \"name\": \"Work\",\n  \"order\": 2\n}");
    assert_eq!(
        fs::read_dir(root.path()).expect("a folder").count(),
        1,
        "nothing else is left"
    );
}

#[test]
fn only_files_that_can_be_named_are_members() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let local = Local::folder(root.path())
        .expect("a folder")
        .with_calendar("work", "Work");
    let folder = root.path().join("work");
    for name in ["a.ics", "B.ICS", "notes.txt", ".draft.ics", "ics"] {
        fs::write(folder.join(name), event(name, "")).expect("a file");
    }
    fs::create_dir(folder.join("folder.ics")).expect("a folder");
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"\xff.ics");
        fs::write(folder.join(name), event("raw", "")).expect("a file");
        fs::write(folder.join("new\nline.ics"), event("line", "")).expect("a file");
        fs::write(folder.join("back\\slash.ics"), event("slash", "")).expect("a file");
    }
    assert_eq!(names(&local, "work/"), ["B.ICS", "a.ics"]);
    assert_eq!(status(&local, "GET", "work/folder.ics", &[], ""), 403);
    let long = format!("work/{}.ics", "x".repeat(300));
    assert_eq!(status(&local, "PUT", &long, &[], &event("long", "")), 403);
    let fits = format!("work/{}.ics", "x".repeat(251));
    assert_eq!(status(&local, "PUT", &fits, &[], &event("fits", "")), 201);
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_of_the_root() {
    use std::os::unix::fs::symlink;

    let outer = tempfile::tempdir().expect("a temporary folder");
    let (root, secret) = (outer.path().join("root"), outer.path().join("secret"));
    fs::create_dir(&secret).expect("a folder");
    fs::write(secret.join("s.ics"), event("secret", "")).expect("a file");
    let local = Local::folder(&root).expect("a folder").with_calendar("work", "Work");
    symlink(&secret, root.join("linked")).expect("a link");
    symlink(secret.join("s.ics"), root.join("work/s.ics")).expect("a link");
    symlink(secret.join("new.ics"), root.join("work/new.ics")).expect("a link");
    assert_eq!(names(&local, ""), ["work/"]);
    assert!(names(&local, "work/").is_empty());
    let destination = format!("{}work/m.ics", local.url().path());
    for (method, path, body, expected) in [
        ("GET", "work/s.ics", "", 403),
        ("DELETE", "work/s.ics", "", 403),
        ("PUT", "work/s.ics", &*event("s", ""), 403),
        ("PUT", "work/new.ics", &*event("s", ""), 403),
        ("GET", "linked/s.ics", "", 404),
        ("PUT", "linked/t.ics", &*event("t", ""), 409),
        ("MOVE", "work/s.ics", "", 403),
        ("MOVE", "work/new.ics", "", 403),
        ("MOVE", "linked/s.ics", "", 404),
        ("DELETE", "linked/", "", 404),
        ("DELETE", "work/", "", 403),
        ("PROPFIND", "linked/", "", 404),
    ] {
        assert_eq!(
            status(
                &local,
                method,
                path,
                &[("Depth", "0"), ("Destination", &destination)],
                body
            ),
            expected,
            "{method} {path}"
        );
    }
    assert_eq!(status(&local, "PUT", "work/a.ics", &[], &event("a", "")), 201);
    for (to, expected) in [("linked/a.ics", 409), ("work/new.ics", 403)] {
        let destination = format!("{}{to}", local.url().path());
        let headers = [("Destination", &*destination), ("Overwrite", "F")];
        assert_eq!(status(&local, "MOVE", "work/a.ics", &headers, ""), expected, "{to}");
    }
    assert_eq!(fs::read_dir(&secret).expect("a folder").count(), 1);
    assert_eq!(
        fs::read_to_string(secret.join("s.ics")).expect("a file"),
        event("secret", "")
    );
}

#[cfg(unix)]
#[test]
fn the_root_itself_may_be_a_link() {
    let outer = tempfile::tempdir().expect("a temporary folder");
    let root = outer.path().join("root");
    fs::create_dir(&root).expect("a folder");
    let link = outer.path().join("link");
    std::os::unix::fs::symlink(&root, &link).expect("a link");
    let local = Local::folder(&link)
        .expect("a folder")
        .with_calendar("work", "Work")
        .put("work/a.ics", event("a", ""));
    assert_eq!(names(&local, "work/"), ["a.ics"]);
}

#[test]
fn a_file_that_cannot_be_read_is_refused_alone() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let local = Local::folder(root.path())
        .expect("a folder")
        .with_calendar("work", "Work")
        .put("work/a.ics", event("a", ""));
    // Too large to be read, and no file to write to disk: it is all hole.
    let large = File::create(root.path().join("work/large.ics")).expect("a file");
    large.set_len(1 << 30).expect("a hole");
    assert_eq!(
        listing(&local, "work/"),
        [("a.ics".into(), None), ("large.ics".into(), Some(403))]
    );
    assert_eq!(status(&local, "GET", "work/large.ics", &[], ""), 403);
    assert_eq!(
        status(&local, "PUT", "work/b.ics", &[], &event("b", "")),
        201,
        "the rest can be written"
    );
    let href = format!("{}work/large.ics", local.url().path());
    let body = format!(
        "<C:calendar-multiget xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav'><href>{href}</href></C:calendar-multiget>"
    );
    let response = send(&local, "REPORT", "work/", &[], body);
    let text = String::from_utf8(response.into_body().to_vec()).expect("UTF-8");
    assert!(text.contains("<D:status>HTTP/1.1 403 Forbidden</D:status>"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_refused_alone() {
    use std::os::unix::fs::PermissionsExt;

    let root = tempfile::tempdir().expect("a temporary folder");
    let local = Local::folder(root.path())
        .expect("a folder")
        .with_calendar("work", "Work")
        .put("work/a.ics", event("a", ""));
    let path = root.path().join("work/closed.ics");
    fs::write(&path, event("closed", "")).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("a mode");
    // Nothing is closed to a superuser.
    let expected = if File::open(&path).is_ok() { None } else { Some(403) };
    assert_eq!(
        listing(&local, "work/"),
        [("a.ics".into(), None), ("closed.ics".into(), expected)]
    );
}

#[test]
fn a_crash_before_the_rename_leaves_the_old_content() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let local = Local::folder(root.path())
        .expect("a folder")
        .with_calendar("work", "Work")
        .put("work/a.ics", event("a", "old"));
    let folder = root.path().join("work");
    // What is on the disk at the moment of a crash: half of the new content in a temporary file, under the very name
    // that this process takes next, too.
    for number in 0..8 {
        let temporary = folder.join(format!(".kalends-{}-{number}.tmp", std::process::id()));
        fs::write(temporary, &event("a", "new")[..20]).expect("a file");
    }
    fs::write(folder.join(".kalends-1-0.tmp"), "BEGIN").expect("a file");
    let after = Local::folder(root.path()).expect("a folder");
    assert_eq!(names(&after, "work/"), ["a.ics"]);
    assert_eq!(
        send(&after, "GET", "work/a.ics", &[], "").into_body(),
        event("a", "old")
    );
    assert_eq!(
        status(&after, "PUT", "work/a.ics", &[("If-Match", "*")], &event("a", "new")),
        204
    );
    assert_eq!(
        send(&local, "GET", "work/a.ics", &[], "").into_body(),
        event("a", "new")
    );
}

#[test]
fn two_instances_see_each_other_at_once() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let one = Local::folder(root.path())
        .expect("a folder")
        .with_calendar("work", "Work");
    let two = Local::folder(root.path()).expect("a folder");
    let tag = |response: &Response<Bytes>| response.headers()["etag"].to_str().expect("ASCII").to_owned();
    // Content of one length, written within one tick of the clock: nothing but the octets differs.
    let mut last = tag(&send(&one, "PUT", "work/a.ics", &[], event("a", "0")));
    for round in 1..9 {
        let (writer, reader) = if round % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let before = send(writer, "PROPFIND", "work/", &[("Depth", "1")], "");
        assert_eq!(
            before.body(),
            send(reader, "PROPFIND", "work/", &[("Depth", "1")], "").body()
        );
        let content = event("a", &round.to_string());
        let stored = send(writer, "PUT", "work/a.ics", &[("If-Match", &last)], content.clone());
        assert_eq!(stored.status().as_u16(), 204);
        assert_eq!(
            status(reader, "PUT", "work/a.ics", &[("If-Match", &last)], &content),
            412
        );
        last = tag(&stored);
        let seen = send(reader, "GET", "work/a.ics", &[], "");
        assert_eq!((tag(&seen), seen.into_body()), (last.clone(), Bytes::from(content)));
        assert_ne!(
            before.body(),
            send(reader, "PROPFIND", "work/", &[("Depth", "1")], "").body()
        );
    }
    assert_eq!(
        status(&two, "PUT", "work/b.ics", &[], &event("a", "")),
        409,
        "the UID is taken"
    );
    assert_eq!(status(&two, "DELETE", "work/a.ics", &[("If-Match", &last)], ""), 204);
    assert_eq!(status(&one, "GET", "work/a.ics", &[], ""), 404);
    assert!(names(&one, "work/").is_empty());
}

#[test]
fn a_change_behind_an_old_stamp_is_seen() {
    use std::time::{Duration, SystemTime};

    let root = tempfile::tempdir().expect("a temporary folder");
    let local = Local::folder(root.path())
        .expect("a folder")
        .with_calendar("work", "Work")
        .put("work/a.ics", event("a", "1"));
    let path = root.path().join("work/a.ics");
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    let age = |path: &Path| {
        File::options()
            .write(true)
            .open(path)
            .and_then(|file| file.set_modified(long_ago))
    };
    age(&path).expect("a time");
    let etag = || send(&local, "PROPFIND", "work/", &[("Depth", "1")], "").into_body();
    let before = etag();
    fs::write(&path, event("a", "2")).expect("a file");
    age(&path).expect("a time");
    assert_ne!(etag(), before);
}

#[test]
fn a_calendar_with_files_of_others_is_not_deleted() {
    for other in ["notes.txt", ".hidden", "deeper/a.ics"] {
        let root = tempfile::tempdir().expect("a temporary folder");
        let local = Local::folder(root.path())
            .expect("a folder")
            .with_calendar("work", "Work")
            .put("work/a.ics", event("a", ""));
        let other = root.path().join("work").join(other);
        fs::create_dir_all(other.parent().expect("a folder")).expect("a folder");
        fs::write(&other, "mine").expect("a file");
        assert_eq!(status(&local, "DELETE", "work/", &[], ""), 403, "{other:?}");
        assert_eq!(names(&local, "work/"), ["a.ics"]);
        fs::remove_file(&other).expect("a file");
        drop(fs::remove_dir(root.path().join("work/deeper")));
        fs::write(root.path().join("work/.kalends-1-1.tmp"), "half").expect("what a crash leaves");
        assert_eq!(status(&local, "DELETE", "work/", &[], ""), 204, "{other:?}");
        let left: Vec<_> = fs::read_dir(root.path()).expect("a folder").collect();
        assert_eq!(left.len(), 1, "the lock alone is left: {left:?}");
    }
}

#[test]
fn of_many_movers_just_one_wins() {
    (0..12).for_each(|_| move_together());
}

fn move_together() {
    const MOVERS: usize = 8;
    let root = tempfile::tempdir().expect("a temporary folder");
    let mut first = Local::folder(root.path())
        .expect("a folder")
        .with_calendar("target", "Target");
    for number in 0..MOVERS {
        let folder = format!("from{number}");
        first = first
            .with_calendar(&folder, "From")
            .put(&format!("{folder}/a.ics"), event(&format!("u{number}"), ""));
    }
    let destination = format!("{}target/a.ics", first.url().path());
    let together = Barrier::new(MOVERS);
    let moved: Vec<u16> = std::thread::scope(|scope| {
        let mover = |number: usize| {
            let local = Local::folder(root.path()).expect("a folder");
            let (destination, together) = (&destination, &together);
            scope.spawn(move || {
                together.wait();
                let headers = [("Destination", &**destination), ("Overwrite", "F"), ("If-Match", "*")];
                status(&local, "MOVE", &format!("from{number}/a.ics"), &headers, "")
            })
        };
        let movers: Vec<_> = (0..MOVERS).map(mover).collect();
        movers
            .into_iter()
            .map(|mover| mover.join().expect("no panic"))
            .collect()
    });
    assert_eq!(moved.iter().filter(|status| **status == 201).count(), 1, "{moved:?}");
    assert_eq!(
        moved.iter().filter(|status| **status == 412).count(),
        MOVERS - 1,
        "{moved:?}"
    );
    let left = (0..MOVERS).filter(|number| names(&first, &format!("from{number}/")) == ["a.ics"]);
    assert_eq!(left.count(), MOVERS - 1);
    assert_eq!(names(&first, "target/"), ["a.ics"]);
}

#[test]
fn of_many_writers_with_one_tag_just_one_wins() {
    const WRITERS: usize = 8;
    let root = tempfile::tempdir().expect("a temporary folder");
    let first = Local::folder(root.path())
        .expect("a folder")
        .with_calendar("work", "Work");
    let created = send(
        &first,
        "PUT",
        "work/a.ics",
        &[("If-None-Match", "*")],
        event("a", "start"),
    );
    let tag = created.headers()["etag"].to_str().expect("ASCII");
    let mut tag = tag.to_owned();
    for round in 0..4 {
        let together = Barrier::new(WRITERS);
        let won: Vec<String> = std::thread::scope(|scope| {
            let writer = |number: usize| {
                // Each with its own instance, as if it were a process of its own.
                let local = Local::folder(root.path()).expect("a folder");
                let (tag, together) = (&tag, &together);
                scope.spawn(move || {
                    together.wait();
                    let content = event("a", &format!("writer {number}, round {round}"));
                    let response = send(&local, "PUT", "work/a.ics", &[("If-Match", tag)], content);
                    let won = response.status().as_u16() == 204;
                    won.then(|| response.headers()["etag"].to_str().expect("ASCII").to_owned())
                })
            };
            let writers: Vec<_> = (0..WRITERS).map(writer).collect();
            writers
                .into_iter()
                .filter_map(|writer| writer.join().expect("no panic"))
                .collect()
        });
        assert_eq!(won.len(), 1);
        tag = won.concat();
    }
}

#[test]
fn a_change_within_one_tick_of_the_clock_is_seen() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let local = Local::folder(root.path())
        .expect("a folder")
        .with_calendar("work", "Work")
        .put("work/a.ics", event("a", "00"));
    let list = || send(&local, "PROPFIND", "work/", &[("Depth", "1")], "").into_body();
    let mut last = list();
    for round in 10..99 {
        // As an editor writes: into the same file, and as many octets.
        fs::write(root.path().join("work/a.ics"), event("a", &round.to_string())).expect("a file");
        let now = list();
        assert_ne!(now, last);
        last = now;
    }
}
