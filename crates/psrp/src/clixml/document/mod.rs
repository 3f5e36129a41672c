//! Documents in files, as `Export-Clixml` and `Import-Clixml` have them.

mod encoding;
mod export;

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::Path;

pub use export::DocumentWriter;

use super::{Limits, ReadOptions, Reader};
use crate::error::Kind;
use crate::{Error, Value};

/// The bytes of a document that is in UTF-8, or with a mark at its start in UTF-16, to be read item by item.
///
/// `Export-Clixml` writes UTF-16 up to PowerShell 5.1, and UTF-8 since.
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
pub struct Document {
    /// UTF-8, as far as it was looked at.
    text: Vec<u8>,
    options: ReadOptions,
}

impl Document {
    /// From bytes of either encoding.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_syntax`] for UTF-16 that is not well-formed. UTF-8 is checked where items are read.
    pub fn from_bytes(bytes: Vec<u8>, options: ReadOptions) -> Result<Self, Error> {
        let text = encoding::to_utf8(bytes)?;
        Ok(Self { text, options })
    }

    /// Reads to the end, though not much further than [`Limits::max_size`](super::Limits::max_size) allows.
    ///
    /// # Errors
    ///
    /// Fails like [`from_bytes`](Self::from_bytes), with [`Error::is_limit`] for too many bytes, and with
    /// [`Error::is_io`].
    pub fn from_reader(reader: impl Read, options: ReadOptions) -> Result<Self, Error> {
        // A document of ASCII characters takes twice the bytes in UTF-16, and two for its mark.
        let most = (options.limits.size as u64).saturating_mul(2).saturating_add(2);
        let mut bytes = Vec::new();
        reader.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(Error::with(Kind::Limit, "a document that is too large"));
        }
        Self::from_bytes(bytes, options)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Fails like [`from_reader`](Self::from_reader).
    pub fn open(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, Error> {
        Self::from_reader(File::open(path)?, options)
    }

    /// The values at the top of the document, one after the other. Offsets in errors are those of the text in UTF-8.
    pub fn items(&self) -> Reader<'_> {
        Reader::with_options(&self.text, self.options.clone())
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("length", &self.text.len())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Reads all values of a file, like `Import-Clixml`, within [`Limits::IMPORT`], which are safe on a machine with 1 GB of
/// memory. [`Document`] takes others and gives one value at a time.
///
/// # Errors
///
/// Fails like [`Document::open`], or with what [`Reader`] refuses.
pub fn import(path: impl AsRef<Path>) -> Result<Vec<Value>, Error> {
    let document = Document::open(path, ReadOptions::new().limits(Limits::IMPORT))?;
    document.items().map(|item| item.map(|(_, value)| value)).collect()
}

/// Writes values to a new file in UTF-8, like `Export-Clixml`, with the default options. [`DocumentWriter`] takes others.
///
/// # Errors
///
/// Fails with [`Error::is_io`], or with what [`Writer`](super::Writer) can't write. What was written until then stays in
/// the file.
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
