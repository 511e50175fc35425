//! libFuzzer around [`kalends_fuzz::edit`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kalends_fuzz::edit(data));
