//! Types of setting values, with parsing and formatting.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::{Duration, SystemTime};

use ipnet::IpNet;
use url::Url;

use super::table::{Dialect, Value};
use crate::page_cache::IndexStrategy;
use crate::rules::{OsvSelection, ProjectPattern, ProjectSelector, StatusRule, UnknownAge, Yanked};
use crate::units::{format_duration, format_size, parse_duration, parse_size};
use crate::{Error, upstream};

impl Value for String {
    const SYNTAX: &'static str = "text";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Some(text.to_owned())
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl Value for PathBuf {
    const SYNTAX: &'static str = "a path";
    const LIST_SYNTAX: &'static str = "a comma-separated list of paths";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        (!text.is_empty()).then(|| text.into())
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

impl Value for bool {
    const SYNTAX: &'static str = "true or false";

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        let word = text.to_ascii_lowercase();
        match (&*word, dialect) {
            ("0" | "no" | "off" | "false", _) => Some(false),
            ("1" | "yes" | "on" | "true", _) => Some(true),
            (_, Dialect::PypiProxy) => None,
            // groxpi and proxpi treat any other text as true.
            _ => Some(true),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn to_toml(&self) -> toml::Value {
        toml::Value::Boolean(*self)
    }
}

impl Value for Duration {
    const SYNTAX: &'static str =
        "a duration: seconds, or numbers with the units ms, s, m, h, d, w such as 1h 30m";
    const LIST_SYNTAX: &'static str = "a comma-separated list of durations";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        parse_duration(text)
    }

    fn is_zero(&self) -> bool {
        Self::is_zero(self)
    }

    fn show(&self) -> String {
        format_duration(*self)
    }
}

/// A timeout; `None` selects the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout(pub Option<Duration>);

impl Value for Timeout {
    const SYNTAX: &'static str = "a duration greater than 0";

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(None));
        }
        match parse_duration(text)? {
            // groxpi and proxpi use their default then.
            time if time.is_zero() => (dialect != Dialect::PypiProxy).then_some(Self(None)),
            time => Some(Self(Some(time))),
        }
    }

    fn show(&self) -> String {
        self.0.map(format_duration).unwrap_or_default()
    }
}

/// A limit of a wait; `None` means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitLimit(pub Option<Duration>);

impl Value for WaitLimit {
    const SYNTAX: &'static str = "a duration, or never";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        if text.eq_ignore_ascii_case("never") {
            Some(Self(None))
        } else {
            parse_duration(text).map(|time| Self(Some(time)))
        }
    }

    fn show(&self) -> String {
        self.0.map_or_else(|| "never".into(), format_duration)
    }
}

/// A size in bytes.
impl Value for u64 {
    const SYNTAX: &'static str = "a size: bytes, or a number with a unit such as 5 GiB";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        parse_size(text)
    }

    fn show(&self) -> String {
        format_size(*self)
    }
}

/// Maximum size of the file cache: zero, a number of bytes, or unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize(u64);

impl CacheSize {
    /// Returns the maximum in bytes: 0 disables storage, `u64::MAX` means unlimited.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl Value for CacheSize {
    const SYNTAX: &'static str = "a size, 0 to disable storage, or unlimited";

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        if text.eq_ignore_ascii_case("unlimited") {
            return Some(Self(u64::MAX));
        }
        match (parse_size(text)?, dialect) {
            (0, Dialect::Groxpi) => Some(Self(u64::MAX)),
            (bytes, _) => Some(Self(bytes)),
        }
    }

    fn show(&self) -> String {
        if self.0 == u64::MAX { "unlimited".into() } else { format_size(self.0) }
    }
}

/// URL of a server. User and password are masked in output.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(String);

impl Endpoint {
    /// Returns the text with its secrets. It must not be logged or displayed.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the URL, with scheme `https` or `http` if the text has none. Returns `None` if it is malformed, has
    /// another scheme, or contains a user or password.
    pub fn url(&self, is_tls: bool) -> Option<Url> {
        let url = match self.0.contains("://") {
            true => Url::parse(&self.0),
            false => Url::parse(&format!("{}://{}", if is_tls { "https" } else { "http" }, self.0)),
        };
        let is_plain = |url: &Url| url.username().is_empty() && url.password().is_none() && url.has_host();
        url.ok().filter(|url| matches!(url.scheme(), "http" | "https") && is_plain(url))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show())
    }
}

