//! Codecs: encoding and decoding with explicit options.

use std::cell::Cell;
use std::fmt;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::de::{self, ByteStrings, Duplicates, Extensions, LoneSurrogate, Rules};
use crate::error::{Error, Result};
use crate::ser::{self, Canonical, Format, Go, Plain, Pretty, RawValues, VecSerializer};

/// Options of encoding and decoding: mode, limits, and handling of duplicate keys.
///
/// # Examples
/// ```
/// use tightwire_json::{Codec, Limits};
///
/// const GO: Codec = Codec::compat();
/// assert_eq!(GO.to_string(&["<b>", "&"])?, r#"["\u003cb\u003e","\u0026"]"#);
///
/// const SHALLOW: Codec = Codec::strict().with_limits(Limits::new().max_depth(2));
/// assert!(SHALLOW.from_str::<tightwire_json::Value>("[[[]]]").unwrap_err().is_limit());
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codec {
    mode: Mode,
    limits: Limits,
    duplicates: Duplicates,
    keeps_numbers: bool,
    extensions: Extensions,
}

impl Codec {
    /// Returns a codec with the default options of a mode.
    pub const fn new(mode: Mode) -> Self {
        let duplicates = match mode {
            Mode::Compat => Duplicates::Last,
            Mode::Strict | Mode::Fast => Duplicates::ByType,
            Mode::Canonical => Duplicates::Error,
        };
        Self { mode, limits: Limits::new(), duplicates, keeps_numbers: false, extensions: Extensions::NONE }
    }

    /// Returns a codec with [`Mode::Strict`].
    pub const fn strict() -> Self {
        Self::new(Mode::Strict)
    }

    /// Returns a codec with [`Mode::Compat`].
    pub const fn compat() -> Self {
        Self::new(Mode::Compat)
    }

    /// Returns a codec with [`Mode::Fast`].
    pub const fn fast() -> Self {
        Self::new(Mode::Fast)
    }

    /// Returns a codec with [`Mode::Canonical`].
    ///
    /// # Examples
    /// ```
    /// use tightwire_json::{Codec, Value};
    ///
    /// let signed: Value = tightwire_json::from_str(r#"{"b": 1.0, "a": "\u00e9", "c": 1e30}"#)?;
    /// assert_eq!(Codec::canonical().to_string(&signed)?, r#"{"a":"é","b":1,"c":1e+30}"#);
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub const fn canonical() -> Self {
        Self::new(Mode::Canonical)
    }

    /// Returns the codec of the root functions: [`strict`](Self::strict), or [`fast`](Self::fast) after
    /// [`config_fastest_mode`](crate::config_fastest_mode) was called.
    pub fn standard() -> Self {
        Self::new(if FASTEST.load(Ordering::Relaxed) { Mode::Fast } else { Mode::Strict })
    }

    /// Sets the limits of decoding. Default: [`Limits::new`].
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the handling of duplicate keys in decoding. Default: [`Duplicates::Last`] in [`Mode::Compat`],
    /// [`Duplicates::Error`] in [`Mode::Canonical`], otherwise [`Duplicates::ByType`].
    #[must_use]
    pub const fn with_duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Sets whether the numbers of a [`Value`](crate::Value) keep the text of the document, so that no digit is lost and
    /// encoding writes the same text: see [`Number::from_written`](crate::Number::from_written). Decoding trees is slower.
    /// Default: `false`.
    ///
    /// serde stores the content of flattened fields and of tagged and untagged enums before it decodes it. There, a number
    /// that no 64-bit integer and no `f64` represents with the same text can only be decoded into a tree or a
    /// [`Number`](crate::Number): for any other type it is an error, as with serde_json's `arbitrary_precision`.
    ///
    /// # Examples
    /// ```
    /// use tightwire_json::{Codec, Value};
    ///
    /// let codec = Codec::strict().with_written_numbers(true);
    /// let value: Value = codec.from_str("[1.10, 123456789012345678901234567890]")?;
    /// assert_eq!(codec.to_string(&value)?, "[1.10,123456789012345678901234567890]");
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    #[must_use]
    pub const fn with_written_numbers(mut self, keeps_numbers: bool) -> Self {
        self.keeps_numbers = keeps_numbers;
        self
    }

