use proptest::prelude::*;

use super::*;

fn parse(text: impl AsRef<[u8]>) -> Document {
    Document::parse(Bytes::copy_from_slice(text.as_ref())).expect("small enough")
}

fn kinds(document: &Document) -> Vec<(FaultKind, usize)> {
    document.faults().iter().map(|fault| (fault.kind, fault.line)).collect()
}

/// Reads everything there is, and tells how many properties were met.
fn walk(document: &Document) -> usize {
    let mut open: Vec<Component<'_>> = document.roots().collect();
    let mut met = 0;
    while let Some(component) = open.pop() {
        assert_eq!(document.component(component.index()).name(), component.name());
        assert!(!component.slice().is_empty());
        let (whole, mut at) = (component.range(), component.range().start);
        for child in component.children() {
            assert!(at < child.range().start && child.range().end <= whole.end);
            at = child.range().end - 1;
        }
        open.extend(component.children());
        for property in component.properties() {
            met += 1;
            let range = property.range();
            assert!(component.range().start < range.start && range.end <= component.range().end);
            let inside = |child: Component<'_>| child.range().start < range.end && range.start < child.range().end;
            assert!(!component.children().any(inside));
            let whole = unfold(property.slice());
            assert!(whole.starts_with(&property.name()));
            assert!(
                document
                    .property(property.index())
                    .is(&String::from_utf8_lossy(&property.name()))
                    || !property.name().is_ascii()
            );
            assert!(
                property
                    .parameters()
                    .iter()
                    .all(|parameter| !parameter.values.is_empty())
            );
            if let Some(first) = property.parameters().first() {
                assert_eq!(property.parameter(&first.name).as_ref(), first.values.first());
            }
            assert!(
                whole
                    .windows(property.value().len().max(1))
                    .any(|part| part == &*property.value())
                    || property.value().is_empty()
            );
        }
    }
    met
}

/// Every octet lies in exactly one content line, but for a byte order mark and blank lines.
fn covered(document: &Document) {
    let (bytes, mut at) = (&document.bytes, 0);
    let blank = |from: usize, to: usize| {
        let gap = &bytes[from..to];
        let gap = if from == 0 {
            gap.strip_prefix(b"\xef\xbb\xbf").unwrap_or(gap)
        } else {
            gap
        };
        assert!(
            gap.iter().all(|octet| matches!(octet, b'\r' | b'\n')),
            "octets between lines: {gap:?}"
        );
    };
    for line in &document.lines {
        blank(at, line.start as usize);
        assert!(line.start < line.end && line.end <= line.next);
        assert!(
            line.name_end <= line.end && (line.colon == NONE || (line.name_end <= line.colon && line.colon < line.end))
        );
        at = line.next as usize;
    }
    blank(at, bytes.len());
}

#[test]
fn components_nest_and_properties_belong_to_the_innermost() {
    let document = parse(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:a\r\nBEGIN:VALARM\r\nACTION:DISPLAY\r\nEND:VALARM\r\n\
         LOCATION:b\r\nEND:VEVENT\r\nbegin:vtodo\r\nend:VTODO\r\nX-AFTER:c\r\nEND:VCALENDAR\r\n",
    );
    assert!(document.faults().is_empty());
    let calendar = document.roots().next().expect("one");
    let names = |component: Component<'_>| -> Vec<String> {
        component
            .properties()
            .map(|p| String::from_utf8_lossy(&p.name()).into_owned())
            .collect()
    };
    assert_eq!(names(calendar), ["VERSION", "X-AFTER"]);
    let children: Vec<Component<'_>> = calendar.children().collect();
    assert_eq!(children.len(), 2);
    assert_eq!(names(children[0]), ["SUMMARY", "LOCATION"]);
    assert!(children[1].is("VTODO") && !children[1].is("VEVENT"));
    assert_eq!(names(children[0].children().next().expect("alarm")), ["ACTION"]);
    assert_eq!(calendar.slice(), &document.bytes()[..]);
    assert!(children[0].slice().ends_with(b"END:VEVENT\r\n"));
    covered(&document);
}

#[test]
fn quoted_parameters_keep_their_colons_and_commas() {
    // RFC 5545, 3.2; the values are those of RFC 6868, 3.1 and 3.2.
    let document = parse(
        "BEGIN:X\nATTENDEE;CN=\"Dora, Ph.D.: Physics\";MEMBER=\"mailto:a\",\"mailto:b\";X=1:MAILTO:dora@example.com\n\
         ATTENDEE;CN=George Herman ^'Babe^' Ruth:mailto:babe@example.com\nGEO;X-ADDRESS=\"Pirates^n^^B ^x\":1;2\nEND:X",
    );
    let component = document.roots().next().expect("one");
    let all: Vec<Property<'_>> = component.properties().collect();
    assert_eq!(&*all[0].value(), b"MAILTO:dora@example.com");
    assert_eq!(all[0].parameter("cn").as_deref(), Some("Dora, Ph.D.: Physics"));
    let names: Vec<_> = all[0]
        .parameters()
        .into_iter()
        .map(|p| (p.name, p.values.len()))
        .collect();
    assert_eq!(
        names,
        [("CN".to_owned(), 1), ("MEMBER".to_owned(), 2), ("X".to_owned(), 1)]
    );
    assert_eq!(all[1].parameter("CN").as_deref(), Some("George Herman \"Babe\" Ruth"));
    assert_eq!(all[2].parameter("X-ADDRESS").as_deref(), Some("Pirates\n^B ^x"));
    assert_eq!(all[2].parameter("MISSING"), None);
}

