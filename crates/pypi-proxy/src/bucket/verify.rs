//! Whether the bucket does what it should.

use aws_lc_rs::digest::{Context, SHA256};
use futures_util::TryStreamExt as _;

use super::failure::Failure;
use super::share::Bucket;
use crate::Error;
use crate::store::{Digest, VerifyReport};

impl Bucket {
    /// Whether an object can be written, read and removed.
    ///
    /// # Errors
    ///
    /// Fails if it can't ([`Error::is_bucket`]).
    pub async fn check(&self) -> Result<(), Error> {
        let path = self.lease_path(&format!("check-{}", self.next_owner()));
        let all = async {
            self.remote().put(&path, async { Ok(Vec::new()) }, None).await?;
            self.remote().small(&path, 0).await?;
            self.remote().delete(&path).await
        };
        all.await.map_err(Failure::into_error)
    }

    /// Looks whether that is so again, on its own time.
    pub(crate) fn look_again(&self) {
        let bucket = self.clone();
        tokio::spawn(async move { bucket.check().await });
    }

    /// Reads all files, and removes those that are not what their hashes say. `each` is told of every one, and whether it
    /// is good.
    ///
    /// # Errors
    ///
    /// Fails if the bucket does ([`Error::is_bucket`]).
    pub async fn verify(&self, mut each: impl FnMut(&Digest, bool)) -> Result<VerifyReport, Error> {
        let mut verified = VerifyReport::default();
        let mut files = self.remote().list(&self.path(["files", "sha256"]));
        while let Some(file) = files.try_next().await? {
            // What has another name is not ours.
            let Some(digest) = file.location.filename().and_then(|name| name.parse::<Digest>().ok()) else {
                continue;
            };
            let mut large = match self.remote().large(&file.location, None).await {
                Ok(large) => large,
                // It was removed meanwhile.
                Err(Failure::Missing) => continue,
                Err(failure) => return Err(failure.into_error()),
            };
            let mut hash = Context::new(&SHA256);
            while let Some(chunk) = large.stream.try_next().await? {
                hash.update(&chunk);
            }
            let is_good = hash.finish().as_ref() == digest.0;
            each(&digest, is_good);
            if is_good {
                verified.good += 1;
                verified.bytes += large.len;
            } else {
                self.discard(&digest).await;
                verified.bad.push(digest);
            }
        }
        Ok(verified)
    }
}
