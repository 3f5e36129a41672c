//! Our server and client over an in-memory pipe.

#![cfg(all(feature = "tokio", feature = "crypto"))]

use std::sync::Arc;
use std::time::Duration;

use psrp::io::serve::{Options, SessionEnd, serve};
use psrp::io::{self, PoolEvent, ScriptedHost, Session};
use psrp::message::{
    ApplicationPrivateData, GetCommandMetadata, PipelineState, PowerShell, RunspacePoolState,
    SessionCapability,
};
use psrp::value::{SecureString, Value};
use psrp::{client, server};
use uuid::Uuid;

use crate::handler::{TestHandler, TestSession, pipe};
use crate::io_hosts::{BlockingHost, session};
use crate::session::with_key;

#[tokio::test]
async fn failures_have_a_reason_and_panics_are_generic() {
    let served = TestSession::new().await;
    let output = served.pool.invoke(PowerShell::script("fail for a reason")).await.unwrap();
    assert_eq!(output.state, PipelineState::Failed);
    assert_eq!(output.reason.unwrap().message().unwrap(), &"for a reason");
    let output = served.pool.invoke(PowerShell::script("panic")).await.unwrap();
    assert_eq!(output.state, PipelineState::Failed);
    let reason = output.reason.unwrap();
    assert_eq!(reason.message().unwrap(), &"the handler of the server panicked");
    assert_eq!(reason.fully_qualified_error_id.unwrap(), "HandlerPanicked");
    // Other pipelines continue.
    let output = served.pool.invoke(PowerShell::script("count 3")).await.unwrap();
    assert_eq!(output.output, [0, 1, 2].map(Value::from));
    served.close().await;
}

/// A handler that does not stop is dropped: at once, or after a timeout if it can stop gracefully.
#[tokio::test(start_paused = true)]
async fn stopping_ends_the_handler() {
    for (script, words, seconds) in
        [("wait", None, 0), ("polite", Some("last words"), 0), ("stubborn", None, 30)]
    {
        let served = TestSession::new().await;
        let run = served.pool.start(PowerShell::script(script)).await.unwrap();
        TestHandler::reach(&served.handler.running, 1).await;
        tokio::task::yield_now().await;
        let start = tokio::time::Instant::now();
        run.stop().await.unwrap();
        assert_eq!(start.elapsed().as_secs(), seconds, "{script}");
        run.stop().await.unwrap();
        assert_eq!(run.state(), PipelineState::Stopped);
        let output = run.output().await.unwrap();
        assert_eq!(output.state, PipelineState::Stopped);
        let reason = output.reason.as_ref().unwrap();
        assert_eq!(reason.fully_qualified_error_id.as_ref().unwrap(), "PipelineStopped");
        assert_eq!(output.output, words.map(Value::from).as_slice(), "{script}");
        assert_eq!(
            output.completed().unwrap_err().to_string(),
            "the pipeline has not completed: Stopped: The pipeline has been stopped."
        );
        assert_eq!(TestHandler::count(&served.handler.running), 0);
        let log = Arc::clone(&served.log);
        served.close().await;
        assert_eq!(*log.lock().unwrap(), ["stop", "close", "closed"]);
    }
}

#[tokio::test]
async fn a_script_runs_in_one_call() {
    for (script, state) in [("count 3", PipelineState::Completed), ("fail so it does", PipelineState::Failed)]
    {
        let (near, far) = pipe(4096);
        let server = tokio::spawn(serve(far, TestHandler::default(), Options::default()));
        let near = std::sync::Mutex::new(Some(near));
        let connect = || {
            let pipe = near.lock().unwrap().take();
            async { pipe.ok_or_else(|| std::io::Error::other("one connection alone").into()) }
        };
        let output = psrp::run(&connect, script).await.unwrap();
        assert_eq!(output.state, state);
        match output.completed() {
            Ok(output) => assert_eq!(output.output, [0, 1, 2].map(Value::from)),
            Err(error) => assert!(error.to_string().ends_with("so it does")),
        }
        assert_eq!(server.await.unwrap().unwrap(), SessionEnd::Closed);
        assert!(psrp::run(&connect, script).await.unwrap_err().is_io());
    }
}

#[tokio::test]
async fn pipelines_wait_for_a_runspace() {
    let served = TestSession::runspaces(2).await;
    let mut runs = Vec::new();
    for _ in 0..6 {
        runs.push(served.pool.start(PowerShell::script("wait")).await.unwrap());
    }
    TestHandler::reach(&served.handler.running, 2).await;
    // A waiting pipeline is stopped without having run.
    let last = runs.pop().unwrap();
    last.stop().await.unwrap();
    assert_eq!(last.output().await.unwrap().state, PipelineState::Stopped);
    assert_eq!(served.pool.get_available_runspaces().await.unwrap(), 0);
    assert_eq!(TestHandler::count(&served.handler.started), 2);
    // Another one starts when the limit is raised.
    assert!(served.pool.set_max_runspaces(3).await.unwrap());
    TestHandler::reach(&served.handler.running, 3).await;
    served.handler.gate.0.add_permits(100);
    for run in runs {
        assert_eq!(run.output().await.unwrap().state, PipelineState::Completed);
    }
    assert_eq!(TestHandler::count(&served.handler.started), 5);
    assert_eq!(TestHandler::count(&served.handler.most), 3);
    served.close().await;
}

