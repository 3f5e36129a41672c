//! Standard error of a child process.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinHandle;

use crate::io::remote::StderrTail;

/// Function that receives the standard error of a process.
pub(super) type StderrListener = Arc<dyn Fn(&str) + Send + Sync>;

/// Reads the standard error of a process in a task and stores its end.
pub(super) struct StderrReader {
    tail: Arc<Mutex<StderrTail>>,
    task: JoinHandle<()>,
}

impl StderrReader {
    pub(super) fn read<R: AsyncRead + Send + Unpin + 'static>(
        from: R,
        listener: Option<StderrListener>,
    ) -> Self {
        let tail = Arc::<Mutex<StderrTail>>::default();
        let task = tokio::spawn(read_stderr(from, listener, Arc::clone(&tail)));
        Self { tail, task }
    }

    /// Waits until the pipe is closed.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.task.is_finished() {
            return Poll::Ready(());
        }
        Pin::new(&mut self.task).poll(cx).map(drop)
    }

    /// Returns the last part of the text, escaped for terminals, or `None` if there is none.
    pub(super) fn tail(&self) -> Option<Box<str>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

/// Stops reading: the pipe stays open if the process has passed it to another process that is still running.
impl Drop for StderrReader {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read_stderr<R: AsyncRead + Unpin>(
    mut from: R,
    listener: Option<StderrListener>,
    tail: Arc<Mutex<StderrTail>>,
) {
    let mut buffer = [0; 4096];
    // Incomplete UTF-8 sequence at the end of the input.
    let mut rest = Vec::new();
    // A read error ends the output.
    while let Ok(count) = from.read(&mut buffer).await {
        if count == 0 {
            break;
        }
        let bytes = &buffer[..count];
        tail.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        if let Some(listener) = &listener {
            rest.extend_from_slice(bytes);
            listener(&take_text(&mut rest));
        }
    }
    if let Some(listener) = listener
        && !rest.is_empty()
    {
        listener(&String::from_utf8_lossy(&rest));
    }
}

/// Takes the complete text and leaves an incomplete UTF-8 sequence at the end.
fn take_text(bytes: &mut Vec<u8>) -> String {
    let end = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        // Replaces invalid bytes. If there are any, an incomplete sequence at the end is replaced too.
        _ => bytes.len(),
    };
    let rest = bytes.split_off(end);
    let text = String::from_utf8_lossy(bytes).into_owned();
    *bytes = rest;
    text
}
