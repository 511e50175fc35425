//! libFuzzer around [`kalends_fuzz::vtimezone`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kalends_fuzz::vtimezone(data));
