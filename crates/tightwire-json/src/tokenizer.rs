//! Tokens of a document (RFC 8259) that arrives in chunks of any size, in constant memory except for one bit per open array
//! or object.
//!
//! The [`Sink`] of a tokenizer gets the tokens: a tree that grows ([`partial`](crate::partial)), or the boundaries of values
//! that are decoded afterwards (`stream`).

use std::ops::Range;

use crate::codec::{Codec, Limits};
use crate::de::{self, Levels};
use crate::error::{Error, Kind, Limit, Result, Syntax};
use crate::grammar::{NumberState, NumberStep, is_space};
use crate::scan;

/// Context of the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Value,
    /// After `[`: a value or `]`.
    FirstValue,
    Key,
    /// After `{`: a key or `}`.
    FirstKey,
    Colon,
    /// After a value.
    After,
    String,
    /// After a backslash.
    Escape,
    /// After `\u` and this number of digits.
    Hex(u8),
    Number(NumberState),
    /// In or after a literal name, of which `len` bytes were read.
    Literal {
        name: &'static str,
        len: usize,
    },
    /// In the line of a code fence before the document.
    OpeningFence,
    /// In or after a code fence after the document.
    ClosingFence,
}

/// Part of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Token<'c> {
    /// Start of an array, or of an object if `true`.
    Open(bool),
    /// End of the innermost array or object.
    Close,
    /// Next part of a key.
    Key(&'c str),
    /// Whole string value.
    String(&'c str),
    /// Start of a string value, whose text follows in parts.
    StringStart,
    Text(&'c str),
    StringEnd,
    /// Whole number.
    Number(de::Number),
    /// Digits of a number that may continue in the next chunk.
    NumberPart(&'c str),
    /// Last digits of a number, and the offset of its end.
    NumberEnd(&'c str, u64),
    /// `true`, `false` or `null`.
    Literal(&'static str),
}

/// Receiver of tokens. `depth` is the number of open arrays and objects around a key or value.
pub(crate) trait Sink {
    /// Called before the opening quote of a key. If the tokenizer stops there, it calls the method again.
    fn key(&mut self, depth: usize);

    /// Same as [`key`](Self::key), before the first byte of a value.
    #[inline(always)]
    fn value(&mut self, _first: u8, _depth: usize) {}

    /// Called at the end of a key or value. The end of a number or literal name is known at the next byte.
    #[inline(always)]
    fn end(&mut self, _depth: usize, _is_container: bool) {}

    /// Returns whether the tokenizer stops at the position of the last call.
    #[inline(always)]
    fn is_stopped(&self) -> bool {
        false
    }

    /// Returns whether the sink processes tokens. Otherwise their texts may be empty.
    #[inline(always)]
    fn has_tokens(&self) -> bool {
        true
    }

    /// Processes a token, after [`key`](Self::key) or [`value`](Self::value) and before [`end`](Self::end).
    #[inline(always)]
    fn token(&mut self, _token: Token<'_>) -> Result<()> {
        Ok(())
    }
}

/// Bytes of a document.
#[derive(Clone, Copy)]
struct Chunk<'c> {
    bytes: &'c [u8],
    /// Text that begins with the bytes, if they are known to be UTF-8.
    text: Option<&'c str>,
}

impl<'c> Chunk<'c> {
    /// Returns a range as text for a sink, `None` if it is not UTF-8.
    #[inline(always)]
    fn text(self, range: Range<usize>, sink: &impl Sink) -> Option<&'c str> {
        match self.text {
            Some(text) => text.get(range),
            None if !sink.has_tokens() && self.bytes[range.clone()].is_ascii() => Some(""),
            None => simdutf8::basic::from_utf8(&self.bytes[range]).ok(),
        }
    }
}

/// Tokenizer of one document.
#[derive(Debug, Clone)]
pub(crate) struct Tokenizer {
    limits: Limits,
    replaces_surrogates: bool,
    is_lenient: bool,
    /// Offset of the next byte.
    pub(crate) offset: u64,
    state: State,
    levels: Levels,
    /// Number of open arrays and objects.
    pub(crate) depth: usize,
    string: StringState,
}

/// State inside a string.
#[derive(Debug, Clone, Default)]
struct StringState {
    is_key: bool,
    /// Offset of the opening quote.
    quote: u64,
    /// Offset of the last backslash.
    backslash: u64,
    /// Digits of a `\u` escape.
    digits: [u8; 4],
    /// High surrogate whose low surrogate must follow, and the offset of its escape.
    high: Option<(u32, u64)>,
    /// First bytes of a character that continues in the next chunk.
    partial: [u8; 4],
    partial_len: usize,
}

impl Tokenizer {
    /// Returns a tokenizer of a document that begins at this offset.
    pub(crate) fn new(codec: &Codec, offset: u64) -> Self {
        Self {
            limits: codec.limits,
            replaces_surrogates: codec.is_compat(),
            is_lenient: false,
            offset,
            state: State::Value,
            levels: Levels::default(),
            depth: 0,
            string: StringState::default(),
        }
    }

    /// Accepts invalid escapes, lone surrogates and control characters in strings, and code fences around the document.
    pub(crate) fn set_lenient(&mut self) {
        self.is_lenient = true;
        self.replaces_surrogates = true;
    }

    /// Returns the context of the next byte. It is after the value for a literal name of which all bytes were read.
    pub(crate) fn state(&self) -> State {
        match self.state {
            State::Literal { name, len } if len == name.len() => State::After,
            state => state,
        }
    }

    /// Returns whether the innermost open container is an object, `None` if there is none.
    pub(crate) fn is_in_object(&self) -> Option<bool> {
        self.levels.top()
    }

    /// Returns whether the last string is a key.
    pub(crate) fn is_key(&self) -> bool {
        self.string.is_key
    }

    /// Returns the offset of the opening quote of an incomplete string.
    pub(crate) fn open_quote(&self) -> Option<u64> {
        let is_open = matches!(self.state, State::String | State::Escape | State::Hex(_));
        is_open.then_some(self.string.quote)
    }

    /// Returns an error unless the document is complete. A number or literal name is not: the next byte may continue
    /// it.
    pub(crate) fn end(&self) -> Result<()> {
        match self.state {
            State::After | State::ClosingFence if self.depth == 0 => Ok(()),
            _ => Err(Error::new(Kind::Eof, Some(self.offset))),
        }
    }

    /// Skips the value that [`Sink::value`] stopped at. It has `len` bytes and is valid.
    pub(crate) fn skip_value(&mut self, len: usize) {
        self.state = State::After;
        self.offset += len as u64;
    }

    /// Consumes bytes until the sink stops, and returns their number. `text` is a text that begins with these bytes, if they
    /// are known to be UTF-8.
    pub(crate) fn advance(
        &mut self,
        bytes: &[u8],
        text: Option<&str>,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        let chunk = Chunk { bytes, text };
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let len = self.step(*byte, chunk, at, sink)?;
            at += len;
            self.offset += len as u64;
            if sink.is_stopped() {
                break;
            }
        }
        Ok(at)
    }

    /// Processes `byte`, which is at the position `at`, or the part of a string or number that begins there. Returns the
    /// number of consumed bytes, like the methods below.
    #[inline]
    fn step(&mut self, byte: u8, chunk: Chunk<'_>, at: usize, sink: &mut impl Sink) -> Result<usize> {
        match self.state {
            State::String | State::Escape | State::Hex(_) => return self.string(byte, chunk, at, sink),
            State::Number(number) => return self.number(number, chunk, at, sink),
            State::ClosingFence => return Ok(chunk.bytes.len() - at),
            State::OpeningFence if matches!(byte, b'\n' | b'{' | b'[' | b'"') => {
                self.state = State::Value;
                return Ok(0);
            }
            State::OpeningFence => {}
            State::Literal { name, len } => match name.as_bytes().get(len) {
                None => {
                    self.state = State::After;
                    sink.end(self.depth, false);
                    return Ok(0);
                }
                Some(expected) if *expected == byte => {
                    self.state = State::Literal { name, len: len + 1 };
                    if len + 1 == name.len() {
                        sink.token(Token::Literal(name))?;
                    }
                }
                Some(_) => return Err(self.syntax(Syntax::Value)),
            },
            _ if is_space(byte) => {
                let spaces = chunk.bytes[at..].iter().take_while(|byte| is_space(**byte));
                return Ok(spaces.count());
            }
            State::FirstValue if byte == b']' => return self.close(sink),
            State::FirstKey if byte == b'}' => return self.close(sink),
            State::Value | State::FirstValue => return self.value(byte, chunk, at, sink),
            State::Key | State::FirstKey if byte == b'"' => {
                sink.key(self.depth);
                if sink.is_stopped() {
                    return Ok(0);
                }
                return self.open_string(true, chunk, at, sink);
            }
            State::Key | State::FirstKey => return Err(self.syntax(Syntax::Key)),
            State::Colon if byte == b':' => self.state = State::Value,
            State::Colon => return Err(self.syntax(Syntax::Colon)),
            State::After => match (self.levels.top(), byte) {
                (Some(true), b',') => self.state = State::Key,
                (Some(false), b',') => self.state = State::Value,
                (Some(true), b'}') | (Some(false), b']') => return self.close(sink),
                (Some(true), _) => return Err(self.syntax(Syntax::ObjectEnd)),
                (Some(false), _) => return Err(self.syntax(Syntax::ArrayEnd)),
                (None, b'`') if self.is_lenient => self.state = State::ClosingFence,
                (None, _) => return Err(self.syntax(Syntax::Trailing)),
            },
        }
        Ok(1)
    }

    /// Processes the first byte of a value, or the whole string that it begins.
    fn value(&mut self, byte: u8, chunk: Chunk<'_>, at: usize, sink: &mut impl Sink) -> Result<usize> {
        let literal = |name| State::Literal { name, len: 1 };
        let state = match byte {
            b'"' => State::String,
            b'{' => State::FirstKey,
            b'[' => State::FirstValue,
            b'-' | b'0'..=b'9' => State::Number(NumberState::Start),
            b't' => literal("true"),
            b'f' => literal("false"),
            b'n' => literal("null"),
            b'`' if self.is_lenient && self.levels.top().is_none() => {
                self.state = State::OpeningFence;
                return Ok(1);
            }
            _ => return Err(self.syntax(Syntax::Value)),
        };
        sink.value(byte, self.depth);
        if sink.is_stopped() {
            return Ok(0);
        }
        match state {
            State::String => return self.open_string(false, chunk, at, sink),
            State::Number(number) => return self.number(number, chunk, at, sink),
            State::FirstKey | State::FirstValue => {
                if self.depth == self.limits.depth {
                    return Err(Error::over_limit(Limit::Depth, self.limits.depth, self.offset));
                }
                self.levels.push(byte == b'{');
                self.depth += 1;
                sink.token(Token::Open(byte == b'{'))?;
            }
            _ => {}
        }
        self.state = state;
        Ok(1)
    }

    /// Ends the innermost container.
    fn close(&mut self, sink: &mut impl Sink) -> Result<usize> {
        self.levels.pop();
        self.depth -= 1;
        self.state = State::After;
        sink.token(Token::Close)?;
        sink.end(self.depth, true);
        Ok(1)
    }

    /// Processes a number up to its end or the end of the chunk.
    fn number(
        &mut self,
        mut number: NumberState,
        chunk: Chunk<'_>,
        at: usize,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        let rest = &chunk.bytes[at..];
        // Most numbers are short and end in the chunk.
        if number == NumberState::Start
            && let Some((number, len)) = de::leading_number(rest)
            && len < rest.len()
        {
            self.end_number(Token::Number(number), sink)?;
            return Ok(len);
        }
        for (len, byte) in rest.iter().enumerate() {
            let end = self.offset + len as u64;
            match number.step(*byte) {
                NumberStep::Next(next) => number = next,
                NumberStep::End => {
                    let text = chunk.text(at..at + len, sink).unwrap_or_default();
                    self.end_number(Token::NumberEnd(text, end), sink)?;
                    return Ok(len);
                }
                NumberStep::Malformed => return Err(Error::new(Kind::Syntax(Syntax::Number), Some(end))),
            }
        }
        self.state = State::Number(number);
        sink.token(Token::NumberPart(chunk.text(at..chunk.bytes.len(), sink).unwrap_or_default()))?;
        Ok(rest.len())
    }

    fn end_number(&mut self, token: Token<'_>, sink: &mut impl Sink) -> Result<()> {
        self.state = State::After;
        sink.token(token)?;
        sink.end(self.depth, false);
        Ok(())
    }

    /// Processes the opening quote and the text after it, or the whole string if it is in the chunk and has no escapes.
    fn open_string(
        &mut self,
        is_key: bool,
        chunk: Chunk<'_>,
        at: usize,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        let start = at + 1;
        let end = scan::find(chunk.bytes, start);
        if chunk.bytes.get(end) == Some(&b'"')
            && end - start <= self.limits.string
            && let Some(text) = chunk.text(start..end, sink)
        {
            sink.token(if is_key { Token::Key(text) } else { Token::String(text) })?;
            self.end_string(is_key, sink);
            return Ok(end + 1 - at);
        }
        self.string = StringState { is_key, quote: self.offset, ..StringState::default() };
        self.state = State::String;
        if !is_key {
            sink.token(Token::StringStart)?;
        }
        // The text up to `end` was searched already.
        let len = (end - start).min(self.limits.string);
        if len > 0 {
            self.offset += 1;
            let result = self.text(chunk, start..start + len, sink);
            self.offset -= 1;
            result?;
        }
        Ok(1 + len)
    }

    /// Ends a string after its closing quote.
    #[inline(always)]
    fn end_string(&mut self, is_key: bool, sink: &mut impl Sink) {
        self.state = if is_key { State::Colon } else { State::After };
        sink.end(self.depth, false);
    }

    /// Processes `byte`, or all bytes from `at` on without a special meaning.
    fn string(&mut self, byte: u8, chunk: Chunk<'_>, at: usize, sink: &mut impl Sink) -> Result<usize> {
        let len = if self.state == State::String { scan::find(chunk.bytes, at) - at } else { 0 };
        if (self.state, len, byte) == (State::String, 0, b'"') {
            self.end_surrogate(sink)?;
            self.check_utf8()?;
            if !self.string.is_key {
                sink.token(Token::StringEnd)?;
            }
            self.end_string(self.string.is_key, sink);
            return Ok(1);
        }
        let before = self.offset - self.string.quote - 1;
        let remaining = (self.limits.string as u64).saturating_sub(before);
        if remaining == 0 {
            return Err(Error::over_limit(Limit::String, self.limits.string, self.string.quote));
        }
        if len > 0 {
            let len = len.min(usize::try_from(remaining).unwrap_or(usize::MAX));
            self.end_surrogate(sink)?;
            self.text(chunk, at..at + len, sink)?;
            return Ok(len);
        }
        match (self.state, byte) {
            (State::Hex(count), _) if byte.is_ascii_hexdigit() => self.hex(count, byte, sink)?,
            (State::Hex(count), _) => return self.invalid_escape(2 + usize::from(count), sink),
            (State::Escape, b'u') => self.state = State::Hex(0),
            (State::Escape, _) => {
                self.end_surrogate(sink)?;
                let char = scan::SHORT_ESCAPES[usize::from(byte)];
                if char == 0 {
                    // Other languages escape the apostrophe.
                    return self.invalid_escape(usize::from(byte != b'\''), sink);
                }
                self.push_char(char.into(), sink)?;
                self.state = State::String;
            }
            (_, b'\\') => {
                self.check_utf8()?;
                self.string.backslash = self.offset;
                self.state = State::Escape;
            }
            _ => {
                self.end_surrogate(sink)?;
                self.check_utf8()?;
                if !self.is_lenient {
                    return Err(self.syntax(Syntax::Control));
                }
                self.push_char(byte.into(), sink)?;
            }
        }
        Ok(1)
    }

    /// Processes the byte after `len` bytes of an escape, which it makes invalid. A lenient tokenizer keeps them as text.
    #[cold]
    fn invalid_escape(&mut self, len: usize, sink: &mut impl Sink) -> Result<usize> {
        if !self.is_lenient {
            return Err(self.syntax(Syntax::Escape));
        }
        self.end_surrogate(sink)?;
        self.state = State::String;
        let [a, b, c, _] = self.string.digits;
        let escape = [b'\\', b'u', a, b, c];
        self.push(str::from_utf8(&escape[..len]).unwrap_or_default(), sink)?;
        Ok(0)
    }

    /// Processes a digit of a `\u` escape.
    fn hex(&mut self, count: u8, byte: u8, sink: &mut impl Sink) -> Result<()> {
        self.string.digits[usize::from(count)] = byte;
        if count < 3 {
            self.state = State::Hex(count + 1);
            return Ok(());
        }
        self.state = State::String;
        let digits = self.string.digits.iter().filter_map(|digit| char::from(*digit).to_digit(16));
        let unit = digits.fold(0, |unit, digit| unit << 4 | digit);
        if let (Some((high, _)), 0xdc00..=0xdfff) = (self.string.high, unit) {
            self.string.high = None;
            let code = 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
            return self.push_char(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), sink);
        }
        self.end_surrogate(sink)?;
        match (unit, char::from_u32(unit)) {
            (_, Some(char)) => self.push_char(char, sink),
            (0xdc00.., None) => self.lone_surrogate(self.string.backslash, sink),
            (_, None) => {
                self.string.high = Some((unit, self.string.backslash));
                Ok(())
            }
        }
    }

    /// Ends a high surrogate that no low surrogate follows.
    fn end_surrogate(&mut self, sink: &mut impl Sink) -> Result<()> {
        match self.string.high.take() {
            Some((_, escape)) => self.lone_surrogate(escape, sink),
            None => Ok(()),
        }
    }

    fn lone_surrogate(&self, escape: u64, sink: &mut impl Sink) -> Result<()> {
        match self.replaces_surrogates {
            true => self.push_char(char::REPLACEMENT_CHARACTER, sink),
            false => Err(Error::new(Kind::Syntax(Syntax::Surrogate), Some(escape))),
        }
    }

    /// Returns an error if an incomplete character precedes.
    fn check_utf8(&self) -> Result<()> {
        match self.string.partial_len {
            0 => Ok(()),
            len => Err(Error::new(Kind::Syntax(Syntax::Utf8), Some(self.offset - len as u64))),
        }
    }

    /// Processes text of a string. A character at the end may be incomplete.
    fn text(&mut self, chunk: Chunk<'_>, range: Range<usize>, sink: &mut impl Sink) -> Result<()> {
        let error = |offset| Err(Error::new(Kind::Syntax(Syntax::Utf8), Some(offset)));
        let Range { start, end } = range;
        let partial_start = self.offset - self.string.partial_len as u64;
        let mut at = start;
        while self.string.partial_len > 0 {
            if at == end {
                return Ok(());
            }
            let len = self.string.partial_len + 1;
            self.string.partial[len - 1] = chunk.bytes[at];
            at += 1;
            let char = self.string.partial;
            match str::from_utf8(&char[..len]) {
                Ok(char) => {
                    self.string.partial_len = 0;
                    self.push(char, sink)?;
                }
                Err(utf8) if utf8.error_len().is_none() => self.string.partial_len = len,
                Err(_) => return error(partial_start),
            }
        }
        if let Some(text) = chunk.text(at..end, sink) {
            return self.push(text, sink);
        }
        let bytes = &chunk.bytes[at..end];
        let Err(utf8) = str::from_utf8(bytes) else { return Ok(()) };
        let (valid, incomplete) = bytes.split_at(utf8.valid_up_to());
        if utf8.error_len().is_some() {
            return error(self.offset + (at - start + valid.len()) as u64);
        }
        self.string.partial[..incomplete.len()].copy_from_slice(incomplete);
        self.string.partial_len = incomplete.len();
        self.push(str::from_utf8(valid).unwrap_or_default(), sink)
    }

    fn push_char(&self, char: char, sink: &mut impl Sink) -> Result<()> {
        self.push(char.encode_utf8(&mut [0; 4]), sink)
    }

    /// Passes text of the open string to the sink.
    fn push(&self, text: &str, sink: &mut impl Sink) -> Result<()> {
        sink.token(if self.string.is_key { Token::Key(text) } else { Token::Text(text) })
    }

    fn syntax(&self, what: Syntax) -> Error {
        Error::new(Kind::Syntax(what), Some(self.offset))
    }
}
