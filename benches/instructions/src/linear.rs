//! `linear NAME SIZE`: performs one operation whose work must be linear in its input.
//!
//! `cargo xtask test linear` counts the instructions for a size and for four times that size. This is a separate
//! program because its calls would change how the compiler inlines the rows of `instructions`.

use std::hint::black_box;
use std::io::{self, Read, Write as _};
use std::ops::ControlFlow;

use anyhow::{Context as _, Result, ensure};
use psrp::fragment::{Assembler, Fragmenter};
use pypi_proxy::Page;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use tightwire_json::ChunkDecoder as _;
use tightwire_perplexity::types::chat::Accumulator;
use tightwire_sse::Decoder;

/// Name and operation, which returns whether it succeeded.
type Work = (&'static str, fn(usize) -> bool);

const ALL: &[Work] = &[
    ("json/small_chunks_of_a_string", |size| {
        json_partial(&format!(r#"{{"text": ["{}"]}}"#, "some text".repeat(8 * size)))
    }),
    ("json/small_chunks_of_nested_arrays", |size| {
        json_partial(&format!("[{}0]", "[[[[[[[[1, 2]]]]]]]], ".repeat(size)))
    }),
    ("json/small_reads", |size| {
        let document = format!("\"{}\"", "a".repeat(64 * size));
        let mut decoder = tightwire_json::Decoder::new(io::BufReader::new(SmallReads(document.as_bytes())));
        matches!(decoder.decode::<String>(), Ok(Some(text)) if text.len() == 64 * size)
    }),
    ("json/unsorted_maps", |size| tightwire_json::Codec::compat().to_vec(&Nested(size)).is_ok()),
    ("json/unsorted_raw_value", |size| {
        let document = format!("[{}0]", r#"{"z":"text","\u0061":{"y":[1.50],"x":{}}}, "#.repeat(size));
        let raw = tightwire_json::RawValue::from_string(document);
        raw.is_ok_and(|raw| tightwire_json::Codec::canonical().to_vec(&raw).is_ok())
    }),
    ("json/duplicate_keys", |size| {
        let document = format!("{{{}\"a\":1}}", "\"a\":{\"b\":1},".repeat(size));
        tightwire_json::Codec::compat().from_str::<tightwire_json::Value>(&document).is_ok()
    }),
    ("json/errors_of_lines", |size| {
        let text = "{\"a\":[1,true]}\n".repeat(size);
        let mut decoder = tightwire_json::LineDecoder::<Vec<u8>>::new();
        let (mut chunk, mut errors) = (text.as_bytes(), 0);
        while let Some(Err(_)) = decoder.next(&mut chunk) {
            errors += 1;
        }
        errors == size
    }),
    ("parco/small_reads", |size| {
        let texts = vec!["some text".to_owned(); size];
        let Ok(message) = tightwire_parco::to_vec(&texts) else { return false };
        let mut decoder = tightwire_parco::Decoder::new(SmallReads(&message));
        matches!(decoder.decode::<Vec<String>>(), Ok(Some(found)) if found == texts)
    }),
    ("perplexity/deltas", |size| {
        let part = r#"{"choices":[{"index":0,"delta":{"content":"some text"}}],"citations":["https://example.org/a"]}"#;
        let mut accumulator = Accumulator::new();
        for _ in 0..size {
            let Ok(part) = tightwire_json::from_str(part) else { return false };
            accumulator.push(&part);
        }
        accumulator.text().len() == "some text".len() * size
    }),
    // Lists of objects, nested up to a depth that readers accept.
    ("psrp/objects_in_each_other", |size| {
        const DEPTH: usize = 40;
        let objects = "<Obj><MS><S N=\"text\">_x000A_</S></MS></Obj>".repeat(size);
        let document = format!(
            "<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">{}{objects}{}</Objs>",
            "<Obj><LST>".repeat(DEPTH),
            "</LST></Obj>".repeat(DEPTH)
        );
        psrp::clixml::from_slice(document.as_bytes()).is_ok()
    }),
    ("psrp/small_fragments", |size| {
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
    }),
    ("pypi_proxy/page_in_json", |size| {
        let file = |number| {
            format!(
                r#"{{"filename":"a-{number}.tar.gz","hashes":{{}},"url":"https://example.org/a-{number}.tar.gz"}}"#
            )
        };
        let files: Vec<_> = (0..size).map(file).collect();
        let document =
            format!(r#"{{"meta":{{"api-version":"1.1"}},"name":"a","files":[{}]}}"#, files.join(","));
        Page::from_json(document.into_bytes()).is_ok_and(|page| has_files(&page, size))
    }),
    ("pypi_proxy/page_in_html", |size| {
        let file =
            |number| format!("<a href='https://example.org/a-{number}.tar.gz'>a-{number}.tar.gz</a>\n");
        let document = (0..size).map(file).collect::<String>();
        Page::from_html(document.as_bytes()).is_ok_and(|page| has_files(&page, size))
    }),
    ("sse/one_line_in_small_chunks", |size| {
        count_events(format!("data: {}\n\n", "a".repeat(64 * size)).as_bytes(), 1)
    }),
    ("sse/many_lines_in_small_chunks", |size| {
        count_events(format!("{}\n", format!("data: {}\n", "a".repeat(58)).repeat(size)).as_bytes(), 1)
    }),
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

/// An odd chunk size that aligns with nothing.
const CHUNK: usize = 7;

struct SmallReads<'a>(&'a [u8]);

impl Read for SmallReads<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(CHUNK);
        self.0.read(&mut buffer[..len])
    }
}

/// Nested maps with keys out of order.
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

/// Parses a document in small chunks and reads the value after each.
fn json_partial(document: &str) -> bool {
    let mut parser = tightwire_json::partial::Parser::new();
    let mut rest = document;
    while !rest.is_empty() {
        let (chunk, next) = rest.split_at(rest.len().min(CHUNK));
        if parser.push(chunk).is_err() || black_box(parser.value()).is_none() {
            return false;
        }
        rest = next;
    }
    parser.finish().is_ok()
}

/// Whether a page has so many files and can be written in both forms.
fn has_files(page: &Page, expected: usize) -> bool {
    page.files().len() == expected && !page.json().is_empty() && !page.to_html().is_empty()
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

#[cfg(test)]
mod tests {
    #[test]
    fn all_work_succeeds() {
        for (name, work) in super::ALL {
            assert!(work(16), "{name}");
        }
    }
}
