//! Cases as they are written in the file.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

/// One input and what it decodes to.
#[derive(Debug, Clone)]
pub struct Case {
    /// Name, such as `bom-03`.
    pub id: String,
    /// The stream.
    pub input: Vec<u8>,
    /// One chunking that the case is about.
    pub chunk_lengths: Option<Vec<usize>>,
    /// The id that the decoder starts with.
    pub seed: Option<String>,
    /// What a strict decoder dispatches.
    pub events: Vec<Event>,
    /// What it dispatches if the end of input ends the block, where the case says so.
    pub lenient: Option<Vec<Event>>,
    /// Every valid retry value, in milliseconds.
    pub retry_updates: Vec<u64>,
    /// The last event id after the end of input.
    pub last_event_id: String,
    /// Every comment, where the case says so.
    pub comments: Option<Vec<String>>,
}

/// A dispatched event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Event {
    /// The event type.
    #[serde(rename = "type")]
    pub event_type: String,
    /// The data.
    pub data: String,
    /// The last event id at dispatch.
    pub id: String,
    /// The latest retry value since the previous event, in milliseconds.
    pub retry: Option<u64>,
}

impl Case {
    /// Chunk lengths to try: whole, 1, 2, 3, 5, 17 bytes, the case's own, and every division in two for inputs
    /// up to 4 KiB.
    pub fn chunkings(&self) -> Vec<Vec<usize>> {
        let len = self.input.len();
        let mut out = vec![vec![len]];
        for size in [1, 2, 3, 5, 17] {
            out.push(vec![size; len.div_ceil(size)]);
        }
        out.extend(self.chunk_lengths.clone());
        if len <= 4096 {
            out.extend((1..len).map(|at| vec![at, len - at]));
        }
        out
    }
}

/// Reads a file of cases: those with an explicit input, then the generated ones.
///
/// # Errors
///
/// When the file cannot be read or does not have the schema `sse-cases/1`.
pub fn load(path: &Path) -> anyhow::Result<Vec<Case>> {
    let text = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
    let file: File = serde_json::from_slice(&text).with_context(|| format!("parse {}", path.display()))?;
    anyhow::ensure!(file.schema == "sse-cases/1", "{}: schema {} is unknown", path.display(), file.schema);
    let explicit = file.cases.into_iter().map(Written::into_case);
    explicit.chain(file.generated.into_iter().map(|case| Ok(case.into_case()))).collect()
}

#[derive(Debug, Deserialize)]
struct File {
    schema: String,
    cases: Vec<Written>,
    #[serde(default)]
    generated: Vec<Generated>,
}

#[derive(Debug, Deserialize)]
struct Written {
    id: String,
    input: Option<String>,
    input_b64: Option<String>,
    chunk_lengths: Option<Vec<usize>>,
    initial_last_event_id: Option<String>,
    events: Vec<Event>,
    events_if_flushed_at_eof: Option<Vec<Event>>,
    retry_updates: Vec<u64>,
    last_event_id: String,
    comments: Option<Vec<String>>,
}

impl Written {
    fn into_case(self) -> anyhow::Result<Case> {
        let input = match (self.input, self.input_b64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(base64)) => BASE64.decode(base64).with_context(|| format!("case {}", self.id))?,
            _ => anyhow::bail!("case {}: needs exactly one of `input` and `input_b64`", self.id),
        };
        Ok(Case {
            id: self.id,
            input,
            chunk_lengths: self.chunk_lengths,
            seed: self.initial_last_event_id,
            events: self.events,
            lenient: self.events_if_flushed_at_eof,
            retry_updates: self.retry_updates,
            last_event_id: self.last_event_id,
            comments: self.comments,
        })
    }
}

#[derive(Debug, Deserialize)]
struct Generated {
    id: String,
    generator: Generator,
    expected_data_length: usize,
    expected_events: usize,
}

#[derive(Debug, Deserialize)]
struct Generator {
    prefix: String,
    fill: String,
    fill_count: usize,
    suffix: String,
}