impl Value for Endpoint {
    const SYNTAX: &'static str = "a URL";
    const IS_SECRET: bool = true;

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Some(Self(text.to_owned()))
    }

    fn show(&self) -> String {
        match self.0.rsplit_once('@') {
            None => self.0.clone(),
            Some((_, host)) => format!("***@{host}"),
        }
    }
}

/// Count of at most 1,000,000.
impl Value for u32 {
    const SYNTAX: &'static str = "a number from 0 to 1000000";
    const LIST_SYNTAX: &'static str = "a comma-separated list of numbers";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|count| is_plain && *count <= 1_000_000)
    }

    fn is_zero(&self) -> bool {
        *self == 0
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn to_toml(&self) -> toml::Value {
        toml::Value::Integer((*self).into())
    }
}

/// Address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A TCP port.
    Tcp {
        /// IP address without brackets, or host name.
        host: String,
        /// Port; 0 selects a free one.
        port: u16,
    },
    /// Path of a Unix socket.
    Unix(PathBuf),
}

impl Listen {
    /// Host if only a port is given: only this machine can connect.
    pub(super) const HOST: &'static str = "127.0.0.1";
    pub(super) const PORT: u16 = 5000;
    /// Prefix of the text form of a Unix socket.
    const UNIX: &'static str = "unix:";
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}{}", Self::UNIX, path.display()),
        }
    }
}

impl Value for Listen {
    const SYNTAX: &'static str = "an address and a port, such as 127.0.0.1:5000, [::]:5000 or 5000, or a socket such as unix:/run/a.sock";
    const LIST_SYNTAX: &'static str =
        "a comma-separated list of addresses, such as 127.0.0.1:5000, [::]:5000, 5000 or unix:/run/a.sock";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        if let Some(path) = text.strip_prefix(Self::UNIX) {
            return Some(Self::Unix(path.into())).filter(|_| Path::new(path).has_root());
        }
        let (host, port) = match text.rsplit_once(':') {
            None if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => (Self::HOST, text),
            None => (text, ""),
            // Common syntax for all addresses.
            Some(("", port)) => ("0.0.0.0", port),
            // An IPv6 address without a port.
            Some(_) if text.ends_with(']') => (text, ""),
            Some(both) => both,
        };
        let host = match host.strip_prefix('[') {
            Some(inner) => {
                let inner = inner.strip_suffix(']')?;
                std::net::Ipv6Addr::from_str(inner).ok()?;
                inner
            }
            None => host,
        };
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if host.is_empty() || !host.contains(':') && !host.bytes().all(is_host) {
            return None;
        }
        if host.contains(':') && std::net::Ipv6Addr::from_str(host).is_err() {
            return None;
        }
        let port = match port {
            "" => Self::PORT,
            port if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok()?,
            _ => return None,
        };
        Some(Self::Tcp { host: host.to_owned(), port })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// Permissions of Unix sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketMode(u32);

impl SocketMode {
    /// Returns the permission bits.
    pub fn bits(self) -> u32 {
        self.0
    }
}

impl Value for SocketMode {
    const SYNTAX: &'static str = "octal permissions with a leading zero, such as 0660";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        // TOML converts 0o660 to a decimal number.
        let is_octal = text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
        let mode = u32::from_str_radix(text, 8).ok()?;
        (is_octal && mode <= 0o777).then_some(Self(mode))
    }

    fn show(&self) -> String {
        format!("{:04o}", self.0)
    }
}

/// Directory of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheDir(PathBuf);

impl CacheDir {
    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }
}

impl Value for CacheDir {
    const SYNTAX: &'static str = "a path";

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        // The directory of groxpi or proxpi contains their own files.
        Some(Self(if dialect == Dialect::PypiProxy {
            text.into()
        } else {
            Path::new(text).join("pypi-proxy")
        }))
    }

    fn show(&self) -> String {
        self.0.display().to_string()
    }
}

/// URL of an index. User and password are masked in output.
#[derive(Clone, PartialEq, Eq)]
pub struct IndexUrl {
    text: String,
    shown: String,
}

