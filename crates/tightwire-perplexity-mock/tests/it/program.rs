//! The command-line program.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_perplexity-mock"))
}

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("the program runs")
}

/// Kills the program when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // The program may have exited already; the test reports that.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn serves_and_prints_requests() {
    let child = program().args(["--port", "0", "--no-auth"]).stdout(Stdio::piped()).spawn();
    let mut running = Running(child.expect("the program starts"));
    let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let address = first.strip_prefix("listening on http://").expect(&first);

    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /v1/models HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert_eq!(lines.next().unwrap().unwrap(), "GET /v1/models");
}

#[test]
fn help_is_printed_on_request() {
    for flag in ["-h", "--help"] {
        let output = run(&[flag]);
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains("usage: perplexity-mock"));
    }
}

#[test]
fn invalid_arguments_are_errors() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    for (arguments, message) in [
        (&["--verbose"][..], "invalid option '--verbose'"),
        (&["--port", "x"], "perplexity-mock: "),
        (&["--host", "nowhere"], "perplexity-mock: "),
        (&["--scenario", "no/such/file"], "cannot read the scenario: "),
        (&["--scenario", scenario], "scenario, line "),
    ] {
        let output = run(arguments);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && printed.contains(message), "{printed}");
    }
}
