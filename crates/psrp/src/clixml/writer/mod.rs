//! Writing of values as CLIXML.

mod element;
mod references;
mod tag;

pub(super) use element::{ElementWriter, Position};

use super::{Stream, WriteOptions};
use crate::{Error, Value};

/// Start tag of a document.
pub(super) const START: &str =
    "<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">";

/// End tag of a document.
pub(super) const END: &str = "</Objs>";

/// Writes values and documents into a reusable buffer: once the buffer is large enough, nothing is allocated. Up to 1
/// MiB of buffer and tables of about 1,000 objects are reused for the next document.
///
/// The output is byte for byte that of PowerShell: order of elements and attributes, spaces, reference numbers. An
/// object that occurs again is written as a reference to its first occurrence; so are [`Cycle`](crate::value::Cycle)s.
/// Objects are compared by identity, not by content. References never cross documents.
///
/// # Errors
///
/// All methods that write fail with
///
/// * [`is_limit`](Error::is_limit) if values are nested too deep, see [`WriteOptions::max_depth`];
/// * [`is_no_key`](Error::is_no_key) for an unencrypted secure string without a cipher, and
///   [`is_crypto`](Error::is_crypto) if the cipher fails;
/// * [`is_unwritable`](Error::is_unwritable) for a cycle to a dropped object, a dictionary with the key [`Value::Nil`],
///   and a [`Value::MemberSet`] outside of members.
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
    elements: ElementWriter,
}

impl Writer {
    /// Creates a writer with the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a writer with these options.
    pub fn with_options(options: WriteOptions) -> Self {
        Self { elements: ElementWriter::new(options) }
    }

    /// Writes one value as a single element, the format of messages, in UTF-8.
    #[inline]
    pub fn write(&mut self, value: &Value) -> Result<&[u8], Error> {
        self.elements.begin();
        let result = self.elements.value(value, Position::Item, 1);
        self.elements.finish(result)
    }

    /// Writes an `<Objs>` document, the format of files and of the output of `pwsh`. Each value may name a stream.
    #[inline]
    pub fn write_document<'a>(
        &mut self,
        items: impl IntoIterator<Item = (Option<Stream>, &'a Value)>,
    ) -> Result<&[u8], Error> {
        self.elements.begin();
        let result = self.items(items);
        self.elements.finish(result)
    }

    /// Like [`write_document`](Self::write_document), but continues the previous document: objects written before are
    /// referenced, and reference numbers continue.
    ///
    /// Only a reader that keeps its tables between parts can read the result; [`Reader`] does not. The writer keeps all
    /// objects alive until another kind of document is written.
    ///
    /// [`Reader`]: crate::clixml::Reader
    pub fn continue_document<'a>(
        &mut self,
        items: impl IntoIterator<Item = (Option<Stream>, &'a Value)>,
    ) -> Result<&[u8], Error> {
        self.elements.continue_document();
        let result = self.items(items);
        self.elements.finish_part(result)
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

    /// Reserves capacity in the buffer.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.elements.out.reserve(bytes);
    }

    /// Takes the bytes of the last document, leaving an empty buffer.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.elements.out)
    }
}

impl_debug!(Writer | this | options = this.elements.options);

/// Writes one value as a single element with the default options.
///
/// # Errors
///
/// Fails like [`Writer`].
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
