//! What one Calendar's server says: what it is like, when it is busy, what has changed.

use serde_json::{Value, json};

use crate::client::{DAILY, Folder, Server};
use crate::referee::Referee;
use crate::{GET, folder};

#[test]
fn a_calendar_is_inspected() {
    let folder = folder();
    let settings = json!({"name": "Work", "color": "#12345678", "timezone":
        "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nEND:VTIMEZONE\r\nEND:VCALENDAR\r\n"});
    std::fs::write(folder.0.join("work/.calendar.json"), settings.to_string()).unwrap();
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let href = format!("{}/work/", folder.url());
    let mut told = server.success("calendars_inspect", json!({"calendarHref": href}));
    referee.full("calendars_inspect", &told);
    assert!(told["changeTag"].take().is_string());
    let named = |names: &[&str], space: &str| -> Vec<Value> {
        names
            .iter()
            .map(|name| json!({"namespaceUri": space, "localName": name}))
            .collect()
    };
    let caldav = ["calendar-query", "calendar-multiget", "free-busy-query"];
    let reports = [
        named(&caldav, "urn:ietf:params:xml:ns:caldav"),
        named(&["sync-collection"], "DAV:"),
    ]
    .concat();
    assert_eq!(told["reports"].take(), json!(reports));
    assert_eq!(told["privileges"].take()[0], json!(named(&["all"], "DAV:")[0]));
    let properties = told["properties"].take();
    assert_eq!(properties.as_array().unwrap().len(), 15);
    let status = |name: &str| {
        let found = properties.as_array().unwrap().iter().find(|it| it["localName"] == name);
        found.expect("it is asked for")["statusCode"].clone()
    };
    assert_eq!(
        (status("displayname"), status("max-instances")),
        (json!(200), json!(404))
    );
    let expected = json!({
        "outcome": "success", "calendarHref": href, "displayName": "Work", "description": null, "descriptionLanguage": null,
        "davDescription": null, "color": "#123456", "order": null, "reportSupport": "available", "reports": null,
        "privilegeSupport": "available", "privileges": null, "timeZoneIds": ["Europe/Berlin"], "properties": null,
        "limits": {"maximumResourceBytes": 4 << 20, "maximumInstances": null, "maximumAttendeesPerInstance": null,
            "minimumDateTime": null, "maximumDateTime": null},
        "scheduling": {"state": "not_advertised", "statusCode": 200}, "changeTag": null
    });
    assert_eq!(told, expected);
    for (href, code, phase) in [
        (
            format!("{}/none/", folder.url()),
            "not_found",
            "selectionDiscoveryCapability",
        ),
        (
            "https://elsewhere.example/work/".to_owned(),
            "outside_scope",
            "originScopeAuthorization",
        ),
        ("work".to_owned(), "invalid_input", "originScopeAuthorization"),
    ] {
        let error = server.failure("calendars_inspect", json!({"calendarHref": href}));
        referee.full("calendars_inspect", &error);
        assert_eq!(
            (&error["code"], &error["phase"]),
            (&json!(code), &json!(phase)),
            "{href}"
        );
    }
}

#[test]
fn busy_times_are_those_of_opaque_events() {
    let event = |uid: &str, lines: &str| {
        format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n{}\r\nEND:VEVENT\r\n\
             END:VCALENDAR\r\n",
            lines.replace(" | ", "\r\n")
        )
    };
    let files = [
        (
            "series",
            "DTSTART:20261201T090000Z | DURATION:PT30M | RRULE:FREQ=DAILY;COUNT=2",
        ),
        ("beside", "DTSTART:20261201T093000Z | DURATION:PT30M"),
        ("maybe", "DTSTART:20261201T093000Z | DURATION:PT2H | STATUS:TENTATIVE"),
        ("free", "DTSTART:20261202T000000Z | DURATION:P1D | TRANSP:TRANSPARENT"),
        ("not", "DTSTART:20261202T000000Z | DURATION:P1D | STATUS:CANCELLED"),
        ("moment", "DTSTART:20261202T120000Z"),
        ("day", "DTSTART;VALUE=DATE:20261204"),
    ]
    .map(|(uid, lines)| (format!("{uid}.ics"), event(uid, lines)));
    let members: Vec<_> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    let folder = Folder::new().calendar("work", &members);
    // Dates are days of the Calendar's own zone.
    let zone = "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nEND:VTIMEZONE\r\nEND:VCALENDAR\r\n";
    std::fs::write(
        folder.0.join("work/.calendar.json"),
        json!({"timezone": zone}).to_string(),
    )
    .unwrap();
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let href = format!("{}/work/", folder.url());
    let ask = json!({"calendarHref": href, "from": "2026-12-01T09:15:00Z", "to": "2026-12-04T12:00:00Z"});
    let told = server.success("calendars_free_busy", ask.clone());
    referee.full("calendars_free_busy", &told);
    let period = |from: &str, to: &str, kind: &str| json!({"from": from, "to": to, "busyType": kind});
    let expected = json!({
        "outcome": "success", "calendarHref": href, "from": ask["from"], "to": ask["to"], "temporalAuthority": "server", "complete": true,
        "periods": [
            period("2026-12-01T09:15:00Z", "2026-12-01T10:00:00Z", "BUSY"),
            period("2026-12-01T09:30:00Z", "2026-12-01T11:30:00Z", "BUSY-TENTATIVE"),
            period("2026-12-02T09:00:00Z", "2026-12-02T09:30:00Z", "BUSY"),
            period("2026-12-03T23:00:00Z", "2026-12-04T12:00:00Z", "BUSY")
        ]
    });
    assert_eq!(told, expected);
    // An event that cannot be evaluated must not pass for free time.
    let unknown = event("unknown", "DTSTART;TZID=Nowhere:20261202T120000 | DURATION:PT1H");
    std::fs::write(folder.0.join("work/unknown.ics"), unknown).unwrap();
    let error = server.failure("calendars_free_busy", ask);
    referee.full("calendars_free_busy", &error);
    assert_eq!(error["code"], "upstream_unavailable");
}

