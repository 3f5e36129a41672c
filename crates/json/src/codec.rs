//! Codecs.
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::limits::Limits;

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
        Self { mode: Mode::Strict, limits: Limits::new() }
    }
    /// Compat.
    pub const fn compat() -> Self {
        Self { mode: Mode::Compat, limits: Limits::new() }
    }
    /// Fast.
    pub const fn fast() -> Self {
        Self { mode: Mode::Fast, limits: Limits::new() }
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
    /// Encodes.
    pub fn to_vec<T: Serialize + ?Sized>(&self, value: &T) -> Result<Vec<u8>> {
        serde_json::to_vec(value).map_err(encode)
    }
    /// Encodes.
    pub fn to_string<T: Serialize + ?Sized>(&self, value: &T) -> Result<String> {
        serde_json::to_string(value).map_err(encode)
    }
    /// Encodes.
    pub fn to_vec_pretty<T: Serialize + ?Sized>(&self, value: &T, indent: &str) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, formatter)).map_err(encode)?;
        Ok(out)
    }
    /// Encodes and writes.
    pub fn to_writer<W: Write, T: Serialize + ?Sized>(&self, mut writer: W, value: &T) -> Result<()> {
        writer.write_all(&self.to_vec(value)?).map_err(Error::io)
    }
    /// Appends.
    pub fn to_buf<T: Serialize + ?Sized>(&self, buffer: &mut Vec<u8>, value: &T) -> Result<()> {
        buffer.extend_from_slice(&self.to_vec(value)?);
        Ok(())
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
        self.from_slice_borrowed(document.as_bytes())
    }
    /// Decodes.
    pub fn from_slice_borrowed<'a, T: Deserialize<'a>>(&self, document: &'a [u8]) -> Result<T> {
        serde_json::from_slice(document).map_err(|error| match error.classify() {
            serde_json::error::Category::Eof => Error::eof(document.len()),
            serde_json::error::Category::Data => serde::de::Error::custom(error),
            _ => Error::syntax(crate::error::Syntax::Value, 0),
        })
    }
    /// Decodes.
    pub fn from_slice_mut<'a, T: Deserialize<'a>>(&self, document: &'a mut [u8]) -> Result<T> {
        self.from_slice_borrowed(document)
    }
    /// Decodes.
    pub fn from_reader<R: Read, T: DeserializeOwned>(&self, mut reader: R) -> Result<T> {
        let mut document = Vec::new();
        reader.read_to_end(&mut document).map_err(Error::io)?;
        self.from_slice(&document)
    }
    /// Valid?
    pub fn is_valid(&self, document: &[u8]) -> bool {
        self.from_slice::<serde::de::IgnoredAny>(document).is_ok()
    }
}

fn encode(error: serde_json::Error) -> Error {
    Error::new(Kind::Encode(error.to_string().into()), None)
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
