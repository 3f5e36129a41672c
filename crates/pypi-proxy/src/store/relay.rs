//! Streams a file through the bucket while its lease owner downloads and uploads it.
//!
//! A proxy that waits for a large file writes an object for that. The owner then writes all bytes that it has as parts,
//! each named by its offset in the file, and deletes the parts when the file is in the bucket. Files are addressed by
//! their hash, so a part is valid no matter which proxy wrote it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::download_task::WITHHOLD_MAX;
use super::{Digest, Download, Expected, Key, read_range};
use crate::Error;
use crate::bucket::{Bucket, Claim, ClaimStep, FILE_LEN, LargeObject, LeaseOutcome, OperationError, failed};
use crate::upstream::{FileBody, Validators};

/// Time that a proxy waits before it asks for parts, and without parts before it looks for the whole file. Interval in
/// which the owner looks for such proxies and writes parts.
const INTERVAL: Duration = Duration::from_secs(1);

impl Bucket {
    /// Minimum length of a file that is streamed. A smaller file is uploaded in one request, or withheld by its readers
    /// until it is verified.
    fn min_streamed_len(&self) -> u64 {
        self.0.config.part_size.max(WITHHOLD_MAX) + 1
    }

    fn wanted_path(&self, digest: &Digest) -> Path {
        self.path(["wanted", &digest.to_string()])
    }

    fn parts_path(&self, digest: &Digest) -> Path {
        self.path(["parts", &digest.to_string()])
    }

    fn part_path(&self, digest: &Digest, offset: u64) -> Path {
        self.parts_path(digest).join(format!("{offset:016x}"))
    }

    /// Opens the part of a file that starts at an offset. Returns `None` if there is none.
    async fn open_part(&self, digest: &Digest, offset: u64) -> Result<Option<LargeObject>, Error> {
        match self.0.remote.large(&self.part_path(digest, offset), None).await {
            // An empty part would never end.
            Ok(part) if part.len > 0 => Ok(Some(part)),
            Err(OperationError::Failed(error)) => Err(error),
            Ok(_) | Err(_) => Ok(None),
        }
    }
}

/// The owner's side: writes parts of a growing file if another proxy wants them.
pub(super) struct PartWriter {
    bucket: Bucket,
    digest: Digest,
    /// Offset of the next part.
    offset: u64,
    /// Offsets of the parts written so far.
    written: Vec<u64>,
    is_wanted: bool,
    /// Whether a previous owner may have left parts.
    has_predecessor: bool,
}

impl PartWriter {
    /// Creates a writer of the parts from `offset` on. If it is not 0, earlier parts of another owner exist.
    pub(super) fn new(bucket: Bucket, digest: Digest, offset: u64, has_predecessor: bool) -> Self {
        // The readers of the previous owner's parts still want the following ones.
        let is_wanted = offset > 0;
        Self { bucket, digest, offset, written: Vec::new(), is_wanted, has_predecessor }
    }

    /// Writes parts until it is dropped.
    pub(super) async fn run(&mut self, download: &Download) -> Infallible {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let Some(len) = download.len().filter(|len| *len >= self.bucket.min_streamed_len()) else {
                continue;
            };
            if !self.is_wanted {
                self.is_wanted =
                    self.bucket.0.remote.small(&self.bucket.wanted_path(&self.digest), 0).await.is_ok();
            }
            // If it fails, continue later.
            if self.is_wanted {
                let _ = self.catch_up(download, len).await;
            }
        }
    }

    /// Writes all bytes that are on disk.
    async fn catch_up(&mut self, download: &Download, file_len: u64) -> Result<(), OperationError> {
        while let Some((file, on_disk)) = download.readable()
            && self.offset < on_disk
        {
            let end = on_disk.min(self.offset + self.bucket.0.config.part_size);
            let path = self.bucket.part_path(&self.digest, self.offset);
            // The part may be written although its response is lost.
            self.written.push(self.offset);
            let attribute = Some((FILE_LEN, file_len.to_string()));
            self.bucket.0.remote.put(&path, read_range(file, self.offset..end), attribute).await?;
            self.offset = end;
        }
        Ok(())
    }

    /// Deletes the parts. Lifecycle rules of the bucket remove them if this fails.
    pub(super) async fn clean_up(mut self) {
        let (bucket, digest) = (self.bucket, self.digest);
        self.written.dedup();
        let mut paths: Vec<_> =
            self.written.iter().map(|offset| bucket.part_path(&digest, *offset)).collect();
        if self.has_predecessor {
            let list = bucket.0.remote.list(&bucket.parts_path(&digest)).map_ok(|object| object.location);
            paths.extend(list.filter_map(async |path| path.ok()).collect::<Vec<_>>().await);
        }
        if self.is_wanted || self.has_predecessor {
            paths.push(bucket.wanted_path(&digest));
        }
        for path in paths {
            let _ = bucket.0.remote.delete(&path).await;
        }
    }
}

