//! Decrypting the strings of a whole value.

use std::collections::HashSet;

use super::Cipher;
use crate::error::Error;
use crate::value::{Base, Members, Object, SecureString, Value};

impl Value {
    /// Decrypts all secure strings in this value that are not decrypted yet.
    ///
    /// A message may arrive before the key does; its strings are decrypted later by this. Each string remembers its text,
    /// and so do its clones wherever they are: objects stay the same objects, and nothing is copied.
    ///
    /// # Errors
    ///
    /// Fails as the cipher does, at the first string that it can't decrypt; those before it stay decrypted.
    pub fn decrypt(&self, cipher: &(impl Cipher + ?Sized)) -> Result<(), Error> {
        self.try_for_each_secret(|text| text.decrypt(cipher))
    }

    /// Calls a function with each secure string in this value, until it fails.
    pub(crate) fn try_for_each_secret<E>(
        &self,
        mut call: impl FnMut(&SecureString) -> Result<(), E>,
    ) -> Result<(), E> {
        // A list of what is to be done instead of recursion: the depth of a value has no limit here. An object that is
        // reached twice is visited once, and cycles lead to an object that encloses them.
        let mut visited = HashSet::new();
        let mut todo = vec![self];
        while let Some(value) = todo.pop() {
            match value {
                Self::SecureString(text) => call(text)?,
                Self::MemberSet(members) => push_members(members, &mut todo),
                Self::Object(object) if !object.is_shared() || visited.insert(object.address()) => {
                    push_object(object, &mut todo);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn push_object<'a>(object: &'a Object, todo: &mut Vec<&'a Value>) {
    match object.base() {
        Base::None => {}
        Base::Value(value) => todo.push(value),
        Base::List(_, items) => todo.extend(items),
        Base::Dictionary(entries) => todo.extend(entries.iter().flat_map(|(key, value)| [key, value])),
    }
    push_members(object.adapted(), todo);
    push_members(object.extended(), todo);
}

fn push_members<'a>(members: &'a Members, todo: &mut Vec<&'a Value>) {
    todo.extend(members.iter().map(|(_, value)| value));
}
