//! Decryption of all secure strings of a value.

use std::collections::HashSet;

use super::{Base, Members, Object, SecureString, Value};
use crate::crypto::Cipher;
use crate::error::Error;

impl Value {
    /// Decrypts all secure strings in this value that are still encrypted.
    ///
    /// Use it for messages that arrive before the key. The decrypted text is stored in the string and shared by all of
    /// its clones: objects keep their identity, and nothing is copied.
    ///
    /// # Errors
    ///
    /// Fails with the cipher's error at the first string that can't be decrypted; strings before it stay decrypted.
    pub fn decrypt(&self, cipher: &(impl Cipher + ?Sized)) -> Result<(), Error> {
        self.try_for_each_secret(|text| text.decrypt(cipher))
    }

    /// Calls a function for each secure string in this value and stops at the first error.
    pub(crate) fn try_for_each_secret<E>(
        &self,
        mut call: impl FnMut(&SecureString) -> Result<(), E>,
    ) -> Result<(), E> {
        // A work list instead of recursion, because the depth of a value is not limited. Shared objects are visited
        // once. Cycles are skipped because they lead to an enclosing object.
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
