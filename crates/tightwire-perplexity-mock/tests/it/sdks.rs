//! The official SDKs in other languages, against an in-process server.
//!
//! `PERPLEXITY_PYTHON` names a Python interpreter that has what `sdk/python/requirements.txt` lists,
//! `PERPLEXITY_NODE_MODULES` a directory with what `sdk/node/package.json` lists. A test whose variable is not set says
//! so and passes.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use tightwire_perplexity_mock::{Config, Mock, Scenario};

/// The value of a variable, or a line that is seen in spite of the captured output.
fn variable(name: &str) -> Option<OsString> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    if value.is_none() {
        writeln!(io::stderr(), "skipped: {name} is not set").expect("standard error can be written");
    }
    value
}

/// Runs a driver and expects that it passed some checks and failed none.
fn drive(mut command: Command, script: &str) {
    let mock = Mock::start_blocking(Scenario::default(), Config::default()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk").join(script);
    // A proxy of the environment is no way to this machine.
    let output = command
        .arg(script)
        .arg(mock.url())
        .env("NO_PROXY", "127.0.0.1")
        .env("no_proxy", "127.0.0.1")
        .output()
        .expect("the interpreter can be started");
    let printed = String::from_utf8_lossy(&output.stdout);
    let reason = format!("{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{reason}");
    let summary = printed.lines().last().unwrap_or_default();
    let (passed, failed) = summary.split_once(" passed, ").expect(&reason);
    assert!(passed.parse::<u32>().unwrap() > 0 && failed == "0 failed", "{reason}");
    assert!(mock.request_count() > 0);
}

#[test]
fn the_python_sdk_works() {
    let Some(python) = variable("PERPLEXITY_PYTHON") else { return };
    drive(Command::new(python), "python/drive.py");
}

#[test]
fn the_node_sdk_works() {
    let Some(modules) = variable("PERPLEXITY_NODE_MODULES") else { return };
    let mut command = Command::new("node");
    command.env("PERPLEXITY_NODE_MODULES", PathBuf::from(modules));
    drive(command, "node/drive.mjs");
}
