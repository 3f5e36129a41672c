//! Path of a value in a document, and the scan that finds it for an error.
//!
//! Decoding records nothing but the offset of an error. When the error leaves the decoder, one pass over the document
//! up to the offset finds the open arrays and objects, so that a successful call does no work for paths.

use std::fmt;

use crate::codec::Limits;
use crate::de::{leading_string, string_len};
use crate::grammar::{is_delimiter, is_space};
use crate::scan::{PART, Structure, Tokens};

/// Maximum number of segments of a [`Path`].
const MAX_SEGMENTS: usize = 32;

/// Maximum length of a key in an error, in bytes.
const MAX_KEY_LEN: usize = 64;

/// Path from the root of a document to a value, the place of an [`Error`](crate::Error).
///
/// [`Display`](fmt::Display) writes it like a JavaScript expression: `users[3].address.zip`. A key that is no
/// identifier is written in brackets and quotes: `headers["content type"]`.
///
/// A path has the outermost 32 segments. If the value is deeper, [`is_truncated`](Self::is_truncated) returns `true`
/// and `Display` appends `...`.
///
/// # Examples
/// ```
/// use tightwire_json::{ErrorDetails, Segment};
///
/// let error = tightwire_json::from_str::<Vec<(u8, bool)>>("[[1, true], [2, 0]]").unwrap_err();
/// let path = error.path().unwrap();
/// assert_eq!(path.to_string(), "[1][1]");
/// assert_eq!(path.segments(), [Segment::Index(1), Segment::Index(1)]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path {
    segments: Vec<Segment>,
    truncated: bool,
}

/// Step of a path from an array or object to a value in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Segment<K = String> {
    /// Key of an object. In the [`Path`] of an error, at most 64 bytes of it, followed by `...` if it is longer.
    Key(K),
    /// Index in an array; the first element has index 0.
    Index(usize),
}

impl Path {
    /// Returns the segments, the outermost first.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns `true` if the path has more than 32 segments, of which only the outermost are available.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Adds a segment in front of the others.
    pub(crate) fn prepend(&mut self, segment: Segment) {
        self.segments.insert(0, segment);
        self.truncated |= self.segments.len() > MAX_SEGMENTS;
        self.segments.truncate(MAX_SEGMENTS);
    }
}

impl Segment {
    pub(crate) fn key(key: &str) -> Self {
        Self::Key(shorten(key))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if is_identifier(key) => {
                    write!(f, "{}{key}", if position == 0 { "" } else { "." })?;
                }
                Segment::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        if self.truncated { f.write_str("...") } else { Ok(()) }
    }
}

fn is_identifier(key: &str) -> bool {
    !key.starts_with(|char: char| char.is_ascii_digit())
        && !key.is_empty()
        && key.chars().all(|char| char == '_' || char.is_alphanumeric())
}

/// Returns at most 64 bytes of a key, followed by `...` if it is longer.
pub(crate) fn shorten(key: &str) -> String {
    let end = (0..=MAX_KEY_LEN.min(key.len())).rev().find(|&at| key.is_char_boundary(at)).unwrap_or(0);
    let more = if end < key.len() { "..." } else { "" };
    format!("{}{more}", &key[..end])
}

/// Token that follows in the innermost open array or object, or at the top level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
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
pub(crate) struct Scan {
    /// Open arrays and objects, the innermost last.
    levels: Vec<Level>,
    /// Number of open arrays and objects inside of `levels`, of which nothing is recorded.
    deeper: usize,
    pub(crate) place: Place,
    /// Offset of the last key or value in the innermost array or object, if it is before `place`.
    pub(crate) last: usize,
}

impl Scan {
    /// Scans `document` to its end, in one pass without recursion.
    pub(crate) fn new(document: &[u8]) -> Self {
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
    pub(crate) fn path(&self, document: &[u8], inside: bool) -> Path {
        let len = self.levels.len().saturating_sub(usize::from(!inside));
        let segment = |level: &Level| match level.is_object {
            true => {
                let entry = &document[level.entry..];
                let spaces = entry.iter().take_while(|byte| is_space(**byte)).count();
                Segment::key(&leading_string(&entry[spaces..]).unwrap_or_default())
            }
            false => Segment::Index(level.commas),
        };
        let segments = self.levels.iter().take(len.min(MAX_SEGMENTS)).map(segment).collect();
        Path { segments, truncated: len > MAX_SEGMENTS }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

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
                    prop_assert_eq!(&scan.path(part, true).segments, &segments);
                }
                segments.pop();
                prop_assert_eq!(scan.path(part, false).segments, segments);
            }
        }

        #[test]
        fn any_bytes_can_be_scanned(document in r#"[\[\]{}"\\,: 1é]{0,200}"#, levels in 0_usize..1100) {
            let document = ["[".repeat(levels), document].concat();
            let scan = Scan::new(document.as_bytes());
            prop_assert!(scan.path(document.as_bytes(), true).segments.len() <= MAX_SEGMENTS);
        }
    }
}
