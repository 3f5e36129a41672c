//! What systemd, or whoever else starts programs as it does, hands to the program and is told by it.

use std::net::{SocketAddr, TcpListener};
#[cfg(unix)]
use std::time::Duration;

use super::failure::Failure;

/// The socket that connections are to be accepted at, if there is one. The environment loses the variables that tell of
/// it: there must be no other threads yet.
#[cfg(unix)]
pub(super) fn listener() -> Result<Option<TcpListener>, Failure> {
    let unusable =
        |error: std::io::Error| Failure::because("the socket that was handed over can't be used", &error);
    let mut sockets = listenfd::ListenFd::from_env();
    match sockets.len() {
        0 | 1 => {}
        count => return Err(Failure::usage(format!("{count} sockets were handed over: it takes one"))),
    }
    let listener = sockets.take_tcp_listener(0).map_err(unusable)?;
    if let Some(listener) = &listener {
        listener.set_nonblocking(true).map_err(unusable)?;
    }
    Ok(listener)
}

/// Tells that connections are accepted, and from now on that the program works, as often as it is wanted.
#[cfg(unix)]
pub(super) fn ready(address: SocketAddr) {
    use sd_notify::NotifyState;

    let patience = sd_notify::watchdog_enabled();
    tokio::spawn(async move {
        let status = format!("serves at {address}");
        tell(move || sd_notify::notify(&[NotifyState::Ready, NotifyState::Status(&status)])).await;
        let Some(patience) = patience else { return };
        // Twice as often as it has to be. An interval can't be without length.
        let mut interval = tokio::time::interval((patience / 2).max(Duration::from_millis(1)));
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            tell(|| sd_notify::notify(&[NotifyState::Watchdog])).await;
        }
    });
}

/// Tells that the program is about to end. Whoever does not listen keeps it for a second.
#[cfg(unix)]
pub(super) async fn stopping() {
    let told = tell(|| sd_notify::notify(&[sd_notify::NotifyState::Stopping]));
    let _ = tokio::time::timeout(Duration::from_secs(1), told).await;
}

/// Tells something, and does nothing without somebody to tell. Who listens slowly makes the sender wait, which must keep
/// neither requests nor the end of the program: hence a thread that nobody waits for then.
#[cfg(unix)]
async fn tell(notify: impl FnOnce() -> std::io::Result<()> + Send + 'static) {
    if std::env::var_os("NOTIFY_SOCKET").is_none() {
        return;
    }
    let (sender, told) = tokio::sync::oneshot::channel();
    let spawned = std::thread::Builder::new().name("notify".into()).spawn(move || sender.send(notify()));
    let result = match spawned {
        Ok(_) => told.await.unwrap_or(Ok(())),
        Err(error) => Err(error),
    };
    if let Err(error) = result {
        tracing::warn!(%error, "whoever has started the program can't be told of it");
    }
}

#[cfg(not(unix))]
pub(super) fn listener() -> Result<Option<TcpListener>, Failure> {
    Ok(None)
}

#[cfg(not(unix))]
pub(super) fn ready(_: SocketAddr) {}

#[cfg(not(unix))]
pub(super) async fn stopping() {}
