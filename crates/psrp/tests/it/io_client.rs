//! Pools and pipelines of the client over an in-memory pipe.

#![cfg(all(feature = "tokio", feature = "crypto"))]

use std::ops::RangeInclusive;
use std::sync::Arc;

use psrp::SessionLimits;
use psrp::client::{Config, PipelineEvent};
use psrp::io::serve::{self, SessionEnd};
use psrp::io::{ClientLimits, Options, Output, OutputRecord, Session};
use psrp::message::{PipelineState, PowerShell, RunspacePoolState};
use psrp::value::Value;

use crate::handler::{TestHandler, TestSession};
use crate::session::{category, pipeline_event};
use crate::transport::{Fault, TestTransport, pipe};

#[tokio::test]
async fn scripts_run_over_pipes_of_any_size() {
    for size in [1, 7, 64, 65536] {
        let (near, far) = pipe(size);
        let server = tokio::spawn(serve::serve(far, TestHandler::default(), serve::Options::default()));
        let pool = Session::over(near, Options::new()).await.unwrap();
        assert_eq!(pool.state(), RunspacePoolState::Opened);
        let text = "hello ".repeat(20_000);
        let output = pool.invoke(PowerShell::script(text.as_str())).await.unwrap();
        assert_eq!(output.output, [Value::from(text)]);
        assert!(output.state == PipelineState::Completed && !output.had_errors());
        pool.close().await.unwrap();
        assert_eq!(pool.state(), RunspacePoolState::Closed);
        assert_eq!(server.await.unwrap().unwrap(), SessionEnd::Closed);
    }
}

/// The streams of the records in order.
fn order(output: &Output) -> Vec<&'static str> {
    let stream = |record| match record {
        OutputRecord::Output(_) => "output",
        OutputRecord::Error(_) => "error",
        OutputRecord::Warning(_) => "warning",
        OutputRecord::Verbose(_) => "verbose",
        OutputRecord::Debug(_) => "debug",
        OutputRecord::Information(_) => "information",
        other => panic!("{other:?}"),
    };
    output.records().map(stream).collect()
}

#[tokio::test]
async fn events_of_all_streams_arrive_in_order() {
    let TestSession { pool, .. } = TestSession::new().await;
    let mut run = pool.start(PowerShell::script("streams fail")).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(pipeline_event(event.unwrap(), category));
    }
    let expected = "Running | String(\"output\") | error NotSpecified | warning warning | verbose verbose | debug debug | \
        information String(\"information\") | progress progress 10 | progress progress 20 | Nil | Failed: InvalidOperation";
    assert_eq!(events.join(" | "), expected);
    assert_eq!(run.state(), PipelineState::Failed);
    assert!(run.next().await.is_none());

    let output = pool.invoke(PowerShell::script("streams fail")).await.unwrap();
    assert_eq!(output.output, [Value::from("output"), Value::Nil]);
    assert_eq!(output.errors[0].message().unwrap(), "error");
    let texts =
        [&output.warnings, &output.verbose, &output.debug].map(|records| records[0].message.to_str_lossy());
    assert_eq!(texts, ["warning", "verbose", "debug"]);
    assert_eq!(output.information[0].message_data, Value::from("information"));
    let progress: Vec<_> = output.progress.iter().map(|record| record.percent_complete).collect();
    assert_eq!(progress, [20]);
    assert_eq!(output.state, PipelineState::Failed);
    assert!(output.had_errors());
    assert_eq!(order(&output), ["output", "error", "warning", "verbose", "debug", "information", "output"]);

    let error = output.completed().unwrap_err();
    assert!(error.is_pipeline());
    assert_eq!(error.to_string(), "the pipeline has not completed: Failed: no \\u{1b}[31mmore");

    // A pipeline with error records may complete. The caller can change the fields.
    let mut output = pool.invoke(PowerShell::script("streams")).await.unwrap();
    assert!(output.had_errors() && output.state == PipelineState::Completed);
    output.errors.remove(0);
    assert_eq!(order(&output), ["output", "warning", "verbose", "debug", "information", "output"]);
}

#[tokio::test]
async fn an_invalid_number_of_runspaces_is_rejected() {
    for count in [0..=1, -1..=-1, RangeInclusive::new(2, 1)] {
        let (near, _far) = pipe(64);
        let error = Session::over(near, Options::new().runspaces(count)).await.unwrap_err();
        assert!(error.is_state() && error.to_string().contains("at least 1"), "{error}");
    }
}

#[tokio::test]
async fn input_is_sent_while_output_is_read() {
    let options = Options::new().limits(ClientLimits { max_pending_bytes: 1000, ..ClientLimits::default() });
    let served = TestSession::with(Config::new(), options, serve::Options::default()).await;
    let pool = &served.pool;
    let output = pool.invoke_with_input(PowerShell::script("echo"), 0..3000).await.unwrap();
    assert_eq!(output.output, (0..3000).map(Value::from).collect::<Vec<_>>());

    // The pipeline ends before its input.
    let endless = std::iter::repeat("more");
    let output = pool.invoke_with_input(PowerShell::script("head 10"), endless).await.unwrap();
    assert_eq!((output.output.len(), output.state), (10, PipelineState::Completed));

    // Input is sent by another task.
    let mut run = pool.start_with_input(PowerShell::script("echo")).await.unwrap();
    let input = run.handle();
    let sender = tokio::spawn(async move {
        input.send("a").await.unwrap();
        input.end_input().await.unwrap();
        input.send("b").await.unwrap_err()
    });
    let mut count = 0;
    while let Some(event) = run.next().await {
        count += usize::from(matches!(event.unwrap(), PipelineEvent::Output(_)));
    }
    assert_eq!(count, 1);
    let error = sender.await.unwrap();
    assert!(
        error.is_state() && error.to_string().ends_with("the pipeline is at the end of its input"),
        "{error}"
    );
    assert!(run.send("c").await.unwrap_err().is_state());
    drop(run);
    served.close().await;
}

