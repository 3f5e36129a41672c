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

/// How duplicate keys of an object are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Duplicates {
    /// The type decides, as with serde_json: a derived struct rejects a second field of the same name, maps and
    /// [`Value`](crate::Value) keep the last value.
    #[default]
    ByType,
    /// The last value counts, for structs as well as for maps, as in Go: entries that a later one replaces are
    /// skipped. They must be JSON, but may be of any type. Costs a pass over the document that finds the keys.
    Last,
    /// The document is rejected, at the offset of the second key. Costs a pass over the document.
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

/// Offsets of the keys that a later key of the same object replaces, in ascending order. Empty if the document is
/// malformed; decoding it reports how.
pub(super) fn superseded(text: &str, rules: &Rules, rewritten: &[Rewritten]) -> Vec<usize> {
    walk(text, rules, rewritten, false).unwrap_or_default()
}
