//! Downloads in flight: progress shared between the task that downloads a file and its readers.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::future::Future;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use super::{Digest, Reader, StoredFile};
use crate::error::Kind;
use crate::upstream::{FileBody, Validators};
use crate::{Checksum, Error};

/// Origin of a file's content.
pub trait FileSource: Send + 'static {
    /// Called once, before the file is opened. Has no timeout.
    fn prepare(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Opens the file at the offset `from`.
    ///
    /// Called again after a broken connection, with the offset reached. If the source's validators differ from
    /// `validators`, the response should start at the beginning of the file.
    ///
    /// # Errors
    ///
    /// Fails if the file is not available now. The download is not retried if the file [does not
    /// exist](Error::is_not_found) or [is forbidden](Error::is_forbidden).
    fn open(
        &mut self,
        from: u64,
        validators: &Validators,
    ) -> impl Future<Output = Result<FileBody, Error>> + Send;

    /// Called if the content does not match the expected hash. Returns whether the next call of [`open`](Self::open)
    /// uses another origin.
    fn reject(&mut self) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }

    /// URL of the index with masked credentials, for logs and the status page.
    fn origin(&self) -> Option<String> {
        None
    }

    /// Name for logs and the status page: `project/file`.
    fn label(&self) -> Option<Arc<str>> {
        None
    }
}

/// Properties of a file that are known before its download.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// SHA-256 of the content.
    pub sha256: Option<Digest>,
    /// Another hash of the content. Without either hash, any content is accepted.
    pub checksum: Option<Checksum>,
    /// Length in bytes.
    pub size: Option<u64>,
}

/// Properties of a file from the source's response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileInfo {
    /// Length in bytes, from the response or the page.
    pub len: Option<u64>,
    /// Validators (`ETag`, `Last-Modified`) of the response.
    pub validators: Validators,
}

/// A download in flight. It continues even without readers.
#[derive(Clone, Debug)]
pub struct Download {
    pub(super) state: Arc<DownloadState>,
    /// Keeps bytes that are not on disk until a reader has joined.
    reservation: Option<Arc<ReaderReservation>>,
}

#[derive(Debug)]
struct ReaderReservation {
    state: Arc<DownloadState>,
    id: u64,
}

impl ReaderReservation {
    fn release(&self) {
        self.state.window.lock().leave(self.id);
        self.state.room.notify_one();
    }
}

impl Drop for ReaderReservation {
    fn drop(&mut self) {
        self.release();
    }
}

/// Progress of a download.
#[derive(Clone, Debug)]
pub(crate) struct DownloadStatus {
    pub(crate) label: Option<Arc<str>>,
    /// Bytes available to readers.
    pub(crate) bytes: u64,
    /// Length in bytes, once known.
    pub(crate) len: Option<u64>,
}

#[derive(Debug)]
pub(super) struct DownloadState {
    pub(super) progress: watch::Sender<Progress>,
    pub(super) window: Mutex<Window>,
    /// Notified when a reader has consumed bytes of the window.
    pub(super) room: Notify,
    /// The partial file; not set if the disk can't be written.
    pub(super) file: OnceLock<Arc<File>>,
    pub(super) label: Option<Arc<str>>,
    /// Whether the file is not to be stored. Locked while it is.
    pub(super) is_purged: Mutex<bool>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) info: Option<FileInfo>,
    /// Bytes in the partial file. Later bytes are in the window.
    pub(super) on_disk: u64,
    /// Bytes available to readers. Excludes the last byte until the hash is verified.
    pub(super) visible: u64,
    pub(super) end: Option<Result<Option<StoredFile>, Arc<Error>>>,
}

impl Download {
    pub(super) fn new(label: Option<Arc<str>>) -> Self {
        let state = DownloadState {
            progress: watch::Sender::new(Progress::default()),
            window: Mutex::default(),
            room: Notify::new(),
            file: OnceLock::new(),
            label,
            is_purged: Mutex::default(),
        };
        Self { state: Arc::new(state), reservation: None }
    }

    /// Returns a handle that reserves all bytes for a reader that will join, or `None` if the first bytes are gone.
    pub(super) fn reserve(&self) -> Option<Self> {
        let id = self.state.window.lock().reserve()?;
        let reservation = ReaderReservation { state: self.state.clone(), id };
        Some(Self { state: self.state.clone(), reservation: Some(Arc::new(reservation)) })
    }

