//! Reads XML events and their offsets, with a fast path for usual tags.

use std::borrow::Cow;

use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Error as XmlError, Reader};

use super::attributes::Attributes;
use super::leaf;
use super::tag::{self, StartTag, Tag};
use super::text::{Text, TextBuilder};
use crate::Error;
use crate::error::Kind;

/// The line before a document in the output of PowerShell.
const MARK: &[u8] = b"#< CLIXML";

/// U+FEFF in UTF-8.
const ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads XML without document types. Characters are only checked to be valid UTF-8.
pub(super) struct Source<'a> {
    xml: Reader<&'a [u8]>,
    /// The input of the XML reader up to the first invalid UTF-8 sequence.
    text: &'a str,
    /// Length of the input in bytes.
    length: usize,
    /// Bytes before the first element that are not passed to the XML reader.
    skipped: usize,
    /// Offset of the event or tag that was read last.
    at: usize,
    /// Whether the XML reader was called.
    has_read_event: bool,
    /// Names of the open elements.
    open: Vec<&'a str>,
}

/// A tag between elements, or the end of the input.
pub(super) enum Markup<'a> {
    /// A start tag or an empty element.
    Start(StartTag<'a>),
    /// The end tag of the innermost element.
    End,
    Eof,
}

impl<'a> Source<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        let rest = strip_byte_order_marks(input);
        let rest = match rest.strip_prefix(MARK) {
            Some(rest) => strip_byte_order_marks(rest.trim_ascii_start()),
            None => rest,
        };
        let mut xml = Reader::from_reader(rest);
        // The XML reader does not know the elements that the fast path opens.
        xml.config_mut().check_end_names = false;
        xml.config_mut().allow_unmatched_ends = true;
        let skipped = input.len() - rest.len();
        let text = match std::str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default(),
        };
        Self { xml, text, length: input.len(), skipped, at: skipped, has_read_event: false, open: Vec::new() }
    }

    /// Offset of the event or tag that was read last.
    pub(super) fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Reads the next event of the XML reader. Fails for malformed XML and for document types.
    pub(super) fn next(&mut self) -> Result<Event<'a>, Error> {
        let rest = *self.xml.get_ref();
        self.at = self.length - rest.len();
        if !self.has_read_event {
            // The XML reader drops a byte order mark at its first call, even in the middle of a document.
            if rest.starts_with(ORDER_MARK) {
                return Err(self.structure("text between elements"));
            }
            self.has_read_event = true;
        }
        let event = self.xml.read_event().map_err(|error| self.malformed(&error))?;
        match &event {
            Event::Start(start) => self.open.push(self.name(start)),
            Event::End(end) => match self.open.pop() {
                Some(name) if name == end.name().as_ref() => {}
                Some(_) => return Err(self.syntax("an end tag of another element")),
                None => return Err(self.syntax("an end tag without a start")),
            },
            Event::DocType(_) => return Err(self.syntax("a document type")),
            _ => {}
        }
        Ok(event)
    }

    /// Returns the name of the tag that was read last.
    fn name(&self, start: &BytesStart<'_>) -> &'a str {
        let name = self.at - self.skipped + 1;
        self.text.get(name..name + start.name().as_ref().len()).unwrap_or_default()
    }

    /// Skips white space and returns the rest of the input up to the first invalid UTF-8 sequence. Must not be called
    /// after a text: the XML reader has then already looked at the next `<`.
    #[inline]
    pub(super) fn rest(&mut self) -> Option<&'a str> {
        let rest = leaf::skip_blanks(self.xml.get_ref());
        *self.xml.get_mut() = rest;
        self.text.get(self.length - self.skipped - rest.len()..)
    }

    /// Consumes the input from `rest` up to `after`.
    #[inline]
    pub(super) fn take_until(&mut self, rest: &'a str, after: &'a str) {
        let input = self.xml.get_mut();
        self.at = self.length - input.len();
        *input = &input[rest.len() - after.len()..];
    }

    /// Reads the next tag between elements. Fails for anything else than white space and comments before it.
    pub(super) fn markup(&mut self) -> Result<Markup<'a>, Error> {
        loop {
            if let Some(rest) = self.rest() {
                if self.end(rest) {
                    return Ok(Markup::End);
                }
                if let Some((start, name, after)) = StartTag::read(rest) {
                    self.open(rest, name, start.is_empty, after);
                    return Ok(Markup::Start(start));
                }
            }
            if let Some(markup) = self.xml_markup()? {
                return Ok(markup);
            }
        }
    }

    /// Reads the next tag between elements with the XML reader, or a comment, for which it returns `None`.
    pub(super) fn xml_markup(&mut self) -> Result<Option<Markup<'a>>, Error> {
        match self.next()? {
            Event::Start(start) => self.start(&start, false).map(Some),
            Event::Empty(start) => self.start(&start, true).map(Some),
            Event::End(_) => Ok(Some(Markup::End)),
            Event::Eof => Ok(Some(Markup::Eof)),
            Event::Decl(_) if self.at == self.skipped => Ok(None),
            event => self.expect_comment(&event).map(|()| None),
        }
    }

    fn start(&self, start: &BytesStart<'_>, is_empty: bool) -> Result<Markup<'a>, Error> {
        let tag = Tag::of(start.name().into_inner().as_bytes());
        let raw = self.at - self.skipped + 1 + self.name(start).len();
        let raw = self.text.get(raw..raw + start.attributes_raw().len()).unwrap_or_default();
        let attributes = Attributes::parse(raw).map_err(|error| error.or_offset(self.offset()))?;
        Ok(Markup::Start(StartTag { tag, attributes, is_empty }))
    }

    /// Consumes the end tag of the innermost element if it is at the start of the rest.
    #[inline]
    pub(super) fn end(&mut self, rest: &'a str) -> bool {
        let Some(after) = self.open.last().and_then(|name| tag::end(rest, name)) else { return false };
        self.take_until(rest, after);
        self.open.pop();
        true
    }

    /// Consumes the start tag with this name between `rest` and `after`.
    #[inline]
    pub(super) fn open(&mut self, rest: &'a str, name: &'a str, is_empty: bool, after: &'a str) {
        self.take_until(rest, after);
        if !is_empty {
            self.open.push(name);
        }
    }

    /// Reads the text of the next element if it has this name, no attributes and only characters inside. White space
    /// before it is always skipped.
    pub(super) fn element_text(&mut self, name: &str) -> Option<Text<'a>> {
        let rest = self.rest()?;
        let (text, after) = leaf::element(rest, name)?;
        self.take_until(rest, after);
        Text::of(text).ok()
    }

    /// Reads the next element, which has nothing but text, with the XML reader. Returns its name and text, or `None` at
    /// the end tag of the innermost element. [`offset`](Self::offset) is then that of the element.
    pub(super) fn text_element(&mut self) -> Result<Option<(&'a str, Text<'a>)>, Error> {
        loop {
            self.rest();
            match self.next()? {
                Event::Start(start) => {
                    let (at, name) = (self.at, self.name(&start));
                    let text = self.text()?;
                    self.at = at;
                    return Ok(Some((name, text)));
                }
                Event::Empty(start) => return Ok(Some((self.name(&start), Text::Raw("")))),
                Event::End(_) => return Ok(None),
                event => self.expect_comment(&event)?,
            }
        }
    }

    /// Reads the text up to the end tag of the innermost element. Fails for a nested element and at the end of the
    /// input.
    pub(super) fn text(&mut self) -> Result<Text<'a>, Error> {
        let (first, second) = match self.next()? {
            Event::End(_) => return Ok(Text::Raw("")),
            Event::Text(text) => {
                let text = text.into_inner();
                match (self.next()?, text) {
                    (Event::End(_), Cow::Borrowed(text)) => return Ok(Text::Raw(text)),
                    (event, text) => (Some(text), event),
                }
            }
            event => (None, event),
        };
        let mut builder = TextBuilder::default();
        if let Some(text) = first {
            builder.push_raw(&text);
        }
        let mut event = second;
        loop {
            match event {
                Event::Text(text) => builder.push_raw(&text),
                Event::CData(text) => builder.push_raw(&text),
                Event::GeneralRef(name) => {
                    builder.push_reference(&name).map_err(|error| error.or_offset(self.offset()))?;
                }
                Event::End(_) => return Ok(builder.finish()),
                Event::Comment(_) | Event::PI(_) => {}
                Event::Eof => return Err(self.unexpected_end()),
                _ => return Err(self.structure("an element inside a text")),
            }
            event = self.next()?;
        }
    }

    /// Skips to the end tag of the innermost element. `charge` is called once for each level of nesting.
    pub(super) fn skip(&mut self, mut charge: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
        let (mut open, mut deepest) = (1_usize, 1);
        while open > 0 {
            match self.next()? {
                Event::Start(_) => {
                    open += 1;
                    if open > deepest {
                        deepest = open;
                        charge().map_err(|error| error.or_offset(self.offset()))?;
                    }
                }
                Event::End(_) => open -= 1,
                Event::Eof => return Err(self.unexpected_end()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks that an event between elements is a comment or processing instruction. Fails for anything else, including
    /// the end of the input.
    pub(super) fn expect_comment(&self, event: &Event<'_>) -> Result<(), Error> {
        match event {
            Event::Comment(_) | Event::PI(_) => Ok(()),
            Event::Eof => Err(self.unexpected_end()),
            Event::Decl(_) => Err(self.syntax("an XML declaration inside the document")),
            _ => Err(self.structure("text between elements")),
        }
    }

    pub(super) fn structure(&self, what: &'static str) -> Error {
        Error::with(Kind::Structure, what).or_offset(self.offset())
    }

    pub(super) fn syntax(&self, what: &'static str) -> Error {
        Error::with(Kind::Syntax, what).or_offset(self.offset())
    }

    pub(super) fn unexpected_end(&self) -> Error {
        Error::new(Kind::UnexpectedEnd).or_offset(self.offset())
    }

    /// Converts an error of the XML reader. Its text is dropped because it quotes the input.
    #[cold]
    fn malformed(&self, error: &XmlError) -> Error {
        let (kind, what) = match error {
            XmlError::IllFormed(IllFormedError::UnclosedReference) => {
                (Kind::Syntax, "an unterminated reference")
            }
            XmlError::Syntax(SyntaxError::InvalidBangMarkup) => (Kind::Syntax, "unknown markup"),
            XmlError::Syntax(_) => (Kind::UnexpectedEnd, "unterminated markup"),
            XmlError::Encoding(_) => (Kind::Syntax, "invalid UTF-8"),
            _ => return Error::new(Kind::Syntax).or_offset(self.offset()),
        };
        Error::with(kind, what).or_offset(self.offset())
    }
}

/// Strips all U+FEFF at the start. The XML reader would drop one without counting it in its offset.
fn strip_byte_order_marks(mut input: &[u8]) -> &[u8] {
    while let Some(rest) = input.strip_prefix(ORDER_MARK) {
        input = rest;
    }
    input
}
