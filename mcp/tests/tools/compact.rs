//! What compact results leave out.

use serde_json::{Value, json};

use crate::client::{DAILY, Folder, Server, window};
use crate::referee::Referee;
use crate::scripted::honest;
use crate::{ENTITIES, GET, OCCURRENCES, TODOS, resource, rows, with, work};
use kalends_local::Local;

#[test]
fn compact_is_full_with_members_left_out() {
    let moved = DAILY.replace(
        "END:VCALENDAR",
        "BEGIN:VEVENT\r\nUID:daily\r\nDTSTAMP:20260101T000000Z\r\nRECURRENCE-ID:20261202T090000Z\r\nDTSTART;TZID=Europe/Berlin:20261202T140000\r\n\
         DTEND;TZID=Europe/Berlin:20261202T150000\r\nSUMMARY:Moved\r\nSTATUS:TENTATIVE\r\nTRANSP:OPAQUE\r\nEND:VEVENT\r\nEND:VCALENDAR",
    );
    let day = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:a day\r\nDTSTAMP:20260101T000000Z\r\n\
        DTSTART;VALUE=DATE:20261203\r\nSUMMARY:Day\r\nLOCATION:Here\r\nSTATUS:CONFIRMED\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let folder = Folder::new().calendar("work", &[("daily.ics", moved.as_bytes()), ("x.ics", day.as_bytes())]);
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let mut ask = window("2026-12-01T00:00:00Z", "2026-12-04T00:00:00Z");
    let compact = server.success(OCCURRENCES, ask.clone());
    referee.own(OCCURRENCES, &compact);
    let href = |file: &str| format!("{}/work/{file}", folder.url());
    let rows = compact["items"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "{compact:#}");
    let series = |fields: Value, timing: Value, identity: Value| {
        let revision = json!({"href": href("daily.ics")});
        json!({"snapshot": {"projection": {"kind": "event", "fields": fields}, "entityRevision": revision}, "recurrenceIdentity": identity, "timing": timing})
    };
    let plain =
        json!({"effectiveStart": {"value": "2026-12-01T09:00:00Z"}, "effectiveEnd": {"value": "2026-12-01T09:30:00Z"}});
    assert_eq!(rows[0], series(json!({"summary": "Daily"}), plain, json!({})));
    let berlin = json!({
        "effectiveStart": {"value": "2026-12-02T14:00:00", "timeZoneId": "Europe/Berlin"},
        "effectiveEnd": {"value": "2026-12-02T15:00:00"}
    });
    let identity = json!({"value": {"value": "2026-12-02T09:00:00Z"}});
    let fields = json!({"summary": "Moved", "status": {"rawValue": "TENTATIVE"}});
    assert_eq!(rows[1], series(fields, berlin, identity));
    let revision = json!({"href": href("x.ics")});
    let alone = json!({
        "snapshot": {"projection": {"kind": "event", "fields": {"summary": "Day", "location": "Here"}}, "entityRevision": revision},
        "timing": {"effectiveStart": {"value": "2026-12-03"}}
    });
    assert_eq!(rows[2], alone);

    ask["detail"] = json!("full");
    let full = server.success(OCCURRENCES, ask);
    referee.full(OCCURRENCES, &full);
    assert_eq!(
        full["items"][1]["timing"]["sourceStart"]["value"],
        "2026-12-02T09:00:00Z"
    );
    assert_eq!(full["items"][2]["timing"]["evaluationTimeZone"], "UTC");
    assert_eq!(full["diagnostics"], json!([]));
    for detail in ["compact", "full"] {
        for file in ["daily.ics", "x.ics"] {
            let got = server.success(GET, json!({"href": href(file), "detail": detail}));
            if detail == "full" {
                referee.full(GET, &got);
            } else {
                referee.own(GET, &got);
                let members: Vec<_> = got["snapshot"].as_object().unwrap().keys().collect();
                assert_eq!(members, ["entityRevision", "projection"], "{got:#}");
                assert!(!got.to_string().contains("originalSlice"));
            }
        }
    }
    let list = server.success("calendars_list", json!({}));
    referee.full("calendars_list", &list);
    let gone = server.failure(GET, json!({"href": href("none.ics")}));
    assert_eq!(gone["code"], "not_found");
    referee.full(GET, &gone);
}

