//! Keys that an object has more than once (RFC 8259, section 4).

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Rules;
use super::in_place::Rewritten;
use super::parser::Parser;
use super::skip::Observer;
use super::string::Text;
use crate::error::{Error, Result, Syntax};

/// What becomes of a key that its object has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Duplicates {
    /// The last value counts, for structs as well as for maps: the document means the same as without the entries
    /// that later ones replace. They must be JSON, but may be of any type.
    #[default]
    Last,
    /// The document is refused; the offset is that of the second key.
    Error,
}

/// Collects the keys of each open object.
struct Keys<'de, 'r> {
    text: &'de str,
    rules: &'r Rules,
    rewritten: &'r [Rewritten],
    open: Vec<HashMap<Cow<'de, str>, usize>>,
    superseded: Vec<usize>,
    refuse: bool,
}

impl<'de> Keys<'de, '_> {
    fn resolve(&self, start: usize, end: usize) -> Result<Cow<'de, str>> {
        let mut parser = Parser::new(&self.text[..end], &self.rules.limits, self.rules.lone);
        parser.rewritten = self.rewritten;
        parser.at = start + 1;
        Ok(match parser.string()? {
            Text::Borrowed(key) => Cow::Borrowed(key),
            Text::Scratch(key) => Cow::Owned(key.to_owned()),
        })
    }
}

impl Observer for Keys<'_, '_> {
    fn open(&mut self) {
        self.open.push(HashMap::new());
    }

    fn key(&mut self, start: usize, end: usize) -> Result<()> {
        let key = self.resolve(start, end)?;
        let Some(keys) = self.open.last_mut() else { return Ok(()) };
        match keys.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(start);
            }
            Entry::Occupied(_) if self.refuse => return Err(Error::syntax(Syntax::Duplicate, start)),
            Entry::Occupied(mut entry) => self.superseded.push(entry.insert(start)),
        }
        Ok(())
    }

    fn close(&mut self) {
        self.open.pop();
    }
}

fn walk(text: &str, rules: &Rules, rewritten: &[Rewritten], refuse: bool) -> Result<Vec<usize>> {
    let mut keys = Keys { text, rules, rewritten, open: Vec::new(), superseded: Vec::new(), refuse };
    let mut parser = Parser::new(text, &rules.limits, rules.lone);
    parser.rewritten = rewritten;
    parser.skip_value(&mut keys)?;
    parser.end()?;
    keys.superseded.sort_unstable();
    Ok(keys.superseded)
}

/// Refuses a document with a duplicate key.
pub(super) fn refuse(text: &str, rules: &Rules) -> Result<()> {
    walk(text, rules, &[], true).map(|_| ())
}

/// Where the keys begin that a later key of the same object replaces, in ascending order. Empty if the document is
/// malformed.
pub(super) fn superseded(text: &str, rules: &Rules, rewritten: &[Rewritten]) -> Vec<usize> {
    walk(text, rules, rewritten, false).unwrap_or_default()
}
