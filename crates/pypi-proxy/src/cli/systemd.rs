//! Socket activation, readiness and watchdog notifications of systemd.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::Usage;

/// Returns the passed socket, if there is one, and removes its environment variables. Must run before other threads
/// start.
pub(super) fn listener() -> Result<Option<TcpListener>> {
    let mut sockets = listenfd::ListenFd::from_env();
    if sockets.len() > 1 {
        return Err(Usage(format!("{} sockets were passed, expected one", sockets.len())).into());
    }
    let mut take = || {
        let listener = sockets.take_tcp_listener(0)?;
        listener.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        std::io::Result::Ok(listener)
    };
    take().context("the passed socket can't be used")
}

/// Notifies systemd that the proxy is ready, and starts the watchdog notifications.
pub(super) fn ready(address: SocketAddr) {
    use sd_notify::NotifyState;

    let watchdog_timeout = sd_notify::watchdog_enabled();
    tokio::spawn(async move {
        let status = format!("serves at {address}");
        send(move || sd_notify::notify(&[NotifyState::Ready, NotifyState::Status(&status)])).await;
        let Some(watchdog_timeout) = watchdog_timeout else { return };
        // Half of the watchdog timeout. An interval of zero would panic.
        let mut interval = tokio::time::interval((watchdog_timeout / 2).max(Duration::from_millis(1)));
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            send(|| sd_notify::notify(&[NotifyState::Watchdog])).await;
        }
    });
}

/// Notifies systemd that the program is stopping. Waits at most one second.
pub(super) async fn stopping() {
    let sent = send(|| sd_notify::notify(&[sd_notify::NotifyState::Stopping]));
    let _ = tokio::time::timeout(Duration::from_secs(1), sent).await;
}

/// Sends a notification if `NOTIFY_SOCKET` is set. A slow receiver blocks the sender, so that a separate thread sends.
async fn send(notify: impl FnOnce() -> std::io::Result<()> + Send + 'static) {
    if std::env::var_os("NOTIFY_SOCKET").is_none() {
        return;
    }
    let (sender, sent) = tokio::sync::oneshot::channel();
    let spawned = std::thread::Builder::new().name("notify".into()).spawn(move || sender.send(notify()));
    let result = match spawned {
        Ok(_) => sent.await.unwrap_or(Ok(())),
        Err(error) => Err(error),
    };
    if let Err(error) = result {
        tracing::warn!(%error, "the service manager can't be notified");
    }
}
