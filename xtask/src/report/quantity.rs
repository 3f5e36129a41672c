//! What a figure is a figure of, and how it is written.

use serde::{Deserialize, Serialize};

use super::units;

/// What is measured of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// Time per operation in nanoseconds, as all times.
    Time,
    TimePerElement,
    ElementsPerS,
    /// Bytes asked for per operation.
    Bytes,
    Allocs,
    /// Bytes of what is read or written.
    Payload,
    RequestsPerS,
    BytesPerS,
    P50,
    P75,
    P90,
    P99,
    /// The longest of all requests.
    Longest,
    /// Requests that failed.
    Errors,
    /// The most memory that a server had, in bytes.
    Memory,
    /// From the start of a server to its first answer.
    Start,
    /// How often a server asked for what many clients wanted at once.
    Fetches,
}

/// What a value is a number of.
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
    /// The quantity of that name in the data files, which is that of the JSON.
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

    /// Whether the load run measures it, and no suite.
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

    /// Whether it is another way to say how long a row takes.
    pub(crate) fn is_a_time_of_a_row(self) -> bool {
        matches!(self, Self::Time | Self::TimePerElement | Self::ElementsPerS)
    }

    /// Whether more is better.
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

    /// What an axis says.
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
