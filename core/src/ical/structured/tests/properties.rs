use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use super::super::table::{ENTITY, Field, Kind, Named, NamedKind, Shape, Type};
use super::*;
use crate::ical::document::Parameter;
use crate::ical::encode::LineEnd;

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,12}", "[a-zA-Z\\\\;,:\"^\n\t äß✓]{0,100}"]
}

fn uri() -> impl Strategy<Value = String> {
    prop_oneof![
        "mailto:[a-z]{1,8}@example[.]com",
        "https://example[.]com/[a-z;,?=&%2A/.]{0,20}[a-z]"
    ]
    .prop_filter("percent signs begin escapes", |uri| {
        crate::ical::value::uri(uri.as_bytes()).is_ok()
    })
}

fn token(registered: &'static [&'static str]) -> impl Strategy<Value = String> {
    let registered = prop::sample::select(registered).prop_map(str::to_owned);
    prop_oneof![registered, "X-[A-Z0-9-]{1,6}"]
}

fn parameters(held: &'static Type) -> impl Strategy<Value = Vec<Parameter>> {
    let names = move |name: &String| !held.named.iter().any(|named| named.name == name) && name != "VALUE";
    let name = "[A-Z]{1,6}|X-[A-Z-]{1,8}".prop_filter("no name of a member", names);
    btree_map(name, vec(text(), 1..3), 0..3).prop_map(|all| {
        all.into_iter()
            .map(|(name, values)| Parameter { name, values })
            .collect()
    })
}

fn named(named: &'static Named) -> BoxedStrategy<Option<(&'static str, Vec<String>)>> {
    let one = match named.kind {
        NamedKind::Text => text().boxed(),
        NamedKind::Token(tokens) => token(tokens).boxed(),
        NamedKind::Boolean => prop::sample::select(&["TRUE", "FALSE"][..])
            .prop_map(str::to_owned)
            .boxed(),
        NamedKind::Uri | NamedKind::Uris => uri().boxed(),
    };
    let most = if named.kind == NamedKind::Uris { 3 } else { 1 };
    option::of(vec(one, 1..=most).prop_map(|values| (named.name, values))).boxed()
}

fn content(held: &'static Type) -> BoxedStrategy<Content> {
    let time = ("20[0-9]{2}", 1..=12_i8, 1..=28_i8, 0..24_i8).prop_map(|(year, month, day, hour)| {
        jiff::civil::date(year.parse().expect("a year"), month, day).at(hour, 5, 7, 0)
    });
    match held.kind {
        Kind::Text => text().prop_map(Content::Text).boxed(),
        Kind::Each | Kind::Name => text()
            .prop_filter("something", |it| !it.is_empty())
            .prop_map(Content::Text)
            .boxed(),
        Kind::List => vec(text(), 1..4).prop_map(Content::List).boxed(),
        Kind::Uri => uri().prop_map(Content::Text).boxed(),
        Kind::Token(tokens) => token(tokens).prop_map(Content::Text).boxed(),
        Kind::Integer(least, most) => (least..=most).prop_map(Content::Integer).boxed(),
        Kind::Geo => (-90.0..=90.0, -180.0..=180.0)
            .prop_map(|(latitude, longitude)| Content::Geo(Geo { latitude, longitude }))
            .boxed(),
        Kind::Utc => time.prop_map(Content::Utc).boxed(),
        Kind::Duration | Kind::Trigger => "PT[1-9]M|P[1-9]W|P[1-9]D".prop_map(Content::Text).boxed(),
        Kind::RequestStatus => ("[1-5][.][0-9]", text(), option::of(text()))
            .prop_map(|(code, description, data)| Content::RequestStatus {
                code,
                description,
                data,
            })
            .boxed(),
    }
}

