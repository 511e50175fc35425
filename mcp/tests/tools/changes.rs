//! The tools that change something, on a folder account where nobody is asked: how each ends.

use serde_json::{Value, json};

use crate::client::{Folder, Server};
use crate::referee::Referee;
use crate::{GET, resource, with};

/// A server whose results are all looked at.
struct Account {
    server: Server,
    referee: Referee,
    folder: Folder,
}

impl Account {
    fn new(members: &[(&str, String)]) -> Self {
        Self::with(members, &[])
    }

    fn with(members: &[(&str, String)], more: &[(&str, &str)]) -> Self {
        let members: Vec<_> = members.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        let folder = Folder::new().calendar("home", &[]).calendar("work", &members);
        let url = folder.url();
        let usual = [
            ("CALDAV_URL", url.as_str()),
            ("CALDAV_CONFIRMATION_POLICY", "never"),
            ("CALDAV_EVALUATION_TIME_ZONE", "UTC"),
        ];
        let mut server = Server::start(&[&usual[..], more].concat());
        server.initialize("2025-11-25");
        let referee = Referee::new(&mut server);
        Self {
            server,
            referee,
            folder,
        }
    }

    fn href(&self, path: &str) -> String {
        format!("{}/{path}", self.folder.url())
    }

    /// The result of a change, in full.
    fn change(&mut self, tool: &str, arguments: Value) -> Value {
        let takes = ![
            "calendar_resources_delete",
            "calendars_create",
            "calendars_patch",
            "calendars_delete",
        ]
        .contains(&tool);
        let detail = if takes { json!({"detail": "full"}) } else { json!({}) };
        let mut result = self.server.tool(tool, with(arguments, detail))["structuredContent"].take();
        self.referee.full(tool, &result);
        if result["outcome"] == "success" {
            assert_eq!(result["mutationState"], "committed", "{result}");
        }
        result.as_object_mut().unwrap().remove("message");
        result
    }

    /// The revision after a change that succeeds.
    fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.change(tool, arguments);
        assert_eq!(result["outcome"], "success", "{tool}: {result:#}");
        result["snapshot"]["entityRevision"].clone()
    }

    fn unchanged(&mut self, tool: &str, arguments: Value) {
        let expected = json!({"outcome": "no_change", "mutationState": "not_attempted", "diagnostics": []});
        assert_eq!(self.change(tool, arguments), expected, "{tool}");
    }

    /// Code, phase and state of a failure, and the pointers and codes of what is wrong.
    fn refused(&mut self, tool: &str, arguments: Value, code: &str, state: &str, wrong: &[(&str, &str)]) -> Value {
        let result = self.change(tool, arguments);
        let found = (result["code"].as_str(), result["mutationState"].as_str());
        assert_eq!(found, (Some(code), Some(state)), "{tool}: {result:#}");
        let violations = result["violations"].as_array().cloned().unwrap_or_default();
        let pairs: Vec<_> = violations
            .iter()
            .map(|found| (found["pointer"].as_str().unwrap(), found["code"].as_str().unwrap()))
            .collect();
        assert_eq!(pairs, wrong, "{tool}: {result:#}");
        result
    }

    fn revision(&mut self, path: &str) -> Value {
        let href = self.href(path);
        self.server.success(GET, json!({"href": href}))["snapshot"]["entityRevision"].clone()
    }

    fn stored(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.0.join(path)).unwrap()
    }
}

fn work() -> Value {
    json!({"mode": "selected", "calendar": {"by": "name", "name": "work"}})
}

fn berlin(value: &str) -> Value {
    json!({"kind": "zonedDateTime", "value": value, "timeZoneId": "Europe/Berlin"})
}

fn utc(value: &str) -> Value {
    json!({"value": {"kind": "utcDateTime", "value": value}})
}

fn event(fields: Value) -> Value {
    json!({"destination": work(), "entity": {"kind": "event", "fields": fields}})
}

fn daily() -> (&'static str, String) {
    let lines = "DTSTART:20261201T090000Z | DTEND:20261201T093000Z | RRULE:FREQ=DAILY | SUMMARY:Daily";
    ("daily.ics", resource("VEVENT", "daily", lines))
}