    /// Returns a handle without a reservation, for waiting until the download ends.
    pub(crate) fn observer(&self) -> Self {
        Self { state: self.state.clone(), reservation: None }
    }

    /// Waits for the source's response and returns its properties.
    ///
    /// # Errors
    ///
    /// Fails if the download fails before that.
    pub async fn info(&self) -> Result<FileInfo, Error> {
        let mut progress = self.state.progress.subscribe();
        let seen = progress.wait_for(|progress| progress.info.is_some() || progress.end.is_some()).await;
        let seen = seen.map_err(|_| aborted())?;
        match (&seen.info, &seen.end) {
            (Some(info), _) => Ok(info.clone()),
            (None, Some(Err(error))) => Err(error.repeat()),
            (None, _) => Err(aborted()),
        }
    }

    /// Returns the bytes available to readers. Excludes the last byte until the hash is verified.
    pub fn available(&self) -> u64 {
        self.state.progress.borrow().visible
    }

    /// Waits until at least `bytes` are on disk. Returns the file and its length, or `None` if the download has ended.
    pub(crate) async fn wait_for_bytes(&self, bytes: u64) -> Option<(Arc<File>, Option<u64>)> {
        let mut progress = self.state.progress.subscribe();
        let is_there = |progress: &Progress| progress.on_disk >= bytes || progress.end.is_some();
        let seen = progress.wait_for(is_there).await.ok()?;
        let len = seen.info.as_ref().and_then(|info| info.len);
        if seen.end.is_some() {
            return None;
        }
        Some((self.state.file.get()?.clone(), len))
    }

    /// Returns the length of the file, once known.
    pub(crate) fn len(&self) -> Option<u64> {
        self.state.progress.borrow().info.as_ref().and_then(|info| info.len)
    }

    /// Returns the file and the number of bytes that can be read from it. Returns `None` if the download has failed or
    /// the file is not on disk.
    pub(crate) fn readable(&self) -> Option<(Arc<File>, u64)> {
        let progress = self.state.progress.borrow();
        match &progress.end {
            None => Some((self.state.file.get()?.clone(), progress.on_disk)),
            Some(Ok(Some(stored))) => Some((stored.file.clone(), stored.len)),
            Some(_) => None,
        }
    }

    pub(super) fn status(&self) -> DownloadStatus {
        DownloadStatus { label: self.state.label.clone(), bytes: self.available(), len: self.len() }
    }

    /// Returns a reader of the file, or of a range of it, that follows the download.
    pub fn reader(&self, range: Option<Range<u64>>) -> Reader {
        Reader::new(self.state.clone(), range.unwrap_or(0..u64::MAX))
    }

    /// Returns whether a new reader would get all bytes. Bytes that are not on disk are dropped from memory when all
    /// readers have received them.
    pub(super) fn has_all_bytes(&self) -> bool {
        self.state.window.lock().has_all_bytes()
    }

    /// Waits until the file is complete and verified. Returns `None` if it could not be stored.
    ///
    /// # Errors
    ///
    /// Fails if the source fails, the content is not as expected ([`Error::is_corrupt`]), or the file is too large
    /// ([`Error::is_limit`]).
    pub async fn done(&self) -> Result<Option<StoredFile>, Error> {
        // This caller will not read, so its reserved bytes can be dropped.
        if let Some(reservation) = &self.reservation {
            reservation.release();
        }
        let mut progress = self.state.progress.subscribe();
        let seen = progress.wait_for(|progress| progress.end.is_some()).await.map_err(|_| aborted())?;
        match &seen.end {
            Some(Ok(stored)) => Ok(stored.clone()),
            Some(Err(error)) => Err(error.repeat()),
            None => Err(aborted()),
        }
    }
}

impl DownloadState {
    /// Waits until the window has less than `max` bytes. Drops the slowest readers if they make no progress within
    /// `reader_timeout`.
    pub(super) async fn wait_for_room(&self, max: usize, reader_timeout: Duration) {
        while self.window.lock().bytes() >= max {
            if tokio::time::timeout(reader_timeout, self.room.notified()).await.is_err() {
                self.window.lock().drop_slowest_readers();
            }
        }
    }
}

