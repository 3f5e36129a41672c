//! Parses arbitrary bytes as the header of a request. A request that is answered without hyper must be unambiguous.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(len) = pypi_proxy::serve::parse_head(bytes) else { return };
    assert!(bytes[..len].ends_with(b"\n"));
    // More bytes must not change the result, and fewer must not suffice.
    assert_eq!(pypi_proxy::serve::parse_head(&bytes[..len]), Some(len));
    assert_eq!(pypi_proxy::serve::parse_head(&bytes[..len - 1]), None);
    let head = String::from_utf8_lossy(&bytes[..len]).to_ascii_lowercase();
    for line in head.lines().skip(1) {
        for name in ["content-length", "transfer-encoding", "expect", "upgrade"] {
            assert!(!line.trim_start().starts_with(name) || !line.trim_start()[name.len()..].trim_start().starts_with(':'));
        }
    }
});
