//! Options of encoding and decoding.

use std::sync::atomic::{AtomicBool, Ordering};

/// Options of encoding and decoding: mode, limits, and handling of duplicate keys.
///
/// # Examples
///
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
    pub(crate) mode: Mode,
    pub(crate) limits: Limits,
    pub(crate) duplicates: Duplicates,
    /// Whether numbers of trees keep their text.
    pub(crate) keeps_numbers: bool,
    pub(crate) extensions: Extensions,
}

impl Codec {
    /// Only for parsing without recursion, of text that this program produced or that is already in memory.
    pub(crate) const UNLIMITED: Self = Self::compat()
        .with_limits(Limits { depth: usize::MAX, document: usize::MAX, string: usize::MAX })
        .with_duplicates(Duplicates::ByType);

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
    ///
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
    ///
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
    ///
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

    /// Returns whether documents are decoded as by Go: lone surrogates (section 8.2) become U+FFFD, and strings become bytes
    /// as base64 (RFC 4648, section 4). Otherwise lone surrogates are errors, and the bytes are UTF-8, like with serde_json.
    pub(crate) const fn is_compat(&self) -> bool {
        matches!(self.mode, Mode::Compat)
    }
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
    /// These are errors of encoding ([`Error::is_encode`](crate::Error::is_encode)), because the canonical form cannot represent them:
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
///
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

/// How duplicate keys of an object are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Duplicates {
    /// The type decides, as with serde_json: a derived struct rejects a duplicate field, maps and
    /// [`Value`](crate::Value) keep the last value.
    #[default]
    ByType,
    /// Structs and maps use the last value, as in Go. Earlier entries are skipped; their values must be valid JSON but
    /// may have any type. Costs an additional pass over the document.
    Last,
    /// The document is rejected with an error at the second key. Costs an additional pass over the document.
    Error,
}

/// Accepted documents that RFC 8259 does not permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extensions {
    /// Documents may begin with a byte order mark (RFC 8259, section 8.1).
    pub(crate) byte_order_mark: bool,
    /// `//` to the end of the line, and `/* */`, may be anywhere between two tokens.
    pub(crate) comments: bool,
    /// A comma may precede the closing bracket of an array or object that is not empty.
    pub(crate) trailing_commas: bool,
}

impl Extensions {
    pub(crate) const NONE: Self = Self { byte_order_mark: false, comments: false, trailing_commas: false };
}
