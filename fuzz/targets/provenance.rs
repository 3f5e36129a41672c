//! Parses and verifies arbitrary bytes as provenance, as a statement and as a certificate.
#![no_main]

use pypi_proxy::provenance::{check_parts, verify};
use pypi_proxy::store::Digest;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let _ = verify(input, "demo-1.0.tar.gz", &Digest([0; 32]));
    check_parts(input);
});
