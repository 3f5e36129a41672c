//! Rows of the suite `json` for crates that enable features of serde_json: canonical output (`float_roundtrip`) and raw
//! values (`raw_value`). Runs as a resident program.

use std::hint::black_box;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use benches::{Impl, Suite};
use json_peers::payload;
use serde_json::value::RawValue;

benches::counting_allocator!();

fn main() -> ExitCode {
    benches::main("json", ".", rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    let page = payload::page(37);
    let expected = payload::page_document(37).len() as u64;
    let length = |document: serde_json::Result<Vec<u8>>| document.map_or(0, |text| black_box(text).len() as u64);
    let peer = |name, version| Impl::peer(name, version).class("typed, new buffer");
    suite
        .row("canonical")
        .run(peer("serde_json_canonicalizer", "0.4.1"), expected, || {
            length(serde_json_canonicalizer::to_vec(black_box(&page)))
        })
        .run(peer("serde_jcs", "0.2.0"), expected, || length(serde_jcs::to_vec(black_box(&page))));

    let documents = PathBuf::from(env::var_os("BENCH_DOCUMENTS").unwrap_or_default());
    let Ok(input) = fs::read(documents.join("raw_values.json")) else { return Ok(()) };
    let expected = input.len() as u64 - 1;
    suite.row("raw_values").run(Impl::peer("serde_json", "1.0.154").class("borrowed"), expected, || {
        let values = serde_json::from_slice::<Vec<&RawValue>>(black_box(&input)).unwrap_or_default();
        black_box(values).iter().map(|value| value.get().len() as u64 + 1).sum()
    });
    Ok(())
}
