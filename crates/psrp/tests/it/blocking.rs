//! Sessions without an async runtime, over an in-memory pipe.

#![cfg(all(feature = "blocking", feature = "crypto"))]

use std::sync::Arc;

use psrp::Value;
use psrp::blocking::{self, Session};
use psrp::client::PipelineEvent;
use psrp::io::serve::{self, serve};
use psrp::io::{Child, Connect, Options};
use psrp::message::{PipelineState, PowerShell, RunspacePoolState};
use tokio::runtime::{Builder, Runtime};

use crate::handler::{TestHandler, pipe};

/// A server with its own runtime.
struct Server {
    handler: Arc<TestHandler>,
    runtime: Runtime,
}

impl Server {
    fn new() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { handler: Arc::default(), runtime }
    }

    fn connector(&self) -> impl Connect {
        || async {
            let (near, far) = pipe(4096);
            self.runtime.spawn(serve(far, Arc::clone(&self.handler), serve::Options::default()));
            Ok(near)
        }
    }

    fn open(&self) -> Session {
        Session::open(&self.connector(), Options::new()).unwrap()
    }

    /// Waits until `count` sessions have ended.
    #[track_caller]
    fn until_closed(&self, count: usize) {
        self.runtime.block_on(TestHandler::reach(&self.handler.closed, count));
        assert_eq!(TestHandler::count(&self.handler.running), 0);
    }
}

#[test]
fn pipelines_run_with_input_and_return_events() {
    let server = Server::new();
    let output = blocking::run(&server.connector(), "count 3").unwrap().completed().unwrap();
    assert_eq!(output.output, [0, 1, 2].map(Value::from));
    server.until_closed(1);

    let pool = server.open();
    assert!(pool.invoke(PowerShell::script("fail it")).unwrap().completed().unwrap_err().is_pipeline());
    let echo = pool.invoke_with_input(PowerShell::script("echo"), 0..100).unwrap();
    assert_eq!(echo.output, (0..100).map(Value::from).collect::<Vec<_>>());
    let counted: Vec<i32> = pool.invoke_as(PowerShell::script("count 2")).unwrap();
    assert_eq!(counted, [0, 1]);

    let mut pipeline = pool.start_with_input(PowerShell::script("echo")).unwrap();
    for number in 1..=3 {
        pipeline.send(number).unwrap();
        let output = pipeline.find(|event| matches!(event, Ok(PipelineEvent::Output(_))));
        assert_eq!(output.unwrap().unwrap(), PipelineEvent::Output(Value::from(number)));
    }
    pipeline.end_input().unwrap();
    assert!(pipeline.all(|event| event.is_ok()) && pipeline.next().is_none());
    assert_eq!(pipeline.get_ref().state(), PipelineState::Completed);
    assert!(pool.wait(pool.get_ref().set_max_runspaces(2)).unwrap());
    pool.close().unwrap();
    assert_eq!(pool.get_ref().state(), RunspacePoolState::Closed);
    assert!(pool.start(PowerShell::script("count 1")).unwrap_err().is_closed());
}

#[test]
fn another_thread_can_stop_a_pipeline() {
    let server = Server::new();
    let pool = server.open();
    let pipeline = pool.start(PowerShell::script("polite")).unwrap();
    let (other, handle) = (pool.clone(), pipeline.get_ref().handle());
    let stopping = std::thread::spawn(move || other.wait(handle.stop()));
    let output = pipeline.output().unwrap();
    assert_eq!((output.output, output.state), (vec![Value::from("last words")], PipelineState::Stopped));
    stopping.join().unwrap().unwrap();

    let pipeline = pool.start(PowerShell::script("wait")).unwrap();
    pipeline.stop().unwrap();
    assert_eq!(pipeline.output().unwrap().state, PipelineState::Stopped);
}

#[test]
fn dropping_the_last_handle_closes_the_pool() {
    let server = Server::new();
    let pool = server.open();
    let pipeline = pool.start_with_input(PowerShell::script("echo")).unwrap();
    drop(pool);
    pipeline.send(1).unwrap();
    drop(pipeline);
    server.until_closed(1);
}

#[test]
fn a_pool_can_be_dropped_in_async_code_but_not_block() {
    let server = Server::new();
    let pool = server.open();
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { drop(pool) });
    server.until_closed(1);

    let waiting =
        std::thread::spawn(move || runtime.block_on(async { blocking::run(&Child::default(), "1") }));
    let panic = waiting.join().unwrap_err();
    let text = panic.downcast_ref::<&str>().unwrap();
    assert!(text.starts_with("Cannot start a runtime from within a runtime."), "{text}");
}
