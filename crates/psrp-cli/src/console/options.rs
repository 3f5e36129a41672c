//! Console options.

use super::ConsoleHost;
use super::progress::ProgressBars;
use super::session::Session;
use super::stdio::Stdio;
use super::terminal::Terminal;

/// Options of a [`ConsoleHost`].
#[derive(Clone, Debug)]
#[must_use]
pub(crate) struct ConsoleOptions {
    text_to_errors: bool,
    reads_input: bool,
    colors: Option<bool>,
    has_progress: bool,
}

impl ConsoleOptions {
    /// Returns the default options.
    pub(crate) fn new() -> Self {
        Self { text_to_errors: false, reads_input: true, colors: None, has_progress: true }
    }

    /// Sends script output to standard error. Default: standard output.
    pub(crate) fn text_to_errors(mut self) -> Self {
        self.text_to_errors = true;
        self
    }

    /// Prompts do not read standard input and fail with end of input. Default: prompts read it.
    pub(crate) fn without_input(mut self) -> Self {
        self.reads_input = false;
        self
    }

    /// Enables or disables colours. Default: enabled if the output is a terminal and `NO_COLOR` is not set.
    pub(crate) fn colors(mut self, colors: bool) -> Self {
        self.colors = Some(colors);
        self
    }

    /// Hides progress bars. Default: shown if standard error is a terminal.
    pub(crate) fn without_progress(mut self) -> Self {
        self.has_progress = false;
        self
    }

    /// Creates a host on the standard streams of this process.
    pub(crate) fn stdio(self) -> ConsoleHost {
        let mut stdio = Stdio::new();
        stdio.all_to_errors = self.text_to_errors;
        stdio.reads_input = self.reads_input;
        self.at(Box::new(stdio))
    }

    pub(super) fn at(self, terminal: Box<dyn Terminal>) -> ConsoleHost {
        let mut session = Session::new(terminal);
        session.colors = self.colors;
        if !self.has_progress {
            session.bars = ProgressBars::new(None);
        }
        ConsoleHost::with_session(session)
    }
}
