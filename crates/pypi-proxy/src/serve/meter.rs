//! What was asked of the proxy, and how long it took: atomic counters, so that counting holds up no answer.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use http::StatusCode;

use super::refuse::REASONS;
use crate::histogram::{Histogram, HistogramSnapshot};

/// What a request is about, as far as counting goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    List = 0,
    Project = 1,
    File = 2,
    Metadata = 3,
    Cache = 4,
    Health = 5,
    Metrics = 6,
    Status = 7,
    Unknown = 8,
}

impl Endpoint {
    pub(super) const ALL: [Self; 9] = [
        Self::List,
        Self::Project,
        Self::File,
        Self::Metadata,
        Self::Cache,
        Self::Health,
        Self::Metrics,
        Self::Status,
        Self::Unknown,
    ];
    /// Those that are answered out of the cache.
    pub(super) const CACHED: [Self; 4] = [Self::List, Self::Project, Self::File, Self::Metadata];

    /// What the path of a request is about: a look at its parts, which may yet turn out to be the names of nothing.
    pub(super) fn of(path: &str) -> Self {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let first = parts.next();
        match first {
            None | Some("status" | "status.json") => Self::Status,
            Some("simple" | "index") => match parts.next_back() {
                None => Self::List,
                Some(_) if path.ends_with('/') => Self::Project,
                Some(file) if file.ends_with(".metadata") => Self::Metadata,
                Some(_) if parts.next_back().is_some() => Self::File,
                Some(_) => Self::Project,
            },
            Some("cache") => Self::Cache,
            Some("health" | "livez" | "readyz") => Self::Health,
            Some("metrics") => Self::Metrics,
            Some(_) => Self::Unknown,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Project => "project",
            Self::File => "file",
            Self::Metadata => "metadata",
            Self::Cache => "cache",
            Self::Health => "health",
            Self::Metrics => "metrics",
            Self::Status => "status",
            Self::Unknown => "unknown",
        }
    }
}

/// Where an answer is from, as its header `X-Cache` says.
pub(super) const VERDICTS: [&str; 7] =
    ["hit", "stale", "miss", "revalidated", "negative", "pass", "redirect"];
/// How many of them are answers that no index was waited for.
const HITS: [usize; 3] = [0, 1, 4];

/// Counters of all requests since the proxy was made.
#[derive(Debug)]
pub(super) struct Meter {
    started: SystemTime,
    /// By the first digit of the status, 2 to 5.
    answers: [[AtomicU64; 4]; Endpoint::ALL.len()],
    verdicts: [[AtomicU64; VERDICTS.len()]; Endpoint::CACHED.len()],
    bytes: [AtomicU64; Endpoint::ALL.len()],
    refused: [AtomicU64; REASONS.len()],
    in_flight: AtomicU64,
    aborted: AtomicU64,
    /// The last one is for all that is not answered out of the cache.
    heads: [Histogram; Endpoint::CACHED.len() + 1],
    wholes: [Histogram; Endpoint::CACHED.len() + 1],
}

/// Sums over all that is answered out of the cache.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) requests: u64,
    pub(super) hits: u64,
    /// To clients, for whatever they have asked.
    pub(super) sent: u64,
    /// Until the head of the answer.
    pub(super) heads: HistogramSnapshot,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            started: SystemTime::now(),
            answers: Default::default(),
            verdicts: Default::default(),
            bytes: Default::default(),
            refused: Default::default(),
            in_flight: AtomicU64::new(0),
            aborted: AtomicU64::new(0),
            heads: Default::default(),
            wholes: Default::default(),
        }
    }
}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn timed(endpoint: Endpoint) -> usize {
    (endpoint as usize).min(Endpoint::CACHED.len())
}

