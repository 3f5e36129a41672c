//! Metrics of client requests. All counters are atomic, so that recording never blocks a response.

use std::array;
use std::time::{Duration, SystemTime};

use http::StatusCode;

use super::reject::REASONS;
use crate::counter::Counter;
use crate::histogram::{Histogram, HistogramSnapshot};
use crate::named::named;

named! {
    /// Kind of endpoint, for metrics.
    pub(super) enum Endpoint {
        List = "list",
        Project = "project",
        File = "file",
        Metadata = "metadata",
        Cache = "cache",
        Health = "health",
        Metrics = "metrics",
        Status = "status",
        Unknown = "unknown",
    }
}

impl Endpoint {
    /// Endpoints that are served from the cache.
    pub(super) const CACHED: [Self; 4] = [Self::List, Self::Project, Self::File, Self::Metadata];

    /// Returns the endpoint of a path by a rough look at its segments, without checking names.
    pub(super) fn from_path(path: &str) -> Self {
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
}

/// Values of the header `X-Cache`.
pub(super) const CACHE_STATUSES: [&str; 7] =
    ["hit", "stale", "miss", "revalidated", "negative", "pass", "redirect"];
/// Indexes in [`CACHE_STATUSES`] of the responses that did not wait for an upstream.
const HIT_INDEXES: [usize; 3] = [0, 1, 4];

/// Metrics of all requests since the proxy was created.
#[derive(Debug)]
pub(super) struct RequestMetrics {
    started: SystemTime,
    /// Indexed by the first digit of the status, from 2 to 5.
    responses: [[Counter; 4]; Endpoint::ALL.len()],
    cache_statuses: [[Counter; CACHE_STATUSES.len()]; Endpoint::CACHED.len()],
    pub(super) bytes: [Counter; Endpoint::ALL.len()],
    rejected: [Counter; REASONS.len()],
    pub(super) in_flight: Counter,
    pub(super) aborted: Counter,
    /// The last histogram is for all endpoints that are not served from the cache.
    response_starts: [Histogram; Endpoint::CACHED.len() + 1],
    durations: [Histogram; Endpoint::CACHED.len() + 1],
}

/// Totals of all endpoints that are served from the cache.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) requests: u64,
    pub(super) hits: u64,
    /// Bytes sent to clients, for all endpoints.
    pub(super) sent: u64,
    /// Time until the start of the response.
    pub(super) response_starts: HistogramSnapshot,
}

impl Default for RequestMetrics {
    fn default() -> Self {
        Self {
            started: SystemTime::now(),
            responses: Default::default(),
            cache_statuses: Default::default(),
            bytes: Default::default(),
            rejected: Default::default(),
            in_flight: Counter::default(),
            aborted: Counter::default(),
            response_starts: Default::default(),
            durations: Default::default(),
        }
    }
}

fn histogram_index(endpoint: Endpoint) -> usize {
    (endpoint as usize).min(Endpoint::CACHED.len())
}

impl RequestMetrics {
    pub(super) fn record_start(&self) {
        self.in_flight.add(1);
    }

    /// Records the start of a response.
    pub(super) fn record_response(
        &self,
        endpoint: Endpoint,
        status: StatusCode,
        cache_status: Option<&str>,
        time: Duration,
    ) {
        let class = usize::from(status.as_u16() / 100).clamp(2, 5) - 2;
        self.responses[endpoint as usize][class].add(1);
        self.response_starts[histogram_index(endpoint)].record(time);
        let Some(cache_status) = cache_status else { return };
        if let Some(counters) = self.cache_statuses.get(endpoint as usize)
            && let Some(cache_status) = CACHE_STATUSES.iter().position(|name| cache_status == *name)
        {
            counters[cache_status].add(1);
        }
    }

    /// Records the end of a request. `endpoint` is `None` if the client disconnected before the response started.
    pub(super) fn record_end(
        &self,
        endpoint: Option<Endpoint>,
        bytes: u64,
        time: Duration,
        is_complete: bool,
    ) {
        self.in_flight.subtract(1);
        if !is_complete {
            self.aborted.add(1);
        }
        if let Some(endpoint) = endpoint {
            self.bytes[endpoint as usize].add(bytes);
            self.durations[histogram_index(endpoint)].record(time);
        }
    }

    /// Counts a rejected request, by one of the [`REASONS`].
    pub(super) fn record_rejection(&self, reason: &str) {
        if let Some(reason) = REASONS.iter().position(|name| reason == *name) {
            self.rejected[reason].add(1);
        }
    }

    /// Returns the counts in the order of [`REASONS`].
    pub(super) fn rejected(&self) -> [u64; REASONS.len()] {
        array::from_fn(|reason| self.rejected[reason].get())
    }

    pub(super) fn started(&self) -> SystemTime {
        self.started
    }

    pub(super) fn responses(&self, endpoint: Endpoint) -> [u64; 4] {
        array::from_fn(|class| self.responses[endpoint as usize][class].get())
    }

    /// Returns the counts in the order of [`CACHE_STATUSES`], or `None` if the endpoint is not served from the cache.
    pub(super) fn cache_statuses(&self, endpoint: Endpoint) -> Option<[u64; CACHE_STATUSES.len()]> {
        let counters = self.cache_statuses.get(endpoint as usize)?;
        Some(array::from_fn(|cache_status| counters[cache_status].get()))
    }

    /// Returns the histograms of the time to the start and to the end of responses, by endpoint.
    pub(super) fn times(&self) -> impl Iterator<Item = (&'static str, HistogramSnapshot, HistogramSnapshot)> {
        let names = Endpoint::CACHED.map(Endpoint::name).into_iter().chain(["other"]);
        let times = self.response_starts.iter().zip(&self.durations);
        names
            .zip(times)
            .map(|(name, (response_start, duration))| (name, response_start.snapshot(), duration.snapshot()))
    }

    pub(super) fn totals(&self) -> Totals {
        let mut totals = Totals { sent: self.bytes.iter().map(Counter::get).sum(), ..Totals::default() };
        for (counters, response_start) in self.cache_statuses.iter().zip(&self.response_starts) {
            totals.requests += counters.iter().map(Counter::get).sum::<u64>();
            totals.hits += HIT_INDEXES.iter().map(|cache_status| counters[*cache_status].get()).sum::<u64>();
            totals.response_starts = totals.response_starts.plus(&response_start.snapshot());
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_derived_from_paths() {
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
            assert_eq!(Endpoint::from_path(path), endpoint, "{path}");
        }
    }

    #[test]
    fn responses_without_an_upstream_request_are_hits() {
        let metrics = RequestMetrics::default();
        let respond = |endpoint, cache_status: &'static str| {
            metrics.record_response(endpoint, StatusCode::OK, Some(cache_status), Duration::from_millis(1));
        };
        respond(Endpoint::Project, "hit");
        respond(Endpoint::Project, "stale");
        respond(Endpoint::File, "miss");
        respond(Endpoint::File, "redirect");
        respond(Endpoint::Health, "hit");
        respond(Endpoint::File, "other");
        let totals = metrics.totals();
        assert_eq!((totals.requests, totals.hits, totals.response_starts.count()), (4, 2, 5));
        assert_eq!(metrics.responses(Endpoint::File), [3, 0, 0, 0]);
        assert_eq!(metrics.cache_statuses(Endpoint::Health), None);
    }
}
