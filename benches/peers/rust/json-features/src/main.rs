//! Rows of the suite `json` for crates that enable features of serde_json, with the options of a suite: canonical output
//! (`float_roundtrip`) and raw values (`raw_value`).

use std::hint::black_box;

use benches::{Impl, Suite};
use json_bench::documents::{Kind, Messages, generated};
use json_bench::payload;
use serde_json::value::RawValue;

benches::counting_allocator!();

fn main() {
    // Files of criterion go to the folder of the program.
    let mut suite = Suite::from_args("json", std::env::current_exe().unwrap_or_default());
    let page = payload::page(37);
    let expected = serde_json::to_vec(&page).map_or(0, |document| document.len() as u64);
    let length =
        |document: serde_json::Result<Vec<u8>>| document.map_or(0, |text| black_box(text).len() as u64);
    let peer = |name, version| Impl::peer(name, version).class("typed, new buffer");
    suite
        .row("canonical")
        .payload(expected)
        .run(peer("serde_json_canonicalizer", "0.4.1"), expected, || {
            length(serde_json_canonicalizer::to_vec(black_box(&page)))
        })
        .run(peer("serde_jcs", "0.2.0"), expected, || length(serde_jcs::to_vec(black_box(&page))));

    let messages: Messages = generated(Kind::Messages, 100 << 10);
    let input = serde_json::to_vec(&messages.statuses).unwrap_or_default();
    let expected = input.len() as u64 - 1;
    let serde_json = Impl::peer("serde_json", "1.0.154").class("borrowed");
    suite.row("raw_values").payload(input.len() as u64).run(serde_json, expected, || {
        let values = serde_json::from_slice::<Vec<&RawValue>>(black_box(&input)).unwrap_or_default();
        black_box(values).iter().map(|value| value.get().len() as u64 + 1).sum()
    });
}
