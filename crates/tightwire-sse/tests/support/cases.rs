//! Loads the decoder cases of `tests/data/sse-cases.json`; see the README beside that file.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of this module")]

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Deserializer};
use tightwire_sse::{Decoder, EventRef};

/// Expected event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Expected {
    #[serde(rename = "type")]
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
///
/// If it exceeds 64 bits.
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).expect("a retry value of the stream")
}

/// Input and expected results.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Case {
    pub id: String,
    #[serde(flatten, deserialize_with = "input")]
    pub input: Vec<u8>,
    pub chunk_lengths: Option<Vec<usize>>,
    pub events: Vec<Expected>,
    /// Expected events with a lenient end of input, if the case defines them.
    #[serde(rename = "events_if_flushed_at_eof")]
    pub lenient: Option<Vec<Expected>>,
    pub retry_updates: Vec<u64>,
    pub last_event_id: String,
    pub comments: Option<Vec<String>>,
    /// Initial last event id.
    #[serde(rename = "initial_last_event_id")]
    pub seed: Option<String>,
}

/// Reads the input, which is a string or base64.
fn input<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    #[derive(Deserialize)]
    enum Input {
        #[serde(rename = "input")]
        Text(String),
        #[serde(rename = "input_b64")]
        Base64(String),
    }
    match Input::deserialize(deserializer)? {
        Input::Text(text) => Ok(text.into_bytes()),
        Input::Base64(text) => BASE64_STANDARD.decode(text).map_err(serde::de::Error::custom),
    }
}

/// Content of a file.
#[derive(Deserialize)]
struct File {
    schema: String,
    cases: Vec<Case>,
    #[serde(default)]
    generated: Vec<Generated>,
}

/// A case whose input consists of repeated text.
#[derive(Deserialize)]
struct Generated {
    id: String,
    generator: Generator,
    expected_data_length: usize,
}

#[derive(Deserialize)]
struct Generator {
    prefix: String,
    fill: String,
    fill_count: usize,
    suffix: String,
}

impl Case {
    /// Returns a decoder with the initial last event id.
    pub fn decoder(&self) -> Decoder {
        Decoder::new().with_last_event_id(self.seed.as_deref().unwrap_or_default())
    }

    /// Returns the chunks that the case defines, if any.
    pub fn explicit_chunks(&self) -> Option<Vec<&[u8]>> {
        let mut rest = &*self.input;
        let lengths = self.chunk_lengths.as_ref()?.iter();
        let mut chunks: Vec<_> =
            lengths.map(|length| rest.split_off(..*length).expect("in the input")).collect();
        chunks.push(rest);
        Some(chunks)
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
        chunkings.extend(self.explicit_chunks());
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
///
/// If the file cannot be read or does not have the schema `sse-cases/1`.
pub fn load_file(path: &Path) -> Vec<Case> {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: File =
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(file.schema, "sse-cases/1", "{}", path.display());
    file.cases.into_iter().chain(file.generated.into_iter().map(generated)).collect()
}

fn generated(Generated { id, generator, expected_data_length }: Generated) -> Case {
    let Generator { prefix, fill, fill_count, suffix } = generator;
    let input = prefix + &fill.repeat(fill_count) + &suffix;
    let data: Vec<&str> = input.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let data = data.join("\n");
    assert_eq!(data.len(), expected_data_length);
    let events = vec![Expected { event_type: "message".into(), data, id: String::new(), retry: None }];
    Case { id, input: input.into_bytes(), events, ..Case::default() }
}