#[test]
fn changes_are_told_from_checkpoint_to_checkpoint() {
    const CHANGES: &str = "calendar_resources_changes";
    let members = ["a", "b", "c", "d", "e"].map(|name| (format!("{name}.ics"), DAILY.replace("daily", name)));
    let files: Vec<_> = members
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    let folder = Folder::new().calendar("work", &files);
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let href = |name: &str| format!("{}/work/{name}", folder.url());
    let told = |page: &Value| -> Vec<(String, Value)> {
        let changes = page["changes"].as_array().unwrap().iter();
        changes
            .map(|change| {
                let name = change["href"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
                assert_eq!(change["kind"] == "changed", change.get("etag").is_some());
                (name, change["kind"].clone())
            })
            .collect()
    };
    let all = |names: &[&str], kind: &str| -> Vec<_> {
        names.iter().map(|name| (format!("{name}.ics"), json!(kind))).collect()
    };
    let start = json!({"calendarHref": href(""), "pageSize": 2});
    let first = server.success(CHANGES, start);
    referee.full(CHANGES, &first);
    assert_eq!((&first["mode"], &first["hasMore"]), (&json!("initial"), &json!(true)));
    assert_eq!(told(&first), all(&["a", "b"], "changed"));
    assert_eq!(first["checkpoint"].as_str().unwrap().len(), 36);
    let etag = server.success(GET, json!({"href": href("a.ics")}))["snapshot"]["entityRevision"]["entityTag"].take();
    assert_eq!(first["changes"][0]["etag"], etag);
    // The rest of the report costs no request: what happens meanwhile is told afterwards.
    std::fs::remove_file(folder.0.join("work/c.ics")).unwrap();
    let second = server.success(CHANGES, json!({"checkpoint": first["checkpoint"], "pageSize": 2}));
    assert_eq!(
        (told(&second), &second["mode"]),
        (all(&["c", "d"], "changed"), &json!("initial"))
    );
    assert_eq!(
        server.success(CHANGES, json!({"checkpoint": first["checkpoint"], "pageSize": 2})),
        second
    );
    let third = server.success(CHANGES, json!({"checkpoint": second["checkpoint"]}));
    assert_eq!(
        (told(&third), &third["mode"], &third["hasMore"]),
        (all(&["e"], "changed"), &json!("initial"), &json!(false))
    );
    std::fs::write(folder.0.join("work/f.ics"), DAILY.replace("daily", "f")).unwrap();
    std::fs::write(
        folder.0.join("work/a.ics"),
        DAILY.replace("daily", "a").replace("Long", "Short"),
    )
    .unwrap();
    let fourth = server.success(CHANGES, json!({"checkpoint": third["checkpoint"]}));
    referee.full(CHANGES, &fourth);
    assert_eq!(
        (&fourth["mode"], &fourth["hasMore"]),
        (&json!("incremental"), &json!(false))
    );
    let mut expected = all(&["a", "f"], "changed");
    expected.insert(1, ("c.ics".into(), json!("removed")));
    assert_eq!(told(&fourth), expected);
    // Nothing more: the same state has the same checkpoint.
    let fifth = server.success(CHANGES, json!({"checkpoint": fourth["checkpoint"]}));
    assert_eq!(
        (told(&fifth), &fifth["checkpoint"]),
        (Vec::new(), &fourth["checkpoint"])
    );
    let again = server.success(CHANGES, json!({"calendarHref": href("")}));
    assert_eq!(
        (told(&again).len(), &again["checkpoint"], &again["mode"]),
        (5, &fourth["checkpoint"], &json!("initial"))
    );
    // Another process knows nothing of it, and a checkpoint is copied exactly or not at all.
    let checkpoint = fourth["checkpoint"].as_str().unwrap();
    let mut other = Server::on(&folder, "2025-11-25");
    let errors = [
        other.failure(CHANGES, json!({"checkpoint": checkpoint})),
        server.failure(CHANGES, json!({"checkpoint": checkpoint[..35]})),
        server.failure(CHANGES, json!({"checkpoint": "cs1_"})),
    ];
    for error in errors {
        referee.full(CHANGES, &error);
        assert_eq!(
            (&error["code"], &error["phase"]),
            (&json!("sync_reset_required"), &json!("pagination"))
        );
    }
}
