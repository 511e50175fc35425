//! libFuzzer around [`kalends_fuzz::ical_document`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kalends_fuzz::ical_document(data));
