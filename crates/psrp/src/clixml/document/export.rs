//! Incremental writing of documents.

use std::fmt;
use std::io::Write;

use super::super::writer::{END, ElementWriter, Position, START};
use super::super::{Stream, WriteOptions};
use crate::{Error, Value};

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
