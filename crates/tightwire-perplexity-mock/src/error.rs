//! The one error type of this crate.

use std::fmt;
use std::io;
use std::ops::Range;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a scenario could not be read, or the server not be started.
///
/// The kind is private; ask the `is_*` predicates. The wording is not part of the API.
pub struct Error {
    kind: Kind,
    source: Option<io::Error>,
}

#[derive(Debug)]
enum Kind {
    /// The scenario file cannot be read.
    Read,
    /// The scenario is not valid. Line and column count from 1.
    Scenario { message: String, line: usize, column: usize },
    /// The address cannot be listened on, or the thread not be started.
    Start,
}

impl Error {
    pub(crate) fn read(source: io::Error) -> Self {
        Self { kind: Kind::Read, source: Some(source) }
    }

    pub(crate) fn start(source: io::Error) -> Self {
        Self { kind: Kind::Start, source: Some(source) }
    }

    /// A violation at the start of `span` in `text`.
    pub(crate) fn scenario(message: impl Into<String>, text: &str, span: Range<usize>) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Self { kind: Kind::Scenario { message: message.into(), line, column }, source: None }
    }

    /// Whether the scenario is not valid TOML, or not a valid scenario.
    pub fn is_scenario(&self) -> bool {
        matches!(self.kind, Kind::Scenario { .. })
    }

    /// Whether the scenario file could not be read. The cause is the source.
    pub fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read)
    }

    /// Whether the server could not be started. The cause is the source.
    pub fn is_start(&self) -> bool {
        matches!(self.kind, Kind::Start)
    }

    /// The line and the column of the violation, if [`is_scenario`](Self::is_scenario). Both count from 1, columns in
    /// characters. For a violation of a whole rule or answer it is where that begins.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        match self.kind {
            Kind::Scenario { line, column, .. } => Some((line, column)),
            Kind::Read | Kind::Start => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Read => f.write_str("the scenario cannot be read"),
            Kind::Scenario { message, line, column } => {
                write!(f, "scenario, line {line}, column {column}: {message}")
            }
            Kind::Start => f.write_str("the server cannot be started"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("kind", &self.kind).field("source", &self.source).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