/// The download task is gone, because the runtime is shutting down or the task has panicked.
#[cold]
pub(super) fn aborted() -> Error {
    Error::with(Kind::Upstream, "the download was aborted")
}

/// The buffered end of a download, and the positions of its readers.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// File offset of the first buffered byte.
    start: u64,
    /// File offset of the first byte that was ever buffered.
    begin: u64,
    chunks: VecDeque<Bytes>,
    bytes: usize,
    readers: HashMap<u64, u64>,
    next: u64,
}

impl Window {
    /// Adds a reader at a file offset. Returns its identifier.
    pub(super) fn join(&mut self, position: u64) -> u64 {
        self.next += 1;
        self.readers.insert(self.next, position);
        self.next
    }

    pub(super) fn leave(&mut self, reader: u64) {
        self.readers.remove(&reader);
        self.trim();
    }

    /// Records that a reader has all bytes before `position`.
    pub(super) fn advance(&mut self, reader: u64, position: u64) {
        if let Some(own) = self.readers.get_mut(&reader) {
            *own = position;
        }
        if self.bytes > 0 {
            self.trim();
        }
    }

    /// Starts buffering at a file offset.
    pub(super) fn begin(&mut self, start: u64) {
        self.start = start;
        self.begin = start;
    }

    /// Returns whether a new reader would get all bytes of the file.
    pub(super) fn has_all_bytes(&self) -> bool {
        self.start == self.begin
    }

    /// Reserves all bytes for a reader that will join later. Returns `None` if some are gone.
    pub(super) fn reserve(&mut self) -> Option<u64> {
        self.has_all_bytes().then(|| self.join(0))
    }

    pub(super) fn push(&mut self, chunk: Bytes) {
        self.bytes += chunk.len();
        self.chunks.push_back(chunk);
        self.trim();
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns bytes from `position` to at most the end of a chunk, or `None` if they are not buffered.
    pub(super) fn get(&self, position: u64) -> Option<Bytes> {
        let mut at = self.start;
        for chunk in &self.chunks {
            let end = at + chunk.len() as u64;
            if (at..end).contains(&position) {
                return Some(chunk.slice(usize::try_from(position - at).ok()?..));
            }
            at = end;
        }
        None
    }

    /// Drops the readers that are furthest behind.
    pub(super) fn drop_slowest_readers(&mut self) {
        if let Some(least) = self.readers.values().copied().min() {
            self.readers.retain(|_, position| *position > least);
        }
        self.trim();
    }

    /// Drops the bytes that every reader has.
    fn trim(&mut self) {
        let least = self.readers.values().copied().min().unwrap_or(u64::MAX);
        while let Some(chunk) = self.chunks.front()
            && self.start + chunk.len() as u64 <= least
        {
            self.start += chunk.len() as u64;
            self.bytes -= chunk.len();
            self.chunks.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumed_bytes_are_dropped() {
        let mut window = Window::default();
        let (slow, fast) = (window.join(0), window.join(0));
        window.begin(10);
        window.push(Bytes::from_static(b"abcd"));
        window.push(Bytes::from_static(b"efgh"));
        assert_eq!(window.get(12).unwrap(), "cd");
        assert_eq!(window.get(9), None);
        assert_eq!(window.get(18), None);
        window.advance(fast, 18);
        assert_eq!(window.bytes(), 8);
        window.advance(slow, 14);
        assert_eq!((window.bytes(), window.get(10)), (4, None));
        window.drop_slowest_readers();
        assert_eq!(window.bytes(), 0);
        assert_eq!(window.get(14), None);
        window.push(Bytes::from_static(b"ijkl"));
        assert_eq!(window.get(18).unwrap(), "ijkl");
        window.leave(fast);
        assert_eq!(window.bytes(), 0);
    }

    #[test]
    fn reserved_bytes_are_kept() {
        let mut window = Window::default();
        let reservation = window.reserve().unwrap();
        window.push(Bytes::from_static(b"abcd"));
        let (first, late) = (window.join(0), window.reserve().unwrap());
        window.advance(first, 4);
        window.leave(reservation);
        assert_eq!((window.get(0).unwrap(), window.has_all_bytes()), (Bytes::from_static(b"abcd"), true));
        window.leave(late);
        assert_eq!((window.bytes(), window.reserve()), (0, None));
    }
}
