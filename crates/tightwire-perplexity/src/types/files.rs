//! Files: `/v1/files`. The answer to a deletion is [`Deleted`](super::Deleted).

use super::ObjectKind;
use super::wire::{object, open_enum};

open_enum! {
    /// What a file is for.
    pub enum Purpose {
        /// Requests of a batch.
        Batch = "batch",
        /// Answers of a batch.
        BatchOutput = "batch_output",
    }
}

open_enum! {
    /// Which objects of a list come first.
    pub enum Order {
        /// The oldest.
        Ascending = "asc",
        /// The newest.
        Descending = "desc",
    }
}

object! {
    /// A file.
    pub struct FileObject: answer {
        /// Its identifier.
        id: must String,
        /// What it is.
        object: must ObjectKind,
        /// Its length in bytes.
        bytes: must u64,
        /// When it was made, in Unix seconds.
        created_at: must i64,
        /// What it was called by its owner.
        filename: must String,
        /// What it is for.
        purpose: must Purpose,
        /// When it will be deleted, in Unix seconds.
        expires_at: copy i64,
    }
}

object! {
    /// A page of files.
    pub struct List: answer {
        /// What it is.
        object: must ObjectKind,
        /// The files.
        data: must Vec<FileObject>,
        /// Whether there are further pages.
        has_more: must bool,
        /// The first file of the page.
        first_id: may String,
        /// The last file of the page, after which the next page begins.
        last_id: may String,
    }
}

object! {
    /// The query of a list of files.
    pub struct ListParams: part {
        /// The file after which the page begins: [`List::last_id`] of the one before.
        after: may String,
        /// How many files a page has.
        limit: copy u32,
        /// Which files come first.
        order: may Order,
        /// What the files are for.
        purpose: may Purpose,
    }
}
