//! Server on a Unix domain socket.

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

/// Unix domain socket that accepts clients of the current user. Dropping it removes the socket file.
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

    /// Creates the socket with access for its owner only. Clients of other users are disconnected.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_io`] if the socket cannot be created, for example because the file exists.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub fn bind(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let listener = UnixListener::bind(path)?;
        let mut server =
            Self { listener, path: path.to_owned(), owner: 0, max_sessions: Self::DEFAULT_MAX_SESSIONS };
        server.owner = fs::metadata(path)?.uid();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(server)
    }

    /// Sets the maximum number of concurrent sessions. Further clients wait. Default:
    /// [`DEFAULT_MAX_SESSIONS`](Self::DEFAULT_MAX_SESSIONS), 16.
    #[must_use]
    pub fn max_sessions(mut self, count: usize) -> Self {
        self.max_sessions = count;
        self
    }

    /// Serves clients; `options` is called for each one. Dropping the future aborts the sessions. The result of each
    /// session is passed to [`Handler::closed`].
    ///
    /// # Errors
    ///
    /// Fails if the listener fails.
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
                // The handler receives the result.
                let _ = serve(Lines::new(Role::Server, read, write), handler, options).await;
                drop(permit);
            });
            while sessions.try_join_next().is_some() {}
        }
    }

    /// Waits for a client that runs as the same user.
    async fn accept(&self) -> Result<UnixStream, Error> {
        loop {
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                // The client has already disconnected.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error.into()),
            };
            // The client may have connected before the permissions were set.
            if stream.peer_cred().is_ok_and(|peer| peer.uid() == self.owner) {
                return Ok(stream);
            }
        }
    }
}

impl Drop for UnixServer {
    fn drop(&mut self) {
        // The file may have been removed already.
        let _ = fs::remove_file(&self.path);
    }
}
