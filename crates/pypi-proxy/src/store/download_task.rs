//! Task that downloads a file.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};

use super::download::{DownloadState, FileInfo};
use super::shared::Inner;
use super::unverified::{problem_at_end, problem_at_start};
use super::{Download, Expected, FileSource, Key, StoredFile};
use crate::audit::{self, AuditEvent, Refusal};
use crate::digest::Hasher;
use crate::error::{Chain, Kind};
use crate::flight::Flight;
use crate::sys::FileExt as _;
use crate::upstream::{FileBody, Validators};
use crate::{Error, system};

/// Chunks that are already available are written together, up to about this many bytes.
const WRITE_BATCH: usize = 128 * 1024;

/// Maximum size of a file from the bucket of which all bytes are withheld until the hash is verified. Of larger files
/// and of files from an upstream, only the last byte is withheld.
pub(super) const WITHHOLD_MAX: u64 = if cfg!(test) { 64 << 10 } else { 8 << 20 };

/// Delay before the first retry. Doubles with each attempt.
const INITIAL_BACKOFF: Duration = Duration::from_millis(100);

pub(super) struct DownloadTask<S> {
    store: Arc<Inner>,
    /// `None` after the end.
    flight: Option<Flight<Download>>,
    key: Key,
    expected: Expected,
    source: S,
    /// URL of the index for logs.
    origin: Option<String>,
    state: Arc<DownloadState>,
    hash: Hasher,
    /// Offset reached: bytes received so far.
    at: u64,
    total: Option<u64>,
    validators: Validators,
    /// The partial file. `None` if the disk can't be written: bytes are buffered for the readers only.
    partial: Option<(PathBuf, Arc<File>)>,
    /// All bytes are withheld until the hash is verified, so that the file can be downloaded from another origin on a
    /// mismatch.
    is_withheld: bool,
}

impl<S: FileSource> DownloadTask<S> {
    pub(super) fn new(
        store: Arc<Inner>,
        flight: Flight<Download>,
        key: Key,
        expected: Expected,
        source: S,
        state: Arc<DownloadState>,
    ) -> Self {
        let (hash, total) = (Hasher::new(expected.checksum), expected.size);
        Self {
            store,
            flight: Some(flight),
            key,
            expected,
            origin: source.origin(),
            source,
            state,
            hash,
            at: 0,
            total,
            validators: Validators::default(),
            partial: None,
            is_withheld: false,
        }
    }

    /// Downloads the file and publishes the result to the readers.
    pub(super) async fn run(mut self) {
        let result = match self.store.permits.clone().acquire_owned().await {
            Ok(_permit) => self.fetch().await,
            Err(_) => Err(super::download::aborted()),
        };
        self.end(result);
    }

