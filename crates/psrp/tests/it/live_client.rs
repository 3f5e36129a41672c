//! The client with a psrpcore server as a child process.
//!
//! `PSRP_PYTHON` names a Python interpreter with the packages of `peers/requirements.txt`. Without it the tests are
//! skipped with a message and pass.

#![cfg(feature = "tokio")]

use std::path::Path;
use std::sync::Arc;

use psrp::client::PipelineEvent;
use psrp::host::{HostMethod, HostResult};
use psrp::io::{Child, Options, PoolEvent, RunspacePool, ScriptedHost};
use psrp::message::{
    Command, CreatePipeline, GetCommandMetadata, PipelineState, PowerShell, RunspacePoolState,
};
use psrp::record::CommandTypes;
use psrp::value::Value;
use psrp::{Error, clixml};
use test_support::optional;

/// The fake PowerShell; `None` if it is skipped.
fn pwsh() -> Option<Child> {
    let python = optional::variable("PSRP_PYTHON")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/pwsh.py");
    Some(Child::new(python).arg(script).env("PYTHONIOENCODING", "utf-8").env("PYTHONDONTWRITEBYTECODE", "1"))
}

async fn open(options: Options) -> Option<RunspacePool> {
    Some(RunspacePool::open(&pwsh()?, options).await.unwrap())
}

fn script(text: &str) -> PowerShell {
    PowerShell::script(text)
}

#[tokio::test]
async fn values_of_every_type_survive_the_server() {
    let Some(pool) = open(Options::new()).await else { return };
    let elements = [
        "<Nil />",
        "<B>true</B>",
        "<C>65</C>",
        "<By>255</By>",
        "<SB>-128</SB>",
        "<I16>-32768</I16>",
        "<U16>65535</U16>",
        "<I32>-2147483648</I32>",
        "<U32>4294967295</U32>",
        "<I64>-9223372036854775808</I64>",
        "<U64>18446744073709551615</U64>",
        "<Sg>1.5</Sg>",
        "<Db>2.5E-300</Db>",
        "<D>79228162514264337593543950335</D>",
        "<S>text_x000A_ &lt;&#228;&gt; \u{1F600}</S>",
        "<URI>https://example.org/</URI>",
        "<XD>&lt;a /&gt;</XD>",
        "<SBK>1 + 1</SBK>",
        "<G>792e5b37-4505-47ef-b7d2-8711bb7affa8</G>",
        "<Version>1.2.3.4</Version>",
        "<DT>2026-11-22T08:00:00.1234567Z</DT>",
        "<TS>P1DT2H3M4.5S</TS>",
        "<BA>AQIDBA==</BA>",
        "<Obj RefId=\"0\"><TN RefId=\"0\"><T>System.Object[]</T><T>System.Array</T><T>System.Object</T></TN>\
         <LST><I32>1</I32><S>two</S></LST></Obj>",
        "<Obj RefId=\"0\"><TN RefId=\"0\"><T>System.Collections.Hashtable</T><T>System.Object</T></TN>\
         <DCT><En><S N=\"Key\">a</S><I32 N=\"Value\">1</I32></En></DCT></Obj>",
        "<Obj RefId=\"0\"><TN RefId=\"0\">\
         <T>System.Management.Automation.PSCustomObject</T><T>System.Object</T></TN>\
         <MS><S N=\"Name\">sshd</S><I32 N=\"Id\">7</I32></MS></Obj>",
    ];
    let values: Vec<Value> = elements
        .iter()
        .map(|element| {
            clixml::from_slice(element.as_bytes()).unwrap_or_else(|error| panic!("{error}: {element}"))
        })
        .collect();
    let output = pool.invoke_with_input(script("$input"), values.clone()).await.unwrap();
    assert_eq!(output.state, PipelineState::Completed, "{:?}", output.reason);
    assert_eq!(output.output.len(), values.len());
    for (found, sent) in output.output.iter().zip(&values) {
        // Deserialized objects have prefixed type names, as from the real server.
        let found = String::from_utf8(clixml::to_vec(found).unwrap()).unwrap().replace("Deserialized.", "");
        assert_eq!(clixml::from_slice(found.as_bytes()).unwrap(), *sent);
    }
    pool.close().await.unwrap();
}

/// A host for [`check_session`].
pub(crate) fn typing_host() -> Arc<ScriptedHost> {
    let typed = HostResult::Text("typed".into());
    Arc::new(ScriptedHost::new().answer(HostMethod::ReadLine, typed))
}

