//! Small XML tree for parsing responses.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use crate::error::{Error, Kind};

/// Maximum nesting depth. A complete envelope has ten levels.
const MAX_DEPTH: usize = 32;
/// Maximum elements and attributes of a response, far above those of the longest list of shells.
const MAX_NODES: usize = 64 * 1024;

/// Element of a response. Names are without namespaces, which no operation needs to tell its elements apart.
#[derive(Debug)]
pub(super) struct XmlElement {
    pub(super) name: Box<str>,
    /// Attributes, without namespace declarations.
    attributes: Vec<(Box<str>, Box<str>)>,
    /// Concatenated text directly inside the element.
    text: String,
    pub(super) children: Vec<Self>,
}

impl XmlElement {
    /// Parses a document. Fails with [`Error::is_syntax`] if the document is not well-formed or has a document type or
    /// custom entities, with [`Error::is_unexpected_end`] if it is truncated, and with [`Error::is_limit`] if it is too
    /// deep or has too many elements.
    pub(super) fn parse(document: &[u8]) -> Result<Self, Error> {
        let text = str::from_utf8(document)
            .map_err(|error| syntax("invalid UTF-8").or_offset(error.valid_up_to() as u64))?;
        let mut reader = Reader::from_str(text);
        reader.config_mut().check_end_names = true;
        reader.config_mut().expand_empty_elements = true;
        let mut builder = TreeBuilder { open: Vec::new(), nodes: 0 };
        loop {
            let at = reader.buffer_position();
            if let Some(root) = builder.next(&mut reader).map_err(|error| error.or_offset(at))? {
                return Ok(root);
            }
        }
    }

    /// Returns the first child with this name.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| *child.name == *name)
    }

    /// Returns the descendant at a path of names.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |element, name| element.child(name))
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| **known == *name).map(|(_, value)| &**value)
    }

    /// Returns the text without surrounding white space.
    pub(super) fn text(&self) -> &str {
        self.text.trim_ascii()
    }

    /// Returns the text of a child, if it is not empty.
    pub(super) fn child_text(&self, name: &str) -> Option<&str> {
        self.child(name).map(Self::text).filter(|text| !text.is_empty())
    }
}

struct TreeBuilder {
    open: Vec<XmlElement>,
    nodes: usize,
}

impl TreeBuilder {
    /// Handles the next event. Returns the root when it is complete.
    fn next(&mut self, reader: &mut Reader<&[u8]>) -> Result<Option<XmlElement>, Error> {
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(quick_xml::Error::Syntax(_)) => return Err(Error::new(Kind::UnexpectedEnd)),
            // Its text would quote the input.
            Err(_) => return Err(Error::new(Kind::Syntax)),
        };
        match event {
            Event::Start(start) => {
                if self.open.len() == MAX_DEPTH {
                    return Err(Error::with(Kind::Limit, "depth of a response"));
                }
                let element = self.element(&start)?;
                self.open.push(element);
            }
            Event::End(_) => {
                let element = self.open.pop().ok_or_else(|| syntax("an end tag without a start"))?;
                match self.open.last_mut() {
                    Some(parent) => parent.children.push(element),
                    None => return Ok(Some(element)),
                }
            }
            Event::Text(text) => self.text(&text)?,
            Event::CData(text) => self.text(&text)?,
            Event::GeneralRef(name) => self.text(&unescaped(&format!("&{};", &*name))?)?,
            Event::DocType(_) => return Err(syntax("a document type")),
            Event::Eof => return Err(Error::new(Kind::UnexpectedEnd)),
            Event::Empty(_) | Event::Decl(_) | Event::Comment(_) | Event::PI(_) => {}
        }
        Ok(None)
    }

    fn element(&mut self, start: &BytesStart<'_>) -> Result<XmlElement, Error> {
        self.count()?;
        let mut attributes = Vec::new();
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|_| syntax("a malformed attribute"))?;
            self.count()?;
            if attribute.key.as_namespace_binding().is_none() {
                let name = attribute.key.local_name();
                attributes.push((name.as_ref().into(), unescaped(&attribute.value)?.into()));
            }
        }
        let name = start.local_name().as_ref().into();
        Ok(XmlElement { name, attributes, text: String::new(), children: Vec::new() })
    }

    fn count(&mut self) -> Result<(), Error> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Error::with(Kind::Limit, "elements and attributes of a response"));
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Error> {
        match self.open.last_mut() {
            Some(element) => element.text.push_str(text),
            None if text.trim_matches('\u{FEFF}').trim_ascii().is_empty() => {}
            None => return Err(syntax("text outside of the envelope")),
        }
        Ok(())
    }
}

/// Resolves character references and references to the five XML entities.
fn unescaped(raw: &str) -> Result<Cow<'_, str>, Error> {
    // The error would quote the input.
    unescape(raw).map_err(|_| syntax("an invalid reference"))
}

fn syntax(what: &'static str) -> Error {
    Error::with(Kind::Syntax, what)
}
