//! The client with a psrpcore server as a child process.
//!
//! `PSRP_PYTHON` names a Python interpreter with the packages of `peers/requirements.txt`. Without it the tests are
//! skipped with a message and pass.

#![cfg(feature = "tokio")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use psrp::client::PipelineEvent;
use psrp::host::{HostMethod, HostResult};
use psrp::io::{Child, Options, ScriptedHost, Session};
use psrp::message::{Command, PipelineState, PowerShell, RunspacePoolState};
use psrp::value::Value;
use test_support::optional;

/// Returns the fake PowerShell, or `None` if the test is skipped.
fn pwsh() -> Option<Child> {
    let python = optional::variable("PSRP_PYTHON")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/pwsh.py");
    Some(Child::new(python).arg(script).env("PYTHONIOENCODING", "utf-8").env("PYTHONDONTWRITEBYTECODE", "1"))
}

async fn open(options: Options) -> Option<Session> {
    Some(Session::open(&pwsh()?, options).await.unwrap())
}

fn script(text: &str) -> PowerShell {
    PowerShell::script(text)
}

/// A host for [`check_session`].
pub(crate) fn typing_host() -> Arc<ScriptedHost> {
    let typed = HostResult::Text("typed".into());
    Arc::new(ScriptedHost::new().answer(HostMethod::ReadLine, typed))
}

/// Checks streams, host calls, input, concurrent pipelines, stops and many objects with a fake PowerShell.
pub(crate) async fn check_session(pool: &Session, host: &ScriptedHost) {
    let text = "Write-Output a; Write-Error b; Write-Warning c; Write-Verbose d; Write-Debug e; \
                Write-Information f; Write-Progress g; throw h";
    let output = pool.invoke(script(text)).await.unwrap();
    assert_eq!(output.output, [Value::from("a")]);
    assert_eq!(output.errors[0].message().unwrap(), "b");
    assert_eq!(output.warnings[0].message, "c");
    assert_eq!(output.verbose[0].message, "d");
    assert_eq!(output.debug[0].message, "e");
    assert_eq!(output.information[0].message().unwrap(), "f");
    assert_eq!(output.progress[0].activity, "g");
    assert_eq!(output.state, PipelineState::Failed);
    assert_eq!(output.reason.unwrap().message().unwrap(), "h");

    let output = pool.invoke(script("Write-Host one; Read-Host; Write-Host two")).await.unwrap();
    assert_eq!(output.output, [Value::from("typed")]);
    assert_eq!(host.written(), "one\ntwo\n");
    assert!(host.calls().iter().all(|call| call.pipeline.is_some()));

    // Each of two pipelines can only end after the other has started.
    let mut first = pool.start(script("Write-Output a; Start-Sleep 600")).await.unwrap();
    let second = pool.invoke_with_input(script("$input"), 0..100).await.unwrap();
    assert_eq!(second.output, (0..100).map(Value::from).collect::<Vec<_>>());
    while first.next().await.unwrap().unwrap() != PipelineEvent::Output("a".into()) {}
    first.stop().await.unwrap();
    let stopped = first.output().await.unwrap();
    assert_eq!((stopped.state, stopped.output.len()), (PipelineState::Stopped, 0));
    // A dropped pipeline is removed soon, and the pool continues.
    drop(pool.start(script("Start-Sleep 600")).await.unwrap());
    let output = pool.invoke(script("1..10000")).await.unwrap();
    assert_eq!(output.output, (1..=10_000).map(Value::from).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_session_runs() {
    let host = typing_host();
    let Some(pool) = open(Options::new().host(Arc::clone(&host) as _)).await else { return };
    check_session(&pool, &host).await;
    let command = Command::new("Get-Item").parameter("Path", "/srv").switch("Force").argument(3);
    let output = pool.invoke(PowerShell::new().command(command)).await.unwrap();
    assert_eq!(output.state, PipelineState::Completed);
    assert_eq!(output.output[0].entries().unwrap()[0].1, Value::from("Get-Item"));
    // Closing stops running pipelines.
    let _running = pool.start(script("Start-Sleep 600")).await.unwrap();
    assert_eq!(pool.get_available_runspaces().await.unwrap(), 1);
    pool.close().await.unwrap();
    assert_eq!(pool.state(), RunspacePoolState::Closed);
}

#[tokio::test]
async fn a_dead_server_is_reported() {
    let text = "Write-Output a; Start-Sleep 0.2; Write-StdErr the \u{1b}disk is full; exit 3";
    let Some(pool) = open(Options::new()).await else { return };
    let mut run = pool.start(script(text)).await.unwrap();
    let waiting = pool.start(script("Start-Sleep 600")).await.unwrap();
    let error = loop {
        if let Err(error) = run.next().await.unwrap() {
            break error;
        }
    };
    assert!(run.next().await.is_none());
    assert!(waiting.output().await.unwrap_err().is_closed());
    assert_eq!(pool.state(), RunspacePoolState::Broken);
    assert!(pool.close().await.unwrap_err().is_closed());
    assert!(error.is_closed());
    let text = error.to_string();
    assert!(text.contains("exit status: 3") && text.contains("the \\u{1b}disk is full"), "{text}");
}

#[tokio::test]
async fn standard_error_of_the_process_is_captured() {
    let Some(pwsh) = pwsh() else { return };
    let heard = Arc::new(Mutex::new(String::new()));
    let pwsh = pwsh.on_stderr({
        let heard = Arc::clone(&heard);
        move |text| heard.lock().unwrap().push_str(text)
    });
    let pool = Session::open(&pwsh, Options::new()).await.unwrap();
    pool.invoke(script("Write-StdErr \u{e9}t\u{e9}")).await.unwrap();
    while *heard.lock().unwrap() != "\u{e9}t\u{e9}\n" {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    pool.close().await.unwrap();
}

#[tokio::test]
async fn a_program_that_is_not_a_server_is_reported() {
    let error = Session::open(&Child::new("/nonexistent/pwsh"), Options::new()).await.unwrap_err();
    assert!(error.is_io(), "{error}");
    assert_eq!(error.to_string(), "reading or writing failed: can't start /nonexistent/pwsh");
    let exits = Child::new("sh").args(["-c", "exit 1"]);
    let error = Session::open(&exits, Options::new()).await.unwrap_err();
    assert!(error.is_closed(), "{error}");
    assert!(error.to_string().contains("the process has ended (exit status: 1)"), "{error}");
}
