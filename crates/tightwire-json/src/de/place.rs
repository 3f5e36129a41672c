//! Place of an error in a document: path, line and column.
//!
//! Decoding records nothing but the offset of an error. When the error leaves the decoder, one pass over the document
//! up to the offset finds the open arrays and objects, so that a successful call does no work for paths.

use crate::codec::{Codec, Limits};
use crate::error::{Error, Inner, Kind, Syntax};
use crate::grammar::{is_delimiter, is_space, string_len};
use crate::path::{Path, Segment};
use crate::scan::{PART, Structure, Tokens};

impl Error {
    /// Adds line, column and path. `document` is the one that the offset refers to, and may be malformed. Does nothing
    /// for an error that has no offset or already has a line.
    #[cold]
    pub(crate) fn in_document(mut self, document: &[u8]) -> Self {
        let Inner { kind, offset: Some(place), line: 0, .. } = &*self.inner else { return self };
        let mut offset = usize::try_from(*place).map_or(document.len(), |offset| offset.min(document.len()));
        let scan = Scan::new(&document[..offset]);
        let mut inside = matches!(scan.place, Place::Value | Place::String);
        match scan.place {
            // The number or literal name is malformed or cut off.
            Place::Scalar
                if matches!(
                    kind,
                    Kind::Eof | Kind::Limit(..) | Kind::Syntax(Syntax::Value | Syntax::Number)
                ) =>
            {
                inside = true;
            }
            Place::Scalar | Place::After if self.inner.is_near_value => {
                inside = true;
                offset = scan.last;
            }
            Place::Value if self.inner.is_near_value => {
                offset += document[offset..].iter().take_while(|byte| is_space(**byte)).count();
            }
            // A visitor rejected a key.
            Place::Colon if self.is_data() => offset = scan.last,
            _ => {}
        }
        let before = &document[..offset];
        if let Kind::Syntax(what @ (Syntax::Value | Syntax::Key)) = &mut self.inner.kind {
            match document.get(offset) {
                Some(b']' | b'}') if before.trim_ascii_end().ends_with(b",") => *what = Syntax::Comma,
                _ if offset == 0 && document.starts_with(b"\xef\xbb\xbf") => *what = Syntax::ByteOrderMark,
                _ => {}
            }
        }
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        self.inner.path = scan.path(document, inside);
        self.inner.offset = Some(offset as u64);
        self.inner.line = memchr::memchr_iter(b'\n', before).count() + 1;
        self.inner.column = offset - line_start + 1;
        self
    }

    /// Adds the path of the value that was being encoded. `output` is the incomplete document.
    #[cold]
    pub(crate) fn in_output(mut self, output: &[u8]) -> Self {
        let scan = Scan::new(output);
        self.inner.path = scan.path(output, matches!(scan.place, Place::Value | Place::String));
        self
    }
}

/// Token that follows in the innermost open array or object, or at the top level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Key, or the end of the object. The document may end inside the key.
    Key,
    /// Colon after a key.
    Colon,
    /// Value.
    Value,
    /// Rest of a string that is a value.
    String,
    /// Rest of a number or literal name, which may be complete.
    Scalar,
    /// Comma or end after a value.
    After,
}

/// Open array or object.
#[derive(Debug)]
struct Level {
    start: usize,
    is_object: bool,
    /// Offset behind the last comma, or behind the opening bracket.
    entry: usize,
    /// Number of commas.
    commas: usize,
}

/// Structure at the end of the first part of a document. The document may be malformed.
#[derive(Debug)]
struct Scan {
    /// Open arrays and objects, the innermost last.
    levels: Vec<Level>,
    /// Number of open arrays and objects inside of `levels`, of which nothing is recorded.
    deeper: usize,
    place: Place,
    /// Offset of the last key or value in the innermost array or object, if it is before `place`.
    last: usize,
}

impl Scan {
    /// Scans `document` to its end, in one pass without recursion.
    fn new(document: &[u8]) -> Self {
        let mut scan = Self { levels: Vec::new(), deeper: 0, place: Place::Value, last: 0 };
        let mut structure = Structure::default();
        // Offset behind the last bracket or comma.
        let mut tail = 0;
        structure.search(document, |start, Tokens { mut brackets, mut commas, .. }| {
            while brackets != 0 {
                let bit = brackets & brackets.wrapping_neg();
                scan.commas(commas & (bit - 1), start, &mut tail);
                commas &= !(bit - 1);
                brackets ^= bit;
                let at = start + bit.trailing_zeros() as usize;
                scan.bracket(document[at], at);
                tail = at + 1;
            }
            scan.commas(commas, start, &mut tail);
            None::<()>
        });
        if scan.deeper == 0 {
            scan.tail(document, tail);
        }
        scan
    }

    /// Processes commas in the innermost array or object.
    #[inline(always)]
    fn commas(&mut self, commas: u64, start: usize, tail: &mut usize) {
        if commas != 0 && self.deeper == 0 {
            *tail = start + PART - commas.leading_zeros() as usize;
            if let Some(level) = self.levels.last_mut() {
                level.entry = *tail;
                level.commas += commas.count_ones() as usize;
            }
        }
    }

    #[inline(always)]
    fn bracket(&mut self, byte: u8, at: usize) {
        match byte {
            b'{' | b'[' if self.levels.len() == Limits::MAX_DEPTH => self.deeper += 1,
            b'{' | b'[' => {
                let is_object = byte == b'{';
                self.levels.push(Level { start: at, is_object, entry: at + 1, commas: 0 });
            }
            _ if self.deeper > 0 => self.deeper -= 1,
            _ => self.last = self.levels.pop().map_or(0, |level| level.start),
        }
    }