#[test]
fn an_event_is_made_as_it_is_asked_for() {
    let mut account = Account::new(&[]);
    let fields = json!({
        "summary": "Zahnarzt; Köln, \"Mitte\"", "start": berlin("2026-12-01T09:00:00"), "location": "Köln",
        "categories": ["a,b", "c"], "recurrenceSet": {"rrule": "FREQ=WEEKLY;COUNT=3"},
        "structuredData": {"alarms": [{
            "action": {"value": "display", "parameters": []}, "trigger": {"value": "-PT15M", "parameters": []},
            "description": {"value": "Soon", "parameters": []}
        }]}
    });
    let made = account.change("events_create", event(fields));
    let snapshot = &made["snapshot"];
    assert_eq!(made["outcome"], "success", "{made:#}");
    assert_eq!(snapshot["projection"]["fields"]["summary"], "Zahnarzt; Köln, \"Mitte\"");
    assert_eq!(snapshot["projection"]["fields"]["duration"], "PT1H");
    let href = snapshot["entityRevision"]["href"].as_str().unwrap().to_owned();
    let stored = account.stored(href.strip_prefix(&format!("{}/", account.folder.url())).unwrap());
    for line in [
        "DTSTART;TZID=Europe/Berlin:20261201T090000\r\n",
        "BEGIN:VTIMEZONE\r\n",
        "TRIGGER:-PT15M\r\n",
        "CATEGORIES:a\\,b,c\r\n",
        "SUMMARY:Zahnarzt\\; Köln\\, \"Mitte\"\r\n",
    ] {
        assert!(stored.contains(line), "{line} in {stored}");
    }
    // The same UID again has the same place.
    let uid = snapshot["entityRevision"]["entityUid"].clone();
    let mut again = event(json!({"start": berlin("2026-12-01T09:00:00")}));
    again["entity"]["uid"] = uid;
    account.refused("events_create", again, "destination_conflict", "not_committed", &[]);
}

/// What assistants send instead of a time, and what they are told.
#[test]
fn times_that_are_none_are_refused_with_what_to_send() {
    let mut account = Account::new(&[]);
    let at = "/entity/fields/start";
    for (start, pointer, code, told) in [
        (
            json!("2026-12-01T09:00:00+02:00"),
            at,
            "invalid_type",
            "\"zonedDateTime\"",
        ),
        (
            berlin("2026-12-01T09:00:00+02:00"),
            "/entity/fields/start/value",
            "format_mismatch",
            "without offset",
        ),
        (
            json!({"kind": "utcDateTime", "value": "2026-12-01T09:00:00+02:00"}),
            "/entity/fields/start/value",
            "format_mismatch",
            "2026-12-01T08:00:00Z",
        ),
        (
            berlin("2026-02-30T09:00:00"),
            "/entity/fields/start/value",
            "format_mismatch",
            "Send",
        ),
        (
            berlin("2026-12-01T09:00:00.5"),
            "/entity/fields/start/value",
            "temporal_value_invalid",
            "whole seconds",
        ),
        (
            json!({"kind": "zonedDateTime", "value": "2026-12-01T09:00:00", "timeZoneId": "Europe/Atlantis"}),
            "/entity/fields/start",
            "temporal_value_invalid",
            "IANA",
        ),
    ] {
        let arguments = event(json!({"start": start}));
        let result = account.refused(
            "events_create",
            arguments,
            "invalid_input",
            "not_attempted",
            &[(pointer, code)],
        );
        let text = result["violations"][0]["message"].as_str().unwrap_or_default();
        assert!(text.contains(told), "{text}");
    }
    account.refused(
        "events_create",
        event(json!({})),
        "invalid_input",
        "not_attempted",
        &[(at, "start_required")],
    );
    let mut elsewhere = event(json!({"start": berlin("2026-12-01T09:00:00")}));
    elsewhere["destination"]["calendar"] = json!({"by": "href", "href": "work/"});
    let wrong = [("/destination/calendar/href", "href_not_absolute")];
    account.refused("events_create", elsewhere, "invalid_input", "not_attempted", &wrong);
    assert_eq!(std::fs::read_dir(account.folder.0.join("work")).unwrap().count(), 0);
}