    /// Sets whether a document may begin with a byte order mark, which RFC 8259 (section 8.1) permits decoders to ignore.
    /// Default: `false`, it is a syntax error.
    ///
    /// Applies to the methods of the codec and to the lines of a [`LineDecoder`](crate::LineDecoder); other decoders accept
    /// none. Offsets and columns of errors include its three bytes.
    #[must_use]
    pub const fn with_byte_order_mark(mut self, is_accepted: bool) -> Self {
        self.extensions.byte_order_mark = is_accepted;
        self
    }

    /// Sets whether comments are accepted between tokens: from `//` to the end of the line, and from `/*` to `*/`. Default:
    /// `false`.
    ///
    /// Applies to the same decoders as [`with_byte_order_mark`](Self::with_byte_order_mark). A document with comments is
    /// copied once. Values can borrow from it, except for a `&RawValue`: the text of a raw value has spaces in place of
    /// comments.
    ///
    /// # Examples
    /// ```
    /// use tightwire_json::Codec;
    ///
    /// const CONFIG: Codec = Codec::strict().with_comments(true).with_trailing_commas(true);
    /// let ports: Vec<u16> = CONFIG.from_str("[\n  80, // HTTP\n  443, /* HTTPS */\n]")?;
    /// assert_eq!(ports, [80, 443]);
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    #[must_use]
    pub const fn with_comments(mut self, are_accepted: bool) -> Self {
        self.extensions.comments = are_accepted;
        self
    }

    /// Sets whether a comma is accepted after the last element or entry. Default: `false`. Same as
    /// [`with_comments`](Self::with_comments) otherwise.
    #[must_use]
    pub const fn with_trailing_commas(mut self, are_accepted: bool) -> Self {
        self.extensions.trailing_commas = are_accepted;
        self
    }

    /// Returns the codec for a decoder that finds the boundaries of values itself, and therefore accepts only what RFC 8259
    /// permits.
    pub(crate) const fn without_extensions(mut self) -> Self {
        self.extensions = Extensions::NONE;
        self
    }

    /// Returns the mode.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the limits of decoding.
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn rules(&self) -> Rules {
        let (lone_surrogate, byte_strings) = match self.mode {
            Mode::Compat => (LoneSurrogate::Replace, ByteStrings::Base64),
            Mode::Strict | Mode::Fast | Mode::Canonical => (LoneSurrogate::Error, ByteStrings::Utf8),
        };
        Rules {
            limits: self.limits,
            lone_surrogate,
            duplicates: self.duplicates,
            byte_strings,
            keeps_numbers: self.keeps_numbers,
            extensions: self.extensions,
        }
    }

    /// Encodes `value` into a new vector.
    ///
    /// # Errors
    /// [`Error::is_encode`] for NaN and infinity, a map key other than a string, character, number, boolean or unit
    /// variant, a raw value that is not JSON, and an error of a `Serialize` implementation. [`Mode::Canonical`] has
    /// additional errors.
    #[inline]
    pub fn to_vec<T: Serialize + ?Sized>(&self, value: &T) -> Result<Vec<u8>> {
        match self.mode {
            Mode::Strict => VecSerializer::document(Plain, RawValues::Check, value),
            Mode::Fast => VecSerializer::document(Plain, RawValues::Trust, value),
            Mode::Compat => VecSerializer::document(Go, RawValues::Compact, value),
            Mode::Canonical => VecSerializer::document(Canonical, RawValues::Check, value),
        }
    }

    /// Encodes `value` into a new string.
    ///
    /// # Errors
    /// Same as [`to_vec`](Self::to_vec).
    pub fn to_string<T: Serialize + ?Sized>(&self, value: &T) -> Result<String> {
        utf8(self.to_vec(value)?)
    }

    /// Encodes `value` with one line per element and entry, indented by `indent` per level. Empty arrays and objects
    /// stay on one line. Raw values are written without changes, in [`Mode::Compat`] with indentation. With
    /// [`Mode::Canonical`], keys and numbers are those of the canonical form, but the document is not canonical because of
    /// the white space.
    ///
    /// The output is valid JSON only if `indent` is white space as defined by RFC 8259: space, tab, CR, LF.
    ///
    /// # Errors
    /// Same as [`to_vec`](Self::to_vec).
    pub fn to_vec_pretty<T: Serialize + ?Sized>(&self, value: &T, indent: &str) -> Result<Vec<u8>> {
        let pretty = Pretty::new(indent);
        let compact = match self.mode {
            Mode::Strict => return VecSerializer::document(pretty, RawValues::Check, value),
            Mode::Fast => return VecSerializer::document(pretty, RawValues::Trust, value),
            Mode::Compat => VecSerializer::document(Go, RawValues::Compact, value),
            Mode::Canonical => VecSerializer::document(Canonical, RawValues::Check, value),
        }?;
        Ok(ser::indent(&compact, &pretty))
    }

