//! Search for the end of a document in a stream, without validating it.

use crate::grammar::is_delimiter;

/// Context of the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    /// Inside a number or a literal name at the top level.
    Scalar,
    /// Inside an array or object, outside of strings.
    Open,
    /// Inside a string.
    String,
    /// After a backslash.
    Escape,
}

/// Incremental search for the end of one document.
///
/// Only quotes and brackets are examined. The end may be wrong for a malformed document; decoding it then fails.
#[derive(Debug)]
pub(crate) struct Boundary {
    state: State,
    depth: usize,
    /// Number of bytes examined so far.
    at: usize,
}

impl Boundary {
    pub(crate) fn new() -> Self {
        Self { state: State::Start, depth: 0, at: 0 }
    }

    /// Returns whether a document can begin with `byte` (RFC 8259, section 3).
    pub(crate) fn may_begin(byte: u8) -> bool {
        matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
    }

    /// Returns the length of the document at the start of `buffer`, or `None` if more input is needed. The first byte
    /// of the buffer must be one that [may begin](Self::may_begin) a document. Further calls must pass the same input
    /// with more bytes appended.
    pub(crate) fn find(&mut self, buffer: &[u8]) -> Option<usize> {
        while let Some(byte) = buffer.get(self.at) {
            self.at += 1;
            match (self.state, byte) {
                (State::Start | State::Open, b'"') => self.state = State::String,
                (State::Start | State::Open, b'{' | b'[') => {
                    self.depth += 1;
                    self.state = State::Open;
                }
                (State::Open, b'}' | b']') => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(self.at);
                    }
                }
                (State::Open, _) => {}
                (State::Start, b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => self.state = State::Scalar,
                (State::Start, _) => return Some(self.at),
                (State::Scalar, byte) if is_delimiter(*byte) => return Some(self.at - 1),
                (State::Scalar, _) => {}
                (State::String, b'\\') => self.state = State::Escape,
                (State::String, b'"') if self.depth == 0 => return Some(self.at),
                (State::String, b'"') => self.state = State::Open,
                (State::String, _) => {
                    let rest = &buffer[self.at..];
                    self.at += memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                }
                (State::Escape, _) => self.state = State::String,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_does_not_depend_on_the_chunks() {
        for (text, expected) in [
            ("{\"a\":\"}\\\"]\"}[", Some(12)),
            ("[[],{}]1", Some(7)),
            ("\"a\\\\\"\"", Some(5)),
            ("12 ", Some(2)),
            ("12", None),
            ("true[", Some(4)),
            ("[1", None),
        ] {
            let whole = Boundary::new().find(text.as_bytes());
            assert_eq!(whole, expected, "{text}");
            let mut boundary = Boundary::new();
            let incremental = (0..=text.len()).find_map(|len| boundary.find(&text.as_bytes()[..len]));
            assert_eq!(incremental, expected, "{text}");
        }
    }
}