#[test]
fn a_patch_changes_what_it_names_and_is_bound_to_a_state() {
    let mut account = Account::new(&[daily()]);
    let first = account.revision("work/daily.ics");
    let patch =
        |revision: &Value, target: Value, patch: Value| json!({"snapshot": revision, "target": target, "patch": patch});
    let summary = |text: &str| json!({"scalars": [{"field": "summary", "operation": "set", "value": text}]});
    let master = json!({"scope": "master"});
    let second = account.done("events_patch", patch(&first, master.clone(), summary("New")));
    account.unchanged("events_patch", patch(&second, master.clone(), summary("New")));
    let stale = patch(&first, master.clone(), summary("Late"));
    let conflict = account.refused("events_patch", stale, "conflict", "not_attempted", &[]);
    assert_eq!(conflict["currentSnapshot"]["entityRevision"], second);
    let one = json!({"scope": "one-occurrence", "recurrenceIdentity": utc("2026-12-03T09:00:00Z")});
    let third = account.done("events_patch", patch(&second, one, summary("That day")));
    assert_eq!(account.stored("work/daily.ics").matches("BEGIN:VEVENT").count(), 2);
    // Many at once: whoever was not asked is told so.
    let rest = json!({"scope": "this-and-future", "recurrenceIdentity": utc("2026-12-05T09:00:00Z")});
    let later = account.change("events_patch", patch(&third, rest, summary("From then on")));
    assert_eq!(
        (&later["outcome"], &later["confirmation"]),
        (&json!("success"), &json!("skipped_by_policy"))
    );
    let revision = &later["snapshot"]["entityRevision"];
    for (wrong, expected) in [
        (
            patch(
                &with(revision.clone(), json!({"entityKind": "todo"})),
                master.clone(),
                summary("x"),
            ),
            ("/snapshot/entityKind", "value_not_allowed"),
        ),
        (
            patch(revision, json!({"scope": "all"}), summary("x")),
            ("/target/scope", "value_not_allowed"),
        ),
        (
            patch(revision, json!({"scope": "one-occurrence"}), summary("x")),
            ("/target/recurrenceIdentity", "required_member"),
        ),
        (
            patch(revision, master.clone(), json!({})),
            ("/patch", "required_member"),
        ),
        (
            patch(
                revision,
                master.clone(),
                json!({"scalars": [{"field": "colour", "operation": "clear"}]}),
            ),
            ("/patch/scalars/0/field", "value_not_allowed"),
        ),
        (
            patch(
                revision,
                master.clone(),
                json!({"collections": [{"field": "alarms", "operation": "addRemove"}]}),
            ),
            ("/patch/collections/0", "item_count_out_of_range"),
        ),
    ] {
        account.refused("events_patch", wrong, "invalid_input", "not_attempted", &[expected]);
    }
    let bare = with(revision.clone(), json!({"entityTag": "7"}));
    let wrong = [("/snapshot/entityTag", "format_mismatch")];
    let ask = patch(&bare, master.clone(), summary("x"));
    account.refused("events_patch", ask, "invalid_input", "not_attempted", &wrong);
    let weak = with(revision.clone(), json!({"entityTag": "W/\"7\""}));
    let result = account.change("events_patch", patch(&weak, master, summary("x")));
    assert_eq!(
        (&result["code"], &result["mutationState"]),
        (&json!("concurrency_unavailable"), &json!("not_attempted"))
    );
}

#[test]
fn a_todo_is_made_changed_and_done() {
    let recurring = resource(
        "VTODO",
        "water",
        "DTSTART:20261201T080000Z | RRULE:FREQ=DAILY | SUMMARY:Water",
    );
    let mut account = Account::new(&[("water.ics", recurring)]);
    let due = json!({"kind": "date", "value": "2026-12-24"});
    let made = json!({"destination": work(), "entity": {"kind": "todo", "fields": {"summary": "Tree", "due": due, "priority": 1}}});
    let revision = account.done("todos_create", made);
    let half = json!({"scalars": [{"field": "percentComplete", "operation": "set", "value": 50}]});
    let patch = json!({"snapshot": revision, "target": {"scope": "master"}, "patch": half});
    let revision = account.done("todos_patch", patch);
    let revision = account.done("todos_complete", json!({"snapshot": revision}));
    account.unchanged("todos_complete", json!({"snapshot": revision}));
    let series = account.revision("work/water.ics");
    let result = account.change("todos_complete", json!({"snapshot": series}));
    assert_eq!(
        (&result["code"], &result["mutationState"]),
        (&json!("invalid_input"), &json!("not_attempted"))
    );
    let one = json!({"snapshot": series, "recurrenceIdentity": utc("2026-12-02T08:00:00Z")});
    account.done("todos_complete", one);
    assert!(
        account
            .stored("work/water.ics")
            .contains("RECURRENCE-ID:20261202T080000Z\r\n")
    );
}

