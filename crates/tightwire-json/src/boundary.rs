//! Search for the end of a document in a stream, without validating it.

use crate::grammar::is_delimiter;
use crate::scan::Structure;

/// Kind of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No byte was examined.
    Unknown,
    Number,
    /// Literal name of which so many bytes are missing.
    Name(usize),
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
}

impl Boundary {
    pub(crate) fn new() -> Self {
        Self { kind: Kind::Unknown, depth: 0, structure: Structure::default() }
    }

    /// Returns whether a document can begin with `byte` (RFC 8259, section 3).
    pub(crate) fn may_begin(byte: u8) -> bool {
        matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
    }

    /// Returns a number of bytes that the document certainly has behind the examined ones, at least 1. Only the end of a
    /// number requires the byte behind it.
    pub(crate) fn missing(&self) -> usize {
        match self.kind {
            Kind::Name(missing) => missing,
            _ => self.depth.max(1),
        }
    }

    /// Returns the offset in `chunk` behind the document, or `None` if it continues behind `chunk`. The first byte of the
    /// first chunk must be one that [may begin](Self::may_begin) a document.
    pub(crate) fn find(&mut self, chunk: &[u8]) -> Option<usize> {
        if self.kind == Kind::Unknown {
            (self.kind, self.depth) = match chunk.first()? {
                b'"' => (Kind::String, 1),
                b'{' | b'[' => (Kind::Container, 0),
                b't' | b'n' => (Kind::Name(4), 0),
                b'f' => (Kind::Name(5), 0),
                _ => (Kind::Number, 0),
            };
        }
        let delimiter = |bytes: &[u8]| bytes.iter().position(|byte| is_delimiter(*byte));
        match &mut self.kind {
            Kind::Number => return delimiter(chunk),
            Kind::Name(missing) => {
                let part = &chunk[..chunk.len().min(*missing)];
                *missing -= part.len();
                return delimiter(part).or((*missing == 0).then_some(part.len()));
            }
            _ => {}
        }
        let (kind, depth) = (self.kind, &mut self.depth);
        self.structure.search(chunk, |offset, tokens| {
            let mut ends = if kind == Kind::String { tokens.closing } else { tokens.brackets };
            while ends != 0 {
                let end = offset + ends.trailing_zeros() as usize;
                if matches!(chunk[end], b'{' | b'[') {
                    *depth += 1;
                } else {
                    *depth -= 1;
                    if *depth == 0 {
                        return Some(end + 1);
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
            ("nullnull", Some(4)),
            ("fals", None),
            ("tr 1", Some(2)),
            ("[1", None),
        ] {
            let whole = Boundary::new().find(text.as_bytes());
            assert_eq!(whole, expected, "{text}");
            let mut boundary = Boundary::new();
            let bytes = text.as_bytes();
            let incremental = (0..text.len()).find_map(|at| Some(at + boundary.find(&bytes[at..=at])?));
            assert_eq!(incremental, expected, "{text}");
        }
    }
}
