//! Path of a value in a document.

use std::fmt;

/// Maximum number of segments of a [`Path`].
pub(crate) const MAX_SEGMENTS: usize = 32;

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
///
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

    /// Returns whether the path has more than 32 segments, of which only the outermost are available.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Returns the path with the outermost of these segments.
    pub(crate) fn outermost(segments: impl ExactSizeIterator<Item = Segment>) -> Self {
        let truncated = segments.len() > MAX_SEGMENTS;
        Self { segments: segments.take(MAX_SEGMENTS).collect(), truncated }
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
