//! Path of a value in a document, and the scan that finds it for an error.
//!
//! Decoding records nothing but the offset of an error. When the error leaves the decoder, one pass over the document
//! up to the offset finds the open arrays and objects, so that a successful call does no work for paths.

use std::fmt;

use crate::codec::Limits;
use crate::de::{leading_string, string_len};
use crate::grammar::{is_delimiter, is_space};

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
/// use tightwire_json::Segment;
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
    /// Index of the last element, or offset of the last key.
    last: usize,
}

/// Structure at the end of the first part of a document. The document may be malformed.
#[derive(Debug)]
pub(crate) struct Scan {
    /// Open arrays and objects, the innermost last.
    levels: Vec<Level>,
    /// Number of open arrays and objects inside of `levels`, which are deeper than any decoded document.
    deeper: usize,
    pub(crate) place: Place,
    /// Offset of the last key or value in the innermost array or object.
    pub(crate) last: usize,
}

impl Scan {
    /// Scans `document` to its end, in one pass without recursion.
    pub(crate) fn new(document: &[u8]) -> Self {
        let mut scan = Self { levels: Vec::new(), deeper: 0, place: Place::Value, last: 0 };
        let mut at = 0;
        while let Some(byte) = document.get(at) {
            at = match byte {
                _ if is_space(*byte) => at + 1,
                b'"' => {
                    let len = string_len(&document[at..]);
                    scan.string(at, len.is_some());
                    len.map_or(document.len(), |len| at + len)
                }
                b'{' | b'[' | b'}' | b']' | b',' | b':' => {
                    scan.punctuation(*byte, at);
                    at + 1
                }
                _ => {
                    let len = document[at..].iter().position(|byte| is_delimiter(*byte));
                    scan.value(at, if len.is_some() { Place::After } else { Place::Scalar });
                    len.map_or(document.len(), |len| at + len.max(1))
                }
            };
        }
        scan
    }

    fn value(&mut self, start: usize, place: Place) {
        if self.deeper == 0 {
            self.last = start;
            self.place = place;
        }
    }

    fn string(&mut self, start: usize, is_complete: bool) {
        match self.levels.last_mut() {
            Some(level) if self.place == Place::Key => {
                level.last = start;
                self.value(start, if is_complete { Place::Colon } else { Place::Key });
            }
            _ => self.value(start, if is_complete { Place::After } else { Place::String }),
        }
    }

    fn punctuation(&mut self, byte: u8, at: usize) {
        let deepest = self.levels.len() == Limits::MAX_DEPTH;
        match byte {
            b'{' | b'[' if deepest => self.deeper += 1,
            b'{' | b'[' => {
                let is_object = byte == b'{';
                self.levels.push(Level { start: at, is_object, last: 0 });
                self.place = if is_object { Place::Key } else { Place::Value };
            }
            b'}' | b']' if self.deeper > 0 => self.deeper -= 1,
            b'}' | b']' => {
                if let Some(level) = self.levels.pop() {
                    self.value(level.start, Place::After);
                }
            }
            _ if self.deeper > 0 => {}
            b':' => self.place = Place::Value,
            _ => match self.levels.last_mut() {
                Some(level) if level.is_object => self.place = Place::Key,
                Some(level) => {
                    level.last += 1;
                    self.place = Place::Value;
                }
                None => {}
            },
        }
    }

    /// Returns the path of the innermost array or object, or of its last entry if `inside`.
    pub(crate) fn path(&self, document: &[u8], inside: bool) -> Path {
        let len = self.levels.len().saturating_sub(usize::from(!inside));
        let segment = |level: &Level| match level.is_object {
            true => Segment::key(&leading_string(&document[level.last..]).unwrap_or_default()),
            false => Segment::Index(level.last),
        };
        let segments = self.levels.iter().take(len.min(MAX_SEGMENTS)).map(segment).collect();
        Path { segments, truncated: len > MAX_SEGMENTS }
    }
}
