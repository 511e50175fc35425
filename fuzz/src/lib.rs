//! Fuzz targets as plain functions: any octets in, no panic, no spin, promises asserted.
//!
//! `fuzz_targets/` wraps them for libFuzzer, `tests/replay.rs` runs them over the committed corpus on stable:
//!
//! ```text
//! mkdir -p target/corpus/ical_document        (findings go into the first folder, seeds come from all)
//! cargo +nightly fuzz run --features libfuzzer ical_document target/corpus/ical_document fuzz/corpus/ical_document
//! cargo fuzz run --features libfuzzer --sanitizer none ical_document ...   (without a nightly toolchain)
//! cargo test -p kalends-fuzz                                               (replay)
//!
//! export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cdebug-assertions --cfg fuzzing
//!   -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
//!   -Cllvm-args=-sanitizer-coverage-trace-compares"                        (without cargo-fuzz)
//! cargo +nightly build --release -p kalends-fuzz --features libfuzzer --target $(rustc -vV | sed -n 's/host: //p')
//! target/*/release/edit target/corpus/edit fuzz/corpus/edit
//! target/*/release/edit -merge=1 fuzz/corpus/edit target/corpus/edit       (keeps what adds coverage)
//! ```

mod edit;
mod query;
mod recurrence;
pub mod script;
mod vtimezone;
mod write;

use script::second;
pub use vtimezone::vtimezone;

use std::ops::ControlFlow;

use bytes::Bytes;
use kalends_core::dav::xml::Limits;
use kalends_core::dav::{descriptor, error_body, multistatus};
use kalends_core::href::Href;
use kalends_core::ical::document::Document;
use kalends_core::ical::entity::Entity;
use kalends_core::ical::expand::Window;
use kalends_core::ical::free_busy::{self, MAX_PERIODS, Shape};
use kalends_core::ical::recur::Steps;
use kalends_core::ical::zone::Zone;
use kalends_core::ops::inspect_calendar::InspectCalendar;
use kalends_core::ops::list_calendars::ListCalendars;
use kalends_core::ops::list_changes::{ListChanges, Since};
use kalends_core::ops::query_free_busy::QueryFreeBusy;
use kalends_core::ops::query_occurrences::QueryOccurrences;
use kalends_core::ops::scope::Scope;
use kalends_core::query::text_filter::TextFilter;

pub use recurrence::recurrence;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 12] = [
    ("ical_document", ical_document),
    ("vtimezone", vtimezone),
    ("edit", edit),
    ("multistatus", multistatus),
    ("recurrence", recurrence),
    ("flow_discovery", flow_discovery),
    ("flow_scan", flow_scan),
    ("flow_one_calendar", flow_one_calendar),
    ("flow_query", flow_query),
    ("flow_write", flow_write),
    ("free_busy", free_busy),
    ("mcp_line", mcp_line),
];

/// 2026-11-01 to 2027-02-01, which holds changes of the clock in both directions.
const WINDOW: Window = Window {
    from: 1_793_491_200,
    to: 1_801_440_000,
};

/// Reads a Calendar Object Resource down to its occurrences.
///
/// # Panics
/// If content lines do not lie in the document, or an occurrence lies outside the window.
pub fn ical_document(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let Ok(document) = Document::parse(bytes.clone()) else {
        return;
    };
    assert_eq!(document.bytes(), &bytes, "a document keeps its octets");
    for component in document.roots() {
        assert!(component.slice().len() <= data.len());
        for property in component.properties() {
            let _ = (property.name(), property.value(), property.parameters());
        }
    }
    let entity = Entity::read(bytes);
    let text = serde_json::to_vec(&(entity.diagnostics(), entity.projection(), entity.calendar_properties()));
    assert!(text.is_ok(), "everything can be shown");
    if let Ok(instances) = entity.occurrences(&Zone::utc(), WINDOW, &mut Steps::new(100_000)) {
        for instance in instances {
            assert!(instance.from < WINDOW.to && instance.to >= WINDOW.from, "{instance:?}");
            let _ = entity.occurrence_fields(&instance);
        }
    }
}

/// Edits a document by a script, and looks at what the edits left alone.
///
/// # Panics
/// If octets change that no edit is about, a value is not read back, or a resource becomes another one.
pub fn edit(data: &[u8]) {
    edit::play(data);
}

