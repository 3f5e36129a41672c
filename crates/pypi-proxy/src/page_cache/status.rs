//! Outcomes of lookups and refreshes.

use crate::named::named;

named! {
    /// How a request for a page was answered. The name is the value of `X-Cache`.
    #[non_exhaustive]
    pub enum CacheStatus {
        /// From memory, fresh.
        Hit = "hit",
        /// Served stale: revalidation is running or has failed.
        Stale = "stale",
        /// Fetched from the upstreams.
        Miss = "miss",
        /// Revalidated: the upstreams responded with 304 Not Modified.
        Revalidated = "revalidated",
    }
}

named! {
    /// Outcome of a refresh, as counted in the metrics.
    pub(crate) enum RefreshOutcome {
        Changed = "changed",
        Unchanged = "unchanged",
        Missing = "missing",
        /// At least one upstream failed.
        Failed = "failed",
    }
}
