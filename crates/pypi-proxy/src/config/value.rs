//! Values of settings: how they are read, and how they are shown.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use super::number::{show_size, show_time, size, time};
use super::origin::Dialect;
use url::Url;

use crate::{Error, upstream};

/// A value as it is written.
#[derive(Clone, Debug)]
pub(super) enum Raw {
    Text(String),
    Items(Vec<String>),
}

/// What a setting can be. Showing never shows a secret.
pub(super) trait Value: Sized {
    /// What is accepted, in words that follow "takes".
    const FORM: &'static str;
    /// Whether it may hold what is not shown.
    const IS_SECRET: bool = false;

    /// `None` if it is malformed.
    fn parse(text: &str, dialect: Dialect) -> Option<Self>;

    fn read(raw: &Raw, dialect: Dialect) -> Option<Self> {
        match raw {
            Raw::Text(text) => Self::parse(text.trim(), dialect),
            Raw::Items(_) => None,
        }
    }

    /// As it is written for [`parse`](Self::parse), but for secrets. Empty if there is nothing.
    fn show(&self) -> String;

    /// As it is written in a file.
    fn to_toml(&self) -> toml::Value {
        toml::Value::String(self.show())
    }
}

impl<T: Value> Value for Option<T> {
    const FORM: &'static str = T::FORM;
    const IS_SECRET: bool = T::IS_SECRET;

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        if text.is_empty() { Some(None) } else { T::parse(text, dialect).map(Some) }
    }

    fn show(&self) -> String {
        self.as_ref().map(T::show).unwrap_or_default()
    }

    fn to_toml(&self) -> toml::Value {
        self.as_ref().map_or_else(|| toml::Value::String(String::new()), T::to_toml)
    }
}

impl Value for String {
    const FORM: &'static str = "a text";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Some(text.to_owned())
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl Value for PathBuf {
    const FORM: &'static str = "a path";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        (!text.is_empty()).then(|| text.into())
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch(pub bool);

impl Value for Switch {
    const FORM: &'static str = "true or false";

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        let word = text.to_ascii_lowercase();
        match (&*word, dialect) {
            ("0" | "no" | "off" | "false", _) => Some(Self(false)),
            ("1" | "yes" | "on" | "true", _) => Some(Self(true)),
            (_, Dialect::Own) => None,
            // Whatever else it is, the originals take it for yes.
            _ => Some(Self(true)),
        }
    }

    fn show(&self) -> String {
        self.0.to_string()
    }

    fn to_toml(&self) -> toml::Value {
        toml::Value::Boolean(self.0)
    }
}

/// A time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period(pub Duration);

impl Value for Period {
    const FORM: &'static str = "a time: seconds, or numbers with the units ms, s, m, h, d, w, such as 1h 30m";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        time(text).map(Self)
    }

    fn show(&self) -> String {
        show_time(self.0)
    }
}

/// A time that something may take, `None` if that is left to the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout(pub Option<Duration>);

impl Value for Timeout {
    const FORM: &'static str = "a time of more than 0";

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(None));
        }
        match time(text)? {
            // That is the default of the originals.
            time if time.is_zero() => (dialect != Dialect::Own).then_some(Self(None)),
            time => Some(Self(Some(time))),
        }
    }

    fn show(&self) -> String {
        self.0.map(show_time).unwrap_or_default()
    }
}

/// How long a client waits before it is sent elsewhere, `None` for however long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience(pub Option<Duration>);

impl Value for Patience {
    const FORM: &'static str = "a time, or never";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        if text.eq_ignore_ascii_case("never") {
            Some(Self(None))
        } else {
            time(text).map(|time| Self(Some(time)))
        }
    }

    fn show(&self) -> String {
        self.0.map_or_else(|| "never".into(), show_time)
    }
}

/// Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl Value for Size {
    const FORM: &'static str = "bytes: a number, or one with a unit, such as 5 GiB";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        size(text).map(Self)
    }

    fn show(&self) -> String {
        show_size(self.0)
    }
}

/// Bytes of stored files: none, some, or as many as there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize(u64);

impl CacheSize {
    /// The most bytes: 0 if nothing is stored, `u64::MAX` if there is no limit.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl Value for CacheSize {
    const FORM: &'static str = "bytes, 0 to store nothing, or unlimited";

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        if text.eq_ignore_ascii_case("unlimited") {
            return Some(Self(u64::MAX));
        }
        match (size(text)?, dialect) {
            (0, Dialect::Groxpi) => Some(Self(u64::MAX)),
            (bytes, _) => Some(Self(bytes)),
        }
    }

    fn show(&self) -> String {
        if self.0 == u64::MAX { "unlimited".into() } else { show_size(self.0) }
    }
}

/// The URL of a server, whose user and password are never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(String);

impl Endpoint {
    /// The text. What is done with it must not show it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The URL, over TLS or not if it does not tell; `None` if it is none, or has a user.
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
    const FORM: &'static str = "a URL";
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

/// A number of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u32);

impl Value for Count {
    const FORM: &'static str = "a number from 0 to 1000000";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|count| is_plain && *count <= 1_000_000).map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }

