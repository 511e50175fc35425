//! The guards of the XML reader, each alone, and the reader against arbitrary input.

use std::ops::ControlFlow;

use kalends_core::dav::name::Name;
use kalends_core::dav::xml::{Limited, Limits, MAX_DEPTH, Reader, Writer, XmlFault};
use kalends_core::dav::{calendar_multiget, error_body, etag, multistatus, propfind};
use proptest::prelude::*;

/// The root's text, with the whole document read.
fn text(body: &[u8], charset: Option<&str>, limits: Limits) -> Result<String, XmlFault> {
    let mut xml = Reader::new(body, charset, limits)?;
    xml.root()?;
    let text = xml.text()?;
    xml.finish()?;
    Ok(text)
}

fn plain(body: &str) -> Result<String, XmlFault> {
    text(body.as_bytes(), None, Limits::default())
}

#[test]
fn text_is_joined_and_line_ends_are_normal() {
    for (body, expected) in [
        ("<a>x&amp;y&lt;&gt;&apos;&quot;z</a>", "x&y<>'\"z"),
        ("<a>1<![CDATA[<&amp;>]]>2<!-- 3 -->4<?p 5?>6</a>", "1<&amp;>246"),
        ("<a>1<b>2<c>3</c></b>4</a>", "14"),
        ("<a>1\r\n2\r3\n4</a>", "1\n2\n3\n4"),
        ("<a><![CDATA[1\r\n2]]></a>", "1\n2"),
        ("<a>1&#13;\n2&#xD;&#x0a;&#233;&#x1F600;</a>", "1\r\n2\r\né😀"),
        ("<a/>", ""),
        ("<a ></a >\n<!-- after --><?p?>", ""),
        ("<?xml version='1.0'?><!-- before --><a/>", ""),
        ("\u{feff}<?xml version='1.0' encoding='Utf-8'?><a>é</a>", "é"),
        ("<a xmlns='relative' xmlns:b='xml:'><b:c/>x</a>", "x"),
        ("<a>]]></a>", "]]>"),
    ] {
        assert_eq!(plain(body).as_deref(), Ok(expected), "{body}");
    }
}

#[test]
fn what_is_broken_or_dangerous_is_refused() {
    use XmlFault::{Character, Doctype, Empty, Entity, Malformed, Misplaced, Truncated, UndeclaredPrefix};
    for (body, fault) in [
        ("", Empty),
        ("  ", Empty),
        ("<?xml version='1.0'?>", Empty),
        ("<!DOCTYPE a><a/>", Doctype),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", Doctype),
        ("<!doctype html><html/>", Doctype),
        ("<a>&nbsp;</a>", Entity),
        ("<a xmlns:b='&nbsp;'/>", Entity),
        ("<a>&#0;</a>", Character),
        ("<a>&#x1;</a>", Character),
        ("<a>&#xD800;</a>", Character),
        ("<a>&#x110000;</a>", Character),
        ("<a>&#xFFFF;</a>", Character),
        ("<a>&#+65;</a>", Character),
        ("<a>&#;</a>", Character),
        ("<a>\u{1}</a>", Character),
        ("<a>\u{fffe}</a>", Character),
        ("<a>&amp</a>", Malformed),
        ("<a>b & c</a>", Malformed),
        ("<a></b>", Malformed),
        ("</a>", Malformed),
        ("<a b='1' b='2'/>", Malformed),
        ("<a b=1/>", Malformed),
        ("<a xmlns:b=''/>", Malformed),
        ("<a/><b/>", Misplaced),
        ("<a/>text", Misplaced),
        ("text<a/>", Misplaced),
        ("<a/>&amp;", Misplaced),
        ("<a/><![CDATA[ ]]>", Misplaced),
        (" <?xml version='1.0'?><a/>", Misplaced),
        ("<a><?xml version='1.0'?></a>", Misplaced),
        ("<a>", Truncated),
        ("<a><b></b>", Truncated),
        ("<a", Truncated),
        ("<a>text</a", Truncated),
        ("<a><![CDATA[x</a>", Truncated),
        ("<b:a/>", UndeclaredPrefix),
        ("<a><c xmlns:b='x' xmlns:d='x'/><b:c/></a>", UndeclaredPrefix),
        ("<a><c xmlns:b='x' xmlns:d='x'/><d:c/></a>", UndeclaredPrefix),
    ] {
        assert_eq!(plain(body), Err(fault), "{body}");
    }
}

