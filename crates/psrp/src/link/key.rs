//! Session key and its exchange.

use std::sync::Arc;

use super::core::Core;
use super::outbox::Quota;
use super::protocol_violation;
use crate::clixml::{WriteOptions, Writer};
use crate::crypto::{Cipher, ClearText};
#[cfg(feature = "crypto")]
use crate::crypto::{ClientKey, SessionKey};
use crate::error::Error;
use crate::message::{Destination, Payload};
#[cfg(feature = "crypto")]
use crate::message::{EncryptedSessionKey, PublicKey};
use crate::value::{SecureString, Value, Version};

/// First protocol version without a session key: secure strings rely on the encryption of the connection.
const FIRST_WITHOUT_KEY: Version = Version::new(2, 4);

/// How secure strings are transferred.
#[derive(Default)]
enum SecretTransfer {
    /// The protocol version is not negotiated yet.
    #[default]
    Undecided,
    WithKey,
    Clear(Arc<ClearText>),
}

/// Session key and the state of its exchange. Always empty without the feature `crypto`.
#[derive(Default)]
pub(crate) struct Key {
    /// Key pair of the client, set by the caller or generated on demand.
    #[cfg(feature = "crypto")]
    pub(crate) pair: Option<ClientKey>,
    /// Session key configured for the server.
    #[cfg(feature = "crypto")]
    pub(crate) server_key: Option<SessionKey>,
    pub(crate) is_requested: bool,
    /// Whether secure strings must not be sent with protocol 2.4, because the connection is not confidential.
    pub(crate) forbids_cleartext: bool,
    secret_transfer: SecretTransfer,
    #[cfg(feature = "crypto")]
    session: Option<Arc<SessionKey>>,
    /// Strings received before the key, to be decrypted with it.
    deferred_strings: Vec<SecureString>,
    deferred_string_bytes: usize,
    max_deferred_string_bytes: usize,
}

impl Key {
    pub(super) fn cipher(&self) -> Option<Arc<dyn Cipher>> {
        if let SecretTransfer::Clear(clear) = &self.secret_transfer {
            return Some(clear.clone());
        }
        #[cfg(feature = "crypto")]
        return self.session.clone().map(|key| key as _);
        #[cfg(not(feature = "crypto"))]
        None
    }

    /// Sets the maximum bytes of strings that are decrypted later.
    pub(super) fn with_max_deferred_bytes(self, max_bytes: usize) -> Self {
        Self { max_deferred_string_bytes: max_bytes, ..self }
    }

    /// Decrypts the strings of a value, or stores them until the key is available. Returns `true` if the key is
    /// missing.
    pub(super) fn decrypt_or_defer(&mut self, value: &Value) -> bool {
        if let Some(cipher) = self.cipher() {
            // A string that cannot be decrypted stays encrypted; reading its text fails.
            let _ = value.decrypt(&*cipher);
            return false;
        }
        // Strings beyond the limit can be decrypted with `decrypt`.
        let _ = value.try_for_each_secret(|text| {
            let len = text.encrypted().map_or(0, <[u8]>::len) + size_of::<SecureString>();
            if self.deferred_string_bytes.saturating_add(len) > self.max_deferred_string_bytes {
                return Err(());
            }
            self.deferred_string_bytes += len;
            self.deferred_strings.push(text.clone());
            Ok(())
        });
        true
    }

    pub(super) fn clear_deferred_strings(&mut self) {
        self.deferred_strings = Vec::new();
        self.deferred_string_bytes = 0;
    }
}

impl Core {
    /// Returns whether secure strings can be sent: there is a session key, or the protocol is 2.4 or later and needs
    /// none.
    pub fn has_key(&self) -> bool {
        self.key.cipher().is_some()
    }

    /// Decrypts the secure strings of a value.
    ///
    /// Only needed for strings received before the key whose total size exceeded
    /// [`SessionLimits::max_event_bytes`](crate::SessionLimits::max_event_bytes). All others are decrypted automatically
    /// when they are received or when the key is exchanged.
    ///
    /// # Errors
    ///
    /// Fails if there is no key yet ([`Error::is_no_key`]) and if a string is not encrypted with it
    /// ([`Error::is_crypto`]).
    pub fn decrypt(&self, value: &Value) -> Result<(), Error> {
        match self.key.cipher() {
            Some(cipher) => value.decrypt(&*cipher),
            None => Err(Error::no_key()),
        }
    }

