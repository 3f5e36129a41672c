//! How a bucket is used.

use std::time::Duration;

/// How a bucket is used.
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) prefix: String,
    pub(super) timeout: Duration,
    pub(super) part_size: u64,
    pub(super) lease_duration: Duration,
    pub(super) lease_wait: Duration,
    pub(super) page_wait: Duration,
    pub(super) max_reads: usize,
    pub(super) max_writes: usize,
    pub(super) max_questions: usize,
    pub(super) max_uploads: usize,
}

impl Config {
    /// Default of [`Config::timeout`]: 5 seconds.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
    /// Default of [`Config::part_size`]: 10 MiB.
    pub const DEFAULT_PART_SIZE: u64 = 10 << 20;
    /// Default of [`Config::lease_duration`]: 10 seconds.
    pub const DEFAULT_LEASE_DURATION: Duration = Duration::from_secs(10);
    /// Default of [`Config::lease_wait`]: 30 seconds.
    pub const DEFAULT_LEASE_WAIT: Duration = Duration::from_secs(30);
    /// Default of [`Config::page_wait`]: half a second.
    pub const DEFAULT_PAGE_WAIT: Duration = Duration::from_millis(500);
    /// Default of [`Config::max_reads`]: 50.
    pub const DEFAULT_MAX_READS: usize = 50;
    /// Default of [`Config::max_writes`]: 30.
    pub const DEFAULT_MAX_WRITES: usize = 30;
    /// Default of [`Config::max_questions`]: 20.
    pub const DEFAULT_MAX_QUESTIONS: usize = 20;
    /// Default of [`Config::max_uploads`]: 1000.
    pub const DEFAULT_MAX_UPLOADS: usize = 1000;
    /// What S3 takes as the least part of an upload: 5 MiB.
    pub const MIN_PART_SIZE: u64 = 5 << 20;

    /// The names of all objects begin with this and a slash; with nothing if it is empty.
    pub fn new(prefix: impl Into<String>) -> Self {
        Self {
            prefix: prefix.into(),
            timeout: Self::DEFAULT_TIMEOUT,
            part_size: Self::DEFAULT_PART_SIZE,
            lease_duration: Self::DEFAULT_LEASE_DURATION,
            lease_wait: Self::DEFAULT_LEASE_WAIT,
            page_wait: Self::DEFAULT_PAGE_WAIT,
            max_reads: Self::DEFAULT_MAX_READS,
            max_writes: Self::DEFAULT_MAX_WRITES,
            max_questions: Self::DEFAULT_MAX_QUESTIONS,
            max_uploads: Self::DEFAULT_MAX_UPLOADS,
        }
    }

    /// How long the bucket may take to answer, and to send nothing of a file. What is sent to it may take a second longer
    /// for each 256 KiB. Default: [`Self::DEFAULT_TIMEOUT`].
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// The bytes of a part of an upload. It is in memory while it is sent. Default: [`Self::DEFAULT_PART_SIZE`].
    #[must_use]
    pub fn part_size(mut self, bytes: u64) -> Self {
        self.part_size = bytes.max(1);
        self
    }

    /// How long a lease that is not renewed keeps others from fetching the same file. Default:
    /// [`Self::DEFAULT_LEASE_DURATION`].
    #[must_use]
    pub fn lease_duration(mut self, time: Duration) -> Self {
        self.lease_duration = time;
        self
    }

    /// How long another proxy that fetches a file is waited for. Default: [`Self::DEFAULT_LEASE_WAIT`].
    #[must_use]
    pub fn lease_wait(mut self, time: Duration) -> Self {
        self.lease_wait = time;
        self
    }

    /// How long a page in the bucket is waited for before its index is asked. Default: [`Self::DEFAULT_PAGE_WAIT`].
    #[must_use]
    pub fn page_wait(mut self, time: Duration) -> Self {
        self.page_wait = time;
        self
    }

    /// How many files are read at a time, and how many parts of files for clients; more wait, parts for as long as for an
    /// answer. Default: [`Self::DEFAULT_MAX_READS`].
    #[must_use]
    pub fn max_reads(mut self, count: usize) -> Self {
        self.max_reads = count.max(1);
        self
    }

    /// How many files, or parts of them, are written at a time; more wait. Default: [`Self::DEFAULT_MAX_WRITES`].
    #[must_use]
    pub fn max_writes(mut self, count: usize) -> Self {
        self.max_writes = count.max(1);
        self
    }

    /// How many other operations there are at a time; more wait. Default: [`Self::DEFAULT_MAX_QUESTIONS`].
    #[must_use]
    pub fn max_questions(mut self, count: usize) -> Self {
        self.max_questions = count.max(1);
        self
    }

    /// How many files may wait to be written, those that are being fetched among them. Each is an open file. The bucket
    /// does not get what is more. Default: [`Self::DEFAULT_MAX_UPLOADS`].
    #[must_use]
    pub fn max_uploads(mut self, count: usize) -> Self {
        self.max_uploads = count;
        self
    }
}
