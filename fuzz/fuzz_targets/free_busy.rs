//! libFuzzer around [`kalends_fuzz::free_busy`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kalends_fuzz::free_busy(data));
