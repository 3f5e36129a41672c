//! Tests of the official SDKs in other languages against an in-process server.
//!
//! `PERPLEXITY_PYTHON` is a Python interpreter with the packages of `sdk/python/requirements.txt`,
//! `PERPLEXITY_NODE_MODULES` a directory with the packages of `sdk/node/package.json`. A test whose variable
//! is unset prints a message and passes.

use std::path::{Path, PathBuf};
use std::process::Command;

use test_support::optional::variable;
use tightwire_perplexity_mock::{Config, Mock, Scenario};

/// Runs a driver, and expects at least one passed check and no failed one.
fn drive(mut command: Command, script: &str) {
    let mock = Mock::start_blocking(Scenario::default().chat(true), Config::default()).unwrap();
    let without_chat = Mock::start_blocking(Scenario::api(), Config::default()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk").join(script);
    // Bypass proxies of the environment, which cannot reach the loopback interface.
    let output = command
        .arg(script)
        .args([mock.url(), without_chat.url()])
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
fn python_sdk_works() {
    let Some(python) = variable("PERPLEXITY_PYTHON") else { return };
    drive(Command::new(python), "python/drive.py");
}

/// The description of the SDK, with which `tightwire-perplexity` is compared, is that of the installed version.
#[test]
fn python_sdk_is_the_recorded_one() {
    let Some(python) = variable("PERPLEXITY_PYTHON") else { return };
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tightwire-perplexity/tests/data");
    let output = Command::new(python).arg(data.join("sdk_surface.py")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let recorded = std::fs::read(data.join("perplexity-sdk.json")).unwrap();
    assert!(output.stdout == recorded, "write the output of sdk_surface.py to perplexity-sdk.json");
}

#[test]
fn node_sdk_works() {
    let Some(modules) = variable("PERPLEXITY_NODE_MODULES") else { return };
    let mut command = Command::new("node");
    command.env("PERPLEXITY_NODE_MODULES", PathBuf::from(modules));
    drive(command, "node/drive.mjs");
}