/// Reads a multistatus, once to its end with a description of each member and once stopped at the first, and an
/// error body.
///
/// # Panics
/// If more members come than the limits allow, or a Calendar is described by an href that is none.
pub fn multistatus(data: &[u8]) {
    let limits = Limits {
        responses: 1000,
        ..Limits::default()
    };
    let home = Href::parse("https://dav.example/home/").expect("an absolute URL");
    let mut members = 0;
    let _ = multistatus::read(207, Some("application/xml"), data, &limits, &mut |member| {
        members += 1;
        if let Some(href) = home.resolve(&member.href) {
            let scheduling = descriptor::scheduling_keys(&member.props, &home);
            let _ = descriptor::kind(&member.props, &href, &scheduling);
            let calendar = descriptor::describe(&member.props, &href);
            assert!(Href::parse(&calendar.calendar.href).is_ok(), "{calendar:?}");
        }
        ControlFlow::Continue(())
    });
    assert!(members <= limits.responses);
    let _ = multistatus::read(207, None, data, &limits, &mut |_| ControlFlow::Break(()));
    let _ = error_body::read(Some("text/xml"), data);
}

/// Discovers Calendars on a server that answers as scripted.
///
/// # Panics
/// If a promise of [`script::Server`] is broken.
pub fn flow_discovery(data: &[u8]) {
    script::play(ListCalendars, data);
}

/// Asks for a window of all Calendars on a server that answers as scripted.
///
/// # Panics
/// If a promise of [`script::Server`] is broken.
pub fn flow_scan(data: &[u8]) {
    let ask = QueryOccurrences {
        scope: Scope::All,
        from: second(WINDOW.from),
        to: second(WINDOW.to),
        evaluation: Zone::utc(),
        filter: TextFilter::default(),
    };
    script::play(ask, data);
}

/// Asks the same three times of one account, cold and warm, while answers are honest, failures, or made up.
///
/// # Panics
/// If a host is asked that nobody allowed, a query has no end, or honest answers make a wrong one.
pub fn flow_query(data: &[u8]) {
    query::play(data);
}

/// Changes a resource while requests and answers are lost, done late or twice, and other people change it.
///
/// # Panics
/// If a promise of [`kalends_tests::writing`] is broken.
pub fn flow_write(data: &[u8]) {
    write::play(data);
}

/// Inspects a Calendar, asks when it is busy and what has changed in it, on a server that answers as scripted.
///
/// # Panics
/// If a promise of [`script::Server`] is broken.
pub fn flow_one_calendar(data: &[u8]) {
    let calendar = Href::parse("https://dav.example/work/").expect("an absolute URL");
    let calendar_href = calendar.to_string();
    script::play(
        InspectCalendar {
            calendar_href: calendar_href.clone(),
        },
        data,
    );
    script::play(
        QueryFreeBusy {
            calendar_href: calendar_href.clone(),
            from: second(WINDOW.from),
            to: second(WINDOW.to),
        },
        data,
    );
    let token = "data:,1".to_owned();
    for since in [Since::Beginning { calendar_href }, Since::Token { calendar, token }] {
        script::play(ListChanges { since }, data);
    }
}

/// Reads a free/busy report in both forms.
///
/// # Panics
/// If a period lies outside the window or is empty, two of one type touch, or their order is wrong.
pub fn free_busy(data: &[u8]) {
    let read = |shape| free_busy::read(Bytes::copy_from_slice(data), WINDOW, shape);
    let (standard, by_component) = (read(Shape::Standard), read(Shape::ByComponent));
    if standard.is_ok() {
        assert_eq!(standard, by_component, "what is read without a profile is read with it");
    }
    let periods = by_component.unwrap_or_default();
    assert!(periods.len() <= MAX_PERIODS && periods.is_sorted());
    for (at, period) in periods.iter().enumerate() {
        assert!(WINDOW.from <= period.from && period.from < period.to && period.to <= WINDOW.to);
        let after = periods[at + 1..]
            .iter()
            .find(|other| other.busy_type == period.busy_type);
        assert!(
            after.is_none_or(|other| period.to < other.from),
            "{period:?} touches {after:?}"
        );
    }
}

/// Judges one line of MCP input.
pub fn mcp_line(data: &[u8]) {
    kalends_mcp::judge_line(data);
}
