//! A bucket that several proxies share: what one of them has fetched is there for all.
//!
//! The bucket is any `ObjectStore` of the crate `object_store`; with the feature `s3` it may be one of S3. It is a help,
//! never a need: whatever it does, files and pages come from the indexes.

mod config;
mod failure;
mod lease;
mod meter;
mod observer;
mod page;
mod remote;
#[cfg(feature = "s3")]
mod s3;
mod share;
mod tier;
mod upload;
mod verify;

pub use config::Config;
pub(crate) use meter::{Ended, Leased, Operation, Uploaded};
#[cfg(feature = "s3")]
pub use s3::S3;
pub use share::Bucket;
pub(crate) use tier::Tiered;
