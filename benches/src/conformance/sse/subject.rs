//! A decoder under test, and what it made of a case.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;

use super::case::{Case, Event};

/// What a decoder made of an input. A part that it does not expose is `None` and is not compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The last event id at the end.
    pub last_event_id: Option<String>,
    /// Every retry update, in milliseconds.
    pub retry_updates: Option<Vec<u64>>,
    /// Every comment.
    pub comments: Option<Vec<String>>,
    /// The events if the end of input ends the block.
    pub lenient: Option<Vec<Event>>,
}

impl Outcome {
    /// Whether types and data of the events are right.
    fn matches_events(&self, case: &Case) -> bool {
        let same = |found: &Event, expected: &Event| {
            found.event_type == expected.event_type && found.data == expected.data
        };
        self.events.len() == case.events.len() && self.events.iter().zip(&case.events).all(|(a, b)| same(a, b))
    }

    /// Whether everything that the decoder exposes and the case states is right.
    fn matches(&self, case: &Case) -> bool {
        fn agree<T: PartialEq>(found: &Option<T>, expected: &Option<T>) -> bool {
            found.is_none() || expected.is_none() || found == expected
        }
        self.events == case.events
            && self.last_event_id.as_ref().is_none_or(|id| *id == case.last_event_id)
            && self.retry_updates.as_ref().is_none_or(|updates| *updates == case.retry_updates)
            && agree(&self.comments, &case.comments)
            && agree(&self.lenient, &case.lenient)
    }
}

/// Decodes chunks, of which some may be empty, starting from a last event id. The text of an error is for people.
pub type Decode = fn(seed: Option<&str>, chunks: &[Bytes]) -> Result<Outcome, String>;

/// A decoder under test.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// What it is called in the output.
    pub name: &'static str,
    /// How to run it.
    pub decode: Decode,
}

/// How many cases a decoder passed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Cases in which types and data were right in every chunking.
    pub events: usize,
    /// Cases in which everything was right in every chunking.
    pub everything: usize,
    /// The cases in which something was wrong, with the first chunking that showed it.
    pub failures: Vec<String>,
}

/// Runs a decoder over the cases in every chunking. A panic is a failure; the caller silences its hook.
pub fn run(subject: &Subject, cases: &[Case]) -> Report {
    let mut report = Report::default();
    for case in cases {
        let (mut events, mut first_failure) = (true, None);
        for lengths in case.chunkings() {
            let chunks = cut(&case.input, &lengths);
            let outcome = catch_unwind(AssertUnwindSafe(|| (subject.decode)(case.seed.as_deref(), &chunks)));
            let problem = match outcome {
                Err(_) => "panic".to_owned(),
                Ok(Err(error)) => error,
                Ok(Ok(outcome)) if outcome.matches(case) => continue,
                Ok(Ok(outcome)) => {
                    events &= outcome.matches_events(case);
                    first_failure.get_or_insert_with(|| describe(case, &lengths, &summary(&outcome)));
                    continue;
                }
            };
            events = false;
            first_failure.get_or_insert_with(|| describe(case, &lengths, &problem));
        }
        report.events += usize::from(events);
        report.everything += usize::from(first_failure.is_none());
        report.failures.extend(first_failure);
    }
    report
}

fn cut(input: &[u8], lengths: &[usize]) -> Vec<Bytes> {
    let mut rest = Bytes::copy_from_slice(input);
    lengths.iter().map(|&len| rest.split_to(len.min(rest.len()))).collect()
}

fn describe(case: &Case, lengths: &[usize], problem: &str) -> String {
    let shown: Vec<String> = lengths.iter().take(4).map(usize::to_string).collect();
    let more = if lengths.len() > shown.len() { ",..." } else { "" };
    format!("{} in chunks of {}{more}: {problem}", case.id, shown.join(","))
}

/// What was found, cut to a length that fits a terminal line.
fn summary(outcome: &Outcome) -> String {
    let mut text = format!("{outcome:?}");
    if text.len() > 300 {
        let end = (0..=300).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    text
}
