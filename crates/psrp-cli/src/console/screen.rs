//! Keyboard and screen of the terminal of the process.

use std::io::{self, Write};
use std::time::Duration;

use crossterm::event::{self, Event, KeyEventKind};
use crossterm::{cursor, terminal};
use psrp::host::{BufferCell, Coordinates, HostRequest, HostResult, ReadKeyOptions, Rectangle, Size};

use super::keys::{is_interrupt, key_info};
use super::session::CallError;
use super::terminal::Cancel;
use crate::printable::printable;

/// Interval at which a blocked call checks for cancellation.
pub(super) const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Raw mode of the terminal, restored on drop.
pub(super) struct RawMode;

impl RawMode {
    pub(super) fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let _ = terminal::disable_raw_mode();
    }
}

/// Returns the next event, `None` if cancelled.
pub(super) fn next_event(cancel: &Cancel) -> io::Result<Option<Event>> {
    while !event::poll(CANCEL_POLL_INTERVAL)? {
        if cancel.strong_count() == 0 {
            return Ok(None);
        }
    }
    event::read().map(Some)
}

/// Makes typed or pasted text safe to echo.
pub(super) fn visible(text: &str) -> String {
    printable(text, false).replace(['\t', '\n'], " ")
}

pub(super) fn size() -> Size {
    let (width, height) = terminal::size().unwrap_or((120, 50));
    Size { width: width.into(), height: height.into() }
}

/// Sets the window title, which must be escaped.
pub(super) fn set_title(title: &str) -> io::Result<()> {
    crossterm::execute!(io::stdout(), terminal::SetTitle(title))
}

/// Executes a host call about keyboard or screen.
pub(super) fn call(request: HostRequest, cancel: &Cancel) -> Result<HostResult, CallError> {
    use HostRequest as R;

    match request {
        R::GetCursorPosition => {
            let (x, y) = cursor::position()?;
            return Ok(HostResult::Coordinates(Coordinates { x: x.into(), y: y.into() }));
        }
        R::SetCursorPosition { position } => {
            let Size { width, height } = size();
            let cell = |at: i32, count: i32| u16::try_from(at.clamp(0, (count - 1).max(0))).unwrap_or(0);
            let to = cursor::MoveTo(cell(position.x, width), cell(position.y, height));
            crossterm::execute!(io::stdout(), to)?;
        }
        R::GetWindowPosition => return Ok(HostResult::Coordinates(Coordinates::default())),
        R::GetBufferSize | R::GetWindowSize | R::GetMaxWindowSize | R::GetMaxPhysicalWindowSize => {
            return Ok(HostResult::Size(size()));
        }
        R::GetKeyAvailable => {
            let _raw = RawMode::enter()?;
            return Ok(HostResult::Bool(event::poll(Duration::ZERO)?));
        }
        R::ReadKey { options } => return read_key(options, cancel),
        R::FlushInputBuffer => {
            let _raw = RawMode::enter()?;
            while event::poll(Duration::ZERO)? {
                event::read()?;
            }
        }
        // `Clear-Host` fills the whole buffer with blanks.
        R::SetBufferContents1 { rectangle, fill: BufferCell { character: 0 | 0x20, .. } }
            if is_everything(rectangle, size()) =>
        {
            let all = terminal::Clear(terminal::ClearType::All);
            crossterm::execute!(io::stdout(), all, cursor::MoveTo(0, 0))?;
        }
        // Other calls need the contents of the screen, which scripts must not read.
        request if request.method().is_void() => {}
        _ => return Err(CallError::NotImplemented),
    }
    Ok(HostResult::Nothing)
}

fn is_everything(rectangle: Rectangle, size: Size) -> bool {
    let Rectangle { left, top, right, bottom } = rectangle;
    [left, top, right, bottom] == [-1; 4]
        || (left <= 0 && top <= 0 && right >= size.width - 1 && bottom >= size.height - 1)
}

fn read_key(options: ReadKeyOptions, cancel: &Cancel) -> Result<HostResult, CallError> {
    let raw = RawMode::enter()?;
    let key = loop {
        let event = next_event(cancel)?.ok_or(CallError::Interrupted)?;
        let Event::Key(key) = event else { continue };
        if is_interrupt(&key) && !options.contains(ReadKeyOptions::ALLOW_CTRL_C) {
            return Err(CallError::Interrupted);
        }
        if key.kind != KeyEventKind::Release || options.contains(ReadKeyOptions::INCLUDE_KEY_UP) {
            break key;
        }
    };
    drop(raw);
    if !options.contains(ReadKeyOptions::NO_ECHO)
        && let Some(char) = key.code.as_char()
    {
        write!(io::stderr(), "{}", visible(char.encode_utf8(&mut [0; 4])))?;
    }
    Ok(HostResult::Key(key_info(&key, options)))
}
