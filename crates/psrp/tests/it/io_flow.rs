//! Flow control of the client: how much is kept of what comes, and of what is to be sent.

#![cfg(feature = "tokio")]

use std::future::{Future, poll_fn};
use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use psrp::client::PipelineEvent;
use psrp::io::{Options, RunspacePool};
use psrp::message::{CreatePipeline, PipelineState, PowerShell};
use psrp::server;
use psrp::value::{Object, Value};
use uuid::Uuid;

use crate::served::{Ask, on_start, open, pipe, serve};
use test_support::counting;

/// Writes numbers to each pipeline whose script says how many, as far as there is room. How many were written in all.
fn numbers(written: Arc<AtomicUsize>) -> impl FnMut(&mut server::RunspacePool, Ask) -> bool + Send {
    values(written, Value::from)
}

/// The same with the value of each number.
fn values(
    written: Arc<AtomicUsize>,
    value: impl Fn(i32) -> Value + Send,
) -> impl FnMut(&mut server::RunspacePool, Ask) -> bool + Send {
    let mut left: Vec<(Uuid, usize)> = Vec::new();
    move |machine, ask| {
        let start = |pipeline: &mut server::Pipeline<'_>, script: &str| {
            left.push((pipeline.id(), script.parse().unwrap()));
        };
        if on_start(machine, &ask, start) {
            return true;
        }
        match ask {
            Ask::Event(server::Event::Pipeline { id, event: server::PipelineEvent::Stop }) => {
                left.retain(|(own, _)| *own != id);
                machine.pipeline(id).unwrap().stop().unwrap();
            }
            Ask::Idle => {
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
            Ask::Event(_) => return false,
        }
        true
    }
}

/// Lets everything go on until nothing changes any more.
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
async fn a_slow_reader_slows_the_server() {
    let written = Arc::new(AtomicUsize::new(0));
    let (pool, _server) =
        open(Options::new().max_buffered_bytes(50_000), numbers(Arc::clone(&written))).await;
    let mut run = pool.start(PowerShell::script("100000")).await.unwrap();
    // An object counts more than 100 bytes here. The server has written more: its queue, its transport and the pipe hold
    // less than 200 KB of at least 60 bytes each.
    let first = settle(&written).await;
    assert!((500..4000).contains(&first), "{first}");
    for _ in 0..first {
        run.next().await.unwrap().unwrap();
    }
    let second = settle(&written).await;
    assert!(second > first && second < 3 * first, "{first} {second}");

    // Nobody takes the output of the first, so the second one waits; until the first is dropped.
    let other = pool.start(PowerShell::script("10")).await.unwrap();
    let mut other = pin!(other.output());
    assert!(poll_fn(|cx| Poll::Ready(other.as_mut().poll(cx))).await.is_pending());
    settle(&written).await;
    assert!(poll_fn(|cx| Poll::Ready(other.as_mut().poll(cx))).await.is_pending());
    drop(run);
    assert_eq!(other.await.unwrap().output.len(), 10);
    pool.close().await.unwrap();
}

/// What is small on the wire and large in memory counts as what it takes in memory.
#[tokio::test]
async fn a_slow_reader_of_large_values_slows_the_server() {
    let written = Arc::new(AtomicUsize::new(0));
    let empty = |_| Value::from(Object::list((0..1000).map(|_| Object::builder().build())));
    let options = Options::new().max_buffered_bytes(1 << 20);
    let (pool, _server) = open(options, values(Arc::clone(&written), empty)).await;
    let mut run = pool.start(PowerShell::script("200")).await.unwrap();
    // A list takes about 20 KB on the wire, ten times as much in memory.
    let first = settle(&written).await;
    assert!((4..20).contains(&first), "{first}");
    for _ in 0..200 {
        run.next().await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn nothing_is_lost_when_the_reader_pauses() {
    let written = Arc::default();
    let (pool, _server) =
        open(Options::new().max_buffered_bytes(10_000), numbers(Arc::clone(&written))).await;
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
async fn a_pipeline_that_nobody_reads_can_be_stopped() {
    let written = Arc::default();
    let (pool, _server) =
        open(Options::new().max_buffered_bytes(100_000), numbers(Arc::clone(&written))).await;
    let run = pool.start(PowerShell::script("1000000")).await.unwrap();
    settle(&written).await;
    run.stop().await.unwrap();
    let output = run.output().await.unwrap();
    assert_eq!(output.state, PipelineState::Stopped);
    assert_eq!(output.output.len(), written.load(Ordering::Relaxed));

    // So can a pool be closed.
    let run = pool.start(PowerShell::script("1000000")).await.unwrap();
    settle(&written).await;
    pool.close().await.unwrap();
    drop(run);
}

#[tokio::test]
async fn input_waits_until_the_server_takes_it() {
    // The client's end of a pipe that nobody reads after the pool is open.
    let (near, far) = pipe(1024);
    let mut server = Box::pin(serve(far, |machine: &mut server::RunspacePool, ask: Ask| {
        on_start(machine, &ask, |_, _| ())
    }));
    let options = Options::new().max_pending_bytes(10_000);
    let opening = RunspacePool::over(near, options);
    let pool = tokio::select! {
        pool = opening => pool.unwrap(),
        () = &mut server => panic!("the server has ended"),
    };
    let mut create = CreatePipeline::new(PowerShell::script(""));
    create.no_input = false;
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
    // Others wait as well: they would make it worse.
    let mut start = pin!(pool.start(PowerShell::script("")));
    assert!(poll_fn(|cx| Poll::Ready(start.as_mut().poll(cx))).await.is_pending());
    // The server goes on.
    tokio::select! {
        result = run.send("y") => result.unwrap(),
        () = &mut server => panic!("the server has ended"),
    }
    drop(server);
    let error = poll_fn(|cx| start.as_mut().poll(cx)).await;
    drop(error);
}

/// Reads, stops, drops and leaves pipelines half read, as a number says.
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
async fn nothing_is_left_of_many_pipelines() {
    let (pool, server) = open(Options::new().max_buffered_bytes(20_000), numbers(Arc::default())).await;
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

/// The most memory that a client and its server in one thread hold while this many objects pass.
fn peak(objects: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    counting::peak(|| {
        runtime.block_on(async {
            let written = Arc::default();
            let (near, far) = pipe(65536);
            let server = tokio::spawn(serve(far, numbers(Arc::clone(&written))));
            let options = Options::new().max_buffered_bytes(100_000);
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
fn memory_does_not_grow_with_the_number_of_objects() {
    let objects = std::env::var("PSRP_OBJECTS").map_or(30_000, |objects| objects.parse().unwrap());
    let (few, many) = (peak(5_000), peak(objects));
    assert!(many < few + few / 4, "{few} {many}");
    assert!(many < 2 << 20, "{many}");
    writeln!(io::stderr(), "{objects} objects: at most {many} bytes").unwrap();
}
