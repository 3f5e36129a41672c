//! What the server tells about its limits.

use std::time::Duration;

use http::header::HeaderMap;

/// One limit: how much is allowed in a window, how much of that is left, and when the window begins anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Quota {
    /// How much is allowed.
    pub limit: Option<u64>,
    /// How much is left.
    pub remaining: Option<u64>,
    /// How long until the window begins anew.
    pub reset: Option<Duration>,
}

/// The limits that an answer tells about in its `x-ratelimit-*` headers.
///
/// The documentation of this API promises none of them; gateways in front of it send some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RateLimits {
    /// Of requests: `x-ratelimit-limit-requests` and its siblings, or the names without `-requests`.
    pub requests: Quota,
    /// Of tokens: `x-ratelimit-limit-tokens` and its siblings.
    pub tokens: Quota,
}

impl RateLimits {
    /// Reads the headers of an answer. What is missing or malformed is `None`.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let response = http::Response::builder()
    ///     .header("x-ratelimit-remaining-requests", "49")
    ///     .header("x-ratelimit-reset-requests", "1m30s")
    ///     .body(())?;
    /// let limits = tightwire_perplexity::RateLimits::from_headers(response.headers());
    /// assert_eq!(limits.requests.remaining, Some(49));
    /// assert_eq!(limits.requests.reset, Some(Duration::from_secs(90)));
    /// # Ok::<(), http::Error>(())
    /// ```
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let text = |name: &str, unit: &str| -> Option<&str> {
            headers.get(format!("x-ratelimit-{name}{unit}"))?.to_str().ok().map(str::trim)
        };
        let quota = |unit: &str| Quota {
            limit: text("limit", unit).and_then(|text| text.parse().ok()),
            remaining: text("remaining", unit).and_then(|text| text.parse().ok()),
            reset: text("reset", unit).and_then(duration),
        };
        let requests = quota("-requests");
        Self {
            requests: if requests == Quota::default() { quota("") } else { requests },
            tokens: quota("-tokens"),
        }
    }
}

/// Seconds, or a row of numbers with units such as `1m30.5s` and `20ms`.
fn duration(mut text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let mut total = Duration::ZERO;
    while !text.is_empty() {
        let digits = text.find(|char: char| !char.is_ascii_digit() && char != '.')?;
        let number: f64 = text[..digits].parse().ok()?;
        let rest = &text[digits..];
        let unit = rest.find(|char: char| char.is_ascii_digit()).unwrap_or(rest.len());
        let seconds = match &rest[..unit] {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total = total.checked_add(Duration::try_from_secs_f64(number * seconds).ok()?)?;
        text = &rest[unit..];
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    fn limits(pairs: &[(&'static str, &'static str)]) -> RateLimits {
        let pair = |&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
        RateLimits::from_headers(&pairs.iter().map(pair).collect())
    }

    #[test]
    fn both_families_of_names() {
        let plain = limits(&[("x-ratelimit-limit", "50"), ("x-ratelimit-reset", "12")]);
        assert_eq!(plain.requests.limit, Some(50));
        assert_eq!(plain.requests.reset, Some(Duration::from_secs(12)));
        let named = limits(&[("x-ratelimit-limit", "50"), ("x-ratelimit-limit-requests", "7")]);
        assert_eq!(named.requests.limit, Some(7));
        assert_eq!(limits(&[("x-ratelimit-remaining-tokens", "9")]).tokens.remaining, Some(9));
        assert_eq!(limits(&[("x-ratelimit-limit", "many")]), RateLimits::default());
    }

    #[test]
    fn durations() {
        let millis = |text| duration(text).map(|time| time.as_millis());
        assert_eq!(millis("1.5"), Some(1500));
        assert_eq!(millis("6m0s"), Some(360_000));
        assert_eq!(millis("20ms"), Some(20));
        assert_eq!(millis("1h0.5s"), Some(3_600_500));
        for text in ["-1", "1x", "s", "1m2", "nan", "1e400"] {
            assert_eq!(millis(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,20}") {
            prop_assert!(duration(&text).is_none_or(|time| time <= Duration::MAX));
        }
    }
}
