//! Values to documents.

mod element;
mod options;
mod references;
mod tag;

use std::fmt;

pub(super) use element::{Elements, Place};
pub use options::WriteOptions;

use super::Stream;
use crate::{Error, Value};

/// What begins a document of its own.
pub(super) const START: &str =
    "<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">";

/// What ends it.
pub(super) const END: &str = "</Objs>";

/// Writes documents into a buffer that it uses again and again: once that is large enough, nothing is allocated. It keeps
/// up to 1 MiB, and tables of about 1,000 objects, from one document to the next.
///
/// The form is that of PowerShell byte for byte: order of elements and attributes, blanks, numbers of references. An
/// object that occurs again is written as a reference to where it stood first, [`Cycle`](crate::value::Cycle)s included.
/// What counts is whether it is the same object, not whether it looks the same. References never go from one document to
/// another.
///
/// # Errors
///
/// All methods that write fail with
///
/// * [`is_limit`](Error::is_limit) for values that are nested too deep, see [`WriteOptions::max_depth`];
/// * [`is_no_key`](Error::is_no_key) for a secret string that is not encrypted and no cipher to do it, and
///   [`is_crypto`](Error::is_crypto) if the cipher fails;
/// * [`is_unwritable`](Error::is_unwritable) for a cycle to an object that is gone, a dictionary with
///   [`Value::Nil`] as a key, and a [`Value::MemberSet`] elsewhere than in members.
///
/// ```
/// use psrp::clixml::{Stream, Writer};
/// use psrp::{Object, Value};
///
/// let inner = Object::builder().extended("Id", 7).build();
/// let pair = Value::from(Object::builder().extended("a", inner.clone()).extended("b", inner).build());
/// let mut writer = Writer::new();
/// assert_eq!(
///     str::from_utf8(writer.write(&pair)?)?,
///     "<Obj RefId=\"0\"><MS><Obj N=\"a\" RefId=\"1\"><MS><I32 N=\"Id\">7</I32></MS></Obj>\
///      <Ref N=\"b\" RefId=\"1\" /></MS></Obj>"
/// );
///
/// let failed = Value::from("no such file");
/// assert_eq!(
///     str::from_utf8(writer.write_document([(Some(Stream::Error), &failed)])?)?,
///     "<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">\
///      <S S=\"Error\">no such file</S></Objs>"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Writer {
    elements: Elements,
}

impl Writer {
    /// A writer with the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// A writer with these options.
    pub fn with_options(options: WriteOptions) -> Self {
        Self { elements: Elements::new(options) }
    }

    /// Writes one value as a bare element, the form of messages. The bytes are UTF-8.
    #[inline]
    pub fn write(&mut self, value: &Value) -> Result<&[u8], Error> {
        self.elements.start();
        let result = self.elements.value(value, Place::Item, 1);
        self.elements.finish(result)
    }

    /// Writes an `<Objs>` document, the form of files and of the output of `pwsh`: values with the stream that each
    /// belongs to, if any.
    #[inline]
    pub fn write_document<'a>(
        &mut self,
        items: impl IntoIterator<Item = (Option<Stream>, &'a Value)>,
    ) -> Result<&[u8], Error> {
        self.elements.start();
        let result = self.items(items);
        self.elements.finish(result)
    }

    /// Like [`write_document`](Self::write_document), but as the next part of the document before: objects that were
    /// written there are only referred to, and numbers go on.
    ///
    /// Only a reader that keeps its own tables from one part to the next can make sense of the result, and [`Reader`]
    /// does not. The writer holds on to all objects until another kind of document is written.
    ///
    /// [`Reader`]: crate::clixml::Reader
    pub fn continue_document<'a>(
        &mut self,
        items: impl IntoIterator<Item = (Option<Stream>, &'a Value)>,
    ) -> Result<&[u8], Error> {
        self.elements.go_on();
        let result = self.items(items);
        self.elements.pause(result)
    }

    fn items<'a>(
        &mut self,
        items: impl IntoIterator<Item = (Option<Stream>, &'a Value)>,
    ) -> Result<(), Error> {
        self.elements.raw(START);
        for (stream, value) in items {
            self.elements.item(stream, value)?;
        }
        self.elements.raw(END);
        Ok(())
    }

    /// Has room for so many bytes before the buffer grows.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.elements.reserve(bytes);
    }

    /// Takes the bytes of the last document out of the writer, which is empty then.
    pub fn take(&mut self) -> Vec<u8> {
        self.elements.take()
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("options", self.elements.options()).finish_non_exhaustive()
    }
}

/// Writes one value as a bare element with the default options.
///
/// # Errors
///
/// What [`Writer`] can't write.
///
/// ```
/// assert_eq!(psrp::clixml::to_vec(&7.into())?, b"<I32>7</I32>");
/// # Ok::<(), psrp::Error>(())
/// ```
pub fn to_vec(value: &Value) -> Result<Vec<u8>, Error> {
    let mut writer = Writer::new();
    writer.write(value)?;
    Ok(writer.take())
}
