//! Response of `/metrics`.

use std::time::UNIX_EPOCH;

use super::exposition::Exposition;
use super::process::Process;
use super::reject::REASONS;
use super::request_metrics::{CACHE_STATUSES, Endpoint};
use super::state::State;
use crate::bucket::{Bucket, LeaseOutcome, Operation, Outcome, UploadOutcome};
use crate::page_cache::RefreshOutcome;
use crate::store::CacheArea;
use crate::upstream::{Condition, Fault, RequestKind};

const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

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
    out.counter("pypi_proxy_http_requests_total", "Responses that have started.");
    for endpoint in Endpoint::ALL {
        for (code, count) in CLASSES.iter().zip(metrics.responses(endpoint)) {
            out.value(&[("route", endpoint.name()), ("code", code)], count);
        }
    }
    out.counter("pypi_proxy_http_aborted_total", "Requests whose response was not sent completely.")
        .value(&[], metrics.aborted.get());
    out.gauge("pypi_proxy_http_requests_in_flight", "Requests in flight.")
        .value(&[], metrics.in_flight.get());
    out.counter("pypi_proxy_http_sent_bytes_total", "Bytes of response bodies sent to clients.");
    for endpoint in Endpoint::ALL {
        out.value(&[("route", endpoint.name())], metrics.bytes[endpoint as usize].get());
    }
    out.counter("pypi_proxy_cache_answers_total", "Responses by cache status.");
    for endpoint in Endpoint::CACHED {
        for (status, count) in
            CACHE_STATUSES.iter().zip(metrics.cache_statuses(endpoint).into_iter().flatten())
        {
            out.value(&[("route", endpoint.name()), ("verdict", status)], count);
        }
    }
    out.counter("pypi_proxy_http_refused_total", "Rejected requests by reason.");
    for (reason, count) in REASONS.iter().zip(metrics.rejected()) {
        out.value(&[("reason", reason)], count);
    }
    let times: Vec<_> = metrics.times().collect();
    out.histogram(
        "pypi_proxy_http_response_start_seconds",
        "Time from a request to the start of its response.",
    );
    for (name, response_starts, _) in &times {
        out.times(&[("route", name)], response_starts);
    }
    out.histogram(
        "pypi_proxy_http_request_duration_seconds",
        "Time from a request to the end of its response.",
    );
    for (name, _, durations) in &times {
        out.times(&[("route", name)], durations);
    }
}

fn upstreams(proxy: &State, out: &mut Exposition) {
    let indexes: Vec<_> =
        proxy.upstreams.iter().enumerate().map(|(at, index)| ((at + 1).to_string(), index)).collect();
    let each =
        || indexes.iter().flat_map(|(id, index)| RequestKind::ALL.map(|kind| (id, index.meter(), kind)));
    out.gauge("pypi_proxy_index_info", "URL of each index by its number.");
    for (id, index) in &indexes {
        out.value(&[("index", id), ("url", &index.to_string())], 1);
    }
    out.gauge("pypi_proxy_index_up", "Whether the index responded to the last request; 1 before the first.");
    for (id, index) in &indexes {
        let is_up = index.meter().condition() != Condition::Failing;
        out.value(&[("index", id)], u8::from(is_up));
    }
    out.gauge(
        "pypi_proxy_index_left_alone",
        "Whether requests for pages are suspended, because the index did not respond.",
    );
    for (id, index) in &indexes {
        out.value(&[("index", id)], u8::from(index.is_circuit_open()));
    }
    out.counter(
        "pypi_proxy_upstream_requests_total",
        "Requests that an index or the host of its files responded to.",
    );
    for (id, meter, kind) in each() {
        for (code, count) in CLASSES.iter().zip(meter.responses(kind)) {
            out.value(&[("index", id), ("kind", kind.name()), ("code", code)], count);
        }
    }
    out.counter("pypi_proxy_upstream_errors_total", "Requests without a response, and incomplete responses.");
    for (id, meter, kind) in each() {
        for fault in Fault::ALL {
            let labels = [("index", &**id), ("kind", kind.name()), ("error", fault.name())];
            out.value(&labels, meter.faults(kind, fault));
        }
    }
    out.counter("pypi_proxy_upstream_received_bytes_total", "Bytes of received bodies, after decompression.");
    for (id, meter, kind) in each() {
        out.value(&[("index", id), ("kind", kind.name())], meter.bytes(kind));
    }
    out.histogram(
        "pypi_proxy_upstream_response_start_seconds",
        "Time from a request to the start of its response.",
    );
    for (id, meter, kind) in each() {
        out.times(&[("index", id), ("kind", kind.name())], &meter.latency(kind));
    }
}

fn pages(proxy: &State, out: &mut Exposition) {
    let pages = &proxy.pages;
    out.counter("pypi_proxy_page_refreshes_total", "Page refreshes by outcome.");
    for result in RefreshOutcome::ALL {
        out.value(&[("result", result.name())], pages.refreshes(result));
    }
    let queue = pages.queue();
    out.gauge("pypi_proxy_page_fetches", "Pages that are being fetched from the indexes.")
        .value(&[], queue.running());
    out.gauge("pypi_proxy_page_fetches_queued", "Pages in the fetch queue.").value(&[], queue.queued());
    out.counter(
        "pypi_proxy_page_fetches_rejected_total",
        "Page requests rejected because the fetch queue was full.",
    )
    .value(&[], queue.rejected.get());
    out.gauge("pypi_proxy_pages", "Pages in memory, including negative entries.").value(&[], pages.count());
    out.gauge("pypi_proxy_page_bytes", "Bytes of pages in memory.").value(&[], pages.bytes());
    out.gauge("pypi_proxy_page_limit_bytes", "Maximum bytes of pages in memory.")
        .value(&[], pages.max_bytes());
}

