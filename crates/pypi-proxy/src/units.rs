//! Durations and sizes in the text of settings.

use std::fmt::Write as _;
use std::time::Duration;

/// Maximum duration of a setting: ten years.
const MAX_DURATION: Duration = Duration::from_secs(10 * 365 * 86_400);

const SIZES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1000),
    ("B", 1),
];

/// Parses a duration: seconds, such as `1800` and `0.9`, or numbers with units, such as `1h 30m`. Returns `None` if
/// the text is malformed, or if the duration is negative or longer than ten years.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let duration = if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        Duration::try_from_secs_f64(text.parse().ok()?).ok()?
    } else {
        let span: jiff::Span = text.parse().ok()?;
        span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok()?.try_into().ok()?
    };
    (duration <= MAX_DURATION).then_some(duration)
}

/// Parses a size in bytes, such as `5368709120`, `5 GiB` and `2GB`.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let number: u64 = number.parse().ok()?;
    let unit = unit.trim_start();
    if unit.is_empty() {
        return Some(number);
    }
    let (_, factor) = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    number.checked_mul(*factor)
}

/// Formats a duration for [`parse_duration`], with days as the largest unit.
pub(crate) fn format_duration(time: Duration) -> String {
    if time.is_zero() {
        return "0s".into();
    }
    if time.subsec_nanos() != 0 {
        let fraction = format!("{:09}", time.subsec_nanos());
        return format!("{}.{}s", time.as_secs(), fraction.trim_end_matches('0'));
    }
    let mut left = time.as_secs();
    let mut out = String::new();
    for (unit, seconds) in [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)] {
        if left >= seconds {
            let space = if out.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(out, "{space}{}{unit}", left / seconds);
            left %= seconds;
        }
    }
    out
}

/// Formats a size for [`parse_size`], with the largest binary unit that divides it.
pub(crate) fn format_size(bytes: u64) -> String {
    let unit = SIZES[..4].iter().find(|(_, factor)| bytes > 0 && bytes.is_multiple_of(*factor));
    unit.map_or_else(|| bytes.to_string(), |(name, factor)| format!("{} {name}", bytes / factor))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_seconds_or_have_units() {
        let cases = [
            ("1800", 1800.0),
            ("0.9", 0.9),
            (".5", 0.5),
            ("0", 0.0),
            ("30m", 1800.0),
            ("1h30m", 5400.0),
            (" 1h 30m ", 5400.0),
            ("900ms", 0.9),
            ("1w", 604_800.0),
            ("1d 12h", 129_600.0),
        ];
        for (text, seconds) in cases {
            assert_eq!(parse_duration(text), Some(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in
            ["", "-1", "1x", "m", "1h30", "1 30", "nan", "inf", "1e5", "1..2", "99999w", "1m m", "-1h", "1y"]
        {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_are_bytes_or_have_units() {
        let cases = [
            ("0", 0),
            ("5368709120", 5 << 30),
            ("5GiB", 5 << 30),
            ("5 gib", 5 << 30),
            ("2 GB", 2_000_000_000),
            ("10kB", 10_000),
            ("7 B", 7),
            ("18446744073709551615", u64::MAX),
            ("18014398509481983 KiB", u64::MAX - 1023),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in
            ["", "-1", "+1", "5G", "1.5 GB", "GiB", "1e3", "5 GiB x", "99999999 TiB", "18446744073709551616"]
        {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn formatted_values_parse_to_the_same_value(seconds in 0_u64..300_000_000, millis in 0_u64..10_000, bytes: u64) {
            for value in [Duration::from_secs(seconds), Duration::from_millis(millis)] {
                prop_assert_eq!(parse_duration(&format_duration(value)), Some(value));
            }
            prop_assert_eq!(parse_size(&format_size(bytes)), Some(bytes));
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in ".{0,20}") {
            let _ = (parse_duration(&text), parse_size(&text));
        }
    }
}
