//! Codecs.
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::de::{self, Duplicates, Lone, Rules};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::scratch;
use crate::ser::{self, Go, Plain, Raw, Serializer};

/// What is written and how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// RFC 8259 to the letter.
    #[default]
    Strict,
    /// Bytes equal to those of Go's encoding/json.
    Compat,
    /// Raw values are trusted.
    Fast,
}

/// A mode and limits.
#[derive(Debug, Clone, Copy)]
pub struct Codec {
    mode: Mode,
    limits: Limits,
    duplicates: Duplicates,
}

static FASTEST: AtomicBool = AtomicBool::new(false);

/// Makes the root functions use [`Mode::Fast`].
pub fn config_fastest_mode() {
    FASTEST.store(true, Ordering::Relaxed);
}

/// Makes the root functions use [`Mode::Strict`], the default.
pub fn config_standard_mode() {
    FASTEST.store(false, Ordering::Relaxed);
}

impl Codec {
    /// Strict.
    pub const fn strict() -> Self {
        Self { mode: Mode::Strict, limits: Limits::new(), duplicates: Duplicates::Last }
    }
    /// Compat.
    pub const fn compat() -> Self {
        Self { mode: Mode::Compat, limits: Limits::new(), duplicates: Duplicates::Last }
    }
    /// Fast.
    pub const fn fast() -> Self {
        Self { mode: Mode::Fast, limits: Limits::new(), duplicates: Duplicates::Last }
    }
    /// The process-wide default.
    pub fn standard() -> Self {
        if FASTEST.load(Ordering::Relaxed) { Self::fast() } else { Self::strict() }
    }
    /// Limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
    /// Mode.
    pub const fn mode(&self) -> Mode {
        self.mode
    }
    fn rules(&self) -> Rules {
        let lone = if self.mode == Mode::Compat { Lone::Replace } else { Lone::Error };
        Rules { limits: self.limits, lone, duplicates: self.duplicates }
    }

    /// Encodes.
    pub fn to_vec<T: Serialize + ?Sized>(&self, value: &T) -> Result<Vec<u8>> {
        scratch::with(|buffer| self.to_buf(buffer, value))
    }
    /// Encodes.
    pub fn to_string<T: Serialize + ?Sized>(&self, value: &T) -> Result<String> {
        let document = self.to_vec(value)?;
        String::from_utf8(document).map_err(|_| serde::ser::Error::custom("not UTF-8"))
    }
    /// Encodes.
    pub fn to_vec_pretty<T: Serialize + ?Sized>(&self, value: &T, indent: &str) -> Result<Vec<u8>> {
        let compact = self.to_vec(value)?;
        let mut pretty = Vec::with_capacity(compact.len() * 2);
        ser::indent(&mut pretty, &compact, indent);
        Ok(pretty)
    }
    /// Encodes and writes.
    pub fn to_writer<W: Write, T: Serialize + ?Sized>(&self, mut writer: W, value: &T) -> Result<()> {
        writer.write_all(&self.to_vec(value)?).map_err(Error::io)
    }
    /// Appends.
    pub fn to_buf<T: Serialize + ?Sized>(&self, buffer: &mut Vec<u8>, value: &T) -> Result<()> {
        match self.mode {
            Mode::Strict => Serializer::<Plain>::append(buffer, Raw::Check, value),
            Mode::Fast => Serializer::<Plain>::append(buffer, Raw::Trust, value),
            Mode::Compat => Serializer::<Go>::append(buffer, Raw::Compact, value),
        }
    }
    /// Encodes.
    #[cfg(feature = "bytes")]
    pub fn to_bytes<T: Serialize + ?Sized>(&self, value: &T) -> Result<bytes::Bytes> {
        self.to_vec(value).map(Into::into)
    }
    /// Decodes.
    pub fn from_slice<T: DeserializeOwned>(&self, document: &[u8]) -> Result<T> {
        self.from_slice_borrowed(document)
    }
    /// Decodes.
    pub fn from_str<'a, T: Deserialize<'a>>(&self, document: &'a str) -> Result<T> {
        de::check_len(document.len(), &self.limits)?;
        de::decode(document, &self.rules())
    }
    /// Decodes.
    pub fn from_slice_borrowed<'a, T: Deserialize<'a>>(&self, document: &'a [u8]) -> Result<T> {
        de::decode(de::text(document, &self.limits)?, &self.rules())
    }
    /// Decodes.
    pub fn from_slice_mut<'a, T: Deserialize<'a>>(&self, document: &'a mut [u8]) -> Result<T> {
        self.from_slice_borrowed(document)
    }
    /// Decodes.
    pub fn from_reader<R: Read, T: DeserializeOwned>(&self, reader: R) -> Result<T> {
        let mut document = Vec::new();
        let bound = u64::try_from(self.limits.document).unwrap_or(u64::MAX).saturating_add(1);
        reader.take(bound).read_to_end(&mut document).map_err(Error::io)?;
        self.from_slice(&document)
    }
    /// Valid?
    pub fn is_valid(&self, document: &[u8]) -> bool {
        let rules = self.rules();
        de::text(document, &self.limits)
            .and_then(|text| de::validate(text, &rules.limits, rules.lone))
            .is_ok()
    }
}

/// Encodes.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    Codec::standard().to_vec(value)
}
/// Encodes.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    Codec::standard().to_string(value)
}
/// Encodes.
pub fn to_vec_pretty<T: Serialize + ?Sized>(value: &T, indent: &str) -> Result<Vec<u8>> {
    Codec::standard().to_vec_pretty(value, indent)
}
/// Encodes.
pub fn to_writer<W: Write, T: Serialize + ?Sized>(writer: W, value: &T) -> Result<()> {
    Codec::standard().to_writer(writer, value)
}
/// Encodes.
pub fn to_buf<T: Serialize + ?Sized>(buffer: &mut Vec<u8>, value: &T) -> Result<()> {
    Codec::standard().to_buf(buffer, value)
}
/// Encodes.
#[cfg(feature = "bytes")]
pub fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Result<bytes::Bytes> {
    Codec::standard().to_bytes(value)
}
/// Decodes.
pub fn from_slice<T: DeserializeOwned>(document: &[u8]) -> Result<T> {
    Codec::standard().from_slice(document)
}
/// Decodes.
pub fn from_str<'a, T: Deserialize<'a>>(document: &'a str) -> Result<T> {
    Codec::standard().from_str(document)
}
/// Decodes.
pub fn from_slice_borrowed<'a, T: Deserialize<'a>>(document: &'a [u8]) -> Result<T> {
    Codec::standard().from_slice_borrowed(document)
}
/// Decodes.
pub fn from_slice_mut<'a, T: Deserialize<'a>>(document: &'a mut [u8]) -> Result<T> {
    Codec::standard().from_slice_mut(document)
}
/// Decodes.
pub fn from_reader<R: Read, T: DeserializeOwned>(reader: R) -> Result<T> {
    Codec::standard().from_reader(reader)
}
/// Valid?
pub fn is_valid(document: &[u8]) -> bool {
    Codec::standard().is_valid(document)
}
