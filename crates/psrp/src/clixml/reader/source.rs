//! Reads XML events and their offsets, with a fast path for usual tags.

use std::borrow::Cow;

use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::events::Event;
use quick_xml::{Error as XmlError, Reader};

use super::attributes::is_blank;
use super::leaf;
use super::markup::{self, Markup};
use super::tag::StartTag;
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
    /// True after a text: the XML reader has then already looked at the next `<`.
    expects_markup: bool,
    /// True after the first call of the XML reader.
    has_read_event: bool,
    /// Number of open elements.
    open: usize,
    /// Open elements that were read by the fast path and that the XML reader does not know: the number of open elements
    /// including it, and its name.
    fast_path: Vec<(usize, &'a str)>,
}

impl<'a> Source<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        let rest = strip_byte_order_marks(input);
        let rest = match rest.strip_prefix(MARK) {
            Some(rest) => strip_byte_order_marks(rest.trim_ascii_start()),
            None => rest,
        };
        let mut xml = Reader::from_reader(rest);
        xml.config_mut().check_end_names = true;
        let skipped = input.len() - rest.len();
        let text = match std::str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default(),
        };
        Self {
            xml,
            text,
            length: input.len(),
            skipped,
            at: skipped,
            expects_markup: false,
            has_read_event: false,
            open: 0,
            fast_path: Vec::new(),
        }
    }

    /// Offset of the event or tag that was read last.
    pub(super) fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Returns whether the event that was read last is the first of the document.
    pub(super) fn is_first(&self) -> bool {
        self.at == self.skipped
    }

    /// Reads the next event of the XML reader. Comments and processing instructions are skipped; inside of text they
    /// are left out.
    ///
    /// Call [`markup`](Self::markup) first: end tags of elements that it has opened are unknown to the XML reader.
    /// Fails for malformed XML and for document types.
    pub(super) fn next(&mut self) -> Result<Event<'a>, Error> {
        loop {
            let rest = *self.xml.get_ref();
            self.at = self.length - rest.len();
            if !self.has_read_event {
                // The XML reader drops a byte order mark at its first call, even in the middle of a document.
                if rest.starts_with(ORDER_MARK) {
                    return Err(self.structure("text between elements"));
                }
                self.has_read_event = true;
            }
            self.expects_markup = false;
            match self.xml.read_event() {
                Ok(event @ (Event::Comment(_) | Event::PI(_))) => {
                    // The next token may be the end tag of an element that the XML reader does not know.
                    if self.is_in_fast_path() {
                        return Ok(event);
                    }
                }
                Ok(Event::DocType(_)) => return Err(self.syntax("a document type")),
                Ok(event) => {
                    match event {
                        Event::Start(_) => self.open += 1,
                        Event::End(_) => self.open = self.open.saturating_sub(1),
                        Event::Text(_) => self.expects_markup = true,
                        _ => {}
                    }
                    return Ok(event);
                }
                Err(error) => return Err(self.malformed(&error)),
            }
        }
    }

    /// Returns whether the innermost open element is unknown to the XML reader.
    fn is_in_fast_path(&self) -> bool {
        self.fast_path.last().is_some_and(|(open, _)| *open == self.open)
    }

    /// Skips white space and returns the rest of the input up to the first invalid UTF-8 sequence, or `None` if the XML
    /// reader has already begun with the next token.
    #[inline]
    pub(super) fn rest(&mut self) -> Option<&'a str> {
        if self.expects_markup {
            return None;
        }
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

    /// Reads the next tag if it is in the usual form. White space before the tag is always skipped. Fails for an end
    /// tag that does not match the innermost element.
    pub(super) fn markup(&mut self) -> Result<Option<Markup<'a>>, Error> {
        let Some(rest) = self.rest() else { return Ok(None) };
        if rest.starts_with("</") && self.end(rest)? {
            return Ok(Some(Markup::End));
        }
        let Some((start, name, after)) = StartTag::read(rest) else { return Ok(None) };
        self.open(rest, name, start.is_empty, after);
        Ok(Some(Markup::Start(start)))
    }

    /// Consumes the end tag at the start of the rest if its start tag was read by the fast path. Fails for an end tag
    /// that does not match the innermost element.
    #[inline]
    pub(super) fn end(&mut self, rest: &'a str) -> Result<bool, Error> {
        match self.fast_path.last() {
            Some(&(open, name)) if open == self.open => {
                let Some(after) = markup::end(rest, name) else { return Err(self.mismatched_end()) };
                self.take_until(rest, after);
                self.fast_path.pop();
                self.open -= 1;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Consumes the start tag with this name between `rest` and `after`.
    #[inline]
    pub(super) fn open(&mut self, rest: &'a str, name: &'a str, is_empty: bool, after: &'a str) {
        self.take_until(rest, after);
        if !is_empty {
            self.open += 1;
            self.fast_path.push((self.open, name));
        }
    }

    /// Creates the error for an end tag that does not match.
    #[cold]
    fn mismatched_end(&mut self) -> Error {
        let rest = self.xml.get_ref();
        self.at = self.length - rest.len();
        if rest.contains(&b'>') {
            self.syntax("an end tag of another element")
        } else {
            Error::with(Kind::UnexpectedEnd, "unterminated markup").or_offset(self.offset())
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

    /// Checks that an event between elements is white space or a comment. Fails for anything else, including the end of
    /// the input.
    pub(super) fn expect_blank(&self, event: &Event<'_>) -> Result<(), Error> {
        match event {
            Event::Text(text) if text.bytes().all(is_blank) => Ok(()),
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
            XmlError::IllFormed(IllFormedError::MismatchedEndTag { .. }) => {
                (Kind::Syntax, "an end tag of another element")
            }
            XmlError::IllFormed(IllFormedError::UnmatchedEndTag(_)) => {
                (Kind::Syntax, "an end tag without a start")
            }
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
