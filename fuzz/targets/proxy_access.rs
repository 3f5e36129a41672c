//! Parses arbitrary credentials of clients, and arbitrary files of logins and tokens.
#![no_main]

use pypi_proxy::guard::{parse_authorization, parse_files};

libfuzzer_sys::fuzz_target!(|text: &str| {
    parse_files(text);
    for scheme in ["", "Basic ", "Bearer "] {
        parse_authorization(&format!("{scheme}{text}"));
    }
});
