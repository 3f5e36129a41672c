//! Decoder of trees.
//!
//! The position is passed and returned, not stored, so that it stays in a register.

use super::number;
use super::parser::Parser;
use crate::error::{Result, Syntax};
use crate::value::memory::{Builder, Container};
use crate::value::{Array, JsonString, Map, Number, Value};

/// Decoder of one tree.
struct Tree<'a, 'de, 'p, M> {
    parser: &'a mut Parser<'de, 'p, M>,
    bytes: &'de [u8],
    builder: Builder,
}

/// Open array or object.
struct Level {
    container: Container,
    /// Closing bracket.
    closing: u8,
    /// Whether a key was written with escapes.
    escapes: bool,
}

/// Decodes the array or object at the current position. The rest of the document has less than 4 GiB.
pub(super) fn decode<M>(parser: &mut Parser<'_, '_, M>) -> Result<Value> {
    let bytes = parser.bytes;
    let mut tree = Tree { builder: Builder::new(bytes.len() - parser.at, parser.at == 0), parser, bytes };
    tree.run()?;
    Ok(tree.builder.finish())
}

/// Decodes the next value without the shared memory, and keeps the text of numbers.
pub(super) fn decode_with_written_numbers<M>(parser: &mut Parser<'_, '_, M>) -> Result<Value> {
    match parser.expect()? {
        b'{' => {
            parser.enter()?;
            let mut map = Map::new();
            let mut byte = parser.expect()?;
            while byte != b'}' {
                parser.key_start()?;
                let key = JsonString::from(parser.string()?.as_str());
                parser.colon()?;
                map.insert(key, decode_with_written_numbers(parser)?);
                byte = next(parser, b'}', Syntax::ObjectEnd)?;
            }
            parser.leave();
            Ok(Value::Object(map))
        }
        b'[' => {
            parser.enter()?;
            let mut array = Array::new();
            let mut byte = parser.expect()?;
            while byte != b']' {
                array.push(decode_with_written_numbers(parser)?);
                byte = next(parser, b']', Syntax::ArrayEnd)?;
            }
            parser.leave();
            Ok(Value::Array(array))
        }
        b'-' | b'0'..=b'9' => {
            let start = parser.at;
            parser.skip_number()?;
            Number::from_written(&parser.text[start..parser.at]).map(Value::Number)
        }
        b'"' => {
            parser.at += 1;
            Ok(Value::String(parser.string()?.as_str().into()))
        }
        b't' => parser.literal(b"true").map(|()| Value::Bool(true)),
        b'f' => parser.literal(b"false").map(|()| Value::Bool(false)),
        b'n' => parser.literal(b"null").map(|()| Value::Null),
        _ => Err(parser.syntax(Syntax::Value)),
    }
}

/// Consumes the comma after an element. Returns the closing bracket if it is next, and any other byte otherwise.
fn next<M>(parser: &mut Parser<'_, '_, M>, bracket: u8, end: Syntax) -> Result<u8> {
    match parser.expect()? {
        b',' => {
            parser.at += 1;
            match parser.expect()? {
                byte if byte == bracket => {
                    Err(parser.syntax(if bracket == b'}' { Syntax::Key } else { Syntax::Value }))
                }
                byte => Ok(byte),
            }
        }
        byte if byte == bracket => Ok(byte),
        _ => Err(parser.syntax(end)),
    }
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

    /// Decodes an array or object, and pushes it.
    fn run(&mut self) -> Result<()> {
        let max_levels = self.parser.levels;
        let mut open = Vec::new();
        let mut at = self.parser.at;
        let mut byte = self.bytes[at];
        let mut level = Level { container: self.builder.root(), closing: 0, escapes: false };
        loop {
            if level.closing == b'}' {
                (at, byte) = self.key(at, byte, &mut level)?;
            }
            // Most values are strings and numbers. Comparisons are predicted better than a jump table.
            if byte == b'"' {
                at = match self.builder.push_text(self.parser.text, at + 1, self.parser.string_limit) {
                    Some(end) => end + 1,
                    None => self.text_with_escapes(at + 1)?,
                };
            } else if byte.is_ascii_digit() || byte == b'-' {
                self.parser.at = at;
                match self.parser.number()? {
                    number::Number::Unsigned(value) => self.builder.push_unsigned(value),
                    number::Number::Signed(value) => self.builder.push_signed(value),
                    number::Number::Float(value) => self.builder.push_float(value),
                }
                at = self.parser.at;
            } else if byte == b'{' || byte == b'[' {
                if open.len() >= max_levels {
                    self.parser.at = at;
                    return Err(self.parser.too_deep());
                }
                // In ASCII, a closing bracket is two after its opening bracket.
                let closing = byte + 2;
                (at, byte) = self.expect(at + 1)?;
                if byte != closing {
                    let container = self.builder.open(&level.container, level.closing == b'}');
                    open.push(std::mem::replace(&mut level, Level { container, closing, escapes: false }));
                    continue;
                }
                self.builder.push_empty(closing == b'}');
                at += 1;
            } else if byte == b'n' && self.is_next(at, b"null") {
                self.builder.push_null();
                at += 4;
            } else if byte == b't' && self.is_next(at, b"true") {
                self.builder.push_bool(true);
                at += 4;
            } else if byte == b'f' && self.is_next(at, b"false") {
                self.builder.push_bool(false);
                at += 5;
            } else {
                return self.malformed(at);
            }
            loop {
                if open.is_empty() {
                    self.parser.at = at;
                    return Ok(());
                }
                (at, byte) = self.expect(at)?;
                if byte == b',' {
                    (at, byte) = self.expect(at + 1)?;
                    break;
                }
                match (byte == level.closing, level.closing) {
                    (true, b']') => self.builder.push_array(&level.container),
                    (true, _) => self.builder.push_object(&level.container, level.escapes),
                    (false, b']') => return self.fail(at, Syntax::ArrayEnd),
                    (false, _) => return self.fail(at, Syntax::ObjectEnd),
                }
                at += 1;
                if let Some(outer) = open.pop() {
                    level = outer;
                }
            }
        }
    }

    /// Decodes the key that starts at `at` with `byte`, and pushes it. Returns the position of its value, and the first
    /// byte of it.
    #[inline(always)]
    fn key(&mut self, at: usize, byte: u8, level: &mut Level) -> Result<(usize, u8)> {
        if byte != b'"' {
            return self.fail(at, Syntax::Key);
        }
        let (text, limit) = (self.parser.text, self.parser.string_limit);
        let end = match self.builder.push_expected(text, at + 1, &mut level.container) {
            Some(end) => Some(end),
            None => self.builder.push_text(text, at + 1, limit),
        };
        let at = match end {
            Some(end) => end + 1,
            None => {
                level.escapes = true;
                self.text_with_escapes(at + 1)?
            }
        };
        let (at, byte) = self.expect(at)?;
        if byte != b':' {
            return self.fail(at, Syntax::Colon);
        }
        self.expect(at + 1)
    }

    #[inline(always)]
    fn is_next<const N: usize>(&self, at: usize, bytes: &[u8; N]) -> bool {
        self.bytes.get(at..).and_then(<[u8]>::first_chunk::<N>) == Some(bytes)
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
        self.parser.at = start;
        self.builder.push_copy(self.parser.string()?.as_str());
        Ok(self.parser.at)
    }
}