    /// Encodes `value` in another format, such as with short arrays on one line, ASCII only, or rounded floats.
    ///
    /// # Errors
    /// Same as [`to_vec`](Self::to_vec).
    pub fn to_string_formatted<T, F>(&self, value: &T, format: &F) -> Result<String>
    where
        T: Serialize + ?Sized,
        F: Format + ?Sized,
    {
        Ok(ser::format(&self.to_string(value)?, format))
    }

    /// Encodes `value` like [`to_vec_pretty`](Self::to_vec_pretty) into a new string.
    ///
    /// # Errors
    /// Same as [`to_vec`](Self::to_vec).
    pub fn to_string_pretty<T: Serialize + ?Sized>(&self, value: &T, indent: &str) -> Result<String> {
        utf8(self.to_vec_pretty(value, indent)?)
    }

    /// Encodes `value` like [`to_vec_pretty`](Self::to_vec_pretty), then writes the complete document.
    ///
    /// # Errors
    /// Same as [`to_writer`](Self::to_writer).
    pub fn to_writer_pretty<W: Write, T: Serialize + ?Sized>(
        &self,
        mut writer: W,
        value: &T,
        indent: &str,
    ) -> Result<()> {
        writer.write_all(&self.to_vec_pretty(value, indent)?).map_err(Error::io)
    }

    /// Encodes `value`, then writes the complete document.
    ///
    /// # Errors
    /// Same as [`to_vec`](Self::to_vec), without writing anything, and [`Error::is_io`] if the writer fails.
    pub fn to_writer<W: Write, T: Serialize + ?Sized>(&self, mut writer: W, value: &T) -> Result<()> {
        writer.write_all(&self.to_vec(value)?).map_err(Error::io)
    }

    /// Encodes `value`, then writes the complete document to a [`fmt::Write`]: appends it to a [`String`], or writes it in
    /// an implementation of [`Display`](fmt::Display).
    ///
    /// # Errors
    /// Same as [`to_writer`](Self::to_writer).
    pub fn to_fmt_writer<W: fmt::Write, T: Serialize + ?Sized>(
        &self,
        mut writer: W,
        value: &T,
    ) -> Result<()> {
        writer.write_str(&self.to_string(value)?).map_err(Error::io)
    }

    /// Appends the encoded `value` to `buffer`. Does not allocate if the spare capacity is at least 20 bytes larger
    /// than the document.
    ///
    /// # Errors
    /// Same as [`to_vec`](Self::to_vec); the buffer is unchanged. If a `Serialize` implementation panics, the buffer is
    /// left empty.
    #[inline]
    pub fn to_buf<T: Serialize + ?Sized>(&self, buffer: &mut Vec<u8>, value: &T) -> Result<()> {
        match self.mode {
            Mode::Strict => VecSerializer::append(Plain, buffer, RawValues::Check, value),
            Mode::Fast => VecSerializer::append(Plain, buffer, RawValues::Trust, value),
            Mode::Compat => VecSerializer::append(Go, buffer, RawValues::Compact, value),
            Mode::Canonical => VecSerializer::append(Canonical, buffer, RawValues::Check, value),
        }
    }

    /// Encodes `value` into reference-counted bytes. Requires the feature `bytes`.
    ///
    /// # Errors
    /// Same as [`to_vec`](Self::to_vec).
    #[cfg(feature = "bytes")]
    pub fn to_bytes<T: Serialize + ?Sized>(&self, value: &T) -> Result<bytes::Bytes> {
        self.to_vec(value).map(Into::into)
    }

    /// Decodes a document into a value that may borrow from it: strings without escapes become `&str`, or
    /// `Cow::Borrowed` in fields with `#[serde(borrow)]`. A string with escapes cannot be decoded into `&str`; use
    /// `Cow<str>`.
    ///
    /// # Errors
    /// [`Error::is_syntax`] if the document is not JSON in UTF-8, [`Error::is_eof`] if it is truncated,
    /// [`Error::is_limit`] if it exceeds a limit, [`Error::is_data`] if it is not a `T`. All have an offset, a line and
    /// a column. The first error in the document is reported, except that invalid UTF-8 takes precedence.
    pub fn from_slice<'a, T: Deserialize<'a>>(&self, document: &'a [u8]) -> Result<T> {
        de::decode(de::text(document, &self.limits)?, &self.rules())
    }

