//! Metrics of client requests.

use std::time::Duration;

use http::StatusCode;

use crate::audit::AuditEvent;
use crate::metrics::{Counter, Counters, Histogram, HistogramSnapshot, StatusClass, named};

named! {
    pub(super) enum Endpoint {
        List = "list",
        Project = "project",
        File = "file",
        Metadata = "metadata",
        Document = "document",
        Cache = "cache",
        Health = "health",
        Metrics = "metrics",
        Status = "status",
        Unknown = "unknown",
    }
}

impl Endpoint {
    /// Endpoints that are served from the cache.
    pub(super) const CACHED: [Self; 5] =
        [Self::List, Self::Project, Self::File, Self::Metadata, Self::Document];
}

named! {
    /// Value of the header `X-Cache`.
    pub(super) enum CacheVerdict {
        Hit = "hit",
        Stale = "stale",
        Miss = "miss",
        Revalidated = "revalidated",
        Negative = "negative",
        Pass = "pass",
        Redirect = "redirect",
    }
}

impl CacheVerdict {
    /// Values of responses that did not wait for an upstream.
    const HITS: [Self; 3] = [Self::Hit, Self::Stale, Self::Negative];
}

named! {
    pub(super) enum RejectionReason {
        Login = "login",
        Rate = "rate",
        Busy = "busy",
        Project = "project",
        Version = "version",
        Osv = "osv",
        Status = "status",
        Newer = "newer",
        Age = "age",
        Yanked = "yanked",
        Head = "head",
        Purge = "purge",
        FileHost = "file_host",
    }
}

impl RejectionReason {
    /// Returns the kind of the event in the audit log, if rejections for this reason belong there.
    pub(super) fn event(self) -> Option<AuditEvent> {
        match self {
            Self::Login => Some(AuditEvent::Login),
            Self::Rate | Self::Busy => Some(AuditEvent::RateLimit),
            Self::Purge => Some(AuditEvent::Purge),
            Self::FileHost => Some(AuditEvent::FileHost),
            Self::Head => None,
            // All others are rules.
            _ => Some(AuditEvent::Rule),
        }
    }
}

/// Metrics of all requests since the proxy was created.
#[derive(Debug, Default)]
pub(super) struct RequestMetrics {
    pub(super) responses: [Counters<StatusClass>; Endpoint::ALL.len()],
    /// Cache verdicts by endpoint. Only the endpoints in [`Endpoint::CACHED`] have them.
    pub(super) verdicts: [Counters<CacheVerdict>; Endpoint::CACHED.len()],
    pub(super) bytes: Counters<Endpoint>,
    pub(super) rejected: Counters<RejectionReason>,
    pub(super) in_flight: Counter,
    pub(super) aborted: Counter,
    /// Times until the start and the end of responses. The last item is for all endpoints that are not served from the
    /// cache.
    times: [(Histogram, Histogram); Endpoint::CACHED.len() + 1],
}

/// Totals of all endpoints that are served from the cache.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) requests: u64,
    pub(super) hits: u64,
    /// Time until the start of the response.
    pub(super) response_starts: HistogramSnapshot,
}

impl RequestMetrics {
    fn times_of(&self, endpoint: Endpoint) -> &(Histogram, Histogram) {
        &self.times[(endpoint as usize).min(Endpoint::CACHED.len())]
    }

    pub(super) fn record_response(
        &self,
        endpoint: Endpoint,
        status: StatusCode,
        cache_status: Option<&str>,
        time: Duration,
    ) {
        self.responses[endpoint as usize][status.into()].add(1);
        self.times_of(endpoint).0.record(time);
        let verdict = CacheVerdict::ALL.into_iter().find(|verdict| Some(verdict.name()) == cache_status);
        if let (Some(verdict), Some(counters)) = (verdict, self.verdicts.get(endpoint as usize)) {
            counters[verdict].add(1);
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
            self.bytes[endpoint].add(bytes);
            self.times_of(endpoint).1.record(time);
        }
    }

    /// Returns the histograms of the times until the start and the end of responses, by endpoint.
    pub(super) fn times(&self) -> impl Iterator<Item = (&'static str, &(Histogram, Histogram))> {
        Endpoint::CACHED.map(Endpoint::name).into_iter().chain(["other"]).zip(&self.times)
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals_of(&Endpoint::CACHED)
    }

    /// Returns the totals of some of the endpoints that are served from the cache.
    pub(super) fn totals_of(&self, endpoints: &[Endpoint]) -> Totals {
        let mut totals = Totals::default();
        let all = Endpoint::CACHED.iter().zip(self.verdicts.iter().zip(&self.times));
        for (_, (counters, (response_start, _))) in all.filter(|(endpoint, _)| endpoints.contains(endpoint)) {
            totals.requests += counters.sum();
            totals.hits += CacheVerdict::HITS.map(|verdict| counters[verdict].get()).iter().sum::<u64>();
            totals.response_starts = totals.response_starts.plus(&response_start.snapshot());
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let of_files: Vec<_> = metrics.responses[Endpoint::File as usize].iter().collect();
        assert_eq!(of_files, [("2xx", 3), ("3xx", 0), ("4xx", 0), ("5xx", 0)]);
    }
}
