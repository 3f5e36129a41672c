//! What `/metrics` tells.

use std::time::UNIX_EPOCH;

use super::exposition::Exposition;
use super::meter::{Endpoint, VERDICTS};
use super::process::Process;
use super::refuse::REASONS;
use super::service::Inner;
use crate::bucket::{Bucket, LeaseOutcome, Operation, Outcome, UploadOutcome};
use crate::pages::Refreshed;
use crate::store::Part;
use crate::upstream::{Condition, Fault, RequestKind};

const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

/// Everything that is counted, in the text format of Prometheus.
pub(super) fn metrics(proxy: &Inner) -> String {
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

fn requests(proxy: &Inner, out: &mut Exposition) {
    let meter = &proxy.meter;
    out.counter("pypi_proxy_http_requests_total", "Requests that were answered.");
    for endpoint in Endpoint::ALL {
        for (code, count) in CLASSES.iter().zip(meter.answers(endpoint)) {
            out.value(&[("route", endpoint.name()), ("code", code)], count);
        }
    }
    out.counter("pypi_proxy_http_aborted_total", "Requests whose answer did not come to its end.")
        .value(&[], meter.aborted());
    out.gauge("pypi_proxy_http_requests_in_flight", "Requests whose answer has not ended.")
        .value(&[], meter.in_flight());
    out.counter("pypi_proxy_http_sent_bytes_total", "Bytes of bodies that were sent to clients.");
    for endpoint in Endpoint::ALL {
        out.value(&[("route", endpoint.name())], meter.bytes(endpoint));
    }
    out.counter("pypi_proxy_cache_answers_total", "Answers by where they are from.");
    for endpoint in Endpoint::CACHED {
        for (verdict, count) in VERDICTS.iter().zip(meter.verdicts(endpoint).into_iter().flatten()) {
            out.value(&[("route", endpoint.name()), ("verdict", verdict)], count);
        }
    }
    out.counter("pypi_proxy_http_refused_total", "Requests that were refused, by the reason.");
    for (reason, count) in REASONS.iter().zip(meter.refused()) {
        out.value(&[("reason", reason)], count);
    }
    let times: Vec<_> = meter.times().collect();
    out.histogram("pypi_proxy_http_response_start_seconds", "Time from a request to the head of its answer.");
    for (name, heads, _) in &times {
        out.times(&[("route", name)], heads);
    }
    out.histogram(
        "pypi_proxy_http_request_duration_seconds",
        "Time from a request to the end of its answer.",
    );
    for (name, _, wholes) in &times {
        out.times(&[("route", name)], wholes);
    }
}

fn upstreams(proxy: &Inner, out: &mut Exposition) {
    let indexes: Vec<_> =
        proxy.upstreams.iter().enumerate().map(|(at, index)| ((at + 1).to_string(), index)).collect();
    let each =
        || indexes.iter().flat_map(|(id, index)| RequestKind::ALL.map(|asked| (id, index.meter(), asked)));
    out.gauge("pypi_proxy_index_info", "The indexes by their numbers.");
    for (id, index) in &indexes {
        out.value(&[("index", id), ("url", &index.to_string())], 1);
    }
    out.gauge(
        "pypi_proxy_index_up",
        "Whether the last request to an index was answered; 1 before the first.",
    );
    for (id, index) in &indexes {
        let is_up = index.meter().condition() != Condition::Failing;
        out.value(&[("index", id)], u8::from(is_up));
    }
    out.gauge(
        "pypi_proxy_index_left_alone",
        "Whether an index is not asked for pages for a while, because it did not respond.",
    );
    for (id, index) in &indexes {
        out.value(&[("index", id)], u8::from(index.is_circuit_open()));
    }
    out.counter(
        "pypi_proxy_upstream_requests_total",
        "Requests that an index or the host of its files answered.",
    );
    for (id, meter, asked) in each() {
        for (code, count) in CLASSES.iter().zip(meter.responses(asked)) {
            out.value(&[("index", id), ("kind", asked.name()), ("code", code)], count);
        }
    }
    out.counter(
        "pypi_proxy_upstream_errors_total",
        "Requests without an answer, and answers that broke off.",
    );
    for (id, meter, asked) in each() {
        for fault in Fault::ALL {
            let labels = [("index", &**id), ("kind", asked.name()), ("error", fault.name())];
            out.value(&labels, meter.faults(asked, fault));
        }
    }
    out.counter(
        "pypi_proxy_upstream_received_bytes_total",
        "Bytes of bodies that came, after decompression.",
    );
    for (id, meter, asked) in each() {
        out.value(&[("index", id), ("kind", asked.name())], meter.bytes(asked));
    }
    out.histogram(
        "pypi_proxy_upstream_response_start_seconds",
        "Time from a request to the head of its answer.",
    );
    for (id, meter, asked) in each() {
        out.times(&[("index", id), ("kind", asked.name())], &meter.latency(asked));
    }
}

fn pages(proxy: &Inner, out: &mut Exposition) {
    let pages = &proxy.pages;
    out.counter(
        "pypi_proxy_page_refreshes_total",
        "Times that the indexes were asked for a page, by what came of it.",
    );
    for result in Refreshed::ALL {
        out.value(&[("result", result.name())], pages.refreshes(result));
    }
    let queue = pages.queue();
    out.gauge("pypi_proxy_page_fetches", "Pages that are requested from the indexes.")
        .value(&[], queue.running());
    out.gauge("pypi_proxy_page_fetches_queued", "Pages that wait for being requested from the indexes.")
        .value(&[], queue.queued());
    out.counter(
        "pypi_proxy_page_fetches_rejected_total",
        "Requests for pages that were rejected because the queue for the indexes was full.",
    )
    .value(&[], queue.rejected());
    out.gauge("pypi_proxy_pages", "Pages in memory, missing ones included.").value(&[], pages.count());
    out.gauge("pypi_proxy_page_bytes", "Bytes of pages in memory.").value(&[], pages.bytes());
    out.gauge("pypi_proxy_page_limit_bytes", "The most bytes of pages in memory.")
        .value(&[], pages.max_bytes());
}

fn store(proxy: &Inner, out: &mut Exposition) {
    let stats = proxy.store.stats();
    out.gauge("pypi_proxy_files", "Files that are stored.").value(&[], stats.files);
    out.gauge("pypi_proxy_file_bytes", "Bytes of the files that are stored.").value(&[], stats.bytes);
    let limit = proxy.store.max_bytes();
    let limit = if limit == u64::MAX { "+Inf".to_owned() } else { limit.to_string() };
    out.gauge("pypi_proxy_file_limit_bytes", "Maximum bytes of the cache directory, all parts together.")
        .value(&[], limit);
    out.gauge("pypi_proxy_cache_entries", "Entries of the cache directory, by its parts.");
    for part in Part::ALL {
        out.value(&[("part", part.name())], proxy.store.usage(part).entries);
    }
    out.gauge("pypi_proxy_cache_bytes", "Bytes of the cache directory, by its parts.");
    for part in Part::ALL {
        out.value(&[("part", part.name())], proxy.store.usage(part).bytes);
    }
    out.counter("pypi_proxy_cache_evicted_total", "Entries that were removed to make room, by their parts.");
    for part in Part::ALL {
        out.value(&[("part", part.name())], proxy.store.evicted(part));
    }
    out.gauge("pypi_proxy_transfers", "Files on their way from an index.").value(&[], stats.running);
    out.gauge("pypi_proxy_transfer_bytes", "Bytes on disk of files on their way.").value(&[], stats.partial);
    let counters = [
        ("pypi_proxy_transfers_finished_total", "Files that were fetched.", stats.fetched),
        ("pypi_proxy_transfers_failed_total", "Files that could not be fetched.", stats.failed),
        (
            "pypi_proxy_transfers_corrupt_total",
            "Files that were not what they should have been.",
            stats.corrupt,
        ),
        ("pypi_proxy_transfers_resumed_total", "Times that the rest of a file was asked for.", stats.resumed),
        (
            "pypi_proxy_files_unwritten_total",
            "Files that could not be written, but were passed on.",
            stats.unwritten,
        ),
        ("pypi_proxy_files_evicted_total", "Files that were removed to make room.", stats.evicted),
    ];
    for (name, help, value) in counters {
        out.counter(name, help).value(&[], value);
    }
}

fn bucket(bucket: &Bucket, out: &mut Exposition) {
    let meter = bucket.meter();
    out.gauge(
        "pypi_proxy_bucket_up",
        "Whether the last operation on the bucket was answered; 1 before the first.",
    )
    .value(&[], u8::from(bucket.last_error().is_none()));
    out.gauge(
        "pypi_proxy_bucket_left_alone",
        "Whether the bucket is not asked for a while, because it has failed.",
    )
    .value(&[], u8::from(bucket.is_circuit_open()));
    out.counter("pypi_proxy_bucket_operations_total", "Operations on the bucket, by how they have ended.");
    for operation in Operation::ALL {
        for ended in Outcome::ALL {
            let labels = [("operation", operation.name()), ("outcome", ended.name())];
            out.value(&labels, meter.operations(operation, ended));
        }
    }
    out.counter("pypi_proxy_bucket_leases_total", "Leases of files, by what has come of them.");
    for leased in LeaseOutcome::ALL {
        out.value(&[("outcome", leased.name())], meter.leases(leased));
    }
    out.counter("pypi_proxy_bucket_uploads_total", "Files for the bucket, by what has come of them.");
    for uploaded in UploadOutcome::ALL {
        out.value(&[("outcome", uploaded.name())], meter.uploads(uploaded));
    }
    out.gauge("pypi_proxy_bucket_uploads_pending", "Files on their way to the bucket, or waiting for it.")
        .value(&[], bucket.pending());
    out.counter("pypi_proxy_bucket_received_bytes_total", "Bytes of objects that came from the bucket.")
        .value(&[], meter.received());
    out.counter("pypi_proxy_bucket_sent_bytes_total", "Bytes of objects that the bucket has taken.")
        .value(&[], meter.sent());
    out.counter(
        "pypi_proxy_bucket_corrupt_total",
        "Files of the bucket that were not what their hashes say, and were removed.",
    )
    .value(&[], meter.corrupt());
}

fn process(proxy: &Inner, out: &mut Exposition) {
    out.gauge("pypi_proxy_build_info", "The version of the program.")
        .value(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    let started = proxy.meter.started().duration_since(UNIX_EPOCH).unwrap_or_default();
    out.gauge("process_start_time_seconds", "When the proxy was started, in seconds since 1970.")
        .value(&[], started.as_secs_f64());
    let process = Process::read();
    if let Some(seconds) = process.cpu_seconds {
        out.counter("process_cpu_seconds_total", "Time that processors have worked for the process.")
            .value(&[], seconds);
    }
    let gauges = [
        (
            "process_resident_memory_bytes",
            "Memory of the process that is not swapped out.",
            process.resident_bytes,
        ),
        ("process_virtual_memory_bytes", "Addresses of the process that are in use.", process.virtual_bytes),
        ("process_open_fds", "Files and connections that are open.", process.open_fds),
        ("process_max_fds", "How many of them may be open.", process.max_fds),
        ("process_threads", "Threads of the process.", process.threads),
    ];
    for (name, help, value) in gauges {
        if let Some(value) = value {
            out.gauge(name, help).value(&[], value);
        }
    }
}
