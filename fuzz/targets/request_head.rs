//! Any bytes as the head of a request: what is answered without hyper is one that can be read in one way only.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(len) = pypi_proxy::serve::parse_head(bytes) else { return };
    assert!(bytes[..len].ends_with(b"\n"));
    // More bytes change nothing, and fewer are not enough.
    assert_eq!(pypi_proxy::serve::parse_head(&bytes[..len]), Some(len));
    assert_eq!(pypi_proxy::serve::parse_head(&bytes[..len - 1]), None);
    let head = String::from_utf8_lossy(&bytes[..len]).to_ascii_lowercase();
    for line in head.lines().skip(1) {
        for name in ["content-length", "transfer-encoding", "expect", "upgrade"] {
            assert!(!line.trim_start().starts_with(name) || !line.trim_start()[name.len()..].trim_start().starts_with(':'));
        }
    }
});
