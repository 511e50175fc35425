//! Memory that parsing takes at its peak, counted by the allocator: `cargo bench -p kalends-core --bench memory`.

#[path = "ratios/input.rs"]
mod input;

use std::hint::black_box;
use std::io::{self, Write};
use std::ops::ControlFlow;

use bytes::Bytes;
use calcard::icalendar::ICalendar;
use ical::tree::cst::IcalCst;
use kalends_core::dav::multistatus;
use kalends_core::dav::xml::Limits;
use kalends_core::ical::document::Document;
use kalends_core::ical::entity::Entity;
use kalends_core::ical::zone::Zones;
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "\n{:<58} {:>12} {:>12}",
        "memory in bytes, input not counted", "at its peak", "kept"
    )?;
    let mut row = |name: &str, (peak, kept): (usize, usize)| writeln!(out, "{name:<58} {peak:>12} {kept:>12}");
    let bodies = [
        (100, "CR as reference", input::Data::References),
        (10_000, "CR as reference", input::Data::References),
        (10_000, "CDATA", input::Data::Section),
    ];
    for (responses, spelling, data) in bodies {
        let (name, body) = (
            format!("multistatus of {responses}, {spelling}"),
            input::multistatus(responses, data),
        );
        row(&format!("{name}, kalends"), used(|| read(&body)))?;
        row(
            &format!("{name}, roxmltree"),
            used(|| roxmltree::Document::parse(&body).expect("a document")),
        )?;
    }
    let (event, calendar) = (input::event(), input::calendar(4 << 20));
    for (name, text) in [("event", &event), ("calendar", &calendar)] {
        let name = format!("{name} of {} bytes", text.len());
        let octets = Bytes::from(text.clone());
        row(
            &format!("{name}, Document"),
            used(|| Document::parse(octets.clone()).expect("not too large")),
        )?;
        row(&format!("{name}, Entity"), used(|| Entity::read(octets.clone())))?;
        row(
            &format!("{name}, ical-rs tree"),
            used(|| IcalCst::parse(text).expect("a calendar")),
        )?;
        row(
            &format!("{name}, calcard"),
            used(|| ICalendar::parse(text).expect("a calendar")),
        )?;
    }
    let series = Bytes::from(input::series("20240101T090000", "FREQ=WEEKLY;BYDAY=MO,WE,FR"));
    row("series with a zone, Entity", used(|| Entity::read(series.clone())))?;
    let zone = Document::parse(Bytes::from(input::zone())).expect("not too large");
    row(
        "its zone, compiled",
        used(|| Zones::read(&zone).resolve("Europe/Berlin")),
    )
}

/// What is allocated at most while something is made, and what it then keeps.
fn used<T>(make: impl FnOnce() -> T) -> (usize, usize) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let made = black_box(make());
    let (peak, kept) = (HEAP.peak_usage(), HEAP.current_usage());
    drop(made);
    (peak - before, kept - before)
}

/// Reads each response and lets it go.
fn read(body: &str) -> usize {
    let mut members = 0;
    let tail = multistatus::read(
        207,
        Some("application/xml"),
        body.as_bytes(),
        &Limits::default(),
        &mut |member| {
            members += usize::from(black_box(member).props.calendar_data.is_some());
            ControlFlow::Continue(())
        },
    );
    tail.expect("a multistatus");
    members
}
