//! The table at the end of `cargo bench`.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

use crate::implementation::Role;

/// One implementation of one row. `README.md` documents the fields.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Line {
    /// `system/row`.
    pub(crate) key: String,
    pub(crate) implementation: String,
    pub(crate) role: Role,
    pub(crate) language: &'static str,
    pub(crate) version: Option<String>,
    pub(crate) class: Option<String>,
    pub(crate) payload_bytes: Option<u64>,
    pub(crate) elements: Option<u64>,
    pub(crate) check: Option<u64>,
    /// Median of the samples.
    pub(crate) time_ns: Option<f64>,
    pub(crate) mean_ns: Option<f64>,
    /// True if the duration of the checked call is the only figure.
    pub(crate) is_once: bool,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) deterministic: Option<bool>,
    /// Reason why there is no time.
    pub(crate) failure: Option<String>,
}

impl Line {
    /// Prints the line as JSON, for `cargo xtask bench`.
    pub(crate) fn print(&self) {
        // A struct of numbers and texts is always JSON.
        let text = serde_json::to_string(self).unwrap_or_default();
        say(format_args!("{text}\n"));
    }
}

#[derive(Debug, Default)]
pub(crate) struct Table(pub(crate) Vec<Line>);

const HEADINGS: [&str; 6] = ["Row", "Implementation", "Time/op", "Bytes/op", "Allocs/op", "Throughput"];

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cells = vec![HEADINGS.map(str::to_owned)];
        let mut previous = "";
        for line in &self.0 {
            let row = line.key.split_once('/').map_or(line.key.as_str(), |(_, row)| row);
            let once = if line.is_once { " (once)" } else { "" };
            let (time, throughput) = match (line.time_ns, &line.failure) {
                (_, Some(why)) => ("-".to_owned(), why.clone()),
                (nanoseconds, None) => {
                    let nanoseconds = nanoseconds.unwrap_or(f64::NAN);
                    (format!("{}{once}", time(nanoseconds)), throughput(line, nanoseconds))
                }
            };
            let count =
                |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
            cells.push([
                if row == previous { String::new() } else { row.to_owned() },
                line.implementation.clone(),
                time,
                count(line.bytes_op),
                count(line.allocs_op),
                throughput,
            ]);
            previous = row;
        }
        let width =
            |column: usize| cells.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
        let widths: [usize; 6] = std::array::from_fn(width);
        for line in &cells {
            // Names are aligned left, numbers right.
            writeln!(
                f,
                "{:<w0$}  {:<w1$}  {:>w2$}  {:>w3$}  {:>w4$}  {:>w5$}",
                line[0],
                line[1],
                line[2],
                line[3],
                line[4],
                line[5],
                w0 = widths[0],
                w1 = widths[1],
                w2 = widths[2],
                w3 = widths[3],
                w4 = widths[4],
                w5 = widths[5],
            )?;
        }
        Ok(())
    }
}

fn throughput(line: &Line, nanoseconds: f64) -> String {
    let bytes = line.payload_bytes.map(|bytes| rate(bytes, nanoseconds, "B/s"));
    let elements = line.elements.map(|count| rate(count, nanoseconds, "/s"));
    match (bytes, elements) {
        (Some(bytes), Some(elements)) => format!("{bytes}, {elements}"),
        (bytes, elements) => bytes.or(elements).unwrap_or_else(|| "-".to_owned()),
    }
}

/// Formats three significant digits in the largest unit with a value of at least one.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let &(size, unit) = units.iter().find(|(size, _)| value >= *size).unwrap_or(&units[units.len() - 1]);
    let value = value / size;
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {unit}")
}

fn time(nanoseconds: f64) -> String {
    scaled(nanoseconds, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")])
}

fn rate(amount: u64, nanoseconds: f64, unit: &str) -> String {
    let text = scaled(amount as f64 * 1e9 / nanoseconds, &[(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")]);
    text + unit
}

/// Writes to standard output. Ends the process quietly if the reader has closed it, as with `cargo bench | head`.
pub(crate) fn say(text: impl fmt::Display) {
    if write!(io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(time(0.5), "0.50 ns");
        assert_eq!(time(21.34), "21.3 ns");
        assert_eq!(time(1_707.0), "1.71 µs");
        assert_eq!(rate(50_000_061, 8_900_000.0, "B/s"), "5.62 GB/s");
    }

    #[test]
    fn columns_line_up() {
        let line = |implementation: &str, time: f64| Line {
            key: "sse/decode".to_owned(),
            implementation: implementation.to_owned(),
            time_ns: Some(time),
            bytes_op: Some(8.0),
            allocs_op: Some(1.0),
            payload_bytes: Some(25),
            elements: Some(1),
            ..Line::default()
        };
        let table = Table(vec![
            line("ours", 25.0),
            Line { failure: Some("failed: panicked".to_owned()), ..line("peer", 1.0) },
            Line { is_once: true, ..line("slow", 3e9) },
        ]);
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[1].starts_with("decode  ours"), "{text}");
        assert!(lines[1].ends_with("1.00 GB/s, 40.0 M/s"), "{text}");
        assert!(lines[2].starts_with("        peer") && lines[2].ends_with("failed: panicked"), "{text}");
        assert!(lines[3].contains("3.00 s (once)"), "{text}");
        assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()), "{text}");
    }
}
