//! Measured quantities, and their formatting.

use serde::{Deserialize, Serialize};

use super::units;

/// A quantity measured for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// Time per operation, in nanoseconds like all times.
    Time,
    TimePerElement,
    ElementsPerS,
    /// Bytes allocated per operation.
    Bytes,
    Allocs,
    /// Size of the input or output in bytes.
    Payload,
    RequestsPerS,
    BytesPerS,
    P50,
    P75,
    P90,
    P99,
    /// Maximum latency of all requests.
    Longest,
    /// Number of failed requests.
    Errors,
    /// Peak memory of a server in bytes.
    Memory,
    /// Time from the start of a server to its first response.
    Start,
    /// Number of upstream requests for a file that many clients requested at once.
    Fetches,
}

/// Unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Nanoseconds,
    Bytes,
    BytesPerS,
    PerS,
    Count,
    Times,
    Percent,
}

impl Quantity {
    /// Returns the quantity with this name in the data files and in JSON.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        serde_json::from_value(serde_json::Value::String(name.to_owned())).ok()
    }

    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Time
            | Self::TimePerElement
            | Self::P50
            | Self::P75
            | Self::P90
            | Self::P99
            | Self::Longest
            | Self::Start => Unit::Nanoseconds,
            Self::Bytes | Self::Payload | Self::Memory => Unit::Bytes,
            Self::BytesPerS => Unit::BytesPerS,
            Self::ElementsPerS | Self::RequestsPerS => Unit::PerS,
            Self::Allocs | Self::Errors | Self::Fetches => Unit::Count,
        }
    }

    /// Returns true if the load test measures it instead of a suite.
    pub(crate) fn is_of_load(self) -> bool {
        !matches!(
            self,
            Self::Time
                | Self::TimePerElement
                | Self::ElementsPerS
                | Self::Bytes
                | Self::Allocs
                | Self::Payload
        )
    }

    /// Returns true if it expresses the time of a row in another way.
    pub(crate) fn is_a_time_of_a_row(self) -> bool {
        matches!(self, Self::Time | Self::TimePerElement | Self::ElementsPerS)
    }

    /// Returns true if higher is better.
    pub(crate) fn is_rate(self) -> bool {
        matches!(self.unit(), Unit::BytesPerS | Unit::PerS)
    }
}

impl Unit {
    pub(crate) fn format(self, value: f64) -> String {
        match self {
            Self::Nanoseconds => units::time(value),
            Self::Bytes => units::bytes(value),
            Self::BytesPerS => units::bytes_per_second(value),
            Self::PerS => format!("{}/s", units::count(value)),
            Self::Count => units::per_op(value),
            Self::Times => format!("{}x", units::ratio(value)),
            Self::Percent => format!("{value:.0} %"),
        }
    }

    /// Returns the label of an axis.
    pub(crate) fn axis(self) -> &'static str {
        match self {
            Self::Nanoseconds => "time",
            Self::Bytes => "bytes",
            Self::BytesPerS | Self::PerS => "rate, more is better",
            Self::Count => "count",
            Self::Times => "ratio",
            Self::Percent => "percent",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_names_and_units() {
        assert_eq!(Quantity::from_name("requests_per_s"), Some(Quantity::RequestsPerS));
        assert_eq!(Quantity::from_name("speed"), None);
        assert_eq!(Quantity::P99.unit().format(2_500.0), "2.50 µs");
        assert_eq!(Quantity::Bytes.unit().format(368.0), "368 B");
        assert_eq!(Quantity::Memory.unit().format(52_428_800.0), "52.4 MB");
        assert_eq!((Unit::Percent.format(97.96), Unit::Times.format(2.5)), ("98 %".into(), "2.50x".into()));
    }
}