#[tokio::test]
async fn pool_requests_are_responded_to() {
    let data = ApplicationPrivateData::new([("Name", "test")]);
    let server = server::Config::new().application_private_data(data);
    let client = client::Config::new().pool_id(Uuid::from_u128(5));
    let options = io::Options::new().runspaces(2..=3);
    let served = TestSession::with(client, options, Options { config: server, ..Options::default() }).await;
    let pool = served.pool.clone();
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (2, 3));
    assert_eq!(pool.id(), Uuid::from_u128(5));
    let data = pool.application_private_data().unwrap().data.unwrap();
    assert_eq!(data.get("Name").unwrap(), &Value::from("test"));
    assert!(pool.peer().is_some());

    // The response to this request comes last.
    let reset = tokio::spawn({
        let pool = pool.clone();
        async move { pool.reset_runspace_state().await }
    });
    tokio::task::yield_now().await;
    assert_eq!(pool.get_available_runspaces().await.unwrap(), 3);
    assert!(pool.set_max_runspaces(8).await.unwrap());
    assert!(!pool.set_max_runspaces(9).await.unwrap(), "the handler refuses");
    assert!(pool.set_min_runspaces(8).await.unwrap());
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (8, 8));
    assert!(pool.set_min_runspaces(9).await.unwrap_err().is_state());
    assert_eq!(pool.get_available_runspaces().await.unwrap(), 8);
    assert!(!reset.is_finished());
    served.handler.gate.0.add_permits(1);
    assert!(reset.await.unwrap().unwrap());
    let commands = pool.get_command_metadata(GetCommandMetadata::new(["One", "Two"])).await.unwrap();
    assert_eq!(commands.iter().map(|command| &command.name).collect::<Vec<_>>(), ["One", "Two"]);

    let mut events = pool.events();
    served.close().await;
    let Some(PoolEvent::State(info)) = events.next().await else { panic!() };
    assert_eq!(info.state, RunspacePoolState::Closed);
    assert_eq!(events.next().await, None);
    assert!(pool.get_available_runspaces().await.unwrap_err().is_closed());
}

#[tokio::test]
async fn sessions_can_call_the_host_and_send_events() {
    let served = session(io::Options::new().host(Arc::new(ScriptedHost::new()))).await;
    let mut events = served.pool.events();
    let output = served.pool.invoke(PowerShell::script("session")).await.unwrap();
    assert_eq!(output.output, [Value::from("psrp")]);
    let Some(PoolEvent::User(event)) = events.next().await else { panic!() };
    assert_eq!(event.event_identifier, 7);
    drop(events);
    served.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_response_can_be_ignored() {
    let served = session(io::Options::new().host(Arc::new(BlockingHost::default()))).await;
    let output = served.pool.start(PowerShell::script("impatient")).await.unwrap();
    drop(served.handler.gate.0.acquire().await.unwrap());
    // The client processes the calls of a pipeline in order, so the second response never arrives.
    tokio::time::sleep(Duration::from_millis(20)).await;
    output.stop().await.unwrap();
    assert_eq!(output.output().await.unwrap().state, PipelineState::Stopped);
    let output = served.pool.invoke(PowerShell::script("after")).await.unwrap();
    assert_eq!(output.output, [Value::from("after")]);
    served.close().await;
}

#[tokio::test]
async fn secrets_are_transferred_in_both_directions() {
    for capability in [with_key(), SessionCapability::default()] {
        let has_key = capability == with_key();
        let config = client::Config::new().capability(capability);
        let served = TestSession::with(config, io::Options::new(), Options::default()).await;
        let output = served.pool.invoke(PowerShell::script("secret 10")).await.unwrap();
        assert_eq!(output.state, PipelineState::Completed);
        for (number, value) in output.output.iter().enumerate() {
            served.pool.decrypt(value).await.unwrap();
            let Value::SecureString(secret) = value else { panic!() };
            assert_eq!(**secret.reveal().unwrap(), format!("secret {number}"));
        }
        assert_eq!(output.output.len(), 10);

        let input = [SecureString::new("Pa\u{df}wort")];
        let output = served.pool.invoke_with_input(PowerShell::script("echo"), input).await.unwrap();
        let Value::SecureString(secret) = &output.output[0] else { panic!() };
        assert_eq!(**secret.reveal().unwrap(), *"Pa\u{df}wort");
        if has_key {
            served.pool.exchange_key().await.unwrap();
        }
        served.close().await;
    }
}

#[tokio::test]
async fn a_handler_can_reject_the_pool() {
    let (near, far) = pipe(4096);
    let handler = Arc::new(TestHandler { refuses: true, ..TestHandler::default() });
    let ended = tokio::spawn(serve(far, handler.clone(), Options::default()));
    if let Ok(pool) = Session::over(near, io::Options::new()).await {
        pool.closed().await;
        assert_eq!(pool.state(), RunspacePoolState::Broken);
    }
    assert_eq!(ended.await.unwrap().unwrap(), SessionEnd::Broken);
    assert_eq!(TestHandler::count(&handler.closed), 1);
}

#[tokio::test]
async fn a_handler_can_break_the_pool() {
    let served = TestSession::runspaces(2).await;
    let mut events = served.pool.events();
    let running = served.pool.start(PowerShell::script("wait")).await.unwrap();
    let result = served.pool.invoke(PowerShell::script("break out of \u{7}memory")).await;
    assert!(result.is_err() || result.is_ok_and(|output| output.state == PipelineState::Failed));
    assert_eq!(running.output().await.unwrap().state, PipelineState::Failed);
    let Some(PoolEvent::State(info)) = events.next().await else { panic!() };
    assert_eq!(info.state, RunspacePoolState::Broken);
    assert_eq!(info.error.unwrap().message().unwrap(), &"out of \u{7}memory");
    assert_eq!(served.ended.await.unwrap().unwrap(), SessionEnd::Broken);
    let text = "the connection has ended: the server reports the pool as broken: out of \\u{7}memory";
    assert_eq!(served.pool.closed().await.to_string(), text);
}
