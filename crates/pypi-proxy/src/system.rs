//! Access to tasks, the time, the disk and indexes, which the simulation replaces.

#[cfg(not(test))]
use std::{
    io,
    thread::{Builder, JoinHandle},
    time::SystemTime,
};

#[cfg(test)]
pub(crate) use crate::simulation::{disk, now, send, spawn, spawn_blocking, spawn_thread};
#[cfg(not(test))]
pub(crate) use tokio::task::{spawn, spawn_blocking};

#[cfg(not(test))]
pub(crate) fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.into()).spawn(work)
}

#[cfg(not(test))]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Fails if the simulated disk is full.
#[cfg(not(test))]
pub(crate) const fn disk() -> io::Result<()> {
    Ok(())
}

#[cfg(not(test))]
pub(crate) async fn send(request: reqwest::RequestBuilder) -> reqwest::Result<reqwest::Response> {
    request.send().await
}