#[cfg(feature = "serde")]
#[tokio::test]
async fn output_is_deserialized() {
    let served = TestSession::new().await;
    let numbers: Vec<u8> = served.pool.invoke_as(PowerShell::script("count 2")).await.unwrap();
    assert_eq!(numbers, [0, 1]);
    let error = served.pool.invoke_as::<String>(PowerShell::script("count 2")).await.unwrap_err();
    assert!(error.is_mismatch(), "{error}");
    let error = served.pool.invoke_as::<u8>(PowerShell::script("fail")).await.unwrap_err();
    assert!(error.is_pipeline(), "{error}");
}

#[tokio::test]
async fn collected_output_is_limited() {
    let options = Options::new().limits(ClientLimits { max_output_bytes: 10_000, ..ClientLimits::default() });
    let served = TestSession::with(Config::new(), options, serve::Options::default()).await;
    for (count, is_allowed) in [(50, true), (5000, false), (50, true)] {
        let output = served.pool.invoke(PowerShell::script(format!("count {count}"))).await;
        match is_allowed {
            true => assert_eq!(output.unwrap().output.len(), count),
            false => assert!(output.unwrap_err().is_limit()),
        }
    }
}

#[tokio::test]
async fn invalid_states_are_errors() {
    let config = Config::new().limits(SessionLimits { max_pipelines: 1, ..SessionLimits::default() });
    let TestSession { pool, .. } = TestSession::with(config, Options::new(), serve::Options::default()).await;
    let run = pool.start(PowerShell::script("wait")).await.unwrap();
    for error in [run.send(1).await.unwrap_err(), run.end_input().await.unwrap_err()] {
        let text = error.to_string();
        assert!(error.is_state() && text.contains("without input (set `CreatePipeline::no_input`"), "{text}");
    }
    assert!(pool.start(PowerShell::script("")).await.unwrap_err().is_limit());
    assert!(pool.connect_pipeline(run.id()).unwrap_err().is_state());
    assert_eq!(pool.pipelines(), [(run.id(), PipelineState::Running)]);
    assert!(pool.disconnect().await.unwrap_err().is_unsupported());
    assert!(pool.reconnect().await.unwrap_err().is_state());
    assert_eq!(pool.state(), RunspacePoolState::Opened);
}

#[tokio::test]
async fn a_pool_is_disconnected_and_reconnected() {
    let (near, far) = pipe(4096);
    let server = tokio::spawn(serve::serve(far, TestHandler::default(), serve::Options::default()));
    let near = TestTransport::new(near, Fault::None);
    let log = Arc::clone(&near.log);
    let pool = Session::over(near, Options::new()).await.unwrap();
    let run = pool.start_with_input(PowerShell::script("echo")).await.unwrap();
    run.send(1).await.unwrap();
    pool.disconnect().await.unwrap();
    assert_eq!(pool.state(), RunspacePoolState::Disconnected);
    assert!(pool.disconnect().await.unwrap_err().is_state());
    assert!(run.send(2).await.unwrap_err().is_state());
    assert!(pool.start(PowerShell::script("")).await.unwrap_err().is_state());
    pool.reconnect().await.unwrap();
    run.send(3).await.unwrap();
    run.end_input().await.unwrap();
    assert_eq!(run.output().await.unwrap().output, [1, 3].map(Value::from));
    // A disconnected pool is not closed at the server.
    pool.disconnect().await.unwrap();
    pool.close().await.unwrap();
    assert_eq!(server.await.unwrap().unwrap(), SessionEnd::Disconnected);
    assert_eq!(*log.lock().unwrap(), ["disconnect", "reconnect", "disconnect"]);
}

#[tokio::test]
async fn a_client_connects_to_an_existing_pool() {
    let (near, far) = pipe(4096);
    let server = tokio::spawn(serve::serve(far, TestHandler::default(), serve::Options::default()));
    let id = uuid::Uuid::from_u128(9);
    let options = Options::new().config(Config::new().pool_id(id));
    let pool = Session::connect_over(near, options).await.unwrap();
    assert_eq!((pool.id(), pool.state()), (id, RunspacePoolState::Opened));
    // The server has no such pipeline, which is detected when something is sent.
    let run = pool.connect_pipeline(uuid::Uuid::from_u128(3)).unwrap();
    assert_eq!(run.state(), PipelineState::Running);
    assert_eq!(pool.invoke(PowerShell::script("a")).await.unwrap().output, [Value::from("a")]);
    drop(run);
    pool.close().await.unwrap();
    assert_eq!(server.await.unwrap().unwrap(), SessionEnd::Closed);
}
