//! Error type of this crate.

use std::fmt;
use std::io;
use std::ops::Range;

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of loading a scenario or starting the server. The wording may change between versions.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The scenario file cannot be read.
    Read(io::Error),
    /// The scenario is not valid TOML, or not a valid scenario.
    Scenario {
        /// Description of the problem.
        message: String,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1. If a whole rule or response is invalid, line and column are
        /// those of its start.
        column: usize,
    },
    /// The address cannot be bound, or the thread cannot be started.
    Start(io::Error),
}

impl Error {
    /// Creates an error at the start of `span` in `text`.
    pub(crate) fn scenario(message: impl Into<String>, text: &str, span: Range<usize>) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Self::Scenario { message: message.into(), line, column }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(_) => f.write_str("cannot read the scenario"),
            Self::Scenario { message, line, column } => {
                write!(f, "scenario, line {line}, column {column}: {message}")
            }
            Self::Start(_) => f.write_str("cannot start the server"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(source) | Self::Start(source) => Some(source),
            Self::Scenario { .. } => None,
        }
    }
}