/// One of everything that is structured data, as RFC 5545, 7986, 9073, 9074 and 9253 write it, on a To-do and an Event.
#[test]
fn structured_data_is_shown_whole_in_full_and_short_in_compact() {
    let lines = "ORGANIZER;CN=Olga;SENT-BY=\"mailto:sec@example.com\":mailto:olga@example.com\r\n\
        ATTENDEE;CN=\"Ann, A.\";ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;CUTYPE=INDIVIDUAL;RSVP=TRUE;X-NUM-GUESTS=0:mailto:ann@example.com\r\n\
        ATTENDEE;ROLE=CHAIR;CUTYPE=X-BOT;DELEGATED-TO=\"mailto:a@example.com\",\"mailto:b@example.com\";DIR=\"ldap://example.com/x\":mailto:bob@example.com\r\n\
        CONTACT;ALTREP=\"https://example.com/c\":Carl\\, 5\r\nRESOURCES:Room,Beamer\r\nRELATED-TO;RELTYPE=CHILD:other\r\nRELATED-TO:parent\r\n\
        REQUEST-STATUS:2.0;Success;a\\;b\r\nATTACH;FMTTYPE=text/plain;LABEL=Notes:https://example.com/notes.txt\r\n\
        ATTACH;ENCODING=BASE64;VALUE=BINARY:AAAA\r\nCOMMENT:Hello\r\nSTYLED-DESCRIPTION;VALUE=TEXT;FMTTYPE=text/html:<p>x</p>\r\n\
        IMAGE;VALUE=URI;DISPLAY=BADGE:https://example.com/i.png\r\nCONFERENCE;VALUE=URI;FEATURE=AUDIO,VIDEO;LABEL=Call:https://example.com/call\r\n\
        LINK;VALUE=URI;LINKREL=SOURCE:https://example.com/\r\nCONCEPT:https://example.com/music\r\nSTRUCTURED-DATA;VALUE=URI:https://example.com/d.json\r\n\
        BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER;RELATED=END:-PT15M\r\nDESCRIPTION:Soon\r\nREPEAT:2\r\nDURATION:PT5M\r\nUID:al\r\n\
        ACKNOWLEDGED:20260101T000000Z\r\nPROXIMITY:DEPART\r\nRELATED-TO;RELTYPE=SNOOZE:x\r\nBEGIN:VLOCATION\r\nUID:pl\r\nURL:geo:1,2\r\nEND:VLOCATION\r\nEND:VALARM\r\n\
        BEGIN:VALARM\r\nACTION:EMAIL\r\nTRIGGER;VALUE=DATE-TIME:20261130T000000Z\r\nSUMMARY:s\r\nDESCRIPTION:d\r\nATTENDEE:mailto:ann@example.com\r\n\
        ATTACH:https://example.com/a\r\nEND:VALARM\r\n\
        BEGIN:PARTICIPANT\r\nUID:p\r\nPARTICIPANT-TYPE:SPEAKER\r\nCALENDAR-ADDRESS:mailto:ann@example.com\r\nCREATED:20260101T000000Z\r\nDTSTAMP:20260101T000000Z\r\n\
        LAST-MODIFIED:20260101T000000Z\r\nDESCRIPTION:d\r\nGEO:1.5;-2\r\nPRIORITY:1\r\nSEQUENCE:0\r\nSTATUS:CONFIRMED\r\nSUMMARY:s\r\nURL:https://example.com/p\r\n\
        ATTACH:https://example.com/a\r\nCATEGORIES:a,b\r\nCATEGORIES:c\r\nCOMMENT:c\r\nCONTACT:c\r\nLOCATION:l\r\nREQUEST-STATUS:2.0;ok\r\nRELATED-TO:x\r\nRESOURCES:r\r\n\
        STYLED-DESCRIPTION;VALUE=TEXT:s\r\nSTRUCTURED-DATA;VALUE=URI:https://example.com/d\r\n\
        BEGIN:VLOCATION\r\nUID:l\r\nEND:VLOCATION\r\nBEGIN:VRESOURCE\r\nUID:r\r\nEND:VRESOURCE\r\nEND:PARTICIPANT\r\n\
        BEGIN:VLOCATION\r\nUID;X-A=1:l2\r\nNAME:Hall\r\nDESCRIPTION:d\r\nGEO:1;2\r\nLOCATION-TYPE:hall,stage\r\nURL:https://example.com/l\r\nRELATED-TO:x\r\n\
        CONCEPT:https://example.com/c\r\nLINK;VALUE=URI:https://example.com/k\r\nSTRUCTURED-DATA;VALUE=URI:https://example.com/d\r\nEND:VLOCATION\r\n\
        BEGIN:VRESOURCE\r\nUID:r2\r\nNAME:Beamer\r\nRESOURCE-TYPE:PROJECTOR\r\nEND:VRESOURCE\r\n";
    let resource = |kind: &str, uid: &str| {
        format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:{kind}\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n\
             DTSTART:20261201T090000Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\nSUMMARY:Rich\r\n{lines}END:{kind}\r\n\
             BEGIN:{kind}\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\nRECURRENCE-ID:20261202T090000Z\r\nDTSTART:20261202T100000Z\r\n{lines}END:{kind}\r\n\
             END:VCALENDAR\r\n"
        )
    };
    let (event, todo) = (resource("VEVENT", "event"), resource("VTODO", "todo"));
    let files = [("event.ics", event.as_bytes()), ("todo.ics", todo.as_bytes())];
    let folder = Folder::new().calendar("work", &files);
    let mut server = Server::on(&folder, "2025-11-25");
    let referee = Referee::new(&mut server);
    let mut ask = window("2026-12-01T00:00:00Z", "2026-12-04T00:00:00Z");
    let rows = server.success(OCCURRENCES, ask.clone());
    let largest = rows["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.to_string().len())
        .max();
    assert!(!rows.to_string().contains("structuredData"), "{rows:#}");
    assert!(largest.is_some_and(|bytes| bytes <= 700), "{largest:?}");
    ask["detail"] = json!("full");
    let rows = server.success(OCCURRENCES, ask);
    referee.full(OCCURRENCES, &rows);
    assert_eq!(rows["items"].as_array().unwrap().len(), 6);
    for (file, _) in files {
        let href = format!("{}/work/{file}", folder.url());
        let mut get = |detail: &str| server.success(GET, json!({"href": href, "detail": detail}));
        let (full, compact) = (get("full"), get("compact"));
        referee.full(GET, &full);
        referee.own(GET, &compact);
        let data = |result: &Value| result["snapshot"]["projection"]["fields"]["structuredData"].clone();
        let shown = data(&full);
        assert_eq!(shown.as_object().unwrap().len(), 18, "{shown:#}");
        assert_eq!(
            full["snapshot"]["projection"]["fields"]["recurrenceSet"]["overrides"][0]["fields"]["structuredData"],
            shown
        );
        assert_eq!(full["snapshot"]["diagnostics"][0]["code"], "inline_content_omitted");
        assert_eq!(
            shown["attendees"][0]["role"]["explicitValue"],
            shown["attendees"][0]["role"]["effectiveValue"]
        );
        assert_eq!(shown["attendees"][1]["rsvp"], json!({"effectiveValue": false}));
        assert_eq!(shown["participants"][0]["schedulable"], true);
        let short = data(&compact);
        assert_eq!(
            short["attendees"],
            json!([
                {
                    "uri": "mailto:ann@example.com", "commonName": "Ann, A.", "partStat": {"effectiveValue": {"rawValue": "ACCEPTED"}},
                    "rsvp": {"effectiveValue": true}, "parameters": [{"name": "X-NUM-GUESTS", "values": ["0"]}]
                },
                {
                    "uri": "mailto:bob@example.com", "role": {"effectiveValue": {"rawValue": "CHAIR"}},
                    "cutype": {"effectiveValue": {"kind": "extension", "rawValue": "X-BOT"}},
                    "delegatedTo": ["mailto:a@example.com", "mailto:b@example.com"], "directory": "ldap://example.com/x"
                }
            ])
        );
        assert_eq!(
            short["relatedTo"],
            json!([{"value": "other", "relationType": {"effectiveValue": {"rawValue": "CHILD"}}}, {"value": "parent"}])
        );
        assert_eq!(short["comments"], json!([{"value": "Hello"}]));
        let (long, short) = (shown.to_string().len(), short.to_string().len());
        println!("structured data: {long} bytes in full, {short} in compact");
        assert!(short * 4 < long * 3, "{short} of {long}");
    }
}

