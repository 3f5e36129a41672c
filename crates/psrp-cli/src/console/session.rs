//! Console state and host calls.

use std::fmt;
use std::io;

use psrp::host::{ConsoleColor, HostRequest, HostResult};
use psrp::message::{HostDefaultData, HostInfo};
use psrp::value::{PsString, SecureString};
use zeroize::Zeroizing;

use super::progress::ProgressBars;
use super::screen;
use super::style::Style;
use super::terminal::{Cancel, Channel, Echo, Line, Terminal};
use crate::printable::printable;

/// Maximum bytes remembered of an unfinished line.
const MAX_PARTIAL_BYTES: usize = 4096;

pub(super) struct Session {
    pub(super) terminal: Box<dyn Terminal>,
    pub(super) bars: ProgressBars,
    /// Enables or disables colours; `None` lets the terminal decide.
    pub(super) colors: Option<bool>,
    /// Cancels the current call.
    pub(super) cancel: Cancel,
    /// Text on the current line, including colour sequences.
    partial: String,
    foreground: Option<ConsoleColor>,
    background: Option<ConsoleColor>,
    cursor_size: i32,
    title: PsString,
}

/// Failure of a host call or prompt.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The console does not support the method.
    NotImplemented,
    /// End of input.
    End,
    /// The user pressed Ctrl+C, or the call was cancelled.
    Interrupted,
    /// Invalid request.
    Invalid(&'static str),
    /// Terminal I/O error.
    Io(io::Error),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotImplemented => "the console does not support this method",
            Self::End => "end of input",
            Self::Interrupted => "the prompt was cancelled with Ctrl+C",
            Self::Invalid(reason) => reason,
            Self::Io(error) => return error.fmt(f),
        })
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for CallError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Session {
    pub(super) fn new(terminal: Box<dyn Terminal>) -> Self {
        let HostDefaultData { cursor_size, .. } = HostDefaultData::default();
        Self {
            bars: ProgressBars::new(terminal.bars()),
            terminal,
            colors: None,
            cancel: Cancel::new(),
            partial: String::new(),
            foreground: None,
            background: None,
            cursor_size,
            title: PsString::default(),
        }
    }

    /// Returns the description of the console sent to the server.
    pub(super) fn info(&self) -> HostInfo {
        if !self.terminal.has_screen() {
            return HostInfo::lines();
        }
        let size = screen::size();
        HostInfo::console(HostDefaultData {
            buffer_size: size,
            window_size: size,
            max_window_size: size,
            max_physical_window_size: size,
            ..HostDefaultData::default()
        })
    }

    /// Writes untrusted text. All text from the server reaches the terminal through this function.
    pub(super) fn write(&mut self, channel: Channel, style: Style, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.partial.is_empty() {
            self.bars.hide();
        }
        let colors = self.colors.unwrap_or_else(|| self.terminal.has_colors(channel));
        let safe = printable(text, colors);
        let mut painted = String::with_capacity(safe.len() + 16);
        match colors {
            true => style.paint(&safe, &mut painted),
            false => painted.push_str(&safe),
        }
        let written = self.terminal.write(channel, &painted);
        match painted.rsplit_once('\n') {
            Some((_, last)) => last.clone_into(&mut self.partial),
            None if self.partial.len() + painted.len() <= MAX_PARTIAL_BYTES => self.partial += &painted,
            None => {}
        }
        if self.partial.is_empty() {
            self.bars.show();
        }
        written
    }

    pub(super) fn write_line(&mut self, channel: Channel, style: Style, text: &str) -> io::Result<()> {
        self.write(channel, style, &format!("{text}\n"))
    }

    /// Returns whether the next text starts a line.
    pub(super) fn is_at_line_start(&self) -> bool {
        self.partial.is_empty()
    }

    pub(super) fn end_partial_line(&mut self) -> io::Result<()> {
        match self.partial.is_empty() {
            true => Ok(()),
            false => self.write(Channel::Messages, Style::PLAIN, "\n"),
        }
    }

    /// Prompts for a line.
    pub(super) fn ask(&mut self, question: &str, echo: Echo) -> Result<Zeroizing<String>, CallError> {
        if self.partial.is_empty() {
            self.bars.hide();
        }
        let line = self.terminal.read_line(&self.partial, &printable(question, false), echo, &self.cancel);
        self.partial.clear();
        self.bars.show();
        match line? {
            Line::Text(text) => Ok(text),
            Line::End => Err(CallError::End),
            Line::Interrupted => Err(CallError::Interrupted),
        }
    }

    pub(super) fn call(&mut self, request: HostRequest) -> Result<HostResult, CallError> {
        use Channel::{Messages, Output};
        use HostRequest as R;

        match request {
            R::ReadLine => {
                let line = self.ask("", Echo::Shown)?;
                return Ok(HostResult::Text((&**line).into()));
            }
            R::ReadLineAsSecureString => {
                let line = self.ask("", Echo::Hidden)?;
                return Ok(HostResult::Secure(SecureString::new(&line)));
            }
            R::Write1 { text } => self.write(Output, self.style(), &text.to_str_lossy())?,
            R::Write2 { foreground, background, text } => {
                self.write(Output, self.style_of(foreground, background), &text.to_str_lossy())?;
            }
            R::WriteLine1 => self.write(Output, Style::PLAIN, "\n")?,
            R::WriteLine2 { text } => self.write_line(Output, self.style(), &text.to_str_lossy())?,
            R::WriteLine3 { foreground, background, text } => {
                self.write_line(Output, self.style_of(foreground, background), &text.to_str_lossy())?;
            }
            R::WriteErrorLine { text } => self.write_line(Messages, Style::ERROR, &text.to_str_lossy())?,
            R::WriteDebugLine { text } => self.write_labeled("DEBUG", Style::DETAIL, &text)?,
            R::WriteVerboseLine { text } => self.write_labeled("VERBOSE", Style::DETAIL, &text)?,
            R::WriteWarningLine { text } => self.write_labeled("WARNING", Style::WARNING, &text)?,
            R::WriteProgress { source_id, record } => {
                let is_visible = self.is_at_line_start();
                self.bars.update(source_id, &record, is_visible);
            }
            R::Prompt { caption, message, fields } => {
                return Ok(HostResult::Answers(self.prompt(&caption, &message, &fields)?));
            }
            R::PromptForCredential1 { caption, message, user_name, target_name }
            | R::PromptForCredential2 { caption, message, user_name, target_name, .. } => {
                return self.credential(&caption, &message, &user_name, &target_name);
            }
            R::PromptForChoice { caption, message, choices, default_choice } => {
                let chosen = self.choose(&caption, &message, &choices, &[default_choice], false)?;
                return Ok(HostResult::Number(chosen[0]));
            }
            R::PromptForChoiceMultipleSelection { caption, message, choices, default_choices } => {
                let chosen = self.choose(&caption, &message, &choices, &default_choices, true)?;
                return Ok(HostResult::Choices(chosen));
            }
            R::GetIsRunspacePushed => return Ok(HostResult::Bool(false)),
            request => return self.raw_call(request),
        }
        Ok(HostResult::Nothing)
    }

    /// Writes a line prefixed with its stream.
    pub(super) fn write_labeled(&mut self, name: &str, style: Style, text: &PsString) -> io::Result<()> {
        self.write_line(Channel::Messages, style, &format!("{name}: {}", text.to_str_lossy()))
    }

    /// Executes calls about keyboard and screen.
    fn raw_call(&mut self, request: HostRequest) -> Result<HostResult, CallError> {
        use HostRequest as R;

        // Without a screen these settings are only remembered, so that scripts can read them back.
        match request {
            R::GetForegroundColor => return Ok(HostResult::Color(self.current_colors().0)),
            R::GetBackgroundColor => return Ok(HostResult::Color(self.current_colors().1)),
            R::SetForegroundColor { color } => self.foreground = Some(color),
            R::SetBackgroundColor { color } => self.background = Some(color),
            R::GetCursorSize => return Ok(HostResult::Number(self.cursor_size)),
            R::SetCursorSize { size } => self.cursor_size = size,
            R::GetWindowTitle => return Ok(HostResult::Text(self.title.clone())),
            R::SetWindowTitle { title } => {
                if self.terminal.has_screen() {
                    screen::set_title(&screen::visible(&title.to_str_lossy()))?;
                }
                self.title = title;
            }
            request if self.terminal.has_screen() => {
                let result = screen::call(request, &self.cancel)?;
                // The cursor position is unknown now.
                self.partial.clear();
                return Ok(result);
            }
            request if request.method().is_void() => {}
            _ => return Err(CallError::NotImplemented),
        }
        Ok(HostResult::Nothing)
    }

    fn current_colors(&self) -> (ConsoleColor, ConsoleColor) {
        let HostDefaultData { foreground_color, background_color, .. } = HostDefaultData::default();
        (self.foreground.unwrap_or(foreground_color), self.background.unwrap_or(background_color))
    }

    /// Returns the current style of plain text.
    pub(super) fn style(&self) -> Style {
        Style { foreground: self.foreground, background: self.background }
    }

    /// Returns the style for colours requested by a script. The console's default colours mean no explicit colour.
    pub(super) fn style_of(&self, foreground: ConsoleColor, background: ConsoleColor) -> Style {
        let now = self.current_colors();
        Style {
            foreground: if foreground == now.0 { self.foreground } else { Some(foreground) },
            background: if background == now.1 { self.background } else { Some(background) },
        }
    }
}
