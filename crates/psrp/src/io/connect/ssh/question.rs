//! What the user is asked while a connection is made.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::trust::blocking;
use crate::Error;

/// What has to be known to go on with a login; see [`Ssh::ask`](super::Ssh::ask).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SshQuestion<'a> {
    /// The passphrase of a private key.
    Passphrase {
        /// The file of the key.
        file: &'a Path,
    },
    /// The password of the user.
    Password {
        /// The user.
        user: &'a str,
        /// The host.
        host: &'a str,
    },
    /// Anything that the server wants to know (RFC 4256).
    Prompt {
        /// The question, in words of the server: [`terminal_safe`](crate::terminal_safe) makes it fit to be shown.
        text: &'a str,
        /// Whether the answer may be seen.
        echo: bool,
    },
}

/// A secret text, which is wiped when it is dropped.
#[derive(Clone)]
pub(super) struct Secret(pub(super) Zeroizing<String>);

impl Secret {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }
}

/// Shows that it is there.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Who answers.
#[derive(Clone)]
pub(super) struct Ask(Arc<Answer>);

type Answer = dyn Fn(SshQuestion<'_>) -> Option<String> + Send + Sync;

impl Ask {
    pub(super) fn new(answer: impl Fn(SshQuestion<'_>) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }

    /// Asks on a thread that may wait for the user.
    pub(super) async fn password(&self, user: &str, host: &str) -> Result<Option<Secret>, Error> {
        let (answer, user, host) = (Arc::clone(&self.0), user.to_owned(), host.to_owned());
        blocking(move || answer(SshQuestion::Password { user: &user, host: &host }).map(Secret::new)).await
    }

    /// The same for a question of the server.
    pub(super) async fn prompt(&self, text: &str, echo: bool) -> Result<Option<Secret>, Error> {
        let (answer, text) = (Arc::clone(&self.0), text.to_owned());
        blocking(move || answer(SshQuestion::Prompt { text: &text, echo }).map(Secret::new)).await
    }

    /// Asks on this thread.
    pub(super) fn passphrase(&self, file: &Path) -> Option<Secret> {
        (self.0)(SshQuestion::Passphrase { file }).map(Secret::new)
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ask(..)")
    }
}
