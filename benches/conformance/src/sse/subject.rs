//! A decoder under test and its results.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;

use super::cases::{Case, Expected};

/// The result of decoding an input. A part that a decoder does not expose is `None` and is not compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The events in order.
    pub(super) events: Vec<Expected>,
    /// The last event id at the end.
    pub(super) last_event_id: Option<String>,
    /// Every retry update, in milliseconds.
    pub(super) retry_updates: Option<Vec<u64>>,
    /// The last retry update, for decoders that expose only that.
    pub(super) last_retry: Option<Option<u64>>,
    /// Every comment.
    pub(super) comments: Option<Vec<String>>,
    /// The events if the end of input also ends the last event.
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

    /// Returns whether everything is correct that the decoder exposes and the case states.
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

/// Decodes a case in the given chunks, some of which may be empty. Errors are text.
pub(super) type Decode = fn(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String>;

/// A decoder under test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject {
    /// Name in the output.
    pub(super) name: &'static str,
    pub(super) decode: Decode,
}

/// Results of a decoder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// Cases with correct types and data in every chunking.
    pub(super) events: usize,
    /// Cases that are fully correct in every chunking.
    pub(super) everything: usize,
    /// The other cases, with the first failing chunking and its result.
    pub(super) failures: Vec<(String, String)>,
}

/// Runs a decoder on the cases in every chunking. A panic is a failure.
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
pub(super) fn shared<'a>(case: &Case, chunks: &'a [&'a [u8]]) -> impl Iterator<Item = Bytes> + use<'a> {
    let mut rest = Bytes::copy_from_slice(&case.input);
    chunks.iter().map(move |chunk| rest.split_to(chunk.len()))
}

fn chunking(chunks: &[&[u8]]) -> String {
    let lengths: Vec<String> = chunks.iter().take(4).map(|chunk| chunk.len().to_string()).collect();
    let more = if chunks.len() > lengths.len() { ",..." } else { "" };
    format!("chunks of {}{more}", lengths.join(","))
}

/// Shortens a text for a terminal.
fn abridged(text: &str) -> String {
    let mut short: String = text.chars().take(300).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
