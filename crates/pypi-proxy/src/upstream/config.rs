//! Configuration of the client for an index.

use std::fmt;
use std::time::Duration;

use url::Url;

use super::budget::Budget;
use super::url_policy::AllowedHosts;
use crate::Error;
use crate::error::Kind;

/// Configuration of the client for an index: URL, credentials, timeouts and limits.
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
    /// Without credentials, with a trailing slash.
    pub(super) url: Url,
    pub(super) credentials: Option<Credentials>,
    pub(super) ttl: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) read_timeout: Duration,
    pub(super) max_page: u64,
    pub(super) budget: Budget,
    pub(super) hosts: AllowedHosts,
    pub(super) verify_tls: bool,
    pub(super) offline: bool,
    pub(super) authorities: Vec<Vec<u8>>,
}

/// User and password of an index.
#[derive(Clone)]
pub(super) struct Credentials {
    pub(super) user: String,
    pub(super) password: String,
}

impl Config {
    /// Default of [`Config::ttl`]: 30 minutes.
    pub const DEFAULT_TTL: Duration = Duration::from_secs(1800);
    /// Default of [`Config::connect_timeout`]: 10 seconds.
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// Default of [`Config::read_timeout`]: 30 seconds.
    pub const DEFAULT_READ_TIMEOUT: Duration = Duration::from_secs(30);
    /// Default of [`Config::max_page`]: 256 MiB, several times the project list of the largest public index.
    pub const DEFAULT_MAX_PAGE: u64 = 256 << 20;

    /// Creates a configuration from a URL. User and password of the URL become the credentials.
    ///
    /// # Errors
    ///
    /// Fails if it is not an `http` or `https` URL ([`Error::is_config`]).
    pub fn new(url: &str) -> Result<Self, Error> {
        // The URL may contain a password: no error shows it.
        let wrong = || Error::with(Kind::Config, "the URL of an index must be an http or https URL");
        let mut url = Url::parse(url).map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong());
        }
        let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        let credentials = (!url.username().is_empty() || url.password().is_some()).then(|| Credentials {
            user: decode(url.username()),
            password: decode(url.password().unwrap_or_default()),
        });
        // Both succeed for a URL with a host.
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
            hosts: AllowedHosts::default(),
            verify_tls: true,
            offline: false,
            authorities: Vec::new(),
        })
    }

    /// Sets user and password. They are sent to the origin of the index only.
    #[must_use]
    pub fn credentials(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.credentials = Some(Credentials { user: user.into(), password: password.into() });
        self
    }

    /// Sets the time for which a page is served without revalidation. Default: [`Self::DEFAULT_TTL`].
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets the timeout for connecting. Default: [`Self::DEFAULT_CONNECT_TIMEOUT`].
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the maximum time without received data. Default: [`Self::DEFAULT_READ_TIMEOUT`].
    #[must_use]
    pub fn read_timeout(mut self, timeout: Duration) -> Self {
        self.read_timeout = timeout;
        self
    }

    /// Sets the maximum bytes of a page after decompression. Default: [`Self::DEFAULT_MAX_PAGE`].
    #[must_use]
    pub fn max_page(mut self, bytes: u64) -> Self {
        self.max_page = bytes;
        self
    }

    /// Sets the memory budget for decompressing and parsing pages. Indexes may share a budget. Default: a separate
    /// budget of [`Budget::DEFAULT_BYTES`].
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Restricts file downloads to the host of the index and these hosts; `*.example.org` matches all subdomains.
    /// Default: all hosts with public addresses, and loopback hosts for an index on a loopback address.
    ///
    /// The restriction applies to each file URL and redirect, and by default also to resolved addresses. Resolved
    /// addresses are not checked if the environment configures an HTTP proxy (`HTTP_PROXY`, `HTTPS_PROXY`,
    /// `ALL_PROXY`), because the proxy resolves host names. In this case list the hosts, or configure that proxy to
    /// reject private addresses.
    #[must_use]
    pub fn file_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hosts =
            AllowedHosts::Listed(hosts.into_iter().map(|host| host.into().to_ascii_lowercase()).collect());
        self
    }

    /// Trusts the authorities in this PEM text in addition to those of the system. Default: none.
    #[must_use]
    pub fn authority(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities.push(pem.into());
        self
    }

    /// Disables all requests: each one fails at once, and only cached content is served. Default: off.
    #[must_use]
    pub fn offline(mut self, is_offline: bool) -> Self {
        self.offline = is_offline;
        self
    }

    /// Accepts any certificate of the index and its file hosts. An attacker in the network can then read and modify
    /// everything except files with a known hash.
    #[must_use]
    pub fn danger_accept_any_certificate(mut self) -> Self {
        self.verify_tls = false;
        self
    }
}

/// Formats the URL with masked credentials.
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
