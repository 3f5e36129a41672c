//! Fetching a file.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};

use super::digest::Hasher;
use super::disk::Inner;
use super::fill::{Head, Shared};
use super::{Expected, Key, Source, Stored};
use crate::Error;
use crate::error::{Chain, Kind};
use crate::upstream::{FileBody, Validators};

/// Chunks that are there are written together up to about this many bytes.
const BATCH: usize = 128 * 1024;

/// Up to this many bytes of a file that others have stored wait for its hash before anybody reads them. Of a larger one
/// only the last byte does, as of what comes from an index.
const HELD: u64 = 8 << 20;

/// How long to wait before a source is asked again, for the first time.
const BACK_OFF: Duration = Duration::from_millis(100);

pub(super) struct Transfer<S> {
    store: Arc<Inner>,
    key: Key,
    expected: Expected,
    source: S,
    shared: Arc<Shared>,
    hash: Hasher,
    /// Bytes that have arrived.
    at: u64,
    total: Option<u64>,
    known: Validators,
    place: Place,
    /// Whether readers wait for the hash of all of it, so that it can come from elsewhere if that is another.
    is_held: bool,
}

/// Where the bytes go.
enum Place {
    Disk {
        path: PathBuf,
        file: Arc<File>,
    },
    /// The disk can't be written: they go to the readers and no further.
    Memory,
}

impl<S: Source> Transfer<S> {
    pub(super) fn new(
        store: Arc<Inner>,
        key: Key,
        expected: Expected,
        source: S,
        shared: Arc<Shared>,
    ) -> Self {
        let (hash, total) = (Hasher::new(expected.checksum), expected.size);
        Self {
            store,
            key,
            expected,
            source,
            shared,
            hash,
            at: 0,
            total,
            known: Validators::default(),
            place: Place::Memory,
            is_held: false,
        }
    }

    /// Fetches the file to its end, whatever that is, and tells the readers.
    pub(super) async fn run(mut self) {
        let result = match self.store.permits.clone().acquire_owned().await {
            Ok(_permit) => self.fetch().await,
            Err(_) => Err(super::fill::given_up()),
        };
        self.end(result);
    }

    async fn fetch(&mut self) -> Result<Option<Stored>, Error> {
        self.source.prepare().await;
        let expected = self.expected;
        let mut tries = 0;
        loop {
            let before = self.at;
            let stopped = match self.connect().await {
                Ok(body) => self.receive(body).await?,
                Err(error)
                    if error.is_not_found()
                        || error.is_forbidden()
                        || error.is_corrupt()
                        || error.is_limit() =>
                {
                    return Err(error);
                }
                Err(error) => Some(error),
            };
            let is_whole = match self.total {
                Some(total) => self.at == total,
                None => stopped.is_none(),
            };
            if is_whole {
                match self.finish().await {
                    Err(error) if error.is_corrupt() && self.source.refuse().await && self.is_held => {
                        self.start_over(expected)?;
                        continue;
                    }
                    result => return result,
                }
            }
            tries = if self.at > before { 1 } else { tries + 1 };
            let pause = stopped.as_ref().and_then(Error::retry_after);
            // A source that is slow to come back is one for the client to wait for.
            if tries > self.store.config.retries || pause.is_some_and(|pause| pause > self.store.config.stall)
            {
                return Err(stopped.unwrap_or_else(|| corrupt("it ends too early")));
            }
            self.store.stats.resumed.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep((BACK_OFF * (1 << tries.min(6))).max(pause.unwrap_or_default())).await;
        }
    }

    /// Opens the source at the place that was reached.
    async fn connect(&mut self) -> Result<FileBody, Error> {
        let open = self.source.open(self.at, &self.known);
        let body = tokio::time::timeout(self.store.config.stall, open).await.map_err(|_| stalled())??;
        match (body.len, self.total) {
            (Some(len), Some(total)) if len != total => return Err(corrupt("it has another length")),
            (Some(len), None) => self.total = Some(len),
            _ => {}
        }
        if self.total.is_some_and(|total| total > self.store.config.max_file) {
            return Err(Error::with(Kind::Limit, "the size of a file"));
        }
        if body.start > self.at {
            return Err(Error::with(Kind::Upstream, "another part of a file than was asked for"));
        }
        // With a hash, it tells in the end whether all is of the same file.
        let is_same = !body.validators.is_empty() && body.validators == self.known;
        let is_verified = self.expected.sha256.is_some() || self.expected.checksum.is_some();
        if self.at > 0 && !is_verified && !is_same {
            return Err(corrupt("it has changed on its way"));
        }
        self.known = body.validators.clone();
        if self.at == 0 {
            self.expected.sha256 = self.expected.sha256.or(body.sha256);
        }
        if self.at == 0 && self.at_disk() == 0 {
            if matches!(self.place, Place::Memory) {
                if self.total.is_some_and(|total| total > self.store.config.max_bytes) {
                    self.shared.window().begin(self.at);
                } else {
                    self.open_place().await;
                }
            }
            let head = Head { len: self.total, validators: self.known.clone() };
            self.shared.progress.send_modify(|progress| progress.head = Some(head));
        }
        if self.at == 0 {
            let is_small = self.total.is_some_and(|total| total <= HELD);
            self.is_held = body.sha256.is_some() && is_small && matches!(self.place, Place::Disk { .. });
        }
        Ok(body)
    }

