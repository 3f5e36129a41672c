//! Prompts for secrets while connecting.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::host_key::blocking;
use crate::Error;
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
        /// True if the answer may be shown while typing.
        echo: bool,
    },
}

/// Secret text, wiped from memory on drop and hidden from `Debug`.
pub(super) type Secret = Redacted<Zeroizing<String>>;

pub(super) fn secret(text: impl Into<String>) -> Secret {
    Redacted(Zeroizing::new(text.into()))
}

/// Shared function set by [`Ssh::ask`](super::Ssh::ask).
#[derive(Clone)]
pub(super) struct PromptHandler(Arc<PromptFn>);

type PromptFn = dyn Fn(SshQuestion<'_>) -> Option<String> + Send + Sync;

impl PromptHandler {
    pub(super) fn new(answer: impl Fn(SshQuestion<'_>) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }

    /// Calls the function on a blocking thread.
    pub(super) async fn password(&self, user: &str, host: &str) -> Result<Option<Secret>, Error> {
        let (answer, user, host) = (Arc::clone(&self.0), user.to_owned(), host.to_owned());
        blocking(move || answer(SshQuestion::Password { user: &user, host: &host }).map(secret)).await
    }

    /// Calls the function with a prompt of the server, on a blocking thread.
    pub(super) async fn prompt(&self, text: &str, echo: bool) -> Result<Option<Secret>, Error> {
        let (answer, text) = (Arc::clone(&self.0), text.to_owned());
        blocking(move || answer(SshQuestion::Prompt { text: &text, echo }).map(secret)).await
    }

    /// Calls the function on this thread, which must be a blocking one.
    pub(super) fn passphrase(&self, file: &Path) -> Option<Secret> {
        (self.0)(SshQuestion::Passphrase { file }).map(secret)
    }
}

impl fmt::Debug for PromptHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PromptHandler(..)")
    }
}
