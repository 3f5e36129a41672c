//! Settings: definition, sources, and construction of the proxy from them.
//!
//! A setting has one name everywhere: `index_url` in the configuration file, `--index-url` as a flag,
//! `PYPI_PROXY_INDEX_URL` in the environment. The variables `GROXPI_*` and `PROXPI_*` of two other proxies are read
//! with their own semantics. The first source with a value wins: flag, `PYPI_PROXY_*`, `GROXPI_*`, `PROXPI_*`, file,
//! file of defaults, default.
//!
//! ```
//! use pypi_proxy::config::{Settings, Sources};
//!
//! let env = [("GROXPI_INDEX_URL", "https://reader:hunter2@packages.example.org/simple"), ("GROXPI_CACHE_SIZE", "0")];
//! let settings = Settings::read(&Sources::new().env(env).flag("index_ttl", "10m"))?;
//! assert_eq!(settings.index_url.origin.to_string(), "GROXPI_INDEX_URL");
//! assert_eq!(settings.cache_size.bytes(), u64::MAX);
//! assert!(!format!("{settings}{settings:?}").contains("hunter2"));
//!
//! let error = Settings::read(&Sources::new().env([("PYPI_PROXY_INDEX_TLL", "1")])).unwrap_err();
//! assert!(error.is_config() && error.to_string().contains("PYPI_PROXY_INDEX_TLL"));
//! # Ok::<(), pypi_proxy::Error>(())
//! ```

mod builder;
mod discover;
mod doc;
mod layers;
mod settings;
mod table;
mod value;

pub use crate::units::parse_duration;
pub use builder::ProxyBuilder;
pub use discover::{DiscoveredIndex, Discovery};
pub use doc::document;
pub use layers::Sources;
pub use settings::Settings;
pub use table::{Origin, Row, Setting, SettingValue};
pub use value::{
    CacheDir, CacheSize, Endpoint, IndexUrl, JsonApi, LatestUpload, Level, Listen, LogFormat, MissingStatus,
    ProjectSource, Secret, SocketMode, StorageType, Timeout, WaitLimit,
};
