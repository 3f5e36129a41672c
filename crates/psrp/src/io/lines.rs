//! Transport of packets as lines over a byte stream.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Transport;
use crate::Error;
use crate::error::Kind;
use crate::outofproc::{Packet, PacketReader, ReaderEvent, ReaderOptions, Role};

/// Size of the input buffer, in bytes, after the first read that filled the initial buffer.
const READ_BUFFER: usize = 32 * 1024;
/// Initial size of the input buffer, in bytes.
const INITIAL_READ_BUFFER: usize = 4 * 1024;
/// Bytes of pending output above which the transport is not ready for another packet.
const MAX_PENDING_OUTPUT: usize = 64 * 1024;

/// [Out-of-process transport](crate::outofproc) over a reader and a writer, such as the pipes of a process, a socket or
/// an SSH channel.
///
/// In the client role it skips lines that are not packets, such as a login banner.
pub struct Lines<R, W> {
    read: R,
    write: W,
    packets: PacketReader,
    input: Vec<u8>,
    consumed: usize,
    filled: usize,
    is_eof: bool,
    output: Vec<u8>,
    written: usize,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Lines<R, W> {
    /// Creates one end of a connection with default limits.
    pub fn new(role: Role, read: R, write: W) -> Self {
        Self::with_options(role, read, write, ReaderOptions::new())
    }

    /// Creates one end of a connection with the given reader limits.
    pub fn with_options(role: Role, read: R, write: W, options: ReaderOptions) -> Self {
        let packets = PacketReader::with_options(role, options);
        Self {
            read,
            write,
            packets,
            input: Vec::new(),
            consumed: 0,
            filled: 0,
            is_eof: false,
            output: Vec::new(),
            written: 0,
        }
    }

    /// Reads into the input buffer, which must have been consumed.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.input.is_empty() {
            self.input.resize(INITIAL_READ_BUFFER, 0);
        } else if self.filled == self.input.len() {
            self.input.resize(READ_BUFFER, 0);
        }
        self.consumed = 0;
        self.filled = 0;
        let mut buffer = ReadBuf::new(&mut self.input);
        ready!(Pin::new(&mut self.read).poll_read(cx, &mut buffer))?;
        self.filled = buffer.filled().len();
        self.is_eof = self.filled == 0;
        Poll::Ready(Ok(()))
    }

    /// Writes until at most `left` bytes are pending.
    fn poll_drain(&mut self, cx: &mut Context<'_>, left: usize) -> Poll<Result<(), Error>> {
        while self.output.len() - self.written > left {
            let count = ready!(Pin::new(&mut self.write).poll_write(cx, &self.output[self.written..]))?;
            if count == 0 {
                return Poll::Ready(Err(std::io::Error::from(std::io::ErrorKind::WriteZero).into()));
            }
            self.written += count;
        }
        // Without this, a writer that never catches up would keep all written bytes in memory.
        if self.written > MAX_PENDING_OUTPUT {
            self.output.drain(..self.written);
            self.written = 0;
        }
        if self.written == self.output.len() {
            self.output.clear();
            self.written = 0;
            self.output.shrink_to(2 * MAX_PENDING_OUTPUT);
        }
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin> Transport for Lines<R, W> {
    fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Packet<'_>) -> Result<(), Error>,
    ) -> Poll<Option<Result<(), Error>>> {
        loop {
            let mut rest = &self.input[self.consumed..self.filled];
            let len = rest.len();
            let received = match self.is_eof && rest.is_empty() {
                true => self.packets.finish(),
                false => self.packets.next(&mut rest),
            };
            self.consumed += len - rest.len();
            match received {
                Ok(Some(ReaderEvent::Packet(packet))) => return Poll::Ready(Some(take(packet))),
                // Empty line: the client has ended the session.
                Ok(Some(ReaderEvent::End)) => return Poll::Ready(None),
                Ok(Some(ReaderEvent::Failure(reason))) => {
                    return Poll::Ready(Some(Err(Error::with(Kind::Closed, reason))));
                }
                Ok(None) if self.is_eof => return Poll::Ready(None),
                Ok(None) => ready!(self.poll_fill(cx))?,
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.poll_drain(cx, MAX_PENDING_OUTPUT)
    }

    fn send(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        packet.encode(&mut self.output)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_drain(cx, 0))?;
        Pin::new(&mut self.write).poll_flush(cx).map_err(Error::from)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        // tokio's standard output drops bytes that were not flushed.
        ready!(self.poll_flush(cx))?;
        Pin::new(&mut self.write).poll_shutdown(cx).map_err(Error::from)
    }
}

/// Shows buffer sizes, not contents.
impl<R, W> fmt::Debug for Lines<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("unread_input", &(self.filled - self.consumed))
            .field("unwritten_output", &(self.output.len() - self.written))
            .finish_non_exhaustive()
    }
}
