//! A decoder under test, and what it made of a case.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;

use super::cases::{Case, Expected};

/// What a decoder made of an input. A part that it does not expose is `None` and is not compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The events, in order.
    pub(super) events: Vec<Expected>,
    /// The last event id at the end.
    pub(super) last_event_id: Option<String>,
    /// Every retry update, in milliseconds.
    pub(super) retry_updates: Option<Vec<u64>>,
    /// The latest retry update at the end, where only that is known.
    pub(super) last_retry: Option<Option<u64>>,
    /// Every comment.
    pub(super) comments: Option<Vec<String>>,
    /// The events if the end of input ends the block.
    pub(super) lenient: Option<Vec<Expected>>,
}

impl Outcome {
    /// Whether types and data of the events are right.
    fn matches_events(&self, case: &Case) -> bool {
        let same = |(found, expected): (&Expected, &Expected)| {
            found.event_type == expected.event_type && found.data == expected.data
        };
        self.events.len() == case.events.len() && self.events.iter().zip(&case.events).all(same)
    }

    /// Whether everything that the decoder exposes and the case states is right.
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

/// Decodes a case in the chunks given, some of which may be empty. The text of an error is for people.
pub(super) type Decode = fn(case: &Case, chunks: &[&[u8]]) -> Result<Outcome, String>;

/// A decoder under test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject {
    /// What it is called in the output.
    pub(super) name: &'static str,
    /// How to run it.
    pub(super) decode: Decode,
}

/// What a decoder passed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// Cases in which types and data were right in every chunking.
    pub(super) events: usize,
    /// Cases in which everything was right in every chunking.
    pub(super) everything: usize,
    /// The other cases, with the first chunking that went wrong and what came out.
    pub(super) failures: Vec<(String, String)>,
}

/// Runs a decoder over the cases in every chunking. A panic is a failure.
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

/// The chunks as reference-counted slices of one buffer, made on demand.
pub(super) fn shared<'a>(case: &Case, chunks: &'a [&'a [u8]]) -> impl Iterator<Item = Bytes> + use<'a> {
    let mut rest = Bytes::copy_from_slice(&case.input);
    chunks.iter().map(move |chunk| rest.split_to(chunk.len()))
}

fn chunking(chunks: &[&[u8]]) -> String {
    let lengths: Vec<String> = chunks.iter().take(4).map(|chunk| chunk.len().to_string()).collect();
    let more = if chunks.len() > lengths.len() { ",..." } else { "" };
    format!("chunks of {}{more}", lengths.join(","))
}

/// Cuts a text to a length that a terminal can show.
fn abridged(text: &str) -> String {
    let mut short: String = text.chars().take(300).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
