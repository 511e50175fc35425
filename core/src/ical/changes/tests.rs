use proptest::prelude::*;

use super::*;
use crate::ical::value::text;

fn parse(octets: &[u8]) -> Document {
    Document::parse(octets.to_vec().into()).expect("a document")
}

fn line(text: &str) -> ContentLine {
    let (name, value) = text.split_once(':').expect("a line");
    ContentLine::new(name, &[], value).expect("a line")
}

fn root(document: &Document) -> Component<'_> {
    document.roots().next().expect("a component")
}

#[test]
fn new_lines_stand_before_inner_components_and_end_as_their_component_does() {
    let document = parse(b"BEGIN:A\r\nX:1\r\nBEGIN:B\nY:2\nEND:B\nZ:3\r\nEND:A\r\n");
    let inner = root(&document).children().next().expect("B");
    let mut changes = Changes::of(&document);
    changes.add(root(&document), &[line("N:1"), line("N:2")]);
    changes.add(inner, &[line("N:3")]);
    changes.add_components(root(&document), &[NewComponent::new("C").expect("a component")]);
    assert_eq!(
        &changes.octets()[..],
        b"BEGIN:A\r\nX:1\r\nN:1\r\nN:2\r\nBEGIN:B\nY:2\nN:3\nEND:B\nZ:3\r\nBEGIN:C\r\nEND:C\r\nEND:A\r\n"
    );
}

#[test]
fn values_change_between_colon_and_line_end() {
    let document = parse(b"BEGIN:A\nsummary;X=\"a:b\";\n LANGUAGE=de:old\n  one\nY:2\nEND:A");
    let property = root(&document).first("SUMMARY").expect("a property");
    let mut changes = Changes::of(&document);
    changes.set_value(property, &"n".repeat(80)).expect("a value");
    let octets = changes.octets();
    let want = format!(
        "BEGIN:A\nsummary;X=\"a:b\";\n LANGUAGE=de:{}\n {}\nY:2\nEND:A",
        "n".repeat(62),
        "n".repeat(18)
    );
    assert_eq!(String::from_utf8_lossy(&octets), want);
}

#[test]
fn parameters_that_are_not_replaced_stay_as_they_are() {
    let document = parse(b"BEGIN:A\r\nDtStart;X-a=\"q\";tzid=\"Old\";Y=^n:20260101T000000\r\nEND:A\r\n");
    let property = root(&document).first("DTSTART").expect("a property");
    let zone = [super::super::document::Parameter {
        name: "TZID".to_owned(),
        values: vec!["Europe/Berlin".to_owned()],
    }];
    let new = ContentLine::like(property, &["TZID", "VALUE"], &zone, "20260102T000000").expect("a line");
    assert_eq!(
        new.octets(),
        b"DtStart;X-a=\"q\";Y=^n;TZID=Europe/Berlin:20260102T000000"
    );
    let mut changes = Changes::of(&document);
    changes.replace(property, &[]);
    assert_eq!(&changes.octets()[..], b"BEGIN:A\r\nEND:A\r\n");
}

#[test]
fn a_line_with_an_open_quote_is_not_written_into() {
    let document = parse(b"BEGIN:A\r\nX;P=\"a:b\r\nEND:A\r\n");
    let property = root(&document).first("X").expect("a property");
    let value = Changes::of(&document).set_value(property, "c\"d");
    assert_eq!(value, Err(Unwritable::Parameter));
}

#[test]
fn a_component_that_nothing_closes_gets_lines_of_its_own() {
    let document = parse(b"BEGIN:A\nX:1");
    let mut changes = Changes::of(&document);
    changes.add(root(&document), &[line("N:1")]);
    assert_eq!(&changes.octets()[..], b"BEGIN:A\nX:1\nN:1\n");
}

proptest! {
    /// Whatever the octets: a new value is read back, and nothing else is another octet.
    #[test]
    fn only_the_value_changes(
        octets in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b':'), Just(b'\r'), Just(b';'), Just(b'"'), Just(b' '), any::<u8>()], 0..80),
        value in "[ -~\u{a0}-\u{ffff}]{0,100}",
        lf in any::<bool>(),
    ) {
        let end: &[u8] = if lf { b"\n" } else { b"\r\n" };
        let whole = [b"BEGIN:A", end, &octets, end, b"SUMMARY:old", end, &octets, end, b"END:A", end].concat();
        let document = parse(&whole);
        for property in root(&document).all("SUMMARY") {
            let mut changes = Changes::of(&document);
            changes.set_value(property, &super::super::encode::escape_text(&value)).expect("a value");
            let (range, changed) = (property.value_range(), changes.octets());
            prop_assert_eq!(&changed[..range.start], &whole[..range.start]);
            prop_assert!(changed.ends_with(&whole[range.end..]));
            let read = Document::parse(changed).expect("a document");
            prop_assert_eq!(read.line_count(), document.line_count());
            let same = read.property(property.index());
            prop_assert!(same.is("SUMMARY"));
            prop_assert_eq!(text(same.value()), &value[..]);
        }
    }

    /// Taking out what was added gives the same octets.
    #[test]
    fn added_lines_can_be_taken_out(octets in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b':'), any::<u8>()], 0..60)) {
        let whole = [b"BEGIN:A\r\n", &octets[..], b"\r\nBEGIN:B\nEND:B\nEND:A\r\n"].concat();
        let document = parse(&whole);
        let mut changes = Changes::of(&document);
        changes.add(root(&document), &[line("X-ADDED:1")]);
        let added = changes.apply().expect("a document");
        let property = root(&added).all("X-ADDED").find(|property| *property.value() == b"1"[..]);
        let Some(property) = property else {
            // A line that is left open by a stray BEGIN hides it.
            return Ok(());
        };
        let mut changes = Changes::of(&added);
        changes.replace(property, &[]);
        prop_assert_eq!(&changes.octets()[..], &whole[..]);
    }
}