/// Another proxy's side: asks the owner for parts while waiting for its lease.
pub(super) struct PartRequest {
    bucket: Bucket,
    /// `None` if the file is not streamed.
    digest: Option<Digest>,
    size: Option<u64>,
    start: Instant,
    is_sent: bool,
}

impl PartRequest {
    pub(super) fn new(bucket: Bucket, key: &Key, expected: &Expected) -> Self {
        let is_large = expected.size.is_none_or(|size| size >= bucket.min_streamed_len());
        let digest = if let Key::Digest(digest) = key { Some(*digest).filter(|_| is_large) } else { None };
        Self { bucket, digest, size: expected.size, start: Instant::now(), is_sent: false }
    }

    /// Asks for parts if the owner takes long. Returns the first part once it exists, and the length of the file.
    pub(super) async fn first_part(&mut self) -> Option<(LargeObject, u64)> {
        let digest = self.digest.filter(|_| self.start.elapsed() >= INTERVAL)?;
        if !self.is_sent {
            self.is_sent = true;
            // Another proxy may have asked already.
            let wanted = self.bucket.wanted_path(&digest);
            let _ = self.bucket.0.remote.put_if(&wanted, Vec::new(), None).await;
        }
        let part = self.bucket.open_part(&digest, 0).await.ok().flatten()?;
        let file_len = part.file_len.or(self.size).filter(|len| self.size.is_none_or(|size| size == *len));
        if file_len.is_none() {
            // The file can't be streamed: wait until it is complete.
            self.digest = None;
        }
        Some((part, file_len?))
    }

    /// Withdraws the request after the owner has released its lease. The owner may not have noticed it.
    pub(super) async fn withdraw(&mut self) {
        if let Some(digest) = self.digest.filter(|_| std::mem::take(&mut self.is_sent)) {
            let _ = self.bucket.0.remote.delete(&self.bucket.wanted_path(&digest)).await;
        }
    }
}

/// Reads the parts that the lease owner writes.
#[derive(Clone)]
pub(super) struct PartReader {
    bucket: Bucket,
    digest: Digest,
    file_len: u64,
    state: Arc<Mutex<ReaderState>>,
}

struct ReaderState {
    claim: Claim,
    /// Why the owner writes no more parts; `None` if the bucket fails.
    end: Option<ClaimStep>,
}

impl PartReader {
    /// Creates a reader that starts with this part of a file.
    pub(super) fn new(
        bucket: Bucket,
        digest: Digest,
        file_len: u64,
        mut claim: Claim,
        first: LargeObject,
    ) -> (Self, FileBody) {
        claim.count(LeaseOutcome::Streamed);
        claim.record_progress();
        let state = Arc::new(Mutex::new(ReaderState { claim, end: None }));
        let reader = Self { bucket, digest, file_len, state };
        let body = reader.body(0, Some(first.stream));
        (reader, body)
    }

    /// Returns the bytes from an offset on. The body fails if the owner writes no more parts.
    pub(super) fn body(&self, from: u64, part: Option<BoxStream<'static, Result<Bytes, Error>>>) -> FileBody {
        let next = futures_util::stream::unfold(Some((self.clone(), from, part)), |state| async {
            let (reader, mut position, mut part) = state?;
            match reader.next(&mut position, &mut part).await {
                Ok(Some(bytes)) => Some((Ok(bytes), Some((reader, position, part)))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        });
        FileBody::new(from, Some(self.file_len), Validators::default(), next)
    }

    async fn next(
        &self,
        position: &mut u64,
        part: &mut Option<BoxStream<'static, Result<Bytes, Error>>>,
    ) -> Result<Option<Bytes>, Error> {
        loop {
            if let Some(stream) = part {
                if let Some(bytes) = stream.try_next().await? {
                    *position += bytes.len() as u64;
                    return Ok(Some(bytes));
                }
                *part = None;
            }
            if *position >= self.file_len {
                return Ok(None);
            }
            let next = self.bucket.open_part(&self.digest, *position).await?;
            let mut state = self.state.lock().await;
            if let Some(next) = next {
                state.claim.record_progress();
                *part = Some(next.stream);
                continue;
            }
            match state.claim.observe().await {
                ClaimStep::Wait(interval) => {
                    drop(state);
                    tokio::time::sleep(interval).await;
                    // A previous owner of the lease may have uploaded the file.
                    if interval >= INTERVAL {
                        let key = Key::Digest(self.digest);
                        let file = self.bucket.open(&key, Some(self.file_len), *position).await?;
                        *part = file.map(|(_, body)| body.boxed());
                    }
                }
                end => {
                    state.end = Some(end);
                    return Err(failed("another proxy no longer downloads the file"));
                }
            }
        }
    }

    /// Returns how the download continues after the body has failed.
    pub(super) async fn end(&self) -> ClaimStep {
        let mut state = self.state.lock().await;
        match state.end.take() {
            Some(ClaimStep::Released) => state.claim.acquire().await,
            Some(end) => end,
            None => ClaimStep::Unavailable,
        }
    }
}
