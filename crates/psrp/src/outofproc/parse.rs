//! The elements of a line.
//!
//! The vocabulary is eight elements with two attributes, so this reads it directly; what else XML allows is skipped or
//! refused by PowerShell's rules.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use uuid::Uuid;

use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::{b64, guid};

/// The byte order mark that may stand at the beginning of a stream.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Data,
    DataAck,
    Command,
    CommandAck,
    Close,
    CloseAck,
    Signal,
    SignalAck,
}

impl Name {
    fn find(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"Data" => Self::Data,
            b"DataAck" => Self::DataAck,
            b"Command" => Self::Command,
            b"CommandAck" => Self::CommandAck,
            b"Close" => Self::Close,
            b"CloseAck" => Self::CloseAck,
            b"Signal" => Self::Signal,
            b"SignalAck" => Self::SignalAck,
            _ => return None,
        })
    }
}

/// An element, and where its text is in the line.
#[derive(Debug, PartialEq)]
pub(super) struct Element {
    pub(super) name: Name,
    pub(super) target: Option<Uuid>,
    pub(super) priority: Priority,
    text: Range<usize>,
}

impl Element {
    /// Replaces the buffer by the data that the text stands for. Only [`Name::Data`] has any.
    #[inline(always)]
    pub(super) fn decode(&self, line: &[u8], base: u64, buffer: &mut Vec<u8>) -> Result<(), Error> {
        buffer.clear();
        if self.name != Name::Data {
            return Ok(());
        }
        let error = |detail| Error::with(Kind::InvalidText, detail).or_offset(base + self.text.start as u64);
        let text = &line[self.text.clone()];
        if b64::decode(text, buffer).is_none() {
            buffer.clear();
            // Character references are no Base64; almost nobody writes them.
            let text = unescape(text).ok_or_else(|| error("data of a packet"))?;
            b64::decode(&text, buffer).ok_or_else(|| error("data of a packet"))?;
        }
        if buffer.is_empty() { Err(error("a data packet without data")) } else { Ok(()) }
    }
}

/// A line without its end, read from the front.
pub(super) struct Line<'a> {
    text: &'a [u8],
    at: usize,
    /// Where the line is in the stream.
    base: u64,
}

impl<'a> Line<'a> {
    pub(super) const fn new(text: &'a [u8], at: usize, base: u64) -> Self {
        Self { text, at, base }
    }

    /// How much of the line was read.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// The place in the stream.
    pub(super) const fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Whether nothing follows that counts.
    #[inline]
    pub(super) fn is_empty(&mut self) -> Result<bool, Error> {
        if self.at == self.text.len() { Ok(true) } else { self.is_blank() }
    }

    fn is_blank(&mut self) -> Result<bool, Error> {
        self.skip_blanks();
        while self.skip_comment()? {
            self.skip_blanks();
        }
        Ok(self.at == self.text.len())
    }

