//! Incremental parser for incomplete JSON, such as tool arguments and structured output of a language model.
//!
//! [`Parser`] accepts text or bytes in chunks of any size. After each chunk, [`Parser::value`] is the value of the text so
//! far, and [`Parser::incomplete`] tells which part of it may still change. The grammar is strict: malformed text is an
//! error at the same offset as in [`from_str`](crate::from_str), and nothing is repaired, unless the parser is
//! [`lenient`](Parser::lenient).
//!
//! ```
//! use tightwire_json::Segment;
//! use tightwire_json::partial::{Parser, Part};
//!
//! let mut arguments = Parser::new();
//! arguments.push(r#"{"path": "src/main.rs", "content": "fn ma"#)?;
//! assert!(arguments.is_final("/path"));
//! assert!(!arguments.is_final("/content"));
//!
//! let open = arguments.incomplete().unwrap();
//! assert_eq!(open.path, [Segment::Key("content")]);
//! assert_eq!(open.part, Part::String("fn ma"));
//!
//! arguments.push(r#"in() {}\n"}"#)?;
//! assert!(arguments.is_complete());
//! assert_eq!(arguments.finish()?["content"], "fn main() {}\n");
//! # Ok::<(), tightwire_json::Error>(())
//! ```
//!
//! # Value of incomplete text
//!
//! | end of the text | in the value | [`Part`] |
//! | --- | --- | --- |
//! | in a string | its characters so far; an escape or surrogate pair is added when it is complete | `String` |
//! | in an array or object | its complete elements or entries, and the incomplete last one | `Array`, `Object` |
//! | in a key, or before the value of a key | nothing of this entry | `Key`, `Missing` |
//! | in or directly after a number | nothing of it, because `12` may become `123` | `Number` |
//! | in `true`, `false` or `null` | nothing of it | `Literal` |
//!
//! All other parts are final, with one exception: a later entry with the same key replaces the earlier one as soon as
//! its value begins, as in the strict decoder.
//!
//! # Costs
//!
//! Each byte is parsed once, and no part of the value is copied or rebuilt when it grows. The work for a document is
//! linear in its size for every chunk size; each call of [`Parser::push`] adds the depth of the open parts.

mod builder;

use std::fmt;

use self::builder::Builder;
use crate::codec::Limits;
use crate::error::{Error, ErrorDetails as _, Kind, Limit, Result};
use crate::tokenizer::{State, Tokenizer};
use crate::value::growing;
use crate::{Codec, Segment, Value, pointer};

/// Incremental parser for one JSON document.
///
/// # Examples
///
/// Prints a long string while it arrives:
///
/// ```
/// let mut parser = tightwire_json::partial::Parser::new();
/// let (mut printed, mut output) = (0, String::new());
/// for chunk in [r#"{"ti"#, r#"tle": "Mo"#, r#"ons of Jup"#, r#"iter", "count""#, ": 95}"] {
///     parser.push(chunk)?;
///     if let Some(title) = parser.value().and_then(|value| value["title"].as_str()) {
///         output.push_str(&title[printed..]);
///         printed = title.len();
///     }
/// }
/// assert_eq!(output, "Moons of Jupiter");
/// assert_eq!(parser.finish()?["count"], 95);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Parser {
    tokens: Tokenizer,
    builder: Builder,
    /// Maximum size of the document.
    limit: usize,
    /// Number of line breaks before the current chunk, and offset of the line in which it begins.
    lines: usize,
    line_start: u64,
    /// Line and column of the opening quote of a string that the last chunk began and did not end.
    quote: (usize, usize),
    /// Kind, offset, line and column of the first error.
    failure: Option<(Kind, Option<u64>, usize, usize)>,
}

impl Parser {
    /// Creates a parser with the default limits.
    pub fn new() -> Self {
        Self::with_limits(Limits::new())
    }

    /// Creates a parser with limits of depth, size of the document and length of strings. The maximum of the depth is
    /// [`Limits::MAX_DEPTH`].
    pub fn with_limits(limits: Limits) -> Self {
        let limits = Limits { depth: limits.depth.min(Limits::MAX_DEPTH), ..limits };
        let codec = Codec::strict().with_limits(limits);
        Self {
            tokens: Tokenizer::new(&codec, 0),
            builder: Builder::default(),
            limit: limits.document,
            lines: 0,
            line_start: 0,
            quote: (1, 1),
            failure: None,
        }
    }

