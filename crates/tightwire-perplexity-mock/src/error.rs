//! Error type of this crate.

use std::fmt;
use std::io;
use std::ops::Range;

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of loading a scenario or starting the server.
///
/// The kind is private; use the `is_*` methods. The wording may change between versions.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// The scenario file cannot be read.
    Read(io::Error),
    /// The scenario is invalid. Line and column count from 1.
    Scenario { message: String, line: usize, column: usize },
    /// The address cannot be bound, or the thread cannot be started.
    Start(io::Error),
}

impl Error {
    pub(crate) fn read(source: io::Error) -> Self {
        Self { kind: Kind::Read(source) }
    }

    pub(crate) fn start(source: io::Error) -> Self {
        Self { kind: Kind::Start(source) }
    }

    /// Creates an error at the start of `span` in `text`.
    pub(crate) fn scenario(message: impl Into<String>, text: &str, span: Range<usize>) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Self { kind: Kind::Scenario { message: message.into(), line, column } }
    }

    /// Returns `true` if the scenario is not valid TOML or not a valid scenario.
    pub fn is_scenario(&self) -> bool {
        matches!(self.kind, Kind::Scenario { .. })
    }

    /// Returns `true` if the scenario file cannot be read. The I/O error is the source.
    pub fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read(_))
    }

    /// Returns `true` if the server cannot be started. The I/O error is the source.
    pub fn is_start(&self) -> bool {
        matches!(self.kind, Kind::Start(_))
    }

    /// Returns line and column of an [`is_scenario`](Self::is_scenario) error. Both count from 1, columns in
    /// characters. For an error in a whole rule or response, they are its start.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        match self.kind {
            Kind::Scenario { line, column, .. } => Some((line, column)),
            Kind::Read(_) | Kind::Start(_) => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Read(_) => f.write_str("cannot read the scenario"),
            Kind::Scenario { message, line, column } => {
                write!(f, "scenario, line {line}, column {column}: {message}")
            }
            Kind::Start(_) => f.write_str("cannot start the server"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            Kind::Read(source) | Kind::Start(source) => Some(source),
            Kind::Scenario { .. } => None,
        }
    }
}
