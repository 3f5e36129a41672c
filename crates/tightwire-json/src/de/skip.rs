//! Validation of values without building them.

use super::number::short_integer;
use super::parser::Parser;
use crate::error::{Result, Syntax};
use crate::scan;

/// Callbacks for the objects of a skipped value.
pub(super) trait Observer {
    /// Called at the start of an object.
    fn open(&mut self) {}
    /// Called for each key of the innermost object. `start..end` includes the quotes.
    fn key(&mut self, _start: usize, _end: usize) -> Result<()> {
        Ok(())
    }
    /// Called at the end of the innermost object.
    fn close(&mut self) {}
}

impl Observer for () {}

/// Stack with one bit per open array or object. The first 64 levels need no allocation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Levels {
    bits: u64,
    len: usize,
    full: Vec<u64>,
}

impl Levels {
    #[inline(always)]
    pub(crate) fn push(&mut self, object: bool) {
        if self.len == 64 {
            self.full.push(self.bits);
            self.len = 0;
        }
        self.bits = self.bits << 1 | u64::from(object);
        self.len += 1;
    }

    /// Returns whether the innermost level is an object, `None` if the stack is empty.
    #[inline(always)]
    pub(crate) fn top(&self) -> Option<bool> {
        (self.len > 0).then_some(self.bits & 1 == 1)
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        self.bits >>= 1;
        self.len -= 1;
        if self.len == 0
            && let Some(bits) = self.full.pop()
        {
            self.bits = bits;
            self.len = 64;
        }
    }
}

impl<M> Parser<'_, '_, M> {
    /// Validates and consumes the next value, without recursion.
    pub(super) fn skip_value(&mut self, observer: &mut impl Observer) -> Result<()> {
        self.without_recursion(|parser| parser.skip(observer))
    }

    fn skip(&mut self, observer: &mut impl Observer) -> Result<()> {
        let mut levels = Levels::default();
        // In a variable, so that it stays in a register.
        let mut at = self.at;
        let mut byte;
        let mut is_key = false;
        loop {
            if is_key {
                at = self.skip_key(at, observer)?;
            }
            (at, byte) = self.expect_at(at)?;
            // Most values are strings and numbers. Comparisons are predicted better than a jump table.
            if byte == b'"' {
                at = self.string_end(at + 1)?;
            } else if byte.is_ascii_digit() || byte == b'-' {
                at = self.number_end(at)?;
            } else {
                self.at = at;
                match byte {
                    b'{' | b'[' => {
                        is_key = byte == b'{';
                        self.enter()?;
                        if is_key {
                            observer.open();
                        }
                        if self.peek() != Some(if is_key { b'}' } else { b']' }) {
                            levels.push(is_key);
                            at = self.at;
                            continue;
                        }
                        self.leave();
                        if is_key {
                            observer.close();
                        }
                    }
                    b't' => self.literal(b"true")?,
                    b'f' => self.literal(b"false")?,
                    b'n' => self.literal(b"null")?,
                    _ => return Err(self.syntax(Syntax::Value)),
                }
                at = self.at;
            }
            loop {
                let Some(is_object) = levels.top() else {
                    self.at = at;
                    return Ok(());
                };
                (at, byte) = self.expect_at(at)?;
                if byte == b',' {
                    at += 1;
                    is_key = is_object;
                    break;
                }
                self.at = at;
                match (byte, is_object) {
                    (b'}', true) => observer.close(),
                    (b']', false) => {}
                    (_, true) => return Err(self.syntax(Syntax::ObjectEnd)),
                    (_, false) => return Err(self.syntax(Syntax::ArrayEnd)),
                }
                self.leave();
                levels.pop();
                at = self.at;
            }
        }
    }

    /// Validates the next key, and returns the position after its colon.
    #[inline(always)]
    fn skip_key(&mut self, at: usize, observer: &mut impl Observer) -> Result<usize> {
        let mut start = at;
        if self.bytes.get(at) != Some(&b'"') {
            self.at = at;
            start = self.key_start()?;
        }
        let end = self.string_end(start + 1)?;
        observer.key(start, end)?;
        if self.bytes.get(end) == Some(&b':') {
            return Ok(end + 1);
        }
        self.at = end;
        self.colon()?;
        Ok(self.at)
    }

    /// Skips white space, and returns the position of the next byte and the byte.
    #[inline(always)]
    fn expect_at(&mut self, at: usize) -> Result<(usize, u8)> {
        match self.bytes.get(at) {
            Some(&byte) if byte > b' ' => Ok((at, byte)),
            _ => {
                self.at = at;
                let byte = self.expect()?;
                Ok((self.at, byte))
            }
        }
    }

    /// Validates the number at `at`, and returns the position after it.
    #[inline(always)]
    fn number_end(&mut self, at: usize) -> Result<usize> {
        if let Some((_, len)) = scan::chunk(self.bytes, at).and_then(short_integer) {
            return Ok(at + len);
        }
        self.at = at;
        self.skip_number()?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{from_str, is_valid};

    #[test]
    fn numbers_and_strings_of_every_length_are_skipped_as_they_are_decoded() {
        for len in 1..=40 {
            for prefix in ["", "-", "0", "-0"] {
                for suffix in ["", ".5", ".", "e3", "E", "x", " 1", ",1 ", "\"", "]"] {
                    let number = format!("[{prefix}{}{suffix}]", &"1234567890".repeat(4)[..len]);
                    for text in [number.clone(), format!("{number}{:20}", "")] {
                        assert_eq!(is_valid(text.as_bytes()), from_str::<Vec<f64>>(&text).is_ok(), "{text}");
                    }
                }
            }
            for suffix in ["", "\\n", "\\u00e9x", "\\x", "\\ud800", "\t", "\\\"é", "\"x"] {
                let string = format!("[\"{}{suffix}\"]", "x".repeat(len));
                for text in [string.clone(), format!("{string}{:20}", "")] {
                    assert_eq!(is_valid(text.as_bytes()), from_str::<Vec<String>>(&text).is_ok(), "{text}");
                }
            }
        }
    }

    #[test]
    fn levels_beyond_64_are_restored_in_order() {
        let mut levels = Levels::default();
        let object = |level: usize| level % 3 == 1 || level % 7 == 2;
        for level in 0..300 {
            levels.push(object(level));
        }
        for level in (0..300).rev() {
            assert_eq!(levels.top(), Some(object(level)));
            levels.pop();
        }
        assert_eq!(levels.top(), None);
    }
}
