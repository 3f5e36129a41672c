//! The body of a response, played from a script.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::time::{Sleep, sleep};

use crate::fault::{Effect, Position, Step};
use crate::wire::Wire;

/// One thing to do, in order.
#[derive(Debug, PartialEq, Eq)]
enum Cue {
    Write(Bytes),
    /// Waits until the socket has taken everything.
    Flush,
    Do(Effect),
}

/// A body that writes, waits and breaks off as the script says.
#[derive(Debug)]
pub(crate) struct Playback {
    cues: VecDeque<Cue>,
    sleep: Option<Pin<Box<Sleep>>>,
    wire: Arc<Wire>,
}

/// Ends a connection in the middle of an exchange, because the script says so.
#[derive(Debug)]
pub(crate) struct BreakOff;

impl fmt::Display for BreakOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the script breaks the connection off")
    }
}

impl std::error::Error for BreakOff {}

/// How a body is cut and slowed down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) chunk: Option<NonZeroUsize>,
    pub(crate) pause: Duration,
}

impl Playback {
    pub(crate) fn new(pieces: Vec<Bytes>, steps: &[Step], pace: Pace, wire: Arc<Wire>) -> Self {
        // The head counts as well: it is in hyper's buffer before the body is polled.
        wire.mark_dirty();
        Self { cues: cues(pieces, steps, pace), sleep: None, wire }
    }
}

fn cues(pieces: Vec<Bytes>, steps: &[Step], pace: Pace) -> VecDeque<Cue> {
    let mut boundaries = BTreeSet::new();
    let mut length = 0;
    for piece in &pieces {
        length += piece.len();
        boundaries.insert(length);
    }
    if let Some(chunk) = pace.chunk {
        boundaries.extend((chunk.get()..length).step_by(chunk.get()));
    }
    // Steps by their place, and in their order where the place is the same.
    let mut steps: Vec<(usize, Effect)> = steps
        .iter()
        .filter_map(|step| match step.at {
            Position::Head => None,
            Position::Body(byte) => Some((byte.min(length), step.effect)),
        })
        .collect();
    steps.sort_by_key(|(byte, _)| *byte);
    boundaries.extend(steps.iter().map(|(byte, _)| *byte));

    let whole: Bytes = match <[Bytes; 1]>::try_from(pieces) {
        Ok([only]) => only,
        Err(pieces) => pieces.concat().into(),
    };
    let mut cues = VecDeque::new();
    let mut steps = steps.into_iter().peekable();
    let mut start = 0;
    for end in boundaries {
        if end > start {
            cues.push_back(Cue::Write(whole.slice(start..end)));
            cues.push_back(Cue::Flush);
            if end < length && !pace.pause.is_zero() {
                cues.push_back(Cue::Do(Effect::Wait(pace.pause)));
            }
            start = end;
        }
        while let Some((_, effect)) = steps.next_if(|(byte, _)| *byte == end) {
            // The head goes out before the first step even where no byte of the body does.
            if cues.is_empty() {
                cues.push_back(Cue::Flush);
            }
            cues.push_back(Cue::Do(effect));
        }
    }
    if cues.back() == Some(&Cue::Flush) {
        cues.pop_back();
    }
    cues
}

impl Body for Playback {
    type Data = Bytes;
    type Error = BreakOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BreakOff>>> {
        let this = &mut *self;
        loop {
            match this.cues.front() {
                None => return Poll::Ready(None),
                Some(Cue::Write(_)) => {
                    let Some(Cue::Write(bytes)) = this.cues.pop_front() else { continue };
                    this.wire.mark_dirty();
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(Cue::Flush) => ready!(this.wire.poll_clean(cx)),
                Some(Cue::Do(Effect::Wait(delay))) => {
                    let sleep = this.sleep.get_or_insert_with(|| Box::pin(sleep(*delay)));
                    ready!(sleep.as_mut().poll(cx));
                    this.sleep = None;
                }
                Some(Cue::Do(Effect::Stall)) => return Poll::Pending,
                Some(Cue::Do(Effect::Reset)) => {
                    this.wire.reset_at_end();
                    return Poll::Ready(Some(Err(BreakOff)));
                }
                Some(Cue::Do(Effect::Close)) => return Poll::Ready(Some(Err(BreakOff))),
            }
            this.cues.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const PLAIN: Pace = Pace { chunk: None, pause: Duration::ZERO };

    fn write(text: &'static str) -> Cue {
        Cue::Write(Bytes::from_static(text.as_bytes()))
    }

    fn body(texts: &[&'static str]) -> Vec<Bytes> {
        texts.iter().map(|text| Bytes::from_static(text.as_bytes())).collect()
    }

    fn at(byte: usize, effect: Effect) -> Step {
        Step { at: Position::Body(byte), effect }
    }

    #[test]
    fn a_body_without_a_script_is_written_at_once() {
        assert_eq!(cues(body(&["abc"]), &[], PLAIN), [write("abc")]);
        assert_eq!(cues(Vec::new(), &[], PLAIN), []);
    }

    #[test]
    fn pieces_are_flushed_one_by_one() {
        assert_eq!(cues(body(&["ab", "c"]), &[], PLAIN), [write("ab"), Cue::Flush, write("c")]);
        let pace = Pace { chunk: NonZeroUsize::new(2), pause: Duration::from_millis(1) };
        let pause = || Cue::Do(Effect::Wait(Duration::from_millis(1)));
        assert_eq!(
            cues(body(&["abcde"]), &[], pace),
            [write("ab"), Cue::Flush, pause(), write("cd"), Cue::Flush, pause(), write("e")]
        );
    }

    #[test]
    fn steps_happen_at_their_byte_and_at_most_at_the_end() {
        assert_eq!(
            cues(body(&["abc"]), &[at(9, Effect::Close), at(1, Effect::Stall)], PLAIN),
            [write("a"), Cue::Flush, Cue::Do(Effect::Stall), write("bc"), Cue::Flush, Cue::Do(Effect::Close)]
        );
        assert_eq!(
            cues(body(&["abc"]), &[at(0, Effect::Reset)], PLAIN),
            [Cue::Flush, Cue::Do(Effect::Reset), write("abc")]
        );
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_and_no_step_forgotten(
            pieces in vec(vec(any::<u8>(), 0..6), 0..6),
            places in vec(0..40_usize, 0..5),
            chunk in 0..8_usize,
        ) {
            let whole = pieces.concat();
            let pieces = pieces.into_iter().map(Bytes::from).collect();
            let wait = |index: usize| Effect::Wait(Duration::from_secs(index as u64));
            let steps: Vec<Step> = places.iter().enumerate().map(|(index, byte)| at(*byte, wait(index))).collect();
            let (mut written, mut done) = (Vec::new(), 0);
            for cue in cues(pieces, &steps, Pace { chunk: NonZeroUsize::new(chunk), pause: Duration::ZERO }) {
                match cue {
                    Cue::Write(bytes) => {
                        prop_assert!(chunk == 0 || bytes.len() <= chunk);
                        written.extend(bytes);
                    }
                    Cue::Do(effect) => {
                        let index = (0..steps.len()).find(|index| wait(*index) == effect);
                        let place = places[index.expect("a step of the script")];
                        prop_assert_eq!(written.len(), place.min(whole.len()));
                        done += 1;
                    }
                    Cue::Flush => {}
                }
            }
            prop_assert_eq!(written, whole);
            prop_assert_eq!(done, steps.len());
        }
    }
}
