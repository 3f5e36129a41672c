//! Binds the listeners of the proxy.

use std::io;

use anyhow::{Context as _, Result};
use pypi_proxy::config::{Listen, SettingValue};
use pypi_proxy::serve::Listener;
use tokio::net::TcpListener;

use super::unix_socket::{self, SocketFile, bind_unix};

/// A listener with its address: that of a free port if the setting is port 0.
pub(super) struct Bound {
    pub(super) listener: Listener,
    pub(super) address: Listen,
    /// Removes the socket file when dropped.
    pub(super) file: Option<SocketFile>,
}

impl Bound {
    /// Returns whether only this machine can connect.
    pub(super) fn is_local(&self) -> bool {
        match &self.listener {
            Listener::Tcp(listener) => listener.local_addr().is_ok_and(|address| address.ip().is_loopback()),
            #[cfg(unix)]
            Listener::Unix(_) => true,
        }
    }
}

pub(super) fn tcp_address(listener: &TcpListener) -> io::Result<Listen> {
    let address = listener.local_addr()?;
    Ok(Listen::Tcp { host: address.ip().to_string(), port: address.port() })
}

/// Binds all addresses of a setting. Unix sockets get these permissions.
pub(super) async fn bind_all(setting: &SettingValue<Vec<Listen>>, mode: u32) -> Result<Vec<Bound>> {
    let mut all = Vec::new();
    for address in &setting.value {
        let bound = match address {
            Listen::Tcp { host, port } => tcp(host, *port).await,
            Listen::Unix(path) => bind_unix(path, mode),
        };
        all.push(bound.with_context(|| format!("can't listen on {address} ({})", setting.origin))?);
    }
    Ok(all)
}

async fn tcp(host: &str, port: u16) -> io::Result<Bound> {
    let listener = TcpListener::bind((host, port)).await?;
    let address = tcp_address(&listener)?;
    Ok(Bound { listener: listener.into(), address, file: None })
}

/// Tests whether an address is available, without changes that remain.
pub(super) fn check(address: &Listen) -> io::Result<()> {
    match address {
        Listen::Tcp { host, port } => std::net::TcpListener::bind((&**host, *port)).map(drop),
        Listen::Unix(path) => unix_socket::check(path),
    }
}
