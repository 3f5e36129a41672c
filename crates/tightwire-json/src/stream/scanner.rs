//! Incremental validation of a document (RFC 8259) in constant memory, except for one bit per open array or object.

use crate::codec::{Codec, Limits};
use crate::de::{Levels, LoneSurrogate};
use crate::error::{Error, Kind, Limit, Result, Syntax};
use crate::grammar::{NumberState, NumberStep, is_space};
use crate::scan;

/// Context of the next byte.
#[derive(Debug, Clone, Copy)]
enum State {
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
    /// Inside a literal name, with the expected rest.
    Literal(&'static [u8]),
}

/// Boundary of a key or value in the watched container. The end of a number or literal name is reported at the next
/// byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The next byte begins a key.
    Key,
    /// The next byte, which is this one, begins a value.
    Value(u8),
    /// The key or value ends before the next byte.
    End,
    /// The watched container ends before the next byte.
    Close,
}

/// Validates one document in chunks of any size, without recursion.
#[derive(Debug)]
pub(super) struct Scanner {
    limits: Limits,
    lone_surrogate: LoneSurrogate,
    /// Offset of the next byte in the stream.
    pub(super) offset: u64,
    state: State,
    levels: Levels,
    /// Number of open arrays and objects.
    pub(super) depth: usize,
    /// [`Event`]s are returned for keys and values inside this number of arrays and objects.
    pub(super) watched: usize,
    /// The event for the next byte was returned.
    announced: bool,
    string: StringState,
}

/// State inside a string.
#[derive(Debug, Default)]
struct StringState {
    is_key: bool,
    /// Offset of the opening quote.
    quote: u64,
    /// Offset of the last backslash.
    backslash: u64,
    /// Value of the digits of a `\u` escape.
    unit: u32,
    /// Offset of the escape of a high surrogate whose low surrogate must follow.
    high: Option<u64>,
    /// First bytes of a character that continues in the next chunk.
    partial: [u8; 4],
    partial_len: usize,
}

impl Scanner {
    /// Returns a scanner of a document that starts at this offset of the stream.
    pub(super) fn new(codec: &Codec, offset: u64) -> Self {
        let rules = codec.rules();
        Self {
            limits: rules.limits,
            lone_surrogate: rules.lone_surrogate,
            offset,
            state: State::Value,
            levels: Levels::default(),
            depth: 0,
            watched: 0,
            announced: false,
            string: StringState::default(),
        }
    }

    /// Returns whether the innermost open container is an object.
    pub(super) fn is_in_object(&self) -> bool {
        self.levels.top() == Some(true)
    }

    /// Returns an error unless the document is complete. A number or literal name is not: the next byte may continue
    /// it.
    pub(super) fn end(&self) -> Result<()> {
        match self.state {
            State::After if self.depth == 0 => Ok(()),
            _ => Err(Error::new(Kind::Eof, Some(self.offset))),
        }
    }

    /// Consumes bytes of `chunk` until the next event. Returns the event, or `None` if all of `chunk` is consumed, and
    /// the number of consumed bytes.
    pub(super) fn advance(&mut self, chunk: &[u8]) -> Result<(Option<Event>, usize)> {
        let mut rest = chunk;
        let event = loop {
            let Some(byte) = rest.first() else { break None };
            let (len, event) = self.step(*byte, rest)?;
            rest = &rest[len..];
            self.offset += len as u64;
            if event.is_some() {
                break event;
            }
        };
        Ok((event, chunk.len() - rest.len()))
    }

    /// Skips the value that the last event announced. It has `len` bytes and is valid.
    pub(super) fn skip_value(&mut self, len: usize) {
        self.announced = false;
        self.state = State::After;
        self.offset += len as u64;
    }

