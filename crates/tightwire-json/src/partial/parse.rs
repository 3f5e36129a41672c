//! State machine over the bytes of a chunk.

use super::Parser;
use crate::error::{Error, Limit, Result, Syntax};
use crate::grammar::{NumberState, NumberStep, is_space};
use crate::value::growing;
use crate::{Array, Map, Value, scan};

/// Context of the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Value at the root, after a colon, or after a comma in an array.
    Value,
    /// First element of an array, or its end.
    FirstElement,
    /// Comma or end of an array.
    AfterElement,
    /// First key of an object, or its end.
    FirstKey,
    /// Key after a comma.
    Key,
    Colon,
    /// Comma or end of an object.
    AfterEntry,
    String(Open),
    Number(NumberState),
    /// One of the names of section 3, of which `len` bytes were read.
    Literal {
        name: &'static str,
        len: usize,
    },
    /// White space after the document.
    End,
}

/// Open string or key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) is_key: bool,
    /// Offset after the opening quote.
    start: usize,
    escape: Escape,
    /// Offset of the backslash of the current escape, of the first one in a surrogate pair.
    backslash: usize,
    /// High surrogate without its low one so far.
    high: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    /// After the backslash.
    Letter,
    /// After `\u` and some digits.
    Unicode {
        value: u32,
        digits: u8,
    },
}

impl Parser {
    /// Moves the open parts of the value onto the stack, so that each can be changed without a walk from the root.
    pub(super) fn open_stack(&mut self) {
        if self.positions.is_empty() {
            return;
        }
        let Some(mut value) = self.root.take() else { return };
        for position in &self.positions[1..] {
            let mut child = Value::Null;
            growing::swap(&mut value, *position, &mut child);
            self.stack.push(value);
            value = child;
        }
        self.stack.push(value);
    }

    /// Moves the open parts back into the value.
    pub(super) fn close_stack(&mut self) {
        let Some(mut value) = self.stack.pop() else { return };
        while let Some(mut parent) = self.stack.pop() {
            growing::swap(&mut parent, self.positions[self.stack.len() + 1], &mut value);
            value = parent;
        }
        self.root = Some(value);
    }

    /// Parses a chunk, up to the maximum size of the document.
    pub(super) fn parse(&mut self, text: &str) -> Result<()> {
        let limit = self.codec.limits().document;
        let rest = limit.saturating_sub(self.offset);
        if text.len() <= rest {
            return self.parse_allowed(text);
        }
        let end = (0..=rest).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        self.parse_allowed(&text[..end])?;
        Err(Error::over_limit(Limit::Document, limit, limit as u64))
    }

    fn parse_allowed(&mut self, text: &str) -> Result<()> {
        let mut at = 0;
        while let Some(byte) = text.as_bytes().get(at) {
            at = match self.state {
                State::String(open) => self.string(open, text, at)?,
                State::Number(number) => self.number(number, text, at)?,
                State::Literal { name, len } => self.literal(name, len, text, at)?,
                _ if is_space(*byte) => at + 1,
                state => self.token(state, *byte, text, at)?,
            };
        }
        self.offset += text.len();
        Ok(())
    }

    fn error(&self, what: Syntax, at: usize) -> Error {
        Error::syntax(what, self.offset + at)
    }

    /// Reads a byte between strings, numbers and literals, or the whole string that it starts. Like all methods for
    /// parts of a chunk, returns the index of the next byte.
    fn token(&mut self, state: State, byte: u8, text: &str, at: usize) -> Result<usize> {
        self.state = match (state, byte) {
            (State::FirstElement | State::AfterElement, b']')
            | (State::FirstKey | State::AfterEntry, b'}') => {
                self.close();
                return Ok(at + 1);
            }
            (State::Value | State::FirstElement, _) => return self.value_start(byte, text, at),
            (State::FirstKey | State::Key, b'"') => {
                self.key.clear();
                return self.string_start(true, text, at);
            }
            (State::AfterElement, b',') => State::Value,
            (State::AfterEntry, b',') => State::Key,
            (State::Colon, b':') => State::Value,
            (State::AfterElement, _) => return Err(self.error(Syntax::ArrayEnd, at)),
            (State::AfterEntry, _) => return Err(self.error(Syntax::ObjectEnd, at)),
            (State::FirstKey | State::Key, _) => return Err(self.error(Syntax::Key, at)),
            (State::Colon, _) => return Err(self.error(Syntax::Colon, at)),
            _ => return Err(self.error(Syntax::Trailing, at)),
        };
        Ok(at + 1)
    }

