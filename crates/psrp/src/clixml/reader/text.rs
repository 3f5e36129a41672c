//! Text of elements: characters, references and CDATA sections.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::Error;
use crate::error::Kind;
use crate::value::PsString;

/// Unparsed characters of the document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Characters<'a> {
    pub(super) text: &'a str,
    /// Whether the text contains no escape, line end or reference.
    pub(super) plain: bool,
}

/// The text of an element. References are resolved, CLIXML escapes are not, except in `Wide`.
#[derive(Debug)]
pub(super) enum Text<'a> {
    /// A part of the document, with unnormalized line ends.
    Raw(&'a str),
    /// A part of the document without escapes and line ends.
    Plain(&'a str),
    /// Built from several parts.
    Built(String),
    /// With surrogates from character references. Escapes are resolved.
    Wide(PsString),
}

/// Returns whether all references of a text can be resolved.
pub(super) fn are_references(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, name, after)) = next_reference(rest) {
        if reference(name).is_err() {
            return false;
        }
        rest = after;
    }
    memchr(b'&', rest.as_bytes()).is_none()
}

/// Returns the characters before the first reference, its name, and the rest after it.
fn next_reference(text: &str) -> Option<(&str, &str, &str)> {
    let (plain, reference) = text.split_at_checked(memchr(b'&', text.as_bytes())?)?;
    let (name, rest) = reference.split_at_checked(memchr(b';', reference.as_bytes())?)?;
    Some((plain, &name[1..], &rest[1..]))
}

impl<'a> Text<'a> {
    /// Resolves the references in the characters between two tags. Fails for a reference that can't be resolved.
    #[inline]
    pub(super) fn of(Characters { text, plain }: Characters<'a>) -> Result<Self, Error> {
        if plain { Ok(Text::Plain(text)) } else { Self::of_any(text) }
    }

    fn of_any(raw: &'a str) -> Result<Self, Error> {
        let Some(mut next) = next_reference(raw) else { return Ok(Text::Raw(raw)) };
        let mut builder = TextBuilder { text: String::with_capacity(raw.len()), wide: Vec::new() };
        loop {
            let (plain, name, rest) = next;
            builder.push_raw(plain);
            builder.push_reference(name)?;
            let Some(more) = next_reference(rest) else {
                builder.push_raw(rest);
                return Ok(builder.finish());
            };
            next = more;
        }
    }

    /// Returns the text for types other than strings. Fails if the text contains surrogates, which only strings may.
    pub(super) fn plain(&self) -> Result<&str, Error> {
        match self {
            Text::Raw(text) | Text::Plain(text) => Ok(text),
            Text::Built(text) => Ok(text),
            Text::Wide(_) => Err(Error::with(Kind::InvalidText, "lone surrogate")),
        }
    }

    /// Converts to a string and resolves CLIXML escapes.
    pub(super) fn into_string(self) -> PsString {
        match self {
            Text::Plain(text) => text.into(),
            Text::Raw(text) => match memchr2(b'_', b'\r', text.as_bytes()) {
                None => text.into(),
                Some(_) => PsString::from_escaped(&normalize_line_ends(text)),
            },
            Text::Built(text) => PsString::from_escaped(&text),
            Text::Wide(text) => text,
        }
    }
}

/// Normalizes line ends as XML requires: CR and CRLF become LF.
fn normalize_line_ends(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr(b'\r', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let (plain, mut rest) = text.split_at(first);
    out.push_str(plain);
    while let Some(after) = rest.strip_prefix('\r') {
        out.push('\n');
        let after = after.strip_prefix('\n').unwrap_or(after);
        let end = memchr(b'\r', after.as_bytes()).unwrap_or(after.len());
        let (plain, next) = after.split_at(end);
        out.push_str(plain);
        rest = next;
    }
    Cow::Owned(out)
}

/// Builds a text from its parts.
#[derive(Debug, Default)]
pub(super) struct TextBuilder {
    /// The text after the last surrogate.
    text: String,
    /// The text up to and including the last surrogate, with escapes resolved. An escape can't continue after a
    /// surrogate.
    wide: Vec<u16>,
}

impl TextBuilder {
    /// Appends unparsed characters.
    pub(super) fn push_raw(&mut self, raw: &str) {
        self.text.push_str(&normalize_line_ends(raw));
    }

    /// Appends the character of the reference with this name.
    pub(super) fn push_reference(&mut self, name: &str) -> Result<(), Error> {
        match reference(name)? {
            Character::Char(char) => self.text.push(char),
            Character::Surrogate(unit) => {
                self.unescape();
                self.wide.push(unit);
            }
        }
        Ok(())
    }

    fn unescape(&mut self) {
        self.wide.extend(PsString::from_escaped(&self.text).to_utf16());
        self.text.clear();
    }

    pub(super) fn finish(mut self) -> Text<'static> {
        if self.wide.is_empty() {
            return Text::Built(self.text);
        }
        self.unescape();
        Text::Wide(PsString::from_utf16(&self.wide))
    }
}

/// The character that a reference stands for.
#[derive(Debug)]
pub(super) enum Character {
    Char(char),
    Surrogate(u16),
}

/// Resolves the reference with the text between `&` and `;`.
///
/// References to any code point are accepted, including those that XML forbids: PowerShell does not check them, and
/// other writers rely on that. Fails for entities other than the five of XML and for numbers beyond Unicode.
pub(super) fn reference(name: &str) -> Result<Character, Error> {
    let char = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#').ok_or_else(|| malformed("an unknown entity"))?;
            return character(number).ok_or_else(|| malformed("a reference to an invalid character"));
        }
    };
    Ok(Character::Char(char))
}

fn character(number: &str) -> Option<Character> {
    let (digits, radix) = match number.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    // `from_str_radix` accepts a sign.
    if !digits.starts_with(|char: char| char.is_digit(radix)) {
        return None;
    }
    let code = u32::from_str_radix(digits, radix).ok()?;
    match char::from_u32(code) {
        Some(char) => Some(Character::Char(char)),
        None => u16::try_from(code).ok().map(Character::Surrogate),
    }
}

pub(super) fn malformed(what: &'static str) -> Error {
    Error::with(Kind::Syntax, what)
}
