//! Server on standard input and output.

use std::io::{ErrorKind, Read};

use tokio::io::AsyncWriteExt;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::{Handler, Options, SessionEnd, serve};
use crate::Error;
use crate::io::Lines;
use crate::outofproc::Role;

/// Bytes per read, and maximum bytes read ahead.
const CHUNK_SIZE: usize = 32 * 1024;

/// Serves the client on standard input and output, like `pwsh -s` or a subsystem of an SSH server.
///
/// Nothing else may write to the standard output. A separate thread reads the standard input and can remain blocked
/// until the process exits; it keeps neither the runtime nor the process alive.
///
/// # Errors
///
/// Same as [`serve`]. Also fails if the thread cannot be started or the standard input cannot be read.
pub async fn serve_stdio<H: Handler>(handler: H, options: Options) -> Result<SessionEnd, Error> {
    let (mut writer, input) = tokio::io::duplex(CHUNK_SIZE);
    let (failure, mut failed) = oneshot::channel();
    let runtime = Handle::current();
    // tokio's standard input cannot be cancelled, and the runtime would wait for it at shutdown.
    std::thread::Builder::new().name("psrp-stdin".into()).spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut chunk = vec![0; CHUNK_SIZE];
        loop {
            match stdin.read(&mut chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let _ = failure.send(error);
                    return;
                }
                Ok(0) => return,
                Ok(count) if runtime.block_on(writer.write_all(&chunk[..count])).is_err() => return,
                Ok(_) => {}
            }
        }
    })?;
    let end = serve(Lines::new(Role::Server, input, tokio::io::stdout()), handler, options).await;
    // Without the error, the failed input would look like its end.
    failed.try_recv().map_or(end, |error| Err(error.into()))
}
