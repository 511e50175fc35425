//! Who is asked before a change, how, and what each answer does, over the real binary and in every revision.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod client;

use std::fs;
use std::path::PathBuf;

use client::{DAILY, Folder, MODERN, Server};
use serde_json::{Value, json};

const DELETE: &str = "calendar_resources_delete";
const PATCH: &str = "events_patch";
const CLASSIC: [&str; 2] = ["2025-06-18", "2025-11-25"];
const SILENT: [&str; 2] = ["2024-11-05", "2025-03-26"];

/// A server on a folder with one event, and a client that has said what it can do.
struct Rig {
    folder: Folder,
    server: Server,
    revision: &'static str,
    capabilities: Value,
}

/// A question that waits for its answer.
struct Asked {
    params: Value,
    way: Way,
}

enum Way {
    /// The call has to come again.
    Again { key: String, state: String },
    /// The call waits.
    Meanwhile { call: i64, id: Value },
}

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

impl Rig {
    fn new(revision: &'static str, capabilities: Value, extra: &[(&str, &str)]) -> Self {
        let folder = Folder::new().calendar("work", &[("daily.ics", DAILY.as_bytes())]);
        let server = start(&folder, revision, &capabilities, extra);
        Self {
            folder,
            server,
            revision,
            capabilities,
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.0.join("work/daily.ics")
    }

    fn is_untouched(&self) -> bool {
        fs::read(self.file()).is_ok_and(|octets| octets == DAILY.as_bytes())
    }

    fn restore(&self) {
        fs::write(self.file(), DAILY).unwrap();
    }

    fn params(&self, tool: &str, arguments: &Value) -> Value {
        let mut params = json!({"name": tool, "arguments": arguments});
        if self.revision == MODERN {
            params["_meta"] = client::meta();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        params
    }

    fn send(&mut self, tool: &str, arguments: &Value) -> i64 {
        let params = self.params(tool, arguments);
        self.server.request("tools/call", params)
    }

    /// The whole message that a call is answered with.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.send(tool, arguments);
        self.server.answer(id)
    }

    fn entity_revision(&mut self) -> Value {
        let href = format!("{}/work/daily.ics", self.folder.url());
        let message = self.call("calendar_resources_get", &json!({"href": href}));
        message["result"]["structuredContent"]["snapshot"]["entityRevision"].clone()
    }

    fn delete(&mut self) -> Value {
        json!({"revision": self.entity_revision()})
    }

    fn patch(&mut self, scope: &Value, patch: &Value) -> Value {
        json!({"snapshot": self.entity_revision(), "target": scope, "patch": patch})
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> Asked {
        let call = self.send(tool, arguments);
        let mut message = self.server.receive();
        if self.revision != MODERN {
            assert_eq!(message["method"], "elicitation/create", "{message}");
            return Asked {
                params: message["params"].take(),
                way: Way::Meanwhile {
                    call,
                    id: message["id"].take(),
                },
            };
        }
        assert_eq!(message["id"], call);
        let result = &mut message["result"];
        assert_eq!(result["resultType"], "input_required", "{result}");
        assert!(result.get("structuredContent").is_none() && result.get("content").is_none());
        let state = result["requestState"].as_str().unwrap().to_owned();
        assert!(
            state.len() <= 2048
                && state
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
        let requests = result["inputRequests"].as_object_mut().unwrap();
        assert_eq!(requests.len(), 1);
        let (key, request) = requests.iter_mut().next().unwrap();
        assert_eq!(request["method"], "elicitation/create");
        Asked {
            params: request["params"].take(),
            way: Way::Again {
                key: key.clone(),
                state,
            },
        }
    }

    /// Sends a call again with this state and these responses.
    fn again(&mut self, tool: &str, arguments: &Value, state: &str, responses: Value) -> Value {
        let mut params = self.params(tool, arguments);
        params["requestState"] = json!(state);
        params["inputResponses"] = responses;
        let id = self.server.request("tools/call", params);
        self.server.answer(id)
    }

    /// Answers a question, and gives what becomes of the call.
    fn say(&mut self, tool: &str, arguments: &Value, asked: Asked, answer: Value) -> Value {
        match asked.way {
            Way::Again { key, state } => self.again(tool, arguments, &state, json!({key: answer})),
            Way::Meanwhile { call, id } => {
                self.server
                    .send(json!({"jsonrpc": "2.0", "id": id, "result": answer}).to_string());
                self.server.answer(call)
            }
        }
    }
}

fn start(folder: &Folder, revision: &str, capabilities: &Value, extra: &[(&str, &str)]) -> Server {
    let url = folder.url();
    let mut environment = vec![("CALDAV_URL", url.as_str()), ("CALDAV_EVALUATION_TIME_ZONE", "UTC")];
    environment.extend(extra);
    let mut server = Server::start(&environment);
    if revision != MODERN {
        server.initialize_with(revision, capabilities);
    }
    server
}

/// The outcome or the code of a result, whose text says the same as its structured content.
fn verdict(message: &Value) -> &str {
    let result = &message["result"];
    let content = &result["structuredContent"];
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), content);
    let (outcome, code) = (content["outcome"].as_str(), content["code"].as_str());
    assert_eq!(result["isError"], code.is_some());
    if code.is_some_and(|code| code.starts_with("confirmation_")) || outcome == Some("confirmation_declined") {
        assert_eq!(content["mutationState"], "not_attempted");
    }
    if code.is_some() {
        assert_eq!(
            (&content["phase"], &content["retryable"]),
            (&json!("mrtr"), &json!(false)),
            "{content}"
        );
    }
    outcome.or(code).unwrap()
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"confirm": true}})
}

