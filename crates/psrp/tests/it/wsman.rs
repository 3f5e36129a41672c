//! The client with a WS-Management service in Python, which pypsrp's client is also compatible with.
//!
//! `PSRP_PYTHON` names a Python interpreter with the packages of `peers/requirements.txt`. Without it the tests are
//! skipped with a message and pass.

#![cfg(feature = "wsman")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use psrp::client::{Config, PipelineEvent};
use psrp::io::{Options, Session, Wsman, WsmanCredentials, WsmanFault};
use psrp::message::{PipelineState, PowerShell, RunspacePoolState};
use psrp::value::Value;
use uuid::Uuid;

use crate::live_client::{check_session, typing_host};
use crate::peers::python;

const USER: &str = "user";
const PASSWORD: &str = "correct horse";

/// A running service, stopped on drop.
struct Service {
    child: Child,
    port: u16,
}

impl Service {
    /// Starts the service. Returns `None` if the test is skipped.
    fn start(arguments: &[&str]) -> Option<Self> {
        let mut child = python("wsman.py")?
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service can be started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("PORT ").expect("a port").parse().unwrap();
        Some(Self { child, port })
    }

    fn basic(&self) -> Wsman {
        self.wsman(WsmanCredentials::basic(USER, PASSWORD)).danger_allow_basic_without_tls()
    }