/// A zone that is named like an IANA zone and has rules of its own.
#[test]
fn an_instant_is_shown_where_the_name_of_its_zone_does_not_tell_it() {
    let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nBEGIN:STANDARD\r\n\
        DTSTART:19700101T000000\r\nTZOFFSETFROM:+0500\r\nTZOFFSETTO:+0500\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:own\r\n\
        DTSTAMP:20260101T000000Z\r\nDTSTART;TZID=Europe/Berlin:20261201T090000\r\nDTEND;TZID=Europe/Berlin:20261201T100000\r\nEND:VEVENT\r\n\
        END:VCALENDAR\r\n";
    let folder = Folder::new().calendar("work", &[("own.ics", text.as_bytes())]);
    let mut server = Server::on(&folder, "2025-11-25");
    let page = server.success(OCCURRENCES, window("2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z"));
    let timing = json!({
        "effectiveStart": {"value": "2026-12-01T09:00:00", "timeZoneId": "Europe/Berlin"},
        "effectiveEnd": {"value": "2026-12-01T10:00:00"},
        "evaluatedStartUtc": {"value": "2026-12-01T04:00:00Z"},
        "evaluatedEndUtc": {"value": "2026-12-01T05:00:00Z"}
    });
    assert_eq!(page["items"][0]["timing"], timing);
}