    /// Scans the rest of the document from the offset `at` on, which has no brackets and commas outside of strings.
    fn tail(&mut self, document: &[u8], mut at: usize) {
        let is_object = self.levels.last().is_some_and(|level| level.is_object);
        self.place = match at.checked_sub(1).map(|last| document[last]) {
            Some(b'}' | b']') => Place::After,
            _ if is_object => Place::Key,
            _ => Place::Value,
        };
        while let Some(byte) = document.get(at) {
            let rest = &document[at..];
            let (len, place) = match byte {
                b':' => (Some(1), Place::Value),
                _ if is_space(*byte) => (Some(1), self.place),
                b'"' => {
                    let len = string_len(rest);
                    self.last = at;
                    (
                        len,
                        match (self.place, len) {
                            (Place::Key, Some(_)) => Place::Colon,
                            (Place::Key, None) => Place::Key,
                            (_, Some(_)) => Place::After,
                            (_, None) => Place::String,
                        },
                    )
                }
                _ => {
                    // The first byte may be a delimiter in a malformed document.
                    let len = rest.iter().skip(1).position(|byte| is_delimiter(*byte)).map(|len| len + 1);
                    self.last = at;
                    (len, if len.is_some() { Place::After } else { Place::Scalar })
                }
            };
            self.place = place;
            at += len.unwrap_or(rest.len());
        }
    }

    /// Returns the path of the innermost array or object, or of its last entry if `inside`.
    fn path(&self, document: &[u8], inside: bool) -> Path {
        let len = self.levels.len().saturating_sub(usize::from(!inside));
        let segment = |level: &Level| match level.is_object {
            true => {
                let entry = &document[level.entry..];
                let spaces = entry.iter().take_while(|byte| is_space(**byte)).count();
                Segment::key(&Codec::leading_string(&entry[spaces..]).unwrap_or_default())
            }
            false => Segment::Index(level.commas),
        };
        Path::outermost(self.levels.iter().take(len).map(segment))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::path::MAX_SEGMENTS;

    /// Same as [`Scan`] for the start of a document, one token after another.
    fn naive(document: &[u8]) -> (Place, usize, Vec<Segment>) {
        let (mut at, mut place, mut last) = (0, Place::Value, 0);
        let mut levels: Vec<(usize, Segment)> = Vec::new();
        while let Some(byte) = document.get(at) {
            let rest = &document[at..];
            let mut len = Some(1);
            match byte {
                b'{' | b'[' => {
                    let is_object = *byte == b'{';
                    place = if is_object { Place::Key } else { Place::Value };
                    levels.push((at, if is_object { Segment::key("") } else { Segment::Index(0) }));
                }
                b'}' | b']' => (place, last) = (Place::After, levels.pop().unwrap().0),
                b',' => match &mut levels.last_mut().unwrap().1 {
                    Segment::Key(_) => place = Place::Key,
                    Segment::Index(index) => (place, *index) = (Place::Value, *index + 1),
                },
                b':' => place = Place::Value,
                b'"' => {
                    len = string_len(rest);
                    last = at;
                    place = match (place, len) {
                        (Place::Key, Some(len)) => {
                            let key: String = crate::from_slice(&rest[..len]).unwrap();
                            levels.last_mut().unwrap().1 = Segment::key(&key);
                            Place::Colon
                        }
                        (Place::Key, None) => Place::Key,
                        (_, Some(_)) => Place::After,
                        (_, None) => Place::String,
                    };
                }
                byte if is_space(*byte) => {}
                _ => {
                    len = rest.iter().position(|byte| is_delimiter(*byte));
                    (place, last) = (if len.is_some() { Place::After } else { Place::Scalar }, at);
                }
            }
            at += len.unwrap_or(rest.len());
        }
        (place, last, levels.into_iter().map(|(_, segment)| segment).collect())
    }

    fn document() -> impl Strategy<Value = String> {
        let string = r#"("([a-d\[\],:{} ]|\\\\|\\"|\\n|é){0,40}")"#;
        let scalar = prop_oneof!["true|null|-15e3|12", string];
        let space = "[ \n]{0,3}";
        scalar.prop_recursive(6, 30, 6, move |value| {
            let value = (space, value, space).prop_map(|(before, value, after)| before + &value + &after);
            let entry = (space, string, space, value.clone())
                .prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
            let join = |parts: Vec<String>| parts.join(",");
            prop_oneof![
                prop::collection::vec(value, 0..6).prop_map(move |values| format!("[{}]", join(values))),
                prop::collection::vec(entry, 0..6).prop_map(move |entries| format!("{{{}}}", join(entries))),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_scan_of_a_part_agrees_with_that_of_its_tokens(
            document in document(),
            ends in prop::collection::vec(any::<Index>(), 30),
        ) {
            for end in ends {
                let part = &document.as_bytes()[..end.index(document.len() + 1)];
                let scan = Scan::new(part);
                let (place, last, mut segments) = naive(part);
                prop_assert_eq!(scan.place, place);
                if matches!(place, Place::Scalar | Place::After | Place::Colon) {
                    prop_assert_eq!(scan.last, last);
                }
                // A path has no key that does not exist yet.
                if place != Place::Key {
                    prop_assert_eq!(scan.path(part, true), Path::outermost(segments.iter().cloned()));
                }
                segments.pop();
                prop_assert_eq!(scan.path(part, false), Path::outermost(segments.into_iter()));
            }
        }

        #[test]
        fn any_bytes_can_be_scanned(document in r#"[\[\]{}"\\,: 1é]{0,200}"#, levels in 0_usize..1100) {
            let document = ["[".repeat(levels), document].concat();
            let scan = Scan::new(document.as_bytes());
            prop_assert!(scan.path(document.as_bytes(), true).segments().len() <= MAX_SEGMENTS);
        }
    }
}
