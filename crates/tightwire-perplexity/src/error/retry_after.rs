//! Delay that a server requests.

use std::time::{Duration, SystemTime};

use http::header::{HeaderMap, HeaderName};

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Parses `retry-after-ms`, otherwise `Retry-After`; see [`tightwire_sse::retry_after`].
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let millis =
        headers.get(RETRY_AFTER_MS).and_then(|value| value.to_str().ok()?.trim().parse::<f64>().ok());
    millis
        .and_then(|millis| Duration::try_from_secs_f64(millis * 1e-3).ok())
        .or_else(|| tightwire_sse::retry_after(headers, now))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn after(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let pair = |&(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:30 GMT").unwrap();
        retry_after(&headers.iter().map(pair).collect(), now)
    }

    #[test]
    fn milliseconds_have_precedence() {
        for (headers, millis) in [
            (&[][..], None),
            (&[("retry-after", "2")], Some(2000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(7000)),
            (&[("retry-after", "soon")], None),
            (&[("retry-after-ms", " 20 "), ("retry-after", "9")], Some(20)),
            (&[("retry-after-ms", "soon"), ("retry-after", "9")], Some(9000)),
            (&[("retry-after-ms", "-1"), ("retry-after", "9")], Some(9000)),
            (&[("retry-after-ms", "inf"), ("retry-after", "9")], Some(9000)),
            (&[("retry-after-ms", "NaN")], None),
        ] {
            assert_eq!(after(headers), millis.map(Duration::from_millis), "{headers:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_a_panic(value in "[ -~]{0,40}") {
            let delay = after(&[("retry-after", &value), ("retry-after-ms", &value)]);
            prop_assert!(delay.is_none_or(|delay| delay <= Duration::MAX));
        }
    }
}
