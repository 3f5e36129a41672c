//! Options of the reader.

use std::sync::Arc;

use crate::clixml::Limits;
use crate::crypto::Cipher;

/// Options of [`Reader`](super::Reader).
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    pub(in crate::clixml) limits: Limits,
    pub(super) unknown: Unknown,
    pub(super) cipher: Option<Arc<dyn Cipher>>,
    pub(super) has_clear_secrets: bool,
}

impl ReadOptions {
    /// Creates the default options.
    pub const fn new() -> Self {
        Self { limits: Limits::new(), unknown: Unknown::Skip, cipher: None, has_clear_secrets: false }
    }

    setters! {
        /// Sets the limits. Default: [`Limits::new`].
        limits(limits: Limits) => limits = limits;
        /// Sets how unknown child elements of an object are handled. Default: [`Unknown::Skip`].
        unknown(unknown: Unknown) => unknown = unknown;
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

/// Handling of unknown child elements of an object. Unknown elements in the place of a value are always an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// Skip them with their content, like PowerShell does for later versions of the format.
    #[default]
    Skip,
    /// Fail, like PowerShell does for the version of the format that it knows.
    Refuse,
}