    /// Accepts what language models write instead of JSON:
    ///
    /// | text | in the value |
    /// | --- | --- |
    /// | invalid escape, such as `\d` or `\u12` | the same characters with the backslash; `\'` is an apostrophe |
    /// | lone surrogate | U+FFFD |
    /// | line break or another control character in a string | the character |
    /// | code fence before the document: backticks and the rest of the line | nothing |
    /// | code fence behind the document | nothing, and the rest of the text is ignored |
    ///
    /// Everything else is strict. Call it before the first chunk.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut parser = tightwire_json::partial::Parser::new().lenient();
    /// parser.push("```json\n{\"regex\": \"\\d+\"}\n```\nIt matches digits.")?;
    /// assert_eq!(parser.finish()?["regex"], r"\d+");
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.tokens.set_lenient();
        self
    }

    /// Parses the next chunk of the text. A chunk may end anywhere, for example between the two escapes of a surrogate
    /// pair.
    ///
    /// # Errors
    ///
    /// [`Error::is_syntax`] if no document starts with the text, [`Error::is_limit`] if it exceeds a limit,
    /// [`Error::is_data`] for a number out of range; with offset, line and column in the document. The limit for
    /// strings applies to incomplete strings, too. The parser keeps the value before the error, and all further calls
    /// return the same error.
    pub fn push(&mut self, text: &str) -> Result<()> {
        self.push_chunk(text.as_bytes(), Some(text))
    }

    /// Same as [`push`](Self::push) for bytes in UTF-8. A chunk may also end inside of a character, which is added to the
    /// value when it is complete.
    ///
    /// # Errors
    ///
    /// Same as [`push`](Self::push), and [`Error::is_syntax`] for bytes that are not UTF-8. The first error of the text is
    /// reported; [`from_slice`](crate::from_slice) checks UTF-8 first.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut parser = tightwire_json::partial::Parser::new();
    /// parser.push_bytes(b"[\"caf\xc3")?;
    /// assert_eq!(parser.value().unwrap()[0], "caf");
    /// parser.push_bytes(b"\xa9\"]")?;
    /// assert_eq!(parser.finish()?[0], "café");
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub fn push_bytes(&mut self, chunk: &[u8]) -> Result<()> {
        self.push_chunk(chunk, None)
    }

    /// Parses a chunk. `text` is the same chunk if it is known to be UTF-8.
    fn push_chunk(&mut self, chunk: &[u8], text: Option<&str>) -> Result<()> {
        self.check()?;
        let start = self.tokens.offset;
        let result = self.advance(chunk, text);
        self.builder.close_stack();
        let result = result.map_err(|error| self.locate(error, chunk, start));
        if let Err(error) = &result {
            self.failure = Some((error.kind().clone(), error.offset(), error.line(), error.column()));
            return result;
        }
        let last_break = memchr::memrchr(b'\n', chunk);
        if let Some(quote) = self.tokens.open_quote().filter(|quote| *quote >= start) {
            self.quote = match last_break {
                None => (self.lines + 1, column(quote, self.line_start)),
                Some(_) => self.position(quote, chunk, start),
            };
        }
        if let Some(end) = last_break {
            self.lines += memchr::memchr_iter(b'\n', chunk).count();
            self.line_start = start + end as u64 + 1;
        }
        Ok(())
    }

    /// Parses a chunk, up to the maximum size of the document.
    fn advance(&mut self, chunk: &[u8], text: Option<&str>) -> Result<()> {
        let rest = self.limit.saturating_sub(usize::try_from(self.tokens.offset).unwrap_or(usize::MAX));
        let allowed = &chunk[..chunk.len().min(rest)];
        self.tokens.advance(allowed, text, &mut self.builder)?;
        match allowed.len() < chunk.len() {
            true => Err(Error::over_limit(Limit::Document, self.limit, self.limit as u64)),
            false => Ok(()),
        }
    }

    /// Adds line and column to an error in a chunk that begins at the offset `start`.
    #[cold]
    fn locate(&self, error: Error, chunk: &[u8], start: u64) -> Error {
        let Some(offset) = error.offset() else { return error };
        let is_quote = offset < start && self.tokens.open_quote() == Some(offset);
        let (line, column) = if is_quote { self.quote } else { self.position(offset, chunk, start) };
        error.with_position(line, column)
    }

    /// Returns line and column of an offset in a chunk that begins at the offset `start`, or in the part of its first line in
    /// earlier chunks.
    fn position(&self, offset: u64, chunk: &[u8], start: u64) -> (usize, usize) {
        let before = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
        let before = &chunk[..before.min(chunk.len())];
        let line_start = memchr::memrchr(b'\n', before).map_or(self.line_start, |end| start + end as u64 + 1);
        let line = self.lines + memchr::memchr_iter(b'\n', before).count() + 1;
        (line, column(offset, line_start))
    }

    /// Returns the value of the text so far, `None` if it has not begun. Takes constant time.
    pub fn value(&self) -> Option<&Value> {
        self.builder.root.as_ref()
    }

    /// Returns the innermost incomplete part, `None` if the document is complete. Takes linear time in the depth of
    /// the part.
    pub fn incomplete(&self) -> Option<Incomplete<'_>> {
        let Builder { root, positions, key, number, .. } = &self.builder;
        let mut path = Vec::new();
        let mut open = root.as_ref().filter(|_| !positions.is_empty());
        for position in positions.iter().skip(1) {
            let (segment, child) = growing::child(open?, *position)?;
            path.push(segment);
            open = Some(child);
        }
        let next = match open {
            Some(Value::Array(items)) => Some(Segment::Index(items.len())),
            Some(_) => Some(Segment::Key(key.as_str())),
            None => None,
        };
        let is_in_object = self.tokens.is_in_object();
        let part = match self.tokens.state() {
            State::After | State::ClosingFence if is_in_object.is_none() => return None,
            State::FirstKey | State::Key => Part::Object,
            State::After if is_in_object == Some(true) => Part::Object,
            State::FirstValue | State::After | State::ClosingFence => Part::Array,
            State::Value if is_in_object == Some(false) => Part::Array,
            State::String | State::Escape | State::Hex(_) if self.tokens.is_key() => Part::Key(key),
            State::String | State::Escape | State::Hex(_) => {
                Part::String(open.and_then(Value::as_str).unwrap_or_default())
            }
            State::Value | State::Colon | State::OpeningFence => {
                path.extend(next);
                Part::Missing
            }
            State::Number(_) => {
                path.extend(next);
                Part::Number(number)
            }
            State::Literal { name, len } => {
                path.extend(next);
                Part::Literal(&name[..len])
            }
        };
        Some(Incomplete { path, part })
    }

    /// Returns whether [`value`](Self::value) has a value at `pointer`, a JSON Pointer (RFC 6901), that cannot change
    /// any more, except by a duplicate key. An array or object is final when its closing bracket was received.
    ///
    /// Takes linear time in the length of the pointer and the depth of the incomplete part.
    pub fn is_final(&self, pointer: &str) -> bool {
        if self.value().and_then(|value| value.pointer(pointer)).is_none() {
            return false;
        }
        let Some(incomplete) = self.incomplete() else { return true };
        let Some(mut tokens) = pointer::tokens(pointer) else { return false };
        let mut path = incomplete.path.iter();
        loop {
            match (tokens.next(), path.next()) {
                (Some(token), Some(Segment::Key(key))) if token == *key => {}
                (Some(token), Some(Segment::Index(index))) if pointer::index(&token) == Some(*index) => {}
                (Some(_), _) => return true,
                (None, Some(_)) => return false,
                // If the new value has not begun, there is a complete one with the same key.
                (None, None) => {
                    return matches!(incomplete.part, Part::Missing | Part::Number(_) | Part::Literal(_));
                }
            }
        }
    }

    /// Returns whether the text is a complete document, so that [`finish`](Self::finish) returns a value, or an error if
    /// the root is a number out of range. White space may follow, and more digits after a number at the root.
    pub fn is_complete(&self) -> bool {
        self.failure.is_none()
            && self.tokens.depth == 0
            && match self.tokens.state() {
                State::After | State::ClosingFence => true,
                State::Number(number) => number.is_number(),
                _ => false,
            }
    }

    /// Returns the value of the complete document, without parsing it again. It is the value that
    /// [`from_str`](crate::from_str) decodes from the whole text.
    ///
    /// # Errors
    ///
    /// [`Error::is_eof`] if the document is incomplete, otherwise the errors of [`push`](Self::push).
    pub fn finish(mut self) -> Result<Value> {
        self.check()?;
        let (is_complete, end) = (self.is_complete(), self.tokens.offset);
        if let State::Number(number) = self.tokens.state()
            && number.is_number()
        {
            self.builder.end_number("", end).map_err(|error| self.locate(error, b"", end))?;
            self.builder.close_stack();
        }
        match self.builder.root.take() {
            Some(value) if is_complete => Ok(value),
            _ => Err(self.locate(Error::new(Kind::Eof, Some(end)), b"", end)),
        }
    }

    fn check(&self) -> Result<()> {
        match &self.failure {
            Some((kind, offset, line, column)) => {
                Err(Error::new(kind.clone(), *offset).with_position(*line, *column))
            }
            None => Ok(()),
        }
    }
}

