//! Duplicate keys of an object (RFC 8259, section 4).

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::parser::Parser;
use super::skip::Observer;
use super::string::Text;
use crate::codec::{Codec, Duplicates};
use crate::error::{Error, Result, Syntax};

/// Observer that collects the keys of each open object.
struct Keys<'de, 'c> {
    text: &'de str,
    codec: &'c Codec,
    /// Keys and their offsets, per open object.
    open: Vec<HashMap<Cow<'de, str>, usize>>,
    /// Offsets of keys that a later key replaces.
    superseded: Vec<usize>,
    reject: bool,
}

impl<'de> Keys<'de, '_> {
    fn resolve(&self, start: usize, end: usize) -> Result<Cow<'de, str>> {
        let mut parser = Parser::new(&self.text[..end], self.codec);
        parser.at = start + 1;
        Ok(match parser.string()? {
            Text::Borrowed(key) => Cow::Borrowed(key),
            Text::Unescaped(key) => Cow::Owned(key.to_owned()),
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
            Entry::Occupied(_) if self.reject => return Err(Error::syntax(Syntax::Duplicate, start)),
            Entry::Occupied(mut entry) => self.superseded.push(entry.insert(start)),
        }
        Ok(())
    }

    fn close(&mut self) {
        self.open.pop();
    }
}

/// Walks the value at the start of `text` and returns the offsets of the keys that a later key replaces.
fn walk(text: &str, codec: &Codec, reject: bool) -> Result<Vec<usize>> {
    let mut keys = Keys { text, codec, open: Vec::new(), superseded: Vec::new(), reject };
    let mut parser = Parser::new(text, codec);
    parser.at = codec.extensions.start(text);
    parser.skip_value(&mut keys)?;
    keys.superseded.sort_unstable();
    Ok(keys.superseded)
}

/// Returns the offsets of the keys of the value at the start of `text` to skip, in ascending order, as the codec requires.
///
/// With [`Duplicates::Error`], a malformed value or a duplicate key is an error. With [`Duplicates::Last`], the result
/// for a malformed value is empty: decoding reports the error.
#[inline]
pub(super) fn superseded(text: &str, codec: &Codec) -> Result<Vec<usize>> {
    match codec.duplicates {
        Duplicates::ByType => Ok(Vec::new()),
        Duplicates::Last => Ok(walk(text, codec, false).unwrap_or_default()),
        Duplicates::Error => walk(text, codec, true).map(|_| Vec::new()),
    }
}
