//! What clients say of who they are, and files of who may ask: whatever they hold, they are read or refused.
#![no_main]

use pypi_proxy::guard::{parse_authorization, parse_files};

libfuzzer_sys::fuzz_target!(|text: &str| {
    parse_files(text);
    for scheme in ["", "Basic ", "Bearer "] {
        parse_authorization(&format!("{scheme}{text}"));
    }
});