impl IndexUrl {
    /// Parses a URL.
    ///
    /// # Errors
    ///
    /// Fails if it is not an `http` or `https` URL ([`Error::is_config`]).
    pub fn parse(text: &str) -> Result<Self, Error> {
        let shown = upstream::Config::new(text)?.to_string();
        Ok(Self { text: text.to_owned(), shown })
    }

    /// Returns the client configuration of the index, including credentials.
    pub(super) fn config(&self) -> Result<upstream::Config, Error> {
        upstream::Config::new(&self.text)
    }

    /// Returns the URL without user and password.
    pub(super) fn url(&self) -> Option<Url> {
        self.shown.replacen("***@", "", 1).parse().ok()
    }
}

impl fmt::Display for IndexUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for IndexUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.shown, f)
    }
}

impl Value for IndexUrl {
    const SYNTAX: &'static str = "an http or https URL";
    const LIST_SYNTAX: &'static str = "a comma-separated list of http or https URLs";
    const IS_SECRET: bool = true;

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn show(&self) -> String {
        self.shown.clone()
    }
}

/// URL of the JSON API of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JsonApi {
    /// Derived from the URL of each index.
    #[default]
    Auto,
    /// No index has a JSON API.
    Never,
    /// URL to which `NAME/json` is appended, without user and password.
    Url(Url),
}

impl Value for JsonApi {
    const SYNTAX: &'static str = "auto, never, or an http or https URL without a user";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        match text {
            "auto" => return Some(Self::Auto),
            "never" => return Some(Self::Never),
            _ => {}
        }
        let url = Url::parse(text).ok()?;
        let is_plain = url.username().is_empty() && url.password().is_none() && url.has_host();
        let is_base = url.query().is_none() && url.fragment().is_none();
        (matches!(url.scheme(), "http" | "https") && is_plain && is_base).then_some(Self::Url(url))
    }

    fn show(&self) -> String {
        match self {
            Self::Auto => "auto".into(),
            Self::Never => "never".into(),
            Self::Url(url) => url.to_string(),
        }
    }
}

/// A secret text, which is masked in output.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns the secret. It must not be logged or displayed.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Value for Secret {
    const SYNTAX: &'static str = "text";
    const IS_SECRET: bool = true;

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Some(Self(text.to_owned()))
    }

    fn show(&self) -> String {
        "***".into()
    }
}

/// A single address is a network with the full prefix length.
impl Value for IpNet {
    const SYNTAX: &'static str = "a network such as 10.0.0.0/8 or 2001:db8::/32, or an address";
    const LIST_SYNTAX: &'static str = "a comma-separated list of networks such as 10.0.0.0/8, or addresses";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(Self::from))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for ProjectPattern {
    const SYNTAX: &'static str = "a project name, in which * matches any characters and ? matches one";
    const LIST_SYNTAX: &'static str =
        "a comma-separated list of project names, in which * matches any characters and ? matches one";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for ProjectSelector {
    const SYNTAX: &'static str = "a project name, in which * matches any characters and ? matches one, and optional version specifiers";
    const LIST_SYNTAX: &'static str = "a comma-separated list of project names, in which * matches any characters \
        and ? matches one, with optional version specifiers such as urllib3 >=1.26, <2";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Self::parse(text).ok()
    }

    /// Further specifiers of an entry follow a comma, too.
    fn continues(item: &str) -> bool {
        item.starts_with(Self::starts_specifier)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// Latest upload time of files: a date, which includes the whole day in UTC, or the first time that is too late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatestUpload {
    text: String,
    limit: SystemTime,
}

impl LatestUpload {
    /// First time that is too late.
    pub fn limit(&self) -> SystemTime {
        self.limit
    }
}

impl Value for LatestUpload {
    const SYNTAX: &'static str = "a date or a time with offset, such as 2026-05-31 or 2026-05-31T12:00:00Z";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        let limit = match text.len() {
            10 => {
                let next = text.parse::<jiff::civil::Date>().ok()?.tomorrow().ok()?;
                next.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp()
            }
            _ => text.parse::<jiff::Timestamp>().ok()?,
        };
        Some(Self { text: text.to_owned(), limit: limit.into() })
    }

    fn show(&self) -> String {
        self.text.clone()
    }
}

