//! Secure strings and their key exchange (MS-PSRP 2.2.2.3, 2.2.2.4, 2.2.5.1.24).
//!
//! Both are used up to protocol 2.3. Since protocol 2.4 (PowerShell 7.6) there is no key: secure strings rely on the
//! encryption of the connection.
//!
//! A [`SecureString`](crate::value::SecureString) that was read stays encrypted until it is decrypted with a key, see
//! [`Value::decrypt`](crate::Value::decrypt). [`Cipher`] is a trait because files written by `Export-Clixml` use other
//! ciphers than sessions.
//!
//! The feature `crypto` adds the cipher of sessions. The client generates a `ClientKey` and sends the public key; the
//! server replies with its `SessionKey`, encrypted:
//!
#![cfg_attr(feature = "crypto", doc = "```")]
#![cfg_attr(not(feature = "crypto"), doc = "```ignore")]
//! use psrp::crypto::{ClientKey, SessionKey};
//! use psrp::value::{SecureString, Value};
//!
//! let client = ClientKey::generate()?;
//! let at_server = SessionKey::generate()?;
//! let encrypted = at_server.encrypt_for(&client.public_key_blob())?;
//! let at_client = client.decrypt_session_key(&encrypted)?;
//!
//! let wire = SecureString::new("secret").encrypt(&at_client)?;
//! let received = Value::from(SecureString::from_encrypted(wire));
//! received.decrypt(&at_server)?;
//! let Value::SecureString(text) = &received else { unreachable!() };
//! assert_eq!(text.reveal().unwrap().as_str(), "secret");
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! The protocol's encryption is deterministic and has no integrity protection. It hides the text from eavesdroppers,
//! but the channel itself must be secure.

#[cfg(feature = "crypto")]
mod session_key;

use std::fmt;

use zeroize::Zeroizing;

use crate::Error;
use crate::error::Kind;

#[cfg(feature = "crypto")]
pub use self::session_key::{ClientKey, SessionKey};

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
