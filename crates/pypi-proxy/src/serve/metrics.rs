//! Response of `/metrics`.

use std::time::UNIX_EPOCH;

use super::exposition::Exposition;
use super::request_metrics::Endpoint;
use super::service::State;
use crate::bucket::{Bucket, Operation};
use crate::page_cache::{PageCache, RefreshOutcome};
use crate::store::CacheArea;
use crate::upstream::{Condition, RequestKind};

/// Writes all metrics in the text format of Prometheus.
pub(super) fn metrics(proxy: &State) -> String {
    let mut out = Exposition::default();
    requests(proxy, &mut out);
    upstreams(proxy, &mut out);
    pages(proxy, &mut out);
    store(proxy, &mut out);
    if let Some(bucket) = proxy.store.bucket() {
        self::bucket(bucket, &mut out);
    }
    process(proxy, &mut out);
    out.finish()
}

fn requests(proxy: &State, out: &mut Exposition) {
    let metrics = &proxy.metrics;
    out.family("counter", "pypi_proxy_http_requests_total", "Responses that have started.");
    for (endpoint, counters) in Endpoint::ALL.into_iter().zip(&metrics.responses) {
        out.values(&[("route", endpoint.name())], "code", counters.iter());
    }
    let help = "Requests whose response was not sent completely.";
    out.counter("pypi_proxy_http_aborted_total", help, metrics.aborted.get());
    out.gauge("pypi_proxy_http_requests_in_flight", "Requests in flight.", metrics.in_flight.get());
    let help = "Bytes of response bodies sent to clients.";
    let sent = out.family("counter", "pypi_proxy_http_sent_bytes_total", help);
    sent.values(&[], "route", metrics.bytes.iter());
    out.family("counter", "pypi_proxy_cache_answers_total", "Responses by cache status.");
    for (endpoint, counters) in Endpoint::CACHED.into_iter().zip(&metrics.verdicts) {
        out.values(&[("route", endpoint.name())], "verdict", counters.iter());
    }
    let refused = out.family("counter", "pypi_proxy_http_refused_total", "Rejected requests by reason.");
    refused.values(&[], "reason", metrics.rejected.iter());
    let help = "Time from a request to the start of its response.";
    out.family("histogram", "pypi_proxy_http_response_start_seconds", help);
    for (name, (response_start, _)) in metrics.times() {
        out.times(&[("route", name)], &response_start.snapshot());
    }
    let help = "Time from a request to the end of its response.";
    out.family("histogram", "pypi_proxy_http_request_duration_seconds", help);
    metrics.times().for_each(|(name, (_, duration))| out.times(&[("route", name)], &duration.snapshot()));
}

fn upstreams(proxy: &State, out: &mut Exposition) {
    let indexes: Vec<_> = proxy.all_upstreams().collect();
    let each = || {
        indexes.iter().flat_map(|(id, index)| {
            RequestKind::ALL.map(|kind| ([("index", &**id), ("kind", kind.name())], &index.meter[kind]))
        })
    };
    out.family("gauge", "pypi_proxy_index_info", "URL of each index by its number.");
    indexes.iter().for_each(|(id, index)| out.value(&[("index", id), ("url", &index.to_string())], 1));
    let help = "Whether the index responded to the last request; 1 before the first.";
    out.family("gauge", "pypi_proxy_index_up", help);
    for (id, index) in &indexes {
        out.value(&[("index", id)], u8::from(index.meter.condition() != Condition::Failing));
    }
    let help = "Whether requests for pages are suspended, because the index did not respond.";
    out.family("gauge", "pypi_proxy_index_left_alone", help);
    indexes.iter().for_each(|(id, index)| out.value(&[("index", id)], u8::from(index.is_circuit_open())));
    let help = "Requests that an index or the host of its files responded to.";
    out.family("counter", "pypi_proxy_upstream_requests_total", help);
    each().for_each(|(labels, meter)| out.values(&labels, "code", meter.responses.iter()));
    let help = "Requests without a response, and incomplete responses.";
    out.family("counter", "pypi_proxy_upstream_errors_total", help);
    each().for_each(|(labels, meter)| out.values(&labels, "error", meter.faults.iter()));
    let help = "Bytes of received bodies, after decompression.";
    out.family("counter", "pypi_proxy_upstream_received_bytes_total", help);
    each().for_each(|(labels, meter)| out.value(&labels, meter.bytes.get()));
    let help = "Time from a request to the start of its response.";
    out.family("histogram", "pypi_proxy_upstream_response_start_seconds", help);
    each().for_each(|(labels, meter)| out.times(&labels, &meter.latency.snapshot()));
}

