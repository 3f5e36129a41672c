//! Binds the listeners of the proxy.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use pypi_proxy::config::{Listen, SettingValue};
use pypi_proxy::serve::Listener;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
use tokio::net::TcpListener;

/// Maximum connections that wait to be accepted at a Unix socket, as the standard library for TCP.
const BACKLOG: i32 = 4096;

/// A listener with its address: that of a free port if the setting is port 0.
pub(super) struct Bound {
    pub(super) listener: Listener,
    pub(super) address: Listen,
    /// Removes the socket file when dropped.
    pub(super) file: Option<SocketFile>,
}

impl Bound {
    /// Uses a listener that was passed by systemd. Its file belongs to systemd.
    pub(super) fn passed(listener: Listener) -> io::Result<Self> {
        let address = match &listener {
            Listener::Tcp(listener) => tcp_address(listener)?,
            Listener::Unix(listener) => {
                let path = listener.local_addr()?.as_pathname().map(Path::to_owned);
                Listen::Unix(path.unwrap_or_default())
            }
        };
        Ok(Self { listener, address, file: None })
    }

    /// Returns whether only this machine can connect.
    pub(super) fn is_local(&self) -> bool {
        match &self.listener {
            Listener::Tcp(listener) => listener.local_addr().is_ok_and(|address| address.ip().is_loopback()),
            Listener::Unix(_) => true,
        }
    }
}

fn tcp_address(listener: &TcpListener) -> io::Result<Listen> {
    let address = listener.local_addr()?;
    Ok(Listen::Tcp { host: address.ip().to_string(), port: address.port() })
}

/// Binds all addresses of a setting. Unix sockets get these permissions.
pub(super) async fn bind_all(setting: &SettingValue<Vec<Listen>>, mode: u32) -> Result<Vec<Bound>> {
    let mut all = Vec::new();
    for address in &setting.value {
        let bound = match address {
            Listen::Tcp { host, port } => tcp(host, *port).await,
            Listen::Unix(path) => unix(path, mode),
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

fn unix(path: &Path, mode: u32) -> io::Result<Bound> {
    // Of several programs that find the file of an ended one, the second must not remove the socket of the first.
    let dir = File::open(path.parent().unwrap_or(Path::new("/")))?;
    dir.lock()?;
    if is_stale(path)? {
        fs::remove_file(path)?;
    }
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    let file = SocketFile::of(path)?;
    // Clients can't connect before `listen`.
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    listen(&socket, BACKLOG)?;
    let listener = tokio_listener(socket.into())?;
    Ok(Bound { listener: listener.into(), address: Listen::Unix(path.to_owned()), file: Some(file) })
}

pub(super) fn tokio_listener(listener: UnixListener) -> io::Result<tokio::net::UnixListener> {
    listener.set_nonblocking(true)?;
    tokio::net::UnixListener::from_std(listener)
}

/// Returns whether the path is the socket of a program that has ended. Fails if it is anything else that exists.
fn is_stale(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "the path exists and is not a socket"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(io::Error::new(ErrorKind::AddrInUse, "the socket is in use by another program")),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(true),
        Err(error) => Err(error),
    }
}

/// The file of a socket. Removed when dropped, unless another program has replaced it.
pub(super) struct SocketFile {
    path: PathBuf,
    id: (u64, u64),
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), id: file_id(path)? })
    }
}

fn file_id(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if file_id(&self.path).is_ok_and(|id| id == self.id) {
            // If this fails, the next start removes it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Tests whether an address is available, without changes that remain.
pub(super) fn check(address: &Listen) -> io::Result<()> {
    match address {
        Listen::Tcp { host, port } => std::net::TcpListener::bind((&**host, *port)).map(drop),
        Listen::Unix(path) if is_stale(path)? => Ok(()),
        Listen::Unix(path) => fs::metadata(path.parent().unwrap_or(Path::new("/"))).map(drop),
    }
}
