//! What systemd, or whoever else starts programs as it does, hands to the program and is told by it.

use std::net::{SocketAddr, TcpListener};

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

    tell(&[NotifyState::Ready, NotifyState::Status(&format!("serves at {address}"))]);
    let Some(patience) = sd_notify::watchdog_enabled() else { return };
    // Whoever does not read what they are told holds up a thread of its own, and no answer.
    let (beat, beats) = std::sync::mpsc::sync_channel(1);
    let work = move || beats.iter().for_each(|()| tell(&[NotifyState::Watchdog]));
    if let Err(error) = std::thread::Builder::new().name("pypi-proxy-beat".into()).spawn(work) {
        tracing::warn!(%error, "whoever has started the program can't be told that it works");
        return;
    }
    tokio::spawn(async move {
        // Twice as often as it has to be. An interval can't be without length.
        let mut interval = tokio::time::interval((patience / 2).max(std::time::Duration::from_millis(1)));
        loop {
            interval.tick().await;
            // If the last one has not been taken yet, one more says the same.
            let _ = beat.try_send(());
        }
    });
}

/// Tells that the program is about to end.
#[cfg(unix)]
pub(super) fn stopping() {
    tell(&[sd_notify::NotifyState::Stopping]);
}

/// Without somebody to tell it does nothing.
#[cfg(unix)]
fn tell(states: &[sd_notify::NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
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
pub(super) fn stopping() {}