#[test]
fn an_occurrence_goes_and_comes_back() {
    let mut account = Account::new(&[daily()]);
    let ask = |revision: &Value, at: &str| json!({"snapshot": revision, "recurrenceIdentity": utc(at)});
    let day = "2026-12-02T09:00:00Z";
    let mut revision = account.revision("work/daily.ics");
    for (there, back) in [("exclude", "restore_exclusion"), ("cancel", "restore_cancellation")] {
        let [there, back] = [there, back].map(|tool| format!("calendar_occurrences_{tool}"));
        account.unchanged(&back, ask(&revision, day));
        revision = account.done(&there, ask(&revision, day));
        account.unchanged(&there, ask(&revision, day));
        revision = account.done(&back, ask(&revision, day));
    }
    let extra = "2026-12-02T15:00:00Z";
    account.refused(
        "calendar_occurrences_exclude",
        ask(&revision, extra),
        "not_found",
        "not_attempted",
        &[],
    );
    revision = account.done("calendar_occurrences_add", ask(&revision, extra));
    account.unchanged("calendar_occurrences_add", ask(&revision, extra));
    let bare = json!({"snapshot": revision, "recurrenceIdentity": {"kind": "utcDateTime", "value": extra}});
    let wrong = [
        ("/recurrenceIdentity/kind", "unknown_member"),
        ("/recurrenceIdentity/value", "invalid_type"),
    ];
    account.refused(
        "calendar_occurrences_add",
        bare,
        "invalid_input",
        "not_attempted",
        &wrong,
    );
}

#[test]
fn a_resource_moves_and_goes() {
    let mut account = Account::new(&[daily()]);
    let revision = account.revision("work/daily.ics");
    let ask = json!({"revision": revision, "destination": work()});
    let same = [("/destination", "same_calendar")];
    account.refused("calendar_resources_move", ask, "invalid_input", "not_attempted", &same);
    let home = json!({"mode": "selected", "calendar": {"by": "name", "name": "home"}});
    let moved = account.done(
        "calendar_resources_move",
        json!({"revision": revision, "destination": home}),
    );
    assert!(moved["href"].as_str().unwrap().starts_with(&account.href("home/")));
    let ask = json!({"revision": revision, "destination": home});
    account.refused("calendar_resources_move", ask, "not_found", "not_attempted", &[]);
    let receipt = account.change("calendar_resources_delete", json!({"revision": moved}));
    let expected = json!({
        "outcome": "success", "mutationState": "committed", "confirmation": "skipped_by_policy", "diagnostics": [],
        "deletionReceipt": {
            "href": moved["href"], "entityUid": "daily", "entityKind": "event", "consumedEntityTag": moved["entityTag"]
        }
    });
    assert_eq!(receipt, expected);
    account.refused(
        "calendar_resources_delete",
        json!({"revision": moved}),
        "not_found",
        "not_attempted",
        &[],
    );
}

