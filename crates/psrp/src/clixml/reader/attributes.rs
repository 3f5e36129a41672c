//! Attributes of elements. CLIXML defines only five.

use std::borrow::Cow;

use super::super::escape;
use super::text::{self, Character, malformed};
use crate::Error;
use crate::error::Kind;

/// The namespace of CLIXML.
const NAMESPACE: &str = "http://schemas.microsoft.com/powershell/2004/04";

/// The white space of XML.
pub(super) const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// The attributes that CLIXML defines, unparsed.
#[derive(Debug, Default)]
pub(super) struct Attributes<'s> {
    /// `N`.
    pub(super) name: Option<&'s str>,
    /// `RefId`.
    pub(super) ref_id: Option<&'s str>,
    /// `S`, the stream of an item.
    pub(super) stream: Option<&'s str>,
    /// `Version` of a document.
    pub(super) version: Option<&'s str>,
    namespace: Option<&'s str>,
}

impl<'s> Attributes<'s> {
    /// Creates the attributes of an object.
    pub(super) fn of_object(name: Option<&'s str>, ref_id: Option<&'s str>) -> Self {
        Self { name, ref_id, ..Self::default() }
    }

    /// Parses the part of a start tag after the name. Fails if an attribute is malformed, if a defined attribute occurs
    /// twice, and for another namespace than that of CLIXML.
    pub(super) fn parse(raw: &'s str) -> Result<Self, Error> {
        let mut attributes = Self::default();
        let mut rest = raw.trim_end_matches(BLANKS);
        while !rest.is_empty() {
            let attribute = rest.trim_start_matches(BLANKS);
            if attribute.len() == rest.len() {
                return Err(malformed("an attribute without white space before it"));
            }
            let end = attribute.find(['=', ' ', '\t', '\r', '\n']).unwrap_or(attribute.len());
            let (name, after) = attribute.split_at(end);
            let value = after.trim_start_matches(BLANKS).strip_prefix('=').filter(|_| !name.is_empty());
            let value = value.ok_or_else(|| malformed("an attribute without a value"))?;
            let value = value.trim_start_matches(BLANKS);
            let quote = value.chars().next().filter(|char| matches!(char, '"' | '\''));
            let quote = quote.ok_or_else(|| malformed("the value of an attribute without quotes"))?;
            let (value, after) =
                value[1..].split_once(quote).ok_or_else(|| malformed("an unterminated attribute value"))?;
            attributes.set(name, value)?;
            rest = after;
        }
        if attributes.namespace.is_some_and(|namespace| !namespace.is_empty() && namespace != NAMESPACE) {
            return Err(Error::with(Kind::Structure, "another namespace"));
        }
        Ok(attributes)
    }

    fn set(&mut self, name: &str, value: &'s str) -> Result<(), Error> {
        let attribute = match name {
            "N" => &mut self.name,
            "RefId" => &mut self.ref_id,
            "S" => &mut self.stream,
            "Version" => &mut self.version,
            "xmlns" => &mut self.namespace,
            _ => return Ok(()),
        };
        match attribute.replace(value) {
            None => Ok(()),
            Some(_) => Err(malformed("a duplicate attribute")),
        }
    }
}

/// Resolves the references in an attribute value. A lone surrogate can only be written as a CLIXML escape here. Fails
/// for an invalid reference, for `<`, and for a reference to a surrogate.
pub(super) fn value(raw: &str) -> Result<Cow<'_, str>, Error> {
    if escape::find_special(raw.as_bytes(), 0).is_none()
        || !raw.bytes().any(|byte| byte < b' ' || byte == b'&' || byte == b'<')
    {
        return Ok(Cow::Borrowed(raw));
    }
    let mut value = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(special) = rest.find(['&', '<', '\t', '\r', '\n']) {
        let (plain, special) = rest.split_at(special);
        value.push_str(plain);
        rest = match special.as_bytes()[0] {
            b'&' => {
                let (reference, rest) =
                    special[1..].split_once(';').ok_or_else(|| malformed("an unterminated reference"))?;
                match text::reference(reference)? {
                    Character::Char(char) => value.push(char),
                    Character::Surrogate(_) => {
                        return Err(malformed("lone surrogate in an attribute"));
                    }
                }
                rest
            }
            b'<' => return Err(malformed("'<' in an attribute")),
            _ => {
                value.push(' ');
                special.strip_prefix("\r\n").unwrap_or(&special[1..])
            }
        };
    }
    value.push_str(rest);
    Ok(Cow::Owned(value))
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
