//! Decoder of trees: a recursive one, and [`decode_deep`] for any depth and for written numbers.
//!
//! [`Tree`] passes and returns the position instead of storing it, so that it stays in a register.

use super::number::{self, Block};
use super::parser::Parser;
use crate::error::{Result, Syntax};
use crate::scan;
use crate::value::memory::{self, Builder, Object, Stack};
use crate::value::{Number, Value};

/// Decoder of one tree.
struct Tree<'a, 'de, 'p, M> {
    parser: &'a mut Parser<'de, 'p, M>,
    bytes: &'p [u8],
    builder: Builder<'de>,
    /// Whether the last number was a float, as probably the next one.
    floats: bool,
}

/// Decodes the array or object at the current position, of at most [`MAX_DEPTH`](crate::Limits::MAX_DEPTH) levels. The rest
/// of the document has less than 4 GiB.
pub(super) fn decode<M>(parser: &mut Parser<'_, '_, M>) -> Result<Value> {
    let Parser { text, bytes, at, levels, nonrecursive_levels, string_limit, .. } = *parser;
    let mut tree =
        Tree { builder: Builder::new(text, bytes.len() - at, string_limit), parser, bytes, floats: false };
    // Documents that begin alike probably have the same keys.
    let start = scan::chunk(bytes, at).copied().unwrap_or_default();
    let context = memory::context(u64::from_le_bytes(start));
    tree.parser.at = tree.value(at, bytes[at], levels - nonrecursive_levels, |_| context)?;
    Ok(tree.builder.finish())
}

/// Open array or object of [`decode_deep`].
enum Open {
    /// Number of values on the stack before the array.
    Array(usize),
    Object(Object),
}

/// Decodes the array or object at the current position without recursion. Numbers keep their text if the codec requires it.
pub(super) fn decode_deep<M>(parser: &mut Parser<'_, '_, M>) -> Result<Value> {
    parser.without_recursion(|parser| {
        let mut stack = Stack::new("", parser.bytes.len() - parser.at, parser.string_limit);
        let mut open = Vec::new();
        loop {
            let byte = parser.expect()?;
            let is_object = byte == b'{';
            if is_object || byte == b'[' {
                parser.enter()?;
                // The closing bracket of each kind is the second next character.
                if parser.expect()? != byte + 2 {
                    open.push(match is_object {
                        true => Open::Object(stack.object(open.len())),
                        false => Open::Array(stack.len()),
                    });
                    next_key(parser, &mut stack, open.last_mut())?;
                    continue;
                }
                parser.leave();
                stack.push_empty(is_object);
            } else {
                scalar(parser, &mut stack, byte)?;
            }
            while let Some(innermost) = open.last_mut() {
                match (parser.expect()?, &*innermost) {
                    (b',', _) => {
                        parser.at += 1;
                        next_key(parser, &mut stack, Some(innermost))?;
                        break;
                    }
                    (b']', Open::Array(from)) => stack.push_array(*from),
                    (b'}', Open::Object(object)) => stack.push_object(object),
                    (_, Open::Array(_)) => return Err(parser.syntax(Syntax::ArrayEnd)),
                    (_, Open::Object(_)) => return Err(parser.syntax(Syntax::ObjectEnd)),
                }
                parser.leave();
                open.pop();
            }
            if open.is_empty() {
                return Ok(stack.finish());
            }
        }
    })
}

/// Decodes the next key if the innermost container is an object.
fn next_key<M>(
    parser: &mut Parser<'_, '_, M>,
    stack: &mut Stack,
    innermost: Option<&mut Open>,
) -> Result<()> {
    if let Some(Open::Object(object)) = innermost {
        parser.key_start()?;
        stack.push_copy(parser.string()?.as_str());
        stack.end_key(object);
        parser.colon()?;
    }
    Ok(())
}

/// Decodes a value other than an array or object.
fn scalar<M>(parser: &mut Parser<'_, '_, M>, stack: &mut Stack, byte: u8) -> Result<()> {
    let value = match byte {
        b'"' => {
            parser.at += 1;
            stack.push_copy(parser.string()?.as_str());
            return Ok(());
        }
        b'-' | b'0'..=b'9' => decode_number(parser)?,
        b't' => parser.literal(b"true").map(|()| Value::Bool(true))?,
        b'f' => parser.literal(b"false").map(|()| Value::Bool(false))?,
        b'n' => parser.literal(b"null").map(|()| Value::Null)?,
        _ => return Err(parser.syntax(Syntax::Value)),
    };
    stack.push_scalar(&value);
    Ok(())
}

/// Decodes a number, with its text if the codec requires it.
pub(super) fn decode_number<M>(parser: &mut Parser<'_, '_, M>) -> Result<Value> {
    if parser.codec.keeps_numbers {
        let start = parser.at;
        parser.skip_number()?;
        return Number::from_written(&parser.text[start..parser.at]).map(Value::Number);
    }
    parser.number().map(Value::from)
}

