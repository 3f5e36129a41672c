//! The table at the end of `cargo bench`.

use std::fmt;

/// A time per operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    pub(crate) nanoseconds: f64,
    /// False if the duration of the checked call is the only figure.
    pub(crate) sampled: bool,
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) row: String,
    pub(crate) implementation: String,
    /// The time per operation, or the reason why there is none.
    pub(crate) time: Result<Time, String>,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) payload_bytes: Option<u64>,
    pub(crate) elements: Option<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct Table(pub(crate) Vec<Line>);

const HEADINGS: [&str; 6] = ["Row", "Implementation", "Time/op", "Bytes/op", "Allocs/op", "Throughput"];

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cells = vec![HEADINGS.map(str::to_owned)];
        let mut previous = "";
        for line in &self.0 {
            let (time, throughput) = match &line.time {
                Ok(taken) => (
                    format!("{}{}", time(taken.nanoseconds), if taken.sampled { "" } else { " (once)" }),
                    throughput(line, taken.nanoseconds),
                ),
                Err(why) => ("-".to_owned(), why.clone()),
            };
            let count =
                |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
            cells.push([
                if line.row == previous { String::new() } else { line.row.clone() },
                line.implementation.clone(),
                time,
                count(line.bytes_op),
                count(line.allocs_op),
                throughput,
            ]);
            previous = &line.row;
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
        let line = |implementation: &str, time| Line {
            row: "decode".to_owned(),
            implementation: implementation.to_owned(),
            time,
            bytes_op: Some(8.0),
            allocs_op: Some(1.0),
            payload_bytes: Some(25),
            elements: Some(1),
        };
        let table = Table(vec![
            line("ours", Ok(Time { nanoseconds: 25.0, sampled: true })),
            line("peer", Err("failed: panicked".to_owned())),
            line("slow", Ok(Time { nanoseconds: 3e9, sampled: false })),
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
