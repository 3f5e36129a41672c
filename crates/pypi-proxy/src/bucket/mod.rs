//! Object storage shared by several proxies: what one proxy has downloaded is available to all.
//!
//! The bucket is any `ObjectStore` of the crate `object_store`; the feature `s3` adds S3. The proxy does not depend on
//! it: if it fails, files and pages come from the indexes.

mod config;
mod error;
mod handle;
mod lease;
mod metrics;
mod observer;
mod page;
mod remote;
#[cfg(feature = "s3")]
mod s3;
mod source;
mod upload;
mod verify;

pub use config::Config;
pub use handle::Bucket;
pub(crate) use metrics::{LeaseOutcome, Operation, Outcome, UploadOutcome};
#[cfg(feature = "s3")]
pub use s3::S3;
pub(crate) use source::TieredSource;