impl<M> Tree<'_, '_, '_, M> {
    /// Skips white space, and returns the next byte and its position.
    #[inline(always)]
    fn expect(&mut self, at: usize) -> Result<(usize, u8)> {
        match self.bytes.get(at) {
            Some(&byte) if byte > b' ' => Ok((at, byte)),
            _ => self.skip_space(at),
        }
    }

    /// Skips white space, usually a line break and the indentation, of which most are shorter than a block.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn skip_space(&mut self, mut at: usize) -> Result<(usize, u8)> {
        if let Some(block) = scan::chunk(self.bytes, at) {
            let count = (!scan::spaces32(block)).trailing_zeros() as usize;
            if let Some(&byte) = block.get(count) {
                return Ok((at + count, byte));
            }
            at += block.len();
        }
        self.parser.at = self.parser.after_space(at);
        match self.bytes.get(self.parser.at) {
            Some(&byte) => Ok((self.parser.at, byte)),
            None => Err(self.parser.eof()),
        }
    }

    #[cold]
    fn fail<T>(&mut self, at: usize, what: Syntax) -> Result<T> {
        self.parser.at = at;
        Err(self.parser.syntax(what))
    }

    /// Decodes the value that starts at `at` with `byte`, and pushes it. Returns the position after it.
    ///
    /// `levels` is the number of levels that may still be opened.
    // In a debug build, the frames of the recursion would be too large for the stack of a thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value(
        &mut self,
        at: usize,
        byte: u8,
        levels: usize,
        context: impl FnOnce(&Self) -> usize,
    ) -> Result<usize> {
        // Most values are strings and numbers. Comparisons are predicted better than a jump table.
        if byte == b'"' {
            return match self.builder.push_text(at + 1) {
                Some(end) => Ok(end + 1),
                None => self.text_with_escapes(at + 1),
            };
        }
        if byte.is_ascii_digit() || byte == b'-' {
            return self.number(at);
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
            self.builder.push_empty(false);
            return Ok(at + 1);
        }
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
        Ok(at + 1)
    }

    #[inline(never)]
    fn object(&mut self, at: usize, levels: usize, context: usize) -> Result<usize> {
        let Some(levels) = levels.checked_sub(1) else { return self.too_deep(at) };
        let (mut at, mut byte) = self.expect(at + 1)?;
        if byte == b'}' {
            self.builder.push_empty(true);
            return Ok(at + 1);
        }
        let mut object = self.builder.object(context);
        loop {
            if byte != b'"' {
                return self.fail(at, Syntax::Key);
            }
            at = match self.builder.push_expected(at + 1, &mut object) {
                Some(end) => end + 1,
                None => self.key(at + 1, &mut object)?,
            };
            match scan::chunk(self.bytes, at) {
                Some([b':', next, _]) if *next > b' ' => (at, byte) = (at + 1, *next),
                Some([b':', b' ', next]) if *next > b' ' => (at, byte) = (at + 2, *next),
                _ => (at, byte) = self.colon(at)?,
            }
            at = self.value(at, byte, levels, |tree| tree.builder.context(&object))?;
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
        self.builder.push_object(&object);
        Ok(at + 1)
    }

    /// Consumes a colon, and returns the next byte and its position.
    #[inline(never)]
    fn colon(&mut self, at: usize) -> Result<(usize, u8)> {
        let (at, byte) = self.expect(at)?;
        if byte != b':' {
            return self.fail(at, Syntax::Colon);
        }
        self.expect(at + 1)
    }

    /// Decodes a key that is not the expected one, after the opening quote.
    #[inline(never)]
    fn key(&mut self, start: usize, object: &mut Object) -> Result<usize> {
        let end = self.builder.push_text(start);
        let after = match end {
            Some(end) => end + 1,
            None => self.text_with_escapes(start)?,
        };
        self.builder.end_new_key(object, end.is_none());
        Ok(after)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn number(&mut self, at: usize) -> Result<usize> {
        // The last number probably was of the same kind.
        if self.floats {
            if let Some((value, len)) =
                scan::chunk(self.bytes, at).and_then(|block| Block::new(block).fraction())
            {
                self.builder.push_float(value);
                return Ok(at + len);
            }
        } else if let Some((number, len)) = scan::chunk(self.bytes, at).and_then(number::short_integer) {
            self.push_number(number);
            return Ok(at + len);
        }
        self.parser.at = at;
        let number = self.parser.decimal()?;
        self.floats = matches!(number, number::Number::Float(_));
        self.push_number(number);
        Ok(self.parser.at)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push_number(&mut self, number: number::Number) {
        match number {
            number::Number::Unsigned(value) => self.builder.push_unsigned(value),
            number::Number::Signed(value) => self.builder.push_signed(value),
            number::Number::Float(value) => self.builder.push_float(value),
        }
    }

    /// Returns the error for a malformed literal name or another byte.
    #[cold]
    fn malformed<T>(&mut self, at: usize) -> Result<T> {
        self.parser.at = at;
        self.parser.skip_value(&mut ())?;
        self.fail(at, Syntax::Value)
    }

    /// Decodes the string or key after the opening quote, of any length and with any escapes.
    #[inline(never)]
    fn text_with_escapes(&mut self, start: usize) -> Result<usize> {
        let end = self.parser.string_with_escapes(start)?;
        self.builder.push_copy(&self.parser.scratch);
        Ok(end)
    }

    #[inline(always)]
    fn is_next<const N: usize>(&self, at: usize, bytes: &[u8; N]) -> bool {
        scan::chunk(self.bytes, at) == Some(bytes)
    }
}