    fn value_start(&mut self, byte: u8, text: &str, at: usize) -> Result<usize> {
        let literal = |name| State::Literal { name, len: 0 };
        match byte {
            b'"' => return self.string_start(false, text, at),
            b'[' => return self.container_start(Value::Array(Array::new()), State::FirstElement, at),
            b'{' => return self.container_start(Value::Object(Map::new()), State::FirstKey, at),
            b'-' | b'0'..=b'9' => {
                self.number.clear();
                self.state = State::Number(NumberState::Start);
            }
            b't' => self.state = literal("true"),
            b'f' => self.state = literal("false"),
            b'n' => self.state = literal("null"),
            _ => return Err(self.error(Syntax::Value, at)),
        }
        Ok(at)
    }

    fn container_start(&mut self, container: Value, state: State, at: usize) -> Result<usize> {
        let limit = self.codec.limits().depth;
        if self.stack.len() >= limit {
            return Err(Error::over_limit(Limit::Depth, limit, (self.offset + at) as u64));
        }
        self.open(container);
        self.state = state;
        Ok(at + 1)
    }

    /// Adds an incomplete value to the innermost container.
    fn open(&mut self, value: Value) {
        let parent = self.stack.last_mut();
        self.positions.push(parent.map_or(0, |parent| growing::add(parent, &self.key, Value::Null)));
        self.stack.push(value);
    }

    /// Completes the innermost open value.
    fn close(&mut self) {
        let (Some(mut value), Some(position)) = (self.stack.pop(), self.positions.pop()) else { return };
        growing::complete(&mut value);
        match self.stack.last_mut() {
            Some(parent) => growing::swap(parent, position, &mut value),
            None => self.root = Some(value),
        }
        self.after_value();
    }

    /// Adds a complete value to the innermost container.
    fn place(&mut self, value: Value) {
        match self.stack.last_mut() {
            Some(parent) => drop(growing::add(parent, &self.key, value)),
            None => self.root = Some(value),
        }
        self.after_value();
    }

    fn after_value(&mut self) {
        self.state = match self.stack.last() {
            None => State::End,
            Some(Value::Array(_)) => State::AfterElement,
            Some(_) => State::AfterEntry,
        };
    }

    /// Reads a string without escapes that ends in this chunk. Any other one becomes the state.
    fn string_start(&mut self, is_key: bool, text: &str, at: usize) -> Result<usize> {
        let start = at + 1;
        let end = scan::find(text.as_bytes(), start);
        if text.as_bytes().get(end) == Some(&b'"') && end - start <= self.codec.limits().string {
            if is_key {
                self.key.push_str(&text[start..end]);
                self.state = State::Colon;
            } else {
                self.place(Value::from(&text[start..end]));
            }
            return Ok(end + 1);
        }
        if !is_key {
            self.open(Value::from(""));
        }
        let start = self.offset + start;
        self.state = State::String(Open { is_key, start, escape: Escape::None, backslash: 0, high: None });
        Ok(at + 1)
    }

    /// Reads a string up to its end or the end of the chunk.
    fn string(&mut self, mut open: Open, text: &str, mut at: usize) -> Result<usize> {
        while let Some(byte) = text.as_bytes().get(at) {
            match open.escape {
                Escape::None => {
                    if open.high.is_some() && *byte != b'\\' {
                        return Err(Error::syntax(Syntax::Surrogate, open.backslash));
                    }
                    let end = scan::find(text.as_bytes(), at);
                    self.check_string(open.start, end)?;
                    self.append(open, &text[at..end]);
                    at = end + 1;
                    match text.as_bytes().get(end) {
                        Some(b'"') => {
                            self.end_string(open);
                            return Ok(at);
                        }
                        Some(b'\\') => {
                            open.escape = Escape::Letter;
                            if open.high.is_none() {
                                open.backslash = self.offset + end;
                            }
                        }
                        Some(_) => return Err(self.error(Syntax::Control, end)),
                        None => at = end,
                    }
                }
                Escape::Letter => {
                    open = self.escape(open, *byte, at)?;
                    at += 1;
                }
                Escape::Unicode { value, digits } => {
                    let Some(digit) = char::from(*byte).to_digit(16) else {
                        return Err(self.error(Syntax::Escape, at));
                    };
                    let value = value << 4 | digit;
                    open.escape = Escape::Unicode { value, digits: digits + 1 };
                    if digits == 3 {
                        open.escape = Escape::None;
                        open = self.code_unit(open, value)?;
                    }
                    at += 1;
                }
            }
        }
        self.state = State::String(open);
        Ok(at)
    }