/// Whether `part` is `whole` with members left out; else where it is not.
fn is_part(part: &Value, whole: &Value, at: &str) -> Result<(), String> {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().try_for_each(|(name, value)| {
            let at = format!("{at}/{name}");
            let same = whole
                .get(name)
                .ok_or_else(|| format!("{at} is not in the full result"))?;
            is_part(value, same, &at)
        }),
        (Value::Array(part), Value::Array(whole)) if part.len() == whole.len() => {
            let mut pairs = part.iter().zip(whole).enumerate();
            pairs.try_for_each(|(index, (part, whole))| is_part(part, whole, &format!("{at}/{index}")))
        }
        (part, whole) if part == whole => Ok(()),
        (part, whole) => Err(format!("{at}: {part} is not {whole}")),
    }
}

#[test]
fn nothing_is_renamed_moved_or_changed_in_compact_results() {
    let files = [
        (
            "day.ics",
            resource(
                "VEVENT",
                "day",
                "DTSTART;VALUE=DATE:20261201 | SUMMARY:Day | STATUS:CONFIRMED | CLASS:PUBLIC",
            ),
        ),
        (
            "zoned.ics",
            resource(
                "VEVENT",
                "other",
                "DTSTART;TZID=Europe/Berlin:20261201T230000 | DTEND;TZID=America/New_York:20261201T200000 | RRULE:FREQ=DAILY;COUNT=3 | \
                 EXDATE;TZID=Europe/Berlin:20261202T230000 | STATUS:TENTATIVE | CATEGORIES:a | GEO:1;2 | URL:https://example.com/",
            ),
        ),
        (
            "float.ics",
            resource(
                "VEVENT",
                "float",
                "DTSTART:20261201T120000 | DURATION:PT30M | PRIORITY:0 | TRANSP:TRANSPARENT",
            ),
        ),
        (
            "todo.ics",
            resource(
                "VTODO",
                "todo",
                "DTSTART:20261201T120000 | DUE:20261202T120000 | STATUS:NEEDS-ACTION | RRULE:FREQ=DAILY;COUNT=2",
            ),
        ),
        (
            "done.ics",
            resource(
                "VTODO",
                "done",
                "DUE;VALUE=DATE:20261202 | STATUS:COMPLETED | COMPLETED:20261201T000000Z | PERCENT-COMPLETE:100",
            ),
        ),
        ("odd.ics", resource("VEVENT", "odd", "SUMMARY:No start")),
        (
            "strange.ics",
            resource("VTODO", "strange", "DUE:20261202T120000Z | STATUS:X-LATER"),
        ),
    ];
    let folder = work(&files);
    let mut server = Server::on(&folder, "2025-11-25");
    let (days, states) = (
        window("2026-12-01T00:00:00Z", "2026-12-05T00:00:00Z"),
        json!(["open", "completed", "cancelled", "indeterminate"]),
    );
    let all = json!({"scope": {"mode": "all"}});
    let fields = json!([
        "summary",
        "status",
        "completedAt",
        "percentComplete",
        "due",
        "start",
        "description",
        "recurrence"
    ]);
    // What is left out is left out only where it follows: this end is in another zone than its start.
    let page = server.success(OCCURRENCES, days.clone());
    let ends: Vec<_> = rows(&page).iter().map(|row| &row["timing"]["effectiveEnd"]).collect();
    let abroad = json!({"value": "2026-12-01T20:00:00", "timeZoneId": "America/New_York"});
    assert!(ends.contains(&&abroad), "{ends:?}");
    let mut asks = vec![
        ("calendars_list", json!({}), 1),
        (
            ENTITIES,
            with(all.clone(), json!({"entityKinds": ["event", "todo"]})),
            7,
        ),
        (OCCURRENCES, days.clone(), 6),
        (
            TODOS,
            with(all, json!({"completionStates": states, "projection": fields})),
            3,
        ),
        (
            TODOS,
            with(days, json!({"completionStates": states, "projection": fields})),
            4,
        ),
    ];
    asks.extend(files.map(|(name, _)| (GET, json!({"href": format!("{}/work/{name}", folder.url())}), 0)));
    for (tool, ask, count) in asks {
        let mut get = |detail: &str| {
            let detail = if tool == "calendars_list" {
                json!({})
            } else {
                json!({"detail": detail})
            };
            server.success(tool, with(ask.clone(), detail))
        };
        let (part, whole) = (get("compact"), get("full"));
        assert_eq!(part["items"].as_array().map_or(0, Vec::len), count, "{tool} {part:#}");
        is_part(&part, &whole, tool).unwrap();
    }
}

