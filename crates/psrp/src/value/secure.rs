//! Strings that are encrypted with the session key.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use zeroize::Zeroizing;

use super::ps_string::shared_size;
use super::{Base, Value};
use crate::crypto::Cipher;
use crate::error::Error;

/// A string that is sent encrypted with the session key (`System.Security.SecureString`, MS-PSRP 2.2.5.1.24).
///
/// It is created either from text, which is encrypted when the string is written, or from received bytes, which can be
/// decrypted once there is a key. The text is wiped from memory when the last clone is dropped. `Debug` never shows it.
#[derive(Clone)]
pub struct SecureString(Arc<Repr>);

enum Repr {
    /// UTF-16LE.
    Plain(Zeroizing<Vec<u8>>),
    /// The received bytes, and the text as UTF-16LE after decryption.
    Encrypted { bytes: Box<[u8]>, text: OnceLock<Zeroizing<Vec<u8>>> },
}

impl SecureString {
    /// Creates a secure string from text.
    pub fn new(text: &str) -> Self {
        let mut bytes = Zeroizing::new(Vec::with_capacity(text.len() * 2));
        bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        Self(Arc::new(Repr::Plain(bytes)))
    }

    /// Creates a secure string from the output of a cipher.
    pub fn from_encrypted(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(Arc::new(Repr::Encrypted { bytes: bytes.into(), text: OnceLock::new() }))
    }

    /// Creates a secure string from UTF-16LE without a terminator. Returns `None` for an odd number of bytes.
    pub(crate) fn from_utf16le(bytes: Box<[u8]>) -> Option<Self> {
        let bytes = Zeroizing::new(bytes.into_vec());
        bytes.len().is_multiple_of(2).then(|| Self(Arc::new(Repr::Plain(bytes))))
    }

    /// Returns whether only the encrypted form is available.
    pub fn is_encrypted(&self) -> bool {
        self.utf16le().is_none()
    }

    /// Returns the encrypted form as received, even after decryption. `None` for a string created from text.
    pub fn encrypted(&self) -> Option<&[u8]> {
        match &*self.0 {
            Repr::Encrypted { bytes, .. } => Some(bytes),
            Repr::Plain(_) => None,
        }
    }

    /// Heap bytes of a string after decryption: the text is not longer than the encrypted form.
    pub(crate) fn heap_size(&self) -> usize {
        let len = match &*self.0 {
            Repr::Plain(text) => text.len(),
            Repr::Encrypted { bytes, .. } => 2 * bytes.len(),
        };
        shared_size(size_of::<Repr>()) + len
    }

    /// Decrypts the string unless it already was. All clones share the decrypted text.
    ///
    /// # Errors
    ///
    /// Fails with the cipher's error, and with [`Error::is_crypto`] if the result is not UTF-16. The string is then
    /// unchanged.
    pub fn decrypt(&self, cipher: &(impl Cipher + ?Sized)) -> Result<(), Error> {
        let Repr::Encrypted { bytes, text } = &*self.0 else { return Ok(()) };
        if text.get().is_none() {
            let decrypted = cipher.decrypt(bytes)?;
            if !decrypted.len().is_multiple_of(2) {
                return Err(Error::crypto());
            }
            // If another thread was faster, it has set the same text.
            let _ = text.set(decrypted);
        }
        Ok(())
    }

    /// Encrypts the text with this cipher. While the text is not available, returns the bytes as received.
    ///
    /// # Errors
    ///
    /// Fails with the cipher's error.
    pub fn encrypt(&self, cipher: &(impl Cipher + ?Sized)) -> Result<Vec<u8>, Error> {
        match (self.utf16le(), self.encrypted()) {
            (Some(text), _) => cipher.encrypt(text),
            (None, bytes) => Ok(bytes.unwrap_or_default().to_vec()),
        }
    }

    /// Returns the text as UTF-16LE bytes, if available.
    fn utf16le(&self) -> Option<&[u8]> {
        match &*self.0 {
            Repr::Plain(bytes) => Some(bytes),
            Repr::Encrypted { text, .. } => text.get().map(|text| &text[..]),
        }
    }

    /// Returns the text, with U+FFFD in place of each lone surrogate; `None` while it is encrypted.
    pub fn reveal(&self) -> Option<Zeroizing<String>> {
        let bytes = self.utf16le()?;
        // Each code unit takes at most three bytes: a reallocation would leave plaintext in freed memory.
        let mut text = Zeroizing::new(String::with_capacity(bytes.len() / 2 * 3));
        let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        text.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
        Some(text)
    }
}

/// Two strings are equal if both have text and it is the same, or if neither has and the received bytes are the same.
/// The comparison is not constant-time: the protocol's encryption is deterministic, so that equality is visible on the
/// wire.
impl PartialEq for SecureString {
    fn eq(&self, other: &Self) -> bool {
        match (self.utf16le(), other.utf16le()) {
            (None, None) => self.encrypted() == other.encrypted(),
            (text, other) => text == other,
        }
    }
}

impl_debug!(SecureString);

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
                Self::MemberSet(members) => todo.extend(members.values()),
                Self::Object(object) if !object.is_shared() || visited.insert(object.address()) => {
                    match object.base() {
                        Base::None => {}
                        Base::Value(value) => todo.push(value),
                        Base::List(_, items) => todo.extend(items),
                        Base::Dictionary(entries) => {
                            todo.extend(entries.iter().flat_map(|(key, value)| [key, value]));
                        }
                    }
                    todo.extend(object.adapted().values().chain(object.extended().values()));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