    /// The next element of the line.
    // Inlined like all on the way of the usual line, so that an element is not put together only to be taken apart.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<Option<Element>, Error> {
        match self.usual() {
            Some(element) => Ok(Some(element)),
            None => self.any(),
        }
    }

    /// The next element if it is spelled as PowerShell spells it, which takes a few comparisons.
    #[inline(always)]
    fn usual(&mut self) -> Option<Element> {
        let rest = self.rest();
        let (name, priority, id, behind) = match rest.strip_prefix(b"<Data Stream='Default' PSGuid='") {
            Some(behind) => {
                let (id, behind) = behind.split_first_chunk()?;
                (Name::Data, Priority::Default, id, behind.strip_prefix(b"'>")?)
            }
            None => {
                let inner = rest.strip_prefix(b"<")?;
                let (name, behind) = inner.split_at(memchr::memchr(b' ', inner)?);
                let name = Name::find(name).filter(|name| *name != Name::Data)?;
                let (id, behind) = behind.strip_prefix(b" PSGuid='")?.split_first_chunk()?;
                (name, Priority::Default, id, behind)
            }
        };
        let id = Uuid::try_parse_ascii(id as &[u8; 36]).ok()?;
        let target = (!id.is_nil()).then_some(id);
        let start = self.text.len() - behind.len();
        let (len, end) = if name == Name::Data {
            let len = memchr::memchr(b'<', behind).filter(|&len| !behind[..len].trim_ascii().is_empty())?;
            (len, behind[len..].strip_prefix(b"</Data>")?)
        } else {
            (0, behind.strip_prefix(b"' />")?)
        };
        self.at = self.text.len() - end.len();
        Some(Element { name, target, priority, text: start..start + len })
    }

    /// The next element, however it is spelled.
    #[inline(never)]
    fn any(&mut self) -> Result<Option<Element>, Error> {
        if self.is_empty()? {
            return Ok(None);
        }
        if !self.eat(b"<") {
            return Err(self.error(Kind::Syntax, "text outside of a packet"));
        }
        let start = self.at;
        let name = self.name();
        let Some(name) = Name::find(name) else {
            self.at = start;
            let kind = if self.rest().is_empty() { Kind::UnexpectedEnd } else { Kind::InvalidHeader };
            return Err(self.error(kind, "element of a packet"));
        };
        let full = &self.text[start..self.at];
        let (target, priority) = self.attributes(name)?;
        let mut text = self.at..self.at;
        if self.eat(b"/>") {
            if name == Name::Data {
                return Err(self.error(Kind::InvalidText, "a data packet without data"));
            }
        } else {
            self.expect(b">")?;
            if name == Name::Data {
                while self.skip_comment()? {}
                let len = memchr::memchr(b'<', self.rest())
                    .ok_or_else(|| self.error(Kind::UnexpectedEnd, "data of a packet"))?;
                text = self.at..self.at + len;
                if self.rest()[..len].trim_ascii().is_empty() {
                    return Err(self.error(Kind::InvalidText, "a data packet without data"));
                }
                self.at = text.end;
                while self.skip_comment()? {}
            } else {
                self.is_empty()?;
            }
            self.expect(b"</")?;
            self.expect(full)?;
            self.skip_blanks();
            self.expect(b">")?;
        }
        Ok(Some(Element { name, target, priority, text }))
    }

    /// The attributes, which are exactly `PSGuid`, and `Stream` for data.
    fn attributes(&mut self, element: Name) -> Result<(Option<Uuid>, Priority), Error> {
        let mut target = None;
        let mut priority = None;
        loop {
            let before = self.at;
            self.skip_blanks();
            if matches!(self.rest().first(), Some(b'/' | b'>') | None) {
                break;
            }
            if self.at == before {
                return Err(self.error(Kind::Syntax, "attributes of a packet"));
            }
            let start = self.at;
            match self.name() {
                b"PSGuid" if target.is_none() => {
                    let value = self.value()?;
                    let id = guid::parse(&value)
                        .ok_or_else(|| self.error(Kind::InvalidHeader, "identifier of a packet"))?;
                    target = Some((!id.is_nil()).then_some(id));
                }
                b"Stream" if priority.is_none() && element == Name::Data => {
                    let value = self.value()?;
                    priority = Some(if value.eq_ignore_ascii_case(b"PromptResponse") {
                        Priority::PromptResponse
                    } else {
                        Priority::Default
                    });
                }
                _ => {
                    self.at = start;
                    return Err(self.error(Kind::InvalidHeader, "attribute of a packet"));
                }
            }
        }
        match (target, priority) {
            (Some(target), Some(priority)) => Ok((target, priority)),
            (Some(target), None) if element != Name::Data => Ok((target, Priority::Default)),
            _ => Err(self.error(Kind::InvalidHeader, "an attribute of a packet is missing")),
        }
    }

    /// The equals sign and a value in quotes.
    fn value(&mut self) -> Result<Cow<'a, [u8]>, Error> {
        self.skip_blanks();
        self.expect(b"=")?;
        self.skip_blanks();
        let Some(&quote @ (b'\'' | b'"')) = self.rest().first() else {
            return Err(self.missing("value of an attribute"));
        };
        self.at += 1;
        let rest = self.rest();
        let len = memchr::memchr2(quote, b'<', rest).filter(|&len| rest[len] == quote).ok_or_else(|| {
            let kind = if rest.contains(&b'<') { Kind::Syntax } else { Kind::UnexpectedEnd };
            self.error(kind, "value of an attribute")
        })?;
        let value = unescape(&rest[..len])
            .ok_or_else(|| self.error(Kind::Syntax, "reference in the value of an attribute"))?;
        self.at += len + 1;
        Ok(value)
    }

    /// The bytes up to what ends a name.
    fn name(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let len = rest
            .iter()
            .position(|byte| byte.is_ascii_whitespace() || b"/>='\"<&".contains(byte))
            .unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_ascii_start().len();
    }

    /// Skips one comment or processing instruction; whether there was one.
    fn skip_comment(&mut self) -> Result<bool, Error> {
        let (start, end): (&[u8], &[u8]) = if self.rest().starts_with(b"<!--") {
            (b"<!--", b"-->")
        } else if self.rest().starts_with(b"<?") {
            (b"<?", b"?>")
        } else {
            return Ok(false);
        };
        let len = memmem::find(&self.rest()[start.len()..], end)
            .ok_or_else(|| self.error(Kind::UnexpectedEnd, "comment"))?;
        self.at += start.len() + len + end.len();
        Ok(true)
    }

    fn eat(&mut self, expected: &[u8]) -> bool {
        let there = self.rest().starts_with(expected);
        if there {
            self.at += expected.len();
        }
        there
    }

    fn expect(&mut self, expected: &[u8]) -> Result<(), Error> {
        if self.eat(expected) { Ok(()) } else { Err(self.missing("end of a packet")) }
    }

    fn missing(&self, detail: &'static str) -> Error {
        let kind = if self.rest().is_empty() { Kind::UnexpectedEnd } else { Kind::Syntax };
        self.error(kind, detail)
    }

    fn error(&self, kind: Kind, detail: &'static str) -> Error {
        Error::with(kind, detail).or_offset(self.offset())
    }
}