#[test]
fn folds_are_healed_on_octets_wherever_they_are() {
    let mut text = b"BEGIN:X\r\nSUM\r\n MARY;LANG\r\n\tUAGE=de:Gr\xc3".to_vec();
    text.extend_from_slice(b"\r\n \xb6\n  und\r\n\t\r\n X\r\nEND\n :X\r\n");
    let document = parse(&text);
    assert!(document.faults().is_empty());
    let property = document
        .roots()
        .next()
        .expect("one")
        .first("summary")
        .expect("folded name");
    assert_eq!(property.parameter("LANGUAGE").as_deref(), Some("de"));
    assert_eq!(&*property.value(), "Grö undX".as_bytes());
    assert_eq!(&*unfold(b"a\nb\r\n c"), b"a\nbc");
}

#[test]
fn line_ends_blank_lines_and_a_byte_order_mark_stay() {
    for text in [
        &b"\xef\xbb\xbfBEGIN:X\r\n\r\n\nA:1\nB:2\r\n\rC:3\r\nEND:X"[..],
        b"BEGIN:X\rA:1\rEND:X\r",
        b"\r\n\r\n",
        b"",
        b" BEGIN:X",
    ] {
        covered(&parse(text));
    }
    let document = parse(b"\xef\xbb\xbfBEGIN:X\r\n\r\n\nA:1\nB:\xff\r\nEND:X");
    let values: Vec<_> = document
        .roots()
        .next()
        .expect("one")
        .properties()
        .map(|p| p.value().into_owned())
        .collect();
    assert_eq!(values, [b"1".to_vec(), b"\xff".to_vec()]);
}

#[test]
fn faults_name_their_line() {
    let document = parse("BEGIN:A\njunk\n folded\nX;Y=\"z:1\nBEGIN:B\nEND:A\nEND:C\nBEGIN:D\n\nBEGIN:E\n");
    assert_eq!(
        kinds(&document),
        [
            (FaultKind::NoColon, 2),
            (FaultKind::UnbalancedQuote, 4),
            (FaultKind::StrayEnd, 6),
            (FaultKind::StrayEnd, 7),
            (FaultKind::Unclosed, 8),
            (FaultKind::Unclosed, 10),
        ]
    );
    let broken = document
        .roots()
        .next()
        .expect("A")
        .first("X")
        .expect("the first colon ends the name");
    assert_eq!(
        (&*broken.value(), broken.parameter("Y").as_deref()),
        (&b"1"[..], Some("z"))
    );
}

#[test]
fn deep_nesting_is_reported_once_and_its_properties_belong_to_nobody() {
    let levels = MAX_LINES / 2;
    let document = parse("BEGIN:X\n".repeat(levels) + "A:1\n" + &"END:X\n".repeat(levels - 1));
    assert_eq!(
        kinds(&document),
        [(FaultKind::TooDeep, MAX_DEPTH + 1), (FaultKind::Unclosed, 1)]
    );
    assert_eq!(walk(&document), 0);
}

#[test]
fn the_bounds_are_typed() {
    let lines = Document::parse(Bytes::from("A:1\n".repeat(MAX_LINES + 1)));
    assert_eq!(lines.err(), Some(TooLarge::Lines));
    let bytes = Document::parse(Bytes::from(vec![b'a'; MAX_BYTES + 1]));
    assert_eq!(bytes.err(), Some(TooLarge::Bytes));
}

/// Inputs that make careless readers quadratic: they end at once, or the suite hangs.
#[test]
fn hostile_shapes_cost_what_they_weigh() {
    let name = "N".repeat(30_000);
    let siblings = "BEGIN:A\nEND:A\n".repeat(60_000);
    for text in [
        format!("BEGIN:{name}\n").repeat(60) + &"END:x\n".repeat(190_000),
        format!("BEGIN:V\n{siblings}END:V"),
        format!("BEGIN:V\nX{}:1\nEND:V", ";A=1".repeat(900_000)),
        format!("BEGIN:V\nX:{}\nEND:V", "a\n ".repeat(1_000_000)),
        format!("BEGIN:V\nX;A={}:1\nEND:V", "\"".repeat(3_000_001)),
    ] {
        let document = parse(text);
        for component in document.roots() {
            component.properties().count();
            component
                .children()
                .for_each(|child| assert_eq!(child.properties().count(), 0));
        }
    }
}

proptest! {
    #[test]
    fn any_octets_are_covered_and_readable(octets in prop::collection::vec(any::<u8>(), 0..400)) {
        let document = parse(octets);
        covered(&document);
        walk(&document);
    }

    #[test]
    fn octets_that_look_like_lines_are_covered_and_readable(
        parts in prop::collection::vec(prop::sample::select(&[
            "BEGIN:", "END:", "VEVENT", "X", "\r\n", "\n", "\r\n ", "\n\t", ";", "=", "\"", ",", ":", "ö", "^n", "\r",
        ][..]), 0..200),
    ) {
        let document = parse(parts.concat());
        covered(&document);
        walk(&document);
    }
}

#[test]
fn text_is_found_across_folds_and_in_any_case() {
    let document = Document::parse(Bytes::from_static(
        b"BEGIN:VEVENT\r\nSUMMARY:Team lu\r\n nch\r\nLOCATION:Room\r\nEND:VEVENT\r\n",
    ))
    .unwrap();
    for (text, found) in [
        ("lunch", true),
        ("TEAM LUNCH", true),
        ("room", true),
        ("lunches", false),
        ("nchlocation", false),
        ("VEVENT", true),
        ("", true),
    ] {
        assert_eq!(document.has_text(text.as_bytes()), found, "{text}");
    }
}
