//! libFuzzer around [`kalends_fuzz::flow_write`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kalends_fuzz::flow_write(data));
