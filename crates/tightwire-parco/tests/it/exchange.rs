//! Exchanges messages with an independent Go codec: `benches/peers/go/parcowire`.
//!
//! Needs Go, at least the version in the `go.mod` of that folder. Without it the tests report that they were skipped.
//! The program is built from source into the target folder and communicates over its standard streams.
#![cfg(feature = "schema-json")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use proptest::strategy::{Strategy, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};
use test_support::optional;
use tightwire_parco::WireExt as _;
use tightwire_parco::schema::{Dynamic, Schema, Value};

use crate::{golden, random};

const SCHEMAS: usize = 20;
const MESSAGES: usize = 1000;

/// Builds the Go program, once per test so that tests can run in parallel.
fn command(test: &str) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/peers/go");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("exchange-{test}"));
    optional::go_program(&source, "./parcowire/cmd/exchange", program)
}

/// Runs the program with this input.
fn run(program: &Path, arguments: &[&str], input: String) -> Output {
    optional::output_with_input(Command::new(program).args(arguments), input)
}

/// Lets the program verify lines of messages.
fn verify(program: &Path, lines: String) {
    let output = run(program, &["verify"], lines);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("{MESSAGES} passed, 0 failed\n"),
        "{complaints}"
    );
    assert!(output.status.success());
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn messages_from_go_are_decoded() {
    let Some(program) = command("messages_from_go_are_decoded") else { return };
    for seed in ["1", "2"] {
        let output =
            run(&program, &["generate", seed, &SCHEMAS.to_string(), &MESSAGES.to_string()], String::new());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut types: Vec<Dynamic> = Vec::new();
        let mut answer = String::new();
        let mut messages = 0;
        for line in str::from_utf8(&output.stdout).unwrap().lines() {
            let line: Json = serde_json::from_str(line).unwrap();
            if let Some(schema) = line.get("schema") {
                let schema = Schema::from_json(&schema.to_string()).unwrap();
                answer += &format!("{{\"schema\":{}}}\n", schema.to_json());
                types.push(schema.compile().unwrap());
                continue;
            }
            let index = usize::try_from(line["schema_index"].as_u64().unwrap()).unwrap();
            let (wire, bytes) = (&types[index], golden::hex(&line["hex"]));
            let value: Value = wire.decode_exact(&bytes).unwrap();
            assert_eq!(value, wire.value_from_json(&line["value"].to_string()).unwrap(), "{line}");
            let again = wire.to_vec(&value).unwrap();
            assert_eq!(again, bytes, "{line}");
            let value = wire.value_to_json(&value).unwrap();
            answer +=
                &format!("{{\"schema_index\":{index},\"value\":{value},\"hex\":\"{}\"}}\n", hex(&again));
            messages += 1;
        }
        assert_eq!((types.len(), messages), (SCHEMAS, MESSAGES));
        verify(&program, answer);
    }
}

#[test]
fn messages_to_go_are_accepted() {
    let Some(program) = command("messages_to_go_are_accepted") else { return };
    let mut runner = TestRunner::deterministic();
    let mut lines = String::new();
    for _ in 0..SCHEMAS {
        let schema = random::schema(true).new_tree(&mut runner).unwrap().current();
        let wire = schema.compile().unwrap();
        let schema: Json = serde_json::from_str(&schema.to_json()).unwrap();
        for _ in 0..MESSAGES / SCHEMAS {
            let value = random::value(wire.schema()).new_tree(&mut runner).unwrap().current();
            let bytes = wire.to_vec(&value).unwrap();
            let value: Json = serde_json::from_str(&wire.value_to_json(&value).unwrap()).unwrap();
            lines += &json!({"schema": schema, "value": value, "hex": hex(&bytes)}).to_string();
            lines.push('\n');
        }
    }
    verify(&program, lines);
}
