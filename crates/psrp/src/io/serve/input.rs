//! The input of a pipeline.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::shared::{Run, Shared};
use crate::value::Value;

/// The objects that a client sends to a pipeline.
///
/// The stream ends when the client has ended the input, and when the pipeline has ended. A pipeline without input has one
/// that is at its end.
pub struct Input {
    pub(super) run: Run,
    pub(super) shared: Arc<Shared>,
}

impl Input {
    /// Waits for the next object; `None` is the end.
    pub async fn next(&mut self) -> Option<Value> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for Input {
    type Item = Value;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Value>> {
        self.shared.next_input(self.run, cx.waker()).map_or(Poll::Pending, Poll::Ready)
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("pipeline", &self.run.id).finish_non_exhaustive()
    }
}
