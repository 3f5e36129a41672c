//! Files by way of the bucket.

use std::sync::Arc;

use tokio::time::Instant;

use super::lease::{Claim, Lease};
use super::meter::Leased;
use super::observer::Observer;
use super::share::Bucket;
use crate::Error;
use crate::store::{Digest, Download, Expected, FileSource, Key};
use crate::upstream::{Body, Validators};

impl Bucket {
    /// Finds the file in the bucket, however long another proxy takes to put it there. Else the lease to fetch it, if
    /// there is one.
    async fn find(&self, key: &Key, expected: &Expected) -> Result<(Digest, Body), Option<Lease>> {
        let name = Self::lease_name(key);
        let grace = self.config().lease_duration.mul_f64(fastrand::f64() / 10.0);
        let mut observer = Observer::new(Instant::now(), self.config().lease_wait, grace);
        let mut has_waited = false;
        loop {
            match self.open(key, expected, 0).await {
                Ok(Some(found)) => {
                    if has_waited {
                        self.meter().leased(Leased::Waited);
                    }
                    return Ok(found);
                }
                Ok(None) => {}
                Err(_) => return Err(None),
            }
            match self.claim(&name, &mut observer).await {
                Claim::Mine(lease) => {
                    // Another may have put it there since, and have given the lease back.
                    return match self.open(key, expected, 0).await {
                        Ok(Some(found)) => {
                            lease.release().await;
                            Ok(found)
                        }
                        _ => Err(Some(lease)),
                    };
                }
                Claim::Over if !observer.is_over(Instant::now()) => has_waited = true,
                Claim::Over | Claim::None => return Err(None),
            }
        }
    }
}

/// A file of the bucket if it has that, else of another source, and then the bucket gets it.
pub(crate) struct Tiered<S> {
    bucket: Bucket,
    other: S,
    key: Key,
    expected: Expected,
    download: Download,
    place: Place,
}

enum Place {
    Bucket {
        digest: Digest,
        /// What is there when it is asked for the first time.
        body: Option<Body>,
    },
    Other,
}

impl<S> Tiered<S> {
    pub(crate) fn new(bucket: Bucket, key: Key, expected: Expected, other: S, download: Download) -> Self {
        Self { bucket, other, key, expected, download, place: Place::Other }
    }

    /// From here on the other source is asked, and the bucket gets what comes.
    fn leave(&mut self, lease: Option<Lease>) {
        self.place = Place::Other;
        self.bucket.follow(self.download.clone(), self.key.clone(), lease);
    }
}

impl<S: FileSource> FileSource for Tiered<S> {
    fn label(&self) -> Option<Arc<str>> {
        self.other.label()
    }

    async fn prepare(&mut self) {
        match self.bucket.find(&self.key, &self.expected).await {
            Ok((digest, body)) => self.place = Place::Bucket { digest, body: Some(body) },
            Err(lease) => self.leave(lease),
        }
        self.other.prepare().await;
    }

    async fn open(&mut self, from: u64, known: &Validators) -> Result<Body, Error> {
        if let Place::Bucket { body, .. } = &mut self.place {
            if let Some(body) = body.take() {
                return Ok(body);
            }
            if let Ok(Some((_, body))) = self.bucket.open(&self.key, &self.expected, from).await {
                return Ok(body);
            }
            self.leave(None);
        }
        self.other.open(from, known).await
    }

    async fn reject(&mut self) -> bool {
        let Place::Bucket { digest, .. } = self.place else { return self.other.reject().await };
        self.bucket.discard(&digest).await;
        self.leave(None);
        true
    }
}
