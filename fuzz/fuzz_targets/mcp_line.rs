//! libFuzzer around [`kalends_fuzz::mcp_line`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kalends_fuzz::mcp_line(data));