fn store(proxy: &State, out: &mut Exposition) {
    let stats = proxy.store.stats();
    out.gauge("pypi_proxy_files", "Stored files.").value(&[], stats.files);
    out.gauge("pypi_proxy_file_bytes", "Bytes of stored files.").value(&[], stats.bytes);
    let limit = proxy.store.max_bytes();
    let limit = if limit == u64::MAX { "+Inf".to_owned() } else { limit.to_string() };
    out.gauge("pypi_proxy_file_limit_bytes", "Maximum bytes of the cache directory.").value(&[], limit);
    out.gauge("pypi_proxy_cache_entries", "Entries of the cache directory by area.");
    for part in CacheArea::ALL {
        out.value(&[("part", part.name())], proxy.store.usage(part).entries);
    }
    out.gauge("pypi_proxy_cache_bytes", "Bytes of the cache directory by area.");
    for part in CacheArea::ALL {
        out.value(&[("part", part.name())], proxy.store.usage(part).bytes);
    }
    out.counter("pypi_proxy_cache_evicted_total", "Evicted entries by area.");
    for part in CacheArea::ALL {
        out.value(&[("part", part.name())], proxy.store.evicted(part));
    }
    out.gauge("pypi_proxy_transfers", "Downloads in flight.").value(&[], stats.in_flight);
    out.gauge("pypi_proxy_transfer_bytes", "Bytes of partial files on disk.").value(&[], stats.partial);
    let counters = [
        ("pypi_proxy_transfers_finished_total", "Completed downloads.", stats.fetched),
        ("pypi_proxy_transfers_failed_total", "Failed downloads.", stats.failed),
        ("pypi_proxy_transfers_corrupt_total", "Downloads with an unexpected hash or length.", stats.corrupt),
        (
            "pypi_proxy_transfers_resumed_total",
            "Attempts to continue an interrupted download.",
            stats.resumed,
        ),
        (
            "pypi_proxy_files_unwritten_total",
            "Downloads sent to clients that could not be stored.",
            stats.unwritten,
        ),
        ("pypi_proxy_files_evicted_total", "Evicted files.", stats.evicted),
    ];
    for (name, help, value) in counters {
        out.counter(name, help).value(&[], value);
    }
}

fn bucket(bucket: &Bucket, out: &mut Exposition) {
    let meter = bucket.meter();
    out.gauge(
        "pypi_proxy_bucket_up",
        "Whether the bucket responded to the last operation; 1 before the first.",
    )
    .value(&[], u8::from(bucket.last_error().is_none()));
    out.gauge(
        "pypi_proxy_bucket_left_alone",
        "Whether operations on the bucket are suspended, because it failed.",
    )
    .value(&[], u8::from(bucket.is_circuit_open()));
    out.counter("pypi_proxy_bucket_operations_total", "Operations on the bucket by outcome.");
    for operation in Operation::ALL {
        for ended in Outcome::ALL {
            let labels = [("operation", operation.name()), ("outcome", ended.name())];
            out.value(&labels, meter.operations[operation as usize][ended as usize].get());
        }
    }
    out.counter("pypi_proxy_bucket_leases_total", "Leases of files by outcome.");
    for leased in LeaseOutcome::ALL {
        out.value(&[("outcome", leased.name())], meter.leases[leased as usize].get());
    }
    out.counter("pypi_proxy_bucket_uploads_total", "Uploads to the bucket by outcome.");
    for uploaded in UploadOutcome::ALL {
        out.value(&[("outcome", uploaded.name())], meter.uploads[uploaded as usize].get());
    }
    out.gauge("pypi_proxy_bucket_uploads_pending", "Uploads to the bucket in flight or queued.")
        .value(&[], bucket.pending());
    out.counter("pypi_proxy_bucket_received_bytes_total", "Bytes of objects read from the bucket.")
        .value(&[], meter.received.get());
    out.counter("pypi_proxy_bucket_sent_bytes_total", "Bytes of objects written to the bucket.")
        .value(&[], meter.sent.get());
    out.counter(
        "pypi_proxy_bucket_corrupt_total",
        "Files in the bucket with a wrong hash, which were deleted.",
    )
    .value(&[], meter.corrupt.get());
}

fn process(proxy: &State, out: &mut Exposition) {
    out.gauge("pypi_proxy_build_info", "Version of the program.")
        .value(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    let started = proxy.metrics.started().duration_since(UNIX_EPOCH).unwrap_or_default();
    out.gauge("process_start_time_seconds", "Start time of the proxy, in seconds since 1970.")
        .value(&[], started.as_secs_f64());
    let process = Process::read();
    if let Some(seconds) = process.cpu_seconds {
        out.counter("process_cpu_seconds_total", "CPU time of the process.").value(&[], seconds);
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
            out.gauge(name, help).value(&[], value);
        }
    }
}
