//! The result of the console filter as a list. Also used by a fuzz target.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use psrp::Value;
use psrp::clixml::{ConsoleEvent, ConsoleFilter, ReadOptions, Stream};

#[derive(Debug, PartialEq)]
pub enum Seen {
    Text(Vec<u8>),
    Record(Stream, Value),
}

impl Seen {
    pub fn text(text: &str) -> Self {
        Self::Text(text.as_bytes().to_vec())
    }

    pub fn error(text: &str) -> Self {
        Self::Record(Stream::Error, text.into())
    }
}

/// Filters output in these chunks. Joins adjacent text, because chunk boundaries of text are not significant.
pub fn filtered<'a>(options: &ReadOptions, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Seen> {
    let mut filter = ConsoleFilter::with_options(options.clone());
    let mut seen = Vec::new();
    let mut see = |event: ConsoleEvent<'_>| match (event, seen.last_mut()) {
        (ConsoleEvent::Text(part), Some(Seen::Text(text))) => text.extend_from_slice(part),
        (ConsoleEvent::Text(part), _) => seen.push(Seen::Text(part.to_vec())),
        (ConsoleEvent::Record(stream, value), _) => seen.push(Seen::Record(stream, value)),
        (event, _) => panic!("an event {event:?}"),
    };
    for chunk in chunks {
        filter.push(chunk, &mut see);
    }
    filter.finish(&mut see);
    seen
}
