//! Pages that other proxies have asked for.

use std::sync::Arc;
use std::time::SystemTime;

use object_store::UpdateVersion;

use super::keep::{Keep, Kept};
use super::slot::{Part, Slot};
use crate::ProjectName;
use crate::bucket::Bucket;
use crate::upstream::Budget;

/// Pages in a bucket, in the form in which they are kept on disk.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    bucket: Bucket,
    max_page: u64,
}

impl Shared {
    pub(super) fn new(bucket: Bucket, max_page: u64) -> Self {
        Self { bucket, max_page }
    }

    /// The version that is there, and the page if it is newer than this one.
    pub(super) async fn newer(
        &self,
        index: u64,
        slot: &Arc<Slot>,
        part: &Part,
        budget: &Budget,
    ) -> (Option<UpdateVersion>, Option<(Vec<u8>, Kept)>) {
        let max = self.max_page;
        let Some(page) = self.bucket.page(index, slot.name.as_ref(), max).await else { return (None, None) };
        let (document, checked) = (page.document, part.checked);
        let mut reservation = budget.reserve();
        reservation.grow(Keep::page_len(&document).unwrap_or(0).min(max)).await;
        let work = move || {
            let kept = Keep::read(&document, max, SystemTime::UNIX_EPOCH, reservation)?;
            let is_newer = checked.is_none_or(|checked| checked < kept.checked);
            is_newer.then(|| (document.to_vec(), kept))
        };
        (Some(page.version), tokio::task::spawn_blocking(work).await.unwrap_or_default())
    }

    /// Has the others have a page.
    pub(super) fn share(
        &self,
        index: u64,
        project: Option<&ProjectName>,
        document: Vec<u8>,
        version: Option<UpdateVersion>,
    ) {
        let Some(own) = Keep::age(&document) else { return };
        let is_as_new = move |other: &[u8]| Keep::age(other).is_some_and(|other| other >= own);
        self.bucket.store_page(index, project, document, version, self.max_page, is_as_new);
    }

    pub(super) fn bucket(&self) -> &Bucket {
        &self.bucket
    }
}