    /// Decodes a document into a value that may borrow from it. Skips the UTF-8 check of
    /// [`from_slice`](Self::from_slice).
    ///
    /// # Errors
    /// Same as [`from_slice`](Self::from_slice).
    pub fn from_str<'a, T: Deserialize<'a>>(&self, document: &'a str) -> Result<T> {
        de::check_len(document.as_bytes(), &self.limits)?;
        de::decode(document, &self.rules())
    }

    /// Reads to the end, then decodes. Reads at most one byte more than [`Limits::max_document`].
    ///
    /// Each thread keeps the buffer of its last document for the next one, unless it is larger than 64 KiB.
    ///
    /// # Errors
    /// Same as [`from_slice`](Self::from_slice), and [`Error::is_io`] if the reader fails.
    pub fn from_reader<R: Read, T: DeserializeOwned>(&self, reader: R) -> Result<T> {
        let bound = u64::try_from(self.limits.document).unwrap_or(u64::MAX).saturating_add(1);
        // A thread that is being destroyed has no buffer.
        let mut document = READ_BUFFER.try_with(Cell::take).unwrap_or_default();
        document.clear();
        document.reserve(INITIAL_CAPACITY);
        let read = reader.take(bound).read_to_end(&mut document).map_err(Error::io);
        let result = read.and_then(|_| self.from_slice(&document));
        if document.capacity() <= RETAINED_CAPACITY {
            let _ = READ_BUFFER.try_with(|buffer| buffer.set(document));
        }
        result
    }

    /// Checks that `document` is valid JSON within the limits.
    ///
    /// # Errors
    /// [`Error::is_syntax`], [`Error::is_eof`] and [`Error::is_limit`], as for [`from_slice`](Self::from_slice).
    pub fn validate(&self, document: &[u8]) -> Result<()> {
        de::validate(de::text(document, &self.limits)?, &self.rules())
    }

    /// Returns whether `document` is valid JSON within the limits.
    pub fn is_valid(&self, document: &[u8]) -> bool {
        self.validate(document).is_ok()
    }
}

fn utf8(document: Vec<u8>) -> Result<String> {
    String::from_utf8(document).map_err(|_| serde::ser::Error::custom("the document is not UTF-8"))
}

/// Minimum capacity of the buffer of [`Codec::from_reader`], in bytes.
const INITIAL_CAPACITY: usize = 8 << 10;

/// Maximum capacity of a buffer that a thread keeps for the next document, in bytes.
const RETAINED_CAPACITY: usize = 64 << 10;

thread_local! {
    /// Buffer of the last document that [`Codec::from_reader`] read.
    static READ_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Default for Codec {
    /// Returns [`Codec::strict`].
    fn default() -> Self {
        Self::strict()
    }
}

/// Default of [`Limits::max_depth`]: 128 levels.
pub const DEFAULT_MAX_DEPTH: usize = 128;

/// Default of [`Limits::max_document`]: 64 MiB.
pub const DEFAULT_MAX_DOCUMENT: usize = 64 << 20;

/// Limits of decoding. All are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub(crate) depth: usize,
    pub(crate) document: usize,
    pub(crate) string: usize,
}

impl Limits {
    /// Maximum depth of types whose decoder recurses, which are all but trees, raw values and skipped values: 512 levels.
    ///
    /// A document of this depth fits into the default stack of a thread, 2 MiB.
    pub const MAX_DEPTH: usize = 512;

    /// Returns the defaults: 128 levels, documents of 64 MiB, no separate limit for strings.
    pub const fn new() -> Self {
        Self { depth: DEFAULT_MAX_DEPTH, document: DEFAULT_MAX_DOCUMENT, string: usize::MAX }
    }

    /// Sets the maximum nesting of arrays and objects. Default: [`DEFAULT_MAX_DEPTH`]; `usize::MAX` means no limit.
    ///
    /// Validation, raw values, skipped values, and trees ([`Value`](crate::Value), [`Map`](crate::Map),
    /// [`Array`](crate::Array)) reach this depth without recursion; trees only if the document has no duplicate keys to skip
    /// ([`Duplicates::Last`]) and less than 4 GiB. For all other types and for [`partial::Parser`](crate::partial::Parser), the
    /// limit is [`Limits::MAX_DEPTH`] if it is lower.
    ///
    /// A decoded tree is dropped without recursion, but encoding it, comparing it and other methods recurse.
    #[must_use]
    pub const fn max_depth(mut self, levels: usize) -> Self {
        self.depth = levels;
        self
    }