/// Checks streams, host calls, input, concurrent pipelines, stops and many objects with a fake PowerShell.
pub(crate) async fn check_session(pool: &RunspacePool, host: &ScriptedHost) {
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

#[cfg(feature = "crypto")]
#[tokio::test]
async fn secure_strings_are_transferred_in_both_directions() {
    use psrp::value::SecureString;

    let hidden = HostResult::Secure(SecureString::new("hidden"));
    let host = ScriptedHost::new().answer(HostMethod::ReadLineAsSecureString, hidden);
    let Some(pool) = open(Options::new().host(Arc::new(host))).await else { return };
    let reveal = |value: &Value| match value {
        Value::SecureString(text) => text.reveal().unwrap().to_string(),
        other => panic!("{other:?}"),
    };
    // The host's response triggers the key exchange.
    let output = pool.invoke(script("Read-Host -AsSecureString")).await.unwrap();
    assert_eq!(reveal(&output.output[0]), "hidden");
    let input = [SecureString::new("\u{e9}\u{1F511}")];
    let output = pool.invoke_with_input(script("$input"), input).await.unwrap();
    assert_eq!(reveal(&output.output[0]), "\u{e9}\u{1F511}");
    pool.close().await.unwrap();
}

#[tokio::test]
async fn pool_requests_and_events_work() {
    let Some(pool) = open(Options::new()).await else { return };
    assert!(pool.set_max_runspaces(3).await.unwrap());
    assert!(pool.set_min_runspaces(2).await.unwrap());
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (2, 3));
    assert_eq!(pool.get_available_runspaces().await.unwrap(), 3);
    assert!(pool.reset_runspace_state().await.unwrap());
    let data = pool.application_private_data().unwrap();
    assert_eq!(data.data.unwrap().get("stand-in"), Some(&Value::from(true)));

    let commands =
        pool.get_command_metadata(GetCommandMetadata::new(["write-*", "read-host"])).await.unwrap();
    let names: Vec<_> = commands.iter().map(|command| command.name.to_string()).collect();
    assert_eq!(names, ["Read-Host", "Write-Error", "Write-Host", "Write-Output", "Write-Warning"]);
    assert_eq!(commands[0].command_type, CommandTypes::CMDLET);
    assert_eq!(commands[0].parameters[0].name, "Text");
    assert!(pool.get_command_metadata(GetCommandMetadata::new(["no-*"])).await.unwrap().is_empty());

    let mut events = pool.events();
    let mut nested = CreatePipeline::new(script("New-Event Changed; 1..2"));
    nested.is_nested = true;
    assert_eq!(pool.invoke(nested).await.unwrap().output, [Value::from(1), Value::from(2)]);
    let Some(PoolEvent::User(event)) = events.next().await else { panic!() };
    assert_eq!(event.source_identifier.unwrap(), "Changed");
    assert_eq!(event.message_data, Value::from("what was added"));
    pool.close().await.unwrap();
}

#[tokio::test]
async fn large_objects_are_received() {
    let Some(pool) = open(Options::new()).await else { return };
    let output = pool.invoke(script("Get-Text 5000000")).await.unwrap();
    assert_eq!(output.output, [Value::from("x".repeat(5_000_000))]);
    let text = "y".repeat(5_000_000);
    let output = pool.invoke_with_input(script("$input"), [text.as_str()]).await.unwrap();
    assert_eq!(output.output, [Value::from(text.as_str())]);
    pool.close().await.unwrap();
}

/// Returns the error of a pipeline whose script ends the session.
async fn fatal(text: &str) -> Option<Error> {
    let pool = open(Options::new()).await?;
    let mut run = pool.start(script(text)).await.unwrap();
    let waiting = pool.start(script("Start-Sleep 600")).await.unwrap();
    let error = loop {
        match run.next().await.unwrap() {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(run.next().await.is_none());
    assert!(waiting.output().await.unwrap_err().is_closed());
    assert_eq!(pool.state(), RunspacePoolState::Broken);
    assert!(pool.close().await.unwrap_err().is_closed());
    Some(error)
}

#[tokio::test]
async fn a_dead_server_is_reported() {
    let text = "Write-Output a; Start-Sleep 0.2; Write-StdErr the \u{1b}disk is full; exit 3";
    let Some(error) = fatal(text).await else { return };
    assert!(error.is_closed());
    let text = error.to_string();
    assert!(text.contains("exit status: 3") && text.contains("the \\u{1b}disk is full"), "{text}");
}

#[tokio::test]
async fn garbage_from_the_server_is_reported() {
    // A line that is not a packet is skipped as a login banner.
    let Some(pool) = open(Options::new()).await else { return };
    assert_eq!(pool.invoke(script("Write-Raw welcome; 1..2")).await.unwrap().output.len(), 2);
    pool.close().await.unwrap();

    let Some(error) = fatal("Start-Sleep 0.2; Write-Raw <Data>garbage</Data>; Start-Sleep 600").await else {
        return;
    };
    assert!(error.is_closed(), "{error}");
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.downcast_ref::<Error>().unwrap().is_invalid_header(), "{source}");
}

#[tokio::test]
async fn a_program_that_is_not_a_server_is_reported() {
    let error = RunspacePool::open(&Child::new("/nonexistent/pwsh"), Options::new()).await.unwrap_err();
    assert!(error.is_io(), "{error}");
    assert_eq!(error.to_string(), "reading or writing failed: can't start /nonexistent/pwsh");
    // It exits immediately.
    let Some(pwsh) = pwsh() else { return };
    let pwsh = pwsh.env("PYTHONHOME", "/nonexistent");
    let error = RunspacePool::open(&pwsh, Options::new()).await.unwrap_err();
    assert!(error.is_closed(), "{error}");
    assert!(error.to_string().contains("the process has ended (exit status: 1)"), "{error}");
}
