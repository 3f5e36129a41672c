//! Documents that are written while their values come up.

use std::fmt;
use std::io::Write;

use super::super::Stream;
use super::super::writer::{END, Elements, Place, START, WriteOptions};
use crate::{Error, Value};

/// Writes one document to a [`Write`] item by item; values may be dropped as soon as they are written.
///
/// An object that several items have is written once, and stays in memory until the document ends; this takes handles
/// to the object that are alive at the same time. Objects that nothing else refers to are not held.
///
/// Output is handed on in parts of some size.
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
    elements: Elements,
}

impl<W: Write> DocumentWriter<W> {
    /// This much is collected before it is handed on.
    const PART: usize = 32 << 10;

    /// Begins a document with the default options.
    pub fn new(writer: W) -> Self {
        Self::with_options(writer, WriteOptions::new())
    }

    /// Begins a document.
    pub fn with_options(writer: W, options: WriteOptions) -> Self {
        let mut elements = Elements::new(options);
        elements.go_on();
        elements.raw(START);
        Self { writer, elements }
    }

    /// Writes an item, with the stream that it belongs to, if any.
    ///
    /// # Errors
    ///
    /// Fails like the methods of [`Writer`](crate::clixml::Writer); the document is then without this item and can go
    /// on. Fails with [`Error::is_io`] if the output can't be handed on, after which the document is of no use.
    pub fn write(&mut self, stream: Option<Stream>, value: &Value) -> Result<(), Error> {
        let place = stream.map_or(Place::Item, Place::Top);
        let start = self.elements.output().len();
        if let Err(error) = self.elements.value(value, place, 1) {
            self.elements.take_back(start);
            return Err(error);
        }
        if self.elements.output().len() >= Self::PART { self.hand_on() } else { Ok(()) }
    }

    /// Ends the document and flushes the output.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_io`].
    pub fn finish(mut self) -> Result<W, Error> {
        self.elements.raw(END);
        self.hand_on()?;
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn hand_on(&mut self) -> Result<(), Error> {
        self.writer.write_all(self.elements.output())?;
        self.elements.empty();
        Ok(())
    }
}

impl<W> fmt::Debug for DocumentWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentWriter").field("options", self.elements.options()).finish_non_exhaustive()
    }
}
