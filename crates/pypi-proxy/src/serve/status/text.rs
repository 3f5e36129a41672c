//! Figures as people read them.

use std::time::Duration;

/// `1.5 GiB`.
pub(super) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes;
    let mut unit = 0;
    // What would be written as 1024 is one of the next unit.
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

/// `350 µs`.
pub(super) fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds < 0.000_999_5 => (seconds * 1e6, "µs"),
        seconds if seconds < 0.9995 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    let digits = usize::from(value < 9.95 && unit != "µs");
    format!("{value:.digits$} {unit}")
}

/// `3 d 4 h`: the two largest parts.
pub(super) fn long(time: Duration) -> String {
    let seconds = time.as_secs();
    let parts =
        [(seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let first = parts.iter().position(|(count, _)| *count > 0).unwrap_or(3);
    let shown =
        parts[first..].iter().take(2).filter(|(count, unit)| *count > 0 || *unit == "s" && first == 3);
    shown.map(|(count, unit)| format!("{count} {unit}")).collect::<Vec<_>>().join(" ")
}

pub(super) fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// `1 file`, `2 files`.
pub(super) fn count(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
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
