//! Delay that a server requests.

use std::time::{Duration, SystemTime};

use http::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// Parses `Retry-After` in seconds or as an HTTP date (RFC 9110, section 10.2.3). Returns `None` if it is missing or
/// invalid.
///
/// A date is relative to the `Date` header of the same response, so that the local clock does not matter, or else to
/// `now`. The delay of a date in the past is 0.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    let value = text(&RETRY_AFTER)?;
    // The float parser also accepts a sign, `inf` and `nan`.
    if value.starts_with(|first: char| first.is_ascii_digit())
        && let Ok(seconds) = value.parse()
    {
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let sent = text(&DATE).and_then(date).unwrap_or(now);
    Some(date(value)?.duration_since(sent).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:30 GMT").unwrap();
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (value, sent, millis) in [
            ("2", None, Some(2000)),
            (" 0.25 ", None, Some(250)),
            ("0", None, Some(0)),
            (date, None, Some(7000)),
            (date, Some("Sun, 06 Nov 1994 08:49:35 GMT"), Some(2000)),
            (date, Some("yesterday"), Some(7000)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None, Some(7000)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", None, Some(0)),
            ("", None, None),
            ("-1", None, None),
            ("+5", None, None),
            ("inf", None, None),
            ("NaN", None, None),
            ("1 s", None, None),
            ("soon", None, None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            if let Some(sent) = sent {
                headers.insert(DATE, HeaderValue::from_static(sent));
            }
            let expected = millis.map(Duration::from_millis);
            assert_eq!(retry_after(&headers, now), expected, "{value:?}, sent {sent:?}");
        }
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("1e400"))]);
        assert_eq!(retry_after(&headers, now), Some(Duration::MAX));
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
