//! libFuzzer around [`kalends_fuzz::multistatus`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kalends_fuzz::multistatus(data));
