//! Files: `/v1/files`. Deleting one returns [`Deleted`](super::Deleted).

use super::ObjectKind;
use super::wire::{object, open_enum};

open_enum! {
    /// Purpose of a file.
    pub enum Purpose {
        /// Input of a batch.
        Batch = "batch",
        /// Output of a batch.
        BatchOutput = "batch_output",
    }

    /// Sort order of a list by creation time.
    pub enum Order {
        /// Oldest first.
        Ascending = "asc",
        /// Newest first.
        Descending = "desc",
    }
}

object! {
    /// Metadata of a file.
    pub struct FileObject: response {
        /// Identifier of the file.
        id: String,
        /// Object type, [`ObjectKind::File`].
        object: ObjectKind,
        /// Size in bytes.
        bytes: u64,
        /// Creation time, in Unix seconds.
        created_at: i64,
        /// File name given at upload.
        filename: String,
        /// Purpose of the file.
        purpose: Purpose,
        /// Expiry time, in Unix seconds.
        expires_at: Option<i64>,
    }

    /// One page of files.
    pub struct List: response {
        /// Object type, [`ObjectKind::List`].
        object: ObjectKind,
        /// The files of this page.
        data: Vec<FileObject>,
        /// Whether there are more pages.
        has_more: bool,
        /// Identifier of the first file of the page.
        first_id: Option<String>,
        /// Identifier of the last file of the page; the next page starts after it.
        last_id: Option<String>,
    }

    /// Query parameters of the list.
    pub struct ListParams: nested {
        /// Start after the file with this identifier: [`List::last_id`] of the previous page.
        after: optional String,
        /// Maximum files per page.
        limit: scalar u32,
        /// Sort order.
        order: optional Order,
        /// Only list files with this purpose.
        purpose: optional Purpose,
    }
}
