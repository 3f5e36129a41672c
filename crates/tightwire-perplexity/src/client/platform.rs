//! Platform headers of the official SDKs. Disabled by default.

use std::time::Duration;

use http::header::{HeaderMap, HeaderName, HeaderValue};

const RETRY_COUNT: HeaderName = HeaderName::from_static("x-stainless-retry-count");
const READ_TIMEOUT: HeaderName = HeaderName::from_static("x-stainless-read-timeout");

const OS: &str = match std::env::consts::OS.as_bytes() {
    b"linux" => "Linux",
    b"macos" => "MacOS",
    b"windows" => "Windows",
    b"freebsd" => "FreeBSD",
    b"openbsd" => "OpenBSD",
    b"ios" => "iOS",
    b"android" => "Android",
    _ => "Unknown",
};

const ARCH: &str = match std::env::consts::ARCH.as_bytes() {
    b"x86_64" => "x64",
    b"x86" => "x32",
    b"aarch64" => "arm64",
    b"arm" => "arm",
    _ => "unknown",
};

/// Adds the platform headers, except those already set.
pub(super) fn describe(headers: &mut HeaderMap, timeout: Option<Duration>) {
    for (name, value) in [
        ("x-stainless-lang", "rust"),
        ("x-stainless-package-version", env!("CARGO_PKG_VERSION")),
        ("x-stainless-os", OS),
        ("x-stainless-arch", ARCH),
        ("x-stainless-runtime", "rust"),
        ("x-stainless-async", "async:tokio"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Some(timeout) = timeout
        && let Ok(seconds) = HeaderValue::from_str(&timeout.as_secs_f64().to_string())
    {
        headers.entry(READ_TIMEOUT).or_insert(seconds);
    }
}

/// Adds the number of previous attempts.
pub(super) fn count(headers: &mut HeaderMap, before: u32) {
    headers.entry(RETRY_COUNT).or_insert(before.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_caller_take_precedence() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_COUNT, HeaderValue::from_static("x"));
        headers.insert("x-stainless-os", HeaderValue::from_static("y"));
        describe(&mut headers, Some(Duration::from_millis(7500)));
        count(&mut headers, 1);
        assert_eq!(headers[RETRY_COUNT], "x");
        assert_eq!(headers["x-stainless-os"], "y");
        assert_eq!(headers["x-stainless-lang"], "rust");
        assert_eq!(headers[READ_TIMEOUT], "7.5");
    }

    #[test]
    fn attempts_are_counted() {
        let mut headers = HeaderMap::new();
        count(&mut headers, 2);
        assert_eq!(headers[RETRY_COUNT], "2");
    }
}
