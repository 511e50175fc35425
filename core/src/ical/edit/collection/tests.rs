use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ical::document::Document;

const HEAD: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260101T000000Z\r\n";
const TAIL: &str = "X-LAST;A=\"b\":c\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

fn document(lines: &str) -> Document {
    Document::parse(format!("{HEAD}{lines}{TAIL}").into()).expect("small")
}

/// The document after changes of its first entity; `None` if nothing changes.
fn changed<'a>(
    document: &'a Document,
    change: impl FnOnce(&mut Changes<'a>, Component<'a>) -> Result<(), Box<Error>>,
) -> Result<Option<Document>, Box<Error>> {
    let mut changes = Changes::of(document);
    change(&mut changes, document.component(1))?;
    Ok((!changes.is_empty()).then(|| changes.apply().expect("small")))
}

fn applied(document: &Document, patch: &CollectionPatch, pointer: &str) -> Result<Option<Document>, Box<Error>> {
    changed(document, |changes, component| {
        apply(changes, component, patch, Missing::Refused, pointer)
    })
}

/// The lines between head and tail after a patch: `None` if nothing changes.
fn patched(lines: &str, patch: Value) -> Result<Option<String>, Box<Error>> {
    let patch = CollectionPatch::from_json(&patch, Kind::Event, "/p").expect("a patch");
    let done = applied(&document(lines), &patch, "/p")?;
    Ok(done.map(|done| between_head_and_tail(&done)))
}

fn between_head_and_tail(document: &Document) -> String {
    let text = String::from_utf8(document.bytes().to_vec()).expect("UTF-8");
    let end = "END:VEVENT\r\nEND:VCALENDAR\r\n";
    let inner = text
        .strip_prefix(HEAD)
        .and_then(|text| text.strip_suffix(end))
        .expect("head and end stay");
    // New properties come after the last one, components after that.
    inner.replacen("X-LAST;A=\"b\":c\r\n", "|", 1)
}

fn replaced(lines: &str, field: &str, values: Value) -> Option<String> {
    patched(
        lines,
        json!({"field": field, "operation": "replaceAll", "values": values}),
    )
    .expect("it can be done")
}

