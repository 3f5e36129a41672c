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
    /// Stopped because of `--timeout`.
    TimedOut,
    /// Exit code set by a script.
    Code(i32),
}

impl Exit {
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Ok => 0,
            Self::Errors => 1,
            Self::Usage => 2,
            Self::Connection => 3,
            Self::Interrupted => crate::interrupts::EXIT_CODE.into(),
            // As of the program `timeout`.
            Self::TimedOut => 124,
            Self::Code(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        let code = exit.code();
        #[cfg(windows)]
        std::process::exit(code);
        // Other systems have only the lowest byte, and a failure must not become a success.
        #[cfg(not(windows))]
        Self::from(code.to_le_bytes()[0].max((code != 0).into()))
    }
}

/// An error that ends the program, with its exit status.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
    /// Whether output can't be written.
    pub(crate) is_output: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self { exit, error: error.into(), is_output: false }
    }

    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Usage, error)
    }

    pub(crate) fn connection(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Connection, error)
    }

    /// Output cannot be written, for example because the reading program has ended.
    pub(crate) fn output(error: impl Into<anyhow::Error>) -> Self {
        let error = error.into().context("the output can't be written");
        Self { is_output: true, ..Self::new(Exit::Errors, error) }
    }

    pub(crate) fn interrupted() -> Self {
        Self::new(Exit::Interrupted, anyhow::anyhow!("interrupted"))
    }

    /// Returns the error and its causes. A cause that repeats another one is left out.
    pub(crate) fn text(&self) -> String {
        let mut causes: Vec<String> = Vec::new();
        for cause in self.error.chain().map(ToString::to_string) {
            if !causes.iter().any(|other| other.contains(&cause)) {
                causes.retain(|other| !cause.contains(other.as_str()));
                causes.push(cause);
            }
        }
        causes.join(": ")
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn each_cause_is_reported_once() {
        let text = |causes: &[&'static str]| {
            let (last, outer) = causes.split_last().unwrap();
            let error = outer.iter().rev().fold(anyhow!(*last), |error, context| error.context(*context));
            Failure::usage(error).text()
        };
        assert_eq!(text(&["can't open", "denied"]), "can't open: denied");
        assert_eq!(text(&["can't open: denied", "denied"]), "can't open: denied");
        assert_eq!(text(&["can't open: denied: by whom", "denied", "denied"]), "can't open: denied: by whom");
        assert_eq!(text(&["can't open", "refused", "refused (111)"]), "can't open: refused (111)");
    }

    #[cfg(unix)]
    #[test]
    fn failures_never_become_success() {
        for (code, expected) in
            [(0, 0), (1, 1), (255, 255), (256, 1), (257, 1), (512, 1), (-1, 255), (i32::MIN, 1)]
        {
            assert_eq!(ExitCode::from(Exit::Code(code)), ExitCode::from(expected), "{code}");
        }
    }
}
