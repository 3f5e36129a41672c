//! Terminal on the standard streams of the process.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use crossterm::event::{self, Event, KeyEventKind};
use crossterm::{cursor, terminal};
use indicatif::ProgressDrawTarget;
use psrp::host::{Coordinates, ReadKeyOptions, Size};
use psrp::terminal_safe;

use super::editor::{Edit, Editor};
use super::keys::{is_interrupt, key_info};
use super::terminal::{Cancel, Channel, Echo, Key, Line, Screen, Terminal, read_line};

/// Interval at which a blocked call checks for cancellation.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Progress bar redraws per second.
const REDRAWS_PER_SECOND: u8 = 10;

/// Standard input, output and error of the process.
pub(super) struct Stdio {
    /// True if prompts may read standard input.
    pub(super) reads_input: bool,
    input_is_terminal: bool,
    output_is_terminal: bool,
    errors_are_terminal: bool,
    /// True if script output goes to standard error instead of standard output.
    pub(super) all_to_errors: bool,
    allows_colors: bool,
}

impl Stdio {
    pub(super) fn new() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            reads_input: true,
            input_is_terminal: io::stdin().is_terminal(),
            output_is_terminal: io::stdout().is_terminal(),
            errors_are_terminal: io::stderr().is_terminal(),
            all_to_errors: false,
            allows_colors: set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb"),
        }
    }

    fn is_terminal(&self, channel: Channel) -> bool {
        match channel {
            Channel::Output if self.all_to_errors => self.errors_are_terminal,
            Channel::Program | Channel::Output => self.output_is_terminal,
            Channel::Messages => self.errors_are_terminal,
        }
    }

    /// Returns whether input can be read key by key.
    fn has_keys(&self) -> bool {
        self.input_is_terminal && self.errors_are_terminal
    }

    /// Reads a line key by key and echoes it.
    fn edit(before: &str, question: &str, echo: Echo, cancel: &Cancel) -> io::Result<Line> {
        let mut out = io::stderr();
        let _raw = RawMode::enter()?;
        let mut editor = Editor::default();
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

/// Makes typed or pasted text safe to echo.
fn visible(text: &str) -> String {
    terminal_safe(text).replace(['\t', '\n'], " ")
}

/// Returns the next event, `None` if cancelled.
fn next_event(cancel: &Cancel) -> io::Result<Option<Event>> {
    while !event::poll(CANCEL_POLL_INTERVAL)? {
        if cancel.is_set() {
            return Ok(None);
        }
    }
    event::read().map(Some)
}

/// Raw mode of the terminal, restored on drop.
struct RawMode;

impl RawMode {
    fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let _ = terminal::disable_raw_mode();
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
        let line = read_line(&mut io::stdin().lock())?;
        if !self.input_is_terminal {
            // The input did not end the line of the question.
            self.write(Channel::Messages, "\n")?;
        }
        Ok(line)
    }

    fn bars(&self) -> Option<ProgressDrawTarget> {
        self.errors_are_terminal.then(|| ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND))
    }

    fn screen(&mut self) -> Option<&mut dyn Screen> {
        if self.has_keys() && self.output_is_terminal { Some(self) } else { None }
    }
}

impl Screen for Stdio {
    fn size(&self) -> Size {
        let (width, height) = terminal::size().unwrap_or((120, 50));
        Size { width: width.into(), height: height.into() }
    }

    fn cursor(&mut self) -> io::Result<Coordinates> {
        let (x, y) = cursor::position()?;
        Ok(Coordinates { x: x.into(), y: y.into() })
    }

    fn move_cursor(&mut self, to: Coordinates) -> io::Result<()> {
        let Size { width, height } = self.size();
        let cell = |at: i32, count: i32| u16::try_from(at.clamp(0, (count - 1).max(0))).unwrap_or(0);
        crossterm::execute!(io::stdout(), cursor::MoveTo(cell(to.x, width), cell(to.y, height)))
    }

    fn set_title(&mut self, title: &str) -> io::Result<()> {
        crossterm::execute!(io::stdout(), terminal::SetTitle(title))
    }

    fn clear(&mut self) -> io::Result<()> {
        crossterm::execute!(io::stdout(), terminal::Clear(terminal::ClearType::All), cursor::MoveTo(0, 0))
    }

    fn read_key(&mut self, options: ReadKeyOptions, cancel: &Cancel) -> io::Result<Key> {
        let raw = RawMode::enter()?;
        let key = loop {
            let Some(event) = next_event(cancel)? else { return Ok(Key::Interrupted) };
            let Event::Key(key) = event else { continue };
            if is_interrupt(&key) && !options.contains(ReadKeyOptions::ALLOW_CTRL_C) {
                return Ok(Key::Interrupted);
            }
            if key.kind == KeyEventKind::Release && !options.contains(ReadKeyOptions::INCLUDE_KEY_UP) {
                continue;
            }
            break key;
        };
        drop(raw);
        if !options.contains(ReadKeyOptions::NO_ECHO)
            && let Some(char) = key.code.as_char()
        {
            self.write(Channel::Messages, &visible(char.encode_utf8(&mut [0; 4])))?;
        }
        Ok(Key::Pressed(key_info(&key, options)))
    }

    fn key_available(&mut self) -> io::Result<bool> {
        let _raw = RawMode::enter()?;
        event::poll(Duration::ZERO)
    }

    fn discard_keys(&mut self) -> io::Result<()> {
        let _raw = RawMode::enter()?;
        while event::poll(Duration::ZERO)? {
            event::read()?;
        }
        Ok(())
    }
}