    async fn open_place(&mut self) {
        let store = self.store.clone();
        match tokio::task::spawn_blocking(move || store.folder.partial()).await {
            Ok(Ok((path, file))) => {
                let file = Arc::new(file);
                // It was not set before: this is done once.
                let _ = self.shared.file.set(file.clone());
                self.place = Place::Disk { path, file };
            }
            Ok(Err(error)) => self.lose_disk(&error),
            Err(error) => self.lose_disk(&error),
        }
    }

    fn lose_disk(&mut self, why: &dyn std::error::Error) {
        tracing::warn!(error = %Chain(why), "a file is passed on, but can't be stored");
        self.store.stats.unwritten.fetch_add(1, Ordering::Relaxed);
        self.leave_disk();
    }

    /// From here on bytes go to the readers and no further.
    fn leave_disk(&mut self) {
        if let Place::Disk { path, .. } = std::mem::replace(&mut self.place, Place::Memory) {
            // What was written stays readable for those who have it open.
            let _ = std::fs::remove_file(path);
        }
        self.shared.window().begin(self.at);
        self.is_held = false;
    }

    /// Takes what comes. `None` at a clean end, else why it stopped.
    async fn receive(&mut self, mut body: FileBody) -> Result<Option<Error>, Error> {
        let mut skip = self.at - body.start;
        loop {
            let mut chunks = Vec::new();
            let mut len = 0;
            let mut stopped = match tokio::time::timeout(self.store.config.stall, body.next()).await {
                Err(_) => Some(Some(stalled())),
                Ok(next) => take(next, &mut chunks, &mut len),
            };
            // What is there already goes with it.
            while stopped.is_none()
                && len < BATCH
                && let Some(next) = body.next().now_or_never()
            {
                stopped = take(next, &mut chunks, &mut len);
            }
            for chunk in &mut chunks {
                let cut = skip.min(chunk.len() as u64);
                skip -= cut;
                *chunk = chunk.split_off(usize::try_from(cut).unwrap_or(chunk.len()));
            }
            chunks.retain(|chunk| !chunk.is_empty());
            if !chunks.is_empty() {
                self.write(chunks).await?;
            }
            if let Some(end) = stopped {
                return Ok(end);
            }
        }
    }

    async fn write(&mut self, chunks: Vec<Bytes>) -> Result<(), Error> {
        let len = chunks.iter().map(|chunk| chunk.len() as u64).sum::<u64>();
        let end = self.at + len;
        match self.total {
            Some(total) if end > total => return Err(corrupt("it is longer than it should be")),
            None if end > self.store.config.max_file => {
                return Err(Error::with(Kind::Limit, "the size of a file"));
            }
            _ => {}
        }
        // It would take the place of all others, and not be kept either.
        if end > self.store.config.max_bytes && matches!(self.place, Place::Disk { .. }) {
            self.leave_disk();
        }
        let mut hash = std::mem::replace(&mut self.hash, Hasher::new(None));
        let file = match &self.place {
            Place::Disk { file, .. } => Some(file.clone()),
            Place::Memory => None,
        };
        let mut at = self.at;
        let work = move || {
            chunks.iter().for_each(|chunk| hash.update(chunk));
            let mut write = |chunk: &Bytes| {
                if let Some(file) = &file {
                    std::os::unix::fs::FileExt::write_all_at(&**file, chunk, at)?;
                }
                at += chunk.len() as u64;
                Ok::<_, std::io::Error>(())
            };
            let written = chunks.iter().try_for_each(&mut write);
            (hash, chunks, written)
        };
        let (hash, chunks, written) =
            tokio::task::spawn_blocking(work).await.map_err(|_| super::fill::given_up())?;
        self.hash = hash;
        if let Err(error) = &written {
            self.lose_disk(error);
        }
        let is_on_disk = matches!(self.place, Place::Disk { .. });
        if is_on_disk {
            let partial = self.store.partial.fetch_add(len, Ordering::Relaxed) + len;
            self.store.evict(partial);
        } else {
            let config = &self.store.config;
            self.shared.wait_for_room(config.max_window, config.lag).await;
            let mut window = self.shared.window();
            chunks.into_iter().for_each(|chunk| window.push(chunk));
        }
        self.at = end;
        self.shared.progress.send_modify(|progress| {
            if is_on_disk {
                progress.on_disk = end;
            }
            progress.visible = match self.total {
                _ if self.is_held => 0,
                Some(total) => end.min(total.saturating_sub(1)),
                None => end,
            };
        });
        Ok(())
    }

