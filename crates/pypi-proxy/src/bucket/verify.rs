//! Checks of the bucket and its files.

use aws_lc_rs::digest::{Context, SHA256};
use futures_util::TryStreamExt as _;

use super::error::OperationError;
use super::handle::Bucket;
use crate::Error;
use crate::store::{Digest, VerifyReport};

impl Bucket {
    /// Writes, reads and deletes an object.
    ///
    /// # Errors
    ///
    /// Fails if one of the operations fails ([`Error::is_bucket`]).
    pub async fn check(&self) -> Result<(), Error> {
        let path = self.lease_path(&format!("check-{}", self.next_owner()));
        let all = async {
            self.remote().put(&path, async { Ok(Vec::new()) }, None).await?;
            self.remote().small(&path, 0).await?;
            self.remote().delete(&path).await
        };
        all.await.map_err(OperationError::into_error)
    }

    /// Starts a task that runs [`check`](Self::check), which updates the last error.
    pub(crate) fn recheck(&self) {
        let bucket = self.clone();
        tokio::spawn(async move { bucket.check().await });
    }

    /// Verifies the hashes of all files, and deletes corrupt ones. Calls `each` with every file and whether it is
    /// intact.
    ///
    /// # Errors
    ///
    /// Fails if the bucket fails ([`Error::is_bucket`]).
    pub async fn verify(&self, mut each: impl FnMut(&Digest, bool)) -> Result<VerifyReport, Error> {
        let mut verified = VerifyReport::default();
        let mut files = self.remote().list(&self.path(["files", "sha256"]));
        while let Some(file) = files.try_next().await? {
            // Objects with other names are not files of the proxy.
            let Some(digest) = file.location.filename().and_then(|name| name.parse::<Digest>().ok()) else {
                continue;
            };
            let mut large = match self.remote().large(&file.location, None).await {
                Ok(large) => large,
                // Deleted meanwhile.
                Err(OperationError::NotFound) => continue,
                Err(error) => return Err(error.into_error()),
            };
            let mut hash = Context::new(&SHA256);
            while let Some(chunk) = large.stream.try_next().await? {
                hash.update(&chunk);
            }
            let is_intact = hash.finish().as_ref() == digest.0;
            each(&digest, is_intact);
            if is_intact {
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
