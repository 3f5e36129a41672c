//! Parser for the elements of a line.
//!
//! The vocabulary is eight elements with two attributes, so they are parsed directly. Other XML markup is skipped or
//! rejected by PowerShell's rules.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use uuid::Uuid;

use super::Packet;
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::{b64, guid};

/// Byte order mark, allowed at the start of a stream.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Parsed element, with the range of its text in the line.
pub(super) struct PacketElement {
    /// The packet without its data.
    pub(super) packet: Packet<'static>,
    text: Range<usize>,
}

impl PacketElement {
    /// Decodes the element's data into the buffer, which is cleared first. Only [`Packet::Data`] has data.
    #[inline(always)]
    pub(super) fn decode(&self, line: &[u8], base: u64, buffer: &mut Vec<u8>) -> Result<(), Error> {
        buffer.clear();
        if !self.packet.is_data() {
            return Ok(());
        }
        let error = |detail| Error::with(Kind::InvalidText, detail).or_offset(base + self.text.start as u64);
        let text = &line[self.text.clone()];
        if b64::decode(text, buffer).is_none() {
            buffer.clear();
            // Slow path: the data contains character references, which are not Base64.
            let text = unescape(text).ok_or_else(|| error("data of a packet"))?;
            b64::decode(&text, buffer).ok_or_else(|| error("data of a packet"))?;
        }
        if buffer.is_empty() { Err(error("a data packet without data")) } else { Ok(()) }
    }
}

/// Parser over one line without its line end.
pub(super) struct LineParser<'a> {
    text: &'a [u8],
    at: usize,
    /// Offset of the line in the stream.
    base: u64,
}

impl<'a> LineParser<'a> {
    pub(super) const fn new(text: &'a [u8], at: usize, base: u64) -> Self {
        Self { text, at, base }
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Returns the position in the stream.
    pub(super) const fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Returns whether only white space and comments are left.
    #[inline]
    pub(super) fn is_empty(&mut self) -> Result<bool, Error> {
        if self.at == self.text.len() { Ok(true) } else { self.is_blank() }
    }

    fn is_blank(&mut self) -> Result<bool, Error> {
        self.skip_whitespace();
        while self.skip_comment()? {
            self.skip_whitespace();
        }
        Ok(self.at == self.text.len())
    }

    /// Returns the next element of the line.
    // Inlined, like everything that parses the canonical form, to avoid copying the element.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<Option<PacketElement>, Error> {
        match self.parse_canonical() {
            Some(element) => Ok(Some(element)),
            None => self.parse_general(),
        }
    }

    /// Parses the next element if it has the form that PowerShell writes: a few comparisons.
    #[inline(always)]
    fn parse_canonical(&mut self) -> Option<PacketElement> {
        let rest = self.rest();
        let (name, id, after): (&[u8], _, _) = match rest.strip_prefix(b"<Data Stream='Default' PSGuid='") {
            Some(after) => {
                let (id, after) = after.split_first_chunk()?;
                (b"Data", id, after.strip_prefix(b"'>")?)
            }
            None => {
                let inner = rest.strip_prefix(b"<")?;
                let (name, after) = inner.split_at(memchr::memchr(b' ', inner)?);
                let (id, after) = after.strip_prefix(b" PSGuid='")?.split_first_chunk()?;
                (name, id, after.strip_prefix(b"' />")?)
            }
        };
        let id = Uuid::try_parse_ascii(id as &[u8; 36]).ok()?;
        let packet = Packet::named(name, (!id.is_nil()).then_some(id), Priority::Default)?;
        let start = self.text.len() - after.len();
        let (len, end) = if packet.is_data() {
            let len = memchr::memchr(b'<', after).filter(|&len| !after[..len].trim_ascii().is_empty())?;
            (len, after[len..].strip_prefix(b"</Data>")?)
        } else {
            (0, after)
        };
        self.at = self.text.len() - end.len();
        Some(PacketElement { packet, text: start..start + len })
    }

    #[inline(never)]
    fn parse_general(&mut self) -> Result<Option<PacketElement>, Error> {
        if self.is_empty()? {
            return Ok(None);
        }
        if !self.eat(b"<") {
            return Err(self.error(Kind::Syntax, "text outside of a packet"));
        }
        let start = self.at;
        let name = self.name();
        let Some(packet) = Packet::named(name, None, Priority::Default) else {
            self.at = start;
            let kind = if self.rest().is_empty() { Kind::UnexpectedEnd } else { Kind::InvalidHeader };
            return Err(self.error(kind, "element of a packet"));
        };
        let is_data = packet.is_data();
        let (target, priority) = self.attributes(is_data)?;
        let mut text = self.at..self.at;
        if self.eat(b"/>") {
            if is_data {
                return Err(self.error(Kind::InvalidText, "a data packet without data"));
            }
        } else {
            self.expect(b">")?;
            if is_data {
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
            self.expect(name)?;
            self.skip_whitespace();
            self.expect(b">")?;
        }
        Ok(Packet::named(name, target, priority).map(|packet| PacketElement { packet, text }))
    }

    /// Parses the attributes: exactly `PSGuid`, and `Stream` for data.
    fn attributes(&mut self, is_data: bool) -> Result<(Option<Uuid>, Priority), Error> {
        let mut target = None;
        let mut priority = None;
        loop {
            let before = self.at;
            self.skip_whitespace();
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
                b"Stream" if priority.is_none() && is_data => {
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
            (Some(target), None) if !is_data => Ok((target, Priority::Default)),
            _ => Err(self.error(Kind::InvalidHeader, "an attribute of a packet is missing")),
        }
    }

    /// Parses the equals sign and a quoted value.
    fn value(&mut self) -> Result<Cow<'a, [u8]>, Error> {
        self.skip_whitespace();
        self.expect(b"=")?;
        self.skip_whitespace();
        let Some(&quote @ (b'\'' | b'"')) = self.rest().first() else {
            return Err(self.unexpected("value of an attribute"));
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

    /// Takes the bytes of a name.
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

    fn skip_whitespace(&mut self) {
        self.at += self.rest().len() - self.rest().trim_ascii_start().len();
    }

    /// Skips one comment or processing instruction. Returns whether there was one.
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
        let is_match = self.rest().starts_with(expected);
        if is_match {
            self.at += expected.len();
        }
        is_match
    }

    fn expect(&mut self, expected: &[u8]) -> Result<(), Error> {
        if self.eat(expected) { Ok(()) } else { Err(self.unexpected("end of a packet")) }
    }

    fn unexpected(&self, detail: &'static str) -> Error {
        let kind = if self.rest().is_empty() { Kind::UnexpectedEnd } else { Kind::Syntax };
        self.error(kind, detail)
    }

    fn error(&self, kind: Kind, detail: &'static str) -> Error {
        Error::with(kind, detail).or_offset(self.offset())
    }
}

/// Resolves references. Returns `None` if there is an undefined entity.
fn unescape(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    if memchr::memchr(b'&', text).is_none() {
        return Some(Cow::Borrowed(text));
    }
    let text = std::str::from_utf8(text).ok()?;
    let text = quick_xml::escape::unescape(text).ok()?;
    Some(Cow::Owned(text.into_owned().into_bytes()))
}
