//! The error output of a process.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinHandle;

use crate::io::remote::Tail;

/// Who hears what a process writes.
pub(super) type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// Reads the error output of a process and keeps the end of it.
pub(super) struct Stderr {
    tail: Arc<Mutex<Tail>>,
    task: JoinHandle<()>,
}

impl Stderr {
    pub(super) fn read<R: AsyncRead + Send + Unpin + 'static>(from: R, listener: Option<Listener>) -> Self {
        let tail = Arc::<Mutex<Tail>>::default();
        let task = tokio::spawn(pump(from, listener, Arc::clone(&tail)));
        Self { tail, task }
    }

    /// Waits until all was read.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.task.is_finished() {
            return Poll::Ready(());
        }
        Pin::new(&mut self.task).poll(cx).map(drop)
    }

    /// The end of what was written, safe for a terminal; `None` if that is nothing.
    pub(super) fn tail(&self) -> Option<Box<str>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

/// A process that is gone may have given its pipe to another one.
impl Drop for Stderr {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pump<R: AsyncRead + Unpin>(mut from: R, listener: Option<Listener>, tail: Arc<Mutex<Tail>>) {
    let mut buffer = [0; 4096];
    // Bytes that may be the start of a character.
    let mut rest = Vec::new();
    // Nothing more can be learned from a pipe that fails.
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

/// Takes the text that is complete; what may be the start of a character stays.
fn take_text(bytes: &mut Vec<u8>) -> String {
    let end = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        // Invalid bytes in the middle are replaced; the few at the end may be replaced too early.
        _ => bytes.len(),
    };
    let rest = bytes.split_off(end);
    let text = String::from_utf8_lossy(bytes).into_owned();
    *bytes = rest;
    text
}
