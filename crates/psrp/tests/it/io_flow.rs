//! Flow control of the client: limits of buffered input and output.

#![cfg(feature = "tokio")]

use std::future::{Future, poll_fn};
use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use psrp::client::PipelineEvent;
use psrp::io::{ClientLimits, Options, RunspacePool};
use psrp::message::{PipelineState, PowerShell};
use psrp::server;
use psrp::value::{Object, Value};
use uuid::Uuid;

use crate::fake_server::{AppCall, on_start, open, pipe, serve};
use crate::session::with_input;
use test_support::counting;

/// Writes as many numbers as the script says to each pipeline while there is room. Counts the written numbers.
fn numbers(written: Arc<AtomicUsize>) -> impl FnMut(&mut server::RunspacePool, AppCall) -> bool + Send {
    values(written, Value::from)
}

/// Like `numbers`, with a function that creates the values.
fn values(
    written: Arc<AtomicUsize>,
    value: impl Fn(i32) -> Value + Send,
) -> impl FnMut(&mut server::RunspacePool, AppCall) -> bool + Send {
    let mut left: Vec<(Uuid, usize)> = Vec::new();
    move |machine, ask| {
        let start = |pipeline: &mut server::Pipeline<'_>, script: &str| {
            left.push((pipeline.id(), script.parse().unwrap()));
        };
        if on_start(machine, &ask, start) {
            return true;
        }
        match ask {
            AppCall::Event(server::Event::Pipeline { id, event: server::PipelineEvent::Stop }) => {
                left.retain(|(own, _)| *own != id);
                machine.pipeline(id).unwrap().stop().unwrap();
            }
            AppCall::Idle => {
                let Some((id, count)) = left.first_mut() else { return false };
                let mut pipeline = machine.pipeline(*id).unwrap();
                if *count == 0 {
                    pipeline.complete().unwrap();
                    left.remove(0);
                } else {
                    pipeline.write_output(value(i32::try_from(*count).unwrap())).unwrap();
                    *count -= 1;
                    written.fetch_add(1, Ordering::Relaxed);
                }
            }
            AppCall::Event(_) => return false,
        }
        true
    }
}

/// Runs until the count does not change any more.
async fn settle(written: &AtomicUsize) -> usize {
    let mut before = usize::MAX;
    loop {
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        let now = written.load(Ordering::Relaxed);
        if now == before {
            return now;
        }
        before = now;
    }
}

#[tokio::test]
async fn backpressure_reaches_the_server() {
    let written = Arc::new(AtomicUsize::new(0));
    let (pool, _server) = open(
        Options::new().limits(ClientLimits { max_buffered_bytes: 50_000, ..ClientLimits::default() }),
        numbers(Arc::clone(&written)),
    )
    .await;
    let mut run = pool.start(PowerShell::script("100000")).await.unwrap();
    // An object counts more than 100 bytes. The server has written more: its queue, its transport and the pipe buffer
    // less than 200 KB of at least 60 bytes each.
    let first = settle(&written).await;
    assert!((500..4000).contains(&first), "{first}");
    for _ in 0..first {
        run.next().await.unwrap().unwrap();
    }
    let second = settle(&written).await;
    assert!(second > first && second < 3 * first, "{first} {second}");

    // The output of the first pipeline is not read, so the second one waits until the first is dropped.
    let other = pool.start(PowerShell::script("10")).await.unwrap();
    let mut other = pin!(other.output());
    assert!(poll_fn(|cx| Poll::Ready(other.as_mut().poll(cx))).await.is_pending());
    settle(&written).await;
    assert!(poll_fn(|cx| Poll::Ready(other.as_mut().poll(cx))).await.is_pending());
    drop(run);
    assert_eq!(other.await.unwrap().output.len(), 10);
    pool.close().await.unwrap();
}

