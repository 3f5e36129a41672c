//! Elements of an array inside a document.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeOwned};

use super::ChunkDecoder;
use super::capture::{Capture, Event};
use crate::codec::Codec;
use crate::error::{Error, Kind, Result};
use crate::pointer;

/// Decodes the elements of one array of a document that may be larger than the memory.
///
/// A JSON pointer (RFC 6901) selects the array: `/data/items` is the value of `items` in the value of `data`, a number
/// is the index of an array element, `~1` in a key means `/` and `~0` means `~`. The empty pointer selects the root.
/// Keys are compared with their escapes resolved.
///
/// The whole document is validated: the values around the array are skipped without buffering, and after the array
/// the rest is read to the end. Only an element that continues in the next chunk is buffered. An element may have at
/// most [`Limits::max_document`](crate::Limits::max_document) bytes (64 MiB by default); the document has no maximum
/// size. [`Limits::max_depth`](crate::Limits::max_depth) counts from the root.
///
/// An element that is not a `T`, or that has duplicate keys if [`Duplicates::Error`](crate::Duplicates::Error) is set,
/// is an error, and decoding continues with the next element. All other errors end decoding:
///
/// - The document is malformed, truncated, or exceeds a limit.
/// - The array does not exist, or another value is in its place ([`Error::is_data`]).
/// - A key of the pointer occurs twice in its object ([`Error::is_data`]), for any [`Duplicates`](crate::Duplicates):
///   the elements of the first array were returned before the second occurrence is read. Duplicate keys in skipped
///   values are not detected.
///
/// The first error in the document is reported. Offsets count from the start of the document.
///
/// # Examples
///
/// ```
/// use tightwire_json::{DocumentReader, ElementDecoder};
///
/// let document = br#"{"names": ["Ada", 7, "Grace"], "more": true"#;
/// let mut names = DocumentReader::new(&document[..], ElementDecoder::<String>::new("/names")?);
/// assert_eq!(names.next().unwrap()?, "Ada");
/// assert!(names.next().unwrap().unwrap_err().is_data());
/// assert_eq!(names.next().unwrap()?, "Grace");
/// // The closing brace is missing.
/// assert!(names.next().unwrap().unwrap_err().is_eof());
/// assert!(names.next().is_none());
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub struct ElementDecoder<T> {
    codec: Codec,
    pointer: Box<str>,
    tokens: Box<[Token]>,
    progress: Progress,
    elements: PhantomData<fn() -> T>,
}

/// Reference token of a pointer.
struct Token {
    key: String,
    /// The token as an array index.
    index: Option<usize>,
}

/// Position in the document.
struct Progress {
    /// Watches the innermost open container of the path, and captures keys and elements.
    capture: Capture,
    phase: Phase,
    /// The last key is the one of the path.
    is_key: bool,
    /// Number of elements seen of the innermost array of the path.
    index: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the selected array.
    Before,
    Inside,
    After,
    /// After an error that ends decoding.
    Failed,
}

impl Progress {
    fn new(codec: &Codec) -> Self {
        Self { capture: Capture::new(codec, 0), phase: Phase::Before, is_key: false, index: 0 }
    }
}

impl Token {
    /// Maximum length of this key in a document, with its quotes: each byte of a character may be written as six.
    fn max_len(&self) -> usize {
        2 + 6 * self.key.len()
    }

    /// Returns whether `key`, a valid string with its quotes, is this one.
    fn is_key(&self, key: &[u8]) -> bool {
        match key {
            [b'"', text @ .., b'"'] if !text.contains(&b'\\') => text == self.key.as_bytes(),
            _ => Codec::leading_string(key).is_ok_and(|key| key == self.key),
        }
    }
}

impl<T: DeserializeOwned> ElementDecoder<T> {
    /// Returns a decoder with [`Codec::standard`].
    ///
    /// # Errors
    ///
    /// [`Error::is_data`] if `pointer` is not a JSON pointer.
    pub fn new(pointer: &str) -> Result<Self> {
        Self::with_codec(pointer, Codec::standard())
    }