    /// Processes `byte`, the first byte of `rest`, or a part of a string. Returns the number of consumed bytes.
    #[inline]
    fn step(&mut self, byte: u8, rest: &[u8]) -> Result<(usize, Option<Event>)> {
        match self.state {
            State::String | State::Escape | State::Hex(_) => return self.string(byte, rest),
            State::Number(number) => return self.number(number, byte),
            State::Literal(name) => match name.split_first() {
                None => return Ok((0, self.value_end())),
                Some((expected, name)) if *expected == byte => self.state = State::Literal(name),
                Some(_) => return Err(self.syntax(Syntax::Value)),
            },
            _ if is_space(byte) => {}
            State::FirstValue if byte == b']' => return Ok((1, self.close())),
            State::FirstKey if byte == b'}' => return Ok((1, self.close())),
            State::Value | State::FirstValue => return self.value(byte),
            State::Key | State::FirstKey if byte == b'"' => {
                if self.announce() {
                    return Ok((0, Some(Event::Key)));
                }
                self.open_string(true);
            }
            State::Key | State::FirstKey => return Err(self.syntax(Syntax::Key)),
            State::Colon if byte == b':' => self.state = State::Value,
            State::Colon => return Err(self.syntax(Syntax::Colon)),
            State::After => match (self.levels.top(), byte) {
                (Some(true), b',') => self.state = State::Key,
                (Some(false), b',') => self.state = State::Value,
                (Some(true), b'}') | (Some(false), b']') => return Ok((1, self.close())),
                (Some(true), _) => return Err(self.syntax(Syntax::ObjectEnd)),
                (Some(false), _) => return Err(self.syntax(Syntax::ArrayEnd)),
                (None, _) => return Err(self.syntax(Syntax::Trailing)),
            },
        }
        Ok((1, None))
    }

    /// Processes the first byte of a value.
    fn value(&mut self, byte: u8) -> Result<(usize, Option<Event>)> {
        let state = match byte {
            b'"' => State::String,
            b'{' => State::FirstKey,
            b'[' => State::FirstValue,
            b'-' | b'0'..=b'9' => State::Number(NumberState::Start),
            b't' => State::Literal(b"rue"),
            b'f' => State::Literal(b"alse"),
            b'n' => State::Literal(b"ull"),
            _ => return Err(self.syntax(Syntax::Value)),
        };
        if self.announce() {
            return Ok((0, Some(Event::Value(byte))));
        }
        self.state = state;
        match byte {
            b'"' => self.open_string(false),
            b'-' | b'0'..=b'9' => return self.number(NumberState::Start, byte),
            b'{' | b'[' => {
                if self.depth == self.limits.depth {
                    return Err(Error::over_limit(Limit::Depth, self.limits.depth, self.offset));
                }
                self.levels.push(byte == b'{');
                self.depth += 1;
            }
            _ => {}
        }
        Ok((1, None))
    }

    /// Returns whether an event for the next byte is due.
    fn announce(&mut self) -> bool {
        self.announced = self.depth == self.watched && !self.announced;
        self.announced
    }

    /// Ends a value other than a key.
    fn value_end(&mut self) -> Option<Event> {
        self.state = State::After;
        (self.depth == self.watched).then_some(Event::End)
    }

    /// Ends the innermost container.
    fn close(&mut self) -> Option<Event> {
        self.levels.pop();
        self.depth -= 1;
        if self.depth + 1 == self.watched {
            self.state = State::After;
            Some(Event::Close)
        } else {
            self.value_end()
        }
    }

    fn number(&mut self, number: NumberState, byte: u8) -> Result<(usize, Option<Event>)> {
        match number.step(byte) {
            NumberStep::Next(next) => {
                self.state = State::Number(next);
                Ok((1, None))
            }
            NumberStep::End => Ok((0, self.value_end())),
            NumberStep::Malformed => Err(self.syntax(Syntax::Number)),
        }
    }

    fn open_string(&mut self, is_key: bool) {
        self.state = State::String;
        self.string = StringState { is_key, quote: self.offset, ..StringState::default() };
    }

