//! Public deserializer.

use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::{fmt, io};

use serde::de::{Deserialize, Deserializer as _, IntoDeserializer, Visitor};

use super::borrow::Source;
use super::parser::Parser;
use super::read::{Fused, IoRead, Read, SliceRead, StrRead};
use super::superseded;
use crate::codec::Codec;
use crate::error::{Error, Result};
use crate::grammar::is_delimiter;
use crate::raw::RawValue;

/// Call of a method of serde's `Deserializer`, for the parser of any [`Source`].
pub trait Action<'de> {
    type Value;

    fn run<'t, M: Source<'t, 'de>>(self, parser: &mut Parser<'t, '_, M>) -> Result<Self::Value>;
}

/// Options, and the scratch buffer of the last value.
pub struct State {
    pub(super) codec: Codec,
    scratch: String,
}

impl fmt::Debug for State {
    /// Omits the scratch buffer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("codec", &self.codec).finish_non_exhaustive()
    }
}

impl State {
    /// Runs `action` at the start of `text`. Returns the length of the value, and its result.
    #[inline]
    pub(super) fn run<'t, 'de, M: Source<'t, 'de>, A: Action<'de>>(
        &mut self,
        text: &'t str,
        action: A,
    ) -> (usize, Result<A::Value>) {
        let superseded = match superseded(text, &self.codec) {
            Ok(superseded) => superseded,
            Err(error) => return (0, Err(error)),
        };
        let mut parser = Parser::<M>::any(text, &self.codec);
        parser.superseded = &superseded;
        parser.scratch = std::mem::take(&mut self.scratch);
        let result = action.run(&mut parser).map_err(|error| error.near_value(parser.at));
        self.scratch = parser.scratch;
        (parser.at, result)
    }
}

/// Decodes values from a `str`, bytes, or a reader, as a [`serde::Deserializer`].
///
/// The functions [`from_str`](crate::from_str), [`from_slice`](crate::from_slice) and
/// [`from_reader`](crate::from_reader) are sufficient for one value of a type that implements `Deserialize`. Use this
/// type for a `DeserializeSeed`, with crates that wrap a deserializer, or for several values in a row.
///
/// # Examples
///
/// ```
/// use serde::Deserialize;
/// use tightwire_json::Deserializer;
///
/// let mut deserializer = Deserializer::from_str(r#"[1, 2] "three""#);
/// assert_eq!(Vec::<u8>::deserialize(&mut deserializer)?, [1, 2]);
/// assert_eq!(<&str>::deserialize(&mut deserializer)?, "three");
/// deserializer.end()?;
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug)]
pub struct Deserializer<R> {
    read: R,
    state: State,
}

impl<'de, R: Read<'de>> Deserializer<R> {
    /// Returns a deserializer with [`Codec::standard`].
    pub fn new(read: R) -> Self {
        Self::with_codec(read, Codec::standard())
    }

    /// Returns a deserializer with this codec. Its limits apply to each value.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde::Deserialize;
    /// use tightwire_json::de::{Deserializer, StrRead};
    /// use tightwire_json::{Codec, Limits, Value};
    ///
    /// let codec = Codec::strict().with_limits(Limits::new().max_depth(1));
    /// let mut deserializer = Deserializer::with_codec(StrRead::new("[] [[]]"), codec);
    /// assert!(Value::deserialize(&mut deserializer).is_ok());
    /// assert!(Value::deserialize(&mut deserializer).unwrap_err().is_limit());
    /// ```
    pub fn with_codec(read: R, codec: Codec) -> Self {
        Self { read, state: State { codec, scratch: String::new() } }
    }

    /// Checks that only white space follows.
    ///
    /// # Errors
    ///
    /// [`Error::is_syntax`] if anything else follows, [`Error::is_io`] if the reader fails.
    pub fn end(&mut self) -> Result<()> {
        match self.read.peek()? {
            None => Ok(()),
            Some(_) => Err(self.read.trailing()),
        }
    }

    /// Returns an iterator over the remaining values.
    #[allow(clippy::should_implement_trait, reason = "the trait has no type parameter for the values")]
    pub fn into_iter<T: Deserialize<'de>>(self) -> StreamDeserializer<'de, R, T> {
        let offset = self.read.offset();
        StreamDeserializer {
            deserializer: self,
            offset,
            failed: false,
            input: PhantomData,
            output: PhantomData,
        }
    }
}

impl<R: io::Read> Deserializer<IoRead<R>> {
    /// Returns a deserializer of the documents of a reader, which is left directly behind the last value: see [`IoRead`].
    /// Decoded values cannot borrow. For a [`BufRead`](io::BufRead), a deserializer of a [`Decoder`](crate::Decoder) is faster.
    ///
    /// # Examples
    ///
    /// A document followed by other data:
    ///
    /// ```
    /// use std::io::Read;
    /// use serde::Deserialize;
    /// use tightwire_json::{Decoder, Deserializer, Value};
    ///
    /// let mut reader = &b"{\"len\": 2}\xff\x00"[..];
    /// let header = Value::deserialize(&mut Deserializer::new(Decoder::new(&mut reader)))?;
    /// let mut body = Vec::new();
    /// reader.read_to_end(&mut body)?;
    /// assert_eq!((header["len"].as_u64(), &body[..]), (Some(2), &b"\xff\x00"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_reader(reader: R) -> Self {
        Self::new(IoRead::new(reader))
    }
}

