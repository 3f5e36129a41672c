//! The client over a pipe in memory.

#![cfg(feature = "tokio")]

#[path = "support/served.rs"]
mod served;

use psrp::io::{Options, RunspacePool};
use psrp::message::{PipelineState, PowerShell, RunspacePoolState};
use psrp::server;
use psrp::value::Value;
use served::{Ask, pipe, serve, started};

/// Gives each pipeline the text of its script back.
fn echo(machine: &mut server::RunspacePool, ask: Ask) -> bool {
    let Ask::Event(event) = ask else { return false };
    if let Some((id, script)) = started(&event) {
        let mut pipeline = machine.pipeline(id).unwrap();
        pipeline.start().unwrap();
        pipeline.write_output(script.as_str()).unwrap();
        pipeline.complete().unwrap();
    }
    true
}

#[tokio::test]
async fn a_script_is_run() {
    let (near, far) = pipe(64);
    let server = tokio::spawn(serve(far, echo));
    let pool = RunspacePool::over(near, Options::new()).await.unwrap();
    assert_eq!(pool.state(), RunspacePoolState::Opened);
    let output = pool.invoke(PowerShell::script("hello")).await.unwrap();
    assert_eq!(output.output, [Value::from("hello")]);
    assert_eq!(output.state, PipelineState::Completed);
    pool.close().await.unwrap();
    assert_eq!(pool.state(), RunspacePoolState::Closed);
    server.await.unwrap();
}
