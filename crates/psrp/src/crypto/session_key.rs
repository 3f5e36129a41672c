//! The key of a session.

use std::fmt;

use aws_lc_rs::cipher::{
    AES_256, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey,
    UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use zeroize::Zeroizing;

use super::{Cipher, exchange};
use crate::error::Error;

/// The key of a session: AES-256 in CBC mode with PKCS#7 padding and an initialization vector of zeros.
///
/// A server makes one per pool. It is wiped from memory when it goes away, and never shown.
pub struct SessionKey {
    bytes: Zeroizing<[u8; 32]>,
    encrypting: PaddedBlockEncryptingKey,
    decrypting: PaddedBlockDecryptingKey,
}

impl SessionKey {
    /// A random key.
    ///
    /// # Errors
    ///
    /// Fails if the system has no randomness ([`Error::is_crypto`]).
    pub fn generate() -> Result<Self, Error> {
        let mut bytes = Zeroizing::new([0; 32]);
        aws_lc_rs::rand::fill(&mut *bytes).map_err(|_| Error::crypto())?;
        Self::from_zeroizing(bytes)
    }

    /// The key of these bytes.
    ///
    /// # Errors
    ///
    /// Fails if the cipher can't be set up ([`Error::is_crypto`]).
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, Error> {
        Self::from_zeroizing(Zeroizing::new(bytes))
    }

    pub(super) fn from_zeroizing(bytes: Zeroizing<[u8; 32]>) -> Result<Self, Error> {
        let key = || UnboundCipherKey::new(&AES_256, &*bytes).map_err(|_| Error::crypto());
        let encrypting = PaddedBlockEncryptingKey::cbc_pkcs7(key()?).map_err(|_| Error::crypto())?;
        let decrypting = PaddedBlockDecryptingKey::cbc_pkcs7(key()?).map_err(|_| Error::crypto())?;
        Ok(Self { bytes, encrypting, decrypting })
    }

    /// What the server answers to the public key of a client: the key, encrypted, as a SIMPLEBLOB of 268 bytes.
    ///
    /// # Errors
    ///
    /// Fails if the other is no PUBLICKEYBLOB of 2048 bits, and if it is no valid key ([`Error::is_crypto`]).
    pub fn encrypt_for(&self, public_key_blob: &[u8]) -> Result<Vec<u8>, Error> {
        exchange::encrypt_session_key(&self.bytes, public_key_blob)
    }
}

impl Cipher for SessionKey {
    fn encrypt(&self, utf16le: &[u8]) -> Result<Vec<u8>, Error> {
        // Room for the padding: growing would leave the text behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(utf16le.len() + 16));
        bytes.extend_from_slice(utf16le);
        let context = EncryptionContext::Iv128(FixedLength::from([0; 16]));
        self.encrypting.less_safe_encrypt(&mut *bytes, context).map_err(|_| Error::crypto())?;
        // Nothing in it is secret any more.
        Ok(std::mem::take(&mut *bytes))
    }

    fn decrypt(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut bytes = Zeroizing::new(encrypted.to_vec());
        let context = DecryptionContext::Iv128(FixedLength::from([0; 16]));
        let len = self.decrypting.decrypt(&mut bytes, context).map_err(|_| Error::crypto())?.len();
        bytes.truncate(len);
        Ok(bytes)
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(..)")
    }
}