    /// Processes `byte`, or all bytes of `rest` without a special meaning.
    fn string(&mut self, byte: u8, rest: &[u8]) -> Result<(usize, Option<Event>)> {
        let text = if matches!(self.state, State::String) { scan::find(rest, 0) } else { 0 };
        let len = self.offset - self.string.quote - 1;
        let remaining = (self.limits.string as u64).saturating_sub(len);
        if let (State::String, 0, b'"') = (self.state, text, byte) {
            self.check_complete()?;
            let event = if self.string.is_key {
                self.state = State::Colon;
                (self.depth == self.watched).then_some(Event::End)
            } else {
                self.value_end()
            };
            return Ok((1, event));
        }
        if remaining == 0 {
            return Err(Error::over_limit(Limit::String, self.limits.string, self.string.quote));
        }
        if text > 0 {
            let text = text.min(usize::try_from(remaining).unwrap_or(usize::MAX));
            self.check_surrogate()?;
            self.utf8(&rest[..text])?;
            return Ok((text, None));
        }
        match (self.state, byte) {
            (State::Hex(count), _) => self.hex(count, byte)?,
            (State::Escape, b'u') => {
                self.string.unit = 0;
                self.state = State::Hex(0);
            }
            (State::Escape, _) => {
                self.check_surrogate()?;
                if !matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') {
                    return Err(self.syntax(Syntax::Escape));
                }
                self.state = State::String;
            }
            (_, b'\\') => {
                self.check_utf8()?;
                self.string.backslash = self.offset;
                self.state = State::Escape;
            }
            _ => {
                self.check_complete()?;
                return Err(self.syntax(Syntax::Control));
            }
        }
        Ok((1, None))
    }

    /// Processes a digit of a `\u` escape.
    fn hex(&mut self, count: u8, byte: u8) -> Result<()> {
        let Some(digit) = char::from(byte).to_digit(16) else { return Err(self.syntax(Syntax::Escape)) };
        self.string.unit = self.string.unit << 4 | digit;
        if count < 3 {
            self.state = State::Hex(count + 1);
            return Ok(());
        }
        self.state = State::String;
        if self.lone_surrogate == LoneSurrogate::Replace {
            return Ok(());
        }
        match self.string.unit {
            0xdc00..=0xdfff if self.string.high.take().is_none() => {
                Err(Error::new(Kind::Syntax(Syntax::Surrogate), Some(self.string.backslash)))
            }
            0xdc00..=0xdfff => Ok(()),
            unit => {
                self.check_surrogate()?;
                self.string.high = (0xd800..0xdc00).contains(&unit).then_some(self.string.backslash);
                Ok(())
            }
        }
    }

    /// Returns an error if a high surrogate precedes.
    fn check_surrogate(&self) -> Result<()> {
        match self.string.high {
            Some(high) => Err(Error::new(Kind::Syntax(Syntax::Surrogate), Some(high))),
            None => Ok(()),
        }
    }

    /// Returns an error if an incomplete character precedes.
    fn check_utf8(&self) -> Result<()> {
        match self.string.partial_len {
            0 => Ok(()),
            len => Err(Error::new(Kind::Syntax(Syntax::Utf8), Some(self.offset - len as u64))),
        }
    }

    fn check_complete(&self) -> Result<()> {
        self.check_surrogate()?;
        self.check_utf8()
    }

    /// Validates text of a string. A character at the end may be incomplete.
    fn utf8(&mut self, text: &[u8]) -> Result<()> {
        let StringState { partial, partial_len, .. } = &mut self.string;
        let error = |offset| Err(Error::new(Kind::Syntax(Syntax::Utf8), Some(offset)));
        let partial_start = self.offset - *partial_len as u64;
        let mut at = 0;
        while *partial_len > 0 {
            let Some(byte) = text.get(at) else { return Ok(()) };
            at += 1;
            partial[*partial_len] = *byte;
            match std::str::from_utf8(&partial[..=*partial_len]) {
                Ok(_) => *partial_len = 0,
                Err(utf8) if utf8.error_len().is_none() => *partial_len += 1,
                Err(_) => return error(partial_start),
            }
        }
        let text = &text[at..];
        if text.is_ascii() || simdutf8::basic::from_utf8(text).is_ok() {
            return Ok(());
        }
        let Err(utf8) = std::str::from_utf8(text) else { return Ok(()) };
        let valid = utf8.valid_up_to();
        if utf8.error_len().is_some() {
            return error(self.offset + (at + valid) as u64);
        }
        let incomplete = &text[valid..];
        partial[..incomplete.len()].copy_from_slice(incomplete);
        *partial_len = incomplete.len();
        Ok(())
    }

    fn syntax(&self, what: Syntax) -> Error {
        Error::new(Kind::Syntax(what), Some(self.offset))
    }
}
