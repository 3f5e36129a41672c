//! A process that a client talks to.

use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

use super::{Ended, Handler, Options, serve};
use crate::Error;
use crate::io::Lines;
use crate::outofproc::Role;

/// Bytes that are read at once.
const CHUNK: usize = 32 * 1024;
/// Chunks that are read ahead.
const AHEAD: usize = 2;

/// Serves the client that talks to this process by its standard input and output, as it does to `pwsh -s` and to a
/// subsystem of an SSH server.
///
/// Nothing else may write to the standard output. A thread reads the standard input, and may read on until the process
/// ends; it keeps neither the runtime nor the process alive.
///
/// # Errors
///
/// As [`serve`], and if the thread can't be started.
pub async fn serve_stdio<H: Handler>(handler: H, options: Options) -> Result<Ended, Error> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    // A read of tokio's can't be given up, and its runtime would wait for it.
    std::thread::Builder::new().name("psrp-stdin".into()).spawn(move || read_stdin(&sender))?;
    let input = Chunks { receiver, chunk: Vec::new(), taken: 0 };
    serve(Lines::new(Role::Server, input, tokio::io::stdout()), handler, options).await
}

fn read_stdin(sender: &mpsc::Sender<std::io::Result<Vec<u8>>>) {
    let mut stdin = std::io::stdin().lock();
    loop {
        let mut chunk = vec![0; CHUNK];
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

/// Chunks of bytes, the last of which is empty, as a reader.
struct Chunks {
    receiver: mpsc::Receiver<std::io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    taken: usize,
}

impl AsyncRead for Chunks {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.taken == self.chunk.len() {
            match ready!(self.receiver.poll_recv(cx)) {
                Some(chunk) => (self.chunk, self.taken) = (chunk?, 0),
                None => return Poll::Ready(Ok(())),
            }
        }
        let rest = &self.chunk[self.taken..];
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        self.taken += count;
        Poll::Ready(Ok(()))
    }
}
