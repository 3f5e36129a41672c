//! Outcomes of lookups and refreshes.

/// How a request for a page was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CacheStatus {
    /// From memory, fresh.
    Hit,
    /// Served stale: revalidation is running or has failed.
    Stale,
    /// Fetched from the upstreams.
    Miss,
    /// Revalidated: the upstreams responded with 304 Not Modified.
    Revalidated,
}

/// Outcome of a refresh, as counted in the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefreshOutcome {
    Changed = 0,
    Unchanged = 1,
    Missing = 2,
    /// At least one upstream failed.
    Failed = 3,
}

impl RefreshOutcome {
    pub(crate) const ALL: [Self; 4] = [Self::Changed, Self::Unchanged, Self::Missing, Self::Failed];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Missing => "missing",
            Self::Failed => "failed",
        }
    }
}