/// Returns the column of an offset in a line.
fn column(offset: u64, line_start: u64) -> usize {
    usize::try_from(offset.saturating_sub(line_start) + 1).unwrap_or(usize::MAX)
}

impl Default for Parser {
    /// Returns [`Parser::new`].
    fn default() -> Self {
        Self::new()
    }
}

/// Omits the value.
impl fmt::Debug for Parser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parser")
            .field("offset", &self.tokens.offset)
            .field("depth", &self.builder.positions.len())
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

/// Innermost incomplete part of a document. The arrays and objects that contain it are incomplete, too.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incomplete<'a> {
    /// Path from the root to the part; for [`Part::Key`], to its object. Empty for the root. Keys are complete.
    pub path: Vec<Segment<&'a str>>,
    /// Type of the part.
    pub part: Part<'a>,
}

/// Type of an incomplete part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part<'a> {
    /// The value has not begun: the text is empty, or ends between a key and its value.
    Missing,
    /// Array, after `[`, `,` or an element.
    Array,
    /// Object, after `{`, `,` or an entry.
    Object,
    /// Key without its closing quote: the characters so far.
    Key(&'a str),
    /// String without its closing quote: the characters so far.
    String(&'a str),
    /// Text of a number that may continue.
    Number(&'a str),
    /// First characters of `true`, `false` or `null`.
    Literal(&'a str),
}
