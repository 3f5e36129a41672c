//! Reading of CLIXML.

mod attributes;
mod leaf;
mod markup;
mod primitive;
mod references;
mod tag;
mod text;
mod tree;

use std::iter::FusedIterator;

use markup::{Markup, Source};
use tag::{StartTag, Tag};
use tree::Tree;

use super::{ReadOptions, Stream};
use crate::Error;
use crate::error::Kind;
use crate::value::{Value, Version};

/// Reads the single value of a document or message.
///
/// # Errors
///
/// Fails like [`Reader`], and if the document has no value or more than one.
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

/// Reads documents: an iterator over the top-level values and their streams.
///
/// Accepts `<Objs>` documents, single elements as in messages, and several of either in a row. U+FEFF, the line `#<
/// CLIXML` and an XML declaration may precede them. Comments, processing instructions, and white space between elements
/// are ignored. After an error the iterator ends.
///
/// References are valid within a document: an `<Objs>` element, or all elements outside of one. Several references to
/// an object share it. A reference to an enclosing object becomes a [`Value::Cycle`].
///
/// Elements must have no prefix, and no namespace or that of CLIXML. Unknown attributes are ignored.
///
/// # Errors
///
/// Errors have the byte offset of the element or markup:
///
/// * [`is_syntax`](Error::is_syntax), [`is_unexpected_end`](Error::is_unexpected_end): malformed XML, a document type,
///   or an entity other than the five of XML. References to characters that XML forbids are accepted.
/// * [`is_structure`](Error::is_structure): XML that is not CLIXML, or a major version other than 1.
/// * [`is_invalid_text`](Error::is_invalid_text): a text that is not a value of the element's type.
/// * [`is_unknown_reference`](Error::is_unknown_reference): a reference to an undefined object or list of type names.
/// * [`is_limit`](Error::is_limit): one of the [`Limits`](super::Limits) was exceeded.
/// * [`is_crypto`](Error::is_crypto): the cipher can't decrypt a secure string.
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
    state: ReaderState,
    /// The maximum size, if the input is larger.
    too_long: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReaderState {
    /// Before the first element.
    Before,
    /// Inside `<Objs>`.
    Document,
    /// Outside `<Objs>`.
    Between,
    Done,
}

impl<'a> Reader<'a> {
    /// Creates a reader with the default options.
    pub fn new(input: &'a [u8]) -> Self {
        Self::with_options(input, ReadOptions::new())
    }

    /// Creates a reader with these options.
    pub fn with_options(input: &'a [u8], options: ReadOptions) -> Self {
        let too_long = (input.len() > options.limits.size).then_some(options.limits.size);
        Self { source: Source::new(input), tree: Tree::new(options), state: ReaderState::Before, too_long }
    }

    /// Returns the current position in the input, in bytes.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Memory of all items so far, in bytes.
    pub(crate) fn decoded_size(&self) -> usize {
        self.tree.decoded_size
    }

    fn read(&mut self) -> Result<Option<(Option<Stream>, Value)>, Error> {
        if let Some(limit) = self.too_long {
            return Err(
                Error::with(Kind::Limit, "the input is too long (set max_size)").or_offset(limit as u64)
            );
        }
        loop {
            match self.source.markup()? {
                Markup::Start(start) => {
                    if let Some(item) = self.item(&start)? {
                        return Ok(Some(item));
                    }
                }
                Markup::End => self.state = ReaderState::Between,
                Markup::Eof => {
                    return match self.state {
                        ReaderState::Between | ReaderState::Done => Ok(None),
                        ReaderState::Before | ReaderState::Document => Err(self.source.unexpected_end()),
                    };
                }
            }
        }
    }

    /// Begins a document, or reads the item whose start tag was just read.
    fn item(&mut self, start: &StartTag<'_>) -> Result<Option<(Option<Stream>, Value)>, Error> {
        let at = self.source.offset();
        if start.tag == Tag::Document {
            self.document(start).map_err(|error| error.or_offset(at))?;
            return Ok(None);
        }
        if self.state == ReaderState::Before {
            self.state = ReaderState::Between;
        }
        let stream = match start.attributes.stream {
            None => None,
            Some(name) => {
                let name = attributes::value(name).map_err(|error| error.or_offset(at))?;
                Some(Stream::from_name(&name))
            }
        };
        let value = self.tree.read(&mut self.source, start)?;
        Ok(Some((stream, value)))
    }

    /// Begins an `<Objs>` document.
    fn document(&mut self, start: &StartTag<'_>) -> Result<(), Error> {
        if self.state == ReaderState::Document {
            return Err(Error::with(Kind::Structure, "a document inside a document"));
        }
        if let Some(version) = start.attributes.version {
            let version: Version = attributes::value(version)?.trim_ascii().parse()?;
            if version.major() != 1 {
                return Err(Error::with(Kind::Structure, "a major version other than 1"));
            }
        }
        self.tree.clear_references();
        self.state = if start.is_empty { ReaderState::Between } else { ReaderState::Document };
        Ok(())
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<(Option<Stream>, Value), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == ReaderState::Done {
            return None;
        }
        let item = self.read().transpose();
        if !matches!(item, Some(Ok(_))) {
            self.state = ReaderState::Done;
        }
        item
    }
}

impl_debug! {
    /// Shows the position, but nothing of the document.
    Reader<'_> |this| offset = this.offset(), state = this.state
}

impl FusedIterator for Reader<'_> {}