fn pages(proxy: &State, out: &mut Exposition) {
    let sum = |number: fn(&PageCache) -> u64| proxy.sum_of_pages(number);
    let refreshes = out.family("counter", "pypi_proxy_page_refreshes_total", "Page refreshes by outcome.");
    let outcome = |outcome: RefreshOutcome| {
        (outcome.name(), proxy.sum_of_pages(|pages| pages.refreshes()[outcome].get()))
    };
    refreshes.values(&[], "result", RefreshOutcome::ALL.map(outcome));
    let help = "Pages that are being fetched from the indexes.";
    out.gauge("pypi_proxy_page_fetches", help, sum(|pages| pages.queue().running()));
    let queued = sum(|pages| pages.queue().queued());
    out.gauge("pypi_proxy_page_fetches_queued", "Pages in the fetch queue.", queued);
    let help = "Page requests rejected because the fetch queue was full.";
    out.counter("pypi_proxy_page_fetches_rejected_total", help, sum(|pages| pages.queue().rejected.get()));
    let help = "Pages in memory, including negative entries.";
    out.gauge("pypi_proxy_pages", help, sum(PageCache::count));
    out.gauge("pypi_proxy_page_bytes", "Bytes of pages in memory.", sum(PageCache::bytes));
    out.gauge("pypi_proxy_page_limit_bytes", "Maximum bytes of pages in memory.", sum(PageCache::max_bytes));
}

fn store(proxy: &State, out: &mut Exposition) {
    let stats = proxy.store.stats();
    let areas = CacheArea::ALL.map(|area| (area.name(), proxy.store.usage(area)));
    out.gauge("pypi_proxy_files", "Stored files.", stats.files);
    out.gauge("pypi_proxy_file_bytes", "Bytes of stored files.", stats.bytes);
    let limit = proxy.store.max_bytes();
    let limit = if limit == u64::MAX { "+Inf".to_owned() } else { limit.to_string() };
    out.gauge("pypi_proxy_file_limit_bytes", "Maximum bytes of the cache directory.", limit);
    let entries = out.family("gauge", "pypi_proxy_cache_entries", "Entries of the cache directory by area.");
    entries.values(&[], "part", areas.map(|(area, usage)| (area, usage.entries)));
    let bytes = out.family("gauge", "pypi_proxy_cache_bytes", "Bytes of the cache directory by area.");
    bytes.values(&[], "part", areas.map(|(area, usage)| (area, usage.bytes)));
    let evicted = out.family("counter", "pypi_proxy_cache_evicted_total", "Evicted entries by area.");
    evicted.values(&[], "part", proxy.store.evicted().iter());
    let help = "Entries deleted because they were not used, by area.";
    let expired = out.family("counter", "pypi_proxy_cache_expired_total", help);
    expired.values(&[], "part", proxy.store.expired().iter());
    out.gauge("pypi_proxy_transfers", "Downloads in flight.", stats.in_flight);
    out.gauge("pypi_proxy_transfer_bytes", "Bytes of partial files on disk.", stats.partial);
    out.counter("pypi_proxy_transfers_finished_total", "Completed downloads.", stats.fetched);
    out.counter("pypi_proxy_transfers_failed_total", "Failed downloads.", stats.failed);
    let help = "Downloads with an unexpected hash or length.";
    out.counter("pypi_proxy_transfers_corrupt_total", help, stats.corrupt);
    let help = "Attempts to continue an interrupted download.";
    out.counter("pypi_proxy_transfers_resumed_total", help, stats.resumed);
    let help = "Downloads sent to clients that could not be stored.";
    out.counter("pypi_proxy_files_unwritten_total", help, stats.unwritten);
    out.counter("pypi_proxy_files_evicted_total", "Evicted files.", stats.evicted);
}

