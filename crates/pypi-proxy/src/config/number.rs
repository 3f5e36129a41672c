//! Times and sizes as people write them.

use std::fmt::Write as _;
use std::time::Duration;

/// No time is longer: ten years.
const MAX_TIME: Duration = Duration::from_secs(10 * 365 * 86_400);

const TIMES: [(&str, f64); 6] =
    [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0), ("w", 604_800.0)];

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

/// Reads a time: seconds, such as `1800` and `0.9`, or numbers with units, such as `1h 30m`. `None` if it is none, or
/// longer than ten years.
pub fn time(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    let mut is_first = true;
    while !rest.is_empty() {
        let (number, behind) = leading(rest)?;
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let factor = match unit {
            "" if is_first && behind.is_empty() => 1.0,
            unit => TIMES.iter().find(|(name, _)| *name == unit)?.1,
        };
        sum += number * factor;
        rest = behind.trim_start();
        is_first = false;
    }
    if is_first {
        return None;
    }
    Duration::try_from_secs_f64(sum).ok().filter(|time| *time <= MAX_TIME)
}

/// Bytes, such as `5368709120`, `5 GiB` and `1.5 GB`.
pub(super) fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Ok(bytes) = text.parse() {
        return Some(bytes).filter(|_| text.as_bytes()[0].is_ascii_digit());
    }
    let (number, rest) = leading(text)?;
    let unit = rest.trim_start();
    let factor = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1;
    // A double would round what has many digits.
    if let Ok(number) = text[..text.len() - rest.len()].parse::<u64>() {
        return number.checked_mul(factor);
    }
    #[expect(clippy::cast_precision_loss, reason = "a factor is exact in a double")]
    let bytes = number * factor as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    (0.0..1e19).contains(&bytes).then_some(bytes as u64)
}

/// A number of digits and at most one point, and what follows it.
fn leading(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest))
}

pub(crate) fn show_time(time: Duration) -> String {
    if time.subsec_nanos() != 0 || time.is_zero() {
        return format!("{}s", time.as_secs_f64());
    }
    let mut left = time.as_secs();
    let mut out = String::new();
    for (unit, seconds) in [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)] {
        if left >= seconds {
            let space = if out.is_empty() { "" } else { " " };
            // Writing into a string does not fail.
            let _ = write!(out, "{space}{}{unit}", left / seconds);
            left %= seconds;
        }
    }
    out
}

pub(super) fn show_size(bytes: u64) -> String {
    let unit = SIZES[..4].iter().find(|(_, factor)| bytes > 0 && bytes.is_multiple_of(*factor));
    unit.map_or_else(|| bytes.to_string(), |(name, factor)| format!("{} {name}", bytes / factor))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_seconds_or_have_units() {
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
            ("1.5d", 129_600.0),
        ];
        for (text, seconds) in cases {
            assert_eq!(time(text), Some(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "-1", "1x", "m", "1h30", "1 30", "nan", "inf", "1e5", "1..2", "99999w", "1m m"] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_are_bytes_or_have_units() {
        let cases = [
            ("0", 0),
            ("5368709120", 5 << 30),
            ("5GiB", 5 << 30),
            ("5 gib", 5 << 30),
            ("1.5 GB", 1_500_000_000),
            ("10kB", 10_000),
            ("7 B", 7),
            ("18446744073709551615", u64::MAX),
            ("18014398509481983 KiB", u64::MAX - 1023),
        ];
        for (text, bytes) in cases {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for text in ["", "-1", "+1", "5G", "GiB", "1e3", "5 GiB x", "99999999 TiB", "18446744073709551616"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_understood(seconds in 0_u64..300_000_000, millis in 0_u64..10_000, bytes: u64) {
            for value in [Duration::from_secs(seconds), Duration::from_millis(millis)] {
                prop_assert_eq!(time(&show_time(value)), Some(value));
            }
            prop_assert_eq!(size(&show_size(bytes)), Some(bytes));
        }

        #[test]
        fn no_text_panics(text in ".{0,20}") {
            let _ = (time(&text), size(&text));
        }
    }
}
