//! Terminal interface of the console.

use std::io::{self, BufRead};
use std::sync::Weak;

use indicatif::ProgressDrawTarget;
use zeroize::Zeroizing;

/// Maximum length of a line read from input other than the keyboard, in bytes.
const MAX_LINE_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// Output of the program itself.
    Program,
    /// Script output.
    Output,
    /// Prompts, errors, warnings and other messages.
    Messages,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    Shown,
    Hidden,
}

#[derive(Debug)]
pub(super) enum Line {
    /// A line without its line end.
    Text(Zeroizing<String>),
    /// End of input.
    End,
    /// The user pressed Ctrl+C.
    Interrupted,
}

/// Cancellation token of a blocked call. The future that waits for the call owns the value; once the value is
/// dropped, the call is cancelled.
pub(super) type Cancel = Weak<()>;

/// A terminal. All methods may block.
///
/// Text is written unchanged: callers escape text from the server.
pub(super) trait Terminal: Send {
    fn has_colors(&self, channel: Channel) -> bool;

    /// Writes and flushes text.
    fn write(&mut self, channel: Channel, text: &str) -> io::Result<()>;

    /// Prompts for a line. The question follows the text `before`, which is already on the line.
    fn read_line(&mut self, before: &str, question: &str, echo: Echo, cancel: &Cancel) -> io::Result<Line>;

    /// Returns the draw target for progress bars, if supported.
    fn bars(&self) -> Option<ProgressDrawTarget> {
        None
    }

    /// Returns whether a user answers prompts key by key.
    fn has_keys(&self) -> bool {
        false
    }

    /// Returns whether [`screen`](super::screen) can be used.
    fn has_screen(&self) -> bool {
        false
    }
}

/// Reads a line of limited length without its line end. Invalid UTF-8 becomes U+FFFD.
pub(super) fn read_line(input: &mut impl BufRead) -> io::Result<Line> {
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
        if bytes.len() + part.len() > MAX_LINE_BYTES {
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
    // Each byte becomes at most three, so the buffer does not grow and leaves no copies behind.
    let mut line = Zeroizing::new(String::with_capacity(text.len() * 3));
    for chunk in text.utf8_chunks() {
        line.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            line.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Ok(Line::Text(line))
}

/// Appends bytes without leaving copies behind.
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
    fn all_line_ends_are_recognized() {
        assert_eq!(lines(b"a\r\nb\n\nlast"), ["a", "b", "", "last"]);
        assert_eq!(lines(b"\xC3\xA4\xFF"), ["\u{e4}\u{FFFD}"]);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn overlong_lines_are_rejected() {
        let mut input = io::BufReader::new(io::repeat(b'a'));
        assert_eq!(read_line(&mut input).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
