//! Sockets of Unix.

use std::convert::Infallible;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{Handler, Options, serve};
use crate::Error;
use crate::io::Lines;
use crate::outofproc::Role;

/// A socket at a path, for clients of the user that the process runs as. The file is removed when this is dropped.
#[derive(Debug)]
pub struct UnixServer {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
    max_sessions: usize,
}

impl UnixServer {
    /// Default of [`max_sessions`](Self::max_sessions): 16.
    pub const DEFAULT_MAX_SESSIONS: usize = 16;

    /// Makes the socket. Only its owner may use it; whoever else gets through is turned away.
    ///
    /// # Errors
    ///
    /// Fails if the socket can't be made ([`Error::is_io`]): there is a file of this name, for instance.
    ///
    /// # Panics
    ///
    /// Panics outside of a runtime of tokio.
    pub fn bind(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let listener = UnixListener::bind(path)?;
        let mut server =
            Self { listener, path: path.to_owned(), owner: 0, max_sessions: Self::DEFAULT_MAX_SESSIONS };
        server.owner = fs::metadata(path)?.uid();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(server)
    }

    /// Limits how many sessions there may be at a time. Further clients wait. Default:
    /// [`DEFAULT_MAX_SESSIONS`](Self::DEFAULT_MAX_SESSIONS), 16.
    #[must_use]
    pub fn max_sessions(mut self, count: usize) -> Self {
        self.max_sessions = count;
        self
    }

    /// Serves clients, each with options of its own. The sessions are tasks, which are given up when the future is
    /// dropped. What they end with goes to [`Handler::closed`].
    ///
    /// # Errors
    ///
    /// Fails if no client can be accepted any more.
    pub async fn serve<H: Handler>(
        self,
        handler: H,
        options: impl Fn() -> Options,
    ) -> Result<Infallible, Error> {
        let (handler, mut sessions) = (Arc::new(handler), JoinSet::new());
        let free = Arc::new(Semaphore::new(self.max_sessions.min(Semaphore::MAX_PERMITS)));
        loop {
            let Ok(permit) = free.clone().acquire_owned().await else { continue };
            let stream = self.accept().await?;
            let (handler, options) = (handler.clone(), options());
            sessions.spawn(async move {
                let (read, write) = stream.into_split();
                // The handler hears of it.
                let _ = serve(Lines::new(Role::Server, read, write), handler, options).await;
                drop(permit);
            });
            while sessions.try_join_next().is_some() {}
        }
    }

    /// Waits for a client of the same user.
    async fn accept(&self) -> Result<UnixStream, Error> {
        loop {
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                // It is gone again.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error.into()),
            };
            // It may have connected before the permissions were set.
            if stream.peer_cred().is_ok_and(|peer| peer.uid() == self.owner) {
                return Ok(stream);
            }
        }
    }
}

impl Drop for UnixServer {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = fs::remove_file(&self.path);
    }
}
