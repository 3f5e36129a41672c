//! What is counted of a bucket.

use std::sync::atomic::{AtomicU64, Ordering};

/// Makes an enumeration whose members have names.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$one:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$one])* $variant),* }

        impl $name {
            pub(crate) const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }
    };
}

named! {
    /// What is done with a bucket.
    Operation {
        Get = "get",
        Put = "put",
        Create = "create",
        Update = "update",
        Begin = "begin",
        Part = "part",
        Complete = "complete",
        Abort = "abort",
        Delete = "delete",
    }
}

named! {
    /// How an operation has ended.
    Ended {
        Done = "done",
        Missing = "missing",
        /// A condition was not met.
        Refused = "refused",
        Failed = "failed",
        Timeout = "timeout",
        /// It was not begun, for the bucket is left alone.
        Skipped = "skipped",
    }
}

named! {
    /// What has come of a lease.
    Leased {
        Acquired = "acquired",
        /// Its holder had died.
        TakenOver = "taken_over",
        /// Another had it, and then the file was there.
        Waited = "waited",
        /// Another had it for too long.
        GivenUp = "given_up",
        /// The bucket could not be asked.
        Unavailable = "unavailable",
        /// Another has taken it over.
        Lost = "lost",
    }
}

named! {
    /// What has come of an upload.
    Uploaded {
        Done = "done",
        /// What was to be uploaded was not what it should have been, or could not be had.
        Aborted = "aborted",
        Failed = "failed",
        /// Too many others wait.
        Dropped = "dropped",
    }
}

impl Operation {
    /// Whether it puts something there.
    pub(super) fn is_write(self) -> bool {
        !matches!(self, Self::Get | Self::Delete | Self::Abort)
    }
}

/// What has happened since the bucket was opened.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    operations: [[AtomicU64; Ended::ALL.len()]; Operation::ALL.len()],
    leases: [AtomicU64; Leased::ALL.len()],
    uploads: [AtomicU64; Uploaded::ALL.len()],
    pub(super) received: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) corrupt: AtomicU64,
}

impl Meter {
    pub(super) fn ended(&self, operation: Operation, ended: Ended) {
        self.operations[operation as usize][ended as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn leased(&self, leased: Leased) {
        self.leases[leased as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn uploaded(&self, uploaded: Uploaded) {
        self.uploads[uploaded as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn operations(&self, operation: Operation, ended: Ended) -> u64 {
        self.operations[operation as usize][ended as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn leases(&self, leased: Leased) -> u64 {
        self.leases[leased as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn uploads(&self, uploaded: Uploaded) -> u64 {
        self.uploads[uploaded as usize].load(Ordering::Relaxed)
    }

    /// Bytes of files and pages that came.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Bytes of files and pages that were sent.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Files of the bucket that were not what they should have been.
    pub(crate) fn corrupt(&self) -> u64 {
        self.corrupt.load(Ordering::Relaxed)
    }
}
