//! How a console is made.

use std::io::{BufRead, Write};

use super::ConsoleHost;
use super::progress::Bars;
use super::session::Session;
use super::stdio::Stdio;
use super::terminal::{Streams, Terminal};

/// What a [`ConsoleHost`] is like.
///
/// ```
/// use psrp::io::ConsoleOptions;
///
/// // The standard output is for the program's own: all else goes to the error output.
/// let host = ConsoleOptions::new().text_to_errors().without_progress().stdio();
/// assert_eq!(host.exit_code(), None);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ConsoleOptions {
    text_to_errors: bool,
    reads_input: bool,
    colors: Option<bool>,
    has_progress: bool,
}

impl ConsoleOptions {
    /// The usual.
    pub fn new() -> Self {
        Self { text_to_errors: false, reads_input: true, colors: None, has_progress: true }
    }

    /// Sends what scripts write to the error output, like everything else. Default: to the standard output.
    pub fn text_to_errors(mut self) -> Self {
        self.text_to_errors = true;
        self
    }

    /// Leaves the standard input to the program: a prompt finds its end there. Default: prompts read it.
    pub fn without_input(mut self) -> Self {
        self.reads_input = false;
        self
    }

    /// Decides whether there are colours. Default: where the output is a terminal, unless `NO_COLOR` is set.
    pub fn colors(mut self, colors: bool) -> Self {
        self.colors = Some(colors);
        self
    }

    /// Shows no bars of progress. Default: where the error output is a terminal.
    pub fn without_progress(mut self) -> Self {
        self.has_progress = false;
        self
    }

    /// A host at the standard input and outputs of this process.
    pub fn stdio(self) -> ConsoleHost {
        let mut stdio = Stdio::new();
        stdio.all_to_errors = self.text_to_errors;
        stdio.reads_input = self.reads_input;
        self.at(Box::new(stdio))
    }

    /// A host that reads lines and writes all text to one place.
    pub fn over(
        self,
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> ConsoleHost {
        self.at(Box::new(Streams { input, output }))
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

impl Default for ConsoleOptions {
    fn default() -> Self {
        Self::new()
    }
}