    /// Returns a decoder with this codec.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    pub fn with_codec(pointer: &str, codec: Codec) -> Result<Self> {
        let tokens = pointer::tokens(pointer).filter(|_| pointer::has_valid_escapes(pointer));
        let Some(tokens) = tokens else {
            return Err(de::Error::custom(format_args!("`{pointer}` is not a JSON pointer")));
        };
        let token = |key: Cow<'_, str>| Token { index: pointer::index(&key), key: key.into_owned() };
        Ok(Self {
            codec: codec.without_extensions(),
            pointer: pointer.into(),
            tokens: tokens.map(token).collect(),
            progress: Progress::new(&codec),
            elements: PhantomData,
        })
    }

    /// Decodes the next element that ends in `chunk`. An outer error ends decoding.
    #[inline(always)]
    fn element(&mut self, chunk: &mut &[u8]) -> Result<Option<Result<T>>> {
        let mut failed = None;
        while !chunk.is_empty() {
            let (event, part) = self.progress.capture.advance(chunk)?;
            let Some(event) = event else { continue };
            let Progress { capture, phase, is_key, .. } = &mut self.progress;
            // The token for the watched container. Keys occur only in containers of the path.
            let token = capture.watch.depth.checked_sub(1).and_then(|level| self.tokens.get(level));
            match event {
                Event::Key => capture.begin(token.map_or(0, Token::max_len), true),
                Event::Value(_) if *phase == Phase::Inside => match capture.value(chunk, &self.codec) {
                    Ok(Some(element)) => return Ok(Some(Ok(element))),
                    Ok(None) => {}
                    Err(error) => failed = Some(error),
                },
                Event::Value(byte) => self.value(byte)?,
                Event::End => {
                    let Some((text, start)) = capture.end(part) else { continue };
                    if *phase == Phase::Inside {
                        let element = failed.map_or_else(|| self.codec.from_slice(text), Err);
                        return Ok(Some(element.map_err(|error| error.moved_by(start))));
                    }
                    *is_key = token.is_some_and(|token| token.is_key(text));
                    if *is_key && *phase == Phase::After {
                        return Err(self.error("duplicate key on the path of", start));
                    }
                }
                Event::Close if *phase == Phase::Before => {
                    let bracket = capture.tokens.offset - 1;
                    return Err(self.error("no value at", bracket));
                }
                Event::Close => {
                    *phase = Phase::After;
                    capture.watch.depth -= 1;
                }
            }
        }
        Ok(None)
    }

    /// Processes the first byte of a value in the watched container, which is not an element.
    fn value(&mut self, byte: u8) -> Result<()> {
        let Progress { capture, phase, is_key, index } = &mut self.progress;
        let level = capture.watch.depth;
        let is_on_path = match phase {
            Phase::Inside | Phase::After | Phase::Failed => return Ok(()),
            Phase::Before if level == 0 => true,
            Phase::Before if capture.tokens.is_in_object() == Some(true) => std::mem::take(is_key),
            Phase::Before => {
                *index += 1;
                self.tokens[level - 1].index == Some(*index - 1)
            }
        };
        if !is_on_path {
            return Ok(());
        }
        let start = capture.tokens.offset;
        match (self.tokens.get(level), byte) {
            (None, b'[') => *phase = Phase::Inside,
            (None, _) => return Err(self.error("no array at", start)),
            (Some(_), b'{') => {}
            (Some(Token { index: Some(_), .. }), b'[') => *index = 0,
            (Some(_), _) => return Err(self.error("no value at", start)),
        }
        capture.watch.depth += 1;
        Ok(())
    }

    fn error(&self, what: &str, offset: u64) -> Error {
        let message = format!("{what} pointer `{}`", self.pointer);
        Error::new(Kind::Data(message.into()), Some(offset))
    }
}

impl<T: DeserializeOwned> ChunkDecoder for ElementDecoder<T> {
    type Document = T;

    fn next(&mut self, chunk: &mut &[u8]) -> Option<Result<T>> {
        if self.is_failed() {
            *chunk = &[];
            return None;
        }
        self.element(chunk).unwrap_or_else(|error| {
            self.progress.phase = Phase::Failed;
            Some(Err(error))
        })
    }

    fn finish(&mut self) -> Option<Result<T>> {
        let Progress { capture, phase, .. } =
            std::mem::replace(&mut self.progress, Progress::new(&self.codec));
        if phase == Phase::Failed { None } else { capture.tokens.end().err().map(Err) }
    }

    fn is_failed(&self) -> bool {
        self.progress.phase == Phase::Failed
    }
}

impl<T> fmt::Debug for ElementDecoder<T> {
    /// Omits the buffered element.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElementDecoder")
            .field("codec", &self.codec)
            .field("pointer", &self.pointer)
            .field("phase", &self.progress.phase)
            .field("offset", &self.progress.capture.tokens.offset)
            .finish_non_exhaustive()
    }
}
