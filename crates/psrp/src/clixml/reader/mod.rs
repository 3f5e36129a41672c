//! Documents to values.

mod attributes;
mod leaf;
mod markup;
mod primitive;
mod progress;
mod references;
mod source;
mod tag;
mod text;
mod tree;

use std::fmt;
use std::iter::FusedIterator;
use std::sync::Arc;

use attributes::Attributes;
use markup::Markup;
use quick_xml::events::Event;
use source::Source;
use tag::Tag;
use tree::{Start, Tree};

use super::{Limits, Stream};
use crate::Error;
use crate::crypto::Cipher;
use crate::error::Kind;
use crate::value::{Value, Version};

/// How documents are read.
#[derive(Clone, Default)]
pub struct ReadOptions {
    pub(super) limits: Limits,
    unknown: Unknown,
    cipher: Option<Arc<dyn Cipher>>,
    has_clear_secrets: bool,
}

impl ReadOptions {
    /// The defaults.
    pub const fn new() -> Self {
        Self { limits: Limits::new(), unknown: Unknown::Skip, cipher: None, has_clear_secrets: false }
    }

    /// Sets the limits. Default: [`Limits::new`].
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what becomes of elements in an object that are not known. Default: [`Unknown::Skip`].
    #[must_use]
    pub const fn unknown(mut self, unknown: Unknown) -> Self {
        self.unknown = unknown;
        self
    }

    /// Sets what decrypts secure strings. Default: they stay encrypted, to be written as they came.
    #[must_use]
    pub fn cipher(mut self, cipher: Arc<dyn Cipher>) -> Self {
        self.cipher = Some(cipher);
        self
    }
}

impl ReadOptions {
    /// Reads secure strings of protocol 2.4, which are not encrypted.
    pub(crate) fn clear_secrets(mut self) -> Self {
        self.has_clear_secrets = true;
        self
    }

    pub(crate) const fn max_decoded_size(&self) -> usize {
        self.limits.decoded_size
    }
}

/// Shows whether there is a cipher, not which.
impl fmt::Debug for ReadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("limits", &self.limits)
            .field("unknown", &self.unknown)
            .field("cipher", &self.cipher.is_some())
            .finish()
    }
}

/// What becomes of elements in an object that are not known. In the place of a value they are always an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// They are skipped with all that is in them, as PowerShell does for versions of the format after its own.
    #[default]
    Skip,
    /// They are an error, as PowerShell has it for the version it knows.
    Refuse,
}

/// Reads the one value of a document or message.
///
/// # Errors
///
/// What [`Reader`] refuses, and a document with more than one value or none.
///
/// ```
/// let value = psrp::clixml::from_slice(b"<Obj RefId='0'><MS><I32 N='Count'>3</I32></MS></Obj>")?;
/// assert_eq!(value["Count"].as_i32(), Some(3));
/// # Ok::<(), psrp::Error>(())
/// ```
pub fn from_slice(input: &[u8]) -> Result<Value, Error> {
    let mut items = Reader::new(input);
    let Some(item) = items.next() else {
        return Err(Error::with(Kind::Structure, "a document without a value"));
    };
    let (_, value) = item?;
    match items.next() {
        None => Ok(value),
        Some(Ok(_)) => Err(items.source.structure("a document with more than one value")),
        Some(Err(error)) => Err(error),
    }
}

/// Reads documents: an iterator over the values at the top, each with the stream that it names.
///
/// It takes `<Objs>` documents, single elements as messages have them, and several of either after each other. U+FEFF,
/// the line `#< CLIXML` and an XML declaration may precede them; comments, processing instructions, and white space
/// between elements mean nothing. After an error there are no more items.
///
/// References hold within a document, that is an `<Objs>` element, or all elements outside of one. An object is shared by
/// all that refer to it; a reference to an object from inside of it is a [`Value::Cycle`].
///
/// Elements have no prefix, and their namespace is that of the format or none. Attributes that are not known are ignored.
///
/// # Errors
///
/// Items are errors with the byte offset of the element or markup they are about:
///
/// * [`is_syntax`](Error::is_syntax), [`is_unexpected_end`](Error::is_unexpected_end): no well-formed XML, a document
///   type, an entity other than the five of XML. References to characters that XML forbids are taken.
/// * [`is_structure`](Error::is_structure): XML that is no CLIXML, or of another major version than 1.
/// * [`is_invalid_text`](Error::is_invalid_text): a text that is no value of the type of its element.
/// * [`is_unknown_reference`](Error::is_unknown_reference): a reference to what was not there before.
/// * [`is_limit`](Error::is_limit): one of the [`Limits`].
/// * [`is_crypto`](Error::is_crypto): a secure string that the cipher of the options refuses.
///
/// ```
/// use psrp::clixml::{Reader, Stream};
///
/// let output = b"#< CLIXML\r\n<Objs Version=\"1.1.0.1\" \
///     xmlns=\"http://schemas.microsoft.com/powershell/2004/04\"><S S=\"Error\">no such file</S></Objs>";
/// for item in Reader::new(output) {
///     let (stream, value) = item?;
///     assert_eq!(stream, Some(Stream::Error));
///     assert_eq!(value, "no such file");
/// }
/// # Ok::<(), psrp::Error>(())
/// ```
pub struct Reader<'a> {
    source: Source<'a>,
    tree: Tree,
    state: State,
    /// How many bytes are too many, if the input has as many.
    too_long: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was read yet but a declaration and white space.
    Before,
    /// Inside of `<Objs>`.
    Document,
    /// Outside of `<Objs>`.
    Between,
    Done,
}

