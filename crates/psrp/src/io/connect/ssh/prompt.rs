//! Prompts for secrets and host keys while connecting.

use std::path::Path;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::redacted::Redacted;

/// Prompt for the function set by [`Ssh::ask`](super::Ssh::ask).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SshQuestion<'a> {
    /// Passphrase of a private key.
    Passphrase {
        /// Key file.
        file: &'a Path,
    },
    /// Password of the user.
    Password {
        /// User name.
        user: &'a str,
        /// Host name or address.
        host: &'a str,
    },
    /// Keyboard-interactive prompt of the server (RFC 4256).
    Prompt {
        /// Text from the server. Use [`terminal_safe`](crate::terminal_safe) to display it.
        text: &'a str,
        /// Whether the answer may be shown while typing.
        echo: bool,
    },
    /// The server's key is unknown. The answer `yes` trusts it and saves it; any other refuses it.
    HostKey {
        /// Host name or address, with the port unless it is 22.
        host: &'a str,
        /// Type of the key, such as `ssh-ed25519`.
        algorithm: &'a str,
        /// SHA-256 fingerprint.
        fingerprint: &'a str,
    },
}

/// Secret text, wiped from memory on drop and hidden from `Debug`.
pub(super) type Secret = Redacted<Zeroizing<String>>;

pub(super) fn secret(text: impl Into<String>) -> Secret {
    Redacted(Zeroizing::new(text.into()))
}

/// Function set by [`Ssh::ask`](super::Ssh::ask).
#[derive(Clone)]
pub(super) struct PromptHandler(pub(super) Arc<dyn Fn(SshQuestion<'_>) -> Option<String> + Send + Sync>);

impl PromptHandler {
    /// Calls the function on this thread, which must be a blocking one.
    pub(super) fn call(&self, question: SshQuestion<'_>) -> Option<Secret> {
        (self.0)(question).map(secret)
    }
}

impl_debug!(PromptHandler);