    /// Decides by the common protocol version how secure strings are transferred, and returns the version to use. The
    /// first client of a pool decides for all later ones.
    pub(crate) fn negotiate(&mut self, common: Version) -> Result<Version, Error> {
        match (&self.key.secret_transfer, common >= FIRST_WITHOUT_KEY) {
            (SecretTransfer::Undecided, false) => self.key.secret_transfer = SecretTransfer::WithKey,
            (SecretTransfer::Undecided, true) => {
                let cipher = Arc::new(ClearText { is_allowed: !self.key.forbids_cleartext });
                self.key.secret_transfer = SecretTransfer::Clear(cipher);
                self.install_cipher();
                self.read_options = self.read_options.clone().clear_secrets();
            }
            (SecretTransfer::WithKey, true) => return Ok(Version::new(2, 3)),
            (SecretTransfer::Clear(_), false) => {
                return Err(protocol_violation(
                    "a protocol version before 2.4 in a pool without a session key",
                ));
            }
            _ => {}
        }
        Ok(common)
    }

    fn install_cipher(&mut self) {
        if let Some(cipher) = self.key.cipher() {
            for text in &self.key.deferred_strings {
                let _ = text.decrypt(&*cipher);
            }
            self.key.clear_deferred_strings();
            self.writer = Writer::with_options(WriteOptions::new().cipher(cipher));
        }
    }

    /// Starts the key exchange. Does nothing if it has started or if there is a key.
    pub(crate) fn request_key(&mut self) -> Result<(), Error> {
        if self.has_key() || self.key.is_requested {
            return Ok(());
        }
        if self.recipient == Destination::Server {
            return self.send_public_key();
        }
        self.send_payload(Quota::Protocol, &Payload::PublicKeyRequest)?;
        self.key.is_requested = true;
        Ok(())
    }

    /// Client: sends the public key.
    #[cfg(feature = "crypto")]
    fn send_public_key(&mut self) -> Result<(), Error> {
        let pair = match self.key.pair.take() {
            Some(pair) => pair,
            None => ClientKey::generate()?,
        };
        let blob = Box::from(pair.public_key_blob());
        self.key.pair = Some(pair);
        self.send_payload(Quota::Protocol, &Payload::PublicKey(PublicKey { blob }))?;
        self.key.is_requested = true;
        Ok(())
    }

    #[cfg(not(feature = "crypto"))]
    fn send_public_key(&self) -> Result<(), Error> {
        Err(Error::no_key())
    }

    /// Client: accepts the session key.
    #[cfg(feature = "crypto")]
    pub(crate) fn accept_session_key(&mut self, response: &EncryptedSessionKey) -> Result<(), Error> {
        // If the key was requested over two connections, both responses carry the same key.
        if self.has_key() {
            return Ok(());
        }
        let pair = self.key.pair.take().filter(|_| self.key.is_requested);
        let pair = pair.ok_or_else(|| protocol_violation("a session key that was not requested"))?;
        self.key.session = Some(Arc::new(pair.decrypt_session_key(&response.blob)?));
        self.install_cipher();
        Ok(())
    }

    #[cfg(not(feature = "crypto"))]
    pub(crate) fn accept_session_key(&self, _: &crate::message::EncryptedSessionKey) -> Result<(), Error> {
        Err(protocol_violation("a session key that was not requested"))
    }

    /// Server: sends the session key in response to a public key. All requests get the same key.
    #[cfg(feature = "crypto")]
    pub(crate) fn respond_to_public_key(&mut self, public: &PublicKey) -> Result<(), Error> {
        if matches!(self.key.secret_transfer, SecretTransfer::Clear(_)) {
            return Err(protocol_violation("a key in a session of protocol 2.4, which has none"));
        }
        let key = match (&self.key.session, self.key.server_key.take()) {
            (Some(key), _) => key.clone(),
            (None, Some(key)) => Arc::new(key),
            (None, None) => Arc::new(SessionKey::generate()?),
        };
        let blob = key.encrypt_for(&public.blob)?.into();
        self.send_payload(Quota::Protocol, &Payload::EncryptedSessionKey(EncryptedSessionKey { blob }))?;
        self.key.session = Some(key);
        self.install_cipher();
        Ok(())
    }

    #[cfg(not(feature = "crypto"))]
    pub(crate) fn respond_to_public_key(&self, _: &crate::message::PublicKey) -> Result<(), Error> {
        Err(Error::no_key())
    }

    /// Resets a key request of a previous connection. Returns whether the key has to be requested again.
    pub(crate) fn reset_key_request(&mut self) -> bool {
        let is_missing = self.key.is_requested && !self.has_key();
        self.key.is_requested &= !is_missing;
        is_missing
    }
}
