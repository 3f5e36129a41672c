//! Access control: authentication and rate limits.
//!
//! ```no_run
//! use pypi_proxy::guard::{Config, Guard};
//!
//! let guard = Guard::new(Config {
//!     htpasswd_file: Some("/etc/pypi-proxy/htpasswd".into()),
//!     rate_limit: Some((50, 500)),
//!     trusted_proxies: vec!["10.0.0.0/8".parse()?],
//!     ..Config::default()
//! })?;
//! let serve = pypi_proxy::serve::Config { guard: Some(guard.into()), ..Default::default() };
//! # let _ = serve;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod authenticator;
mod login_files;
mod rate_limit;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ipnet::IpNet;
use parking_lot::Mutex;

pub(crate) use self::authenticator::parameter;
use self::authenticator::{Authenticator, Credentials};
pub(crate) use self::rate_limit::{ClientId, RateLimiter};
use crate::Error;

#[cfg(fuzzing)]
pub use authenticator::parse_authorization;
#[cfg(fuzzing)]
pub use login_files::parse_files;

/// Configuration of the access control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Requires a login, and accepts the tokens of this file. Each line has a token of at least 16 characters, or its
    /// SHA-256 as `sha256:` and hexadecimal digits, optionally followed by a space and the name of its owner. Lines
    /// that start with `#` are ignored. Clients send the token as `Authorization: Bearer`, or as the password of the
    /// user `__token__`. Default: none.
    pub tokens_file: Option<PathBuf>,
    /// Requires a login, and accepts the users of this file in the format of `htpasswd -B`: bcrypt hashes with a cost
    /// of at most 15, or SHA-crypt hashes with at most a million rounds. Passwords have less than 72 bytes for bcrypt
    /// and at most 256 bytes for SHA-crypt. Clients send `Authorization: Basic`. Default: none.
    ///
    /// With both files, a token or a password is sufficient. Each file may have 10,000 lines and 4 MiB.
    pub htpasswd_file: Option<PathBuf>,
    /// Requires a login for metrics, `/health` and the status page as well. Default: on.
    pub guards_metrics: bool,
    /// Limits the requests of each client to this number per second on average and to another number at once; at least
    /// 1 each. A client is a user or the owner of a token, otherwise an IPv4 address or an IPv6 network of 64 bits.
    /// State is kept for the 65,536 most recent clients. Default: no limit.
    pub rate_limit: Option<(u32, u32)>,
    /// Trusts `X-Forwarded-For` from proxies in these networks. Default: none.
    pub trusted_proxies: Vec<IpNet>,
    /// Minimum time between checks for changes of the files. A changed file that is unreadable or malformed is logged
    /// and ignored. Default: 5 seconds.
    pub reload_after: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            tokens_file: None,
            htpasswd_file: None,
            guards_metrics: true,
            rate_limit: None,
            trusted_proxies: Vec::new(),
            reload_after: Duration::from_secs(5),
        }
    }
}

/// Decides whether a request is accepted.
pub struct Guard {
    config: Config,
    authenticator: Option<Arc<Authenticator>>,
    guards_metrics: bool,
    limiter: Option<Mutex<RateLimiter>>,
    start: Instant,
    trusted: Vec<IpNet>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// Missing or wrong credentials.
    Unauthenticated,
    /// The client exceeded its rate limit; the time is the delay until a retry can succeed.
    RateLimited(Duration),
    /// The queue of password checks is full.
    Overloaded,
}

/// Group of paths with the same access rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// Pages and files.
    Index,
    /// Metrics, health and status.
    Metrics,
    /// Administration, which has a separate token.
    Admin,
}

impl Guard {
    /// Reads the files of tokens and users.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be read or is malformed ([`Error::is_config`]).
    pub fn new(config: Config) -> Result<Self, Error> {
        let Config { tokens_file, htpasswd_file, guards_metrics, rate_limit, trusted_proxies, reload_after } =
            config.clone();
        let has_logins = tokens_file.is_some() || htpasswd_file.is_some();
        let open = || Authenticator::open(tokens_file, htpasswd_file, reload_after).map(Arc::new);
        let authenticator = has_logins.then(open).transpose()?;
        let limiter = rate_limit.map(|(per_second, burst)| Mutex::new(RateLimiter::new(per_second, burst)));
        let (start, trusted) = (Instant::now(), trusted_proxies);
        Ok(Self { config, authenticator, guards_metrics, limiter, start, trusted })
    }

    /// Returns whether this is the configuration of the guard.
    pub(crate) fn has_config(&self, config: &Config) -> bool {
        self.config == *config
    }

    /// Reloads changed files of tokens and users. Blocks the thread.
    ///
    /// # Errors
    ///
    /// Fails if a file can't be read or is malformed ([`Error::is_config`]). Then the previous logins stay valid.
    pub fn reload(&self) -> Result<(), Error> {
        self.authenticator.as_ref().map_or(Ok(()), |authenticator| authenticator.reload())
    }

