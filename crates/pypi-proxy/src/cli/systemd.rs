//! Socket activation, readiness and watchdog notifications of systemd.

use std::io;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use pypi_proxy::config::Listen;
use sd_notify::NotifyState;
use tokio::net::TcpListener;

use super::listen::{Bound, tcp_address};
use super::unix_socket::tokio_listener;

/// Name of passed sockets (`FileDescriptorName=`) that replace `admin_listen`.
const ADMIN: &str = "admin";

/// A passed socket, and whether it replaces `admin_listen`.
pub(super) type PassedSocket = (PassedListener, bool);

pub(super) enum PassedListener {
    Tcp(std::net::TcpListener),
    Unix(UnixListener),
}

impl PassedListener {
    pub(super) fn into_bound(self) -> io::Result<Bound> {
        let (listener, address) = match self {
            Self::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                let listener = TcpListener::from_std(listener)?;
                let address = tcp_address(&listener)?;
                (listener.into(), address)
            }
            Self::Unix(listener) => {
                let path = listener.local_addr()?.as_pathname().map(Path::to_owned);
                (tokio_listener(listener)?.into(), Listen::Unix(path.unwrap_or_default()))
            }
        };
        // The file belongs to systemd.
        Ok(Bound { listener, address, file: None })
    }
}

/// Returns the passed sockets, and removes their environment variables. Must run before other threads start.
pub(super) fn sockets() -> Result<Vec<PassedSocket>> {
    let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
    let names: Vec<_> = names.split(':').collect();
    let mut sockets = listenfd::ListenFd::from_env();
    let count = sockets.len();
    let mut take = |at| {
        let socket = match sockets.take_tcp_listener(at) {
            Ok(listener) => listener.map(PassedListener::Tcp),
            Err(_) => sockets.take_unix_listener(at)?.map(PassedListener::Unix),
        };
        let is_admin = names.get(at) == Some(&ADMIN);
        io::Result::Ok(socket.map(|socket| (socket, is_admin)))
    };
    let all = (0..count).map(&mut take).filter_map(Result::transpose);
    all.collect::<io::Result<_>>().context("a passed socket can't be used")
}

/// Notifies systemd that the proxy is ready, and starts the watchdog notifications.
pub(super) fn ready(addresses: &str) {
    let watchdog_timeout = sd_notify::watchdog_enabled();
    let status = format!("serves at {addresses}");
    tokio::spawn(async move {
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
    briefly(send(|| sd_notify::notify(&[NotifyState::Stopping]))).await;
}

/// Notifies systemd that the settings are being reloaded. Waits at most one second.
pub(super) async fn reloading() {
    let notify = || sd_notify::notify(&[NotifyState::Reloading, NotifyState::monotonic_usec_now()?]);
    briefly(send(notify)).await;
}

/// Notifies systemd that the reload is complete. Waits at most one second.
pub(super) async fn reloaded() {
    briefly(send(|| sd_notify::notify(&[NotifyState::Ready]))).await;
}

async fn briefly(sent: impl Future<Output = ()>) {
    let _ = tokio::time::timeout(Duration::from_secs(1), sent).await;
}

/// Sends a notification if `NOTIFY_SOCKET` is set. A slow receiver blocks the sender, so that a separate thread sends.
async fn send(notify: impl FnOnce() -> io::Result<()> + Send + 'static) {
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
