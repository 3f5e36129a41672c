//! The `client` suite: the HTTP table of the Go benchmark, and a streamed chat completion, each with live
//! peers. Client and server share a process, as in the Go benchmark, and one thread, so that a row can run on one
//! core. This workspace's client is built on reqwest, so the difference to it is the cost of the client's own work. It
//! is also measured over hyper-util's client, without TLS, proxies and redirects. That client alone is the lower bound of
//! all.

use std::process::ExitCode;

use benches::{Impl, Row, Suite};
use client_bench::ours::Ours;
use client_bench::peers::{HyperUtil, Reqwest};
use client_bench::repeat::{concurrent, sequential};
use client_bench::stream::{self, AsyncOpenai, StreamApi};
use client_bench::workload::Workload;

benches::counting_allocator!();

/// An owned response.
const OWNED: &str = "owned";
/// An owned response, received through hyper-util instead of reqwest. Not compared with reqwest, because it lacks TLS,
/// proxies and redirects.
const PLAIN_HYPER: &str = "owned, plain hyper";
/// A stream chunk with all fields.
const TYPED: &str = "typed chunks";
/// The text of the chunks.
const TEXT: &str = "text";

const HYPER_UTIL: &str = "0.1.21";
const REQWEST: &str = "0.13.5";
const ASYNC_OPENAI: &str = "0.43.0";

fn main() -> ExitCode {
    benches::main("client", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    sequential_requests(suite, &Workload::simple("client_do_simple"), &["client_do_allocations"]);
    for workload in [Workload::with_json_body(), Workload::large_response(), Workload::with_headers()] {
        sequential_requests(suite, &workload, &[]);
    }
    with_retry(suite);
    with_retry_without_sleep(suite);
    concurrent_requests(suite);
    streamed(suite);
    Ok(())
}

/// Sequential requests: client and server take turns.
fn sequential_requests(suite: &mut Suite, workload: &Workload, aliases: &[&str]) {
    let answer = || workload.answer.clone();
    requests(
        aliases.iter().fold(suite.row(workload.row), |row, alias| row.alias(alias)),
        workload,
        sequential(answer(), |server| Ours::new(workload, server)),
        sequential(answer(), |server| Ours::over_hyper(workload, server)),
        sequential(answer(), |server| Reqwest::new(workload, server)),
        sequential(answer(), |server| HyperUtil::new(workload, server)),
    );
}

fn requests<'a>(
    row: Row<'a>,
    workload: &Workload,
    ours: impl FnMut(u64) -> u64 + 'a,
    over_hyper: impl FnMut(u64) -> u64 + 'a,
    reqwest: impl FnMut(u64) -> u64 + 'a,
    hyper_util: impl FnMut(u64) -> u64 + 'a,
) {
    let expected = workload.expected();
    row.payload(expected)
        .run_batches(Impl::ours("undecoded").class(OWNED), expected, ours)
        .run_batches(Impl::ours("undecoded, plain hyper").class(PLAIN_HYPER), expected, over_hyper)
        .run_batches(Impl::peer("reqwest", REQWEST).class(OWNED), expected, reqwest)
        .run_batches(Impl::peer("hyper-util", HYPER_UTIL).class(OWNED), expected, hyper_util);
}

/// The retry delay with little else. It is random, so ratios between implementations are meaningless.
fn with_retry(suite: &mut Suite) {
    let workload = Workload::with_retry("client_do_with_retry");
    let ours = sequential(workload.answer.clone(), |server| Ours::new(&workload, server));
    let (row, expected) = (suite.row(workload.row), workload.expected());
    row.payload(expected).run_batches(Impl::ours("undecoded").class(OWNED), expected, ours);
}

/// Same without the delay: the cost of a retry. For reqwest, both requests are sent explicitly.
fn with_retry_without_sleep(suite: &mut Suite) {
    let workload = Workload::with_retry("client_do_with_retry_without_sleep");
    let (expected, answer) = (workload.expected(), || workload.answer.clone());
    let ours = sequential(answer(), |server| Ours::without_sleep(&workload, server));
    let over_hyper = sequential(answer(), |server| Ours::over_hyper(&workload, server));
    let reqwest = sequential(answer(), |server| Reqwest::new(&workload, server));
    suite
        .row(workload.row)
        .payload(expected)
        .run_batches(Impl::ours("undecoded").class(OWNED), expected, ours)
        .run_batches(Impl::ours("undecoded, plain hyper").class(PLAIN_HYPER), expected, over_hyper)
        .run_batches(Impl::peer("reqwest", REQWEST).class(OWNED), expected, reqwest);
}

/// Requests of 32 tasks that share one client, measured in wall-clock time.
fn concurrent_requests(suite: &mut Suite) {
    let workload = &Workload::simple("client_do_concurrent");
    let answer = || workload.answer.clone();
    requests(
        suite.row(workload.row).elements(1),
        workload,
        concurrent(answer(), |server| Ours::new(workload, server)),
        concurrent(answer(), |server| Ours::over_hyper(workload, server)),
        concurrent(answer(), |server| Reqwest::new(workload, server)),
        concurrent(answer(), |server| HyperUtil::new(workload, server)),
    );
}

/// A chat completion of 10,000 chunks.
fn streamed(suite: &mut Suite) {
    const ROW: &str = "client_stream_10k";
    let answer = stream::answer();
    let expected = stream::value(stream::CHUNKS, stream::TEXT);
    let ours = |form| sequential(answer.clone(), move |server| stream::Ours::new(form, server));
    suite
        .row(ROW)
        .payload(stream::LEN)
        .elements(stream::CHUNKS)
        .run_batches(Impl::ours("chunks").class(TYPED), expected, ours(StreamApi::Chunks))
        .run_batches(Impl::ours("text").class(TEXT), expected, ours(StreamApi::Text))
        .run_batches(
            Impl::peer("async-openai", ASYNC_OPENAI).class(TYPED),
            expected,
            sequential(answer.clone(), AsyncOpenai::new),
        )
        .run_batches(Impl::limit("events only"), stream::value(stream::CHUNKS, 0), ours(StreamApi::Events));
}
