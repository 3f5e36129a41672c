//! Events of XML with their places in the input.

use std::borrow::Cow;

use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::events::Event;
use quick_xml::{Error as XmlError, Reader};

use super::attributes::is_blank;
use super::leaf;
use super::markup::{self, Markup, Opening};
use super::text::{Text, TextBuilder};
use super::tree::Start;
use crate::Error;
use crate::error::Kind;

/// The line before a document in the output of PowerShell.
const MARK: &[u8] = b"#< CLIXML";

/// U+FEFF.
const ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads XML without document types, and with no other checks of characters than for UTF-8.
pub(super) struct Source<'a> {
    xml: Reader<&'a [u8]>,
    /// What was given to the XML reader, as far as it is UTF-8.
    text: &'a str,
    /// How many bytes there are.
    length: usize,
    /// How many bytes before the first element are not given to the XML reader.
    skipped: usize,
    /// Where what was read last begins.
    at: usize,
    /// Whether the XML reader has seen the `<` that it has not consumed yet, as it has after a text.
    expects_markup: bool,
    /// Whether the XML reader was asked for anything yet.
    is_asked: bool,
    /// How many elements are open.
    open: usize,
    /// Of these, which ones the XML reader has not seen: the number of elements that are open with each, and its name.
    unseen: Vec<(usize, &'a str)>,
}

