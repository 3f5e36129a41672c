//! How a command fails.

use std::error::Error as StdError;
use std::fmt;
use std::process::ExitCode;

/// What the program ends with if it was called or configured wrongly.
pub(super) const USAGE: u8 = 2;
/// What it ends with if its work has failed.
const FAILED: u8 = 1;

/// Why a command has failed.
#[derive(Debug)]
pub(super) struct Failure {
    /// Empty if there is nobody to tell.
    text: String,
    code: u8,
}

impl Failure {
    /// The work has failed.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: FAILED }
    }

    /// The program was called or configured wrongly.
    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: USAGE }
    }

    /// The work has failed, for a reason.
    pub(super) fn because(text: &str, error: &dyn StdError) -> Self {
        Self::new(format!("{text}: {}", chain(error)))
    }

    /// Whether there is nothing to tell, for whoever reads what the program prints has enough.
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

/// An error with its causes.
pub(super) fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text += &format!(": {error}");
        source = error.source();
    }
    text
}
