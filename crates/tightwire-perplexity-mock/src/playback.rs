//! Response bodies with injected faults.

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

use crate::mock_response::{Effect, Position, Step};
use crate::socket::ConnectionState;

#[derive(Debug, PartialEq, Eq)]
enum Action {
    Write(Bytes),
    /// Waits until the socket has accepted all bytes.
    Flush,
    Do(Effect),
}

/// A response body that sends bytes, waits and ends the connection as scripted.
#[derive(Debug)]
pub(crate) struct Playback {
    actions: VecDeque<Action>,
    sleep: Option<Pin<Box<Sleep>>>,
    connection: Arc<ConnectionState>,
}

/// Error that closes a connection in the middle of a response, as scripted.
#[derive(Debug)]
pub(crate) struct ConnectionClosed;

impl fmt::Display for ConnectionClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connection closed as scripted")
    }
}

impl std::error::Error for ConnectionClosed {}

/// Piece size and delay of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pacing {
    pub(crate) chunk: Option<NonZeroUsize>,
    pub(crate) pause: Duration,
}

impl Playback {
    pub(crate) fn new(
        pieces: Vec<Bytes>,
        steps: &[Step],
        pacing: Pacing,
        connection: Arc<ConnectionState>,
    ) -> Self {
        // Includes the response head, which is in hyper's buffer before the body is polled.
        connection.mark_dirty();
        Self { actions: actions(pieces, steps, pacing), sleep: None, connection }
    }
}

fn actions(pieces: Vec<Bytes>, steps: &[Step], pacing: Pacing) -> VecDeque<Action> {
    let mut boundaries = BTreeSet::new();
    let mut length = 0;
    for piece in &pieces {
        length += piece.len();
        boundaries.insert(length);
    }
    if let Some(chunk) = pacing.chunk {
        boundaries.extend((chunk.get()..length).step_by(chunk.get()));
    }
    // Faults sorted by position; the sort is stable.
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
    let mut actions = VecDeque::new();
    let mut steps = steps.into_iter().peekable();
    let mut start = 0;
    for end in boundaries {
        if end > start {
            actions.push_back(Action::Write(whole.slice(start..end)));
            actions.push_back(Action::Flush);
            if end < length && !pacing.pause.is_zero() {
                actions.push_back(Action::Do(Effect::Wait(pacing.pause)));
            }
            start = end;
        }
        while let Some((_, effect)) = steps.next_if(|(byte, _)| *byte == end) {
            // Send the head before the first fault, even if no byte of the body precedes it.
            if actions.is_empty() {
                actions.push_back(Action::Flush);
            }
            actions.push_back(Action::Do(effect));
        }
    }
    if actions.back() == Some(&Action::Flush) {
        actions.pop_back();
    }
    actions
}

impl Body for Playback {
    type Data = Bytes;
    type Error = ConnectionClosed;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ConnectionClosed>>> {
        let this = &mut *self;
        loop {
            match this.actions.front() {
                None => return Poll::Ready(None),
                Some(Action::Write(_)) => {
                    let Some(Action::Write(bytes)) = this.actions.pop_front() else { continue };
                    this.connection.mark_dirty();
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(Action::Flush) => ready!(this.connection.poll_clean(cx)),
                Some(Action::Do(Effect::Wait(delay))) => {
                    let sleep = this.sleep.get_or_insert_with(|| Box::pin(sleep(*delay)));
                    ready!(sleep.as_mut().poll(cx));
                    this.sleep = None;
                }
                Some(Action::Do(Effect::Stall)) => return Poll::Pending,
                Some(Action::Do(Effect::Reset)) => {
                    this.connection.reset_at_end();
                    return Poll::Ready(Some(Err(ConnectionClosed)));
                }
                Some(Action::Do(Effect::Close)) => return Poll::Ready(Some(Err(ConnectionClosed))),
            }
            this.actions.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const PLAIN: Pacing = Pacing { chunk: None, pause: Duration::ZERO };

    fn write(text: &'static str) -> Action {
        Action::Write(Bytes::from_static(text.as_bytes()))
    }

    fn at(byte: usize, effect: Effect) -> Step {
        Step { at: Position::Body(byte), effect }
    }

    #[test]
    fn pieces_are_flushed_one_by_one_and_faults_run_at_their_byte_or_at_the_end() {
        let pacing = Pacing { chunk: NonZeroUsize::new(2), pause: Duration::from_millis(1) };
        let pause = || Action::Do(Effect::Wait(Duration::from_millis(1)));
        let (stall, close, reset) = (Effect::Stall, Effect::Close, Effect::Reset);
        for (texts, steps, pacing, expected) in [
            (&["abc"][..], vec![], PLAIN, vec![write("abc")]),
            (&[], vec![], PLAIN, vec![]),
            (&["ab", "c"], vec![], PLAIN, vec![write("ab"), Action::Flush, write("c")]),
            (
                &["abcde"],
                vec![],
                pacing,
                vec![write("ab"), Action::Flush, pause(), write("cd"), Action::Flush, pause(), write("e")],
            ),
            (
                &["abc"],
                vec![at(9, close), at(1, stall)],
                PLAIN,
                vec![
                    write("a"),
                    Action::Flush,
                    Action::Do(stall),
                    write("bc"),
                    Action::Flush,
                    Action::Do(close),
                ],
            ),
            (&["abc"], vec![at(0, reset)], PLAIN, vec![Action::Flush, Action::Do(reset), write("abc")]),
        ] {
            let pieces = texts.iter().map(|text| Bytes::from_static(text.as_bytes())).collect();
            assert_eq!(actions(pieces, &steps, pacing), expected);
        }
    }

    proptest! {
        #[test]
        fn all_bytes_are_written_and_all_faults_run(
            pieces in vec(vec(any::<u8>(), 0..6), 0..6),
            places in vec(0..40_usize, 0..5),
            chunk in 0..8_usize,
        ) {
            let whole = pieces.concat();
            let pieces = pieces.into_iter().map(Bytes::from).collect();
            let wait = |index: usize| Effect::Wait(Duration::from_secs(index as u64));
            let steps: Vec<Step> = places.iter().enumerate().map(|(index, byte)| at(*byte, wait(index))).collect();
            let (mut written, mut done) = (Vec::new(), 0);
            for action in actions(pieces, &steps, Pacing { chunk: NonZeroUsize::new(chunk), pause: Duration::ZERO }) {
                match action {
                    Action::Write(bytes) => {
                        prop_assert!(chunk == 0 || bytes.len() <= chunk);
                        written.extend(bytes);
                    }
                    Action::Do(effect) => {
                        let index = (0..steps.len()).find(|index| wait(*index) == effect);
                        let place = places[index.expect("a step of the script")];
                        prop_assert_eq!(written.len(), place.min(whole.len()));
                        done += 1;
                    }
                    Action::Flush => {}
                }
            }
            prop_assert_eq!(written, whole);
            prop_assert_eq!(done, steps.len());
        }
    }
}