fn refused(lines: &str, patch: Value) -> (Code, Vec<(String, &'static str)>) {
    let error = patched(lines, patch).expect_err("a refusal");
    let violations = error.violations.into_iter().map(|it| (it.pointer, it.code));
    (error.code, violations.collect())
}

fn attendee(address: &str) -> Value {
    json!({"uri": format!("mailto:{address}@example.com"), "parameters": []})
}

const THREE: &str = "ATTENDEE;X-A=1:mailto:a@example.com\r\nattendee;CN=B;ROLE=req-participant:MAILTO:B@example.com\r\nSUMMARY:x\r\n\
    ATTENDEE;CUTYPE=INDIVIDUAL:mai\r\n lto:c@example.com\r\n";

#[test]
fn elements_are_added_after_the_others_and_removed_from_where_they_are() {
    let b = json!({"uri": "mailto:b@example.com", "commonName": "B", "parameters": []});
    let add_remove = |add: Value, remove: Value| {
        patched(
            THREE,
            json!({"field": "attendees", "operation": "addRemove", "add": add, "remove": remove}),
        )
        .expect("it can be done")
    };
    let mut without_b: Vec<_> = THREE.split_inclusive('\n').collect();
    without_b.remove(1);
    let without_b = without_b.concat();
    assert_eq!(add_remove(json!([]), json!([b])), Some(format!("{without_b}|")));
    let d = "ATTENDEE:mailto:d@example.com\r\n";
    assert_eq!(
        add_remove(json!([attendee("d")]), json!([b])),
        Some(format!("{without_b}|{d}"))
    );
    assert_eq!(
        add_remove(json!([attendee("d"), attendee("d")]), json!([])),
        Some(format!("{THREE}|{d}"))
    );
    // What is there already, or comes back, stays as it is.
    assert_eq!(add_remove(json!([attendee("C"), b]), json!([])), None);
    assert_eq!(add_remove(json!([b]), json!([b])), None);
    let remove = |element: Value| json!({"field": "attendees", "operation": "addRemove", "remove": [element]});
    for missing in [attendee("d"), attendee("b"), attendee("a")] {
        assert_eq!(
            refused(THREE, remove(missing)),
            (Code::NotFound, vec![("/p/remove/0".to_owned(), "value_not_allowed")])
        );
    }
    let twice = json!({"field": "attendees", "operation": "addRemove", "remove": [attendee("c"), attendee("C")]});
    assert_eq!(
        refused(THREE, twice),
        (Code::Ambiguous, vec![("/p/remove/1".to_owned(), "value_not_allowed")])
    );
    let two = "COMMENT:x\r\nCOMMENT:x\r\n";
    let remove = json!({"field": "comments", "operation": "addRemove", "remove": [{"value": "x", "parameters": []}]});
    assert_eq!(
        refused(two, remove),
        (Code::Ambiguous, vec![("/p/remove/0".to_owned(), "value_not_allowed")])
    );
    let add =
        json!({"field": "attendees", "operation": "addRemove", "add": [attendee("d"), {"uri": "d", "parameters": []}]});
    assert_eq!(
        refused(THREE, add),
        (Code::InvalidInput, vec![("/p/add/1/uri".to_owned(), "format_mismatch")])
    );
}

#[test]
fn what_replaces_keeps_the_octets_of_what_stays() {
    let [a, b, summary, c1, c2]: [&str; 5] = THREE
        .split_inclusive('\n')
        .collect::<Vec<_>>()
        .try_into()
        .expect("five lines");
    let c = format!("{c1}{c2}");
    let x = json!([{"name": "X-A", "values": ["1"]}]);
    let first = json!({"uri": "mailto:a@example.com", "parameters": x});
    let second =
        json!({"uri": "mailto:b@example.com", "commonName": "B", "role": "required", "rsvp": false, "parameters": []});
    let third = attendee("c");
    let new = |name: &str| format!("ATTENDEE:mailto:{name}@example.com\r\n");
    for (values, want) in [
        (json!([first, second, third]), None),
        (json!([]), Some(format!("{summary}|"))),
        (json!([first, third]), Some(format!("{a}{summary}{c}|"))),
        (json!([second, third]), Some(format!("{b}{summary}{c}|"))),
        (json!([first, second]), Some(format!("{a}{b}{summary}|"))),
        // Others take the places of what is gone.
        (
            json!([first, attendee("d"), third]),
            Some(format!("{a}{}{summary}{c}|", new("d"))),
        ),
        (json!([second, first, third]), Some(format!("{b}{a}{summary}{c}|"))),
        (json!([third, second, first]), Some(format!("{c}{b}{summary}{a}|"))),
        // And come after the one before them.
        (
            json!([first, second, third, attendee("d")]),
            Some(format!("{a}{b}{summary}{c}{}|", new("d"))),
        ),
        (
            json!([first, attendee("d"), second, third]),
            Some(format!("{a}{}{b}{summary}{c}|", new("d"))),
        ),
        (
            json!([attendee("d"), first, second, third]),
            Some(format!("{}{a}{b}{summary}{c}|", new("d"))),
        ),
        (json!([attendee("d")]), Some(format!("{}{summary}|", new("d")))),
    ] {
        assert_eq!(replaced(THREE, "attendees", values.clone()), want, "{values}");
    }
    assert_eq!(
        replaced("", "attendees", json!([attendee("d")])),
        Some(format!("|{}", new("d")))
    );
    assert_eq!(replaced("", "attendees", json!([])), None);
    let odd = json!({"field": "attendees", "operation": "replaceAll", "values": [first, {"uri": "mailto:d@example.com", "role": "boss", "parameters": []}]});
    assert_eq!(
        refused(THREE, odd),
        (
            Code::InvalidInput,
            vec![("/p/values/1/role".to_owned(), "value_not_allowed")]
        )
    );
    // What is stored may be odd, and stay.
    let boss = "ATTENDEE;ROLE=BOSS:mailto:a@example.com\r\nATTENDEE:nobody\r\n";
    let kept = json!([{"uri": "mailto:a@example.com", "role": "boss", "parameters": []}, attendee("d")]);
    let (one, other) = boss.split_at(boss.find("ATTENDEE:no").expect("the second"));
    assert_eq!(
        replaced(boss, "attendees", kept),
        Some(format!("{one}{}{other}|", new("d")))
    );
    assert_eq!(replaced(boss, "attendees", json!([])), Some(format!("{other}|")));
}

#[test]
fn categories_change_within_their_lines() {
    let lines = "CATEGORIES;X-A=1:Home,a\\,b,,Work\r\nSUMMARY:x\r\ncategories:Other\r\n";
    let edit = |add: Value, remove: Value| {
        patched(
            lines,
            json!({"field": "categories", "operation": "addRemove", "add": add, "remove": remove}),
        )
    };
    let done = |add: Value, remove: Value| edit(add, remove).expect("it can be done");
    let rest = "SUMMARY:x\r\ncategories:Other\r\n|";
    assert_eq!(
        done(json!([]), json!(["Home"])),
        Some(format!("CATEGORIES;X-A=1:a\\,b,Work\r\n{rest}"))
    );
    assert_eq!(done(json!([]), json!(["Work", "Home", "a,b"])), Some(rest.to_owned()));
    assert_eq!(
        done(json!([]), json!(["Other"])),
        Some("CATEGORIES;X-A=1:Home,a\\,b,,Work\r\nSUMMARY:x\r\n|".to_owned())
    );
    assert_eq!(
        done(json!(["c;d", "E"]), json!([])),
        Some(format!("{lines}|CATEGORIES:c\\;d,E\r\n"))
    );
    assert_eq!(done(json!(["Home"]), json!([])), None);
    assert_eq!(
        edit(json!([]), json!(["home"])).expect_err("in another case").code,
        Code::NotFound
    );
    for (values, want) in [
        (json!(["Home", "a,b", "Work", "Other"]), None),
        (
            json!(["Home", "a,b", "Other"]),
            Some(format!("CATEGORIES;X-A=1:Home,a\\,b\r\n{rest}")),
        ),
        (
            json!(["Home", "a,b", "Work", "New"]),
            Some("CATEGORIES;X-A=1:Home,a\\,b,,Work\r\nSUMMARY:x\r\ncategories:New\r\n|".to_owned()),
        ),
        (
            json!(["New"]),
            Some("CATEGORIES;X-A=1:New\r\nSUMMARY:x\r\n|".to_owned()),
        ),
        (json!([]), Some("SUMMARY:x\r\n|".to_owned())),
    ] {
        assert_eq!(replaced(lines, "categories", values.clone()), want, "{values}");
    }
    assert_eq!(
        replaced("", "categories", json!(["a", "b,c"])),
        Some("|CATEGORIES:a,b\\,c\r\n".to_owned())
    );
    let bad = json!({"field": "categories", "operation": "addRemove", "add": ["a\u{1}", ""]});
    assert_eq!(
        refused("", bad),
        (
            Code::InvalidInput,
            vec![
                ("/p/add/0".to_owned(), "format_mismatch"),
                ("/p/add/1".to_owned(), "length_out_of_range")
            ]
        )
    );
}

#[test]
fn resources_keep_the_parameters_of_their_line() {
    let lines = "RESOURCES;LANGUAGE=fr:Nettoyeur,Vélo\r\nRESOURCES:Beamer\r\n";
    let french = |value: &str| json!({"value": value, "parameters": [{"name": "LANGUAGE", "values": ["fr"]}]});
    let plain = |value: &str| json!({"value": value, "parameters": []});
    let remove = |element: Value| {
        patched(
            lines,
            json!({"field": "resources", "operation": "addRemove", "remove": [element]}),
        )
    };
    assert_eq!(
        remove(french("Vélo")).expect("there"),
        Some("RESOURCES;LANGUAGE=fr:Nettoyeur\r\nRESOURCES:Beamer\r\n|".to_owned())
    );
    assert_eq!(remove(plain("Vélo")).expect_err("in French").code, Code::NotFound);
    assert_eq!(
        replaced(
            lines,
            "resources",
            json!([french("Vélo"), plain("Beamer"), plain("Tisch")])
        ),
        Some("RESOURCES;LANGUAGE=fr:Vélo\r\nRESOURCES:Beamer,Tisch\r\n|".to_owned())
    );
}

#[test]
fn alarms_are_whole_components() {
    let alarm = |trigger: &str, more: &str| {
        format!("BEGIN:VALARM\r\nTRIGGER:{trigger}\r\nACTION:DISPLAY\r\nDESCRIPTION:x\r\n{more}END:VALARM\r\n")
    };
    let sent = |trigger: &str| {
        let plain = |value: &str| json!({"value": value, "parameters": []});
        json!({"action": plain("display"), "trigger": plain(trigger), "description": plain("x")})
    };
    let (five, ten) = (alarm("-PT5M", "X-WR-ALARMUID:1\r\n"), alarm("-PT10M", ""));
    let lines = format!("{five}{ten}");
    let written = |trigger: &str| {
        format!("BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:{trigger}\r\nDESCRIPTION:x\r\nEND:VALARM\r\n")
    };
    let with = |add: Value, remove: Value| {
        patched(
            &lines,
            json!({"field": "alarms", "operation": "addRemove", "add": add, "remove": remove}),
        )
        .expect("it can be done")
    };
    // Lengths are compared, not spellings.
    assert_eq!(
        with(json!([sent("-P1D")]), json!([sent("-PT300S")])),
        Some(format!("{ten}|{}", written("-P1D")))
    );
    assert_eq!(
        replaced(&lines, "alarms", json!([sent("-PT10M"), sent("-PT5M")])),
        Some(format!("{ten}{five}|"))
    );
    assert_eq!(
        replaced(&lines, "alarms", json!([sent("-PT5M"), sent("-PT1H")])),
        Some(format!("{five}{}|", written("-PT1H")))
    );
    assert_eq!(replaced(&lines, "alarms", json!([])), Some("|".to_owned()));
    assert_eq!(
        replaced("", "alarms", json!([sent("PT0S")])),
        Some(format!("|{}", written("PT0S")))
    );
    let location = json!({"uid": "v", "parameters": []});
    assert_eq!(
        replaced(&five, "locationUris", json!([location])),
        Some(format!("{five}|BEGIN:VLOCATION\r\nUID:v\r\nEND:VLOCATION\r\n"))
    );
}

/// Otherwise what was not shown would be taken away.
#[test]
fn what_is_not_read_whole_is_not_changed() {
    let lines = |count: usize| "COMMENT;X-A=1:x\r\n".repeat(count);
    let clear = || json!({"field": "comments", "operation": "replaceAll", "values": []});
    assert_eq!(patched(&lines(4_000), clear()).expect("few"), Some("|".to_owned()));
    assert_eq!(refused(&lines(4_001), clear()), (Code::LimitExhausted, vec![]));
}

#[test]
fn what_is_derived_cannot_be_edited() {
    let lines = "CONTACT;DERIVED=TRUE:a\r\nCONTACT;DERIVED=FALSE:b\r\n";
    let contact =
        |value: &str, derived: &str| json!({"value": value, "parameters": [{"name": "DERIVED", "values": [derived]}]});
    let (a, b) = (contact("a", "TRUE"), contact("b", "FALSE"));
    let edit = |remove: &Value| json!({"field": "contacts", "operation": "addRemove", "remove": [remove]});
    assert_eq!(
        refused(lines, edit(&a)),
        (
            Code::InvalidInput,
            vec![("/p/remove/0".to_owned(), "value_not_allowed")]
        )
    );
    assert_eq!(
        patched(lines, edit(&b)).expect("it may"),
        Some("CONTACT;DERIVED=TRUE:a\r\n|".to_owned())
    );
    let all = |values: Value| json!({"field": "contacts", "operation": "replaceAll", "values": values});
    assert_eq!(
        refused(lines, all(json!([b]))),
        (Code::InvalidInput, vec![("/p/values".to_owned(), "value_not_allowed")])
    );
    assert_eq!(
        patched(lines, all(json!([a]))).expect("it may"),
        Some("CONTACT;DERIVED=TRUE:a\r\n|".to_owned())
    );
}

#[test]
fn an_organizer_is_replaced_as_a_whole() {
    let set = |lines: &str, organizer: Option<Value>| {
        let organizer = organizer.map(|it| NamedUri::from_json(&it, "/p/value").expect("an organizer"));
        let before = document(lines);
        let done = changed(&before, |changes, component| {
            set_organizer(changes, component, organizer.as_ref(), "/p/value")
        })?;
        Ok::<_, Box<Error>>(done.map(|done| between_head_and_tail(&done)))
    };
    let ann = |label: &str| json!({"uri": "mailto:ann@example.com", "label": label, "parameters": []});
    let stored = "ORGANIZER;X-A=1;CN=Bob:mailto:bob@example.com\r\nSUMMARY:x\r\n";
    let ok = |done: Result<Option<String>, Box<Error>>| done.expect("it can be done");
    assert_eq!(
        ok(set(stored, Some(ann("Ann")))),
        Some("ORGANIZER;CN=Ann:mailto:ann@example.com\r\nSUMMARY:x\r\n|".to_owned())
    );
    assert_eq!(ok(set(stored, None)), Some("SUMMARY:x\r\n|".to_owned()));
    assert_eq!(ok(set("", None)), None);
    assert_eq!(
        ok(set("", Some(ann("Ann")))),
        Some("|ORGANIZER;CN=Ann:mailto:ann@example.com\r\n".to_owned())
    );
    assert_eq!(
        ok(set("organizer;cn=Ann:MAILTO:ANN@example.com\r\n", Some(ann("Ann")))),
        None
    );
    let two = "ORGANIZER;CN=Ann:mailto:ann@example.com\r\nORGANIZER:x\r\n";
    assert_eq!(ok(set(two, None)), Some("|".to_owned()));
    let derived = set("ORGANIZER;DERIVED=TRUE:mailto:bob@example.com\r\n", None).expect_err("derived");
    assert_eq!(derived.code, Code::InvalidInput);
    let wrong = NamedUri::from_json(&json!({"uri": "x", "label": "a\u{0}"}), "/p").expect_err("wrong");
    let wrong: Vec<_> = wrong.iter().map(|it| (&*it.pointer, it.code)).collect();
    assert_eq!(
        wrong,
        [
            ("/p/parameters", "required_member"),
            ("/p/uri", "format_mismatch"),
            ("/p/label", "format_mismatch")
        ]
    );
}

#[test]
fn a_patch_of_another_shape_is_refused() {
    let wrong = |value: Value| {
        let found = CollectionPatch::from_json(&value, Kind::Event, "/p")
            .err()
            .unwrap_or_default();
        found.into_iter().map(|it| (it.pointer, it.code)).collect::<Vec<_>>()
    };
    let at = |pointer: &str, code: &'static str| vec![(pointer.to_owned(), code)];
    assert_eq!(wrong(json!(5)), at("/p", "invalid_type"));
    let missing = [at("/p/field", "required_member"), at("/p/operation", "required_member")].concat();
    assert_eq!(wrong(json!({})), missing);
    assert_eq!(
        wrong(json!({"field": "organizer", "operation": "replaceAll", "values": []})),
        at("/p/field", "value_not_allowed")
    );
    assert_eq!(
        wrong(json!({"field": "contacts", "operation": "replace", "values": []})),
        at("/p/operation", "value_not_allowed")
    );
    assert_eq!(
        wrong(json!({"field": "contacts", "operation": "replaceAll"})),
        at("/p/values", "required_member")
    );
    assert_eq!(
        wrong(json!({"field": "contacts", "operation": "replaceAll", "values": [], "add": []})),
        at("/p/add", "unknown_member")
    );
    assert_eq!(
        wrong(json!({"field": "contacts", "operation": "addRemove"})),
        at("/p", "item_count_out_of_range")
    );
    assert_eq!(
        wrong(json!({"field": "contacts", "operation": "addRemove", "add": [], "remove": []})),
        at("/p", "item_count_out_of_range")
    );
    assert_eq!(
        wrong(json!({"field": "contacts", "operation": "addRemove", "add": "x"})),
        [at("/p/add", "invalid_type"), at("/p", "item_count_out_of_range")].concat()
    );
    assert_eq!(
        wrong(json!({"field": "contacts", "operation": "addRemove", "add": ["x"]})),
        at("/p/add/0", "invalid_type")
    );
    assert_eq!(
        wrong(json!({"field": "categories", "operation": "addRemove", "remove": [5]})),
        at("/p/remove/0", "invalid_type")
    );
    assert_eq!(
        wrong(json!({"field": "contacts", "operation": "replaceAll", "values": [], "more": 1})),
        at("/p/more", "unknown_member")
    );
}

/// Stored lines with their values, of which some are the same.
fn lists() -> impl Strategy<Value = Vec<Vec<char>>> {
    prop::collection::vec(
        prop::collection::vec(prop::sample::select(vec!['a', 'b', 'c', 'd']), 1..4),
        0..5,
    )
}

fn stored_values(document: &Document, field: &str) -> Vec<String> {
    let field = collection(field).expect("a collection");
    let units = units(document.component(1), field).expect("few");
    let elements = units.iter().flat_map(|unit| &unit.elements);
    elements
        .map(|element| element.text().expect("a text").to_owned())
        .collect()
}

proptest! {
    /// Whatever is stored, `replaceAll` makes it what was sent, and leaves every other line where it is.
    #[test]
    fn what_was_sent_is_what_is_stored(
        lines in lists(),
        values in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), 0..8),
        list in any::<bool>(),
    ) {
        let (field, name) = if list { ("categories", "CATEGORIES") } else { ("comments", "COMMENT") };
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            let line: Vec<_> = line.iter().map(char::to_string).collect();
            let value = if list { line.join(",") } else { line[0].clone() };
            text.push_str(&format!("{name};X-N={at}:{value}\r\nX-{at}:\r\n"));
        }
        let before = document(&text);
        let sent = if list {
            json!(values)
        } else {
            let old = stored_values(&before, field);
            // Parameters belong to the meaning of all but categories.
            let numbered = |(at, value): (usize, &&str)| match old.iter().position(|old| old == value).filter(|_| at % 2 == 0) {
                Some(number) => json!({"value": value, "parameters": [{"name": "X-N", "values": [number.to_string()]}]}),
                None => json!({"value": value, "parameters": []}),
            };
            values.iter().enumerate().map(numbered).collect()
        };
        let patch = json!({"field": field, "operation": "replaceAll", "values": sent});
        let patch = CollectionPatch::from_json(&patch, Kind::Event, "").expect("a patch");
        let after = applied(&before, &patch, "").expect("it can be done");
        let same = after.is_none();
        let after = after.unwrap_or_else(|| before.clone());
        prop_assert_eq!(stored_values(&after, field), values.clone());
        prop_assert!(applied(&after, &patch, "").expect("again").is_none());
        if list {
            prop_assert_eq!(same, stored_values(&before, field) == values);
        }
        let others = |document: &Document| -> Vec<Vec<u8>> {
            let all = document.component(1).properties().filter(|property| !property.is(name));
            all.map(|property| property.slice().to_vec()).collect()
        };
        prop_assert_eq!(others(&before), others(&after));
    }
}