    /// Forgets what came. Nobody has read any of it.
    fn start_over(&mut self, expected: Expected) -> Result<(), Error> {
        if let Place::Disk { file, .. } = &self.place {
            file.set_len(0).map_err(Error::storage)?;
        }
        self.store.partial.fetch_sub(self.at_disk(), Ordering::Relaxed);
        self.shared.progress.send_modify(|progress| progress.on_disk = 0);
        // Readers were told its length: that stays.
        (self.at, self.expected, self.known) = (0, expected, Validators::default());
        Ok(())
    }

    /// All has arrived: whether it is what it should be.
    async fn finish(&mut self) -> Result<Option<Stored>, Error> {
        // In its place is what starting over needs.
        let hash = std::mem::replace(&mut self.hash, Hasher::new(self.expected.checksum));
        let (digest, is_expected) = hash.finish();
        if !is_expected || self.expected.sha256.is_some_and(|expected| expected != digest) {
            return Err(corrupt("its hash is another"));
        }
        let Place::Disk { path, file } = std::mem::replace(&mut self.place, Place::Memory) else {
            return Ok(None);
        };
        let (store, key, label) = (self.store.clone(), self.key.clone(), self.shared.label.clone());
        let stored = Stored { file, len: self.at, digest };
        let work = move || store.commit(&key, label, stored, &path);
        tokio::task::spawn_blocking(work).await.map_err(|_| super::fill::given_up()).map(Some)
    }
}

impl<S> Transfer<S> {
    /// Leaves nothing behind, and tells the readers.
    fn end(&self, result: Result<Option<Stored>, Error>) {
        if result.is_err()
            && let Place::Disk { path, .. } = &self.place
        {
            let _ = std::fs::remove_file(path);
        }
        self.store.partial.fetch_sub(self.at_disk(), Ordering::Relaxed);
        let counter = match &result {
            Ok(_) => &self.store.stats.fetched,
            Err(error) if error.is_corrupt() => &self.store.stats.corrupt,
            Err(_) => &self.store.stats.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        // Whoever comes now finds the stored file, or starts anew. Somebody may have done so already.
        let mut fills = self.store.fills();
        if fills.get(&self.key).is_some_and(|fill| Arc::ptr_eq(&fill.shared, &self.shared)) {
            fills.remove(&self.key);
        }
        drop(fills);
        self.shared.progress.send_modify(|progress| {
            if result.is_ok() {
                progress.visible = self.at;
            }
            progress.end = Some(result.map_err(Arc::new));
        });
    }

    fn at_disk(&self) -> u64 {
        self.shared.progress.borrow().on_disk
    }
}

impl<S> Drop for Transfer<S> {
    /// A panic, or the end of the runtime, must leave nobody waiting.
    fn drop(&mut self) {
        if self.shared.progress.borrow().end.is_none() {
            self.end(Err(super::fill::given_up()));
        }
    }
}

/// Keeps a chunk; the result is the end, if it is one.
fn take(
    next: Option<Result<Bytes, Error>>,
    chunks: &mut Vec<Bytes>,
    len: &mut usize,
) -> Option<Option<Error>> {
    match next {
        None => Some(None),
        Some(Err(error)) => Some(Some(error)),
        Some(Ok(chunk)) => {
            *len += chunk.len();
            chunks.push(chunk);
            None
        }
    }
}

#[cold]
fn corrupt(what: &str) -> Error {
    Error::with(Kind::Corrupt, what)
}

#[cold]
fn stalled() -> Error {
    Error::with(Kind::Timeout, "nothing comes of a file")
}
