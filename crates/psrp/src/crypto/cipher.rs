//! What encrypts strings.

use zeroize::Zeroizing;

use crate::Error;
use crate::error::Kind;

/// What turns the text of a [`SecureString`](crate::value::SecureString) into the bytes of `<SS>` and back.
///
/// The session key of a runspace pool is one; files on disk have other schemes, which callers bring along.
pub trait Cipher: Send + Sync {
    /// Encrypts text that is given as UTF-16LE without an end mark.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_crypto`], or [`Error::is_no_key`] as long as there is no key.
    fn encrypt(&self, utf16le: &[u8]) -> Result<Vec<u8>, Error>;

    /// Decrypts to UTF-16LE.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_crypto`] whatever is wrong, or [`Error::is_no_key`] as long as there is no key.
    fn decrypt(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error>;
}

/// The cipher of protocol 2.4, which changes nothing: the connection encrypts secure strings with everything else.
pub(crate) struct ClearText {
    /// Whether the connection is confidential, or the caller accepts that it is not.
    pub(crate) is_allowed: bool,
}

impl Cipher for ClearText {
    fn encrypt(&self, utf16le: &[u8]) -> Result<Vec<u8>, Error> {
        if self.is_allowed {
            return Ok(utf16le.to_vec());
        }
        Err(Error::with(
            Kind::Unsupported,
            "protocol 2.4 sends secure strings unencrypted, and so does this connection (use TLS, NTLM or Kerberos, \
             or allow it)",
        ))
    }

    fn decrypt(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        Ok(Zeroizing::new(encrypted.to_vec()))
    }
}

impl Error {
    /// The error of a [`Cipher`] that failed, for those that are made elsewhere. It tells nothing more on purpose.
    pub fn crypto() -> Self {
        Self::new(Kind::Crypto)
    }

    /// The error of a [`Cipher`] that has no key yet.
    pub fn no_key() -> Self {
        Self::new(Kind::NoKey)
    }
}
