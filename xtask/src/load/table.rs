//! Formatting of figures for the terminal and the report.

use super::measure::Measured;

/// Formats the figures of a row as lines of text.
pub(crate) fn lines(measured: &[Measured]) -> String {
    let mut text = format!(
        "  {:<22} {:>11} {:>10} {:>10} {:>11} {:>10} {:>9} {:>7} {:>8}\n",
        "", "requests/s", "p50", "p99", "CPU/request", "body", "MB/s", "errors", "peak RSS"
    );
    for entry in measured {
        text += &format!(
            "  {:<22} {:>11.0} {:>10} {:>10} {:>11} {:>10} {:>9.1} {:>7} {:>8}\n",
            entry.server,
            entry.requests_per_s,
            time(entry.p50_us),
            time(entry.p99_us),
            entry.cpu_us.map_or("-".to_owned(), time),
            bytes(entry.body_bytes),
            entry.bytes_per_s / 1e6,
            entry.errors,
            entry.peak_memory.map_or("-".to_owned(), memory),
        );
    }
    text
}

/// Formats a time given in microseconds.
pub(crate) fn time(us: f64) -> String {
    match us {
        us if us < 100.0 => format!("{us:.1} us"),
        us if us < 1e3 => format!("{us:.0} us"),
        us if us < 100e3 => format!("{:.2} ms", us / 1e3),
        us if us < 1e6 => format!("{:.0} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

/// Formats a number of bytes.
pub(crate) fn bytes(count: usize) -> String {
    #[allow(clippy::cast_precision_loss, reason = "shown with few digits")]
    match count {
        0..10_000 => format!("{count} B"),
        10_000..10_000_000 => format!("{:.0} KB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// Formats a memory size in MiB.
pub(crate) fn memory(count: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "shown with few digits")]
    let mib = count as f64 / f64::from(1 << 20);
    format!("{mib:.1} M")
}
