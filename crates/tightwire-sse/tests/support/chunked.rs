//! Source of chunks, as a reader and as a stream.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of this module")]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use tokio::io::{AsyncRead, ReadBuf};

/// Returns one chunk per read or poll. As a stream, it is pending once before each chunk and before the end; as a
/// blocking reader, it is interrupted once before each chunk.
#[derive(Debug)]
pub struct Chunked<'a> {
    chunks: VecDeque<&'a [u8]>,
    ready: bool,
}

impl<'a> Chunked<'a> {
    pub fn new(chunks: &[&'a [u8]]) -> Self {
        Self { chunks: chunks.iter().copied().collect(), ready: false }
    }

    /// Copies bytes of the next chunk that is not empty: an empty read would be the end.
    fn copy(&mut self, target: &mut [u8]) -> usize {
        while let Some(chunk) = self.chunks.front_mut() {
            if chunk.is_empty() {
                self.chunks.pop_front();
                continue;
            }
            let length = chunk.len().min(target.len());
            let (head, tail) = chunk.split_at(length);
            target[..length].copy_from_slice(head);
            *chunk = tail;
            return length;
        }
        0
    }

    fn toggle(&mut self) -> bool {
        self.ready = !self.ready;
        !self.ready
    }
}

impl Read for Chunked<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if self.toggle() { Ok(self.copy(target)) } else { Err(io::ErrorKind::Interrupted.into()) }
    }
}

impl AsyncRead for Chunked<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        target: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.toggle() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let length = self.copy(target.initialize_unfilled());
        target.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl<'a> Stream for Chunked<'a> {
    type Item = Result<&'a [u8], Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if !self.toggle() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.chunks.pop_front().map(Ok))
    }
}

/// Runs a future in a runtime without drivers.
pub fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime without drivers").block_on(future)
}
