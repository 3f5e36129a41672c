//! Console options.

use super::ConsoleHost;
use super::progress::ProgressBars;
use super::session::Session;
use super::stdio::Stdio;
use super::terminal::Terminal;

/// Options of a [`ConsoleHost`].
#[derive(Clone, Debug, Default)]
pub(crate) struct ConsoleOptions {
    /// Sends script output to standard error instead of standard output.
    pub(crate) text_to_errors: bool,
    /// Prompts fail with end of input instead of reading standard input.
    pub(crate) without_input: bool,
    /// Enables or disables colours. Default: enabled if the output is a terminal and `NO_COLOR` is not set.
    pub(crate) colors: Option<bool>,
    /// Hides progress bars. Default: shown if standard error is a terminal.
    pub(crate) without_progress: bool,
}

impl ConsoleOptions {
    /// Creates a host on the standard streams of this process.
    pub(crate) fn stdio(self) -> ConsoleHost {
        let mut stdio = Stdio::new();
        stdio.all_to_errors = self.text_to_errors;
        stdio.reads_input = !self.without_input;
        self.at(Box::new(stdio))
    }

    pub(super) fn at(self, terminal: Box<dyn Terminal>) -> ConsoleHost {
        let mut session = Session::new(terminal);
        session.colors = self.colors;
        if self.without_progress {
            session.bars = ProgressBars::new(None);
        }
        ConsoleHost::with_session(session)
    }
}