#[test]
fn a_calendar_is_made_changed_and_deleted() {
    let mut account = Account::new(&[daily()]);
    let ask = json!({"displayName": "Garden", "entityKinds": ["event", "todo"], "color": "#00AAFF", "order": 3, "timeZone": "Europe/Berlin"});
    let made = account.change("calendars_create", ask.clone());
    assert_eq!(made["calendar"]["displayName"], "Garden", "{made:#}");
    let taken = [("/displayName", "display_name_taken")];
    account.refused("calendars_create", ask, "conflict", "not_attempted", &taken);
    let wrong = json!({"displayName": "X", "entityKinds": ["event"], "color": "blue", "timeZone": "Mars/Olympus"});
    let pairs = [("/color", "color_invalid"), ("/timeZone", "time_zone_invalid")];
    account.refused("calendars_create", wrong, "invalid_input", "not_attempted", &pairs);
    let href = made["calendar"]["calendar"]["href"].clone();
    let patch = json!({"calendarHref": href, "patch": {
        "displayName": {"operation": "set", "value": "Yard"},
        "description": {"operation": "set", "value": "Beds", "language": "en"},
        "color": {"operation": "remove"}
    }});
    let patched = account.change("calendars_patch", patch);
    assert_eq!(
        (&patched["outcome"], &patched["concurrency"]),
        (&json!("success"), &json!("unconditional")),
        "{patched:#}"
    );
    assert_eq!(
        (&patched["calendar"]["displayName"], &patched["calendar"]["color"]),
        (&json!("Yard"), &Value::Null)
    );
    for (patch, wrong) in [
        (json!({}), ("/patch", "required_member")),
        (
            json!({"color": {"operation": "clear"}}),
            ("/patch/color/value", "required_member"),
        ),
        (
            json!({"order": {"operation": "set", "value": -1}}),
            ("/patch/order/value", "out_of_range"),
        ),
        (
            json!({"color": {"operation": "remove", "value": "#000000"}}),
            ("/patch/color/value", "unknown_member"),
        ),
    ] {
        let ask = json!({"calendarHref": href, "patch": patch});
        account.refused("calendars_patch", ask, "invalid_input", "not_attempted", &[wrong]);
    }
    let deleted = account.change("calendars_delete", json!({"href": href}));
    assert_eq!(
        (&deleted["outcome"], &deleted["confirmation"]),
        (&json!("success"), &json!("skipped_by_policy")),
        "{deleted:#}"
    );
    let result = account.change("calendars_delete", json!({"href": href}));
    assert_eq!(
        (&result["code"], &result["mutationState"]),
        (&json!("not_found"), &json!("not_attempted"))
    );
}

#[test]
fn octets_are_stored_as_they_are() {
    let mut account = Account::with(&[daily()], &[("CALDAV_EXPOSE_EXACT_TOOLS", "true")]);
    let text = resource("VEVENT", "exact", "DTSTART:20261201T090000Z | X-ODD;X-P=\"a:b\":kept");
    let href = account.href("work/exact.ics");
    let made = account.done(
        "calendar_resources_exact_create",
        json!({"destinationHref": href, "utf8Resource": text}),
    );
    assert_eq!(account.stored("work/exact.ics"), text);
    let get = "calendar_resources_exact_get";
    let link = account.server.success(get, json!({"href": href}));
    account.referee.full(get, &link);
    let read = account
        .server
        .ask("resources/read", json!({"uri": link["resourceLink"]["uri"]}));
    use base64::Engine;
    let base64 = base64::engine::general_purpose::STANDARD;
    assert_eq!(
        base64.decode(read["contents"][0]["blob"].as_str().unwrap()).unwrap(),
        text.as_bytes()
    );
    let replace = "calendar_resources_exact_replace";
    let other = text.replace("kept", "other");
    let ask = json!({"revision": made, "base64Utf8Resource": base64.encode(&other)});
    let replaced = account.done(replace, ask.clone());
    assert_eq!(account.stored("work/exact.ics"), other);
    let conflict = account.refused(replace, ask, "conflict", "not_attempted", &[]);
    let current = conflict["currentSnapshot"].as_object().unwrap();
    assert_eq!(
        current.keys().collect::<Vec<_>>(),
        ["calendar", "entityRevision", "resourceRevision"]
    );
    let body = |body: Value| with(json!({"revision": replaced}), body);
    for (wrong, expected) in [
        (json!({}), ("/utf8Resource", "required_member")),
        (
            json!({"utf8Resource": "x", "base64Utf8Resource": "eA=="}),
            ("/base64Utf8Resource", "shape_mismatch"),
        ),
        (
            json!({"base64Utf8Resource": "eA"}),
            ("/base64Utf8Resource", "format_mismatch"),
        ),
    ] {
        account.refused(replace, body(wrong), "invalid_input", "not_attempted", &[expected]);
    }
    let broken = body(json!({"utf8Resource": text.replace("UID:exact\r\n", "")}));
    account.refused(replace, broken, "invalid_calendar_data", "not_attempted", &[]);
    let to = account.href("home/moved.ics");
    let moved = json!({"revision": replaced, "destinationHref": to});
    assert_eq!(account.done("calendar_resources_exact_move", moved)["href"], to);
    assert_eq!(account.stored("home/moved.ics"), other);
}

