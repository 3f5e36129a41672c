//! The session key and how far its exchange is.

use std::sync::Arc;

use super::Link;
use crate::clixml::{WriteOptions, Writer};
use crate::crypto::{Cipher, ClearText};
#[cfg(feature = "crypto")]
use crate::crypto::{ClientKey, SessionKey};
use crate::error::Error;
use crate::link::violation;
#[cfg(feature = "crypto")]
use crate::message::{EncryptedSessionKey, Payload, PublicKey};
use crate::value::{SecureString, Value, Version};

/// The first protocol without a key: secure strings rely on the encryption of the connection.
const WITHOUT_KEY: Version = Version::new(2, 4);

/// How secure strings are sent.
#[derive(Default)]
enum Secrets {
    /// The versions of both ends are not known yet.
    #[default]
    Undecided,
    WithKey,
    Clear(Arc<ClearText>),
}

/// What there is of a key. Without the feature `crypto` there is none.
#[derive(Default)]
pub(crate) struct Key {
    /// The pair of the client: given by the caller or generated when it is needed.
    #[cfg(feature = "crypto")]
    pub(crate) pair: Option<ClientKey>,
    /// The key that the server is going to give.
    #[cfg(feature = "crypto")]
    pub(crate) prepared: Option<SessionKey>,
    pub(crate) is_requested: bool,
    /// Whether strings of protocol 2.4 must not be sent, because the connection is not confidential.
    pub(crate) is_clear_refused: bool,
    secrets: Secrets,
    #[cfg(feature = "crypto")]
    session: Option<Arc<SessionKey>>,
    /// Strings that came before the key.
    strings: Vec<SecureString>,
    string_bytes: usize,
    max_string_bytes: usize,
}

impl Key {
    pub(super) fn cipher(&self) -> Option<Arc<dyn Cipher>> {
        if let Secrets::Clear(clear) = &self.secrets {
            return Some(clear.clone());
        }
        #[cfg(feature = "crypto")]
        return self.session.clone().map(|key| key as _);
        #[cfg(not(feature = "crypto"))]
        None
    }

    /// With a limit of the bytes of strings that are decrypted later.
    pub(super) fn remembering(self, max_bytes: usize) -> Self {
        Self { max_string_bytes: max_bytes, ..self }
    }

    /// Decrypts the strings of a value, or keeps them for when there is a key. Whether one is missing.
    pub(super) fn decrypt_or_remember(&mut self, value: &Value) -> bool {
        if let Some(cipher) = self.cipher() {
            // One that can't be decrypted stays as it is; whoever wants its text gets none.
            let _ = value.decrypt(&*cipher);
            return false;
        }
        // What exceeds the limit can still be decrypted by hand.
        let _ = value.try_for_each_secret(|text| {
            let len = text.encrypted().map_or(0, <[u8]>::len) + size_of::<SecureString>();
            if self.string_bytes.saturating_add(len) > self.max_string_bytes {
                return Err(());
            }
            self.string_bytes += len;
            self.strings.push(text.clone());
            Ok(())
        });
        true
    }

    pub(super) fn forget_strings(&mut self) {
        self.strings = Vec::new();
        self.string_bytes = 0;
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

    /// Takes the lower one of the versions of both ends, and returns the version to use. The first client of a pool decides
    /// how secure strings are sent. Messages that wait for this decision are written with it.
    pub(crate) fn negotiate(&mut self, common: Version) -> Result<Version, Error> {
        match (&self.key.secrets, common >= WITHOUT_KEY) {
            (Secrets::Undecided, false) => self.key.secrets = Secrets::WithKey,
            (Secrets::Undecided, true) => {
                let cipher = Arc::new(ClearText { is_allowed: !self.key.is_clear_refused });
                self.key.secrets = Secrets::Clear(cipher);
                self.install();
                self.reading = self.reading.clone().clear_secrets();
            }
            (Secrets::WithKey, true) => return Ok(Version::new(2, 3)),
            (Secrets::Clear(_), false) => {
                return Err(violation("a protocol before 2.4, with keys, in a pool that has none"));
            }
            _ => {}
        }
        Ok(common)
    }

    fn install(&mut self) {
        if let Some(cipher) = self.key.cipher() {
            for text in &self.key.strings {
                let _ = text.decrypt(&*cipher);
            }
            self.key.forget_strings();
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
        self.tell(None, &Payload::PublicKey(PublicKey { blob }))?;
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
        // A key that was asked for over two connections is answered twice, and is the same.
        if self.has_key() {
            return Ok(());
        }
        let pair = self.key.pair.take().filter(|_| self.key.is_requested);
        let pair = pair.ok_or_else(|| violation("a session key that was not asked for"))?;
        self.key.session = Some(Arc::new(pair.decrypt_session_key(&answer.blob)?));
        self.install();
        Ok(())
    }

    #[cfg(not(feature = "crypto"))]
    pub(crate) fn take_session_key(&self, _: &crate::message::EncryptedSessionKey) -> Result<(), Error> {
        Err(violation("a session key that was not asked for"))
    }

    /// Server: answers a public key with the session key, which is the same for every question.
    #[cfg(feature = "crypto")]
    pub(crate) fn answer_public_key(&mut self, public: &PublicKey) -> Result<(), Error> {
        if matches!(self.key.secrets, Secrets::Clear(_)) {
            return Err(violation("a key in a session without keys, of protocol 2.4"));
        }
        let key = match (&self.key.session, self.key.prepared.take()) {
            (Some(key), _) => key.clone(),
            (None, Some(key)) => Arc::new(key),
            (None, None) => Arc::new(SessionKey::generate()?),
        };
        let blob = key.encrypt_for(&public.blob)?.into();
        self.tell(None, &Payload::EncryptedSessionKey(EncryptedSessionKey { blob }))?;
        self.key.session = Some(key);
        self.install();
        Ok(())
    }

    #[cfg(not(feature = "crypto"))]
    pub(crate) fn answer_public_key(&self, _: &crate::message::PublicKey) -> Result<(), Error> {
        Err(Error::no_key())
    }

    /// A new connection knows nothing of a key that was asked for over the one before. Whether it has to be asked for
    /// again.
    pub(crate) fn forget_key_request(&mut self) -> bool {
        let is_missing = self.key.is_requested && !self.has_key();
        self.key.is_requested &= !is_missing;
        is_missing
    }

    /// Server: remembers that the key was asked for.
    pub(crate) fn set_key_requested(&mut self) {
        self.key.is_requested = true;
    }
}
