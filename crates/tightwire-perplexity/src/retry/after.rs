//! Parses the delay that a server requests.

use std::time::{Duration, SystemTime};

use http::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Parses `retry-after-ms`, then `Retry-After` in seconds or as an HTTP date (RFC 9110, section 10.2.3).
///
/// A date is relative to the `Date` header of the same response, so that the local clock does not matter, or
/// else to `now`. Negative, non-numeric and past values are ignored.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(delay) = text(&RETRY_AFTER_MS).and_then(|millis| number(millis, 1e-3)) {
        return Some(delay);
    }
    let value = text(&RETRY_AFTER)?;
    if let Some(delay) = number(value, 1.0) {
        return Some(delay);
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let sent = text(&DATE).and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    date.duration_since(sent).ok()
}

/// Parses a decimal number of units of `unit` seconds. Numbers above the maximum duration saturate.
fn number(text: &str, unit: f64) -> Option<Duration> {
    // The float parser also accepts `inf` and `nan`.
    if !text.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let seconds = text.parse::<f64>().ok()? * unit;
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
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
    fn numbers_and_dates() {
        let date = ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
        let micros = |micros| Some(Duration::from_micros(micros));
        for (headers, expected) in [
            (&[][..], None),
            (&[("retry-after", "2")], micros(2_000_000)),
            (&[("retry-after", " 0.25 ")], micros(250_000)),
            (&[("retry-after", "0")], micros(0)),
            (&[("retry-after-ms", "20.5"), ("retry-after", "9")], micros(20_500)),
            (&[("retry-after-ms", "soon"), ("retry-after", "9")], micros(9_000_000)),
            (&[("retry-after", "1e400")], Some(Duration::MAX)),
            (&[date], micros(7_000_000)),
            (&[date, ("date", "Sun, 06 Nov 1994 08:49:35 GMT")], micros(2_000_000)),
            (&[date, ("date", "yesterday")], micros(7_000_000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], None),
            (&[("retry-after", "Sunday, 06-Nov-94 08:49:37 GMT")], micros(7_000_000)),
        ] {
            assert_eq!(after(headers), expected, "{headers:?}");
        }
        for value in ["", "-1", "NaN", "inf", "infinity", "soon", "1 s", "+5"] {
            assert_eq!(after(&[("retry-after", value)]), None, "{value:?}");
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