#[test]
fn exact_tools_are_there_only_where_they_are_asked_for() {
    let mut account = Account::with(&[], &[("CALDAV_EXPOSE_EXACT_TOOLS", "True")]);
    let list = account.server.ask("tools/list", json!({}));
    let names: Vec<_> = list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names.len(), 27);
    let exact = ["get", "create", "replace", "move"].map(|tool| format!("calendar_resources_exact_{tool}"));
    assert_eq!(names[23..], exact);
    let mut plain = Account::new(&[]);
    let call = json!({"name": exact[0], "arguments": {"href": plain.href("work/x.ics")}});
    let id = plain.server.request("tools/call", call);
    assert_eq!(plain.server.answer(id)["error"]["code"], -32602);
}

/// Every field that is sent is in the result, from a new one as from a patch of each field alone, and goes when it is cleared.
#[test]
fn no_field_is_lost_on_the_way() {
    let mut account = Account::new(&[]);
    let event = json!({
        "summary": "a", "description": "b", "start": berlin("2026-12-01T09:00:00"), "end": berlin("2026-12-01T10:30:00"),
        "location": "c", "geo": {"latitude": 52.5, "longitude": 13.25}, "status": "TENTATIVE", "transparency": "TRANSPARENT",
        "classification": "PRIVATE", "priority": 5, "categories": ["d"], "url": "https://example.com/"
    });
    let todo = json!({
        "summary": "a", "description": "b", "start": berlin("2026-12-01T09:00:00"), "due": berlin("2026-12-01T10:30:00"),
        "status": "IN-PROCESS", "priority": 5, "categories": ["d"]
    });
    for (kind, fields) in [("event", event), ("todo", todo)] {
        let [create, patch] = ["create", "patch"].map(|tool| format!("{kind}s_{tool}"));
        let ask = |fields: Value| json!({"destination": work(), "entity": {"kind": kind, "fields": fields}});
        let made = account.change(&create, ask(fields.clone()));
        let shown = &made["snapshot"]["projection"]["fields"];
        for (name, sent) in fields.as_object().unwrap() {
            let open = ["status", "transparency", "classification"].contains(&name.as_str());
            let found = if open { &shown[name]["rawValue"] } else { &shown[name] };
            assert_eq!(found, sent, "{kind} {name}");
        }
        let bare = json!({"start": berlin("2026-12-01T09:00:00")});
        let mut revision = account.done(&create, ask(bare));
        for (name, sent) in fields.as_object().unwrap() {
            if name == "categories" || name == "start" {
                continue;
            }
            // An end and the usual length exclude each other.
            let mut set = vec![json!({"field": name, "operation": "set", "value": sent})];
            if name == "end" {
                set.push(json!({"field": "duration", "operation": "clear"}));
            }
            for (scalars, there) in [
                (json!(set), true),
                (json!([{"field": name, "operation": "clear"}]), false),
            ] {
                let ask = json!({"snapshot": revision, "target": {"scope": "master"}, "patch": {"scalars": scalars}});
                let result = account.change(&patch, ask);
                assert_eq!(result["outcome"], "success", "{kind} {name}: {result:#}");
                assert_eq!(
                    result["snapshot"]["projection"]["fields"].get(name).is_some(),
                    there,
                    "{kind} {name}"
                );
                revision = result["snapshot"]["entityRevision"].clone();
            }
        }
        let categories = json!([{"field": "categories", "operation": "addRemove", "add": ["x", "y"]}]);
        let ask = json!({"snapshot": revision, "target": {"scope": "master"}, "patch": {"collections": categories}});
        let result = account.change(&patch, ask);
        assert_eq!(
            result["snapshot"]["projection"]["fields"]["categories"],
            json!(["x", "y"])
        );
    }
}
