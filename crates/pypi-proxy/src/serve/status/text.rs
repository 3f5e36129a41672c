//! Formats numbers for people.

use std::time::{Duration, SystemTime};

/// Formats bytes, such as `1.5 GiB`.
pub(super) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes;
    let mut unit = 0;
    // Rounds to 1024 of this unit, which is 1 of the next one.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 99.95);
    format!("{value:.digits$} {}", UNITS[unit])
}

#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
pub(super) fn size(size: u64) -> String {
    bytes(size as f64)
}

/// Formats a short time, such as `350 µs`.
pub(super) fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds < 0.000_999_5 => (seconds * 1e6, "µs"),
        seconds if seconds < 0.9995 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    let digits = usize::from(value < 9.95 && unit != "µs");
    format!("{value:.digits$} {unit}")
}

/// Formats a long time in its two largest units, such as `3 d 4 h`.
pub(super) fn long(time: Duration) -> String {
    let seconds = time.as_secs();
    let units =
        [(seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let first = units.iter().position(|(count, _)| *count > 0).unwrap_or(3);
    let shown =
        units[first..].iter().take(2).filter(|(count, unit)| *count > 0 || *unit == "s" && first == 3);
    shown.map(|(count, unit)| format!("{count} {unit}")).collect::<Vec<_>>().join(" ")
}

/// Formats how long ago a time was, such as `3 min ago`.
pub(super) fn ago(now: SystemTime, time: SystemTime) -> String {
    format!("{} ago", long(now.duration_since(time).unwrap_or_default()))
}

pub(super) fn percent(ratio: f64) -> String {
    format!("{:.1} %", ratio * 100.0)
}

/// Formats a count with its noun: `1 file`, `2 files`.
pub(super) fn count(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_for_people() {
        assert_eq!(
            [0, 1023, 1024, 1536, 104_857_600, u64::MAX].map(size),
            ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "100 MiB", "16384 PiB"]
        );
        assert_eq!(
            [0.0, 0.00035, 0.0042, 0.25, 1.5, 90.0].map(seconds),
            ["0 µs", "350 µs", "4.2 ms", "250 ms", "1.5 s", "90 s"]
        );
        assert_eq!(
            [0, 59, 60, 3725, 360_000].map(|seconds| long(Duration::from_secs(seconds))),
            ["0 s", "59 s", "1 min", "1 h 2 min", "4 d 4 h"]
        );
        assert_eq!(
            (percent(0.12345), count(1, "file"), count(0, "file")),
            ("12.3 %".into(), "1 file".into(), "0 files".into())
        );
    }
}