#[test]
fn other_encodings_are_named() {
    let fault = |body: &[u8], charset| text(body, charset, Limits::default()).unwrap_err();
    let encoding = |name: &str| XmlFault::Encoding(name.into());
    let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>";
    assert_eq!(fault(latin, None), encoding("ISO-8859-1"));
    assert_eq!(
        fault(b"<?xml version='1.0' encoding='UTF-16'?><a/>", None),
        encoding("UTF-16")
    );
    assert_eq!(fault(b"\xFF\xFE<\0a\0/\0>\0", None), encoding("UTF-16"));
    assert_eq!(fault(b"\xFE\xFF\0<\0a\0/\0>", None), encoding("UTF-16"));
    assert_eq!(fault(b"<\0a\0/\0>\0", None), encoding("UTF-16"));
    assert_eq!(fault(b"<a>\xe9</a>", Some("iso-8859-1")), encoding("iso-8859-1"));
    assert_eq!(fault("<a>é</a>".as_bytes(), Some("iso-8859-1")), encoding("iso-8859-1"));
    assert_eq!(fault(b"<a>\xe9</a>", Some("utf-8")), XmlFault::NotUtf8);
    // The header is wrong and the document says so, or it makes no difference.
    let declared = "<?xml version='1.0' encoding='utf-8'?><a>é</a>".as_bytes();
    assert_eq!(
        text(declared, Some("iso-8859-1"), Limits::default()).as_deref(),
        Ok("é")
    );
    assert_eq!(
        text(b"<a>e</a>", Some("iso-8859-1"), Limits::default()).as_deref(),
        Ok("e")
    );
}

#[test]
fn every_bound_holds_at_n_and_fails_at_n_plus_one() {
    let limits = Limits {
        bytes: 2000,
        elements: 200,
        attributes: 3,
        text: 10,
        responses: 0,
    };
    let nested = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    let fault = |limited, observed, limit| {
        Err(XmlFault::Limit {
            limited,
            observed,
            limit,
        })
    };
    for (fits, exceeds, fault) in [
        (
            nested(MAX_DEPTH),
            nested(MAX_DEPTH + 1),
            fault(Limited::Depth, MAX_DEPTH + 1, MAX_DEPTH),
        ),
        (
            format!("<a>{}</a>", "<b/>".repeat(199)),
            format!("<a>{}</a>", "<b/>".repeat(200)),
            fault(Limited::Elements, 201, 200),
        ),
        (
            "<a b='' c='' d=''/>".into(),
            "<a b='' c='' d='' e=''/>".into(),
            fault(Limited::Attributes, 4, 3),
        ),
        (
            "<a>12345<![CDATA[67890]]></a>".into(),
            "<a>12345<![CDATA[67890]]>1</a>".into(),
            fault(Limited::Text, 11, 10),
        ),
        (
            format!("<a/>{}", " ".repeat(1996)),
            format!("<a/>{}", " ".repeat(1997)),
            fault(Limited::Bytes, 2001, 2000),
        ),
    ] {
        assert!(text(fits.as_bytes(), None, limits).is_ok(), "{fits}");
        assert_eq!(text(exceeds.as_bytes(), None, limits), fault, "{exceeds}");
    }
    let declared = |count: usize| {
        let names = |at: usize| format!(" xmlns:a{at}='x' xmlns:b{at}='y'");
        let open = (0..count / 2).map(|at| format!("<a{}>", names(at))).collect::<String>();
        format!("{open}{}", "</a>".repeat(count / 2))
    };
    assert!(plain(&declared(128)).is_ok());
    let wide = (0..64).map(|at| format!(" xmlns:w{at}='x'")).collect::<String>();
    let wider = format!("<a{wide}><b{wide}><c xmlns:one='x'/></b></a>");
    assert_eq!(
        plain(&wider).map(|_| ()),
        Err(XmlFault::Limit {
            limited: Limited::Bindings,
            observed: 129,
            limit: 128
        })
    );
}

#[test]
fn declarations_end_with_their_element() {
    let body = b"<a xmlns='DAV:'><b xmlns='urn:ietf:params:xml:ns:caldav' xmlns:x='y'><calendar/></b>\
                 <calendar/><prop/></a>";
    let mut xml = Reader::new(body, None, Limits::default()).unwrap();
    assert_eq!(xml.root(), Ok(Name::Unknown));
    assert_eq!(
        (xml.child(), xml.child()),
        (Ok(Some(Name::Unknown)), Ok(Some(Name::Calendar)))
    );
    assert_eq!((xml.child(), xml.child()), (Ok(None), Ok(None)));
    assert_eq!(xml.child(), Ok(Some(Name::Unknown)));
    assert_eq!((xml.child(), xml.child()), (Ok(None), Ok(Some(Name::Prop))));
}

#[test]
fn requests_name_what_they_ask_for() {
    for body in [
        propfind::discovery_body(),
        propfind::listing_body(),
        propfind::member_listing_body(),
    ] {
        let mut xml = Reader::new(&body, None, Limits::default()).unwrap();
        xml.root().unwrap();
        assert_eq!(xml.local(), "propfind");
        assert_eq!(xml.child(), Ok(Some(Name::Prop)));
        let mut names = Vec::new();
        while let Some(name) = xml.child().unwrap() {
            assert!(name != Name::Unknown && !names.contains(&name), "{}", xml.local());
            names.push(name);
            xml.skip().unwrap();
        }
        assert!(names.contains(&Name::ResourceType));
    }
}

