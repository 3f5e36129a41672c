//! Documents in files, compatible with `Export-Clixml` and `Import-Clixml`.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use super::writer::{END, ElementWriter, Position, START};
use super::{Limits, ReadOptions, Reader, Stream, WriteOptions};
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

/// Writes one document to a [`Write`] item by item. Values may be dropped as soon as they are written.
///
/// An object that occurs in several items is written once and then referenced. For this, the writer holds objects with
/// other handles until the document ends; objects without are not held.
///
/// Output is buffered and written in blocks of at least 32 KiB.
///
/// ```
/// use psrp::Value;
/// use psrp::clixml::DocumentWriter;
///
/// let mut document = DocumentWriter::new(Vec::new());
/// for number in 0..2 {
///     document.write(None, &Value::from(number))?;
/// }
/// assert_eq!(
///     str::from_utf8(&document.finish()?)?,
///     "<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">\
///      <I32>0</I32><I32>1</I32></Objs>"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a document ends with `finish`"]
pub struct DocumentWriter<W> {
    writer: W,
    elements: ElementWriter,
}

impl<W: Write> DocumentWriter<W> {
    /// Size of the output buffer that triggers a write, in bytes.
    const BLOCK_SIZE: usize = 32 << 10;

    /// Begins a document with the default options.
    pub fn new(writer: W) -> Self {
        Self::with_options(writer, WriteOptions::new())
    }

    /// Begins a document.
    pub fn with_options(writer: W, options: WriteOptions) -> Self {
        let mut elements = ElementWriter::new(options);
        elements.continue_document();
        elements.raw(START);
        Self { writer, elements }
    }

    /// Writes an item with an optional stream.
    ///
    /// # Errors
    ///
    /// Fails like the methods of [`Writer`](crate::clixml::Writer). The item is then omitted and the document can be
    /// continued. Fails with [`Error::is_io`] if the output can't be written; the document is then unusable.
    pub fn write(&mut self, stream: Option<Stream>, value: &Value) -> Result<(), Error> {
        let position = stream.map_or(Position::Item, Position::Top);
        let start = self.elements.out.len();
        if let Err(error) = self.elements.value(value, position, 1) {
            self.elements.truncate(start);
            return Err(error);
        }
        if self.elements.out.len() >= Self::BLOCK_SIZE { self.write_buffered() } else { Ok(()) }
    }

    /// Completes the document and flushes the output.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_io`] if the output can't be written.
    pub fn finish(mut self) -> Result<W, Error> {
        self.elements.raw(END);
        self.write_buffered()?;
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn write_buffered(&mut self) -> Result<(), Error> {
        self.writer.write_all(&self.elements.out)?;
        self.elements.clear_output();
        Ok(())
    }
}

impl<W> fmt::Debug for DocumentWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentWriter").field("options", &self.elements.options).finish_non_exhaustive()
    }
}
