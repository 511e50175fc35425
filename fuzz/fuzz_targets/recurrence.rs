//! libFuzzer around [`kalends_fuzz::recurrence`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kalends_fuzz::recurrence(data));