    /// Returns the client address for a connection from `peer` with this `X-Forwarded-For`.
    pub(crate) fn client(&self, peer: Option<IpAddr>, forwarded: &str) -> Option<IpAddr> {
        client_address(peer, forwarded, &self.trusted)
    }

    /// Checks a request, and returns the name of the user or token owner if the area requires a login.
    pub(crate) async fn authorize(
        &self,
        area: Area,
        client: Option<IpAddr>,
        authorization: Option<&str>,
    ) -> Result<Option<Arc<str>>, Rejection> {
        let is_open = area == Area::Admin || area == Area::Metrics && !self.guards_metrics;
        let Some(authenticator) = self.authenticator.as_ref().filter(|_| !is_open) else {
            return self.acquire(client.into()).map(|()| None);
        };
        authenticator.refresh().await;
        let credentials = authorization.and_then(Credentials::parse);
        if let Some(user) = credentials.as_ref().and_then(|credentials| authenticator.find(credentials)) {
            return self.acquire(ClientId::User(user.clone())).map(|()| Some(user));
        }
        // Failed logins count toward the limit of the address, before the password is hashed.
        self.acquire(client.into())?;
        match credentials {
            Some(Credentials::Password(password)) => authenticator.check(password).await.map(Some),
            Some(Credentials::Token(_)) | None => Err(Rejection::Unauthenticated),
        }
    }

    /// Returns the user or token owner of a refused request, without checking a password. `None` for an unknown name,
    /// which may be a secret in the wrong place.
    #[cold]
    pub(crate) fn known_user(&self, authorization: Option<&str>) -> Option<Arc<str>> {
        self.authenticator.as_ref()?.known_user(&Credentials::parse(authorization?)?)
    }

    fn acquire(&self, client: ClientId) -> Result<(), Rejection> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        let now = self.start.elapsed();
        limiter.lock().acquire(client, now).map_err(Rejection::RateLimited)
    }
}

/// Omits the logins.
impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("has_logins", &self.authenticator.is_some())
            .field("guards_metrics", &self.guards_metrics)
            .field("has_limit", &self.limiter.is_some())
            .field("trusted", &self.trusted)
            .finish()
    }
}

/// Returns the client address: that of the connection or, behind trusted proxies, the last untrusted address in
/// `X-Forwarded-For`. Clients may forge the addresses before it.
fn client_address(peer: Option<IpAddr>, forwarded: &str, trusted: &[IpNet]) -> Option<IpAddr> {
    let is_trusted = |address: IpAddr| trusted.iter().any(|net| net.contains(&address));
    let mut client = peer?.to_canonical();
    let mut hops = forwarded.rsplit(',').map(str::trim);
    while is_trusted(client)
        && let Some(before) = hops.next().and_then(address)
    {
        client = before;
    }
    Some(client)
}

/// Parses an address with optional brackets and port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(peer: &str, forwarded: &str) -> String {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
        client_address(Some(peer.parse().unwrap()), forwarded, &trusted).unwrap().to_string()
    }

    #[test]
    fn only_trusted_proxies_can_set_the_client_address() {
        for (peer, forwarded, expected) in [
            ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
            ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("10.0.0.1", "1.1.1.1, 198.51.100.7 , 10.9.9.9", "198.51.100.7"),
            ("10.0.0.1", "198.51.100.7:4711, [2001:db8::1]:80", "198.51.100.7"),
            ("2001:db8::1", "[2003::7]", "2003::7"),
            // All addresses are trusted, or the last one is malformed.
            ("10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3"),
            ("10.0.0.1", "198.51.100.7, unknown", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"),
        ] {
            assert_eq!(of(peer, forwarded), expected, "{peer} {forwarded}");
        }
        assert_eq!(client_address(None, "192.0.2.1", &[]), None);
    }

    proptest! {
        #[test]
        fn arbitrary_headers_result_in_an_address(forwarded in "[0-9a-f.:,\\[\\] ]{0,60}") {
            let address = of("10.0.0.1", &forwarded);
            prop_assert!(address == "10.0.0.1" || address.parse::<IpAddr>().is_ok());
            prop_assert_eq!(of("192.0.2.1", &forwarded), "192.0.2.1");
        }

        #[test]
        fn arbitrary_logins_and_login_files_do_not_panic(
            value in "((?i)basic|bearer)? {0,2}[A-Za-z0-9+/=:]{0,40}",
            text in "(([a-z#]{0,3}:)?([$]2y[$]|[$]6[$](rounds=)?|sha256:|[{]SHA[}])?[a-zA-Z0-9./$: ä]{0,70}\n){0,3}",
        ) {
            let _ = (Credentials::parse(&value), login_files::parse_tokens(&text), login_files::parse_users(&text));
        }
    }
}