    async fn fetch(&mut self) -> Result<Option<StoredFile>, Error> {
        self.source.prepare().await;
        let expected = self.expected;
        let mut attempts = 0;
        loop {
            let before = self.at;
            let stopped = match self.connect().await {
                Ok(body) => self.receive(body).await?,
                Err(error)
                    if error.is_not_found()
                        || error.is_forbidden()
                        || error.is_refused()
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
                    Err(error) if error.is_corrupt() && self.source.reject().await && self.is_withheld => {
                        self.restart(expected)?;
                        continue;
                    }
                    result => return result,
                }
            }
            attempts = if self.at > before { 1 } else { attempts + 1 };
            let pause = stopped.as_ref().and_then(Error::retry_after);
            // Waiting longer than the stall timeout is up to the client, which gets `Retry-After`.
            if attempts > self.store.config.retries
                || pause.is_some_and(|pause| pause > self.store.config.stall_timeout)
            {
                return Err(stopped.unwrap_or_else(|| corrupt("the download ended too early")));
            }
            self.store.stats.resumed.add(1);
            tokio::time::sleep((INITIAL_BACKOFF * (1 << attempts.min(6))).max(pause.unwrap_or_default()))
                .await;
        }
    }

    /// Opens the source at the offset reached.
    async fn connect(&mut self) -> Result<FileBody, Error> {
        let open = self.source.open(self.at, &self.validators);
        let body = tokio::time::timeout(self.store.config.stall_timeout, open)
            .await
            .map_err(|_| stall_error())??;
        match (body.len, self.total) {
            (Some(len), Some(total)) if len != total => return Err(corrupt("its length is not as expected")),
            (Some(len), None) => self.total = Some(len),
            _ => {}
        }
        if self.total.is_some_and(|total| total > self.store.config.max_file) {
            return Err(Error::with(Kind::Limit, "the size of a file"));
        }
        if body.start > self.at {
            let why = "the response has another range of the file than requested";
            return Err(Error::with(Kind::Upstream, why));
        }
        // If a hash is known, it detects a file that has changed between two attempts.
        let is_same = !body.validators.is_empty() && body.validators == self.validators;
        let is_verified = self.expected.sha256.is_some() || self.expected.checksum.is_some();
        if self.at > 0 && !is_verified && !is_same {
            return Err(corrupt("it has changed during the download"));
        }
        self.validators = body.validators.clone();
        if self.at == 0 {
            self.expected.sha256 = self.expected.sha256.or(body.sha256);
        }
        if self.at == 0 && self.bytes_on_disk() == 0 {
            if self.partial.is_none() {
                if self.total.is_some_and(|total| total > self.store.limits.max_bytes()) {
                    self.state.window.lock().begin(self.at);
                } else {
                    self.open_file().await;
                }
            }
            // The first bytes of a file without a hash are checked first.
            if self.unverified_name().is_none() {
                self.publish_info();
            }
        }
        if self.at == 0 {
            let is_small = self.total.is_some_and(|total| total <= WITHHOLD_MAX);
            self.is_withheld = body.sha256.is_some() && is_small && self.partial.is_some();
        }
        Ok(body)
    }

    fn publish_info(&self) {
        let info = FileInfo { len: self.total, validators: self.validators.clone() };
        self.state.progress.send_modify(|progress| progress.info = Some(info));
    }

    /// Returns the name of a file of which neither a hash nor the size is known.
    fn unverified_name(&self) -> Option<&str> {
        let Expected { sha256, checksum, size } = self.expected;
        let name = self.state.label.as_deref()?.rsplit('/').next()?;
        (sha256.is_none() && checksum.is_none() && size.is_none()).then_some(name)
    }

    async fn open_file(&mut self) {
        let store = self.store.clone();
        match system::spawn_blocking(move || store.dir.partial()).await {
            Ok(Ok((path, file))) => {
                let file = Arc::new(file);
                // The cell is empty, because the file is opened only once.
                let _ = self.state.file.set(file.clone());
                self.partial = Some((path, file));
            }
            Ok(Err(error)) => self.on_disk_error(&error),
            Err(error) => self.on_disk_error(&error),
        }
    }

    fn on_disk_error(&mut self, why: &(dyn std::error::Error + 'static)) {
        self.store.record_disk_error(why);
        tracing::warn!(error = %Chain(why), "a file is sent to clients, but can't be stored");
        self.store.stats.unwritten.add(1);
        self.switch_to_memory();
    }

    /// Continues without the disk.
    fn switch_to_memory(&mut self) {
        if let Some((path, _)) = self.partial.take() {
            // Open handles of the deleted file stay readable.
            let _ = std::fs::remove_file(path);
        }
        self.state.window.lock().begin(self.at);
        self.is_withheld = false;
    }

    /// Receives the body. Returns the error that interrupted it, or `None` at its regular end.
    async fn receive(&mut self, mut body: FileBody) -> Result<Option<Error>, Error> {
        let mut skip = self.at - body.start;
        loop {
            let mut chunks = Vec::new();
            let mut len = 0;
            let mut stopped = match tokio::time::timeout(self.store.config.stall_timeout, body.next()).await {
                Err(_) => Some(Some(stall_error())),
                Ok(next) => push_chunk(next, &mut chunks, &mut len),
            };
            // Add the chunks that are available without waiting.
            while stopped.is_none()
                && len < WRITE_BATCH
                && let Some(next) = body.next().now_or_never()
            {
                stopped = push_chunk(next, &mut chunks, &mut len);
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
            Some(total) if end > total => return Err(corrupt("it is longer than expected")),
            None if end > self.store.config.max_file => {
                return Err(Error::with(Kind::Limit, "the size of a file"));
            }
            _ => {}
        }
        if self.at == 0
            && let Some(name) = self.unverified_name()
        {
            if let Some(problem) = problem_at_start(name, &chunks[0]) {
                return Err(corrupt(problem));
            }
            self.publish_info();
        }
        // Storing it would evict everything else, and the file would not be kept either.
        if end > self.store.limits.max_bytes() && self.partial.is_some() {
            self.switch_to_memory();
        }
        let mut hash = std::mem::replace(&mut self.hash, Hasher::new(None));
        let file = self.partial.as_ref().map(|(_, file)| file.clone());
        let mut at = self.at;
        let work = move || {
            chunks.iter().for_each(|chunk| hash.update(chunk));
            let mut write = |file: &File, chunk: &Bytes| {
                at += chunk.len() as u64;
                let start = at - chunk.len() as u64;
                system::disk().and_then(|()| file.write_all_at(chunk, start))
            };
            let written = file.map_or(Ok(()), |file| chunks.iter().try_for_each(|chunk| write(&file, chunk)));
            (hash, chunks, written)
        };
        let (hash, chunks, written) =
            system::spawn_blocking(work).await.map_err(|_| super::download::aborted())?;
        self.hash = hash;
        if let Err(error) = &written {
            self.on_disk_error(error);
        }
        let is_on_disk = self.partial.is_some();
        if is_on_disk {
            let partial = self.store.partial.add(len);
            self.store.evict(partial);
        } else {
            let config = &self.store.config;
            self.state.wait_for_room(config.max_memory_buffer, config.reader_timeout).await;
            let mut window = self.state.window.lock();
            chunks.into_iter().for_each(|chunk| window.push(chunk));
        }
        self.at = end;
        self.state.progress.send_modify(|progress| {
            if is_on_disk {
                progress.on_disk = end;
            }
            progress.visible = match self.total {
                _ if self.is_withheld => 0,
                Some(total) => end.min(total.saturating_sub(1)),
                None => end,
            };
        });
        Ok(())
    }

    /// Discards the received bytes. Only valid if no reader has seen any of them.
    fn restart(&mut self, expected: Expected) -> Result<(), Error> {
        if let Some((_, file)) = &self.partial {
            file.set_len(0).map_err(Error::storage)?;
        }
        self.store.partial.subtract(self.bytes_on_disk());
        self.state.progress.send_modify(|progress| progress.on_disk = 0);
        // `total` stays: readers already know the length.
        (self.at, self.expected, self.validators) = (0, expected, Validators::default());
        Ok(())
    }

    /// Verifies the hashes and commits the file.
    async fn finish(&mut self) -> Result<Option<StoredFile>, Error> {
        // The replacement is used if the download is restarted.
        let hash = std::mem::replace(&mut self.hash, Hasher::new(self.expected.checksum));
        let (digest, is_expected) = hash.finish();
        if !is_expected || self.expected.sha256.is_some_and(|expected| expected != digest) {
            return Err(corrupt("its hash does not match"));
        }
        if let Some(name) = self.unverified_name().map(str::to_owned) {
            if self.at == 0 {
                return Err(corrupt("it is empty"));
            }
            if let Some((_, file)) = &self.partial {
                let (file, len) = (file.clone(), self.at);
                let check = move || problem_at_end(&name, &file, len);
                let checked = system::spawn_blocking(check).await;
                if let Some(problem) =
                    checked.map_err(|_| super::download::aborted())?.map_err(Error::storage)?
                {
                    return Err(corrupt(problem));
                }
            }
        }
        let Some((path, file)) = self.partial.take() else { return Ok(None) };
        let (store, key, state) = (self.store.clone(), self.key.clone(), self.state.clone());
        let stored = StoredFile { file, len: self.at, digest };
        let work = move || {
            let is_purged = state.is_purged.lock();
            if *is_purged {
                let _ = std::fs::remove_file(path);
                return None;
            }
            Some(store.commit(&key, state.label.clone(), stored, &path))
        };
        system::spawn_blocking(work).await.map_err(|_| super::download::aborted())
    }
}

impl<S> DownloadTask<S> {
    /// Removes the partial file after an error, updates the counters, and notifies the readers.
    fn end(&mut self, result: Result<Option<StoredFile>, Error>) {
        if result.is_err()
            && let Some((path, _)) = &self.partial
        {
            let _ = std::fs::remove_file(path);
        }
        self.store.partial.subtract(self.bytes_on_disk());
        // Clients can request any number of files that do not exist.
        if let Err(error) = &result
            && !error.is_not_found()
        {
            self.store.failures.record(
                self.state.label.as_deref().unwrap_or("a file"),
                self.origin.clone(),
                error,
            );
        }
        let counter = match &result {
            Ok(_) => &self.store.stats.fetched,
            Err(error) if error.is_corrupt() => {
                let (file, rule) = (self.state.label.as_deref(), error.detail());
                audit::record(AuditEvent::Hash, Refusal { file, rule, ..Refusal::default() });
                &self.store.stats.corrupt
            }
            Err(_) => &self.store.stats.failed,
        };
        counter.add(1);
        // From now on callers find the stored file or start a new download.
        self.flight = None;
        self.state.progress.send_modify(|progress| {
            if result.is_ok() {
                progress.visible = self.at;
            }
            progress.end = Some(result.map_err(Arc::new));
        });
    }

    fn bytes_on_disk(&self) -> u64 {
        self.state.progress.borrow().on_disk
    }
}

impl<S> Drop for DownloadTask<S> {
    /// Notifies the readers if the task panics or the runtime shuts down.
    fn drop(&mut self) {
        if self.state.progress.borrow().end.is_none() {
            self.end(Err(super::download::aborted()));
        }
    }
}

/// Appends a chunk. Otherwise returns the end of the body, with its error if there is one.
fn push_chunk(
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
fn stall_error() -> Error {
    Error::with(Kind::Timeout, "no data received for a file")
}