/// Resolves the references that are not an entity of a document's own. `None` for those.
fn unescape(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    if memchr::memchr(b'&', text).is_none() {
        return Some(Cow::Borrowed(text));
    }
    let text = std::str::from_utf8(text).ok()?;
    let text = quick_xml::escape::unescape(text).ok()?;
    Some(Cow::Owned(text.into_owned().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The spelling that is read by comparison is read to the same by the rules; others are not taken for it.
    #[test]
    fn the_usual_spelling_means_the_same() {
        const ID: &str = "a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9";
        const NIL: &str = "00000000-0000-0000-0000-000000000000";
        let usual = |line: &str| Line::new(line.as_bytes(), 0, 0).usual();
        for id in [ID, NIL] {
            for line in [
                format!("<Data Stream='Default' PSGuid='{id}'>QUJD</Data>"),
                format!("<Data Stream='Default' PSGuid='{id}'> QU&#x4A;D\t</Data><Close PSGuid='{id}' />"),
                format!("<DataAck PSGuid='{id}' />"),
                format!("<Command PSGuid='{id}' /> "),
                format!("<SignalAck PSGuid='{id}' /><!-- -->"),
            ] {
                let mut fast = Line::new(line.as_bytes(), 0, 0);
                let mut slow = Line::new(line.as_bytes(), 0, 0);
                let (found, expected) = (fast.usual(), slow.any().unwrap().unwrap());
                let places = |element: &Element| (element.name, element.target, element.priority);
                assert_eq!(found.as_ref().map(places), Some(places(&expected)), "{line}");
                assert_eq!(fast.at, slow.at, "{line}");
                if expected.name == Name::Data {
                    assert_eq!(found.unwrap().text, expected.text, "{line}");
                }
            }
        }
        for line in [
            format!("<Data Stream='Default' PSGuid='{ID}'></Data>"),
            format!("<Data Stream='Default' PSGuid='{ID}'> </Data>"),
            format!("<Data Stream='Default' PSGuid='{ID}'>QUJD</Dat>"),
            format!("<Data Stream='Default' PSGuid='{ID}'>QU<!-- -->JD</Data>"),
            format!("<Data Stream='Default' PSGuid=\"{ID}\">QUJD</Data>"),
            format!("<Data PSGuid='{ID}' />"),
            format!("<Close PSGuid='{ID}'/>"),
            "<Close PSGuid='{a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9}' />".to_owned(),
            format!("<Other PSGuid='{ID}' />"),
            "<Close PSGuid='a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8fx' />".to_owned(),
        ] {
            assert_eq!(usual(&line), None, "{line}");
        }
    }
}
