//! `linear NAME SIZE`: performs work once whose cost must grow with its input and not faster.
//!
//! `cargo xtask test linear` counts the instructions for a size and for four times that size. A program of its own: what it
//! calls would change how the compiler inlines the rows of `instructions`.

use std::hint::black_box;
use std::io::{self, Read, Write as _};
use std::ops::ControlFlow;

use anyhow::{Context as _, Result, ensure};
use psrp::fragment::{Assembler, Fragmenter};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use sse::Decoder;

/// Name and work, which returns whether it succeeded.
type Work = (&'static str, fn(usize) -> bool);

const ALL: &[Work] = &[
    ("json/small_reads", json_small_reads),
    ("json/unsorted_maps", json_unsorted_maps),
    ("json/duplicate_keys", json_duplicate_keys),
    ("psrp/small_fragments", psrp_small_fragments),
    ("sse/one_line_in_small_chunks", sse_one_line),
    ("sse/many_lines_in_small_chunks", sse_many_lines),
];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(size)) = (arguments.next(), arguments.next()) else {
        let mut out = io::stdout().lock();
        return Ok(ALL.iter().try_for_each(|(name, _)| writeln!(out, "{name}"))?);
    };
    let (_, work) = ALL.iter().find(|(known, _)| *known == name).context("unknown work")?;
    ensure!(work(size.parse()?), "{name} failed");
    Ok(())
}

/// The size of a chunk that aligns with nothing.
const CHUNK: usize = 7;

struct SmallReads<'a>(&'a [u8]);

impl Read for SmallReads<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(CHUNK);
        self.0.read(&mut buffer[..len])
    }
}

fn json_small_reads(size: usize) -> bool {
    let document = format!("\"{}\"", "a".repeat(64 * size));
    let mut decoder = json::Decoder::new(SmallReads(document.as_bytes()));
    matches!(decoder.decode::<String>(), Ok(Some(text)) if text.len() == 64 * size)
}

/// Maps inside of each other, with keys out of order.
struct Nested(usize);

impl Serialize for Nested {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.0 > 0 {
            map.serialize_entry("z\"", &Self(self.0 - 1))?;
        }
        map.serialize_entry("a", "some text that is copied along")?;
        map.end()
    }
}

fn json_unsorted_maps(size: usize) -> bool {
    json::Codec::compat().to_vec(&Nested(size)).is_ok()
}

fn json_duplicate_keys(size: usize) -> bool {
    let document = format!("{{{}\"a\":1}}", "\"a\":{\"b\":1},".repeat(size));
    json::Codec::compat().from_str::<json::Value>(&document).is_ok()
}

fn psrp_small_fragments(size: usize) -> bool {
    let message = vec![7; 64 * size];
    let mut bytes = Vec::new();
    Fragmenter::new().fragment_size(64).encode(&message, &mut bytes);
    let mut assembler = Assembler::new();
    for mut chunk in bytes.chunks(CHUNK) {
        match assembler.next(&mut chunk) {
            Ok(None) => {}
            Ok(Some(found)) => return found.len() == message.len(),
            Err(_) => return false,
        }
    }
    false
}

/// Whether a stream in small chunks has this many events.
fn count_events(stream: &[u8], expected: usize) -> bool {
    let (mut decoder, mut found) = (Decoder::new(), 0);
    for chunk in black_box(stream).chunks(CHUNK) {
        decoder.feed(chunk, |event| {
            found += usize::from(event.is_ok());
            ControlFlow::Continue(())
        });
    }
    found == expected
}

fn sse_one_line(size: usize) -> bool {
    count_events(format!("data: {}\n\n", "a".repeat(64 * size)).as_bytes(), 1)
}

fn sse_many_lines(size: usize) -> bool {
    count_events(format!("{}\n", format!("data: {}\n", "a".repeat(58)).repeat(size)).as_bytes(), 1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_work_succeeds() {
        for (name, work) in super::ALL {
            assert!(work(16), "{name}");
        }
    }
}
