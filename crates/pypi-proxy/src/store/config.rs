//! Where files are kept, and how many.

use std::path::PathBuf;
use std::time::Duration;

use crate::bucket::Bucket;

/// Where and how files are kept, and how they are fetched.
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) dir: PathBuf,
    pub(super) allow_shared_dir: bool,
    pub(super) max_bytes: u64,
    pub(super) max_file: u64,
    pub(super) max_fills: usize,
    pub(super) max_handles: usize,
    pub(super) max_window: usize,
    pub(super) stall: Duration,
    pub(super) lag: Duration,
    pub(super) retries: u32,
    pub(super) sync: bool,
    pub(super) unused: Option<Duration>,
    pub(super) bucket: Option<Bucket>,
}

impl Config {
    /// Default of [`Config::max_bytes`]: 5 GiB.
    pub const DEFAULT_MAX_BYTES: u64 = 5 << 30;
    /// Default of [`Config::max_file`]: 20 GiB.
    pub const DEFAULT_MAX_FILE: u64 = 20 << 30;
    /// Default of [`Config::max_fills`]: 64.
    pub const DEFAULT_MAX_FILLS: usize = 64;
    /// Default of [`Config::max_handles`]: 256.
    pub const DEFAULT_MAX_HANDLES: usize = 256;
    /// Default of [`Config::max_window`]: 8 MiB.
    pub const DEFAULT_MAX_WINDOW: usize = 8 << 20;
    /// Default of [`Config::stall`]: 30 seconds.
    pub const DEFAULT_STALL: Duration = Duration::from_secs(30);
    /// Default of [`Config::lag`]: 30 seconds.
    pub const DEFAULT_LAG: Duration = Duration::from_secs(30);
    /// Default of [`Config::retries`]: 4.
    pub const DEFAULT_RETRIES: u32 = 4;

    /// Files in this folder, which is made if it is not there.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            allow_shared_dir: false,
            max_bytes: Self::DEFAULT_MAX_BYTES,
            max_file: Self::DEFAULT_MAX_FILE,
            max_fills: Self::DEFAULT_MAX_FILLS,
            max_handles: Self::DEFAULT_MAX_HANDLES,
            max_window: Self::DEFAULT_MAX_WINDOW,
            stall: Self::DEFAULT_STALL,
            lag: Self::DEFAULT_LAG,
            retries: Self::DEFAULT_RETRIES,
            sync: false,
            unused: None,
            bucket: None,
        }
    }

    /// Uses the folder even if another user owns it or if other users can write to it. They can replace what is served:
    /// hashes are checked when a file is fetched, not each time that it is served. Checked on Unix only. Default: off.
    #[must_use]
    pub fn allow_shared_dir(mut self, is_allowed: bool) -> Self {
        self.allow_shared_dir = is_allowed;
        self
    }

    /// The most bytes of the folder: files, those on their way included, and what is kept beside them, see
    /// [`Part`](super::Part). What nobody wanted the longest goes first. Nothing is kept for 0, and `u64::MAX` means no
    /// limit. Default: [`Self::DEFAULT_MAX_BYTES`].
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The most bytes of one file; a larger one is an error. Default: [`Self::DEFAULT_MAX_FILE`].
    #[must_use]
    pub fn max_file(mut self, bytes: u64) -> Self {
        self.max_file = bytes;
        self
    }

    /// How many files are fetched at a time; others wait. Default: [`Self::DEFAULT_MAX_FILLS`].
    #[must_use]
    pub fn max_fills(mut self, count: usize) -> Self {
        self.max_fills = count.max(1);
        self
    }

    /// How many files are held open for the next who wants them. Default: [`Self::DEFAULT_MAX_HANDLES`].
    #[must_use]
    pub fn max_handles(mut self, count: usize) -> Self {
        self.max_handles = count;
        self
    }

    /// The bytes of a file that are kept in memory for its readers while the disk can't be written. Default:
    /// [`Self::DEFAULT_MAX_WINDOW`].
    #[must_use]
    pub fn max_window(mut self, bytes: usize) -> Self {
        self.max_window = bytes;
        self
    }

    /// How long a source may send nothing before it is asked again. Default: [`Self::DEFAULT_STALL`].
    #[must_use]
    pub fn stall(mut self, time: Duration) -> Self {
        self.stall = time;
        self
    }

    /// How long one reader may hold up the others while the disk can't be written. Default: [`Self::DEFAULT_LAG`].
    #[must_use]
    pub fn lag(mut self, time: Duration) -> Self {
        self.lag = time;
        self
    }

    /// How often a source is asked again without a byte of progress in between. Default: [`Self::DEFAULT_RETRIES`].
    #[must_use]
    pub fn retries(mut self, count: u32) -> Self {
        self.retries = count;
        self
    }

    /// Waits for the disk before a file counts as stored, so that it survives a power cut. Without it, one that did not
    /// is found by its length or by `verify`. Default: off.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// How long a file stays that nobody wants, to the minute. Default: for as long as there is room.
    #[must_use]
    pub fn unused(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.unused = time.into();
        self
    }

    /// Takes files from this bucket, and puts there what comes from elsewhere. Default: none.
    #[must_use]
    pub fn bucket(mut self, bucket: impl Into<Option<Bucket>>) -> Self {
        self.bucket = bucket.into();
        self
    }
}