    fn wsman(&self, credentials: WsmanCredentials) -> Wsman {
        Wsman::http("127.0.0.1", credentials).port(self.port).operation_timeout(Duration::from_secs(2))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It serves until its input ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

async fn run(pool: &Session, text: &str) -> Vec<Value> {
    pool.invoke(PowerShell::script(text)).await.unwrap().completed().unwrap().output
}

async fn numbers(pool: &Session, text: &str) -> Vec<i32> {
    run(pool, text).await.iter().map(|value| value.as_i32().unwrap()).collect()
}

#[test]
fn the_service_is_compatible_with_pypsrp() {
    for method in ["basic", "negotiate"] {
        let Some(service) = Service::start(&["--auth", method]) else { return };
        let output =
            python("wsman_check.py").unwrap().args([&service.port.to_string(), method]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "agreed");
    }
}

#[tokio::test]
async fn pools_open_run_and_close() {
    let Some(service) = Service::start(&[]) else { return };
    let host = typing_host();
    let options = Options::new().host(Arc::clone(&host) as _);
    let pool = Session::open(&service.basic(), options).await.unwrap();
    check_session(&pool, &host).await;
    let shells = service.basic().shells().await.unwrap();
    assert_eq!(shells.len(), 1);
    assert_eq!((shells[0].id, shells[0].state.as_deref()), (pool.id(), Some("Connected")));
    assert!(shells[0].is_power_shell());
    pool.close().await.unwrap();
    assert_eq!(service.basic().shells().await.unwrap(), []);
}

#[tokio::test]
async fn input_and_large_objects_span_many_envelopes() {
    let Some(service) = Service::start(&[]) else { return };
    let pool = Session::open(&service.basic(), Options::new()).await.unwrap();
    let input = ["y".repeat(5_000_000)];
    let output = pool.invoke_with_input(PowerShell::script("Measure-Input"), input).await.unwrap();
    assert_eq!(output.output, [Value::from(5_000_000)]);
    let output = run(&pool, "New-Text 5000000").await;
    assert_eq!(output, [Value::from("x".repeat(5_000_000))]);
    // The script itself is longer than an envelope.
    let long = format!("Write-Output {}", "z".repeat(400_000));
    assert_eq!(run(&pool, &long).await, [Value::from("z".repeat(400_000))]);
    pool.close().await.unwrap();
}

#[tokio::test]
async fn small_envelopes_work() {
    let Some(service) = Service::start(&["--envelope", "50000"]) else { return };
    let wsman = service.basic().max_envelope_size(12_000);
    let pool = Session::open(&wsman, Options::new()).await.unwrap();
    let long = format!("Write-Output {}", "z".repeat(50_000));
    assert_eq!(run(&pool, &long).await, [Value::from("z".repeat(50_000))]);
    pool.close().await.unwrap();
}

#[tokio::test]
async fn a_pool_continues_while_its_client_is_disconnected() {
    let Some(service) = Service::start(&[]) else { return };
    let pool = Session::open(&service.basic(), Options::new()).await.unwrap();
    let pipeline = pool.start(PowerShell::script("Start-Sleep 1; Write-Output after")).await.unwrap();
    pool.disconnect().await.unwrap();
    assert_eq!(pool.state(), RunspacePoolState::Disconnected);
    assert_eq!(service.basic().shells().await.unwrap()[0].state.as_deref(), Some("Disconnected"));
    tokio::time::sleep(Duration::from_millis(1200)).await;
    pool.reconnect().await.unwrap();
    assert_eq!(pipeline.output().await.unwrap().output, [Value::from("after")]);
    // Again, with a pipeline that starts afterwards.
    pool.disconnect().await.unwrap();
    pool.reconnect().await.unwrap();
    assert_eq!(numbers(&pool, "1..3").await, [1, 2, 3]);
    pool.close().await.unwrap();
}

#[tokio::test]
async fn another_client_can_connect_to_a_pool() {
    let Some(service) = Service::start(&[]) else { return };
    let first = Session::open(&service.basic(), Options::new()).await.unwrap();
    let pool_id = first.id();
    let options = || Options::new().config(Config::new().pool_id(pool_id));
    // The service rejects a second client.
    let error = Session::connect(&service.basic(), options()).await.unwrap_err();
    assert!(error.to_string().contains("has a client already"), "{error}");
    let started = first.start(PowerShell::script("Write-Output after; 1..3")).await.unwrap();
    let pipeline_id = started.id();
    // The first client leaves the output to the second one.
    first.disconnect().await.unwrap();
    first.close().await.unwrap();

    assert_eq!(service.basic().pipelines(pool_id).await.unwrap(), [pipeline_id]);
    let second = Session::connect(&service.basic(), options()).await.unwrap();
    let mut pipeline = second.connect_pipeline(pipeline_id).unwrap();
    let mut output = Vec::new();
    while let Some(event) = pipeline.next().await {
        if let PipelineEvent::Output(value) = event.unwrap() {
            output.push(value);
        }
    }
    assert_eq!(output, ["after".into(), 1.into(), 2.into(), 3.into()].map(|value: Value| value));
    assert_eq!(numbers(&second, "1..3").await, [1, 2, 3]);
    // Connecting to a missing pipeline fails only that pipeline.
    let missing = second.connect_pipeline(Uuid::from_u128(7)).unwrap().output().await.unwrap();
    assert_eq!(missing.state, PipelineState::Failed);
    second.close().await.unwrap();
}

#[tokio::test]
async fn rejections_have_a_reason() {
    let Some(service) = Service::start(&[]) else { return };
    let wrong = service.wsman(WsmanCredentials::basic(USER, "wrong")).danger_allow_basic_without_tls();
    let error = wrong.shells().await.unwrap_err();
    assert!(error.is_denied() && !error.to_string().contains("wrong"), "{error}");
    let error = Session::open(&wrong, Options::new()).await.unwrap_err();
    assert!(error.to_string().contains("rejected the credentials"), "{error}");

    let missing = service.basic().configuration("Missing");
    let error = Session::open(&missing, Options::new()).await.unwrap_err();
    assert!(error.to_string().contains("Cannot find the session configuration"), "{error}");
    let error = service.basic().path("other").shells().await.unwrap_err();
    assert!(error.is_refused() && error.to_string().contains("404"), "{error}");
    let options = Options::new().config(Config::new().pool_id(Uuid::from_u128(1)));
    let error = Session::connect(&service.basic(), options).await.unwrap_err();
    let mut source: &dyn std::error::Error = &error;
    while let Some(cause) = source.source() {
        source = cause;
    }
    let fault: &WsmanFault = source.downcast_ref().unwrap();
    assert_eq!((fault.code(), fault.subcode()), (Some(0x8033_805B), Some("InvalidSelectors")));
}

#[cfg(feature = "negotiate")]
#[tokio::test]
async fn ntlm_authenticates_and_encrypts() {
    let Some(service) = Service::start(&["--auth", "negotiate"]) else { return };
    for credentials in [
        WsmanCredentials::kerberos_or_ntlm("EXAMPLE\\user", PASSWORD),
        WsmanCredentials::ntlm("EXAMPLE\\user", PASSWORD),
    ] {
        let wsman = service.wsman(credentials).operation_timeout(Duration::from_millis(500));
        let pool = Session::open(&wsman, Options::new()).await.unwrap();
        assert_eq!(numbers(&pool, "1..1000").await, (1..=1000).collect::<Vec<_>>());
        // Several connections at once, with many messages on each.
        let pipelines = [1, 2, 3].map(|_| pool.invoke(PowerShell::script("Start-Sleep 1; New-Text 200000")));
        for output in futures_util::future::join_all(pipelines).await {
            assert_eq!(output.unwrap().output, [Value::from("x".repeat(200_000))]);
        }
        pool.close().await.unwrap();
    }
    let wrong = service.wsman(WsmanCredentials::ntlm("EXAMPLE\\user", "wrong"));
    assert!(wrong.shells().await.unwrap_err().is_denied());
    let error =
        service.wsman(WsmanCredentials::kerberos("user@EXAMPLE.ORG", PASSWORD)).shells().await.unwrap_err();
    assert!(error.is_denied(), "{error}");
}

#[cfg(feature = "negotiate")]
#[tokio::test]
async fn ntlm_is_bound_to_the_certificate_over_tls() {
    let authority = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (certificate, key) = (directory.join("wsman-certificate.pem"), directory.join("wsman-key.pem"));
    std::fs::write(&certificate, authority.cert.pem()).unwrap();
    std::fs::write(&key, authority.signing_key.serialize_pem()).unwrap();
    let other = directory.join("wsman-other.pem");
    std::fs::write(&other, rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap().cert.pem())
        .unwrap();
    // The service rejects a login that is bound to another certificate.
    for (binding, is_bound) in [(&certificate, true), (&other, false)] {
        let paths = [&certificate, &key, binding].map(|path| path.to_str().unwrap());
        let arguments = ["--auth", "negotiate", "--tls", paths[0], paths[1], "--binding", paths[2]];
        let Some(service) = Service::start(&arguments) else { return };
        let wsman = Wsman::https("127.0.0.1", WsmanCredentials::ntlm("EXAMPLE\\user", PASSWORD))
            .port(service.port)
            .operation_timeout(Duration::from_secs(2))
            .trusted_certificates(authority.cert.pem());
        if !is_bound {
            assert!(wsman.shells().await.unwrap_err().is_denied());
            continue;
        }
        let pool = Session::open(&wsman, Options::new()).await.unwrap();
        assert_eq!(numbers(&pool, "1..3").await, [1, 2, 3]);
        pool.close().await.unwrap();
    }
}
