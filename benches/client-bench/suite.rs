//! The `client` suite: the HTTP table of the first report, and a streamed chat answer, each beside live peers. Client
//! and server are in one process, as in the report. reqwest is what this workspace's client stands on, so that the
//! distance to it is the price of the client's own work; hyper-util bounds both.

use benches::{Impl, Row, Suite};
use client_bench::bare::{HyperUtil, Reqwest};
use client_bench::ours::Ours;
use client_bench::repeat::{Threads, concurrent, sequential};
use client_bench::stream::{self, AsyncOpenai, Form};
use client_bench::workload::Workload;

benches::counting_allocator!();

/// An answer that the caller keeps.
const OWNED: &str = "owned";
/// The same, on a runtime with a thread per processor where the others have one thread.
const THREADS: &str = "owned, several threads";
/// A part of a stream with all its members.
const TYPED: &str = "typed";
/// The text of the parts.
const TEXT: &str = "text";

const REQWEST: &str = "0.13.5";
const ASYNC_OPENAI: &str = "0.43.0";

fn main() {
    let mut suite = Suite::from_args("client", env!("CARGO_TARGET_TMPDIR"));
    for workload in [
        Workload::simple("client_do_simple"),
        Workload::with_json_body(),
        Workload::large_response(),
        Workload::with_headers(),
    ] {
        one_after_the_other(&mut suite, &workload);
    }
    with_retry(&mut suite);
    with_retry_without_sleep(&mut suite);
    all_at_once(&mut suite);
    one_after_the_other(&mut suite, &Workload::simple("client_do_allocations"));
    streamed(&mut suite);
    suite.finish();
}

/// Requests one after the other. Client and server take turns, so that one thread has all the work; on a runtime with
/// several threads, these wake each other up for nothing, as the second half of the row shows.
fn one_after_the_other(suite: &mut Suite, workload: &Workload) {
    let answer = || workload.answer.clone();
    in_both_layouts(
        suite.row(workload.row).payload(workload.expected()),
        workload,
        |threads| sequential(threads, answer(), |server| Ours::new(workload, server)),
        |threads| sequential(threads, answer(), |server| Reqwest::new(workload, server)),
        sequential(Threads::One, answer(), |server| HyperUtil::new(workload, server)),
    );
}

/// The sides of a row on one thread, and on a thread per processor.
fn in_both_layouts<O: FnMut(u64) -> u64, R: FnMut(u64) -> u64>(
    row: Row<'_>,
    workload: &Workload,
    ours: impl Fn(Threads) -> O,
    reqwest: impl Fn(Threads) -> R,
    hyper_util: impl FnMut(u64) -> u64,
) {
    let expected = workload.expected();
    let (one, several) = (Threads::One, Threads::PerProcessor);
    row.run_batches(Impl::ours("undecoded").class(OWNED), expected, ours(one))
        .run_batches(Impl::peer("reqwest", REQWEST).class(OWNED), expected, reqwest(one))
        .run_batches(Impl::limit("hyper-util").class(OWNED), expected, hyper_util)
        .run_batches(Impl::ours("undecoded, several threads").class(THREADS), expected, ours(several))
        .run_batches(
            Impl::peer("reqwest, several threads", REQWEST).class(THREADS),
            expected,
            reqwest(several),
        );
}

/// The policy's wait, with next to nothing around it. It is random, so that a ratio of two implementations says nothing.
fn with_retry(suite: &mut Suite) {
    let workload = Workload::with_retry("client_do_with_retry");
    let ours = sequential(Threads::One, workload.answer.clone(), |server| Ours::new(&workload, server));
    suite.row(workload.row).payload(workload.expected()).run_batches(
        Impl::ours("undecoded").class(OWNED).slow(),
        workload.expected(),
        ours,
    );
}

/// The same without the wait: what a retry costs by itself. reqwest alone sends both requests by hand.
fn with_retry_without_sleep(suite: &mut Suite) {
    let workload = Workload::with_retry("client_do_with_retry_without_sleep");
    let (threads, expected, answer) = (Threads::One, workload.expected(), || workload.answer.clone());
    let ours = sequential(threads, answer(), |server| Ours::without_sleep(&workload, server));
    let reqwest = sequential(threads, answer(), |server| Reqwest::new(&workload, server));
    suite
        .row(workload.row)
        .payload(expected)
        .run_batches(Impl::ours("undecoded").class(OWNED), expected, ours)
        .run_batches(Impl::peer("reqwest", REQWEST).class(OWNED), expected, reqwest);
}

/// Requests of 32 tasks with one client; a time is that of the wall clock over all requests. Here, too, several threads
/// share the work with a server that answers at once, and have more to do with waking each other up than they gain.
fn all_at_once(suite: &mut Suite) {
    let workload = Workload::simple("client_do_concurrent");
    let answer = || workload.answer.clone();
    in_both_layouts(
        suite.row(workload.row).payload(workload.expected()).elements(1),
        &workload,
        |threads| concurrent(threads, answer(), |server| Ours::new(&workload, server)),
        |threads| concurrent(threads, answer(), |server| Reqwest::new(&workload, server)),
        concurrent(Threads::One, answer(), |server| HyperUtil::new(&workload, server)),
    );
}

/// A chat answer of 10,000 parts.
fn streamed(suite: &mut Suite) {
    const ROW: &str = "client_stream_10k";
    let answer = stream::answer();
    let expected = stream::value(stream::PARTS, stream::TEXT);
    let threads = Threads::PerProcessor;
    let ours = |form| sequential(threads, answer.clone(), move |server| stream::Ours::new(form, server));
    suite
        .row(ROW)
        .payload(stream::LEN)
        .elements(stream::PARTS)
        .run_batches(Impl::ours("parts").class(TYPED), expected, ours(Form::Parts))
        .run_batches(Impl::ours("deltas only").class(TYPED), expected, ours(Form::DeltasOnly))
        .run_batches(Impl::ours("text").class(TEXT), expected, ours(Form::Text))
        .run_batches(
            Impl::peer("async-openai", ASYNC_OPENAI).class(TYPED),
            expected,
            sequential(threads, answer.clone(), AsyncOpenai::new),
        )
        .run_batches(Impl::limit("events only"), stream::value(stream::PARTS, 0), ours(Form::Events));
}
