//! An answer with calendar data: href, Entity Tag and data of each response.

use std::ops::ControlFlow;

use kalends_core::dav::multistatus;
use kalends_core::dav::xml::Limits;
use roxmltree::{Document, Node};

use crate::measure::{Measure, Other};

pub(crate) fn measures<'a>(referred: &'a str, section: &'a str) -> Vec<Measure<'a>> {
    vec![read("CR as reference", referred), read("CDATA", section)]
}

/// What is found is the length of everything taken out.
fn read<'a>(spelling: &str, body: &'a str) -> Measure<'a> {
    Measure {
        name: format!("multistatus of 10,000, {:.1} MB, {spelling}", body.len() as f64 / 1e6),
        operations: 1,
        ours: Box::new(move || {
            let mut length = 0;
            let tail = multistatus::read(
                207,
                Some("application/xml"),
                body.as_bytes(),
                &Limits::default(),
                &mut |member| {
                    let tag = member.props.etag.expect("a tag");
                    length += member.href.len() + tag.strong().expect("a strong one").len();
                    length += member.props.calendar_data.expect("data").len();
                    ControlFlow::Continue(())
                },
            );
            tail.expect("a multistatus");
            length as u64
        }),
        others: vec![Other {
            name: "roxmltree",
            goal: Some(1.7),
            run: Box::new(move || {
                let document = Document::parse(body).expect("a document");
                let responses = document.root_element().children().filter(|node| dav(*node, "response"));
                responses.map(lengths).sum::<usize>() as u64
            }),
        }],
    }
}

fn lengths(response: Node<'_, '_>) -> usize {
    let mut length = 0;
    for node in response.descendants() {
        if dav(node, "href")
            || dav(node, "getetag")
            || node.has_tag_name(("urn:ietf:params:xml:ns:caldav", "calendar-data"))
        {
            let text: String = node.children().filter_map(|text| text.text()).collect();
            length += text.len();
        }
    }
    length
}

fn dav(node: Node<'_, '_>, name: &str) -> bool {
    node.has_tag_name(("DAV:", name))
}
