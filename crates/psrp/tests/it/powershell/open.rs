//! Transports of the real server, and sessions that cannot be opened.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use psrp::io::{Child, Options, OutputRecord, Session, Socket};
use psrp::message::PipelineState;
use psrp::value::Value;
use test_support::optional;

use super::run;

#[tokio::test]
async fn a_socket_connects_to_a_running_process() {
    let Some(engine) = optional::powershell_for_tests() else { return };
    for by_path in [true, false] {
        let path = std::env::temp_dir().join(format!("psrp-powershell-{}", std::process::id()));
        let mut server = Command::new(&engine);
        server.arg("-CustomPipeName").arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = server.spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut ready).unwrap();
        let process = ready.trim().strip_prefix("ready ").unwrap().parse::<i32>().unwrap();
        let socket = match by_path {
            true => Socket::new(&path),
            false => Socket::of_process(process.unsigned_abs()).unwrap(),
        };
        let pool = Session::open(&socket, Options::new()).await.unwrap();
        assert_eq!(run(&pool, "$PID").await.output, [Value::from(process)]);
        pool.close().await.unwrap();
        drop(server.stdin.take());
        server.wait().unwrap();
    }
}

#[tokio::test]
async fn a_script_runs_in_one_call() {
    let Some(engine) = optional::powershell_for_tests() else { return };
    let server = Child::new(&engine).args(["-s", "-NoLogo", "-NoProfile"]);
    let output = psrp::run(&server, "$numbers = 1..3; $numbers").await.unwrap().completed().unwrap();
    assert_eq!(output.output, [1, 2, 3].map(Value::from));
    assert!(!output.had_errors());

    let output = psrp::run(&server, "1; Write-Error 'no'; Write-Warning 'careful'; 2; Write-Error 'again'")
        .await
        .unwrap();
    let order = output.records().map(|record| match record {
        OutputRecord::Output(value) => value.as_i32().unwrap().to_string(),
        OutputRecord::Error(error) => error.message().unwrap().to_string(),
        OutputRecord::Warning(warning) => warning.message.to_string(),
        other => panic!("{other:?}"),
    });
    assert_eq!(order.collect::<Vec<_>>(), ["1", "no", "careful", "2", "again"]);
    assert!(output.had_errors() && output.state == PipelineState::Completed);

    let output = psrp::run(&server, "[ordered]@{ Name = 'sshd'; Count = 7 }").await.unwrap();
    assert_eq!(output.output[0]["name"], "sshd");
    assert_eq!(output.output[0]["Count"].as_i32(), Some(7));
}

#[tokio::test]
async fn a_failed_startup_script_is_reported() {
    const FAILS: &str = "throw 'startup says no'";

    let Some(engine) = optional::powershell_for_tests() else { return };
    let server = Child::new(&engine).args(["-s", "-InitialCommand", FAILS]);
    let error = Session::open(&server, Options::new()).await.unwrap_err();
    assert!(error.is_closed() && error.to_string().contains("startup says no"), "{error}");
}
