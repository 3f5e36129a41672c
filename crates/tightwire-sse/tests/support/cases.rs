//! Loads the decoder cases of `tests/data/sse-cases.json`; see the README beside that file.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of this module")]

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use tightwire_sse::{Decoder, EventRef};

/// Expected event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    pub event_type: String,
    pub data: String,
    pub id: String,
    /// Milliseconds.
    pub retry: Option<u64>,
}

impl From<EventRef<'_>> for Expected {
    fn from(event: EventRef<'_>) -> Self {
        Self {
            event_type: event.event_type().to_owned(),
            data: event.data().to_owned(),
            id: event.last_event_id().to_owned(),
            retry: event.retry().map(millis),
        }
    }
}

/// Returns a retry value in milliseconds.
///
/// # Panics
/// If it exceeds 64 bits.
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).expect("a retry value of the stream")
}

/// Input and expected results.
#[derive(Debug, Clone)]
pub struct Case {
    pub id: String,
    pub input: Vec<u8>,
    pub chunk_lengths: Option<Vec<usize>>,
    pub events: Vec<Expected>,
    /// Expected events with a lenient end of input, if the case defines them.
    pub lenient: Option<Vec<Expected>>,
    pub retry_updates: Vec<u64>,
    pub last_event_id: String,
    pub comments: Option<Vec<String>>,
    /// Initial last event id.
    pub seed: Option<String>,
    /// The standard does not define the result; the expected one is that of this crate.
    pub implementation_defined: bool,
}

impl Case {
    /// Returns a decoder with the initial last event id.
    pub fn decoder(&self) -> Decoder {
        Decoder::new().with_last_event_id(self.seed.as_deref().unwrap_or_default())
    }

    /// Returns the chunkings of the case: one chunk; chunks of 1, 2, 3, 5 and 17 bytes; the explicit one, which may
    /// have empty chunks; and every division into two, for inputs of up to 4 KiB. In debug builds, inputs of more than
    /// 1 MiB have larger chunks, because small ones would take minutes.
    pub fn chunkings(&self) -> Vec<Vec<&[u8]>> {
        let input = self.input.as_slice();
        let mut chunkings = vec![vec![input]];
        let sizes: &[usize] =
            if cfg!(debug_assertions) && input.len() > 1 << 20 { &[4096, 65536] } else { &[1, 2, 3, 5, 17] };
        chunkings.extend(sizes.iter().map(|size| input.chunks(*size).collect()));
        if let Some(lengths) = &self.chunk_lengths {
            let mut rest = input;
            let mut chunks = Vec::new();
            for length in lengths {
                let (chunk, after) = rest.split_at(*length);
                chunks.push(chunk);
                rest = after;
            }
            chunks.push(rest);
            chunkings.push(chunks);
        }
        if (2..=4096).contains(&input.len()) {
            chunkings.extend((1..input.len()).map(|at| vec![&input[..at], &input[at..]]));
        }
        chunkings
    }
}

/// Loads the cases of this crate.
pub fn load() -> Vec<Case> {
    load_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sse-cases.json"))
}

/// Loads the cases of a file, including the generated ones.
///
/// # Panics
/// If the file cannot be read or does not have the schema `sse-cases/1`.
pub fn load_file(path: &Path) -> Vec<Case> {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let root: Value =
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(root["schema"], "sse-cases/1", "{}", path.display());
    let mut cases: Vec<Case> = root["cases"].as_array().expect("cases").iter().map(case).collect();
    cases.extend(root["generated"].as_array().into_iter().flatten().map(generated));
    cases
}

fn case(value: &Value) -> Case {
    let input = match value["input"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => BASE64_STANDARD.decode(value["input_b64"].as_str().expect("input")).expect("base64"),
    };
    Case {
        id: text(&value["id"]),
        input,
        chunk_lengths: value["chunk_lengths"]
            .as_array()
            .map(|lengths| lengths.iter().map(|length| length.as_u64().expect("length") as usize).collect()),
        events: events(&value["events"]).expect("events"),
        lenient: events(&value["events_if_flushed_at_eof"]),
        retry_updates: value["retry_updates"]
            .as_array()
            .expect("retry_updates")
            .iter()
            .map(|millis| millis.as_u64().expect("milliseconds"))
            .collect(),
        last_event_id: text(&value["last_event_id"]),
        comments: value["comments"].as_array().map(|comments| comments.iter().map(text).collect()),
        seed: value["initial_last_event_id"].as_str().map(str::to_owned),
        implementation_defined: !value["implementation_defined"].is_null(),
    }
}

fn generated(value: &Value) -> Case {
    let generator = &value["generator"];
    let count = generator["fill_count"].as_u64().expect("fill_count") as usize;
    let input =
        text(&generator["prefix"]) + &text(&generator["fill"]).repeat(count) + &text(&generator["suffix"]);
    let data: Vec<&str> = input.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let data = data.join("\n");
    assert_eq!(data.len() as u64, value["expected_data_length"].as_u64().expect("expected_data_length"));
    Case {
        id: text(&value["id"]),
        input: input.into_bytes(),
        chunk_lengths: None,
        events: vec![Expected { event_type: "message".into(), data, id: String::new(), retry: None }],
        lenient: None,
        retry_updates: Vec::new(),
        last_event_id: String::new(),
        comments: None,
        seed: None,
        implementation_defined: false,
    }
}

fn events(value: &Value) -> Option<Vec<Expected>> {
    let event = |event: &Value| Expected {
        event_type: event["type"].as_str().unwrap_or("message").to_owned(),
        data: text(&event["data"]),
        id: text(&event["id"]),
        retry: event["retry"].as_u64(),
    };
    Some(value.as_array()?.iter().map(event).collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("expected a string: {value}")).to_owned()
}
