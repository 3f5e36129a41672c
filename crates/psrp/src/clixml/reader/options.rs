//! Options of the reader.

use std::sync::Arc;

use crate::clixml::Limits;
use crate::crypto::Cipher;

/// Options of [`Reader`](super::Reader).
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    pub(in crate::clixml) limits: Limits,
    pub(super) cipher: Option<Arc<dyn Cipher>>,
    pub(super) has_clear_secrets: bool,
}

impl ReadOptions {
    /// Creates the default options.
    pub const fn new() -> Self {
        Self { limits: Limits::new(), cipher: None, has_clear_secrets: false }
    }

    setters! {
        /// Sets the limits. Default: [`Limits::new`].
        limits(limits: Limits) => limits = limits;
        /// Sets the cipher that decrypts secure strings. Default: none; they stay encrypted and can be written
        /// unchanged.
        cipher(cipher: Arc<dyn Cipher>) => cipher = Some(cipher);
    }

    /// Reads secure strings of protocol 2.4, which are not encrypted.
    pub(crate) fn clear_secrets(mut self) -> Self {
        self.has_clear_secrets = true;
        self
    }

    pub(crate) const fn max_decoded_size(&self) -> usize {
        self.limits.decoded_size
    }
}
