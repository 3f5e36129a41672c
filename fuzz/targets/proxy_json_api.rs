//! Parses arbitrary bytes as a document of the JSON API and removes files from it.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pypi_proxy::check_json_api(input));