    /// Checks the length of a string that extends at least to `end` of the chunk.
    fn check_string(&self, start: usize, end: usize) -> Result<()> {
        let limit = self.codec.limits().string;
        if self.offset + end - start > limit {
            return Err(Error::over_limit(Limit::String, limit, start as u64 - 1));
        }
        Ok(())
    }

    fn append(&mut self, open: Open, text: &str) {
        if open.is_key {
            self.key.push_str(text);
        } else {
            growing::append(self.stack.last_mut(), text);
        }
    }

    fn end_string(&mut self, open: Open) {
        if open.is_key {
            self.state = State::Colon;
        } else {
            self.close();
        }
    }

    /// Reads the byte after a backslash.
    fn escape(&mut self, mut open: Open, byte: u8, at: usize) -> Result<Open> {
        if open.high.is_some() && byte != b'u' {
            return Err(Error::syntax(Syntax::Surrogate, open.backslash));
        }
        open.escape = Escape::None;
        let text = match byte {
            b'"' => "\"",
            b'\\' => "\\",
            b'/' => "/",
            b'b' => "\u{8}",
            b'f' => "\u{c}",
            b'n' => "\n",
            b'r' => "\r",
            b't' => "\t",
            b'u' => {
                open.escape = Escape::Unicode { value: 0, digits: 0 };
                return Ok(open);
            }
            _ => return Err(self.error(Syntax::Escape, at)),
        };
        self.append(open, text);
        Ok(open)
    }

    /// Adds the UTF-16 code unit of an escape.
    fn code_unit(&mut self, mut open: Open, unit: u32) -> Result<Open> {
        let code = match (open.high.take(), unit) {
            (None, 0xd800..=0xdbff) => {
                open.high = Some(unit);
                return Ok(open);
            }
            (Some(high), 0xdc00..=0xdfff) => 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00),
            (Some(_), _) => return Err(Error::syntax(Syntax::Surrogate, open.backslash)),
            (None, _) => unit,
        };
        let Some(char) = char::from_u32(code) else {
            return Err(Error::syntax(Syntax::Surrogate, open.backslash));
        };
        self.append(open, char.encode_utf8(&mut [0; 4]));
        Ok(open)
    }

    /// Reads a number up to its end or the end of the chunk.
    fn number(&mut self, mut number: NumberState, text: &str, start: usize) -> Result<usize> {
        for (at, byte) in text.bytes().enumerate().skip(start) {
            match number.step(byte) {
                NumberStep::Next(next) => number = next,
                NumberStep::End => {
                    self.end_number(&text[start..at], self.offset + at)?;
                    return Ok(at);
                }
                NumberStep::Malformed => return Err(self.error(Syntax::Number, at)),
            }
        }
        self.number.push_str(&text[start..]);
        self.state = State::Number(number);
        Ok(text.len())
    }

    /// Adds the number that ends with `rest` at the offset `end`.
    pub(super) fn end_number(&mut self, rest: &str, end: usize) -> Result<()> {
        let text = if self.number.is_empty() {
            rest
        } else {
            self.number.push_str(rest);
            &self.number
        };
        let value = self.codec.from_str(text).map_err(|error| error.moved_by((end - text.len()) as u64))?;
        self.place(value);
        Ok(())
    }

    /// Reads a literal up to its end or the end of the chunk.
    fn literal(&mut self, name: &'static str, mut len: usize, text: &str, start: usize) -> Result<usize> {
        for (at, byte) in text.bytes().enumerate().skip(start) {
            if name.as_bytes().get(len) != Some(&byte) {
                return Err(self.error(Syntax::Value, at));
            }
            len += 1;
            if len == name.len() {
                self.place(match name {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    _ => Value::Null,
                });
                return Ok(at + 1);
            }
        }
        self.state = State::Literal { name, len };
        Ok(text.len())
    }
}