fn bucket(bucket: &Bucket, out: &mut Exposition) {
    let (remote, meter) = (bucket.remote(), &bucket.remote().meter);
    let help = "Whether the bucket responded to the last operation; 1 before the first.";
    out.gauge("pypi_proxy_bucket_up", help, u8::from(remote.last_error().is_none()));
    let help = "Whether operations on the bucket are suspended, because it failed.";
    out.gauge("pypi_proxy_bucket_left_alone", help, u8::from(remote.is_circuit_open()));
    out.family("counter", "pypi_proxy_bucket_operations_total", "Operations on the bucket by outcome.");
    for (operation, counters) in Operation::ALL.into_iter().zip(&meter.operations) {
        out.values(&[("operation", operation.name())], "outcome", counters.iter());
    }
    let leases = out.family("counter", "pypi_proxy_bucket_leases_total", "Leases of files by outcome.");
    leases.values(&[], "outcome", meter.leases.iter());
    let leases = out.family("counter", "pypi_proxy_bucket_page_leases_total", "Leases of pages by outcome.");
    leases.values(&[], "outcome", meter.page_leases.iter());
    let help = "Whether leases have an effect: 0 if the bucket does not support conditional writes.";
    out.gauge("pypi_proxy_bucket_has_leases", help, u8::from(bucket.has_leases()));
    let uploads =
        out.family("counter", "pypi_proxy_bucket_uploads_total", "Uploads to the bucket by outcome.");
    uploads.values(&[], "outcome", meter.uploads.iter());
    let help = "Uploads to the bucket in flight or queued.";
    out.gauge("pypi_proxy_bucket_uploads_pending", help, bucket.pending());
    let help = "Bytes of objects read from the bucket.";
    out.counter("pypi_proxy_bucket_received_bytes_total", help, meter.received.get());
    let help = "Bytes of objects written to the bucket.";
    out.counter("pypi_proxy_bucket_sent_bytes_total", help, meter.sent.get());
    let help = "Files in the bucket with a wrong hash, which were deleted.";
    out.counter("pypi_proxy_bucket_corrupt_total", help, meter.corrupt.get());
}

fn process(proxy: &State, out: &mut Exposition) {
    out.family("gauge", "pypi_proxy_build_info", "Version of the program.")
        .value(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    let started = proxy.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    out.gauge("process_start_time_seconds", "Start time of the proxy, in seconds since 1970.", started);
    let process = Process::read();
    if let Some(seconds) = process.cpu_seconds {
        out.counter("process_cpu_seconds_total", "CPU time of the process.", seconds);
    }
    let gauges = [
        ("process_resident_memory_bytes", "Resident memory of the process.", process.resident_bytes),
        ("process_virtual_memory_bytes", "Virtual memory of the process.", process.virtual_bytes),
        ("process_open_fds", "Open file descriptors.", process.open_fds),
        ("process_max_fds", "Maximum open file descriptors.", process.max_fds),
        ("process_threads", "Threads of the process.", process.threads),
    ];
    for (name, help, value) in gauges {
        if let Some(value) = value {
            out.gauge(name, help, value);
        }
    }
}

/// Resource usage of this process. Fields are `None` if the system does not provide them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    pub(super) cpu_seconds: Option<f64>,
    pub(super) resident_bytes: Option<u64>,
    pub(super) virtual_bytes: Option<u64>,
    pub(super) open_fds: Option<u64>,
    pub(super) max_fds: Option<u64>,
    pub(super) threads: Option<u64>,
}

#[cfg(target_os = "linux")]
impl Process {
    /// Reads the values, in some tens of microseconds.
    pub(super) fn read() -> Self {
        let mut process = Self::default();
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        #[expect(clippy::cast_precision_loss, reason = "nobody reads that many digits")]
        let seconds = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
        process.cpu_seconds = Some(seconds);
        process.max_fds = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        // Subtract the handle of the folder that is being read.
        process.open_fds =
            std::fs::read_dir("/proc/self/fd").ok().map(|fds| (fds.count() as u64).saturating_sub(1));
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        for line in status.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let number = || value.split_whitespace().next()?.parse::<u64>().ok();
            match name {
                "VmRSS" => process.resident_bytes = number().map(|kib| kib * 1024),
                "VmSize" => process.virtual_bytes = number().map(|kib| kib * 1024),
                "Threads" => process.threads = number(),
                _ => {}
            }
        }
        process
    }
}

#[cfg(not(target_os = "linux"))]
impl Process {
    /// Not implemented for this system.
    pub(super) fn read() -> Self {
        Self::default()
    }
}
