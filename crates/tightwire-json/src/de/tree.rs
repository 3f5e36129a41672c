//! Decoder of trees.
//!
//! The position is passed and returned, not stored, so that it stays in a register.

use super::number::Number;
use super::parser::Parser;
use crate::error::{Result, Syntax};
use crate::value::memory::Builder;
use crate::value::{Tag, Value};

/// Decoder of one tree.
struct Tree<'a, 'de, 'p> {
    parser: &'a mut Parser<'de, 'p>,
    bytes: &'de [u8],
    builder: Builder,
}

/// Decodes the array or object at the current position. The rest of the document has less than 4 GiB.
pub(super) fn decode(parser: &mut Parser<'_, '_>) -> Result<Value> {
    let (at, bytes, levels) = (parser.at, parser.bytes, parser.levels);
    let mut tree = Tree { parser, bytes, builder: Builder::new(bytes.len() - at) };
    let (at, byte) = tree.expect(at)?;
    tree.parser.at = tree.value(at, byte, levels, |_| 0)?;
    Ok(tree.builder.finish())
}

impl Tree<'_, '_, '_> {
    /// Skips white space, and returns the next byte and its position.
    #[inline(always)]
    fn expect(&mut self, at: usize) -> Result<(usize, u8)> {
        match self.bytes.get(at) {
            Some(&byte) if byte > b' ' => Ok((at, byte)),
            _ => self.skip_space(at),
        }
    }

    #[inline(never)]
    fn skip_space(&mut self, at: usize) -> Result<(usize, u8)> {
        self.parser.at = at;
        let byte = self.parser.expect()?;
        Ok((self.parser.at, byte))
    }

    #[cold]
    fn fail<T>(&mut self, at: usize, what: Syntax) -> Result<T> {
        self.parser.at = at;
        Err(self.parser.syntax(what))
    }

    /// Decodes the value that starts at `at` with `byte`, and pushes it. Returns the position after it.
    #[inline(always)]
    fn value(
        &mut self,
        at: usize,
        byte: u8,
        levels: usize,
        context: impl FnOnce(&Self) -> usize,
    ) -> Result<usize> {
        // Most values are strings and numbers. A comparison is predicted better than a jump table.
        if byte == b'"' {
            return match self.builder.push_text(self.parser.text, at + 1, self.parser.string_limit) {
                Some(end) => Ok(end + 1),
                None => self.text_with_escapes(at + 1),
            };
        }
        if byte.is_ascii_digit() || byte == b'-' {
            self.parser.at = at;
            match self.parser.number()? {
                Number::Unsigned(value) => self.builder.push_unsigned(value),
                Number::Signed(value) => self.builder.push_signed(value),
                Number::Float(value) => self.builder.push_float(value),
            }
            return Ok(self.parser.at);
        }
        match byte {
            b'{' => self.object(at, levels, context(self)),
            b'[' => self.array(at, levels, context(self)),
            b'n' if self.is_next(at, b"null") => {
                self.builder.push_null();
                Ok(at + 4)
            }
            b't' if self.is_next(at, b"true") => {
                self.builder.push_bool(true);
                Ok(at + 4)
            }
            b'f' if self.is_next(at, b"false") => {
                self.builder.push_bool(false);
                Ok(at + 5)
            }
            _ => self.malformed(at),
        }
    }

    #[inline(always)]
    fn is_next<const N: usize>(&self, at: usize, bytes: &[u8; N]) -> bool {
        self.bytes.get(at..).and_then(<[u8]>::first_chunk::<N>) == Some(bytes)
    }

    /// Returns the error for a malformed literal name or another byte.
    #[cold]
    fn malformed(&mut self, at: usize) -> Result<usize> {
        self.parser.at = at;
        self.parser.skip_value(&mut ())?;
        self.fail(at, Syntax::Value)
    }

    /// Decodes the string or key after the opening quote, of any length and with any escapes.
    #[inline(never)]
    fn text_with_escapes(&mut self, start: usize) -> Result<usize> {
        self.parser.at = start;
        self.builder.push_copy(self.parser.string()?.as_str());
        Ok(self.parser.at)
    }

    /// Returns the error for too many levels.
    #[cold]
    fn too_deep<T>(&mut self, at: usize) -> Result<T> {
        self.parser.at = at;
        Err(self.parser.too_deep())
    }

    #[inline(never)]
    fn array(&mut self, at: usize, levels: usize, context: usize) -> Result<usize> {
        let Some(levels) = levels.checked_sub(1) else { return self.too_deep(at) };
        let (mut at, mut byte) = self.expect(at + 1)?;
        if byte == b']' {
            self.builder.push_empty(Tag::Array);
        } else {
            let from = self.builder.len();
            loop {
                at = self.value(at, byte, levels, |_| context + 1)?;
                (at, byte) = self.expect(at)?;
                match byte {
                    b',' => (at, byte) = self.expect(at + 1)?,
                    b']' => break,
                    _ => return self.fail(at, Syntax::ArrayEnd),
                }
            }
            self.builder.push_array(from);
        }
        Ok(at + 1)
    }

    #[inline(never)]
    fn object(&mut self, at: usize, levels: usize, context: usize) -> Result<usize> {
        let Some(levels) = levels.checked_sub(1) else { return self.too_deep(at) };
        let (mut at, mut byte) = self.expect(at + 1)?;
        if byte == b'}' {
            self.builder.push_empty(Tag::Object);
        } else {
            let from = self.builder.len();
            let mut shape = self.builder.shape(context);
            let mut escapes = false;
            loop {
                if byte != b'"' {
                    return self.fail(at, Syntax::Key);
                }
                at = match self.builder.push_expected(self.parser.text, at + 1, &mut shape) {
                    Some(end) => end + 1,
                    None => {
                        match self.builder.push_text(self.parser.text, at + 1, self.parser.string_limit) {
                            Some(end) => end + 1,
                            None => {
                                escapes = true;
                                self.text_with_escapes(at + 1)?
                            }
                        }
                    }
                };
                if !self.is_next(at, b":") {
                    (at, byte) = self.expect(at)?;
                    if byte != b':' {
                        return self.fail(at, Syntax::Colon);
                    }
                }
                (at, byte) = self.expect(at + 1)?;
                at = self.value(at, byte, levels, |tree| tree.builder.context())?;
                if self.is_next(at, b",\"") {
                    at += 1;
                    byte = b'"';
                    continue;
                }
                (at, byte) = self.expect(at)?;
                match byte {
                    b',' => (at, byte) = self.expect(at + 1)?,
                    b'}' => break,
                    _ => return self.fail(at, Syntax::ObjectEnd),
                }
            }
            self.builder.push_object(from, context, shape, escapes);
        }
        Ok(at + 1)
    }
}
