//! The [`Cipher`] trait.

use std::fmt;

use zeroize::Zeroizing;

use crate::Error;
use crate::error::Kind;

/// Encrypts and decrypts the text of [`SecureString`](crate::value::SecureString)s, the content of `<SS>` elements.
///
/// Implemented by the session key of a runspace pool. Implement it yourself for other schemes, such as that of files
/// written by `Export-Clixml`.
pub trait Cipher: Send + Sync {
    /// Encrypts text in UTF-16LE without a terminator.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_crypto`], or with [`Error::is_no_key`] while there is no key.
    fn encrypt(&self, utf16le: &[u8]) -> Result<Vec<u8>, Error>;

    /// Decrypts to UTF-16LE.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_crypto`] regardless of the cause, or with [`Error::is_no_key`] while there is no key.
    fn decrypt(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error>;
}

/// Shows nothing of the key.
impl fmt::Debug for dyn Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cipher(..)")
    }
}

/// The cipher of protocol 2.4, which does not encrypt: secure strings rely on the encryption of the connection.
pub(crate) struct ClearText {
    /// Whether the connection is confidential or the caller accepts that it is not.
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
    /// Creates the error of a failed [`Cipher`], for implementations outside of this crate. It deliberately has no
    /// details.
    pub fn crypto() -> Self {
        Self::new(Kind::Crypto)
    }

    /// Creates the error of a [`Cipher`] that has no key yet.
    pub fn no_key() -> Self {
        Self::new(Kind::NoKey)
    }
}
