//! Documents: found, and changed in one place.

use bytes::Bytes;
use calcard::icalendar::ICalendar;
use ical::component::vevent::VEVENT;
use ical::prop::summary::SUMMARY;
use ical::tree::cst::IcalCst;
use kalends_core::ical::changes::Changes;
use kalends_core::ical::document::{Component, Document};

use crate::measure::{Measure, Other};

pub(crate) fn measures<'a>(event: &'a str, calendar: &'a str) -> Vec<Measure<'a>> {
    vec![
        parse(event, 10.0),
        parse(calendar, 8.0),
        Measure {
            name: format!("change of SUMMARY and write, {} bytes", event.len()),
            operations: 1,
            ours: Box::new({
                let event = Bytes::from(event.to_owned());
                move || changed(event.clone()).len() as u64
            }),
            others: vec![Other {
                name: "ical-rs",
                goal: Some(5.0),
                run: Box::new(move || {
                    let mut calendar = IcalCst::parse(event).expect("an event");
                    let event = calendar.component_mut::<VEVENT>().expect("one");
                    event.prop_mut::<SUMMARY>().expect("one").set_text(SUMMARY_TEXT);
                    calendar.to_bytes().len() as u64
                }),
            }],
        },
    ]
}

/// Finds the components of a text; what is found is how many there are.
fn parse<'a>(text: &'a str, goal: f64) -> Measure<'a> {
    Measure {
        name: format!("parse of {} bytes into lines and components", text.len()),
        operations: 1,
        ours: Box::new({
            let text = Bytes::from(text.to_owned());
            move || {
                let document = Document::parse(text.clone()).expect("not too large");
                components(document.roots().next().expect("a calendar"))
            }
        }),
        others: vec![
            Other {
                name: "calcard",
                goal: Some(goal),
                run: Box::new(move || ICalendar::parse(text).expect("a calendar").components.len() as u64),
            },
            Other {
                name: "ical-rs",
                goal: None,
                run: Box::new(move || nodes(&IcalCst::parse(text).expect("a calendar"))),
            },
        ],
    }
}

fn components(component: Component<'_>) -> u64 {
    1 + component.children().map(components).sum::<u64>()
}

fn nodes(component: &IcalCst<'_>) -> u64 {
    let inner = component.items.iter().filter_map(|item| match item {
        ical::tree::cst::IcalItem::Component(inner) => Some(nodes(inner)),
        ical::tree::cst::IcalItem::Prop(_) | ical::tree::cst::IcalItem::Opaque(_) => None,
    });
    1 + inner.sum::<u64>()
}

const SUMMARY_TEXT: &str = "Planning, moved";

fn changed(event: Bytes) -> Bytes {
    let document = Document::parse(event).expect("not too large");
    let calendar = document.roots().next().expect("a calendar");
    let event = calendar.children().find(|child| child.is("VEVENT")).expect("an event");
    let mut changes = Changes::of(&document);
    changes
        .set_value(event.first("SUMMARY").expect("one"), "Planning\\, moved")
        .expect("a text");
    changes.octets()
}
