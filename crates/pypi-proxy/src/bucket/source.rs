//! File source that tries the bucket before the index.

use std::sync::Arc;

use tokio::time::Instant;

use super::handle::Bucket;
use super::lease::{ClaimResult, Lease, LeaseObserver};
use super::remote::LeaseOutcome;
use crate::Error;
use crate::store::{Digest, Download, Expected, FileSource, Key};
use crate::upstream::{FileBody, Validators};

impl Bucket {
    /// Returns the file from the bucket, waiting for the download of another proxy. Otherwise returns the lease to
    /// download it, if available.
    async fn find(&self, key: &Key, expected: &Expected) -> Result<(Digest, FileBody), Option<Lease>> {
        let name = Self::lease_name(key);
        let grace = self.0.config.lease_duration.mul_f64(fastrand::f64() / 10.0);
        let mut observer = LeaseObserver::new(Instant::now(), self.0.config.lease_wait, grace);
        let mut has_waited = false;
        loop {
            match self.open(key, expected, 0).await {
                Ok(Some(found)) => {
                    if has_waited {
                        self.0.remote.meter.leases[LeaseOutcome::Waited].add(1);
                    }
                    return Ok(found);
                }
                Ok(None) => {}
                Err(_) => return Err(None),
            }
            match self.claim(&name, &mut observer).await {
                ClaimResult::Acquired(lease) => {
                    // Another proxy may have uploaded the file and released the lease since the first read.
                    return match self.open(key, expected, 0).await {
                        Ok(Some(found)) => {
                            lease.release().await;
                            Ok(found)
                        }
                        _ => Err(Some(lease)),
                    };
                }
                ClaimResult::Released if !observer.is_expired(Instant::now()) => has_waited = true,
                ClaimResult::Released | ClaimResult::Unavailable => return Err(None),
            }
        }
    }
}

/// A file source that reads from the bucket if it has the file, otherwise from another source, and then uploads the
/// file.
pub(crate) struct TieredSource<S> {
    bucket: Bucket,
    other: S,
    key: Key,
    expected: Expected,
    download: Download,
    active: ActiveSource,
}

enum ActiveSource {
    Bucket {
        digest: Digest,
        /// FileBody for the first call of `open`.
        body: Option<FileBody>,
    },
    Other,
}

impl<S> TieredSource<S> {
    pub(crate) fn new(bucket: Bucket, key: Key, expected: Expected, other: S, download: Download) -> Self {
        Self { bucket, other, key, expected, download, active: ActiveSource::Other }
    }

    /// Switches to the other source, and starts an upload of its data.
    fn fall_back(&mut self, lease: Option<Lease>) {
        self.active = ActiveSource::Other;
        self.bucket.upload_while_growing(self.download.clone(), self.key.clone(), lease);
    }
}

impl<S: FileSource> FileSource for TieredSource<S> {
    fn label(&self) -> Option<Arc<str>> {
        self.other.label()
    }

    async fn prepare(&mut self) {
        match self.bucket.find(&self.key, &self.expected).await {
            Ok((digest, body)) => self.active = ActiveSource::Bucket { digest, body: Some(body) },
            Err(lease) => self.fall_back(lease),
        }
        self.other.prepare().await;
    }

    async fn open(&mut self, from: u64, known: &Validators) -> Result<FileBody, Error> {
        if let ActiveSource::Bucket { body, .. } = &mut self.active {
            if let Some(body) = body.take() {
                return Ok(body);
            }
            if let Ok(Some((_, body))) = self.bucket.open(&self.key, &self.expected, from).await {
                return Ok(body);
            }
            self.fall_back(None);
        }
        self.other.open(from, known).await
    }

    async fn reject(&mut self) -> bool {
        let ActiveSource::Bucket { digest, .. } = self.active else { return self.other.reject().await };
        self.bucket.discard(&digest).await;
        self.fall_back(None);
        true
    }
}
