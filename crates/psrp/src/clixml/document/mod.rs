//! Documents in files, compatible with `Export-Clixml` and `Import-Clixml`.

mod export;

use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::Path;

pub use export::DocumentWriter;

use super::{Limits, ReadOptions, Reader};
use crate::error::Kind;
use crate::redacted::Redacted;
use crate::{Error, Value};

/// A document in UTF-8, or in UTF-16 with a byte order mark, to be read item by item.
///
/// `Export-Clixml` writes UTF-16 up to PowerShell 5.1 and UTF-8 since then.
///
/// ```
/// use psrp::clixml::{Document, ReadOptions};
///
/// let text = "<Objs Version=\"1.1.0.1\"><S>a</S><S>b</S></Objs>";
/// let utf16: Vec<u8> = "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
/// let document = Document::from_bytes(utf16, ReadOptions::new())?;
/// let values = document.items().map(|item| Ok(item?.1)).collect::<Result<Vec<_>, psrp::Error>>()?;
/// assert_eq!(values, ["a", "b"]);
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Debug)]
pub struct Document {
    /// UTF-8, not validated yet.
    text: Redacted<Vec<u8>>,
    options: ReadOptions,
}

impl Document {
    /// Creates a document from bytes in either encoding.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_syntax`] for malformed UTF-16. UTF-8 is validated when items are read.
    pub fn from_bytes(bytes: Vec<u8>, options: ReadOptions) -> Result<Self, Error> {
        let text = to_utf8(bytes)?;
        Ok(Self { text: Redacted(text), options })
    }

    /// Reads a document to the end of the input, but not much more than [`Limits::max_size`](super::Limits::max_size)
    /// bytes.
    ///
    /// # Errors
    ///
    /// Fails like [`from_bytes`](Self::from_bytes), with [`Error::is_limit`] for too many bytes, and with
    /// [`Error::is_io`].
    pub fn from_reader(reader: impl Read, options: ReadOptions) -> Result<Self, Error> {
        // ASCII text takes two bytes per character in UTF-16, plus two for the byte order mark.
        let max_bytes = (options.limits.size as u64).saturating_mul(2).saturating_add(2);
        let mut bytes = Vec::new();
        reader.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_bytes {
            return Err(Error::with(Kind::Limit, "the document is too large (set max_size)"));
        }
        Self::from_bytes(bytes, options)
    }

    /// Reads a document from a file.
    ///
    /// # Errors
    ///
    /// Fails like [`from_reader`](Self::from_reader).
    pub fn open(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, Error> {
        Self::from_reader(File::open(path)?, options)
    }

    /// Iterates over the top-level values. Offsets in errors refer to the text in UTF-8.
    pub fn items(&self) -> Reader<'_> {
        Reader::with_options(&self.text, self.options.clone())
    }
}

/// Reads all values of a file, like `Import-Clixml`, with [`Limits::IMPORT`], which are safe on a machine with 1 GB of
/// memory. Use [`Document`] for other limits or to read one value at a time.
///
/// # Errors
///
/// Fails like [`Document::open`] and [`Reader`].
pub fn import(path: impl AsRef<Path>) -> Result<Vec<Value>, Error> {
    let document = Document::open(path, ReadOptions::new().limits(Limits::IMPORT))?;
    document.items().map(|item| item.map(|(_, value)| value)).collect()
}

/// Writes values to a new file in UTF-8, like `Export-Clixml`, with the default options. Use [`DocumentWriter`] for
/// others.
///
/// # Errors
///
/// Fails with [`Error::is_io`] and like [`Writer`](super::Writer). On error the file is left incomplete.
///
/// ```no_run
/// use psrp::Value;
/// use psrp::clixml::{export, import};
///
/// let numbers = [Value::from(1), Value::from(2)];
/// export("numbers.xml", &numbers)?;
/// assert_eq!(import("numbers.xml")?, numbers);
/// # Ok::<(), psrp::Error>(())
/// ```
pub fn export<'a>(path: impl AsRef<Path>, values: impl IntoIterator<Item = &'a Value>) -> Result<(), Error> {
    let mut document = DocumentWriter::new(BufWriter::new(File::create(path)?));
    for value in values {
        document.write(None, value)?;
    }
    let buffer = document.finish()?;
    buffer.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(())
}

/// Converts a document in UTF-8 or UTF-16 to UTF-8.
///
/// UTF-16 is detected by its byte order mark, or by the zero byte of the `<` at the start. A byte order mark is
/// preserved as U+FEFF. UTF-8 is not validated here.
fn to_utf8(bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let unit = match *bytes {
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] | [0, b'<', ..] => u16::from_be_bytes,
        _ => return Ok(bytes),
    };
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Error::with(Kind::Syntax, "truncated UTF-16 code unit").or_offset(bytes.len() as u64 - 1));
    }
    let mut text = String::with_capacity(pairs.len());
    let mut at = 0;
    for char in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        let char = char.map_err(|_| Error::with(Kind::Syntax, "lone surrogate in UTF-16").or_offset(at))?;
        at += char.len_utf16() as u64 * 2;
        text.push(char);
    }
    Ok(text.into_bytes())
}
