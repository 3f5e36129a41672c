//! Who may ask, as the files say it at the time.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use aws_lc_rs::hmac;
use tokio::sync::Semaphore;

use super::Refused;
use super::credentials::{Credentials, Password};
use super::files::{sha256, tokens, users};
use super::password::PasswordHash;
use crate::Error;
use crate::error::Kind;

/// The most bytes of a file.
const MAX_FILE: u64 = 4 << 20;
/// The most passwords that are hashed at a time, and that wait for their turn: more are sent away for now.
const HASHING: usize = 2;
const WAITING: usize = 1024;

/// Credentials under a key of this process. Those who do not know it learn nothing from how long it takes to find them.
type Tag = [u8; 32];

/// The files, and what was in them.
pub(super) struct Logins {
    tokens: Option<PathBuf>,
    users: Option<PathBuf>,
    key: hmac::Key,
    read: RwLock<Arc<Known>>,
    reload_after: Duration,
    begun: Instant,
    /// When the files were last looked at, in milliseconds since the beginning.
    looked: AtomicU64,
    hashing: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// What is known of the files as they are. Another version of them begins with nobody's password checked.
struct Known {
    stamps: Stamps,
    users: HashMap<Arc<str>, PasswordHash>,
    /// Tokens, and passwords that were found to be right: of each user there is one at most.
    right: RwLock<HashMap<Tag, Arc<str>>>,
}

/// When files were changed, and their lengths.
type Stamps = [Option<(SystemTime, u64)>; 2];

impl Logins {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// Fails if one of them can't be read or is malformed ([`Error::is_config`]).
    pub(super) fn open(
        tokens: Option<PathBuf>,
        users: Option<PathBuf>,
        reload_after: Duration,
    ) -> Result<Self, Error> {
        let mut key = [0; 32];
        aws_lc_rs::rand::fill(&mut key).map_err(|_| Error::with(Kind::Config, "no random numbers"))?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let known = Known::read(tokens.as_deref(), users.as_deref(), &key)?;
        Ok(Self {
            tokens,
            users,
            key,
            read: RwLock::new(Arc::new(known)),
            reload_after,
            begun: Instant::now(),
            looked: AtomicU64::new(0),
            hashing: Arc::new(Semaphore::new(HASHING)),
            waiting: Arc::new(Semaphore::new(WAITING)),
        })
    }

    /// Looks for other versions of the files, if that was not done a moment ago. One that can't be read or is malformed
    /// changes nothing.
    pub(super) async fn refresh(self: &Arc<Self>) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let looked = self.looked.load(Ordering::Relaxed);
        let is_due = u128::from(now.saturating_sub(looked)) >= self.reload_after.as_millis();
        // Of those who are here at the same time, one looks.
        if !is_due || self.looked.compare_exchange(looked, now, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return;
        }
        let this = self.clone();
        let _ = tokio::task::spawn_blocking(move || this.look()).await;
    }

    fn look(&self) {
        let (tokens, users) = (self.tokens.as_deref(), self.users.as_deref());
        if stamps(tokens, users) == self.known().stamps {
            return;
        }
        match Known::read(tokens, users, &self.key) {
            Ok(known) => {
                tracing::info!("the files of who may ask have changed");
                *self.read.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
            }
            Err(error) => tracing::error!(%error, "who may ask stays as it was"),
        }
    }

    fn known(&self) -> Arc<Known> {
        self.read.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Who that is, if it is known without hashing a password.
    pub(super) fn find(&self, credentials: &Credentials<'_>) -> Option<Arc<str>> {
        let tag = match credentials {
            Credentials::Token(token) => tag_of_token(&self.key, &sha256(token)),
            Credentials::Password(password) => tag_of_password(&self.key, password),
        };
        self.known().find(&tag)
    }

    /// Who that is, after hashing the password.
    pub(super) async fn check(&self, given: Password) -> Result<Arc<str>, Refused> {
        let known = self.known();
        let tag = tag_of_password(&self.key, &given);
        // For a user that there is not it takes as long, so that nobody finds out who there is.
        let (name, hash) = match known.users.get_key_value(given.user()) {
            Some((name, hash)) => (Some(name.clone()), hash.clone()),
            None => (None, known.users.values().next().ok_or(Refused::Login)?.clone()),
        };
        let place = self.waiting.clone().try_acquire_owned().map_err(|_| Refused::Busy)?;
        let turn = self.hashing.clone().acquire_owned().await.map_err(|_| Refused::Busy)?;
        // Somebody else may have had the same to ask.
        if let Some(name) = known.find(&tag) {
            return Ok(name);
        }
        // A client that leaves does not make room for another one before it is done.
        let work = move || {
            let is_right = hash.is_of(given.password());
            drop((place, turn));
            is_right
        };
        let is_right = tokio::task::spawn_blocking(work).await.unwrap_or(false);
        let name = name.filter(|_| is_right).ok_or(Refused::Login)?;
        known.right.write().unwrap_or_else(PoisonError::into_inner).insert(tag, name.clone());
        Ok(name)
    }
}

impl Known {
    fn read(token_file: Option<&Path>, user_file: Option<&Path>, key: &hmac::Key) -> Result<Self, Error> {
        // What is written meanwhile is read the next time.
        let stamps = stamps(token_file, user_file);
        let token_list = parsed(token_file, tokens)?.unwrap_or_default();
        let users = parsed(user_file, users)?.unwrap_or_default();
        let right = token_list.into_iter().map(|(hash, name)| (tag_of_token(key, &hash), name)).collect();
        Ok(Self { stamps, users, right: RwLock::new(right) })
    }

    fn find(&self, tag: &Tag) -> Option<Arc<str>> {
        self.right.read().unwrap_or_else(PoisonError::into_inner).get(tag).cloned()
    }
}

fn stamps(tokens: Option<&Path>, users: Option<&Path>) -> Stamps {
    [tokens, users].map(|path| {
        let metadata = path?.metadata().ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    })
}

fn parsed<T>(path: Option<&Path>, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Error> {
    let Some(path) = path else { return Ok(None) };
    let wrong = |text: &str| Error::with(Kind::Config, format!("{}: {text}", path.display()));
    let text = load(path).map_err(|error| wrong("it can't be read").caused_by(error))?;
    parse(&text).map(Some).map_err(|told| wrong(&told))
}

fn load(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE { Err(ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

fn tag_of_password(key: &hmac::Key, password: &Password) -> Tag {
    signed(key, &[b"p", password.text()])
}

fn tag_of_token(key: &hmac::Key, hash: &[u8; 32]) -> Tag {
    signed(key, &[b"t", hash])
}

fn signed(key: &hmac::Key, parts: &[&[u8]]) -> Tag {
    let mut context = hmac::Context::with_key(key);
    for part in parts {
        context.update(part);
    }
    context.sign().as_ref().try_into().unwrap_or_default()
}
