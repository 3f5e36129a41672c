//! Authentication with the current contents of the login files.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use parking_lot::RwLock;
use tokio::sync::Semaphore;

use super::Rejection;
use super::login_files::{PasswordHash, parse_tokens, parse_users, sha256};
use crate::Error;
use crate::error::Kind;
use crate::file_watch::{self, CheckTimer, FileStamp};

/// Maximum size of a file in bytes.
const MAX_FILE: u64 = 4 << 20;
/// Maximum number of passwords that are hashed concurrently, and that are hashed or queued. Further requests are
/// rejected.
const MAX_HASHING: usize = 2;
const MAX_PENDING: usize = 1024;

/// HMAC of credentials with a key of this process. The time of a lookup reveals nothing to clients, which do not know
/// the key.
type CredentialTag = [u8; 32];

/// Checks credentials against the login files, and reloads the files when they change.
pub(super) struct Authenticator {
    tokens: Option<PathBuf>,
    users: Option<PathBuf>,
    key: hmac::Key,
    read: RwLock<Arc<LoginSnapshot>>,
    checks: CheckTimer,
    hashing: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// Contents of one version of the files. A new version discards the verified passwords.
struct LoginSnapshot {
    stamps: FileStamps,
    users: HashMap<Arc<str>, PasswordHash>,
    /// Names for the tags of all tokens and verified passwords, at most one password per user.
    verified: RwLock<HashMap<CredentialTag, Arc<str>>>,
}

/// Modification times and lengths of the files.
type FileStamps = [FileStamp; 2];

impl Authenticator {
    /// Reads the files. Fails if a file can't be read or is malformed ([`Error::is_config`]).
    pub(super) fn open(
        tokens: Option<PathBuf>,
        users: Option<PathBuf>,
        reload_after: Duration,
    ) -> Result<Self, Error> {
        let mut key = [0; 32];
        aws_lc_rs::rand::fill(&mut key)
            .map_err(|_| Error::with(Kind::Config, "no random number generator"))?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let snapshot = LoginSnapshot::read(tokens.as_deref(), users.as_deref(), &key)?;
        Ok(Self {
            tokens,
            users,
            key,
            read: RwLock::new(Arc::new(snapshot)),
            checks: CheckTimer::new(reload_after),
            hashing: Arc::new(Semaphore::new(MAX_HASHING)),
            waiting: Arc::new(Semaphore::new(MAX_PENDING)),
        })
    }

    /// Reloads changed files, unless they were checked within `reload_after`. An unreadable or malformed file is
    /// ignored.
    pub(super) async fn refresh(self: &Arc<Self>) {
        if !self.checks.is_due() {
            return;
        }
        let this = self.clone();
        let reload = move || {
            if let Err(error) = this.reload() {
                tracing::error!(%error, "login files not reloaded");
            }
        };
        let _ = tokio::task::spawn_blocking(reload).await;
    }

    /// Reloads changed files. Blocks the thread. Fails if a file can't be read or is malformed ([`Error::is_config`]).
    pub(super) fn reload(&self) -> Result<(), Error> {
        let (tokens, users) = (self.tokens.as_deref(), self.users.as_deref());
        if read_stamps(tokens, users) != self.snapshot().stamps {
            let snapshot = LoginSnapshot::read(tokens, users, &self.key)?;
            tracing::info!("login files reloaded");
            *self.read.write() = Arc::new(snapshot);
        }
        Ok(())
    }

    fn snapshot(&self) -> Arc<LoginSnapshot> {
        self.read.read().clone()
    }

    /// Returns the name for a token or an already verified password.
    pub(super) fn find(&self, credentials: &Credentials<'_>) -> Option<Arc<str>> {
        let tag = match credentials {
            Credentials::Token(token) => tag(&self.key, TOKEN, &sha256(token)),
            Credentials::Password(password) => tag(&self.key, PASSWORD, &password.text),
        };
        self.snapshot().find(&tag)
    }

    /// Returns the name for credentials that name a user or are a token, without verifying a password.
    pub(super) fn known_user(&self, credentials: &Credentials<'_>) -> Option<Arc<str>> {
        let named = || match credentials {
            Credentials::Token(_) => None,
            Credentials::Password(password) => {
                self.snapshot().users.get_key_value(password.user()).map(|(name, _)| name.clone())
            }
        };
        self.find(credentials).or_else(named)
    }

    /// Verifies a password by hashing it, and returns the name of the user.
    pub(super) async fn check(&self, password: Password) -> Result<Arc<str>, Rejection> {
        let snapshot = self.snapshot();
        let tag = tag(&self.key, PASSWORD, &password.text);
        // An unknown user takes as long as a known one, so that user names can't be guessed by timing.
        let (name, hash) = match snapshot.users.get_key_value(password.user()) {
            Some((name, hash)) => (Some(name.clone()), hash.clone()),
            None => (None, snapshot.users.values().next().ok_or(Rejection::Unauthenticated)?.clone()),
        };
        let queue_permit = self.waiting.clone().try_acquire_owned().map_err(|_| Rejection::Overloaded)?;
        let hash_permit = self.hashing.clone().acquire_owned().await.map_err(|_| Rejection::Overloaded)?;
        // A concurrent request may have verified the same password.
        if let Some(name) = snapshot.find(&tag) {
            return Ok(name);
        }
        // The permits are held until hashing ends, even if the client disconnects.
        let work = move || {
            let is_right = hash.matches(password.password());
            drop((queue_permit, hash_permit));
            is_right
        };
        let is_right = tokio::task::spawn_blocking(work).await.unwrap_or(false);
        let name = name.filter(|_| is_right).ok_or(Rejection::Unauthenticated)?;
        snapshot.verified.write().insert(tag, name.clone());
        Ok(name)
    }
}

impl LoginSnapshot {
    fn read(token_file: Option<&Path>, user_file: Option<&Path>, key: &hmac::Key) -> Result<Self, Error> {
        // Read first, so that a concurrent write causes another reload.
        let stamps = read_stamps(token_file, user_file);
        let token_list = parse_file(token_file, parse_tokens)?.unwrap_or_default();
        let users = parse_file(user_file, parse_users)?.unwrap_or_default();
        let verified = token_list.into_iter().map(|(hash, name)| (tag(key, TOKEN, &hash), name)).collect();
        Ok(Self { stamps, users, verified: RwLock::new(verified) })
    }

