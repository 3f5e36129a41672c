//! What a session keeps of one of its pipelines.

use std::collections::VecDeque;
use std::task::Waker;

use tokio::time::Instant;

use crate::client::PipelineEvent;
use crate::message::PipelineState;

pub(super) struct Slot {
    /// Events that wait to be taken, and what they count.
    pub(super) events: VecDeque<(PipelineEvent, usize)>,
    /// Events that came, those that were taken, and how many were when the reader last asked for more.
    pub(super) pushed: u64,
    pub(super) taken: u64,
    pub(super) settled: u64,
    /// Who waits for an event.
    pub(super) waker: Option<Waker>,
    /// The state that the last event was about.
    pub(super) state: PipelineState,
    pub(super) signal: Signal,
    /// When its creation was acknowledged.
    pub(super) created: Option<Instant>,
    /// The last event, while the host is still busy with calls that came before.
    pub(super) last: Option<(PipelineEvent, usize)>,
    /// Whether the last event was handed out.
    pub(super) is_over: bool,
    /// Whether there is no handle any more.
    pub(super) is_dropped: bool,
    /// Whether the server was asked to close it.
    pub(super) is_closing: bool,
    /// Whether the server has closed it.
    pub(super) is_gone: bool,
}

/// How far the stop of a pipeline is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Signal {
    #[default]
    None,
    /// To be sent when the creation is acknowledged.
    Wanted,
    /// To be sent then.
    Delayed(Instant),
    /// It is to be acknowledged until then.
    Sent(Instant),
    /// Acknowledged; without a state until then the pipeline is stopped.
    Acknowledged(Instant),
    /// Nothing is expected any more.
    Done,
}

impl Signal {
    /// Whether the next step is up to the server.
    pub(super) fn awaits_server(self) -> bool {
        matches!(self, Self::Wanted | Self::Sent(_) | Self::Acknowledged(_))
    }
}

impl Slot {
    pub(super) fn new(state: PipelineState) -> Self {
        Self {
            events: VecDeque::new(),
            pushed: 0,
            taken: 0,
            settled: 0,
            waker: None,
            state,
            signal: Signal::None,
            created: None,
            last: None,
            is_over: false,
            is_dropped: false,
            is_closing: false,
            is_gone: false,
        }
    }

    pub(super) fn push(&mut self, event: PipelineEvent, size: usize) {
        self.pushed += 1;
        self.events.push_back((event, size));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// Whether nothing comes after this state.
pub(super) fn is_terminal(state: PipelineState) -> bool {
    matches!(state, PipelineState::Completed | PipelineState::Failed | PipelineState::Stopped)
}
