//! Strings that are encrypted on the wire.

use std::fmt;
use std::sync::{Arc, OnceLock};

use zeroize::Zeroizing;

use super::object::shared_size;
use crate::crypto::Cipher;
use crate::error::Error;

/// A string that travels encrypted with the session key (`System.Security.SecureString`, MS-PSRP 2.2.5.1.24).
///
/// It is either the text, which is encrypted when it is written, or the bytes that were received, which can be decrypted
/// once there is a key. Its text is wiped from memory when the last clone goes away, and never shown.
#[derive(Clone)]
pub struct SecureString(Arc<Repr>);

enum Repr {
    /// UTF-16LE.
    Plain(Zeroizing<Vec<u8>>),
    /// What was received, and its text as UTF-16LE since it was decrypted.
    Encrypted { bytes: Box<[u8]>, text: OnceLock<Zeroizing<Vec<u8>>> },
}

impl SecureString {
    /// From its text.
    pub fn new(text: &str) -> Self {
        let mut bytes = Zeroizing::new(Vec::with_capacity(text.len() * 2));
        bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        Self(Arc::new(Repr::Plain(bytes)))
    }

    /// From what a cipher made of it.
    pub fn from_encrypted(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(Arc::new(Repr::Encrypted { bytes: bytes.into(), text: OnceLock::new() }))
    }

    /// From UTF-16LE without an end mark. `None` if it ends within a unit.
    pub(crate) fn from_utf16le(bytes: Box<[u8]>) -> Option<Self> {
        let bytes = Zeroizing::new(bytes.into_vec());
        bytes.len().is_multiple_of(2).then(|| Self(Arc::new(Repr::Plain(bytes))))
    }

    /// Whether there is only the encrypted form.
    pub fn is_encrypted(&self) -> bool {
        self.utf16le().is_none()
    }

    /// The encrypted form as it was received, also after it was decrypted. `None` for a string made of text.
    pub fn encrypted(&self) -> Option<&[u8]> {
        match &*self.0 {
            Repr::Encrypted { bytes, .. } => Some(bytes),
            Repr::Plain(_) => None,
        }
    }

    /// Bytes that a string takes on the heap once it is decrypted: the text is not longer than the encrypted form.
    pub(crate) fn heap_size(&self) -> usize {
        let len = match &*self.0 {
            Repr::Plain(text) => text.len(),
            Repr::Encrypted { bytes, .. } => 2 * bytes.len(),
        };
        shared_size(size_of::<Repr>()) + len
    }

    /// Decrypts it, unless the text is there. This and all of its clones have the text from then on.
    ///
    /// # Errors
    ///
    /// Fails as the cipher does, and if what it gives is no UTF-16 ([`Error::is_crypto`]). The string stays as it is.
    pub fn decrypt(&self, cipher: &(impl Cipher + ?Sized)) -> Result<(), Error> {
        let Repr::Encrypted { bytes, text } = &*self.0 else { return Ok(()) };
        if text.get().is_none() {
            let decrypted = cipher.decrypt(bytes)?;
            if !decrypted.len().is_multiple_of(2) {
                return Err(Error::crypto());
            }
            // Another thread may have been faster, with the same text.
            let _ = text.set(decrypted);
        }
        Ok(())
    }

    /// The text encrypted by this cipher; while there is no text, the form that was received.
    ///
    /// # Errors
    ///
    /// Fails as the cipher does.
    pub fn encrypt(&self, cipher: &(impl Cipher + ?Sized)) -> Result<Vec<u8>, Error> {
        match (self.utf16le(), self.encrypted()) {
            (Some(text), _) => cipher.encrypt(text),
            (None, bytes) => Ok(bytes.unwrap_or_default().to_vec()),
        }
    }

    /// The text as UTF-16LE bytes, if it is there.
    fn utf16le(&self) -> Option<&[u8]> {
        match &*self.0 {
            Repr::Plain(bytes) => Some(bytes),
            Repr::Encrypted { text, .. } => text.get().map(|text| &text[..]),
        }
    }

    /// The text, with U+FFFD in place of each lone surrogate; `None` while it is encrypted.
    pub fn reveal(&self) -> Option<Zeroizing<String>> {
        let bytes = self.utf16le()?;
        // Each unit takes three bytes at most: nothing is left behind by growing.
        let mut text = Zeroizing::new(String::with_capacity(bytes.len() / 2 * 3));
        let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        text.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
        Some(text)
    }
}

/// Two are equal if both have their text and it is the same, or if neither has and they were received as the same bytes.
/// Not in constant time: the encryption of the protocol is deterministic, and equality is no secret on the wire.
impl PartialEq for SecureString {
    fn eq(&self, other: &Self) -> bool {
        match (self.utf16le(), other.utf16le()) {
            (None, None) => self.encrypted() == other.encrypted(),
            (text, other) => text == other,
        }
    }
}

impl fmt::Debug for SecureString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecureString(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_nothing() {
        assert_eq!(format!("{:?}", SecureString::new("secret")), "SecureString(..)");
        assert_eq!(&**SecureString::new("p\u{e4}ss\u{1F600}").reveal().unwrap(), "p\u{e4}ss\u{1F600}");
        assert!(SecureString::from_encrypted([1, 2]).reveal().is_none());
    }
}
