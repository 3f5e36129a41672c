//! Interoperability with psrpcore, pypsrp and go-psrpcore: each decodes our documents, and we decode theirs.
//!
//! `PSRP_PYTHON` names a Python interpreter with the packages of `peers/requirements.txt`; the Go program is built from
//! `benches/peers/go`. Without these the tests are skipped with a message and pass. `peers/README.md` lists the defects
//! of peers, which are left out.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use psrp::Value;
use psrp::clixml;
use test_support::optional;

use crate::support;

/// Number of values in each direction.
const VALUES: usize = 2_000;

/// Returns the command of a Python peer, or `None` if the test is skipped.
pub(crate) fn python(script: &str) -> Option<Command> {
    let python = optional::variable("PSRP_PYTHON")?;
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(script));
    command.env("PYTHONIOENCODING", "utf-8").env("PYTHONDONTWRITEBYTECODE", "1");
    Some(command)
}

/// Command of the Go peer, built first.
fn go() -> Option<Command> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exchange-psrp");
    let go = |arguments: &[&str]| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/peers/go");
        Command::new("go").current_dir(source).env("GOTOOLCHAIN", "local").args(arguments).output()
    };
    // A missing Go toolchain is no failure, but a failing build is.
    match go(&["mod", "download", "github.com/smnsjas/go-psrpcore", "github.com/google/uuid"]) {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            optional::skip(&format!("go mod download: {}", String::from_utf8_lossy(&output.stderr)));
            return None;
        }
        Err(error) => {
            optional::skip(&format!("go cannot be run: {error}"));
            return None;
        }
    }
    let built = go(&["build", "-o", program.to_str().unwrap(), "./psrp/cmd/exchange"]).unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(Command::new(program))
}

fn run(peer: fn() -> Option<Command>, mode: &str, seed: u32, input: String) -> Option<String> {
    let mut child = peer()?
        .args([mode, &VALUES.to_string(), &seed.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the peer can be started");
    let mut stdin = child.stdin.take().unwrap();
    // It responds while it is written to.
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&stderr);
    writer.join().unwrap().expect(&complaint);
    assert!(status.success(), "{complaint}");
    Some(String::from_utf8(stdout).unwrap())
}

/// Lets `peer` write values and compares them after decoding, then lets it check our encoding of the same values.
/// `adjust` converts a tree to a value that the peer supports.
fn exchange(peer: fn() -> Option<Command>, seed: u32, adjust: fn(&mut serde_json::Value)) {
    let Some(written) = run(peer, "write", seed, String::new()) else { return };
    let mut answer = String::new();
    let mut count = 0;
    for line in written.lines() {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        let xml = line["xml"].as_str().unwrap();
        let found = clixml::from_slice(xml.as_bytes()).unwrap_or_else(|error| panic!("{error}: {xml}"));
        assert_eq!(found, value(&line["value"]), "{xml}");
        adjust(&mut line["value"]);
        let document = clixml::to_vec(&value(&line["value"])).unwrap();
        answer += str::from_utf8(&document).unwrap();
        answer.push('\n');
        count += 1;
    }
    assert_eq!(count, VALUES);
    let documents: Vec<&str> = answer.lines().collect();
    assert_eq!(documents.len(), VALUES, "a document is one line");
    let verdicts = run(peer, "check", seed, answer.clone()).expect("it was there before");
    let verdicts: Vec<&str> = verdicts.lines().collect();
    assert_eq!(verdicts.len(), VALUES);
    for (verdict, document) in verdicts.iter().zip(documents) {
        assert_eq!(*verdict, "ok", "{document}");
    }
}

fn value(tree: &serde_json::Value) -> Value {
    support::vectors::value(tree)
}

#[test]
fn psrpcore() {
    exchange(|| python("psrpcore_peer.py"), 1, |_| ());
}

#[test]
fn pypsrp() {
    // pypsrp gives lists the type names of arrays, which it does not read as lists.
    fn plain(tree: &mut serde_json::Value) {
        match tree {
            serde_json::Value::Object(members) => {
                if members.get("type").is_some_and(|kind| kind == "LST") {
                    members.remove("typeNames");
                }
                members.values_mut().for_each(plain);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(plain),
            _ => {}
        }
    }
    exchange(|| python("pypsrp_peer.py"), 2, plain);
}

#[test]
fn go_psrpcore() {
    exchange(go, 3, |_| ());
}