/// Hrefs as a server reads them from a multiget.
fn hrefs(body: &[u8]) -> Vec<String> {
    let read = || -> Result<_, XmlFault> {
        let mut xml = Reader::new(body, None, Limits::default())?;
        assert_eq!(xml.root()?, Name::CalendarMultiget);
        let mut hrefs = Vec::new();
        while let Some(name) = xml.child()? {
            if name == Name::Href {
                hrefs.push(xml.text()?);
            } else {
                xml.skip()?;
            }
        }
        xml.finish()?;
        Ok(hrefs)
    };
    read().expect("what the writer writes is a document")
}

#[test]
fn hrefs_are_asked_for_as_they_were_spelled() {
    let spelled = ["/a@b/c%40d%2fe.ics", "/x&y'<z>\".ics", "https://h/é.ics"];
    assert_eq!(hrefs(&calendar_multiget::body(spelled)), spelled);
}

/// Text of characters that XML allows.
fn xml_text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => proptest::char::any(),
        2 => proptest::sample::select(vec!['<', '&', '>', '"', '\'', '\r', '\n', '\t', ']', ';', '#', ' ']),
    ];
    let legal = character.prop_filter(
        "XML cannot hold it",
        |c| !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}'),
    );
    proptest::collection::vec(legal, 0..40).prop_map(String::from_iter)
}

/// Pieces that make plausible and broken answers.
fn answer() -> impl Strategy<Value = String> {
    let pieces = vec![
        "<D:multistatus xmlns:D='DAV:'>",
        "</D:multistatus>",
        "<D:response>",
        "</D:response>",
        "<D:href>/a",
        "</D:href>",
        "<D:propstat>",
        "</D:propstat>",
        "<D:prop>",
        "</D:prop>",
        "<D:status>HTTP/1.1 200 OK</D:status>",
        "<D:getetag>",
        "</D:getetag>",
        "<D:resourcetype><D:collection/></D:resourcetype>",
        "<D:error><x/></D:error>",
        "&amp;",
        "&#13;",
        "&",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<N:x/>",
        "\u{feff}",
        "<?xml version='1.0'?>",
        "<!DOCTYPE a>",
        "é",
        " ",
        "<D:supported-report-set>",
        "<D:report>",
        "<D:supported-report>",
        "<D:current-user-principal>",
    ];
    proptest::collection::vec(proptest::sample::select(pieces), 0..30).prop_map(|pieces| pieces.concat())
}

fn read_everything(body: &[u8]) {
    let limits = Limits::default();
    let _ = multistatus::read(207, None, body, &limits, &mut |_| ControlFlow::Continue(()));
    let _ = error_body::read(None, body);
    let _ = text(body, None, limits);
    let _ = std::str::from_utf8(body).map(etag::EntityTag::parse);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        read_everything(&body);
    }

    #[test]
    fn any_pieces_are_read_without_panic(body in answer()) {
        read_everything(body.as_bytes());
    }

    #[test]
    fn a_cut_answer_is_never_an_answer(at in 0usize..1000) {
        let body = include_bytes!("../../tests/cases/053-ten-resources-with-one-uid/query.xml").trim_ascii_end();
        let cut = body.len() * at / 1000;
        let read = multistatus::read(207, None, &body[..cut], &Limits::default(), &mut |_| ControlFlow::Continue(()));
        prop_assert!(read.is_err());
    }

    #[test]
    fn text_survives_writer_and_reader(texts in proptest::collection::vec(xml_text(), 0..5), value in xml_text()) {
        prop_assert_eq!(hrefs(&calendar_multiget::body(texts.iter().map(String::as_str))), texts);
        let mut written = Writer::new("D:prop");
        written.empty("C:comp", &[("name", &value)]);
        let written = written.finish();
        let mut xml = Reader::new(&written, None, Limits::default()).unwrap();
        prop_assert_eq!(xml.root(), Ok(Name::Prop));
        prop_assert_eq!(xml.child(), Ok(Some(Name::Comp)));
        prop_assert_eq!(xml.attribute("name"), Ok(Some(value)));
    }

    #[test]
    fn any_text_is_written_as_a_document(given in any::<String>()) {
        prop_assert_eq!(hrefs(&calendar_multiget::body([given.as_str()])).len(), 1);
    }

    #[test]
    fn any_entity_tag_fits_a_header(given in any::<String>()) {
        if let Some(tag) = etag::EntityTag::parse(&given) {
            prop_assert_eq!(etag::EntityTag::parse(tag.as_str()), Some(tag.clone()));
            prop_assert_eq!(tag.if_match().is_some(), tag.strong().is_some());
        }
    }
}
