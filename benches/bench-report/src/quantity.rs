//! Measured quantities, and how numbers are written: three significant digits and a unit.

use serde::{Deserialize, Serialize};

/// A quantity of a row. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Time per operation: the median of the samples of a process.
    Time,
    /// Time per operation divided by its elements.
    TimePerElement,
    /// Elements of operations per second.
    ElementsPerS,
    /// Bytes allocated per operation.
    Bytes,
    /// Allocations per operation.
    Allocs,
    /// Size of the input or output in bytes.
    Payload,
    /// Requests of all clients per second.
    RequestsPerS,
    /// Bytes of responses per second.
    BytesPerS,
    /// Median latency.
    P50,
    /// Latency of three quarters of the requests.
    P75,
    /// Latency of nine tenths of the requests.
    P90,
    /// Latency of 99 of 100 requests.
    P99,
    /// Maximum latency of all requests.
    Longest,
    /// Number of responses in a minute, computed from the rate.
    Requests,
    /// Number of simultaneous connections, counted at the server.
    Connections,
    /// Number of failed requests.
    Errors,
    /// Peak memory of a server in bytes.
    Memory,
    /// Time from the start of a server to its first response.
    Start,
    /// Processor time of a server per request.
    CpuPerRequest,
    /// Number of upstream requests for a file that many clients requested at once.
    Fetches,
}

impl Quantity {
    /// Quantities by which rows are compared, the most telling one first: a server's rate depends on what the load
    /// generator leaves of the machine.
    pub const COMPARED: [Self; 6] =
        [Self::Time, Self::CpuPerRequest, Self::Start, Self::P50, Self::RequestsPerS, Self::BytesPerS];

    /// Formats a value with its unit.
    pub fn format(self, value: f64) -> String {
        match self {
            Self::Time
            | Self::TimePerElement
            | Self::P50
            | Self::P75
            | Self::P90
            | Self::P99
            | Self::Longest
            | Self::CpuPerRequest
            | Self::Start => time(value),
            Self::Bytes | Self::Payload | Self::Memory => bytes(value),
            Self::BytesPerS => bytes_per_second(value),
            Self::ElementsPerS | Self::RequestsPerS => format!("{}/s", count(value)),
            Self::Requests => format!("{} requests", per_op(value)),
            Self::Connections => format!("{} connections", per_op(value)),
            Self::Errors => format!("{} errors", per_op(value)),
            Self::Allocs | Self::Fetches => per_op(value),
        }
    }

    /// Returns whether the quantity expresses how long an operation of a suite takes, also per element or as a rate.
    pub fn is_of_time(self) -> bool {
        matches!(self, Self::Time | Self::TimePerElement | Self::ElementsPerS)
    }

    /// Returns whether the quantity differs from round to round, so that ours is compared with others.
    pub fn is_compared(self) -> bool {
        let is_latency = matches!(self, Self::P50 | Self::P75 | Self::P90 | Self::P99 | Self::Start);
        self.is_of_time() || self.is_rate() || is_latency || self == Self::CpuPerRequest
    }

    /// Returns whether higher is better.
    pub fn is_rate(self) -> bool {
        matches!(self, Self::BytesPerS | Self::ElementsPerS | Self::RequestsPerS)
    }
}

/// Scales `value` to the largest unit in which it is at least one.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let smallest = units[units.len() - 1];
    let (size, unit) = units.iter().copied().find(|&(size, _)| value >= size).unwrap_or(smallest);
    let number = digits(value / size);
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

fn digits(value: f64) -> String {
    let decimals = match value {
        _ if value >= 99.95 => 0,
        _ if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// Formats a duration given in nanoseconds.
pub fn time(nanoseconds: f64) -> String {
    scaled(nanoseconds, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")])
}

/// Formats a large number, such as elements per second.
pub fn count(value: f64) -> String {
    scaled(value, &[(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")])
}

/// Formats a number of bytes: exact below ten thousand, else with decimal prefixes.
pub fn bytes(value: f64) -> String {
    if value < 1e4 {
        format!("{} B", per_op(value))
    } else {
        scaled(value, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB")])
    }
}

/// Formats a rate in bytes per second, with decimal prefixes.
pub fn bytes_per_second(value: f64) -> String {
    scaled(value, &[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")])
}

/// Formats bytes or allocations per operation, as an integer if the mean of a batch is one.
pub fn per_op(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// Formats a ratio without the `x`, below one with three decimals.
pub fn ratio(value: f64) -> String {
    if value < 1.0 { format!("{value:.3}") } else { digits(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(time(0.4974), "0.50 ns");
        assert_eq!(time(611.0), "611 ns");
        assert_eq!(time(1_707.0), "1.71 µs");
        assert_eq!(time(99.97), "100 ns");
        assert_eq!(time(6.052e9), "6.05 s");
        assert_eq!(count(1_640_000.0), "1.64 M");
        assert_eq!(count(12.0), "12.0");
        assert_eq!(bytes_per_second(5.6123e9), "5.61 GB/s");
        assert_eq!(per_op(4336.0), "4336");
        assert_eq!(per_op(0.014), "0.01");
        assert_eq!([ratio(16.04), ratio(1.004), ratio(0.996)], ["16.0", "1.00", "0.996"]);
        assert_eq!(Quantity::P99.format(2_500.0), "2.50 µs");
        assert_eq!(Quantity::Errors.format(0.0), "0 errors");
        assert_eq!(Quantity::Memory.format(52_428_800.0), "52.4 MB");
    }
}
