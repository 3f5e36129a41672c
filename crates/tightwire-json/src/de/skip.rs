//! Validation of values without building them.

use super::parser::Parser;
use crate::error::{Result, Syntax};

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
#[derive(Debug, Default)]
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
        let mut levels = Levels::default();
        loop {
            match self.expect()? {
                b'"' => {
                    self.at += 1;
                    self.skip_string()?;
                }
                b'-' | b'0'..=b'9' => self.skip_number()?,
                b'{' => {
                    self.enter()?;
                    observer.open();
                    if self.peek() == Some(b'}') {
                        self.leave();
                        observer.close();
                    } else {
                        levels.push(true);
                        self.skip_key(observer)?;
                        continue;
                    }
                }
                b'[' => {
                    self.enter()?;
                    if self.peek() == Some(b']') {
                        self.leave();
                    } else {
                        levels.push(false);
                        continue;
                    }
                }
                b't' => self.literal(b"true")?,
                b'f' => self.literal(b"false")?,
                b'n' => self.literal(b"null")?,
                _ => return Err(self.syntax(Syntax::Value)),
            }
            loop {
                let Some(object) = levels.top() else { return Ok(()) };
                match (self.peek(), object) {
                    (Some(b','), true) => {
                        self.at += 1;
                        self.skip_key(observer)?;
                        break;
                    }
                    (Some(b','), false) => {
                        self.at += 1;
                        break;
                    }
                    (Some(b'}'), true) => {
                        self.leave();
                        levels.pop();
                        observer.close();
                    }
                    (Some(b']'), false) => {
                        self.leave();
                        levels.pop();
                    }
                    (_, true) => return Err(self.unexpected(Syntax::ObjectEnd)),
                    (_, false) => return Err(self.unexpected(Syntax::ArrayEnd)),
                }
            }
        }
    }

    fn skip_key(&mut self, observer: &mut impl Observer) -> Result<()> {
        let start = self.key_start()?;
        self.skip_string()?;
        observer.key(start, self.at)?;
        self.colon()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
