//! Server on standard input and output.

use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

use super::{Handler, Options, SessionEnd, serve};
use crate::Error;
use crate::io::Lines;
use crate::outofproc::Role;

/// Bytes per read.
const CHUNK_SIZE: usize = 32 * 1024;
/// Maximum chunks read ahead.
const MAX_CHUNKS_AHEAD: usize = 2;

/// Serves the client on standard input and output, like `pwsh -s` or a subsystem of an SSH server.
///
/// Nothing else may write to the standard output. A separate thread reads the standard input and can remain blocked
/// until the process exits; it keeps neither the runtime nor the process alive.
///
/// # Errors
///
/// Same as [`serve`]. Also fails if the thread cannot be started.
pub async fn serve_stdio<H: Handler>(handler: H, options: Options) -> Result<SessionEnd, Error> {
    let (sender, receiver) = mpsc::channel(MAX_CHUNKS_AHEAD);
    // tokio's standard input cannot be cancelled, and the runtime would wait for it at shutdown.
    std::thread::Builder::new().name("psrp-stdin".into()).spawn(move || read_stdin(&sender))?;
    let input = ChunkReader { receiver, chunk: Vec::new(), consumed: 0 };
    serve(Lines::new(Role::Server, input, tokio::io::stdout()), handler, options).await
}

fn read_stdin(sender: &mpsc::Sender<std::io::Result<Vec<u8>>>) {
    let mut stdin = std::io::stdin().lock();
    loop {
        let mut chunk = vec![0; CHUNK_SIZE];
        let result = stdin.read(&mut chunk).map(|count| {
            chunk.truncate(count);
            chunk
        });
        let is_last = match &result {
            Ok(chunk) => chunk.is_empty(),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => true,
        };
        if sender.blocking_send(result).is_err() || is_last {
            return;
        }
    }
}

/// Reader over a channel of chunks. An empty chunk is the end.
struct ChunkReader {
    receiver: mpsc::Receiver<std::io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    consumed: usize,
}

impl AsyncRead for ChunkReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.consumed == self.chunk.len() {
            match ready!(self.receiver.poll_recv(cx)) {
                Some(chunk) => (self.chunk, self.consumed) = (chunk?, 0),
                None => return Poll::Ready(Ok(())),
            }
        }
        let rest = &self.chunk[self.consumed..];
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        self.consumed += count;
        Poll::Ready(Ok(()))
    }
}
