//! The session key and how far its exchange is.

use std::sync::Arc;

use super::Link;
#[cfg(feature = "crypto")]
use crate::clixml::{WriteOptions, Writer};
use crate::crypto::Cipher;
#[cfg(feature = "crypto")]
use crate::crypto::{ClientKey, SessionKey};
use crate::error::Error;
#[cfg(feature = "crypto")]
use crate::link::violation;
#[cfg(feature = "crypto")]
use crate::message::{EncryptedSessionKey, Payload, PublicKey};
use crate::value::Value;

/// What there is of a key. Without the feature `crypto` it stays empty.
#[derive(Default)]
pub(crate) struct Key {
    /// The pair of the client: given by the caller or generated when it is needed.
    #[cfg(feature = "crypto")]
    pub(crate) pair: Option<ClientKey>,
    /// The key that the server is going to give.
    #[cfg(feature = "crypto")]
    pub(crate) prepared: Option<SessionKey>,
    pub(crate) is_requested: bool,
    #[cfg(feature = "crypto")]
    session: Option<Arc<SessionKey>>,
}

impl Key {
    pub(super) fn cipher(&self) -> Option<Arc<dyn Cipher>> {
        #[cfg(feature = "crypto")]
        return self.session.clone().map(|key| key as _);
        #[cfg(not(feature = "crypto"))]
        None
    }
}

impl Link {
    pub(crate) fn has_key(&self) -> bool {
        self.key.cipher().is_some()
    }

    pub(crate) fn is_key_requested(&self) -> bool {
        self.key.is_requested
    }

    pub(crate) fn decrypt(&self, value: &Value) -> Result<(), Error> {
        match self.key.cipher() {
            Some(cipher) => value.decrypt(&*cipher),
            None => Err(Error::no_key()),
        }
    }

    #[cfg(feature = "crypto")]
    fn install(&mut self) {
        if let Some(cipher) = self.key.cipher() {
            self.writer = Writer::with_options(WriteOptions::new().cipher(cipher));
        }
    }

    /// Client: sends the public key.
    #[cfg(feature = "crypto")]
    pub(crate) fn send_public_key(&mut self) -> Result<(), Error> {
        let pair = match self.key.pair.take() {
            Some(pair) => pair,
            None => ClientKey::generate()?,
        };
        let blob = Box::from(pair.public_key_blob());
        self.key.pair = Some(pair);
        self.send_payload(None, &Payload::PublicKey(PublicKey { blob }))?;
        self.key.is_requested = true;
        Ok(())
    }

    #[cfg(not(feature = "crypto"))]
    pub(crate) fn send_public_key(&self) -> Result<(), Error> {
        Err(Error::no_key())
    }

    /// Client: takes the session key.
    #[cfg(feature = "crypto")]
    pub(crate) fn take_session_key(&mut self, answer: &EncryptedSessionKey) -> Result<(), Error> {
        let pair = self.key.pair.take().filter(|_| self.key.is_requested);
        let pair = pair.ok_or_else(|| violation("a session key that was not asked for"))?;
        self.key.session = Some(Arc::new(pair.decrypt_session_key(&answer.blob)?));
        self.install();
        self.send_parked()
    }

    #[cfg(not(feature = "crypto"))]
    pub(crate) fn take_session_key(&self, _: &crate::message::EncryptedSessionKey) -> Result<(), Error> {
        Err(super::violation("a session key that was not asked for"))
    }

    /// Server: answers a public key with the session key, which is the same for every question.
    #[cfg(feature = "crypto")]
    pub(crate) fn answer_public_key(&mut self, public: &PublicKey) -> Result<(), Error> {
        let key = match (&self.key.session, self.key.prepared.take()) {
            (Some(key), _) => key.clone(),
            (None, Some(key)) => Arc::new(key),
            (None, None) => Arc::new(SessionKey::generate()?),
        };
        let blob = key.encrypt_for(&public.blob)?.into();
        self.send_payload(None, &Payload::EncryptedSessionKey(EncryptedSessionKey { blob }))?;
        self.key.session = Some(key);
        self.install();
        self.send_parked()
    }

    #[cfg(not(feature = "crypto"))]
    pub(crate) fn answer_public_key(&self, _: &crate::message::PublicKey) -> Result<(), Error> {
        Err(Error::no_key())
    }

    /// Server: remembers that the key was asked for.
    pub(crate) fn set_key_requested(&mut self) {
        self.key.is_requested = true;
    }
}