    fn find(&self, tag: &CredentialTag) -> Option<Arc<str>> {
        self.verified.read().get(tag).cloned()
    }
}

fn read_stamps(tokens: Option<&Path>, users: Option<&Path>) -> FileStamps {
    [tokens, users].map(|path| path.and_then(file_watch::stamp))
}

fn parse_file<T>(path: Option<&Path>, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Error> {
    let Some(path) = path else { return Ok(None) };
    let wrong = |text: &str| Error::with(Kind::Config, format!("{}: {text}", path.display()));
    let text = file_watch::read(path, MAX_FILE).map_err(|error| wrong("can't be read").caused_by(error))?;
    parse(&text).map(Some).map_err(|message| wrong(&message))
}

/// Kinds of credentials, so that a password is never taken for the hash of a token.
const PASSWORD: &[u8] = b"p";
const TOKEN: &[u8] = b"t";

fn tag(key: &hmac::Key, kind: &[u8], secret: &[u8]) -> CredentialTag {
    let mut context = hmac::Context::with_key(key);
    context.update(kind);
    context.update(secret);
    context.sign().as_ref().try_into().unwrap_or_default()
}

/// Maximum length of the header value in bytes.
const MAX_LEN: usize = 2048;
/// User whose password is a token, a common convention of installers.
const TOKEN_USER: &[u8] = b"__token__";

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Credentials<'v> {
    Token(Cow<'v, [u8]>),
    Password(Password),
}

/// User and password with a colon between them.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Password {
    text: Vec<u8>,
    colon: usize,
}

impl Password {
    /// Returns the user, or an empty string (which matches no user) if it is not UTF-8.
    pub(super) fn user(&self) -> &str {
        std::str::from_utf8(&self.text[..self.colon]).unwrap_or_default()
    }

    pub(super) fn password(&self) -> &[u8] {
        &self.text[self.colon + 1..]
    }
}

impl<'v> Credentials<'v> {
    /// Parses a header value: `Bearer` (RFC 6750) or `Basic` (RFC 7617). `None` for other schemes and malformed values.
    pub(super) fn parse(value: &'v str) -> Option<Self> {
        if value.len() > MAX_LEN {
            return None;
        }
        if let Some(token) = parameter(value, "bearer") {
            return Some(Self::Token(token.as_bytes().into()));
        }
        let mut text = BASE64_STANDARD.decode(parameter(value, "basic")?).ok()?;
        let colon = text.iter().position(|byte| *byte == b':')?;
        if text[..colon] == *TOKEN_USER {
            text.drain(..=colon);
            return Some(Self::Token(text.into()));
        }
        Some(Self::Password(Password { text, colon }))
    }
}

/// Returns the credentials after the scheme in a value of `Authorization`, or `None` if it has another scheme.
pub(crate) fn parameter<'v>(value: &'v str, scheme: &str) -> Option<&'v str> {
    let (sent, rest) = value.split_once(' ')?;
    sent.eq_ignore_ascii_case(scheme).then(|| rest.trim_matches(' '))
}

/// Returns whether the value contains supported credentials.
#[cfg(fuzzing)]
pub fn parse_authorization(value: &str) -> bool {
    Credentials::parse(value).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// User and password, or a token.
    type Parsed = Result<(String, Vec<u8>), Vec<u8>>;

    fn parse(value: &str) -> Option<Parsed> {
        Credentials::parse(value).map(|credentials| match credentials {
            Credentials::Token(token) => Err(token.into_owned()),
            Credentials::Password(both) => Ok((both.user().to_owned(), both.password().to_vec())),
        })
    }

    fn basic(text: impl AsRef<[u8]>) -> Option<Parsed> {
        parse(&format!("Basic {}", BASE64_STANDARD.encode(text)))
    }

    #[test]
    fn bearer_and_basic_are_parsed() {
        let token = |text: &str| Some(Err(text.into()));
        let password = |user: &str, password: &str| Some(Ok((user.into(), password.into())));
        assert_eq!(parse("Bearer abc"), token("abc"));
        assert_eq!(parse("bEARER  abc "), token("abc"));
        assert_eq!(basic("__token__:abc:d"), token("abc:d"));
        assert_eq!(basic("ann:pass:word"), password("ann", "pass:word"));
        assert_eq!(basic("ann:"), password("ann", ""));
        assert_eq!(basic("Änne:ß"), password("Änne", "ß"));
        assert_eq!(parse("basic YW5uOng="), password("ann", "x"));
        assert_eq!(basic(b"\xff:x"), password("", "x"));
    }
}
