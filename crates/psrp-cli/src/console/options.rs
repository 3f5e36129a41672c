//! How a console is made.

use super::ConsoleHost;
use super::progress::Bars;
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
    /// The usual.
    pub(crate) fn new() -> Self {
        Self { text_to_errors: false, reads_input: true, colors: None, has_progress: true }
    }

    /// Sends what scripts write to the error output, like everything else. Default: to the standard output.
    pub(crate) fn text_to_errors(mut self) -> Self {
        self.text_to_errors = true;
        self
    }

    /// Leaves the standard input to the program: a prompt finds its end there. Default: prompts read it.
    pub(crate) fn without_input(mut self) -> Self {
        self.reads_input = false;
        self
    }

    /// Decides whether there are colours. Default: where the output is a terminal, unless `NO_COLOR` is set.
    pub(crate) fn colors(mut self, colors: bool) -> Self {
        self.colors = Some(colors);
        self
    }

    /// Shows no bars of progress. Default: where the error output is a terminal.
    pub(crate) fn without_progress(mut self) -> Self {
        self.has_progress = false;
        self
    }

    /// A host at the standard input and outputs of this process.
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
            session.bars = Bars::new(None);
        }
        ConsoleHost::with_session(session)
    }
}
