//! Settings: what there is, where a value comes from, and what the engines are told.
//!
//! A setting has one name everywhere: `index_url` in a file, `--index-url` as a flag, `PYPI_PROXY_INDEX_URL` in the
//! environment. The variables of the two older proxies, `GROXPI_*` and `PROXPI_*`, are understood as they mean them. The
//! first place that has a value wins: flag, own variable, `GROXPI_*`, `PROXPI_*`, file, default.
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

#[cfg(feature = "s3")]
mod bucket;
mod discover;
mod doc;
mod engines;
mod file;
mod ini;
mod layers;
mod netrc;
mod number;
mod origin;
mod settings;
mod sources;
mod table;
mod value;

pub use discover::{Discovery, Found};
pub use doc::document;
pub use engines::Engines;
pub use number::time as period;
pub use origin::{Origin, Set};
pub use settings::Settings;
pub use sources::Sources;
pub use table::{Row, Setting};
pub use value::{
    CacheDir, CacheSize, Count, Endpoint, IndexUrl, Level, List, Listen, LogFormat, Patience, Period, Secret,
    Size, StorageType, Switch, Timeout,
};