impl<'a> Source<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        let rest = without_order_marks(input);
        let rest = match rest.strip_prefix(MARK) {
            Some(rest) => without_order_marks(rest.trim_ascii_start()),
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
            is_asked: false,
            open: 0,
            unseen: Vec::new(),
        }
    }

    /// Where what was read last begins.
    pub(super) fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Whether the event that was read last is the first of the document.
    pub(super) fn is_first(&self) -> bool {
        self.at == self.skipped
    }

    /// The next event. Comments and processing instructions mean nothing here; they are left out of texts.
    ///
    /// What [`markup`](Self::markup) takes must not be left to it.
    ///
    /// # Errors
    ///
    /// What is not well-formed, and document types.
    pub(super) fn next(&mut self) -> Result<Event<'a>, Error> {
        loop {
            let rest = *self.xml.get_ref();
            self.at = self.length - rest.len();
            if !self.is_asked {
                // The XML reader would drop it, wherever it is asked first.
                if rest.starts_with(ORDER_MARK) {
                    return Err(self.structure("text between elements"));
                }
                self.is_asked = true;
            }
            self.expects_markup = false;
            match self.xml.read_event() {
                Ok(event @ (Event::Comment(_) | Event::PI(_))) => {
                    // The XML reader must not come to the end tag of an element that it has not seen.
                    if self.is_unseen() {
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

    /// Whether the XML reader has not seen the innermost element that is open.
    fn is_unseen(&self) -> bool {
        self.unseen.last().is_some_and(|(open, _)| *open == self.open)
    }

    /// What follows the white space at hand, as far as it is UTF-8, unless the XML reader has begun with it.
    #[inline]
    pub(super) fn rest(&mut self) -> Option<&'a str> {
        if self.expects_markup {
            return None;
        }
        let rest = leaf::skip_blanks(self.xml.get_ref());
        *self.xml.get_mut() = rest;
        self.text.get(self.length - self.skipped - rest.len()..)
    }

    /// Takes all of the rest up to this.
    #[inline]
    pub(super) fn take_until(&mut self, rest: &'a str, after: &'a str) {
        let input = self.xml.get_mut();
        self.at = self.length - input.len();
        *input = &input[rest.len() - after.len()..];
    }

    /// The next tag if it can be read past the XML reader; white space before it is gone in any case.
    ///
    /// # Errors
    ///
    /// An end tag of another element than the innermost.
    pub(super) fn markup(&mut self) -> Result<Option<Markup<'a>>, Error> {
        let Some(rest) = self.rest() else { return Ok(None) };
        if rest.starts_with("</") && self.end(rest)? {
            return Ok(Some(Markup::End));
        }
        let Some((opening, after)) = Opening::read(rest) else { return Ok(None) };
        self.open(rest, &opening, after);
        let start = Start { tag: opening.tag, attributes: "", empty: opening.empty };
        Ok(Some(Markup::Start(start, opening.attributes)))
    }

    /// Takes the end tag at the start of the rest, unless the XML reader has seen its start tag.
    ///
    /// # Errors
    ///
    /// An end tag of another element than the innermost.
    #[inline]
    pub(super) fn end(&mut self, rest: &'a str) -> Result<bool, Error> {
        match self.unseen.last() {
            Some(&(open, name)) if open == self.open => {
                let Some(after) = markup::end(rest, name) else { return Err(self.other_end()) };
                self.take_until(rest, after);
                self.unseen.pop();
                self.open -= 1;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Takes the start tag that ends where `after` begins.
    #[inline]
    pub(super) fn open(&mut self, rest: &'a str, opening: &Opening<'a>, after: &'a str) {
        self.take_until(rest, after);
        if !opening.empty {
            self.open += 1;
            self.unseen.push((self.open, opening.name));
        }
    }

    /// What is wrong with the end tag at hand.
    #[cold]
    fn other_end(&mut self) -> Error {
        let rest = self.xml.get_ref();
        self.at = self.length - rest.len();
        if rest.contains(&b'>') {
            self.syntax("an end tag of another element")
        } else {
            Error::with(Kind::UnexpectedEnd, "markup that does not end").or_offset(self.offset())
        }
    }

    /// The text of the next element if it has this name, no attributes and nothing but characters in it; white space
    /// before it is gone in any case.
    pub(super) fn element_text(&mut self, name: &str) -> Option<Text<'a>> {
        let rest = self.rest()?;
        let (text, after) = leaf::element(rest, name)?;
        self.take_until(rest, after);
        Text::of(text).ok()
    }

    /// The text up to the end tag of the element that was opened last.
    ///
    /// # Errors
    ///
    /// An element inside; the end of the input.
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
                Event::Eof => return Err(self.ended()),
                _ => return Err(self.structure("an element inside a text")),
            }
            event = self.next()?;
        }
    }

    /// Reads to the end tag of the element that was opened last, whatever there is. `charge` is called for each level of
    /// nesting.
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
                Event::Eof => return Err(self.ended()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks that an event between elements is nothing but white space or a comment.
    ///
    /// # Errors
    ///
    /// Anything else, also the end of the input.
    pub(super) fn blank(&self, event: &Event<'_>) -> Result<(), Error> {
        match event {
            Event::Text(text) if text.bytes().all(is_blank) => Ok(()),
            Event::Comment(_) | Event::PI(_) => Ok(()),
            Event::Eof => Err(self.ended()),
            Event::Decl(_) => Err(self.syntax("an XML declaration inside of the document")),
            _ => Err(self.structure("text between elements")),
        }
    }

    pub(super) fn structure(&self, what: &'static str) -> Error {
        Error::with(Kind::Structure, what).or_offset(self.offset())
    }

    pub(super) fn syntax(&self, what: &'static str) -> Error {
        Error::with(Kind::Syntax, what).or_offset(self.offset())
    }

    pub(super) fn ended(&self) -> Error {
        Error::new(Kind::UnexpectedEnd).or_offset(self.offset())
    }

    /// The errors of the XML reader quote the input, so that only what they are about is told.
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
                (Kind::Syntax, "a reference that does not end")
            }
            XmlError::Syntax(SyntaxError::InvalidBangMarkup) => (Kind::Syntax, "unknown markup"),
            XmlError::Syntax(_) => (Kind::UnexpectedEnd, "markup that does not end"),
            XmlError::Encoding(_) => (Kind::Syntax, "bytes that are no UTF-8"),
            _ => return Error::new(Kind::Syntax).or_offset(self.offset()),
        };
        Error::with(kind, what).or_offset(self.offset())
    }
}

/// Without U+FEFF at the start. All of them go, for the XML reader drops one without counting it.
fn without_order_marks(mut input: &[u8]) -> &[u8] {
    while let Some(rest) = input.strip_prefix(ORDER_MARK) {
        input = rest;
    }
    input
}
