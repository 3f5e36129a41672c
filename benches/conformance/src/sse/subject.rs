//! Decoder under test and its results.

use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(feature = "sse-peers")]
use bytes::Bytes;

use super::cases::{Case, Expected};

/// Result of decoding an input. Parts that the decoder does not expose are `None` and not compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Events, in order.
    pub(super) events: Vec<Expected>,
    /// Last event id at the end.
    pub(super) last_event_id: Option<String>,
    /// All retry updates, in milliseconds.
    pub(super) retry_updates: Option<Vec<u64>>,
    /// Last retry update, in milliseconds, if only this is exposed.
    pub(super) last_retry: Option<Option<u64>>,
    /// All comments.
    pub(super) comments: Option<Vec<String>>,
    /// Events with a lenient end of input.
    pub(super) lenient: Option<Vec<Expected>>,
}

impl Outcome {
    /// Returns whether types and data of the events are correct.
    fn matches_events(&self, case: &Case) -> bool {
        let same = |(found, expected): (&Expected, &Expected)| {
            found.event_type == expected.event_type && found.data == expected.data
        };
        self.events.len() == case.events.len() && self.events.iter().zip(&case.events).all(same)
    }

    /// Returns whether everything that the decoder exposes and the case defines is correct.
    fn matches(&self, case: &Case) -> bool {
        fn agree<T: PartialEq>(found: Option<&T>, expected: Option<&T>) -> bool {
            found.is_none() || expected.is_none() || found == expected
        }
        self.events == case.events
            && agree(self.last_event_id.as_ref(), Some(&case.last_event_id))
            && agree(self.retry_updates.as_ref(), Some(&case.retry_updates))
            && agree(self.last_retry.as_ref(), Some(&case.retry_updates.last().copied()))
            && agree(self.comments.as_ref(), case.comments.as_ref())
            && agree(self.lenient.as_ref(), case.lenient.as_ref())
    }
}

/// Decodes a case in these chunks, some of which may be empty. Returns an error message on failure.
pub(super) type Decode = fn(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String>;

/// Decoder under test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject {
    /// Name in the output.
    pub(super) name: &'static str,
    /// Function that decodes a case.
    pub(super) decode: Decode,
}

/// Results of a decoder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// Number of cases in which types and data were correct in every chunking.
    pub(super) events: usize,
    /// Number of cases in which everything was correct in every chunking.
    pub(super) everything: usize,
    /// Failed cases, with the first chunking that failed and its result.
    pub(super) failures: Vec<(String, String)>,
}

/// Runs a decoder with all cases in every chunking. A panic is a failure.
pub(super) fn run(subject: &Subject, cases: &[Case]) -> Report {
    let mut report = Report::default();
    for case in cases {
        let mut events = true;
        let mut failure = None;
        for chunks in case.chunkings() {
            let problem = match catch_unwind(AssertUnwindSafe(|| (subject.decode)(case, &chunks))) {
                Ok(Ok(outcome)) if outcome.matches(case) => continue,
                Ok(Ok(outcome)) => {
                    events &= outcome.matches_events(case);
                    format!("found {}", abridged(&format!("{outcome:?}")))
                }
                Ok(Err(error)) => {
                    events = false;
                    error
                }
                Err(_) => {
                    events = false;
                    "panicked".to_owned()
                }
            };
            failure.get_or_insert_with(|| format!("in {}: {problem}", chunking(&chunks)));
        }
        report.events += usize::from(events);
        report.everything += usize::from(failure.is_none());
        report.failures.extend(failure.map(|failure| (case.id.clone(), failure)));
    }
    report
}

/// Returns the chunks as reference-counted slices of one buffer.
#[cfg(feature = "sse-peers")]
pub(super) fn shared<'a>(case: &Case, chunks: &'a [&'a [u8]]) -> impl Iterator<Item = Bytes> + use<'a> {
    let mut rest = Bytes::copy_from_slice(&case.input);
    chunks.iter().map(move |chunk| rest.split_to(chunk.len()))
}

fn chunking(chunks: &[&[u8]]) -> String {
    let lengths: Vec<String> = chunks.iter().take(4).map(|chunk| chunk.len().to_string()).collect();
    let more = if chunks.len() > lengths.len() { ",..." } else { "" };
    format!("chunks of {}{more}", lengths.join(","))
}

/// Truncates a text to a printable length.
fn abridged(text: &str) -> String {
    let mut short: String = text.chars().take(300).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
