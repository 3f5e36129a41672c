//! Who may ask, and how much.
//!
//! ```no_run
//! use pypi_proxy::guard::{Config, Guard};
//!
//! let guard = Guard::new(
//!     Config::new().htpasswd_file("/etc/pypi-proxy/htpasswd").rate_limit(50, 500).trusted_proxies(["10.0.0.0/8".parse()?]),
//! )?;
//! let serve = pypi_proxy::serve::Config::new().guard(guard);
//! # let _ = serve;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod credentials;
mod files;
mod limit;
mod logins;
mod password;
mod peer;

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

#[doc(hidden)]
pub use credentials::parse_authorization;
#[doc(hidden)]
pub use files::parse_files;
use ipnet::IpNet;

use self::credentials::Credentials;
use self::limit::{Client, Limiter};
use self::logins::Logins;
use crate::Error;

/// Who may ask, and how much.
#[derive(Clone, Debug)]
pub struct Config {
    tokens: Option<PathBuf>,
    users: Option<PathBuf>,
    guards_metrics: bool,
    rate: Option<(u32, u32)>,
    trusted: Vec<IpNet>,
    reload_after: Duration,
}

impl Config {
    /// Default of [`Config::reload_after`]: 5 seconds.
    pub const DEFAULT_RELOAD_AFTER: Duration = Duration::from_secs(5);

    /// Everybody may ask as much as they want.
    pub fn new() -> Self {
        Self {
            tokens: None,
            users: None,
            guards_metrics: true,
            rate: None,
            trusted: Vec::new(),
            reload_after: Self::DEFAULT_RELOAD_AFTER,
        }
    }

    /// Answers those who have a token of this file: in each line a token of at least 16 characters, or its SHA-256 as
    /// `sha256:` and digits, and behind a blank, if there is one, the name of its owner; lines that begin with `#` are
    /// passed over. Clients send it as `Authorization: Bearer`, or as the password of the user `__token__`. Default: none.
    #[must_use]
    pub fn tokens_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.tokens = Some(path.into());
        self
    }

    /// Answers users of this file, which is as `htpasswd -B` makes it: hashes are those of bcrypt with a cost of at most
    /// 15, or of SHA-crypt with at most a million rounds. Passwords have less than 72 bytes for bcrypt, at most 256 for
    /// SHA-crypt. Clients send `Authorization: Basic`. Default: none.
    ///
    /// If there are both files, either is enough. They may have 10,000 lines and 4 MiB each.
    #[must_use]
    pub fn htpasswd_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.users = Some(path.into());
        self
    }

    /// How often the files are looked at for changes. One that can't be read any more, or is malformed, is told of in the
    /// log and changes nothing. Default: [`Self::DEFAULT_RELOAD_AFTER`].
    #[must_use]
    pub fn reload_after(mut self, time: Duration) -> Self {
        self.reload_after = time;
        self
    }

    /// Whether metrics, `/health` and the page for people are also for those who may ask alone. Default: yes.
    #[must_use]
    pub fn guards_metrics(mut self, is_on: bool) -> Self {
        self.guards_metrics = is_on;
        self
    }

    /// Answers so many requests a second of each client on average, and so many at once; at least one. A client is a user or
    /// the owner of a token, else an address of IPv4 or a network of 64 bits of IPv6. Of 65,536 clients it is known how
    /// much they have asked. Default: no limit.
    #[must_use]
    pub fn rate_limit(mut self, per_second: u32, burst: u32) -> Self {
        self.rate = Some((per_second, burst));
        self
    }

    /// Believes proxies with these addresses what they say of who has asked them, in `X-Forwarded-For`. Default: none.
    #[must_use]
    pub fn trusted_proxies(mut self, networks: impl IntoIterator<Item = IpNet>) -> Self {
        self.trusted.extend(networks);
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

/// Decides whether a request is answered.
pub struct Guard {
    logins: Option<Arc<Logins>>,
    guards_metrics: bool,
    limiter: Option<Mutex<Limiter>>,
    begun: Instant,
    trusted: Vec<IpNet>,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is not known who asks.
    Login,
    /// They have asked too much; after this time they may again.
    Rate(Duration),
    /// Too many passwords wait for being checked.
    Busy,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// Pages, files and what else clients come for.
    Index,
    /// What the proxy tells of itself.
    Metrics,
    /// What has a token of its own.
    Admin,
}

impl Guard {
    /// Reads the files of who may ask.
    ///
    /// # Errors
    ///
    /// Fails if one of them can't be read or is malformed ([`Error::is_config`]).
    pub fn new(config: Config) -> Result<Self, Error> {
        let Config { tokens, users, guards_metrics, rate, trusted, reload_after } = config;
        let has_logins = tokens.is_some() || users.is_some();
        let logins =
            has_logins.then(|| Logins::open(tokens, users, reload_after).map(Arc::new)).transpose()?;
        let limiter = rate.map(|(per_second, burst)| Mutex::new(Limiter::new(per_second, burst)));
        Ok(Self { logins, guards_metrics, limiter, begun: Instant::now(), trusted })
    }

    /// The address of who asks over a connection from `peer`, with these proxies on the way.
    pub(crate) fn client(&self, peer: Option<IpAddr>, forwarded: &str) -> Option<IpAddr> {
        peer::client(peer, forwarded, &self.trusted)
    }

    /// Who asks, if anybody has to say so, and they may ask now.
    pub(crate) async fn admit(
        &self,
        area: Area,
        client: Option<IpAddr>,
        authorization: Option<&str>,
    ) -> Result<Option<Arc<str>>, Refused> {
        let is_open = area == Area::Admin || area == Area::Metrics && !self.guards_metrics;
        let Some(logins) = self.logins.as_ref().filter(|_| !is_open) else {
            return self.take(client.into()).map(|()| None);
        };
        logins.refresh().await;
        let credentials = authorization.and_then(Credentials::parse);
        if let Some(user) = credentials.as_ref().and_then(|credentials| logins.find(credentials)) {
            return self.take(Client::User(user.clone())).map(|()| Some(user));
        }
        // Guessing counts, too, before it costs anything.
        self.take(client.into())?;
        match credentials {
            Some(Credentials::Password(password)) => logins.check(password).await.map(Some),
            Some(Credentials::Token(_)) | None => Err(Refused::Login),
        }
    }

    fn take(&self, client: Client) -> Result<(), Refused> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        let now = self.begun.elapsed();
        limiter.lock().unwrap_or_else(PoisonError::into_inner).take(client, now).map_err(Refused::Rate)
    }
}

/// Shows nothing of who may ask.
impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("has_logins", &self.logins.is_some())
            .field("guards_metrics", &self.guards_metrics)
            .field("has_limit", &self.limiter.is_some())
            .field("trusted", &self.trusted)
            .finish()
    }
}
