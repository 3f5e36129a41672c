//! What a console writes to and reads from.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressDrawTarget;
use psrp::host::{Coordinates, KeyInfo, ReadKeyOptions, Size};
use zeroize::Zeroizing;

/// The longest line that is read from anything but the keyboard, in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    /// What the program itself has to tell.
    Own,
    /// What a script writes.
    Output,
    /// Prompts, errors, warnings and the like.
    Messages,
}

/// Whether what is typed can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Echo {
    Shown,
    Hidden,
}

/// What came of a question to the user.
#[derive(Debug)]
pub(super) enum Line {
    /// A line without its end.
    Text(Zeroizing<String>),
    /// There is no more input.
    End,
    /// The user pressed Ctrl+C.
    Interrupted,
}

/// What came of waiting for a key.
#[derive(Debug)]
pub(super) enum Key {
    /// A key, with the character to be shown for it.
    Pressed(KeyInfo),
    /// The user pressed Ctrl+C, which was not asked for.
    Interrupted,
}

/// Tells a call that waits for the user that nobody waits for the call any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sets it when the future that holds this is dropped.
#[derive(Debug)]
pub(super) struct CancelOnDrop(pub(super) Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// The place where a console is. All methods may block.
///
/// What is handed in may be shown as it is: texts of the other side are made safe before.
pub(super) trait Terminal: Send {
    /// Whether text there may have colours.
    fn has_colors(&self, channel: Channel) -> bool;

    /// Writes at once.
    fn write(&mut self, channel: Channel, text: &str) -> io::Result<()>;

    /// Asks for a line. The question is shown as messages are, behind what the line has `before` it already.
    fn read_line(&mut self, before: &str, question: &str, echo: Echo, cancel: &Cancel) -> io::Result<Line>;

    /// Where bars of progress can be drawn, if they can.
    fn bars(&self) -> Option<ProgressDrawTarget> {
        None
    }

    /// Keyboard and screen, if there are.
    fn screen(&mut self) -> Option<&mut dyn Screen> {
        None
    }
}

/// Keyboard and screen of a terminal. All methods may block.
pub(super) trait Screen {
    fn size(&self) -> Size;
    fn cursor(&mut self) -> io::Result<Coordinates>;
    fn move_cursor(&mut self, to: Coordinates) -> io::Result<()>;
    fn set_title(&mut self, title: &str) -> io::Result<()>;
    fn clear(&mut self) -> io::Result<()>;
    fn read_key(&mut self, options: ReadKeyOptions, cancel: &Cancel) -> io::Result<Key>;
    fn key_available(&mut self) -> io::Result<bool>;
    fn drop_keys(&mut self) -> io::Result<()>;
}

/// Reads a line of bounded length, without its end. Bytes that are no UTF-8 become U+FFFD.
pub(super) fn read_line(input: &mut (impl BufRead + ?Sized)) -> io::Result<Line> {
    let mut bytes = Zeroizing::new(Vec::new());
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            if bytes.is_empty() {
                return Ok(Line::End);
            }
            break;
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        if bytes.len() + part.len() > LONGEST_LINE {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the line is too long"));
        }
        append(&mut bytes, part);
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    let text = bytes.strip_suffix(b"\r").unwrap_or(&bytes);
    // Each byte takes three at most: nothing is left behind by growing.
    let mut line = Zeroizing::new(String::with_capacity(text.len() * 3));
    for chunk in text.utf8_chunks() {
        line.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            line.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Ok(Line::Text(line))
}

/// Appends without leaving copies behind.
fn append(bytes: &mut Zeroizing<Vec<u8>>, part: &[u8]) {
    if bytes.capacity() - bytes.len() < part.len() {
        let mut larger = Vec::with_capacity((bytes.len() + part.len()).next_power_of_two().max(256));
        larger.extend_from_slice(bytes);
        *bytes = Zeroizing::new(larger);
    }
    bytes.extend_from_slice(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut input: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        while let Line::Text(line) = read_line(&mut input).unwrap() {
            lines.push(line.to_string());
        }
        lines
    }

    #[test]
    fn lines_end_in_any_way() {
        assert_eq!(lines(b"a\r\nb\n\nlast"), ["a", "b", "", "last"]);
        assert_eq!(lines(b"\xC3\xA4\xFF"), ["\u{e4}\u{FFFD}"]);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut input = io::BufReader::new(io::repeat(b'a'));
        assert_eq!(read_line(&mut input).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
