//! Object storage shared by several proxies: what one proxy has downloaded is available to all.
//!
//! The bucket is any `ObjectStore` of the crate `object_store`; the feature `s3` adds S3. The proxy does not depend on
//! it: if it fails, files and pages come from the indexes.

mod handle;
mod lease;
mod remote;
#[cfg(feature = "s3")]
mod s3;

use std::time::Duration;

use crate::metrics::named;

pub use handle::Bucket;
pub(crate) use lease::{Claim, ClaimStep, Lease};
pub(crate) use remote::{
    FILE_LEN, LargeObject, LeaseOutcome, Operation, OperationError, SHA256, UploadOutcome, failed,
};

#[cfg(feature = "s3")]
pub use s3::S3;

/// Configuration of a bucket: object prefix, timeouts, leases and concurrency limits.
#[derive(Clone, Debug)]
pub struct Config {
    /// The names of all objects start with this prefix and a slash, unless it is empty. Default: empty.
    pub prefix: String,
    /// Timeout for a response, and for silence within a file. An upload may take one second longer for each 256 KiB.
    /// Default: 5 seconds.
    pub timeout: Duration,
    /// Size of each part of an upload in bytes, at least 1. A part is in memory while it is sent. Default: 10 MiB.
    pub part_size: u64,
    /// Time after which a lease that is not renewed expires. Default: 10 seconds.
    pub lease_duration: Duration,
    /// Maximum time to wait for the download of another proxy without receiving a part of it. Default: 30 seconds.
    pub lease_wait: Duration,
    /// Maximum time to wait for a page from the bucket, and for another proxy that requests the page, before its index
    /// is contacted. Default: 500 milliseconds.
    pub page_wait: Duration,
    /// Maximum concurrent reads of whole files, at least 1. Further reads wait. Reads of ranges for clients have a
    /// separate limit of the same number, and wait at most for [`Self::timeout`]. Default: 50.
    pub max_reads: usize,
    /// Maximum concurrent writes of files and parts, at least 1. Further writes wait. Default: 30.
    pub max_writes: usize,
    /// Maximum concurrent operations other than these reads and writes, at least 1. Further operations wait. Default:
    /// 20.
    pub max_meta_operations: usize,
    /// Maximum running and queued uploads, including files still being downloaded. Each upload keeps a file open.
    /// Further files are not uploaded. Default: 1000.
    pub max_uploads: usize,
}

named! {
    /// Support of a bucket for writes on condition that an object does not exist or is unchanged. Leases require them.
    #[non_exhaustive]
    pub enum ConditionalWrites {
        /// A write whose condition is not met is rejected.
        Supported = "supported",
        /// A write replaces the object although its condition is not met.
        Ignored = "ignored",
        /// All writes with a condition are rejected.
        Rejected = "rejected",
    }
}

impl Config {
    /// Minimum size of a part of an S3 multipart upload: 5 MiB.
    pub const MIN_PART_SIZE: u64 = 5 << 20;
}

impl Default for Config {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            timeout: Duration::from_secs(5),
            part_size: 10 << 20,
            lease_duration: Duration::from_secs(10),
            lease_wait: Duration::from_secs(30),
            page_wait: Duration::from_millis(500),
            max_reads: 50,
            max_writes: 30,
            max_meta_operations: 20,
            max_uploads: 1000,
        }
    }
}
