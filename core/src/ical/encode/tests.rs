use proptest::prelude::*;

use super::*;
use crate::ical::document::Document;
use crate::ical::value::{text, text_list};

fn parameter(name: &str, values: &[&str]) -> Parameter {
    Parameter {
        name: name.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    }
}

fn written(line: &ContentLine, end: LineEnd) -> Vec<u8> {
    let mut out = Vec::new();
    line.write(end, &mut out);
    out
}

/// The examples of RFC 5545, 3.3.11 and 3.1, and of RFC 6868, 3.2.
#[test]
fn text_and_parameters_are_encoded_as_the_rfcs_show() {
    assert_eq!(
        escape_text("Project XYZ Final Review\nConference Room - 3B\r\nCome Prepared."),
        "Project XYZ Final Review\\nConference Room - 3B\\nCome Prepared."
    );
    assert_eq!(escape_text("a;b,c\\d\re"), "a\\;b\\,c\\\\d\\ne");
    let line = |parameters: &[Parameter], value| ContentLine::new("ATTENDEE", parameters, value).expect("a line");
    let babe = line(
        &[parameter("CN", &["George Herman \"Babe\" Ruth"])],
        "mailto:babe@example.com",
    );
    assert_eq!(
        babe.octets(),
        b"ATTENDEE;CN=George Herman ^'Babe^' Ruth:mailto:babe@example.com"
    );
    let members = line(
        &[
            parameter("MEMBER", &["mailto:a@example.com", "mailto:b@example.com"]),
            parameter("X-A", &["1^2\n3"]),
        ],
        "mailto:c@example.com",
    );
    assert_eq!(
        members.octets(),
        b"ATTENDEE;MEMBER=\"mailto:a@example.com\",\"mailto:b@example.com\";X-A=1^^2^n3:mailto:c@example.com"
    );
}

#[test]
fn what_would_make_a_line_of_its_own_is_refused() {
    for value in [
        "a\nX-INJECTED:1",
        "a\rX-INJECTED:1",
        "a\r\n b",
        "\u{0}",
        "\u{7f}",
        "\u{85}",
    ] {
        assert_eq!(ContentLine::new("URL", &[], value), Err(Unwritable::Value), "{value:?}");
    }
    for name in ["", "A B", "A:B", "A;B", "A\r\nB", "SUMMARY\n", "\u{c4}"] {
        assert_eq!(ContentLine::new(name, &[], "x"), Err(Unwritable::Name), "{name:?}");
        assert_eq!(NewComponent::new(name), Err(Unwritable::Name), "{name:?}");
        let named = [parameter(name, &["x"])];
        assert_eq!(ContentLine::new("X", &named, "x"), Err(Unwritable::Name), "{name:?}");
    }
    for name in ["BEGIN", "end"] {
        assert_eq!(ContentLine::new(name, &[], "VALARM"), Err(Unwritable::Name), "{name:?}");
    }
    for value in ["a\rb", "\u{0}", "\u{b}"] {
        let with = [parameter("CN", &[value])];
        assert_eq!(
            ContentLine::new("X", &with, "x"),
            Err(Unwritable::Parameter),
            "{value:?}"
        );
    }
    assert_eq!(
        ContentLine::new("X", &[parameter("CN", &[])], "x"),
        Err(Unwritable::Parameter)
    );
    for text in ["a\nX-INJECTED:1", "a\r\nX-INJECTED:1", "a\rX"] {
        let line = ContentLine::text("SUMMARY", &[], text).expect("TEXT has line ends");
        assert!(!line.octets().contains(&b'\n') && !line.octets().contains(&b'\r'));
    }
}

#[test]
fn a_line_is_folded_at_75_octets_and_between_characters() {
    let line = ContentLine::text("SUMMARY", &[], &"\u{e4}".repeat(100)).expect("a line");
    let out = written(&line, LineEnd::CrLf);
    let physical: Vec<_> = out.split(|octet| *octet == b'\n').collect();
    assert_eq!(
        physical.iter().map(|line| line.len()).collect::<Vec<_>>(),
        [75, 76, 62, 0],
        "with their CR"
    );
    assert!(physical.iter().all(|line| std::str::from_utf8(line).is_ok()));
    let fits = ContentLine::new("X", &[], &"a".repeat(73)).expect("a line");
    assert_eq!(written(&fits, LineEnd::Lf).len(), 76);
    let over = ContentLine::new("X", &[], &"a".repeat(74)).expect("a line");
    assert_eq!(written(&over, LineEnd::Lf).len(), 79);
}

proptest! {
    /// What is written is read as what was meant, whatever a caller says, and is one content line.
    #[test]
    fn lines_are_read_back(
        value in any::<String>(),
        values in prop::collection::vec(any::<String>(), 1..3),
        lf in any::<bool>(),
    ) {
        let with = Parameter { name: "X-P".to_owned(), values };
        let Ok(line) = ContentLine::text("SUMMARY", std::slice::from_ref(&with), &value) else {
            let control = |text: &str| text.chars().any(char::is_control);
            prop_assert!(control(&value) || with.values.iter().any(|value| control(value)));
            return Ok(());
        };
        let end = if lf { LineEnd::Lf } else { LineEnd::CrLf };
        let out = written(&line, end);
        let physical: Vec<_> = out.split_inclusive(|octet| *octet == b'\n').collect();
        prop_assert!(physical.iter().all(|line| line.len() <= WIDTH + end.octets().len()));
        prop_assert!(std::str::from_utf8(&out).is_ok());
        let document = Document::parse([b"BEGIN:X\n", &out[..], b"END:X\n"].concat().into()).expect("a document");
        prop_assert!(document.faults().is_empty());
        prop_assert_eq!(document.line_count(), 3);
        let component = document.roots().next().expect("a component");
        let property = component.first("SUMMARY").expect("a property");
        let plain = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
        prop_assert_eq!(text(property.value()), plain(&value));
        let read = property.parameters().remove(0);
        let meant: Vec<_> = with.values.iter().map(|value| value.replace("\r\n", "\n")).collect();
        prop_assert_eq!(read.values, meant);
    }

    #[test]
    fn lists_are_read_back(values in prop::collection::vec("[a,;\\\\\n\u{e4}]{0,4}", 1..5)) {
        prop_assert_eq!(text_list(escape_list(&values).into_bytes().into()), values);
    }

    /// Folding changes nothing, whatever the octets and wherever they begin.
    #[test]
    fn folds_are_undone(octets in prop::collection::vec(prop_oneof![Just(0x80_u8), Just(b'a'), any::<u8>()], 0..400), column in 0..100_usize) {
        prop_assume!(!octets.contains(&b'\n') && !octets.contains(&b'\r'));
        let mut out = vec![b'x'; column];
        fold(&octets, column, LineEnd::CrLf, &mut out);
        let physical: Vec<_> = out.split(|octet| *octet == b'\n').collect();
        prop_assert!(physical[1..].iter().all(|line| line.len() <= WIDTH + 1));
        let unfolded = crate::ical::document::unfold(&out);
        prop_assert_eq!(&unfolded[column..], &octets[..]);
    }
}
