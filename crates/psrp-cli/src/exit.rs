//! Exit status of the program, and errors that end it.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    /// The pipeline failed, wrote errors or was stopped by the server.
    Errors,
    /// Invalid command line, input or local file.
    Usage,
    /// Connection failed or lost.
    Connection,
    /// Stopped by Ctrl+C.
    Interrupted,
    /// Exit code set by a script.
    Code(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Errors => 1,
            Exit::Usage => 2,
            Exit::Connection => 3,
            Exit::Interrupted => crate::interrupts::EXIT_CODE,
            Exit::Code(code) => code,
        })
    }
}

/// An error that ends the program, with its exit status.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
}

impl Failure {
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Usage, error: error.into() }
    }

    pub(crate) fn connection(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Connection, error: error.into() }
    }

    /// Output cannot be written, for example because the reading program has ended.
    pub(crate) fn output(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Errors, error: error.into().context("the output can't be written") }
    }

    pub(crate) fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, error: anyhow::anyhow!("interrupted") }
    }
}
