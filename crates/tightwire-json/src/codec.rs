//! Codecs: a mode, limits and a backend with the functions that use them.

use std::io::{Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::backend::{self, Backend};
use crate::de::{self, BytesForm, Duplicates, Lone, Rules};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::mode::{self, Mode};
use crate::ser::{self, Go, Plain, Raw, Serializer};

/// How documents are written and read: a mode, limits, a rule for duplicate keys, and a backend.
///
/// A codec is a small value; constants of it cost nothing.
///
/// # Examples
/// ```
/// use tightwire_json::{Codec, Limits};
///
/// const LOOSE: Codec = Codec::compat();
/// assert_eq!(LOOSE.to_string(&["<b>", "&"])?, r#"["\u003cb\u003e","\u0026"]"#);
///
/// const TIGHT: Codec = Codec::strict().with_limits(Limits::new().max_depth(2));
/// assert!(TIGHT.from_str::<tightwire_json::Value>("[[[]]]").unwrap_err().is_limit());
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codec {
    mode: Mode,
    limits: Limits,
    duplicates: Duplicates,
    backend: Backend,
}

impl Codec {
    /// A codec of a mode, with the default limits and backend.
    pub const fn new(mode: Mode) -> Self {
        let duplicates = match mode {
            Mode::Compat => Duplicates::Last,
            Mode::Strict | Mode::Fast => Duplicates::ByType,
        };
        Self { mode, limits: Limits::new(), duplicates, backend: Backend::Native }
    }

    /// A codec of [`Mode::Strict`].
    pub const fn strict() -> Self {
        Self::new(Mode::Strict)
    }

    /// A codec of [`Mode::Compat`].
    pub const fn compat() -> Self {
        Self::new(Mode::Compat)
    }

    /// A codec of [`Mode::Fast`].
    pub const fn fast() -> Self {
        Self::new(Mode::Fast)
    }

    /// The codec that the root functions use at the moment: strict, or fast after
    /// [`config_fastest_mode`](crate::config_fastest_mode).
    pub fn standard() -> Self {
        Self::new(mode::standard())
    }

    /// Replaces the limits. Default: [`Limits::new`].
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Chooses how duplicate keys are handled. Default: [`Duplicates::Last`] in [`Mode::Compat`], otherwise
    /// [`Duplicates::ByType`].
    #[must_use]
    pub const fn with_duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Chooses what decodes. Default: [`Backend::Native`].
    #[must_use]
    pub const fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// The mode.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The limits.
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// The backend that was chosen.
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// The backend whose values [`from_slice`](Self::from_slice) returns for `document`: the chosen one, or
    /// [`Backend::Native`] if the chosen one would deviate on this document. What the chosen one refuses goes to
    /// the native one in any case.
    pub fn backend_for(&self, document: &[u8]) -> Backend {
        let applies = de::text(document, &self.limits)
            .is_ok_and(|text| backend::applies(self.backend, text, &self.rules()));
        if applies { self.backend } else { Backend::Native }
    }

    fn rules(&self) -> Rules {
        let (lone, bytes) = match self.mode {
            Mode::Compat => (Lone::Replace, BytesForm::Base64),
            Mode::Strict | Mode::Fast => (Lone::Error, BytesForm::Text),
        };
        Rules { limits: self.limits, lone, duplicates: self.duplicates, bytes }
    }

    /// Encodes `value`.
    ///
    /// # Errors
    /// [`Error::is_encode`]: a NaN or an infinity, a map key that has no form as a string (numbers, booleans,
    /// characters and names of variants have one), a raw value that is not JSON, or an error of a `Serialize`
    /// implementation.
    #[inline]
    pub fn to_vec<T: Serialize + ?Sized>(&self, value: &T) -> Result<Vec<u8>> {
        match self.mode {
            Mode::Strict => Serializer::<Plain>::document(Raw::Check, value),
            Mode::Fast => Serializer::<Plain>::document(Raw::Trust, value),
            Mode::Compat => Serializer::<Go>::document(Raw::Compact, value),
        }
    }

    /// Encodes `value` as text.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    pub fn to_string<T: Serialize + ?Sized>(&self, value: &T) -> Result<String> {
        let document = self.to_vec(value)?;
        String::from_utf8(document).map_err(|_| serde::ser::Error::custom("the document is not UTF-8"))
    }

    /// Encodes `value` with a line for each element and entry and `indent` per level. Empty arrays and objects
    /// stay on one line.
    ///
    /// The document is JSON only if `indent` consists of the white space of RFC 8259: space, tab, CR, LF.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    pub fn to_vec_pretty<T: Serialize + ?Sized>(&self, value: &T, indent: &str) -> Result<Vec<u8>> {
        let compact = self.to_vec(value)?;
        let mut pretty = Vec::with_capacity(compact.len() * 2);
        ser::indent(&mut pretty, &compact, indent);
        Ok(pretty)
    }

    /// Encodes `value`, then writes all of it.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec), and then nothing is written; [`Error::is_io`] if the writer fails.
    pub fn to_writer<W: Write, T: Serialize + ?Sized>(&self, mut writer: W, value: &T) -> Result<()> {
        writer.write_all(&self.to_vec(value)?).map_err(Error::io)
    }

    /// Encodes `value` to the end of `buffer`. Allocates nothing if the buffer has room for the document and 20
    /// bytes more.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec), and then the buffer keeps its content. If a `Serialize` implementation panics,
    /// the buffer is left empty.
    #[inline]
    pub fn to_buf<T: Serialize + ?Sized>(&self, buffer: &mut Vec<u8>, value: &T) -> Result<()> {
        match self.mode {
            Mode::Strict => Serializer::<Plain>::append(buffer, Raw::Check, value),
            Mode::Fast => Serializer::<Plain>::append(buffer, Raw::Trust, value),
            Mode::Compat => Serializer::<Go>::append(buffer, Raw::Compact, value),
        }
    }

    /// Encodes `value` as reference-counted bytes. Needs the feature `bytes`.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    #[cfg(feature = "bytes")]
    pub fn to_bytes<T: Serialize + ?Sized>(&self, value: &T) -> Result<bytes::Bytes> {
        self.to_vec(value).map(Into::into)
    }

    /// Decodes a document into a type that borrows nothing from it.
    ///
    /// # Errors
    /// [`Error::is_syntax`] and [`Error::is_eof`] for what is not JSON in UTF-8, [`Error::is_limit`] for what
    /// exceeds a limit, [`Error::is_data`] for what is not a `T`; all of them have an offset. A document of more
    /// than one kind of error has the one that comes first, except that UTF-8 is checked before anything else.
    pub fn from_slice<T: DeserializeOwned>(&self, document: &[u8]) -> Result<T> {
        backend::decode_owned(self.backend, de::text(document, &self.limits)?, &self.rules())
    }

    /// Decodes a document that may be borrowed from. UTF-8 needs no check then.
    ///
    /// # Errors
    /// As [`from_slice`](Self::from_slice).
    pub fn from_str<'a, T: Deserialize<'a>>(&self, document: &'a str) -> Result<T> {
        de::check_len(document.len(), &self.limits)?;
        backend::decode(self.backend, document, &self.rules())
    }

    /// Decodes a document that may be borrowed from: strings without escapes become `&str`, or `Cow::Borrowed` in
    /// fields with `#[serde(borrow)]`.
    ///
    /// # Errors
    /// As [`from_slice`](Self::from_slice). A string with escapes is no `&str`; `Cow<str>` takes both, and
    /// [`from_slice_mut`](Self::from_slice_mut) makes all strings borrowable.
    pub fn from_slice_borrowed<'a, T: Deserialize<'a>>(&self, document: &'a [u8]) -> Result<T> {
        backend::decode(self.backend, de::text(document, &self.limits)?, &self.rules())
    }

    /// Decodes a document that may be borrowed from and overwritten: escapes are resolved in place, so that every
    /// string can become a `&str`. The content of `document` is unspecified afterwards. [`Backend::Native`] does it
    /// whatever the backend.
    ///
    /// # Errors
    /// As [`from_slice`](Self::from_slice).
    pub fn from_slice_mut<'a, T: Deserialize<'a>>(&self, document: &'a mut [u8]) -> Result<T> {
        de::decode_in_place(document, &self.rules())
    }

    /// Reads to the end, then decodes. Reading ends one byte past the limit for documents.
    ///
    /// # Errors
    /// As [`from_slice`](Self::from_slice), and [`Error::is_io`] if the reader fails.
    pub fn from_reader<R: Read, T: DeserializeOwned>(&self, reader: R) -> Result<T> {
        let bound = u64::try_from(self.limits.document).unwrap_or(u64::MAX).saturating_add(1);
        let mut document = Vec::new();
        reader.take(bound).read_to_end(&mut document).map_err(Error::io)?;
        self.from_slice(&document)
    }

    /// Checks that `document` is JSON, whatever its type.
    ///
    /// # Errors
    /// [`Error::is_syntax`], [`Error::is_eof`] and [`Error::is_limit`], as for [`from_slice`](Self::from_slice).
    pub fn validate(&self, document: &[u8]) -> Result<()> {
        de::validate(de::text(document, &self.limits)?, &self.rules())
    }

    /// Whether `document` is JSON within the limits.
    pub fn is_valid(&self, document: &[u8]) -> bool {
        self.validate(document).is_ok()
    }
}

impl Default for Codec {
    /// [`Codec::strict`].
    fn default() -> Self {
        Self::strict()
    }
}
