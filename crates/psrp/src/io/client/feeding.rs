//! Input and output of a pipeline at once.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use super::{Output, PipelineHandle, RunspacePool};
use crate::client::PipelineRequest;
use crate::error::Error;
use crate::value::Value;

/// Runs a pipeline with what `next` gives as its input.
pub(super) async fn invoke<V: Into<Value>>(
    pool: &RunspacePool,
    request: PipelineRequest,
    next: impl FnMut(&mut Context<'_>) -> Poll<Option<V>>,
) -> Result<Output, Error> {
    let pipeline = pool.start_with_input(request).await?;
    let mut feed = pin!(feed(pipeline.handle(), next));
    let mut output = pin!(pipeline.output());
    let mut is_fed = false;
    poll_fn(|cx| {
        if !is_fed && let Poll::Ready(result) = feed.as_mut().poll(cx) {
            is_fed = true;
            match result {
                // A pipeline that has ended wants no more input; how it has ended comes with its output.
                Err(error) if !error.is_state() && !error.is_closed() => return Poll::Ready(Err(error)),
                _ => {}
            }
        }
        output.as_mut().poll(cx)
    })
    .await
}

async fn feed<V: Into<Value>>(
    pipeline: PipelineHandle,
    mut next: impl FnMut(&mut Context<'_>) -> Poll<Option<V>>,
) -> Result<(), Error> {
    while let Some(value) = poll_fn(&mut next).await {
        pipeline.send(value).await?;
    }
    pipeline.end_input().await
}
