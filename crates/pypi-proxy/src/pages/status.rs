//! How pages were answered and refreshed.

/// How a request for a page was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// From memory, fresh.
    Hit,
    /// Served stale: revalidation is running or has failed.
    Stale,
    /// Fetched from the indexes.
    Miss,
    /// Revalidated: the indexes answered 304 Not Modified.
    Revalidated,
}

/// Outcome of one refresh, as counted in the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refreshed {
    Changed = 0,
    Unchanged = 1,
    Missing = 2,
    /// At least one index did not answer.
    Failed = 3,
}

impl Refreshed {
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
