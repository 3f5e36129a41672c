//! Configuration of the client for an index.

use std::fmt;
use std::time::Duration;

use http::StatusCode;
use url::Url;

use super::budget::Budget;
use super::netrc::Netrc;
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
    /// URL of the index, without credentials and with a trailing slash.
    pub(crate) url: Url,
    /// User and password. They are sent to the origin of the index only. Default: those of the URL.
    pub credentials: Option<(String, String)>,
    /// File with the credentials of the host of the index, if [`Self::credentials`] is `None`. Default: none.
    pub netrc: Option<Netrc>,
    /// Time for which a page is served without revalidation. Default: 30 minutes.
    pub ttl: Duration,
    /// Timeout for connecting. Default: 10 seconds.
    pub connect_timeout: Duration,
    /// Maximum time without received data. Default: 30 seconds.
    pub read_timeout: Duration,
    /// Maximum bytes of a page after decompression. Default: 256 MiB, several times the project list of the largest
    /// public index.
    pub max_page: u64,
    /// Memory budget for decompressing and parsing pages. Indexes may share a budget. Default: a separate budget of
    /// [`Budget::DEFAULT_BYTES`].
    pub budget: Budget,
    /// Restricts file downloads to the host of the index and these hosts; `*.example.org` matches all subdomains.
    /// Default: all hosts with public addresses, and loopback hosts for an index on a loopback address.
    ///
    /// The restriction applies to each file URL and redirect, and by default also to resolved addresses. Resolved
    /// addresses are not checked if the environment configures an HTTP proxy (`HTTP_PROXY`, `HTTPS_PROXY`,
    /// `ALL_PROXY`), because the proxy resolves host names. In this case list the hosts, or configure that proxy to
    /// reject private addresses.
    pub file_hosts: Option<Vec<String>>,
    /// Accepts any certificate of the index and its file hosts. An attacker in the network can then read and modify
    /// everything except files with a known hash. Default: off.
    pub danger_accept_any_certificate: bool,
    /// Disables all requests: each one fails at once, and only cached content is served. Default: off.
    pub offline: bool,
    /// URL of the JSON API of the index, to which `NAME/json` is appended. Default: for an index URL that ends in
    /// `/simple/`, the URL with `/pypi/` instead; otherwise none.
    pub json_api: Option<Url>,
    /// Statuses besides 404 and 410 that mean that the index does not have a project or file. Default: 403 for
    /// `pytorch.org` and its subdomains, as in uv; otherwise none.
    pub missing_statuses: Vec<u16>,
    /// Certificate authorities in PEM format that are trusted in addition to those of the system. Default: none.
    pub authorities: Vec<Vec<u8>>,
}

impl Config {
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
        let credentials = (!url.username().is_empty() || url.password().is_some())
            .then(|| (decode(url.username()), decode(url.password().unwrap_or_default())));
        // Both succeed for a URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        if !url.path().ends_with('/') {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        let json_api = url.path().strip_suffix("/simple/").map(|path| {
            let mut json_api = url.clone();
            json_api.set_path(&format!("{path}/pypi/"));
            json_api
        });
        let host = url.host_str().unwrap_or_default();
        let is_pytorch = host == "pytorch.org" || host.ends_with(".pytorch.org");
        Ok(Self {
            missing_statuses: is_pytorch.then_some(403).into_iter().collect(),
            url,
            json_api,
            credentials,
            netrc: None,
            ttl: Duration::from_secs(1800),
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            max_page: 256 << 20,
            budget: Budget::default(),
            file_hosts: None,
            danger_accept_any_certificate: false,
            offline: false,
            authorities: Vec::new(),
        })
    }

    /// Returns whether a status means that a project or file does not exist.
    pub(super) fn is_missing(&self, status: StatusCode) -> bool {
        matches!(status.as_u16(), 404 | 410) || self.missing_statuses.contains(&status.as_u16())
    }

    /// Returns the credentials that are currently valid.
    pub(super) fn current_credentials(&self) -> Option<(String, String)> {
        let of_file = || self.netrc.as_ref()?.credentials(self.url.host_str().unwrap_or_default());
        self.credentials.clone().or_else(of_file)
    }
}

/// Formats the URL with masked credentials.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.current_credentials() {
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
            .field("file_hosts", &self.file_hosts)
            .field("json_api", &self.json_api.as_ref().map(Url::as_str))
            .field("danger_accept_any_certificate", &self.danger_accept_any_certificate)
            .finish_non_exhaustive()
    }
}
