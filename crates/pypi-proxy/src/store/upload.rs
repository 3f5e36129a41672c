//! Uploads of files to the bucket.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use object_store::MultipartUpload;

use super::relay::PartWriter;
use super::{Digest, Download, Key, Reference, StoredFile, read_range};
use crate::bucket::{Bucket, Lease, OperationError, SHA256, UploadOutcome};
use crate::system;

/// Retries of an upload, and the delay before the first one, which doubles each time.
const RETRIES: u32 = 3;
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Maximum number of parts of an S3 multipart upload.
const MAX_PARTS: u64 = 10_000;

struct PartialUpload {
    upload: Box<dyn MultipartUpload>,
    size: u64,
    /// Offset of the next part.
    offset: u64,
}

impl Bucket {
    /// Uploads a file while it is downloaded. It becomes visible after its hash is verified. With a lease, other proxies
    /// that wait for the file get its bytes from `offset` on as parts.
    pub(super) fn upload_while_growing(
        &self,
        download: Download,
        key: Key,
        lease: Option<Lease>,
        offset: u64,
    ) {
        let permit = self.0.uploads.clone().try_acquire_owned().ok();
        let bucket = self.clone();
        system::spawn(async move {
            let is_dropped = permit.is_none();
            let work = async {
                let partial = match (&key, is_dropped) {
                    (Key::Digest(digest), false) => bucket.upload_parts(&download, digest).await,
                    _ => None,
                };
                match download.done().await {
                    Ok(Some(stored)) if !is_dropped => {
                        let name = if let Key::Reference(name) = &key { Some(name) } else { None };
                        bucket.upload(&stored, partial, name).await
                    }
                    Ok(Some(stored)) => {
                        bucket.record_failed_upload(stored.digest);
                        UploadOutcome::Dropped
                    }
                    _ => {
                        bucket.abort(partial).await;
                        UploadOutcome::Aborted
                    }
                }
            };
            let mut parts = match (&key, &lease) {
                (Key::Digest(digest), Some(lease)) if !is_dropped => {
                    Some(PartWriter::new(bucket.clone(), *digest, offset, lease.is_taken_over))
                }
                _ => None,
            };
            let work = async {
                match &mut parts {
                    None => work.await,
                    Some(parts) => tokio::select! {
                        biased;
                        outcome = work => outcome,
                        never = parts.run(&download) => match never {},
                    },
                }
            };
            let outcome = work.await;
            if let Some(lease) = lease {
                lease.release().await;
            }
            bucket.0.remote.meter.uploads[outcome].add(1);
            // The readers of the parts continue with the file.
            if let Some(parts) = parts {
                parts.clean_up().await;
            }
            drop(permit);
        });
    }

    /// Uploads a stored file again if its upload failed before.
    pub(crate) fn retry_upload(&self, stored: &StoredFile) {
        if !self.take_failed_upload(&stored.digest) {
            return;
        }
        let Ok(permit) = self.0.uploads.clone().try_acquire_owned() else {
            return self.record_failed_upload(stored.digest);
        };
        let (bucket, stored) = (self.clone(), stored.clone());
        system::spawn(async move {
            let outcome = bucket.upload(&stored, None, None).await;
            bucket.0.remote.meter.uploads[outcome].add(1);
            drop(permit);
        });
    }

    /// Uploads the parts of a growing file. Returns `None` if it is smaller than a part, or if the upload fails.
    async fn upload_parts(&self, download: &Download, digest: &Digest) -> Option<PartialUpload> {
        let mut partial: Option<PartialUpload> = None;
        loop {
            let (offset, size) = partial
                .as_ref()
                .map_or((0, self.0.config.part_size), |partial| (partial.offset, partial.size));
            let Some((file, len)) = download.wait_for_bytes(offset + size).await else { return partial };
            let size = self.part_size(len.unwrap_or_default());
            let result = match &mut partial {
                Some(partial) => self.add(partial, &file, partial.size).await,
                None => self.begin(digest, size).await.map(|upload| partial = Some(upload)),
            };
            if result.is_err() {
                self.abort(partial).await;
                return None;
            }
        }
    }

    fn part_size(&self, len: u64) -> u64 {
        self.0.config.part_size.max(len.div_ceil(MAX_PARTS))
    }

    async fn begin(&self, digest: &Digest, size: u64) -> Result<PartialUpload, OperationError> {
        let upload = self.0.remote.begin(&self.file_path(digest), digest.to_string()).await?;
        Ok(PartialUpload { upload, size, offset: 0 })
    }

    async fn add(
        &self,
        partial: &mut PartialUpload,
        file: &Arc<File>,
        len: u64,
    ) -> Result<(), OperationError> {
        let read = read_range(file.clone(), partial.offset..partial.offset + len);
        self.0.remote.part(&mut *partial.upload, read).await?;
        partial.offset += len;
        Ok(())
    }

    async fn abort(&self, partial: Option<PartialUpload>) {
        if let Some(mut partial) = partial {
            self.0.remote.abort(&mut *partial.upload).await;
        }
    }

    /// Uploads a file, or its remaining parts, with retries.
    async fn upload(
        &self,
        stored: &StoredFile,
        mut partial: Option<PartialUpload>,
        name: Option<&Reference>,
    ) -> UploadOutcome {
        for retry in 0..=RETRIES {
            if retry > 0 {
                tokio::time::sleep(RETRY_DELAY * (1 << (retry - 1))).await;
            }
            let written = match self.write(stored, partial.take()).await {
                Ok(()) => self.store_hash(stored, name).await,
                Err(error) => Err(error),
            };
            if written.is_ok() {
                return UploadOutcome::Done;
            }
        }
        self.record_failed_upload(stored.digest);
        UploadOutcome::Failed
    }

    async fn write(&self, stored: &StoredFile, partial: Option<PartialUpload>) -> Result<(), OperationError> {
        let StoredFile { file, len, digest } = stored;
        let mut partial = match partial {
            Some(partial) => partial,
            None if *len <= self.0.config.part_size => {
                let read = read_range(file.clone(), 0..*len);
                let sha256 = Some((SHA256, digest.to_string()));
                return self.0.remote.put(&self.file_path(digest), read, sha256).await;
            }
            None => self.begin(digest, self.part_size(*len)).await?,
        };
        let mut result = Ok(());
        while partial.offset < *len && result.is_ok() {
            let left = (len - partial.offset).min(partial.size);
            result = self.add(&mut partial, file, left).await;
        }
        if result.is_ok() {
            result = self.0.remote.complete(&mut *partial.upload).await;
        }
        if result.is_err() {
            self.abort(Some(partial)).await;
        }
        result
    }

    /// Stores the SHA-256 of a file whose page has none.
    async fn store_hash(&self, stored: &StoredFile, name: Option<&Reference>) -> Result<(), OperationError> {
        let Some(name) = name else { return Ok(()) };
        let text = stored.digest.to_string().into_bytes();
        self.0.remote.put(&self.name_path(name), async { Ok(text.into()) }, None).await
    }
}