impl<'a> Reader<'a> {
    /// A reader with the default options.
    pub fn new(input: &'a [u8]) -> Self {
        Self::with_options(input, ReadOptions::new())
    }

    /// A reader with these options.
    pub fn with_options(input: &'a [u8], options: ReadOptions) -> Self {
        let too_long = (input.len() > options.limits.size).then_some(options.limits.size);
        Self { source: Source::new(input), tree: Tree::new(options), state: State::Before, too_long }
    }

    /// Where in the input the reader is, in bytes.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Bytes that all items so far take in memory.
    pub(crate) fn decoded_size(&self) -> usize {
        self.tree.decoded_size()
    }

    fn read(&mut self) -> Result<Option<(Option<Stream>, Value)>, Error> {
        if let Some(limit) = self.too_long {
            return Err(Error::with(Kind::Limit, "the input is too long").or_offset(limit as u64));
        }
        loop {
            match self.source.markup()? {
                Some(Markup::Start(start, attributes)) => {
                    if let Some(item) = self.item(&start, &attributes)? {
                        return Ok(Some(item));
                    }
                    continue;
                }
                Some(Markup::End) => {
                    self.state = State::Between;
                    continue;
                }
                None => {}
            }
            let event = self.source.next()?;
            let (tag, empty) = match &event {
                Event::Start(tag) => (tag, false),
                Event::Empty(tag) => (tag, true),
                Event::End(_) => {
                    // The XML reader has refused all other ends.
                    self.state = State::Between;
                    continue;
                }
                Event::Decl(_) if self.source.is_first() => continue,
                Event::Eof => match self.state {
                    State::Between | State::Done => return Ok(None),
                    State::Before | State::Document => return Err(self.source.ended()),
                },
                event => {
                    self.source.blank(event)?;
                    continue;
                }
            };
            let start = Start::new(tag, empty);
            let at = self.source.offset();
            let attributes = Attributes::parse(start.attributes).map_err(|error| error.or_offset(at))?;
            if let Some(item) = self.item(&start, &attributes)? {
                return Ok(Some(item));
            }
        }
    }

    /// Begins a document, or reads the item whose start tag was read last.
    fn item(
        &mut self,
        start: &Start<'_>,
        attributes: &Attributes<'_>,
    ) -> Result<Option<(Option<Stream>, Value)>, Error> {
        let at = self.source.offset();
        if start.tag == Tag::Document {
            self.document(attributes, start.empty).map_err(|error| error.or_offset(at))?;
            return Ok(None);
        }
        if self.state == State::Before {
            self.state = State::Between;
        }
        let stream = match attributes.stream {
            None => None,
            Some(name) => {
                let name = attributes::value(name).map_err(|error| error.or_offset(at))?;
                Some(Stream::from_name(&name))
            }
        };
        let value = self.tree.read(&mut self.source, start, attributes)?;
        Ok(Some((stream, value)))
    }

    /// Begins a document.
    fn document(&mut self, attributes: &Attributes<'_>, empty: bool) -> Result<(), Error> {
        if self.state == State::Document {
            return Err(Error::with(Kind::Structure, "a document inside of a document"));
        }
        if let Some(version) = attributes.version {
            let version: Version = attributes::value(version)?.trim_ascii().parse()?;
            if version.major() != 1 {
                return Err(Error::with(Kind::Structure, "another major version than 1"));
            }
        }
        self.tree.forget();
        self.state = if empty { State::Between } else { State::Document };
        Ok(())
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<(Option<Stream>, Value), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Done {
            return None;
        }
        let item = self.read().transpose();
        if !matches!(item, Some(Ok(_))) {
            self.state = State::Done;
        }
        item
    }
}

/// Shows where it is, and nothing of the document.
impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("offset", &self.offset())
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl FusedIterator for Reader<'_> {}
