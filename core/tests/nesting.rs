//! Components in components without end: a small stack is enough, and what is too deep is reported once.

use std::thread;

use kalends_core::ical::document::{Document, FaultKind, MAX_DEPTH, MAX_LINES};
use kalends_core::ical::edit::patch::{Patch, Target, patch};
use kalends_core::ical::entity::Entity;
use kalends_core::ical::expand::Window;
use kalends_core::ical::recur::Steps;
use kalends_core::ical::zone::Zone;

/// Far less than any runtime gives a thread.
const STACK: usize = 128 * 1024;

#[test]
fn two_hundred_thousand_nested_components_need_no_stack() {
    let read = || {
        let text = "BEGIN:VEVENT\n".repeat(MAX_LINES);
        assert_eq!(MAX_LINES, 200_000);
        let document = Document::parse(text.into()).expect("as many lines as are read");
        let count = |kind| document.faults().iter().filter(|fault| fault.kind == kind).count();
        assert_eq!((count(FaultKind::TooDeep), count(FaultKind::Unclosed)), (1, MAX_DEPTH));
        assert_eq!(document.faults().len(), 1 + MAX_DEPTH);
        let mut depth = 0;
        let mut inner = document.roots().next();
        while let Some(component) = inner {
            depth += 1;
            inner = component.children().next();
        }
        assert_eq!(depth, MAX_DEPTH);
        let entity = Entity::from_document(document);
        assert!(entity.opaque().is_some());
        let shown = serde_json::to_value((entity.diagnostics(), entity.projection(), entity.calendar_properties()));
        assert!(shown.is_ok());
        let window = Window {
            from: 0,
            to: i64::from(u32::MAX),
        };
        let none = entity.occurrences(&Zone::utc(), window, &mut Steps::new(1000));
        assert!(none.is_ok_and(|all| all.is_empty()));
        let now = jiff::Timestamp::UNIX_EPOCH;
        assert!(patch(&entity, &Target::Master, &Patch::default(), now).is_err());
    };
    let thread = thread::Builder::new().stack_size(STACK).spawn(read).expect("a thread");
    thread.join().expect("no panic");
}