/// Restriction of projects to a single index.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectSource {
    /// Pattern of the project names.
    pub pattern: ProjectPattern,
    /// Position of the index, starting at 0. The text form starts at 1.
    pub index: usize,
}

impl fmt::Display for ProjectSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.pattern, self.index + 1)
    }
}

impl Value for ProjectSource {
    const SYNTAX: &'static str = "PATTERN=INDEX with the number of an index";
    const LIST_SYNTAX: &'static str = "a comma-separated list of PATTERN=INDEX with the number of an index";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        let (pattern, index) = text.split_once('=')?;
        let pattern = ProjectPattern::parse(pattern.trim()).ok()?;
        let index = index.trim().parse::<u16>().ok()?.checked_sub(1)?;
        Some(Self { pattern, index: index.into() })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// Status that means that an index does not have a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingStatus {
    /// Number of the index, starting at 1; `None` for all indexes.
    pub index: Option<usize>,
    /// Status of a client error.
    pub status: u16,
}

impl Value for MissingStatus {
    const SYNTAX: &'static str = "a status from 400 to 499, or INDEX=STATUS with the number of an index";
    const LIST_SYNTAX: &'static str =
        "a comma-separated list of statuses from 400 to 499, or of INDEX=STATUS with the number of an index";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        let (index, status) = match text.split_once('=') {
            Some((index, status)) => (Some(index.trim().parse::<u16>().ok()?), status),
            None => (None, text),
        };
        let status = status.trim().parse().ok().filter(|status| (400..500).contains(status))?;
        let index = index.map(usize::from);
        (index != Some(0)).then_some(Self { index, status })
    }

    fn show(&self) -> String {
        let index = self.index.map(|index| format!("{index}=")).unwrap_or_default();
        format!("{index}{}", self.status)
    }
}

/// Defines the words that select the variants of an enumeration. The first one of a variant is displayed.
macro_rules! words {
    ($type:ident, $syntax:literal, $($variant:ident = $first:literal $(| $other:literal)*),*) => {
        impl Value for $type {
            const SYNTAX: &'static str = $syntax;

            fn parse(text: &str, _: Dialect) -> Option<Self> {
                match &*text.to_ascii_lowercase() {
                    $($first $(| $other)* => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn show(&self) -> String {
                match self {
                    $(Self::$variant => $first,)*
                }
                .into()
            }
        }
    };
}

words!(Yanked, "one of keep, hide, refuse", Keep = "keep", Hide = "hide", Refuse = "refuse");
words!(StatusRule, "keep or refuse", Keep = "keep", Refuse = "refuse");
words!(OsvSelection, "malware or all", Malware = "malware", All = "all");
words!(
    IndexStrategy,
    "one of first-index, unsafe-first-match, unsafe-best-match",
    FirstIndex = "first-index",
    UnsafeFirstMatch = "unsafe-first-match",
    UnsafeBestMatch = "unsafe-best-match"
);
words!(UnknownAge, "allow or deny", Allow = "allow", Deny = "deny");
words!(LogFormat, "text (or console) or json", Text = "text" | "console", Json = "json");
words!(StorageType, "one of local, s3, hybrid", Local = "local", S3 = "s3", Hybrid = "hybrid");
words!(
    Level,
    "one of trace, debug, info, warn, error, off (or warning, fatal, critical, notset)",
    Trace = "trace" | "notset",
    Debug = "debug",
    Info = "info",
    Warn = "warn" | "warning",
    Error = "error" | "fatal" | "critical",
    Off = "off"
);

/// Minimum severity of log messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// All messages.
    Trace,
    /// Debug messages and more severe ones.
    Debug,
    /// Requests, startup and shutdown, and more severe messages.
    Info,
    /// Warnings and errors.
    Warn,
    /// Errors only.
    Error,
    /// Logging is disabled.
    Off,
}

/// Format of log messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Plain text.
    Text,
    /// One JSON object per line.
    Json,
}

/// Storage of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageType {
    /// A local directory.
    Local,
    /// A bucket, behind the cache directory.
    S3,
    /// A bucket, behind a separate local directory.
    Hybrid,
}
