//! Failure of a command, with its exit status.

use std::error::Error as StdError;
use std::fmt;
use std::process::ExitCode;

/// Exit status for wrong usage or configuration.
pub(super) const USAGE: u8 = 2;
/// Exit status if a command failed.
const FAILED: u8 = 1;

/// Failure of a command.
#[derive(Debug)]
pub(super) struct Failure {
    /// Empty if nothing reads the output.
    text: String,
    code: u8,
}

impl Failure {
    /// Creates a failure of the command itself.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: FAILED }
    }

    /// Creates a failure because of wrong usage or configuration.
    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: USAGE }
    }

    /// Creates a failure of the command itself with a cause.
    pub(super) fn with_cause(text: &str, error: &dyn StdError) -> Self {
        Self::new(format!("{text}: {}", chain(error)))
    }

    /// Returns whether no message is printed, because standard output was closed by its reader.
    pub(super) fn is_silent(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl From<pypi_proxy::Error> for Failure {
    fn from(error: pypi_proxy::Error) -> Self {
        Self { text: chain(&error), code: if error.is_config() { USAGE } else { FAILED } }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self { text: String::new(), code: FAILED };
        }
        Self::new(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Formats an error with all its causes.
pub(super) fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text += &format!(": {error}");
        source = error.source();
    }
    text
}
