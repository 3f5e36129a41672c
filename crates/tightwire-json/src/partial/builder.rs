//! Tree that grows with the tokens of a document.

use crate::de;
use crate::error::Result;
use crate::tokenizer::{Sink, Token};
use crate::value::growing;
use crate::{Array, Map, Value};

/// Value so far.
#[derive(Clone, Default)]
pub(super) struct Builder {
    /// The value, `None` while its open parts are in `stack`.
    pub(super) root: Option<Value>,
    /// Open arrays, objects and string from the root on, from the first change of a push to its end.
    stack: Vec<Value>,
    /// Position of each open part in its parent. 0 for the root.
    pub(super) positions: Vec<usize>,
    /// Key of the current entry of the innermost object.
    pub(super) key: String,
    /// Text of an incomplete number.
    pub(super) number: String,
}

impl Builder {
    /// Moves the open parts of the value onto the stack, unless they are there, so that each can be changed without a walk
    /// from the root.
    #[inline(always)]
    fn open_stack(&mut self) {
        if self.root.is_some() && !self.positions.is_empty() {
            self.fill_stack();
        }
    }

    #[inline(never)]
    fn fill_stack(&mut self) {
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

    /// Appends to the open string.
    fn append(&mut self, text: &str) {
        // A walk from the root costs less than moving the open parts to the stack and back. It has at most as many steps as
        // the text has bytes, so that the work stays linear.
        if text.len() < self.positions.len() {
            self.open_stack();
        }
        let string = match &mut self.root {
            Some(root) => {
                let mut positions = self.positions.iter().skip(1);
                positions.try_fold(root, |value, position| growing::child_mut(value, *position))
            }
            None => self.stack.last_mut(),
        };
        growing::append(string, text);
    }

    /// Adds an incomplete value to the innermost container.
    fn open(&mut self, value: Value) {
        self.open_stack();
        let parent = self.stack.last_mut();
        self.positions.push(parent.map_or(0, |parent| growing::add(parent, &self.key, Value::Null)));
        self.stack.push(value);
    }

    /// Completes the innermost open value.
    fn close(&mut self) {
        self.open_stack();
        let (Some(mut value), Some(position)) = (self.stack.pop(), self.positions.pop()) else { return };
        growing::complete(&mut value);
        match self.stack.last_mut() {
            Some(parent) => growing::swap(parent, position, &mut value),
            None => self.root = Some(value),
        }
    }

    /// Adds a complete value to the innermost container.
    fn place(&mut self, value: Value) {
        self.open_stack();
        match self.stack.last_mut() {
            Some(parent) => drop(growing::add(parent, &self.key, value)),
            None => self.root = Some(value),
        }
    }

    /// Adds the number that ends with `rest` at the offset `end`.
    pub(super) fn end_number(&mut self, rest: &str, end: u64) -> Result<()> {
        let text = if self.number.is_empty() {
            rest
        } else {
            self.number.push_str(rest);
            &self.number
        };
        let number = de::number(text).map_err(|error| error.moved_by(end - text.len() as u64))?;
        self.number.clear();
        self.place(number.into());
        Ok(())
    }
}

impl Sink for Builder {
    #[inline(always)]
    fn key(&mut self, _depth: usize) {
        self.key.clear();
    }

    #[inline(always)]
    fn token(&mut self, token: Token<'_>) -> Result<()> {
        match token {
            Token::Open(true) => self.open(Value::Object(Map::new())),
            Token::Open(false) => self.open(Value::Array(Array::new())),
            Token::Close | Token::StringEnd => self.close(),
            Token::Key(text) => self.key.push_str(text),
            Token::String(text) => self.place(text.into()),
            Token::StringStart => self.open("".into()),
            Token::Text(text) => self.append(text),
            Token::Number(number) => self.place(number.into()),
            Token::NumberPart(part) => self.number.push_str(part),
            Token::NumberEnd(rest, end) => return self.end_number(rest, end),
            Token::Literal("true") => self.place(Value::Bool(true)),
            Token::Literal("false") => self.place(Value::Bool(false)),
            Token::Literal(_) => self.place(Value::Null),
        }
        Ok(())
    }
}
