//! How an index is reached.

use std::fmt;
use std::time::Duration;

use url::Url;

use super::budget::Budget;
use super::place::Hosts;
use crate::Error;
use crate::error::Kind;

/// Where an index is, how it is asked, and what is accepted of it.
///
/// ```
/// use pypi_proxy::upstream::Config;
///
/// let config = Config::new("https://reader:secret@packages.example.org/simple")?;
/// assert_eq!(config.to_string(), "https://***@packages.example.org/simple/");
/// # Ok::<(), pypi_proxy::Error>(())
/// ```
#[derive(Clone)]
pub struct Config {
    /// Without credentials, with a slash at the end.
    pub(super) url: Url,
    pub(super) credentials: Option<Credentials>,
    pub(super) ttl: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) read_timeout: Duration,
    pub(super) max_page: u64,
    pub(super) budget: Budget,
    pub(super) hosts: Hosts,
    pub(super) verify_tls: bool,
    pub(super) offline: bool,
    pub(super) authorities: Vec<Vec<u8>>,
}

/// A user and a password.
#[derive(Clone)]
pub(super) struct Credentials {
    pub(super) user: String,
    pub(super) password: String,
}

impl Config {
    /// Default of [`Config::ttl`]: half an hour.
    pub const DEFAULT_TTL: Duration = Duration::from_secs(1800);
    /// Default of [`Config::connect_timeout`]: 10 seconds.
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// Default of [`Config::read_timeout`]: 30 seconds.
    pub const DEFAULT_READ_TIMEOUT: Duration = Duration::from_secs(30);
    /// Default of [`Config::max_page`]: 256 MiB, several times the list of the largest index there is.
    pub const DEFAULT_MAX_PAGE: u64 = 256 << 20;

    /// The index at a URL, whose user and password are taken as credentials.
    ///
    /// # Errors
    ///
    /// Fails if it is no URL of `http` or `https` ([`Error::is_config`]).
    pub fn new(url: &str) -> Result<Self, Error> {
        // The text may hold a password: no error shows it.
        let wrong = || Error::with(Kind::Config, "the URL of an index has to be one of http or https");
        let mut url = Url::parse(url).map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong());
        }
        let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        let credentials = (!url.username().is_empty() || url.password().is_some()).then(|| Credentials {
            user: decode(url.username()),
            password: decode(url.password().unwrap_or_default()),
        });
        // These can't fail for a URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        if !url.path().ends_with('/') {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        Ok(Self {
            url,
            credentials,
            ttl: Self::DEFAULT_TTL,
            connect_timeout: Self::DEFAULT_CONNECT_TIMEOUT,
            read_timeout: Self::DEFAULT_READ_TIMEOUT,
            max_page: Self::DEFAULT_MAX_PAGE,
            budget: Budget::default(),
            hosts: Hosts::default(),
            verify_tls: true,
            offline: false,
            authorities: Vec::new(),
        })
    }

    /// Sets the user and the password, which are sent to the host of the index and no other.
    #[must_use]
    pub fn credentials(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.credentials = Some(Credentials { user: user.into(), password: password.into() });
        self
    }

    /// How long a page is fresh: it is served without asking again. Default: [`Self::DEFAULT_TTL`].
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// How long making a connection may take. Default: [`Self::DEFAULT_CONNECT_TIMEOUT`].
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long the index may send nothing. Default: [`Self::DEFAULT_READ_TIMEOUT`].
    #[must_use]
    pub fn read_timeout(mut self, timeout: Duration) -> Self {
        self.read_timeout = timeout;
        self
    }

    /// The most bytes of a page, after decompression. Default: [`Self::DEFAULT_MAX_PAGE`].
    #[must_use]
    pub fn max_page(mut self, bytes: u64) -> Self {
        self.max_page = bytes;
        self
    }

    /// Memory for all pages that are decompressed and read at the same time. Indexes that are given the same budget share it.
    /// Default: one of its own, of [`Budget::DEFAULT_BYTES`].
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Takes files from the host of the index and these only; `*.example.org` stands for all below one. Default: all hosts
    /// with public addresses, and for an index on a loopback address those of this machine.
    ///
    /// The rule applies to each URL on a page and to each redirect, and by default also to the addresses that names resolve
    /// to. Names are not checked if an HTTP proxy of the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`) is used,
    /// because the proxy resolves them. Then list the hosts, or have the proxy refuse private addresses.
    #[must_use]
    pub fn file_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hosts = Hosts::Listed(hosts.into_iter().map(|host| host.into().to_ascii_lowercase()).collect());
        self
    }

    /// Trusts these certificates in PEM beside those of the system. Default: none.
    #[must_use]
    pub fn authority(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities.push(pem.into());
        self
    }

    /// Opens no connection: every request fails at once, and what is cached is served. Default: off.
    #[must_use]
    pub fn offline(mut self, is_offline: bool) -> Self {
        self.offline = is_offline;
        self
    }

    /// Takes any certificate of the index and of the hosts of its files: anybody on the way can read and change what they
    /// send then, but for the files whose hashes are known.
    #[must_use]
    pub fn danger_accept_any_certificate(mut self) -> Self {
        self.verify_tls = false;
        self
    }
}

/// The URL with its credentials masked.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.credentials {
            None => write!(f, "{}", self.url),
            Some(_) => write!(f, "{}://***@{}{}", self.url.scheme(), self.url.authority(), self.url.path()),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("url", &format_args!("{self}"))
            .field("ttl", &self.ttl)
            .field("hosts", &self.hosts)
            .field("verify_tls", &self.verify_tls)
            .finish_non_exhaustive()
    }
}
