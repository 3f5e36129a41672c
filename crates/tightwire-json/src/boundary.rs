//! Search for the end of a document in a stream, without validating it.

use crate::grammar::is_delimiter;
use crate::scan::Structure;

/// Kind of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No byte was examined.
    Unknown,
    /// Number or literal name.
    Scalar,
    String,
    /// Array or object.
    Container,
}

/// Incremental search for the end of one document.
///
/// Only quotes and brackets are examined. The end may be wrong for a malformed document; decoding it then fails.
#[derive(Debug)]
pub(crate) struct Boundary {
    kind: Kind,
    /// Number of open strings, arrays and objects.
    depth: usize,
    structure: Structure,
    /// Number of bytes examined so far.
    at: usize,
}

impl Boundary {
    pub(crate) fn new() -> Self {
        Self { kind: Kind::Unknown, depth: 0, structure: Structure::default(), at: 0 }
    }

    /// Returns whether a document can begin with `byte` (RFC 8259, section 3).
    pub(crate) fn may_begin(byte: u8) -> bool {
        matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
    }

    /// Returns the length of the document at the start of `buffer`, or `None` if more input is needed. The first byte
    /// of the buffer must be one that [may begin](Self::may_begin) a document. Further calls must pass the same input
    /// with more bytes appended.
    pub(crate) fn find(&mut self, buffer: &[u8]) -> Option<usize> {
        if self.kind == Kind::Unknown {
            (self.kind, self.depth) = match buffer.first()? {
                b'"' => (Kind::String, 1),
                b'{' | b'[' => (Kind::Container, 0),
                _ => (Kind::Scalar, 0),
            };
        }
        let start = self.at;
        self.at = buffer.len();
        let rest = buffer.get(start..)?;
        if self.kind == Kind::Scalar {
            return rest.iter().position(|byte| is_delimiter(*byte)).map(|len| start + len);
        }
        let (kind, depth) = (self.kind, &mut self.depth);
        self.structure.search(rest, |offset, tokens| {
            let mut ends = if kind == Kind::String { tokens.closing } else { tokens.brackets };
            while ends != 0 {
                let end = offset + ends.trailing_zeros() as usize;
                if matches!(rest[end], b'{' | b'[') {
                    *depth += 1;
                } else {
                    *depth -= 1;
                    if *depth == 0 {
                        return Some(start + end + 1);
                    }
                }
                ends &= ends - 1;
            }
            None
        })
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
