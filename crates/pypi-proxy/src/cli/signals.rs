//! Signals, and the limit of open files.

use std::io;

use pypi_proxy::config::Settings;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Raises the limit of open files to the hard limit, because each connection is one.
pub(super) fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Without more descriptors, the proxy accepts fewer connections.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Requests to shut down: SIGTERM and SIGINT.
pub(super) struct Shutdown {
    terminate: Signal,
    interrupt: Signal,
}

impl Shutdown {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Requests to reload the settings: SIGHUP.
pub(super) struct Reload(Signal);

impl Reload {
    pub(super) fn new(_: &Settings) -> io::Result<Self> {
        signal(SignalKind::hangup()).map(Self)
    }

    /// Waits for the next request. Those that arrive before the next call count as one.
    pub(super) async fn next(&mut self) -> Option<()> {
        self.0.recv().await
    }
}