    /// Sets the maximum size of a document in bytes, including white space in it.
    /// [`ElementDecoder`](crate::ElementDecoder) applies the limit to each element. Default: [`DEFAULT_MAX_DOCUMENT`];
    /// `usize::MAX` means no limit.
    #[must_use]
    pub const fn max_document(mut self, bytes: usize) -> Self {
        self.document = bytes;
        self
    }

    /// Returns the maximum size of a document in bytes.
    pub const fn document(&self) -> usize {
        self.document
    }

    /// Sets the maximum length of a string or key in bytes, as written between the quotes. Default: no limit.
    #[must_use]
    pub const fn max_string(mut self, bytes: usize) -> Self {
        self.string = bytes;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// Output style and leniency.
///
/// All modes decode RFC 8259 in UTF-8 and validate every byte, including skipped values. Lone surrogates (`"\ud800"`)
/// are U+FFFD in `Compat`, as in Go, and errors in the other modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Output of serde_json: map entries in iteration order, floats with their shortest digits and a fraction
    /// (`100.0`), only the required escapes. Raw values are validated before they are written.
    #[default]
    Strict,
    /// Output of Go's `encoding/json`: `<`, `>`, `&`, U+2028 and U+2029 as `\u` escapes, map keys sorted by their
    /// bytes, floats without an empty fraction and with an exponent below 1e-6 and from 1e21 on, byte strings as
    /// base64, raw values compacted. Structs keep the order of their fields, except that structs with a flattened field
    /// are sorted like maps.
    Compat,
    /// Output of `Strict`, but raw values are written without validation: an invalid one makes the document invalid,
    /// but it is always UTF-8.
    Fast,
    /// JSON Canonicalization Scheme (RFC 8785), for signatures and hashes: equal data has the same bytes.
    ///
    /// - Keys of maps and structs are sorted by UTF-16 code units (section 3.2.3).
    /// - Numbers are written as by ECMAScript (section 3.2.2.3): `100`, `1e+21`, `1e-7`, and `0` for `-0.0`. An `f32` is
    ///   converted to `f64`, which is exact: `0.1_f32` becomes `0.10000000149011612`.
    /// - Strings have only the required escapes, with lowercase hexadecimal digits (section 3.2.2.2).
    /// - Byte strings are arrays of numbers, as in `Strict`.
    /// - Raw values are rewritten in canonical form. Their numbers are read as by [`Value`](crate::Value): as an integer
    ///   if they have neither a fraction nor an exponent and fit into 64 bits, otherwise as the nearest `f64`.
    ///
    /// These are errors of encoding ([`Error::is_encode`]), because the canonical form cannot represent them:
    ///
    /// - Integers that do not keep all digits as an `f64`. Integers up to 2^53 always do, larger ones only if
    ///   ECMAScript writes the same digits for the nearest double: 2^53 + 2, but neither 2^53 + 1, which would be
    ///   rounded, nor 2^63, which ECMAScript writes as `9223372036854776000`. Encode such integers as strings. Map keys
    ///   are strings and may be any integers.
    /// - Duplicate keys, also in a struct or raw value, and keys that are equal only as strings, such as `1` and `"1"`.
    /// - Lone surrogates in a raw value.
    ///
    /// Decoding accepts documents that are not canonical, but rejects duplicate keys, as RFC 7493 (I-JSON) requires;
    /// [`Codec::with_duplicates`] changes that. A document is canonical if decoding it into a [`Value`](crate::Value) and
    /// encoding the value returns the same bytes.
    Canonical,
}

static FASTEST: AtomicBool = AtomicBool::new(false);

/// Sets the mode of the root functions to [`Mode::Fast`] in the whole process, until [`config_standard_mode`] is
/// called.
///
/// Existing codecs, encoders and decoders are not affected.
///
/// # Examples
/// ```
/// tightwire_json::config_fastest_mode();
/// assert_eq!(tightwire_json::Codec::standard().mode(), tightwire_json::Mode::Fast);
/// tightwire_json::config_standard_mode();
/// assert_eq!(tightwire_json::Codec::standard().mode(), tightwire_json::Mode::Strict);
/// ```
pub fn config_fastest_mode() {
    FASTEST.store(true, Ordering::Relaxed);
}

/// Sets the mode of the root functions to [`Mode::Strict`], the default, for the whole process.
pub fn config_standard_mode() {
    FASTEST.store(false, Ordering::Relaxed);
}
