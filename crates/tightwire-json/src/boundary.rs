//! Finds where a document in a stream ends, without judging it.

/// What surrounds the position that is looked at next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    /// A number or a literal name, at the outermost level.
    Scalar,
    /// Between the strings of an array or object.
    Open,
    /// Inside a string.
    String,
    /// Behind a backslash.
    Escape,
}

/// The search for the end of one document, which may come in pieces.
///
/// It only looks at quotes and the balance of brackets. Where it finds an end too early or too late, the document
/// is malformed, and decoding it says how.
#[derive(Debug)]
pub(crate) struct Boundary {
    state: State,
    depth: usize,
    /// How much was looked at.
    at: usize,
}

impl Boundary {
    pub(crate) fn new() -> Self {
        Self { state: State::Start, depth: 0, at: 0 }
    }

    /// Whether a document may begin with `byte` (RFC 8259, section 3).
    pub(crate) fn may_begin(byte: u8) -> bool {
        matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
    }

    /// The length of the document at the start of `buffer`, or `None` if more of it is needed. The buffer begins
    /// with the same bytes each time, with one that [may begin](Self::may_begin) a
    /// document.
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
                (
                    State::Scalar,
                    b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' | b'[' | b']' | b'{' | b'}' | b'"',
                ) => {
                    return Some(self.at - 1);
                }
                (State::Scalar, _) => {}
                (State::String, b'\\') => self.state = State::Escape,
                (State::String, b'"') if self.depth == 0 => return Some(self.at),
                (State::String, b'"') => self.state = State::Open,
                (State::String, _) => {
                    // The rest of the string at once.
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
    fn the_end_does_not_depend_on_the_pieces() {
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
            let found = (0..=text.len()).find_map(|len| boundary.find(&text.as_bytes()[..len]));
            assert_eq!(found, expected, "{text}");
        }
    }
}
