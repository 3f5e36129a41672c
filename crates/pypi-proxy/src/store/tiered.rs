//! File source that tries the bucket before the index.

use std::sync::Arc;

use super::relay::{PartReader, PartRequest};
use super::{Digest, Download, Expected, FileSource, Key};
use crate::Error;
use crate::bucket::{Bucket, ClaimStep, Lease, LeaseOutcome};
use crate::resource::Resource;
use crate::upstream::{FileBody, Validators};

/// Origin of the bytes of a file.
enum Active {
    /// The bucket has it.
    Bucket(Digest),
    /// Another proxy downloads it.
    Parts(PartReader),
    /// This proxy downloads it.
    Other,
}

impl Bucket {
    /// Looks for a file in the bucket, and waits for the download of another proxy. Fails if this proxy has to download the
    /// file, with the lease if it is available.
    async fn find(&self, key: &Key, expected: &Expected) -> Result<(Active, FileBody), Option<Lease>> {
        let mut claim = self.claim(None, &Resource::File(key.clone()));
        let mut request = PartRequest::new(self.clone(), key, expected);
        let mut has_waited = false;
        loop {
            match self.open(key, expected.size, 0).await {
                Ok(Some((digest, body))) => {
                    if has_waited {
                        claim.count(LeaseOutcome::Waited);
                    }
                    return Ok((Active::Bucket(digest), body));
                }
                Ok(None) => {}
                Err(_) => return Err(None),
            }
            let mut step = claim.acquire().await;
            while let ClaimStep::Wait(interval) = step {
                tokio::time::sleep(interval).await;
                if let (Some((part, len)), Key::Digest(digest)) = (request.first_part().await, key) {
                    let (reader, body) = PartReader::new(self.clone(), *digest, len, claim, part);
                    return Ok((Active::Parts(reader), body));
                }
                step = claim.observe().await;
            }
            match step {
                ClaimStep::Acquired(lease) => {
                    // Another proxy may have uploaded the file and released the lease since the first read.
                    let Ok(Some((digest, body))) = self.open(key, expected.size, 0).await else {
                        return Err(Some(lease));
                    };
                    lease.release().await;
                    return Ok((Active::Bucket(digest), body));
                }
                ClaimStep::Released if !claim.is_expired() => {
                    has_waited = true;
                    request.withdraw().await;
                }
                _ => return Err(None),
            }
        }
    }
}

/// A file source that reads from the bucket if it has the file, otherwise from another source, and then uploads the
/// file.
pub(super) struct TieredSource<S> {
    bucket: Bucket,
    other: S,
    key: Key,
    expected: Expected,
    download: Download,
    active: Active,
    /// Body for the first call of `open`.
    body: Option<FileBody>,
}

impl<S> TieredSource<S> {
    pub(super) fn new(bucket: Bucket, key: Key, expected: Expected, other: S, download: Download) -> Self {
        Self { bucket, other, key, expected, download, active: Active::Other, body: None }
    }

    /// Switches to the other source at an offset, and starts an upload of its data.
    fn fall_back(&mut self, lease: Option<Lease>, offset: u64) {
        self.active = Active::Other;
        self.bucket.upload_while_growing(self.download.clone(), self.key.clone(), lease, offset);
    }

    /// Continues at an offset after another proxy has ended its download: with its file, with the parts of the next
    /// owner, or as the next owner. Returns `None` for the last case.
    async fn continue_parts(&mut self, reader: PartReader, offset: u64) -> Option<FileBody> {
        let step = reader.end().await;
        // The lease is acquired first, because the file may be uploaded meanwhile.
        if let Ok(Some((digest, body))) = self.bucket.open(&self.key, self.expected.size, offset).await {
            if let ClaimStep::Acquired(lease) = step {
                lease.release().await;
            }
            self.active = Active::Bucket(digest);
            return Some(body);
        }
        match step {
            ClaimStep::Wait(_) => {
                let body = reader.body(offset, None);
                self.active = Active::Parts(reader);
                return Some(body);
            }
            ClaimStep::Acquired(lease) => self.fall_back(Some(lease), offset),
            ClaimStep::Released | ClaimStep::Unavailable => self.fall_back(None, offset),
        }
        None
    }
}

impl<S: FileSource> FileSource for TieredSource<S> {
    fn origin(&self) -> Option<String> {
        self.other.origin()
    }

    fn label(&self) -> Option<Arc<str>> {
        self.other.label()
    }

    async fn prepare(&mut self) {
        match self.bucket.find(&self.key, &self.expected).await {
            Ok((active, body)) => (self.active, self.body) = (active, Some(body)),
            Err(lease) => self.fall_back(lease, 0),
        }
        self.other.prepare().await;
    }

    async fn open(&mut self, from: u64, known: &Validators) -> Result<FileBody, Error> {
        if let Some(body) = self.body.take() {
            return Ok(body);
        }
        match &self.active {
            Active::Bucket(_) => {
                if let Ok(Some((_, body))) = self.bucket.open(&self.key, self.expected.size, from).await {
                    return Ok(body);
                }
                self.fall_back(None, from);
            }
            Active::Parts(reader) => {
                let reader = reader.clone();
                if let Some(body) = self.continue_parts(reader, from).await {
                    return Ok(body);
                }
            }
            Active::Other => {}
        }
        self.other.open(from, known).await
    }

    async fn reject(&mut self) -> bool {
        match self.active {
            Active::Bucket(digest) => {
                self.bucket.discard(&digest).await;
                self.fall_back(None, 0);
                true
            }
            // The readers already have bytes of them.
            Active::Parts(_) => false,
            Active::Other => self.other.reject().await,
        }
    }
}
