//! Reading of small files, and detection of changed ones.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Limits how often files are checked for changes.
pub(crate) struct CheckTimer {
    interval: Duration,
    start: Instant,
    /// Time of the last check, in milliseconds since `start`.
    last: AtomicU64,
}

impl CheckTimer {
    pub(crate) fn new(interval: Duration) -> Self {
        Self { interval, start: Instant::now(), last: AtomicU64::new(0) }
    }

    /// Returns whether a check is due. One of several concurrent callers gets true.
    pub(crate) fn is_due(&self) -> bool {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.last.load(Ordering::Relaxed);
        u128::from(now.saturating_sub(last)) >= self.interval.as_millis()
            && self.last.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// Modification time and length of a file; `None` if they can't be read.
pub(crate) type FileStamp = Option<(SystemTime, u64)>;

pub(crate) fn stamp(path: &Path) -> FileStamp {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Reads a file of at most `max` bytes.
pub(crate) fn read(path: &Path, max: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(max + 1).read_to_string(&mut text)?;
    if text.len() as u64 > max { Err(ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}
