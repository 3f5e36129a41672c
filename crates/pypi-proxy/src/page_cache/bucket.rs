//! Index pages shared with other proxies through a bucket.

use std::sync::Arc;
use std::time::SystemTime;

use object_store::UpdateVersion;

use super::disk::{DiskCache, StoredPage};
use super::slot::{Slot, UpstreamPage};
use crate::ProjectName;
use crate::bucket::Bucket;
use crate::upstream::Budget;

/// Pages in a bucket, in the format of the files on disk.
#[derive(Clone, Debug)]
pub(super) struct BucketCache {
    bucket: Bucket,
    max_page: u64,
}

impl BucketCache {
    pub(super) fn new(bucket: Bucket, max_page: u64) -> Self {
        Self { bucket, max_page }
    }

    /// Returns the object's version in the bucket, and the page if it is newer than `part`.
    pub(super) async fn newer(
        &self,
        index: u64,
        slot: &Arc<Slot>,
        part: &UpstreamPage,
        budget: &Budget,
    ) -> (Option<UpdateVersion>, Option<(Vec<u8>, StoredPage)>) {
        let max = self.max_page;
        let Some(page) = self.bucket.page(index, slot.name.as_ref(), max).await else { return (None, None) };
        let (document, checked) = (page.document, part.checked);
        let mut reservation = budget.reserve();
        reservation.grow(DiskCache::page_len(&document).unwrap_or(0).min(max)).await;
        let work = move || {
            let stored = DiskCache::read(&document, max, SystemTime::UNIX_EPOCH, reservation)?;
            let is_newer = checked.is_none_or(|checked| checked < stored.checked);
            is_newer.then(|| (document.to_vec(), stored))
        };
        (Some(page.version), tokio::task::spawn_blocking(work).await.unwrap_or_default())
    }

    /// Uploads a page for other proxies, unless the bucket has one that is at least as new.
    pub(super) fn publish(
        &self,
        index: u64,
        project: Option<&ProjectName>,
        document: Vec<u8>,
        version: Option<UpdateVersion>,
    ) {
        let Some(own) = DiskCache::age(&document) else { return };
        let is_as_new = move |other: &[u8]| DiskCache::age(other).is_some_and(|other| other >= own);
        self.bucket.store_page(index, project, document, version, self.max_page, is_as_new);
    }

    pub(super) fn bucket(&self) -> &Bucket {
        &self.bucket
    }
}
