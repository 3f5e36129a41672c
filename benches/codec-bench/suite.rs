//! The `codec` suite: the rows in the report of the Go library parco, the reference implementation, each with live
//! peers; and decoding, which is not part of the report.
//!
//! All implementations of a row encode the same message, or one converted from it with the same map order, so that all
//! encode the entries in the same sequence.

use std::collections::HashMap;
use std::hint::black_box;
use std::process::ExitCode;

use benches::{Impl, Row, Suite, memory};
use codec_bench::codec::{Add, Kind, add};
use codec_bench::layouts;
use codec_bench::message::{Message, SIZES, message};
use codec_bench::peers::{self, WincodeVec};

benches::counting_allocator!();

/// Implementations of a row that do the same.
type Part<'a> = (Kind, &'a [&'a [Add]]);

fn main() -> ExitCode {
    benches::main("codec", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    use Kind::{Borrowed, Discarded, Fresh, Length, Owned, Reader, Reused, View, WholeReader};

    for size in &SIZES {
        // Implementations with the bytes of the Go library come first.
        let same = match size.entries {
            256.. => layouts::wide::ALL,
            _ => layouts::narrow::ALL,
        };
        let ours = &same[..1];
        let all: &[&[Add]] = &[same, peers::ALL];
        let (json, msgpack): (&[&[Add]], &[&[Add]]) = (&[peers::JSON], &[peers::MSGPACK]);
        let rows: [(&str, u64, &[Part<'_>]); 6] = [
            (
                "parco_compile",
                size.parco_len,
                &[(Reused, &[same, &[add::<WincodeVec>], peers::ALL]), (Fresh, all)],
            ),
            ("parco_discard_compile", size.parco_len, &[(Discarded, all), (Length, all)]),
            // In the report, both formats return a new vector.
            ("json_compile", size.json_len, &[(Fresh, json), (Reused, json)]),
            ("msgpack_compile", size.msgpack_len, &[(Fresh, msgpack), (Reused, msgpack)]),
            ("parco_parse", size.parco_len, &[(Owned, all), (Borrowed, all), (View, all)]),
            (
                "parco_parse_reader",
                size.parco_len,
                &[(Reader, all), (WholeReader, &[ours, peers::WHOLE_READERS])],
            ),
        ];
        for (kind, payload, implementations) in rows {
            let name = format!("{kind}_{}", size.name);
            // The implementations of a row that is not run are only listed.
            let message = if suite.selects(&name) { message(size) } else { Message::default() };
            let mut row = suite.row(name).payload(payload).elements(1);
            for (kind, codecs) in implementations {
                row = codecs.iter().copied().flatten().fold(row, |row, add| add(row, *kind, &message));
            }
            if kind == "parco_compile" {
                limits(row, payload, &message);
            }
        }
    }
    Ok(())
}

/// Adds copying bytes of the same length, and visiting the map.
fn limits<'a>(row: Row<'a>, len: u64, message: &'a Message) {
    let (bytes, mut buffer) = (vec![7; len as usize], Vec::new());
    let sum = message.map.keys().map(|key| u64::from(key.as_bytes()[0])).sum();
    row.run(Impl::limit("memory copy"), len, move || memory::copy_to(&bytes, &mut buffer)).run(
        Impl::limit("map visit"),
        sum,
        || visit(&message.map),
    );
}

/// Visits every entry of the map and returns the sum of the first bytes of the keys.
fn visit(map: &HashMap<String, u8>) -> u64 {
    black_box(map).keys().map(|key| key.as_bytes().first().map_or(0, |&byte| u64::from(byte))).sum()
}