impl Meter {
    pub(super) fn begin(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    /// The head of an answer is there.
    pub(super) fn answer(
        &self,
        endpoint: Endpoint,
        status: StatusCode,
        verdict: Option<&str>,
        time: Duration,
    ) {
        let class = usize::from(status.as_u16() / 100).clamp(2, 5) - 2;
        self.answers[endpoint as usize][class].fetch_add(1, Ordering::Relaxed);
        self.heads[timed(endpoint)].record(time);
        let Some(verdict) = verdict else { return };
        if let Some(counters) = self.verdicts.get(endpoint as usize)
            && let Some(verdict) = VERDICTS.iter().position(|known| verdict == *known)
        {
            counters[verdict].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A request is over, with as many bytes sent; without an endpoint its client has left before there was an answer.
    pub(super) fn end(&self, endpoint: Option<Endpoint>, bytes: u64, time: Duration, is_whole: bool) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        if !is_whole {
            self.aborted.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(endpoint) = endpoint {
            self.bytes[endpoint as usize].fetch_add(bytes, Ordering::Relaxed);
            self.wholes[timed(endpoint)].record(time);
        }
    }

    /// A request was refused for one of the [`REASONS`].
    pub(super) fn refuse(&self, reason: &str) {
        if let Some(reason) = REASONS.iter().position(|known| reason == *known) {
            self.refused[reason].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// One for each of [`REASONS`].
    pub(super) fn refused(&self) -> [u64; REASONS.len()] {
        array::from_fn(|reason| load(&self.refused[reason]))
    }

    pub(super) fn started(&self) -> SystemTime {
        self.started
    }

    pub(super) fn in_flight(&self) -> u64 {
        load(&self.in_flight)
    }

    pub(super) fn aborted(&self) -> u64 {
        load(&self.aborted)
    }

    pub(super) fn answers(&self, endpoint: Endpoint) -> [u64; 4] {
        array::from_fn(|class| load(&self.answers[endpoint as usize][class]))
    }

    pub(super) fn bytes(&self, endpoint: Endpoint) -> u64 {
        load(&self.bytes[endpoint as usize])
    }

    /// One for each of [`VERDICTS`]; none for what is not answered out of the cache.
    pub(super) fn verdicts(&self, endpoint: Endpoint) -> Option<[u64; VERDICTS.len()]> {
        let counters = self.verdicts.get(endpoint as usize)?;
        Some(array::from_fn(|verdict| load(&counters[verdict])))
    }

    /// How long it took until the head and until the end of answers, by the names of what was asked for.
    pub(super) fn times(&self) -> impl Iterator<Item = (&'static str, HistogramSnapshot, HistogramSnapshot)> {
        let names = Endpoint::CACHED.map(Endpoint::name).into_iter().chain(["other"]);
        let times = self.heads.iter().zip(&self.wholes);
        names.zip(times).map(|(name, (head, whole))| (name, head.snapshot(), whole.snapshot()))
    }

    pub(super) fn sums(&self) -> Sums {
        let mut sums = Sums { sent: self.bytes.iter().map(load).sum(), ..Sums::default() };
        for (counters, head) in self.verdicts.iter().zip(&self.heads) {
            sums.requests += counters.iter().map(load).sum::<u64>();
            sums.hits += HITS.iter().map(|verdict| load(&counters[*verdict])).sum::<u64>();
            sums.heads = sums.heads.plus(&head.snapshot());
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_apart() {
        for (path, endpoint) in [
            ("/", Endpoint::Status),
            ("/status", Endpoint::Status),
            ("/simple/", Endpoint::List),
            ("//index", Endpoint::List),
            ("/simple/numpy/", Endpoint::Project),
            ("/index/simple/numpy/", Endpoint::Project),
            ("/simple/numpy", Endpoint::Project),
            ("/simple/six/six-1.0.whl", Endpoint::File),
            ("/simple/six/six-1.0.whl.metadata", Endpoint::Metadata),
            ("/cache/list", Endpoint::Cache),
            ("/readyz", Endpoint::Health),
            ("/metrics", Endpoint::Metrics),
            ("/x/simple/", Endpoint::Unknown),
        ] {
            assert_eq!(Endpoint::of(path), endpoint, "{path}");
        }
    }

    #[test]
    fn answers_without_an_index_are_hits() {
        let meter = Meter::default();
        let answer = |endpoint, verdict: &'static str| {
            meter.answer(endpoint, StatusCode::OK, Some(verdict), Duration::from_millis(1));
        };
        answer(Endpoint::Project, "hit");
        answer(Endpoint::Project, "stale");
        answer(Endpoint::File, "miss");
        answer(Endpoint::File, "redirect");
        answer(Endpoint::Health, "hit");
        answer(Endpoint::File, "other");
        let sums = meter.sums();
        assert_eq!((sums.requests, sums.hits, sums.heads.count()), (4, 2, 5));
        assert_eq!(meter.answers(Endpoint::File), [3, 0, 0, 0]);
        assert_eq!(meter.verdicts(Endpoint::Health), None);
    }
}
