//! The session key.

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
/// A server generates one per pool. Wiped from memory on drop; `Debug` does not show it.
pub struct SessionKey {
    bytes: Zeroizing<[u8; 32]>,
    encrypting: PaddedBlockEncryptingKey,
    decrypting: PaddedBlockDecryptingKey,
}

impl SessionKey {
    /// Generates a random key.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_crypto`] if the system has no randomness.
    pub fn generate() -> Result<Self, Error> {
        let mut bytes = Zeroizing::new([0; 32]);
        aws_lc_rs::rand::fill(&mut *bytes).map_err(|_| Error::crypto())?;
        Self::from_zeroizing(bytes)
    }

    /// Creates a key from its 32 bytes.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_crypto`] if the cipher can't be initialized.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, Error> {
        Self::from_zeroizing(Zeroizing::new(bytes))
    }

    pub(super) fn from_zeroizing(bytes: Zeroizing<[u8; 32]>) -> Result<Self, Error> {
        let key = || UnboundCipherKey::new(&AES_256, &*bytes).map_err(|_| Error::crypto());
        let encrypting = PaddedBlockEncryptingKey::cbc_pkcs7(key()?).map_err(|_| Error::crypto())?;
        let decrypting = PaddedBlockDecryptingKey::cbc_pkcs7(key()?).map_err(|_| Error::crypto())?;
        Ok(Self { bytes, encrypting, decrypting })
    }

    /// Encrypts this key with a client's public key. Returns the server's reply, a SIMPLEBLOB of 268 bytes.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_crypto`] if the blob is not a PUBLICKEYBLOB with a valid key of 2048 bits.
    pub fn encrypt_for(&self, public_key_blob: &[u8]) -> Result<Vec<u8>, Error> {
        exchange::encrypt_session_key(&self.bytes, public_key_blob)
    }
}

impl Cipher for SessionKey {
    fn encrypt(&self, utf16le: &[u8]) -> Result<Vec<u8>, Error> {
        // Capacity for the padding: a reallocation would leave the plaintext in freed memory.
        let mut bytes = Zeroizing::new(Vec::with_capacity(utf16le.len() + 16));
        bytes.extend_from_slice(utf16le);
        let context = EncryptionContext::Iv128(FixedLength::from([0; 16]));
        self.encrypting.less_safe_encrypt(&mut *bytes, context).map_err(|_| Error::crypto())?;
        // The buffer now holds ciphertext, which needs no wiping.
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

impl_debug!(SessionKey);
