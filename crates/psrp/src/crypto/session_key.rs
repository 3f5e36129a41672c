//! The session key and its exchange between client and server.

use aws_lc_rs::cipher::{
    AES_256, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey,
    UnboundCipherKey,
};
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::rsa::{
    KeyPair, KeySize, Pkcs1PrivateDecryptingKey, Pkcs1PublicEncryptingKey, PrivateDecryptingKey,
    PublicEncryptingKey, PublicKeyComponents,
};
use aws_lc_rs::signature::KeyPair as _;
use zeroize::Zeroizing;

use super::Cipher;
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
        let (exponent, modulus) = public_key_blob
            .strip_prefix(PUBLIC_KEY_HEADER)
            .and_then(|components| components.split_at_checked(4))
            .filter(|(_, modulus)| modulus.len() == MODULUS_LEN)
            .ok_or_else(Error::crypto)?;
        let big_endian = |number: &[u8]| -> Vec<u8> {
            number.iter().rev().copied().skip_while(|byte| *byte == 0).collect()
        };
        let components = PublicKeyComponents { n: big_endian(modulus), e: big_endian(exponent) };
        let public: PublicEncryptingKey = components.try_into().map_err(|_| Error::crypto())?;
        let public = Pkcs1PublicEncryptingKey::new(public).map_err(|_| Error::crypto())?;
        if public.key_size_bytes() != MODULUS_LEN {
            return Err(Error::crypto());
        }
        let mut ciphertext = [0; MODULUS_LEN];
        let ciphertext = public.encrypt(&*self.bytes, &mut ciphertext).map_err(|_| Error::crypto())?;
        let mut blob = SIMPLE_HEADER.to_vec();
        blob.extend(ciphertext.iter().rev());
        Ok(blob)
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

/// Header of a PUBLICKEYBLOB, version 2; RSA for key exchange; "RSA1"; 2048 bits. The exponent and the modulus follow.
const PUBLIC_KEY_HEADER: &[u8; 16] = b"\x06\x02\0\0\0\xA4\0\0RSA1\0\x08\0\0";

/// Header of a SIMPLEBLOB, version 2; AES with 256 bits; encrypted with RSA. The ciphertext follows.
const SIMPLE_HEADER: &[u8; 12] = b"\x01\x02\0\0\x10\x66\0\0\0\xA4\0\0";

/// Length of the modulus and of the ciphertext, in bytes.
const MODULUS_LEN: usize = 256;

/// A client's RSA key pair of 2048 bits, used for one key exchange.
///
/// Wiped from memory on drop. `Debug` does not show it.
pub struct ClientKey {
    private: Pkcs1PrivateDecryptingKey,
    public_key_blob: [u8; 276],
}

impl ClientKey {
    /// Generates a key pair. This takes about a tenth of a second of CPU time.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_crypto`] if the system has no randomness.
    pub fn generate() -> Result<Self, Error> {
        Self::new(PrivateDecryptingKey::generate(KeySize::Rsa2048).map_err(|_| Error::crypto())?)
    }

    /// Reads a key pair from a PKCS#8 document.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_crypto`] if the document is not an RSA key of 2048 bits.
    pub fn from_pkcs8(document: &[u8]) -> Result<Self, Error> {
        Self::new(PrivateDecryptingKey::from_pkcs8(document).map_err(|_| Error::crypto())?)
    }

    fn new(private: PrivateDecryptingKey) -> Result<Self, Error> {
        // The decrypting key does not expose its components; the signing key of the same document does.
        let document = private.as_der().map_err(|_| Error::crypto())?;
        let pair = KeyPair::from_pkcs8(document.as_ref()).map_err(|_| Error::crypto())?;
        let PublicKeyComponents { n, e } = pair.public_key().into();
        let (exponent_len, modulus_len) = (e.len(), n.len());
        if exponent_len > 4 || modulus_len != MODULUS_LEN {
            return Err(Error::crypto());
        }
        let mut public_key_blob = [0; 276];
        public_key_blob[..16].copy_from_slice(PUBLIC_KEY_HEADER);
        copy_reversed(&mut public_key_blob[16..16 + exponent_len], &e);
        copy_reversed(&mut public_key_blob[20..], &n);
        let private = Pkcs1PrivateDecryptingKey::new(private).map_err(|_| Error::crypto())?;
        Ok(Self { private, public_key_blob })
    }

    /// Returns the public key as a PUBLICKEYBLOB, which the client sends to the server.
    pub const fn public_key_blob(&self) -> [u8; 276] {
        self.public_key_blob
    }

    /// Decrypts the server's reply, a SIMPLEBLOB of 268 bytes, to the session key.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_crypto`] for any other input. The error does not depend on the cause.
    pub fn decrypt_session_key(&self, simple_blob: &[u8]) -> Result<SessionKey, Error> {
        let encrypted = simple_blob
            .strip_prefix(SIMPLE_HEADER)
            .filter(|encrypted| encrypted.len() == MODULUS_LEN)
            .ok_or_else(Error::crypto)?;
        let mut ciphertext = [0; MODULUS_LEN];
        copy_reversed(&mut ciphertext, encrypted);
        let mut plaintext = Zeroizing::new([0; MODULUS_LEN]);
        let decrypted = self.private.decrypt(&ciphertext, &mut *plaintext).map_err(|_| Error::crypto())?;
        let mut key = Zeroizing::new([0; 32]);
        if decrypted.len() != key.len() {
            return Err(Error::crypto());
        }
        key.copy_from_slice(decrypted);
        SessionKey::from_zeroizing(key)
    }
}

impl_debug!(ClientKey);

fn copy_reversed(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
    to.reverse();
}
