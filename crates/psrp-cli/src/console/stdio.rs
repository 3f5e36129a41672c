//! Terminal on the standard streams of the process.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc;
use std::thread;

use crossterm::event::Event;
use indicatif::ProgressDrawTarget;

use super::editor::{Edit, Editor};
use super::screen::{CANCEL_POLL_INTERVAL, RawMode, next_event, visible};
use super::style::allows_colors;
use super::terminal::{Cancel, Channel, Echo, Line, Terminal, read_line};

/// Progress bar redraws per second.
const REDRAWS_PER_SECOND: u8 = 10;

pub(super) struct Stdio {
    /// Whether prompts may read standard input.
    pub(super) reads_input: bool,
    input_is_terminal: bool,
    output_is_terminal: bool,
    errors_are_terminal: bool,
    /// Whether script output goes to standard error instead of standard output.
    pub(super) all_to_errors: bool,
    allows_colors: bool,
}

impl Stdio {
    pub(super) fn new() -> Self {
        Self {
            reads_input: true,
            input_is_terminal: io::stdin().is_terminal(),
            output_is_terminal: io::stdout().is_terminal(),
            errors_are_terminal: io::stderr().is_terminal(),
            all_to_errors: false,
            allows_colors: allows_colors(),
        }
    }

    fn is_terminal(&self, channel: Channel) -> bool {
        match channel {
            Channel::Output if self.all_to_errors => self.errors_are_terminal,
            Channel::Program | Channel::Output => self.output_is_terminal,
            Channel::Messages => self.errors_are_terminal,
        }
    }

    /// Reads a line key by key and echoes it.
    fn edit(before: &str, question: &str, echo: Echo, cancel: &Cancel) -> io::Result<Line> {
        let mut out = io::stderr();
        let _raw = RawMode::enter()?;
        let mut editor = Editor::new();
        // Only the last line of the question can be redrawn.
        let (before, last) = match question.rsplit_once('\n') {
            Some((_, last)) => ("", last),
            None => (before, question),
        };
        loop {
            let Some(event) = next_event(cancel)? else { return Ok(Line::Interrupted) };
            let edit = match event {
                Event::Key(key) => editor.key(key),
                _ => Edit::None,
            };
            match edit {
                Edit::None => {}
                Edit::Added if echo == Echo::Shown => {
                    let start = editor.line().char_indices().next_back().map_or(0, |(at, _)| at);
                    write!(out, "{}", visible(&editor.line()[start..]))?;
                }
                Edit::Changed if echo == Echo::Shown => {
                    write!(out, "\r\x1b[K{before}{last}{}", visible(editor.line()))?;
                }
                Edit::Added | Edit::Changed => {}
                Edit::Done => {
                    write!(out, "\r\n")?;
                    return Ok(Line::Text(editor.into_line()));
                }
                Edit::End => {
                    write!(out, "\r\n")?;
                    return Ok(Line::End);
                }
                Edit::Interrupted => {
                    write!(out, "^C\r\n")?;
                    return Ok(Line::Interrupted);
                }
            }
            out.flush()?;
        }
    }
}

/// Reads a line of standard input. A cancelled call leaves its thread behind.
fn read_input(cancel: &Cancel) -> io::Result<Line> {
    let (sender, line) = mpsc::channel();
    thread::spawn(move || sender.send(read_line(&mut io::stdin().lock())));
    loop {
        match line.recv_timeout(CANCEL_POLL_INTERVAL) {
            Ok(line) => return line,
            Err(mpsc::RecvTimeoutError::Timeout) if cancel.strong_count() > 0 => {}
            Err(_) => return Ok(Line::Interrupted),
        }
    }
}

/// Standard output and error for one of several hosts: whole lines, each with the name of the host. Output of the program
/// itself has no prefix.
pub(super) struct PrefixedStdio {
    stdio: Stdio,
    prefix: String,
    /// Unfinished line, and its channel.
    line: String,
    channel: Channel,
}

impl PrefixedStdio {
    pub(super) fn new(stdio: Stdio, prefix: String) -> Self {
        Self { stdio, prefix, line: String::new(), channel: Channel::Messages }
    }

    /// Adds the prefix to each line.
    fn prefixed(&self, lines: &str) -> String {
        lines.split_inclusive('\n').flat_map(|line| [self.prefix.as_str(), line]).collect()
    }
}

impl Terminal for PrefixedStdio {
    fn has_colors(&self, channel: Channel) -> bool {
        self.stdio.has_colors(channel)
    }

    fn write(&mut self, channel: Channel, mut text: &str) -> io::Result<()> {
        if channel == Channel::Program {
            return self.stdio.write(channel, text);
        }
        if channel != self.channel && !self.line.is_empty() {
            let line = std::mem::take(&mut self.line) + "\n";
            let line = self.prefixed(&line);
            self.stdio.write(self.channel, &line)?;
            text = text.strip_prefix('\n').unwrap_or(text);
        }
        self.channel = channel;
        self.line += text;
        let Some(end) = self.line.rfind('\n') else { return Ok(()) };
        let rest = self.line.split_off(end + 1);
        let lines = std::mem::replace(&mut self.line, rest);
        let lines = self.prefixed(&lines);
        self.stdio.write(channel, &lines)
    }

    fn read_line(&mut self, _: &str, _: &str, _: Echo, _: &Cancel) -> io::Result<Line> {
        Ok(Line::End)
    }
}

impl Terminal for Stdio {
    fn has_colors(&self, channel: Channel) -> bool {
        self.allows_colors && self.is_terminal(channel)
    }

    fn write(&mut self, channel: Channel, text: &str) -> io::Result<()> {
        match channel {
            Channel::Output if self.all_to_errors => io::stderr().lock().write_all(text.as_bytes()),
            Channel::Messages => io::stderr().lock().write_all(text.as_bytes()),
            Channel::Program | Channel::Output => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()
            }
        }
    }

    fn read_line(&mut self, before: &str, question: &str, echo: Echo, cancel: &Cancel) -> io::Result<Line> {
        if !self.reads_input {
            return Ok(Line::End);
        }
        self.write(Channel::Messages, question)?;
        // Otherwise the terminal itself echoes the line.
        if self.has_keys() || self.input_is_terminal && echo == Echo::Hidden {
            return Self::edit(before, question, echo, cancel);
        }
        let line = read_input(cancel)?;
        if !self.input_is_terminal {
            // The input did not end the line of the question.
            self.write(Channel::Messages, "\n")?;
        }
        Ok(line)
    }

    fn bars(&self) -> Option<ProgressDrawTarget> {
        self.errors_are_terminal.then(|| ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND))
    }

    fn has_keys(&self) -> bool {
        self.input_is_terminal && self.errors_are_terminal
    }

    fn has_screen(&self) -> bool {
        self.has_keys() && self.output_is_terminal
    }
}
