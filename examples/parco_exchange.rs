//! A Rust service and a Go service with one schema: messages of a derived type go to a Go program, which decodes and
//! encodes them, and messages that Go made come back.
//!
//! Run it with `cargo run -p examples --example parco_exchange`. It needs Go, whose side is built from
//! `benches/peers/go/parcowire`.
#![allow(clippy::print_stdout, reason = "a program tells what it did")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value as Json, json};
use tightwire_parco::schema::{self, Schema, Value};
use tightwire_parco::{Decode, Encode, WireExt as _};

#[derive(Debug, PartialEq, Encode, Decode)]
struct Reading {
    #[parco(small)]
    station: String,
    #[parco(header = u8, key(small))]
    levels: BTreeMap<String, u16>,
    #[parco(be)]
    sequence: u32,
    note: Option<String>,
}

fn main() -> anyhow::Result<()> {
    println!("Go says: {}", to_go()?);
    println!("{} messages from Go came back as they were", from_go()?);
    Ok(())
}

/// Sends messages to Go and gives its verdict.
pub(crate) fn to_go() -> anyhow::Result<String> {
    // The schema of the type as data is what tells Go how to read the messages.
    let form = schema::of::<Reading>().compile()?;
    let mut lines = format!("{}\n", json!({ "schema": json_of(&form.schema().to_json())? }));
    for sequence in 1..=3 {
        let reading = Reading {
            station: "Zaragoza".into(),
            levels: BTreeMap::from([("Ebro".into(), 240), ("Gállego".into(), 95)]),
            sequence,
            note: (sequence == 2).then(|| "calibrated".into()),
        };
        let bytes = tightwire_parco::to_vec(&reading)?;
        let value = form.value_to_json(&form.decode_exact::<Value>(&bytes)?)?;
        let message = json!({ "schema_index": 0, "value": json_of(&value)?, "hex": hex(&bytes) });
        lines += &format!("{message}\n");
    }
    go(&["verify"], lines)
}

/// Decodes and encodes messages that Go made, and gives their number.
pub(crate) fn from_go() -> anyhow::Result<usize> {
    let (mut forms, mut messages) = (Vec::new(), 0);
    for line in go(&["generate", "7", "20", "100"], String::new())?.lines() {
        let line = json_of(line)?;
        if let Some(schema) = line.get("schema") {
            forms.push(Schema::from_json(&schema.to_string())?.compile()?);
            continue;
        }
        let form = line["schema_index"].as_u64().and_then(|index| forms.get(usize::try_from(index).ok()?));
        let form = form.context("a message of no schema")?;
        let value = form.value_from_json(&line["value"].to_string())?;
        let digits = line["hex"].as_str().context("a message without bytes")?;
        ensure!(hex(&form.to_vec(&value)?) == digits, "other bytes than Go's");
        messages += 1;
    }
    Ok(messages)
}

/// Runs the Go side with an input and gives its output.
fn go(arguments: &[&str], input: String) -> anyhow::Result<String> {
    let mut child = Command::new("go")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/peers/go"))
        .args(["run", "./parcowire/cmd/exchange"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("Go cannot be run")?;
    child.stdin.take().context("no input")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the Go side failed");
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

fn json_of(text: &str) -> anyhow::Result<Json> {
    Ok(serde_json::from_str(text)?)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