impl<'a> Deserializer<SliceRead<'a>> {
    /// Returns a deserializer of bytes in UTF-8. Decoded values can borrow from them.
    pub fn from_slice(bytes: &'a [u8]) -> Self {
        Self::new(SliceRead::new(bytes))
    }
}

impl<'a> Deserializer<StrRead<'a>> {
    /// Returns a deserializer of text. Decoded values can borrow from it.
    #[allow(clippy::should_implement_trait, reason = "the trait cannot express that the result borrows")]
    pub fn from_str(text: &'a str) -> Self {
        Self::new(StrRead::new(text))
    }
}

/// Passes all methods of serde's `Deserializer` to a macro.
macro_rules! methods {
    ($macro:ident) => {
        $macro! {
            deserialize_any() deserialize_bool()
            deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
            deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
            deserialize_f32() deserialize_f64() deserialize_char() deserialize_str() deserialize_string()
            deserialize_bytes() deserialize_byte_buf() deserialize_option() deserialize_unit()
            deserialize_unit_struct(name: &'static str)
            deserialize_newtype_struct(name: &'static str)
            deserialize_seq()
            deserialize_tuple(len: usize)
            deserialize_tuple_struct(name: &'static str, len: usize)
            deserialize_map()
            deserialize_struct(name: &'static str, fields: &'static [&'static str])
            deserialize_enum(name: &'static str, variants: &'static [&'static str])
            deserialize_identifier() deserialize_ignored_any()
        }
    };
}

macro_rules! actions {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {
        $(
            fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value> {
                struct Call<V> {
                    $($argument: $type,)*
                    visitor: V,
                }

                impl<'de, V: Visitor<'de>> Action<'de> for Call<V> {
                    type Value = V::Value;

                    fn run<'t, M: Source<'t, 'de>>(self, parser: &mut Parser<'t, '_, M>) -> Result<V::Value> {
                        parser.$method($(self.$argument,)* self.visitor)
                    }
                }

                self.read
                    .value(&mut self.state, Call { $($argument,)* visitor })
                    .map_err(Error::without_tracked_path::<V>)
            }
        )*
    };
}

impl<'de, R: Read<'de>> serde::Deserializer<'de> for &mut Deserializer<R> {
    type Error = Error;

    methods! { actions }
}

macro_rules! of_text {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {
        $(
            fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value> {
                Deserializer::from_str(self.get()).$method($($argument,)* visitor)
            }
        )*
    };
}

/// Decodes the JSON text, with [`Codec::standard`].
impl<'de> serde::Deserializer<'de> for &'de RawValue {
    type Error = Error;

    methods! { of_text }
}

impl<'de> IntoDeserializer<'de, Error> for &'de RawValue {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Iterator over the values of a [`Deserializer`].
///
/// Values may be separated by white space. A number or literal name must be followed by white space, the end, or one
/// of `"[]{},:`; otherwise an error is returned instead of it. After any other error there are no more values, except
/// [`WouldBlock`](io::ErrorKind::WouldBlock) and [`TimedOut`](io::ErrorKind::TimedOut) of the reader: then the next call
/// continues.
///
/// # Examples
///
/// ```
/// let mut values = tightwire_json::Deserializer::from_str("[1][2] 3 {").into_iter::<tightwire_json::Value>();
/// assert_eq!(values.by_ref().take(3).filter_map(Result::ok).count(), 3);
/// assert_eq!(values.byte_offset(), 8);
/// assert!(values.next().unwrap().unwrap_err().is_eof());
/// assert!(values.next().is_none());
/// ```
#[derive(Debug)]
pub struct StreamDeserializer<'de, R, T> {
    deserializer: Deserializer<R>,
    offset: u64,
    failed: bool,
    input: PhantomData<&'de ()>,
    output: PhantomData<fn() -> T>,
}

impl<'de, R: Read<'de>, T: Deserialize<'de>> StreamDeserializer<'de, R, T> {
    /// Returns an iterator over the values of `read`, with [`Codec::standard`].
    pub fn new(read: R) -> Self {
        Deserializer::new(read).into_iter()
    }

    /// Returns the number of bytes until the end of the last value; after an error, until the start of the malformed
    /// value; at the end, of the whole input.
    pub fn byte_offset(&self) -> usize {
        usize::try_from(self.offset).unwrap_or(usize::MAX)
    }
}

/// Returns whether the reader may have more bytes later.
fn can_retry(error: &Error) -> bool {
    matches!(error.io_error_kind(), Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
}

impl<'de, R: Read<'de>, T: Deserialize<'de>> Iterator for StreamDeserializer<'de, R, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        if self.failed {
            return None;
        }
        let first = self.deserializer.read.peek();
        self.offset = self.deserializer.read.offset();
        let first = match first {
            Ok(first) => first?,
            Err(error) => {
                self.failed = !can_retry(&error);
                return Some(Err(error));
            }
        };
        let result = T::deserialize(&mut self.deserializer);
        if let Err(error) = &result {
            self.failed = !can_retry(error);
            return Some(result);
        }
        self.offset = self.deserializer.read.offset();
        // The end of an array, object or string is known without the byte behind it, which may have to be waited for.
        if !matches!(first, b'[' | b'{' | b'"') {
            match self.deserializer.read.behind() {
                Ok(Some(byte)) if !is_delimiter(byte) => return Some(Err(self.deserializer.read.trailing())),
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        Some(result)
    }
}

impl<'de, R: Read<'de> + Fused, T: Deserialize<'de>> FusedIterator for StreamDeserializer<'de, R, T> {}