    fn to_toml(&self) -> toml::Value {
        toml::Value::Integer(self.0.into())
    }
}

/// Where connections are accepted: a host name or address, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// An address, without brackets, or a name.
    pub host: String,
    /// The port, 0 for any that is free.
    pub port: u16,
}

impl Listen {
    /// Of a port alone: that of this machine only.
    pub(super) const HOST: &'static str = "127.0.0.1";
    pub(super) const PORT: u16 = 5000;
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl Value for Listen {
    const FORM: &'static str = "an address and a port, such as 127.0.0.1:5000, [::]:5000 or 5000";

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        let (host, port) = match text.rsplit_once(':') {
            None if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => (Self::HOST, text),
            None => (text, ""),
            // As others write it: all addresses.
            Some(("", port)) => ("0.0.0.0", port),
            // An address of IPv6 without a port.
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
        Some(Self { host: host.to_owned(), port })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// The folder of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheDir(PathBuf);

impl CacheDir {
    /// The path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }
}

impl Value for CacheDir {
    const FORM: &'static str = "a path";

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        // What the originals have put into their folder is not ours.
        Some(Self(if dialect == Dialect::Own { text.into() } else { Path::new(text).join("pypi-proxy") }))
    }

    fn show(&self) -> String {
        self.0.display().to_string()
    }
}

/// The URL of an index, whose user and password are never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct IndexUrl {
    text: String,
    shown: String,
}

impl IndexUrl {
    /// Reads a URL.
    ///
    /// # Errors
    ///
    /// Fails if it is no URL of `http` or `https` ([`Error::is_config`]).
    pub fn parse(text: &str) -> Result<Self, Error> {
        let shown = upstream::Config::new(text)?.to_string();
        Ok(Self { text: text.to_owned(), shown })
    }

    /// How the index is reached.
    pub(super) fn config(&self) -> Result<upstream::Config, Error> {
        upstream::Config::new(&self.text)
    }

    /// The URL without a user and a password.
    pub(super) fn url(&self) -> Option<Url> {
        self.shown.replacen("***@", "", 1).parse().ok()
    }

    /// Whether it has a user or a password.
    pub fn has_credentials(&self) -> bool {
        self.shown.contains("://***@")
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
    const FORM: &'static str = "a URL of http or https";
    const IS_SECRET: bool = true;

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn show(&self) -> String {
        self.shown.clone()
    }
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text. What is done with it must not show it.
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
    const FORM: &'static str = "a text";
    const IS_SECRET: bool = true;

    fn parse(text: &str, _: Dialect) -> Option<Self> {
        Some(Self(text.to_owned()))
    }

    fn show(&self) -> String {
        "***".into()
    }
}

/// Several values, in the order in which they are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

trait Item: Value {
    const FORMS: &'static str;
}

impl Item for IndexUrl {
    const FORMS: &'static str = "URLs of http or https, with commas between them";
}

impl Item for Period {
    const FORMS: &'static str = "times, with commas between them";
}

impl Item for String {
    const FORMS: &'static str = "texts, with commas between them";
}

impl Item for PathBuf {
    const FORMS: &'static str = "paths, with commas between them";
}

#[allow(private_bounds, reason = "what a list can hold is a matter of this module")]
impl<T: Item> Value for List<T> {
    const FORM: &'static str = T::FORMS;
    const IS_SECRET: bool = T::IS_SECRET;

    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(|item| T::parse(item, dialect)).collect::<Option<_>>().map(Self)
    }

    fn read(raw: &Raw, dialect: Dialect) -> Option<Self> {
        match raw {
            Raw::Text(text) => Self::parse(text, dialect),
            Raw::Items(items) => {
                items.iter().map(|item| T::parse(item.trim(), dialect)).collect::<Option<_>>().map(Self)
            }
        }
    }

    fn show(&self) -> String {
        self.0.iter().map(T::show).collect::<Vec<_>>().join(", ")
    }

    fn to_toml(&self) -> toml::Value {
        toml::Value::Array(self.0.iter().map(T::to_toml).collect())
    }
}

/// A value that is one of a few words.
macro_rules! words {
    ($(#[$doc:meta])* $type:ident, $form:literal { $($(#[$variant_doc:meta])* $variant:ident = $first:literal $(| $other:literal)*,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)*
        }

        impl Value for $type {
            const FORM: &'static str = $form;

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

words! {
    /// What is logged: this, and what is worse.
    Level, "one of trace, debug, info, warn, error, off (or warning, fatal, critical, notset)" {
        /// Everything.
        Trace = "trace" | "notset",
        /// What helps to find a fault.
        Debug = "debug",
        /// Requests, start and end.
        Info = "info",
        /// What somebody should know.
        Warn = "warn" | "warning",
        /// What has failed.
        Error = "error" | "fatal" | "critical",
        /// Nothing.
        Off = "off",
    }
}

words! {
    /// How lines of the log look.
    LogFormat, "text (or console) or json" {
        /// For people.
        Text = "text" | "console",
        /// An object a line.
        Json = "json",
    }
}

words! {
    /// Where files are stored.
    StorageType, "one of local, s3, hybrid" {
        /// A folder of this machine.
        Local = "local",
        /// A bucket.
        S3 = "s3",
        /// A bucket, with a folder in front.
        Hybrid = "hybrid",
    }
}
