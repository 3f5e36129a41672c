//! The `client` suite: the HTTP table of the Go benchmark, and streamed answers, each with live peers.
//!
//! Client and server share a process, as in the Go benchmark, and one thread, so that a row can run on one core; only the
//! concurrent row uses all. This workspace's client is built on reqwest, so the difference to it is the cost of the
//! client's own work. It is also measured over hyper-util's client, which has no TLS, proxies and redirects.

use std::process::ExitCode;

use benches::{Impl, Row, Suite};

use crate::ours::Ours;
use crate::peers::{HyperUtil, Reqwest};
use crate::repeat::{Operation, Operations, concurrent, sequential};
use crate::server::Server;
use crate::stream::{Api, AsyncOpenai};
use crate::workload::Workload;

mod ours;
mod peers;
mod repeat;
mod server;
mod stream;
mod workload;

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

const ASYNC_OPENAI: &str = "0.43.0";
const HYPER_UTIL: &str = "0.1.21";
const REQWEST: &str = "0.13.5";

fn main() -> ExitCode {
    benches::main("client", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    for workload in Workload::all() {
        let mut row = suite.row(workload.row);
        if workload.row == "client_do_simple" {
            row = row.alias("client_do_allocations");
        }
        if workload.is_concurrent {
            row = row.threads();
        }
        with_peers(row, &workload, Ours::new).run_batches(
            Impl::peer("hyper-util", HYPER_UTIL).class(OWNED),
            workload.expected(),
            repeated(&workload, HyperUtil::new),
        );
    }
    with_retry(suite);
    streamed(suite, Api::Agent);
    streamed(suite, Api::Chat);
    Ok(())
}

/// Returns the operations of a workload by the clients that `make` creates.
fn repeated<O: Operation>(workload: &Workload, make: fn(&Workload, &Server) -> O) -> Operations<'_> {
    let repeat = if workload.is_concurrent { concurrent } else { sequential };
    repeat(workload.answer.clone(), Box::new(move |server| make(workload, server)))
}

fn with_peers<'a>(row: Row<'a>, workload: &'a Workload, ours: fn(&Workload, &Server) -> Ours) -> Row<'a> {
    let expected = workload.expected();
    row.payload(expected)
        .elements(1)
        .run_batches(Impl::ours("undecoded").class(OWNED), expected, repeated(workload, ours))
        .run_batches(
            Impl::ours("undecoded, plain hyper").class(PLAIN_HYPER),
            expected,
            repeated(workload, Ours::over_hyper),
        )
        .run_batches(Impl::peer("reqwest", REQWEST).class(OWNED), expected, repeated(workload, Reqwest::new))
}

/// A retry: its random delay with little else, which makes ratios between implementations meaningless, and its cost
/// without the delay. For reqwest, both requests are sent explicitly.
fn with_retry(suite: &mut Suite) {
    let workload = Workload::with_retry("client_do_with_retry");
    let expected = workload.expected();
    suite.row(workload.row).payload(expected).elements(1).run_batches(
        Impl::ours("undecoded").class(OWNED),
        expected,
        repeated(&workload, Ours::new),
    );
    let workload = Workload::with_retry("client_do_with_retry_without_sleep");
    with_peers(suite.row(workload.row), &workload, Ours::without_sleep);
}

/// A streamed answer of 10,000 pieces.
fn streamed(suite: &mut Suite, api: Api) {
    let answer = api.answer(suite.selects(api.row()));
    let ours =
        |is_text| sequential(answer.clone(), Box::new(move |server| stream::Ours::new(api, is_text, server)));
    suite
        .row(api.row())
        .payload(api.len())
        .elements(stream::PIECES)
        .run_batches(Impl::ours("chunks").class(TYPED), stream::VALUE, ours(false))
        .run_batches(Impl::ours("text").class(TEXT), stream::VALUE, ours(true))
        .run_batches(
            Impl::peer("async-openai", ASYNC_OPENAI).class(TYPED),
            stream::VALUE,
            sequential(answer.clone(), Box::new(move |server| AsyncOpenai::new(api, server))),
        );
}
