//! Fuzz targets as plain functions: any octets in, no panic, no spin, promises asserted.
//!
//! `fuzz_targets/` wraps them for libFuzzer, `tests/replay.rs` runs them over the committed corpus on stable:
//!
//! ```text
//! cargo +nightly fuzz run --features libfuzzer ical_document           (from the workspace's root)
//! cargo fuzz run --features libfuzzer --sanitizer none ical_document   (without a nightly toolchain)
//! cargo test -p kalends-fuzz                                           (replay)
//! ```

use std::ops::ControlFlow;

use bytes::Bytes;
use kalends_core::dav::error_body;
use kalends_core::dav::multistatus;
use kalends_core::dav::xml::Limits;
use kalends_core::ical::document::Document;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 2] = [("ical_document", ical_document), ("multistatus", multistatus)];

/// Finds content lines and components.
///
/// # Panics
/// If what is found does not lie in the document.
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
}

/// Reads a multistatus, once to its end and once stopped at the first member, and an error body.
///
/// # Panics
/// If more members come than the limits allow.
pub fn multistatus(data: &[u8]) {
    let limits = Limits {
        responses: 1000,
        ..Limits::default()
    };
    let mut members = 0;
    let _ = multistatus::read(207, Some("application/xml"), data, &limits, &mut |_| {
        members += 1;
        ControlFlow::Continue(())
    });
    assert!(members <= limits.responses);
    let _ = multistatus::read(207, None, data, &limits, &mut |_| ControlFlow::Break(()));
    let _ = error_body::read(Some("text/xml"), data);
}