fn property(held: &'static Type) -> BoxedStrategy<Element> {
    let all: Vec<_> = held.named.iter().map(named).collect();
    (content(held), all, parameters(held))
        .prop_map(|(value, named, parameters)| {
            let named = named.into_iter().flatten().collect();
            Element::Property(Entry {
                value,
                named,
                parameters,
            })
        })
        .boxed()
}

fn members(fields: &'static [Field]) -> BoxedStrategy<Members> {
    let all: Vec<_> = fields
        .iter()
        .map(|field| {
            let element = match field.shape {
                Shape::Property(held) => property(held),
                Shape::Component(fields) => members(fields).prop_map(Element::Component).boxed(),
            };
            let range = match (field.required, field.many) {
                (true, _) => 1..=1,
                (false, false) => 0..=1,
                (false, true) if matches!(field.shape, Shape::Property(_)) => 0..=2,
                (false, true) => 0..=1,
            };
            vec(element, range).prop_map(|elements| (field.member, elements))
        })
        .collect();
    all.prop_map(|all| all.into_iter().filter(|(_, elements)| !elements.is_empty()).collect())
        .boxed()
}

fn stored(data: &StructuredData) -> Document {
    let (lines, components) = data.write().expect("it can be written");
    let mut event = NewComponent::new("VEVENT").expect("a token");
    (event.lines, event.components) = (lines, components);
    let mut calendar = NewComponent::new("VCALENDAR").expect("a token");
    calendar.components.push(event);
    let mut octets = Vec::new();
    calendar.write(LineEnd::CrLf, &mut octets);
    Document::parse(octets.into()).expect("small")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_again(members in members(ENTITY)) {
        let data = StructuredData { members };
        let document = stored(&data);
        let mut remarks = Default::default();
        let again = read(component(&document), &mut { MAX_ELEMENTS }, &mut remarks).unwrap_or_default();
        prop_assert_eq!(&again, &data);
        prop_assert!(remarks.is_empty(), "{:?}", remarks);
        for field in ENTITY {
            let keys = |data: &StructuredData| -> Vec<_> { data.elements(field.member).iter().map(|it| key(it, field)).collect() };
            prop_assert_eq!(keys(&again), keys(&data));
        }
    }

    /// What is shown, sent back, means the same.
    #[test]
    fn what_is_shown_can_be_sent(members in members(ENTITY)) {
        let data = StructuredData { members };
        let mut sent = json!(data);
        as_input(&mut sent);
        let read = StructuredData::from_json(&sent, crate::ical::entity::Kind::Todo, "/x");
        let fields = ENTITY.iter().map(|field| (field, data.elements(field.member)));
        // Alarms have rules about what belongs together.
        let violations = read.as_ref().err().map_or(&[][..], Vec::as_slice);
        prop_assert!(violations.iter().all(|it| it.pointer.starts_with("/x/alarms/")), "{violations:?}");
        if let Ok(read) = read {
            for (field, elements) in fields {
                let keys: Vec<_> = elements.iter().map(|it| key(it, field)).collect();
                let again: Vec<_> = read.elements(field.member).iter().map(|it| key(it, field)).collect();
                prop_assert_eq!(again, keys);
            }
        }
    }
}

/// From the shape of results to that of inputs: what an assistant does that sends back what it was shown.
fn as_input(shown: &mut Value) {
    match shown {
        Value::Array(items) => items.iter_mut().for_each(as_input),
        Value::Object(members) => {
            members.remove("schedulable");
            if let Some(value) = members.remove("effectiveValue") {
                *shown = value;
                return as_input(shown);
            }
            if let Some(raw) = members.get("rawValue") {
                *shown = raw.clone();
                return;
            }
            members.values_mut().for_each(as_input);
            for name in ["participantType", "status"] {
                if let Some(Value::String(text)) = members.get(name) {
                    let text = json!({"value": text, "parameters": []});
                    members.insert(name.to_owned(), text);
                }
            }
            if let Some(types) = members.get_mut("componentTypes")
                && types["value"].is_string()
            {
                types["value"] = json!([types["value"]]);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
