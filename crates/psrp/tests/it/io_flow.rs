//! Flow control of the client: limits of buffered input and output.

#![cfg(all(feature = "tokio", feature = "crypto"))]

use std::future::{Future, poll_fn};
use std::io::{self, Write};
use std::pin::pin;
use std::task::Poll;

use psrp::client::{Config, PipelineEvent};
use psrp::io::serve;
use psrp::io::{ClientLimits, Options, Session};
use psrp::message::{PipelineState, PowerShell};
use psrp::value::{Object, Value};
use test_support::counting;

use crate::handler::{TestHandler, TestSession, pipe};

/// Opens a session whose client buffers at most this many bytes.
async fn session(max_buffered_bytes: usize) -> TestSession {
    let options = Options::new().limits(ClientLimits { max_buffered_bytes, ..ClientLimits::default() });
    let server = serve::Options { max_unsent_bytes: 64 * 1024, ..serve::Options::default() };
    TestSession::with(Config::new(), options, server).await
}

#[tokio::test(start_paused = true)]
async fn backpressure_reaches_the_server() {
    let TestSession { pool, handler, .. } = session(50_000).await;
    assert!(pool.set_max_runspaces(2).await.unwrap());
    let mut run = pool.start(PowerShell::script("count 100000")).await.unwrap();
    // An object counts more than 100 bytes. The server has written more: its queue, its transport and the pipe buffer
    // less than 200 KB of at least 60 bytes each.
    let first = TestHandler::settle(&handler.objects).await;
    assert!((500..4000).contains(&first), "{first}");
    let mut events = Vec::new();
    for _ in 0..first {
        events.push(run.next().await.unwrap().unwrap());
    }
    let second = TestHandler::settle(&handler.objects).await;
    // Nothing is lost when the reader pauses.
    for _ in first..second {
        events.push(run.next().await.unwrap().unwrap());
    }
    let outputs = (0..).map(|number| PipelineEvent::Output(Value::from(number)));
    assert!(events[1..].iter().cloned().eq(outputs.take(events.len() - 1)));
    assert!(second > first && second < 3 * first, "{first} {second}");
    TestHandler::settle(&handler.objects).await;

    // The output of the first pipeline is not read, so the second one waits until the first is dropped.
    let other = pool.start(PowerShell::script("count 10")).await.unwrap();
    let mut other = pin!(other.output());
    assert!(poll_fn(|cx| Poll::Ready(other.as_mut().poll(cx))).await.is_pending());
    TestHandler::settle(&handler.objects).await;
    assert!(poll_fn(|cx| Poll::Ready(other.as_mut().poll(cx))).await.is_pending());
    drop(run);
    assert_eq!(other.await.unwrap().output.len(), 10);
    pool.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn backpressure_counts_decoded_sizes() {
    let TestSession { pool, handler, .. } = session(1 << 20).await;
    let empty = Value::from(Object::list((0..1000).map(|_| Object::builder().build())));
    let run = pool.start_with_input(PowerShell::script("echo")).await.unwrap();
    let input = run.handle();
    let sender = tokio::spawn(async move {
        for _ in 0..200 {
            input.send(empty.clone()).await.unwrap();
        }
        input.end_input().await.unwrap();
    });
    // A list has about 20 KB on the wire and ten times as much in memory.
    let first = TestHandler::settle(&handler.objects).await;
    assert!((4..20).contains(&first), "{first}");
    assert_eq!(run.output().await.unwrap().output.len(), 200);
    sender.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_unread_pipeline_can_be_stopped() {
    let TestSession { pool, handler, .. } = session(100_000).await;
    let run = pool.start(PowerShell::script("count 1000000")).await.unwrap();
    TestHandler::settle(&handler.objects).await;
    run.stop().await.unwrap();
    let output = run.output().await.unwrap();
    assert_eq!(output.state, PipelineState::Stopped);
    assert_eq!(output.output.len(), TestHandler::count(&handler.objects));

    // A pool can be closed, too.
    let run = pool.start(PowerShell::script("count 1000000")).await.unwrap();
    TestHandler::settle(&handler.objects).await;
    pool.close().await.unwrap();
    drop(run);
}

#[tokio::test]
async fn input_waits_for_the_server() {
    // The client's end of a pipe that is not read after the pool was opened.
    let (near, far) = pipe(1024);
    let mut server = pin!(serve::serve(far, TestHandler::default(), serve::Options::default()));
    let options =
        Options::new().limits(ClientLimits { max_pending_bytes: 10_000, ..ClientLimits::default() });
    let opening = Session::over(near, options);
    let pool = tokio::select! {
        pool = opening => pool.unwrap(),
        _ = &mut server => panic!("the server has ended"),
    };
    let run = pool.start_with_input(PowerShell::script("")).await.unwrap();
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
        _ = &mut server => panic!("the server has ended"),
    }
}

/// Reads, stops, drops or half reads pipelines, depending on a number.
async fn misuse(pool: &Session, seed: usize) {
    let count = seed % 7 * 40;
    let mut run = pool.start(PowerShell::script(format!("count {count}"))).await.unwrap();
    let mut next = 0;
    for _ in 0..seed % 11 {
        match run.next().await.transpose().unwrap() {
            Some(PipelineEvent::Output(value)) => {
                assert_eq!(value, Value::from(next));
                next += 1;
            }
            Some(_) => {}
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
        _ => {
            let rest = (next..).take(count - next as usize).map(Value::from);
            assert_eq!(run.output().await.unwrap().output, rest.collect::<Vec<_>>());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pipelines_leave_no_state_behind() {
    let served = session(20_000).await;
    assert!(served.pool.set_max_runspaces(8).await.unwrap());
    let tasks: Vec<_> = (0..20)
        .map(|task| {
            let pool = served.pool.clone();
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
    while !served.pool.pipelines().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(served.pool.invoke(PowerShell::script("count 10")).await.unwrap().output.len(), 10);
    served.close().await;
}

/// Returns the peak memory of a client and server in one thread while this many objects are transferred.
fn peak(objects: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    counting::peak(|| {
        runtime.block_on(async {
            let served = session(100_000).await;
            let mut run = served.pool.start(PowerShell::script(format!("count {objects}"))).await.unwrap();
            let mut count = 0;
            while let Some(event) = run.next().await {
                count += usize::from(matches!(event.unwrap(), PipelineEvent::Output(_)));
            }
            assert_eq!(count, objects);
            drop(run);
            served.close().await;
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
