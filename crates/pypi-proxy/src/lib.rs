//! A caching proxy for Python package indexes (simple repository API): each file is downloaded once for all clients.
//!
//! ```
//! use pypi_proxy::{Coding, Form, ProjectName};
//!
//! let name = ProjectName::parse("Flask_SQLAlchemy")?;
//! assert_eq!(name.as_str(), "flask-sqlalchemy");
//! assert_eq!(Form::from_accept("application/vnd.pypi.simple.v1+json, */*;q=0.1"), Some(Form::Json));
//! assert_eq!(Coding::from_accept("gzip, deflate, zstd"), Coding::Zstd);
//! # Ok::<(), pypi_proxy::Error>(())
//! ```
//!
//! # Modules
//!
//! | module | contents |
//! | --- | --- |
//! | crate root | [`Page`] and [`ProjectList`]: parsing, rewriting and merging of index pages; names, byte ranges, content negotiation |
//! | `upstream` | HTTP client for an index |
//! | `page_cache` | page cache in memory and on disk: TTL, revalidation, stale pages, all media types and codings; strategies for several indexes, PEP 708, private indexes |
//! | `provenance` | offline verification of the provenance of files |
//! | `rules` | rules for projects and versions: names, file ages, yanked files, project statuses, records of malware |
//! | `guard` | authentication and rate limits |
//! | `store` | file cache by hash, with one download for concurrent requests |
//! | `bucket` | files and pages that several proxies share |
//! | `serve` | request handling and HTTP server, named indexes; its documentation starts with a complete proxy |
//! | `archive` | export and import of a cache as one file |
//! | `lock_file` | lock files of uv, Poetry, pipenv and PDM |
//! | `config` | settings from flags, variables and files, and construction of the modules above |
//!
//! # Features
//!
//! - `proxy`: all modules. Without it, only the crate root is available.
//! - `s3`: buckets on S3 servers.
//! - `cli` (default): the program `pypi-proxy`, with `proxy` and `s3`.
//!
//! # Guarantees
//!
//! - Unknown fields of a page are passed through unchanged; only file URLs are replaced.
//! - The last byte of a file is withheld until its hash verifies. Concurrent requests share one download, which
//!   continues if the clients disconnect.
//! - A project of a private index is never taken from another index, also while the private one is down.
//! - The proxy does not depend on its bucket: while it fails, files and pages come from the indexes.
//! - A cache directory with other contents is rejected. Credentials are sent to their index only and appear in no text.
//! - Invalid input results in an [`Error`]; memory is bounded by the configured limits.
//!
//! # Limits
//!
//! - Uploads are not supported.
//! - HTML pages have no file sizes and upload times. The proxy adds them for files with a hash, after the file was
//!   downloaded or requested, or from the JSON API of the index.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "proxy")]
pub mod archive;
#[cfg(feature = "proxy")]
mod audit;
#[cfg(feature = "proxy")]
mod breaker;
#[cfg(feature = "proxy")]
pub mod bucket;
#[cfg(feature = "proxy")]
pub mod config;
#[cfg(feature = "proxy")]
mod digest;
mod error;
#[cfg(feature = "proxy")]
mod failures;
#[cfg_attr(not(feature = "proxy"), allow(dead_code, reason = "only the proxy serves files"))]
mod file_name;
#[cfg(feature = "proxy")]
mod file_watch;
#[cfg(feature = "proxy")]
mod flight;
#[cfg(feature = "proxy")]
pub mod guard;
mod hash;
#[cfg_attr(not(feature = "proxy"), allow(dead_code, reason = "only the proxy serves files"))]
mod index_path;
#[cfg(feature = "proxy")]
mod json_api;
#[cfg(feature = "proxy")]
mod layout;
#[cfg(feature = "proxy")]
pub mod lock_file;
#[cfg(feature = "proxy")]
mod metadata;
#[cfg(feature = "proxy")]
mod metrics;
mod name;
mod negotiate;
mod page;
#[cfg(feature = "proxy")]
pub mod page_cache;
#[cfg(feature = "proxy")]
pub mod provenance;
mod range;
#[cfg(feature = "proxy")]
mod resource;
#[cfg(feature = "proxy")]
pub mod rules;
#[cfg(feature = "proxy")]
pub mod serve;
#[cfg(all(test, feature = "proxy"))]
mod simulation;
#[cfg(feature = "proxy")]
pub mod store;
#[cfg(feature = "proxy")]
mod sys;
#[cfg(feature = "proxy")]
mod system;
#[cfg(feature = "proxy")]
mod units;
#[cfg(feature = "proxy")]
pub mod upstream;

pub use error::Error;
#[cfg(feature = "proxy")]
#[cfg_attr(docsrs, doc(cfg(feature = "proxy")))]
pub use file_name::file_version;
pub use hash::Checksum;
#[cfg(all(fuzzing, feature = "proxy"))]
pub use json_api::check as check_json_api;
pub use name::ProjectName;
pub use negotiate::{Coding, Form};
pub use page::{ApiVersion, Details, File, Metadata, Page, ProjectList, ProjectStatus};
pub use range::ByteRange;
