//! Binds Unix sockets.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use pypi_proxy::config::Listen;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

use super::listen::Bound;

/// Maximum connections that wait to be accepted at a Unix socket, as the standard library for TCP.
const BACKLOG: i32 = 4096;

/// Binds a socket with these permissions.
pub(super) fn bind_unix(path: &Path, mode: u32) -> io::Result<Bound> {
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

/// Tests whether a socket can be bound, without changes that remain.
pub(super) fn check(path: &Path) -> io::Result<()> {
    if is_stale(path)? { Ok(()) } else { fs::metadata(path.parent().unwrap_or(Path::new("/"))).map(drop) }
}