/// The longest Event of the bench calendars that is no override, with an href as long as there.
#[test]
fn an_occurrence_row_has_at_most_450_bytes() {
    let file = format!("{}.ics", "x".repeat(36));
    let event = "DTSTART;TZID=America/Sao_Paulo:20260612T180000 | DTEND;TZID=America/Sao_Paulo:20260612T183000 | RRULE:FREQ=WEEKLY | \
        SUMMARY:Interview customer #09831 | DESCRIPTION:Agenda | LOCATION:Zoom https://zoom.example/j/88213377 | CATEGORIES:DEPLOYMENT,WORK | \
        STATUS:CONFIRMED | TRANSP:OPAQUE";
    let folder = work(&[(&file, resource("VEVENT", "a-uid-that-is-not-the-file-name", event))]);
    let mut server = Server::on(&folder, "2025-11-25");
    let page = server.success(OCCURRENCES, window("2026-06-12T00:00:00Z", "2026-06-13T00:00:00Z"));
    let row = &rows(&page)[0];
    let href = row["snapshot"]["entityRevision"]["href"].as_str().unwrap().len();
    let bytes = row.to_string().len() - href + "http://127.0.0.1:39271/bench10000/work/".len() + file.len();
    assert!(bytes <= 450, "{bytes}: {row}");
}

/// A server that gives weak Entity Tags only.
#[test]
fn a_resource_without_a_revision_says_so_and_where_it_is() {
    let local = Local::memory().with_calendar("work", "Work");
    let local = local.put("work/daily.ics", DAILY);
    let local = local.put("work/todo.ics", resource("VTODO", "todo", "DUE:20261202T120000Z"));
    let server = honest(local, |body| {
        body.replace("getetag>", "getetag>W/")
            .replace("</D:getetag>W/", "</D:getetag>")
    });
    let mut client = Server::start(&[
        ("CALDAV_URL", &server.uri("/")),
        ("CALDAV_USERNAME", "ana"),
        ("CALDAV_PASSWORD", "x"),
        ("CALDAV_EVALUATION_TIME_ZONE", "UTC"),
    ]);
    client.initialize("2025-11-25");
    let mut days = window("2026-12-02T00:00:00Z", "2026-12-03T00:00:00Z");
    let (event, todo) = (server.uri("/work/daily.ics"), server.uri("/work/todo.ics"));
    for detail in ["compact", "full"] {
        days["detail"] = json!(detail);
        let page = client.success(OCCURRENCES, days.clone());
        let kinds = with(days.clone(), json!({"entityKinds": ["event"]}));
        let snapshots = [
            rows(&page)[0]["snapshot"].clone(),
            rows(&client.success(ENTITIES, kinds))[0].clone(),
            client.success(GET, json!({"href": event, "detail": detail}))["snapshot"].take(),
        ];
        for snapshot in snapshots {
            assert_eq!(snapshot["resourceRevision"], json!({"href": event}), "{snapshot:#}");
            assert!(snapshot.get("entityRevision").is_none());
            assert_eq!(snapshot["diagnostics"][0]["code"], "revision_unavailable");
        }
        let page = client.success(TODOS, days.clone());
        let row = &rows(&page)[0];
        assert_eq!(
            row["completionTarget"],
            json!({"kind": "unavailable", "resourceRevision": {"href": todo}})
        );
        assert_eq!(
            (&row["uid"], &row["diagnostics"][0]["code"]),
            (&json!("todo"), &json!("revision_unavailable"))
        );
    }
}
