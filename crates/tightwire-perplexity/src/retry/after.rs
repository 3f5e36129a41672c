//! How long a server asks to wait.

use std::time::{Duration, SystemTime};

use http::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Reads `retry-after-ms`, then `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3).
///
/// A date counts from the `Date` of the same answer, which makes the clock of this machine irrelevant, or else from
/// `now`. What is negative, not a number, or in the past says nothing.
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

/// A decimal number of units of `unit` seconds. Numbers past the longest duration become that.
fn number(text: &str, unit: f64) -> Option<Duration> {
    // The parser also takes words for the infinities.
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

    fn millis(millis: u64) -> Option<Duration> {
        Some(Duration::from_millis(millis))
    }

    #[test]
    fn numbers() {
        assert_eq!(after(&[("retry-after", "2")]), millis(2000));
        assert_eq!(after(&[("retry-after", " 0.25 ")]), millis(250));
        assert_eq!(after(&[("retry-after", "0")]), millis(0));
        assert_eq!(
            after(&[("retry-after-ms", "20.5"), ("retry-after", "9")]),
            Some(Duration::from_micros(20_500))
        );
        assert_eq!(after(&[("retry-after-ms", "soon"), ("retry-after", "9")]), millis(9000));
        assert_eq!(after(&[("retry-after", "1e400")]), Some(Duration::MAX));
    }

    #[test]
    fn dates() {
        let date = ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(after(&[date]), millis(7000));
        assert_eq!(after(&[date, ("date", "Sun, 06 Nov 1994 08:49:35 GMT")]), millis(2000));
        assert_eq!(after(&[date, ("date", "yesterday")]), millis(7000));
        assert_eq!(after(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), None);
        assert_eq!(after(&[("retry-after", "Sunday, 06-Nov-94 08:49:37 GMT")]), millis(7000));
    }

    #[test]
    fn what_says_nothing() {
        assert_eq!(after(&[]), None);
        for value in ["", "-1", "NaN", "inf", "infinity", "soon", "1 s", "+5"] {
            assert_eq!(after(&[("retry-after", value)]), None, "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(value in "[ -~]{0,40}") {
            let delay = after(&[("retry-after", &value), ("retry-after-ms", &value)]);
            prop_assert!(delay.is_none_or(|delay| delay <= Duration::MAX));
        }
    }
}
