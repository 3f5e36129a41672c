//! Files on their way to the bucket.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use object_store::MultipartUpload;

use super::failure::Failure;
use super::lease::Lease;
use super::meter::Uploaded;
use super::share::Bucket;
use crate::Error;
use crate::store::{Digest, Download, Key, Reference, StoredFile, read_at};

/// How often an upload is tried anew, and after how long for the first time; it is twice that each time.
const RETRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// The most parts that S3 takes.
const MAX_PARTS: u64 = 10_000;

/// The parts that are there.
struct Parts {
    upload: Box<dyn MultipartUpload>,
    size: u64,
    /// The first byte that is in none of them.
    at: u64,
}

impl Bucket {
    /// Writes a file while it grows. It is there for others only after its hash was verified.
    pub(super) fn follow(&self, download: Download, key: Key, lease: Option<Lease>) {
        let slot = self.slots().clone().try_acquire_owned().ok();
        let bucket = self.clone();
        tokio::spawn(async move {
            let is_dropped = slot.is_none();
            let work = async {
                let parts = match (&key, is_dropped) {
                    (Key::Digest(digest), false) => bucket.grow(&download, digest).await,
                    _ => None,
                };
                match download.done().await {
                    Ok(Some(stored)) if !is_dropped => {
                        let name = if let Key::Reference(name) = &key { Some(name) } else { None };
                        bucket.upload(&stored, parts, name).await
                    }
                    Ok(Some(stored)) => {
                        bucket.owe(stored.digest);
                        Uploaded::Dropped
                    }
                    _ => {
                        bucket.abort(parts).await;
                        Uploaded::Aborted
                    }
                }
            };
            let uploaded = match lease {
                Some(lease) => lease.during(work).await,
                None => work.await,
            };
            bucket.meter().uploaded(uploaded);
            drop(slot);
        });
    }

    /// Writes a file that is stored, if that could not be done before.
    pub(crate) fn catch_up(&self, stored: &StoredFile) {
        if !self.is_owed(&stored.digest) {
            return;
        }
        let Ok(slot) = self.slots().clone().try_acquire_owned() else { return self.owe(stored.digest) };
        let (bucket, stored) = (self.clone(), stored.clone());
        tokio::spawn(async move {
            let uploaded = bucket.upload(&stored, None, None).await;
            bucket.meter().uploaded(uploaded);
            drop(slot);
        });
    }

    /// Writes the parts of a file as they come. `None` if it is too small for that, or if it can't be done.
    async fn grow(&self, download: &Download, digest: &Digest) -> Option<Parts> {
        let mut parts: Option<Parts> = None;
        loop {
            let (at, size) =
                parts.as_ref().map_or((0, self.config().part_size), |parts| (parts.at, parts.size));
            let Some((file, len)) = download.wait_for_bytes(at + size).await else { return parts };
            let size = self.part_size(len.unwrap_or_default());
            let result = match &mut parts {
                Some(parts) => self.add(parts, &file, parts.size).await,
                None => self.begin(digest, size).await.map(|begun| parts = Some(begun)),
            };
            if result.is_err() {
                self.abort(parts).await;
                return None;
            }
        }
    }

    fn part_size(&self, len: u64) -> u64 {
        self.config().part_size.max(len.div_ceil(MAX_PARTS))
    }

    async fn begin(&self, digest: &Digest, size: u64) -> Result<Parts, Failure> {
        let upload = self.remote().begin(&self.file_path(digest), digest.to_string()).await?;
        Ok(Parts { upload, size, at: 0 })
    }

    async fn add(&self, parts: &mut Parts, file: &Arc<File>, len: u64) -> Result<(), Failure> {
        self.remote().part(&mut *parts.upload, read(file.clone(), parts.at, len)).await?;
        parts.at += len;
        Ok(())
    }

    async fn abort(&self, parts: Option<Parts>) {
        if let Some(mut parts) = parts {
            self.remote().abort(&mut *parts.upload).await;
        }
    }

    /// Writes a file, or what is left of it, as often as it takes, but not for ever.
    async fn upload(
        &self,
        stored: &StoredFile,
        mut parts: Option<Parts>,
        name: Option<&Reference>,
    ) -> Uploaded {
        for retry in 0..=RETRIES {
            if retry > 0 {
                tokio::time::sleep(PAUSE * (1 << (retry - 1))).await;
            }
            let written = match self.write(stored, parts.take()).await {
                Ok(()) => self.note(stored, name).await,
                Err(error) => Err(error),
            };
            if written.is_ok() {
                return Uploaded::Done;
            }
        }
        self.owe(stored.digest);
        Uploaded::Failed
    }

    async fn write(&self, stored: &StoredFile, parts: Option<Parts>) -> Result<(), Failure> {
        let StoredFile { file, len, digest } = stored;
        let mut parts = match parts {
            Some(parts) => parts,
            None if *len <= self.config().part_size => {
                return self
                    .remote()
                    .put(&self.file_path(digest), read(file.clone(), 0, *len), Some(digest.to_string()))
                    .await;
            }
            None => self.begin(digest, self.part_size(*len)).await?,
        };
        let mut result = Ok(());
        while parts.at < *len && result.is_ok() {
            let left = (len - parts.at).min(parts.size);
            result = self.add(&mut parts, file, left).await;
        }
        if result.is_ok() {
            result = self.remote().complete(&mut *parts.upload).await;
        }
        if result.is_err() {
            self.abort(Some(parts)).await;
        }
        result
    }

    /// Notes the hash of a file whose page does not tell it.
    async fn note(&self, stored: &StoredFile, name: Option<&Reference>) -> Result<(), Failure> {
        let Some(name) = name else { return Ok(()) };
        let text = stored.digest.to_string().into_bytes();
        self.remote().put(&self.name_path(name), async { Ok(text) }, None).await
    }
}

/// Part of a file.
async fn read(file: Arc<File>, at: u64, len: u64) -> Result<Vec<u8>, Error> {
    let work = move || {
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
        read_at(&file, &mut bytes, at).map(|()| bytes)
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(Error::storage),
        Err(error) => Err(Error::storage(std::io::Error::other(error))),
    }
}