/// Values that are small on the wire and large in memory count with their memory size.
#[tokio::test]
async fn backpressure_counts_decoded_sizes() {
    let written = Arc::new(AtomicUsize::new(0));
    let empty = |_| Value::from(Object::list((0..1000).map(|_| Object::builder().build())));
    let options =
        Options::new().limits(ClientLimits { max_buffered_bytes: 1 << 20, ..ClientLimits::default() });
    let (pool, _server) = open(options, values(Arc::clone(&written), empty)).await;
    let mut run = pool.start(PowerShell::script("200")).await.unwrap();
    // A list has about 20 KB on the wire and ten times as much in memory.
    let first = settle(&written).await;
    assert!((4..20).contains(&first), "{first}");
    for _ in 0..200 {
        run.next().await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn no_output_is_lost_when_the_reader_pauses() {
    let written = Arc::default();
    let (pool, _server) = open(
        Options::new().limits(ClientLimits { max_buffered_bytes: 10_000, ..ClientLimits::default() }),
        numbers(Arc::clone(&written)),
    )
    .await;
    let mut run = pool.start(PowerShell::script("5000")).await.unwrap();
    let mut next = 5000;
    while let Some(event) = run.next().await {
        let PipelineEvent::Output(value) = event.unwrap() else { continue };
        assert_eq!(value, Value::from(next));
        next -= 1;
        if next % 1000 == 0 {
            settle(&written).await;
        }
    }
    assert_eq!(next, 0);
}

#[tokio::test]
async fn an_unread_pipeline_can_be_stopped() {
    let written = Arc::default();
    let (pool, _server) = open(
        Options::new().limits(ClientLimits { max_buffered_bytes: 100_000, ..ClientLimits::default() }),
        numbers(Arc::clone(&written)),
    )
    .await;
    let run = pool.start(PowerShell::script("1000000")).await.unwrap();
    settle(&written).await;
    run.stop().await.unwrap();
    let output = run.output().await.unwrap();
    assert_eq!(output.state, PipelineState::Stopped);
    assert_eq!(output.output.len(), written.load(Ordering::Relaxed));

    // A pool can be closed, too.
    let run = pool.start(PowerShell::script("1000000")).await.unwrap();
    settle(&written).await;
    pool.close().await.unwrap();
    drop(run);
}

#[tokio::test]
async fn input_waits_for_the_server() {
    // The client's end of a pipe that is not read after the pool was opened.
    let (near, far) = pipe(1024);
    let mut server = Box::pin(serve(far, |machine: &mut server::RunspacePool, ask: AppCall| {
        on_start(machine, &ask, |_, _| ())
    }));
    let options =
        Options::new().limits(ClientLimits { max_pending_bytes: 10_000, ..ClientLimits::default() });
    let opening = RunspacePool::over(near, options);
    let pool = tokio::select! {
        pool = opening => pool.unwrap(),
        () = &mut server => panic!("the server has ended"),
    };
    let create = with_input("");
    let run = pool.start(create).await.unwrap();
    let mut sent = 0;
    let endless = async {
        loop {
            run.send("x".repeat(1000)).await.unwrap();
            sent += 1;
        }
    };
    let limit = async {
        for _ in 0..10_000 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = endless => {}
        () = limit => {}
    }
    assert!((5..15).contains(&sent), "{sent}");
    // Other senders wait, too.
    let mut start = pin!(pool.start(PowerShell::script("")));
    assert!(poll_fn(|cx| Poll::Ready(start.as_mut().poll(cx))).await.is_pending());
    // The server continues.
    tokio::select! {
        result = run.send("y") => result.unwrap(),
        () = &mut server => panic!("the server has ended"),
    }
    drop(server);
    let error = poll_fn(|cx| start.as_mut().poll(cx)).await;
    drop(error);
}

/// Reads, stops, drops or half reads pipelines, depending on a number.
async fn misuse(pool: &RunspacePool, seed: usize) {
    let count = seed % 7 * 40;
    let mut run = pool.start(PowerShell::script(count.to_string().as_str())).await.unwrap();
    for _ in 0..seed % 11 {
        match run.next().await {
            Some(event) => drop(event.unwrap()),
            None => return,
        }
    }
    match seed % 5 {
        0 => drop(run),
        1 => run.stop().await.unwrap(),
        2 => {
            let stopped = tokio::time::timeout(std::time::Duration::ZERO, run.stop()).await;
            drop((stopped, run));
        }
        3 => {
            let handle = run.handle();
            let (stopped, output) = tokio::join!(handle.stop(), run.output());
            stopped.unwrap();
            assert_ne!(output.unwrap().state, PipelineState::Failed);
        }
        _ => assert!(run.output().await.unwrap().output.len() <= count),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pipelines_leave_no_state_behind() {
    let (pool, server) = open(
        Options::new().limits(ClientLimits { max_buffered_bytes: 20_000, ..ClientLimits::default() }),
        numbers(Arc::default()),
    )
    .await;
    let tasks: Vec<_> = (0..20)
        .map(|task| {
            let pool = pool.clone();
            tokio::spawn(async move {
                for round in 0..20 {
                    misuse(&pool, task * 31 + round * 17).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    while !pool.pipelines().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(pool.invoke(PowerShell::script("10")).await.unwrap().output.len(), 10);
    pool.close().await.unwrap();
    server.await.unwrap();
}

/// Returns the peak memory of a client and server in one thread while this many objects are transferred.
fn peak(objects: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    counting::peak(|| {
        runtime.block_on(async {
            let written = Arc::default();
            let (near, far) = pipe(65536);
            let server = tokio::spawn(serve(far, numbers(Arc::clone(&written))));
            let options = Options::new()
                .limits(ClientLimits { max_buffered_bytes: 100_000, ..ClientLimits::default() });
            let pool = RunspacePool::over(near, options).await.unwrap();
            let mut run = pool.start(PowerShell::script(objects.to_string().as_str())).await.unwrap();
            let mut count = 0;
            while let Some(event) = run.next().await {
                count += usize::from(matches!(event.unwrap(), PipelineEvent::Output(_)));
            }
            assert_eq!(count, objects);
            drop(run);
            pool.close().await.unwrap();
            server.await.unwrap();
        });
    })
}

/// `PSRP_OBJECTS=1000000` makes this a long test.
#[test]
fn memory_is_independent_of_the_number_of_objects() {
    let objects = std::env::var("PSRP_OBJECTS").map_or(30_000, |objects| objects.parse().unwrap());
    let (few, many) = (peak(5_000), peak(objects));
    assert!(many < few + few / 4, "{few} {many}");
    assert!(many < 2 << 20, "{many}");
    writeln!(io::stderr(), "{objects} objects: at most {many} bytes").unwrap();
}