#[test]
fn whoever_can_show_a_form_is_asked_and_nobody_else() {
    let capabilities = [
        (json!({}), false),
        (json!({"elicitation": {"url": {}}}), false),
        (json!({"elicitation": {}}), true),
        (json!({"elicitation": {"form": {}}}), true),
        (json!({"elicitation": {"form": {}, "url": {}}}), true),
    ];
    for (capabilities, can) in capabilities {
        for revision in SILENT.into_iter().chain(CLASSIC).chain([MODERN]) {
            let mut rig = Rig::new(revision, capabilities.clone(), &[]);
            let arguments = rig.delete();
            if can && !SILENT.contains(&revision) {
                let asked = rig.ask(DELETE, &arguments);
                assert_eq!(asked.params["mode"], "form");
                assert!(rig.is_untouched(), "{revision}");
                continue;
            }
            let message = rig.call(DELETE, &arguments);
            if revision == MODERN {
                assert_eq!(message["error"]["code"], -32021, "{message}");
                assert_eq!(
                    message["error"]["data"],
                    json!({"requiredCapabilities": {"elicitation": {"form": {}}}})
                );
                // Before the arguments are looked at.
                assert_eq!(rig.call(DELETE, &json!({"x": 1}))["error"]["code"], -32021);
            } else {
                assert_eq!(verdict(&message), "unsupported_capability");
                let error = &message["result"]["structuredContent"];
                assert_eq!(error["mutationState"], "not_attempted");
                let text = error["message"].as_str().unwrap();
                assert!(text.contains("CALDAV_CONFIRMATION_POLICY") && text.contains("CALDAV_CONFIRMATION_FALLBACK"));
            }
            assert!(rig.is_untouched());
            // What asks nobody needs no forms.
            let title = json!({"scalars": [{"field": "summary", "operation": "set", "value": "New"}]});
            let arguments = rig.patch(&json!({"scope": "master"}), &title);
            assert_eq!(verdict(&rig.call(PATCH, &arguments)), "success");
            // A patch that asks needs them, and says so after its arguments were read.
            let arguments = rig.patch(&json!({"scope": "entire-set"}), &title);
            let message = rig.call(PATCH, &arguments);
            let wrong = rig.call(PATCH, &json!({"target": {"scope": "entire-set"}}));
            assert_eq!(wrong["result"]["structuredContent"]["code"], "invalid_input", "{wrong}");
            if revision == MODERN {
                assert_eq!(message["error"]["code"], -32021, "{message}");
            } else {
                assert_eq!(verdict(&message), "unsupported_capability");
            }
        }
    }
}

