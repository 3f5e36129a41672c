//! Counters of a bucket.

use crate::counter::Counter;
use crate::named::named;

named! {
    /// Operation on the bucket.
    pub(crate) enum Operation {
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
    /// Outcome of an operation.
    pub(crate) enum Outcome {
        Done = "done",
        Missing = "missing",
        /// The condition of a write was not met.
        Refused = "refused",
        Failed = "failed",
        Timeout = "timeout",
        /// Not sent, because the circuit breaker is open.
        Skipped = "skipped",
    }
}

named! {
    /// Outcome of a lease.
    pub(crate) enum LeaseOutcome {
        Acquired = "acquired",
        /// The previous owner stopped renewing it.
        TakenOver = "taken_over",
        /// Another proxy owned it and has uploaded the file.
        Waited = "waited",
        /// Another proxy owned it for too long.
        GivenUp = "given_up",
        /// The bucket failed.
        Unavailable = "unavailable",
        /// Another proxy has taken it over.
        Lost = "lost",
    }
}

named! {
    /// Outcome of an upload.
    pub(crate) enum UploadOutcome {
        Done = "done",
        /// The file could not be downloaded, or did not match its hash.
        Aborted = "aborted",
        Failed = "failed",
        /// The upload queue was full.
        Dropped = "dropped",
    }
}

impl Operation {
    /// Returns whether the operation writes an object.
    pub(super) fn is_write(self) -> bool {
        !matches!(self, Self::Get | Self::Delete | Self::Abort)
    }
}

/// Counters since the bucket was opened.
#[derive(Debug, Default)]
pub(crate) struct BucketMetrics {
    pub(crate) operations: [[Counter; Outcome::ALL.len()]; Operation::ALL.len()],
    pub(crate) leases: [Counter; LeaseOutcome::ALL.len()],
    pub(crate) uploads: [Counter; UploadOutcome::ALL.len()],
    /// Received bytes of files and pages.
    pub(crate) received: Counter,
    /// Sent bytes of files and pages.
    pub(crate) sent: Counter,
    /// Files whose content did not match their hash.
    pub(crate) corrupt: Counter,
}

impl BucketMetrics {
    pub(super) fn record_operation(&self, operation: Operation, outcome: Outcome) {
        self.operations[operation as usize][outcome as usize].add(1);
    }

    pub(super) fn record_lease(&self, outcome: LeaseOutcome) {
        self.leases[outcome as usize].add(1);
    }

    pub(super) fn record_upload(&self, outcome: UploadOutcome) {
        self.uploads[outcome as usize].add(1);
    }
}
