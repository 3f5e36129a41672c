//! Per-pipeline state of a session.

use std::collections::VecDeque;
use std::task::Waker;

use tokio::time::Instant;

use crate::client::PipelineEvent;
use crate::message::PipelineState;

pub(super) struct PipelineSlot {
    /// Unread events and their sizes.
    pub(super) events: VecDeque<(PipelineEvent, usize)>,
    /// Number of events received, read, and read when the reader last polled for another one.
    pub(super) received: u64,
    pub(super) read: u64,
    pub(super) processed: u64,
    /// Waker of the reader.
    pub(super) waker: Option<Waker>,
    /// State reported by the last delivered event.
    pub(super) state: PipelineState,
    pub(super) stop_state: StopState,
    /// Time of the acknowledged creation.
    pub(super) created: Option<Instant>,
    /// Last event, withheld until the preceding host calls have completed.
    pub(super) last_event: Option<(PipelineEvent, usize)>,
    /// The last event was delivered.
    pub(super) is_over: bool,
    pub(super) is_dropped: bool,
    /// The server was asked to close the pipeline.
    pub(super) is_closing: bool,
    pub(super) is_closed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StopState {
    #[default]
    NotRequested,
    /// Requested; the signal is sent after the acknowledged creation.
    AwaitingCreation,
    /// The signal is sent at this time.
    Scheduled(Instant),
    /// The signal was sent; deadline of the acknowledgement.
    Sent(Instant),
    /// Acknowledged. If no state arrives by this time, the pipeline counts as stopped.
    Acknowledged(Instant),
    /// Stopped or timed out; nothing more is expected.
    Done,
}

impl StopState {
    /// Returns whether the next step is up to the server.
    pub(super) fn awaits_server(self) -> bool {
        matches!(self, Self::AwaitingCreation | Self::Sent(_) | Self::Acknowledged(_))
    }
}

impl PipelineSlot {
    pub(super) fn new(state: PipelineState) -> Self {
        Self {
            events: VecDeque::new(),
            received: 0,
            read: 0,
            processed: 0,
            waker: None,
            state,
            stop_state: StopState::NotRequested,
            created: None,
            last_event: None,
            is_over: false,
            is_dropped: false,
            is_closing: false,
            is_closed: false,
        }
    }

    pub(super) fn push(&mut self, event: PipelineEvent, size: usize) {
        self.received += 1;
        self.events.push_back((event, size));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

pub(super) fn is_terminal(state: PipelineState) -> bool {
    matches!(state, PipelineState::Completed | PipelineState::Failed | PipelineState::Stopped)
}