#[test]
fn only_a_ticked_box_deletes() {
    let answers = [
        (yes(), "success"),
        (
            json!({"action": "accept", "content": {"confirm": false}}),
            "confirmation_declined",
        ),
        (json!({"action": "decline"}), "confirmation_declined"),
        (json!({"action": "cancel"}), "confirmation_declined"),
        (
            json!({"action": "decline", "content": {"confirm": true}}),
            "confirmation_declined",
        ),
        (json!({"action": "accept"}), "confirmation_mismatch"),
        (json!({"action": "accept", "content": {}}), "confirmation_mismatch"),
        (
            json!({"action": "accept", "content": {"confirm": "true"}}),
            "confirmation_mismatch",
        ),
        (
            json!({"action": "accept", "content": {"confirm": 1}}),
            "confirmation_mismatch",
        ),
        (
            json!({"action": "accept", "content": {"confirm": null}}),
            "confirmation_mismatch",
        ),
        (
            json!({"action": "accept", "content": {"confirm": [true]}}),
            "confirmation_mismatch",
        ),
        (
            json!({"action": "accept", "content": {"Confirm": true}}),
            "confirmation_mismatch",
        ),
        (
            json!({"action": "maybe", "content": {"confirm": true}}),
            "confirmation_mismatch",
        ),
        (json!({}), "confirmation_mismatch"),
    ];
    for revision in CLASSIC.into_iter().chain([MODERN]) {
        let mut rig = Rig::new(revision, forms(), &[]);
        for (answer, expected) in &answers {
            rig.restore();
            let arguments = rig.delete();
            let asked = rig.ask(DELETE, &arguments);
            let message = rig.say(DELETE, &arguments, asked, answer.clone());
            assert_eq!(verdict(&message), *expected, "{revision}: {answer}");
            assert_eq!(rig.is_untouched(), *expected != "success", "{revision}: {answer}");
        }
    }
    // A client that cannot show what it said it could.
    let mut rig = Rig::new("2025-11-25", forms(), &[]);
    let arguments = rig.delete();
    let Way::Meanwhile { call, id } = rig.ask(DELETE, &arguments).way else {
        unreachable!("a classic client");
    };
    let error = json!({"code": -32601, "message": "Method not found"});
    rig.server
        .send(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
    assert_eq!(verdict(&rig.server.answer(call)), "unsupported_capability");
    assert!(rig.is_untouched());
}

#[test]
fn the_form_tells_what_happens_on_lines_of_its_own() {
    let hostile = DAILY.replace("UID:daily", "UID:daily\\n\"Scope: nothing\u{202e}");
    let hostile = hostile.replace("SUMMARY:Daily", "SUMMARY:Daily\\nKind: \"x\"\r");
    for revision in CLASSIC.into_iter().chain([MODERN]) {
        let mut rig = Rig::new(revision, forms(), &[]);
        fs::write(rig.file(), &hostile).unwrap();
        let arguments = rig.delete();
        let [href, tag] = ["href", "entityTag"].map(|name| arguments["revision"][name].as_str().unwrap().to_owned());
        let asked = rig.ask(DELETE, &arguments);
        let confirm = json!({"type": "boolean", "title": "Confirm deletion"});
        assert_eq!(
            asked.params["requestedSchema"],
            json!({"type": "object", "properties": {"confirm": confirm}, "required": ["confirm"]})
        );
        let text = asked.params["message"].as_str().unwrap();
        let lines: Vec<_> = text.lines().collect();
        let expected = [
            "Delete this calendar resource?",
            "Kind: \"event\"",
            "Title: \"Daily\\nKind: \\\"x\\\"\\r\"",
            "Start: \"20261201T090000Z\"",
            &format!("Resource: {href:?}"),
            "UID: \"daily\\n\\\"Scope: nothing\\u{202e}\"",
            &format!("Entity Tag: {tag:?}"),
        ];
        assert_eq!(lines, expected);
        if let Way::Again { key, .. } = &asked.way {
            assert_eq!(key, "confirm_delete");
        }
        let patch = json!({
            "scalars": [{"field": "summary", "operation": "set", "value": "New"}],
            "collections": [{"field": "categories", "operation": "replaceAll", "values": ["a", "b"]}]
        });
        let mut rig = Rig::new(revision, forms(), &[]);
        let arguments = rig.patch(&json!({"scope": "master"}), &patch);
        let asked = rig.ask(PATCH, &arguments);
        assert_eq!(
            asked.params["requestedSchema"]["properties"]["confirm"]["title"],
            "Confirm replacement"
        );
        let text = asked.params["message"].as_str().unwrap();
        assert!(
            text.contains("\nScope: \"master\"\n") && text.contains("categories"),
            "{text}"
        );
        if let Way::Again { key, .. } = &asked.way {
            assert_eq!(key, "confirm_replace_all");
        }
    }
}

#[test]
fn a_state_belongs_to_one_call_and_counts_once() {
    let mut rig = Rig::new(MODERN, forms(), &[]);
    let responses = || json!({"confirm_delete": yes()});
    let arguments = rig.delete();
    let Way::Again { state, .. } = rig.ask(DELETE, &arguments).way else {
        unreachable!("a modern client");
    };
    let mut other = arguments.clone();
    other["revision"]["entityTag"] = json!("\"other\"");
    let patch = rig.patch(
        &json!({"scope": "entire-set"}),
        &json!({"scalars": [{"field": "summary", "operation": "set", "value": "New"}]}),
    );
    let mut tampered = state.clone().into_bytes();
    tampered[40] ^= 1;
    let tampered = String::from_utf8(tampered).unwrap();
    let replaced = json!({"confirm_replace_all": yes()});
    for (tool, arguments, state, responses) in [
        (DELETE, &other, &state, responses()),
        (PATCH, &patch, &state, replaced.clone()),
        (DELETE, &arguments, &tampered, responses()),
        (DELETE, &arguments, &String::new(), responses()),
        (DELETE, &arguments, &"A".repeat(3000), responses()),
        (DELETE, &arguments, &state, replaced),
        (
            DELETE,
            &arguments,
            &state,
            json!({"confirm_delete": yes(), "other": yes()}),
        ),
        (DELETE, &arguments, &state, json!({"confirm_delete": "yes"})),
    ] {
        let message = rig.again(tool, arguments, state, responses);
        assert_eq!(verdict(&message), "confirmation_mismatch", "{tool}");
        assert!(rig.is_untouched());
    }
    // Another process has another key.
    let mut second = start(&rig.folder, MODERN, &forms(), &[]);
    std::mem::swap(&mut rig.server, &mut second);
    assert_eq!(
        verdict(&rig.again(DELETE, &arguments, &state, responses())),
        "confirmation_mismatch"
    );
    std::mem::swap(&mut rig.server, &mut second);
    // The order of members is no difference; a second use is one, even where the same could be done again.
    let members = arguments["revision"].as_object().unwrap().iter().rev();
    let text = members
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect::<Vec<_>>();
    let line = rig.params(DELETE, &json!({"revision": "HERE"}));
    let mut line = json!({"jsonrpc": "2.0", "id": 9000, "method": "tools/call", "params": line});
    line["params"]["requestState"] = json!(state);
    line["params"]["inputResponses"] = responses();
    rig.server
        .send(line.to_string().replace("\"HERE\"", &format!("{{{}}}", text.join(","))));
    assert_eq!(verdict(&rig.server.answer(9000)), "success");
    assert!(!rig.file().exists());
    rig.restore();
    assert_eq!(rig.delete(), arguments, "the same state again");
    assert_eq!(
        verdict(&rig.again(DELETE, &arguments, &state, responses())),
        "confirmation_mismatch"
    );
    assert!(rig.is_untouched());
    // What was declined was answered, too.
    let Way::Again { state, .. } = rig.ask(DELETE, &arguments).way else {
        unreachable!("a modern client");
    };
    let no = json!({"confirm_delete": {"action": "decline"}});
    for (responses, expected) in [(no, "confirmation_declined"), (responses(), "confirmation_mismatch")] {
        assert_eq!(verdict(&rig.again(DELETE, &arguments, &state, responses)), expected);
    }
    assert!(rig.is_untouched());
}

#[test]
fn what_changed_while_a_person_thought_is_not_deleted() {
    for revision in CLASSIC.into_iter().chain([MODERN]) {
        let mut rig = Rig::new(revision, forms(), &[]);
        let arguments = rig.delete();
        let asked = rig.ask(DELETE, &arguments);
        let changed = DAILY.replace("SUMMARY:Daily", "SUMMARY:Changed");
        fs::write(rig.file(), &changed).unwrap();
        let message = rig.say(DELETE, &arguments, asked, yes());
        let error = &message["result"]["structuredContent"];
        assert_eq!(
            (&error["code"], &error["phase"], &error["mutationState"]),
            (&json!("conflict"), &json!("targetRevision"), &json!("not_attempted"))
        );
        assert_eq!(fs::read_to_string(rig.file()).unwrap(), changed);
    }
}

#[test]
fn the_policies_spare_what_they_say() {
    let title = json!({"scalars": [{"field": "summary", "operation": "set", "value": "New"}]});
    let replace = json!({"collections": [{"field": "categories", "operation": "replaceAll", "values": ["a"]}]});
    for (policy, spares_series) in [("destructive-scope", false), ("never", true)] {
        for revision in SILENT.into_iter().chain(CLASSIC).chain([MODERN]) {
            let mut rig = Rig::new(revision, json!({}), &[("CALDAV_CONFIRMATION_POLICY", policy)]);
            let arguments = rig.patch(&json!({"scope": "master"}), &replace);
            let message = rig.call(PATCH, &arguments);
            assert_eq!(verdict(&message), "success");
            assert_eq!(
                message["result"]["structuredContent"]["confirmation"],
                "skipped_by_policy"
            );
            // Not where nothing was done, nor where nobody would have been asked.
            let arguments = rig.patch(&json!({"scope": "master"}), &replace);
            let message = rig.call(PATCH, &arguments);
            assert_eq!(verdict(&message), "no_change");
            assert!(message["result"]["structuredContent"].get("confirmation").is_none());
            let arguments = rig.patch(&json!({"scope": "master"}), &title);
            let message = rig.call(PATCH, &arguments);
            assert!(message["result"]["structuredContent"].get("confirmation").is_none());
            rig.restore();
            let arguments = rig.patch(&json!({"scope": "entire-set"}), &title);
            let message = rig.call(PATCH, &arguments);
            if spares_series {
                assert_eq!(verdict(&message), "success");
                assert_eq!(
                    message["result"]["structuredContent"]["confirmation"],
                    "skipped_by_policy"
                );
            } else if revision == MODERN {
                assert_eq!(message["error"]["code"], -32021);
                assert!(rig.is_untouched());
            } else {
                assert_eq!(verdict(&message), "unsupported_capability");
                assert!(rig.is_untouched());
            }
            rig.restore();
            let arguments = rig.delete();
            // What is not asked does not listen to answers.
            let message = rig.again(DELETE, &arguments, "nonsense", json!({"x": 1}));
            assert_eq!(verdict(&message), "success");
            let result = &message["result"]["structuredContent"];
            assert_eq!(result["confirmation"], "skipped_by_policy");
            assert_eq!(result["deletionReceipt"]["entityUid"], "daily");
            assert!(!rig.file().exists());
        }
    }
}

const TWO_STEP: [(&str, &str); 1] = [("CALDAV_CONFIRMATION_FALLBACK", "two_step")];

/// The token that a call is answered with.
fn token(message: &Value) -> String {
    assert_eq!(verdict(message), "confirmation_required");
    let error = &message["result"]["structuredContent"];
    assert_eq!(error["category"], "confirmation");
    let confirmation = error["confirmation"].as_object().unwrap();
    assert_eq!(
        confirmation.keys().collect::<Vec<_>>(),
        ["expiresAt", "review", "token"]
    );
    assert!(confirmation["expiresAt"].as_str().unwrap().ends_with('Z'));
    assert!(confirmation["review"].as_str().unwrap().contains("\nUID: \"daily\"\n"));
    confirmation["token"].as_str().unwrap().to_owned()
}

#[test]
fn two_steps_stand_for_a_form_where_there_are_none() {
    for revision in SILENT.into_iter().chain(CLASSIC).chain([MODERN]) {
        let mut rig = Rig::new(revision, json!({}), &TWO_STEP);
        let arguments = rig.delete();
        let token = token(&rig.call(DELETE, &arguments));
        assert!(rig.is_untouched());
        let with = |arguments: &Value, token: &str| {
            let mut arguments = arguments.clone();
            arguments["confirmationToken"] = json!(token);
            arguments
        };
        let mut other = arguments.clone();
        other["revision"]["entityTag"] = json!("\"other\"");
        for arguments in [with(&other, &token), with(&arguments, "nonsense"), with(&arguments, "")] {
            assert_eq!(
                verdict(&rig.call(DELETE, &arguments)),
                "confirmation_mismatch",
                "{revision}"
            );
        }
        assert!(rig.is_untouched());
        let confirmed = with(&arguments, &token);
        assert_eq!(verdict(&rig.call(DELETE, &confirmed)), "success");
        rig.restore();
        assert_eq!(verdict(&rig.call(DELETE, &confirmed)), "confirmation_mismatch");
        assert!(rig.is_untouched());
    }
}

#[test]
fn two_steps_are_not_for_clients_with_forms() {
    // A state without an answer would be a way around the form.
    let mut rig = Rig::new(MODERN, forms(), &TWO_STEP);
    let arguments = rig.delete();
    let Way::Again { state, .. } = rig.ask(DELETE, &arguments).way else {
        unreachable!("a modern client");
    };
    let mut confirmed = arguments.clone();
    confirmed["confirmationToken"] = json!(state);
    rig.call(DELETE, &confirmed);
    assert!(rig.is_untouched());
    // Nor for this client when it says for once that it has none.
    rig.capabilities = json!({});
    assert_eq!(verdict(&rig.call(DELETE, &confirmed)), "confirmation_mismatch");
    assert!(rig.is_untouched());
    // And a token is no state.
    let token = token(&rig.call(DELETE, &arguments));
    rig.capabilities = forms();
    let message = rig.again(DELETE, &arguments, &token, json!({"confirm_delete": yes()}));
    assert_eq!(verdict(&message), "confirmation_mismatch");
    assert!(rig.is_untouched());
    for revision in CLASSIC {
        let mut rig = Rig::new(revision, forms(), &TWO_STEP);
        let mut arguments = rig.delete();
        arguments["confirmationToken"] = json!("nonsense");
        // They see the form whatever they send.
        rig.ask(DELETE, &arguments);
        assert!(rig.is_untouched());
    }
    // Without the fallback the member is unknown.
    let mut rig = Rig::new("2025-11-25", json!({}), &[]);
    let mut arguments = rig.delete();
    arguments["confirmationToken"] = json!("nonsense");
    let message = rig.call(DELETE, &arguments);
    assert_eq!(message["result"]["structuredContent"]["code"], "invalid_input");
}

#[test]
fn who_waits_for_a_person_holds_up_nobody() {
    let mut rig = Rig::new("2025-11-25", forms(), &[]);
    let arguments = rig.delete();
    // More than there are places at work, and than there are changes at a time.
    let mut waiting: Vec<_> = (0..6).map(|_| rig.ask(DELETE, &arguments)).collect();
    let title = json!({"scalars": [{"field": "summary", "operation": "set", "value": "New"}]});
    let patch = rig.patch(&json!({"scope": "master"}), &title);
    assert_eq!(verdict(&rig.call(PATCH, &patch)), "success");
    rig.restore();
    let last = waiting.pop().unwrap();
    assert_eq!(verdict(&rig.say(DELETE, &arguments, last, yes())), "success");
    // One is taken back: the form is, too, and the call has no answer.
    let Way::Meanwhile { call, id } = waiting.remove(0).way else {
        unreachable!("a classic client");
    };
    let cancel = json!({"requestId": call});
    rig.server
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel}).to_string());
    let message = rig.server.receive();
    assert_eq!(message["method"], "notifications/cancelled", "{message}");
    assert_eq!(message["params"]["requestId"], id);
    rig.restore();
    rig.server
        .send(json!({"jsonrpc": "2.0", "id": id, "result": yes()}).to_string());
    assert_eq!(rig.delete(), arguments);
    assert!(rig.is_untouched());
    // Whoever leaves has not agreed.
    let Rig { server, folder, .. } = rig;
    let (_, status) = server.close();
    assert_eq!(status.code(), Some(0));
    assert_eq!(fs::read(folder.0.join("work/daily.ics")).unwrap(), DAILY.as_bytes());
}
