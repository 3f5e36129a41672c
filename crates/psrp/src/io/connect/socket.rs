//! Servers that listen on a local socket.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tokio::io::{ReadHalf, WriteHalf};
#[cfg(unix)]
use tokio::net::UnixStream as Stream;
#[cfg(windows)]
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient as Stream};

use crate::error::{Error, Kind};
use crate::io::{Connect, Lines};
use crate::outofproc::{ReaderOptions, Role};

/// Where .NET has the sockets that stand for named pipes, and how their names begin.
#[cfg(unix)]
const PREFIX: &str = "CoreFxPipe_";
#[cfg(windows)]
const PREFIX: &str = "";

/// What the names of sockets begin with that running PowerShell processes listen on.
const OF_PROCESS: &str = "PSHost.";

/// Connects to a PowerShell that runs, by the Unix domain socket or, on Windows, the named pipe that it listens on. There
/// is one client at a time.
///
/// ```no_run
/// # async fn example() -> Result<(), psrp::Error> {
/// use psrp::io::{Options, RunspacePool, Socket};
///
/// let pool = RunspacePool::open(&Socket::of_process(4242)?, Options::new()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Socket {
    path: PathBuf,
    reading: ReaderOptions,
}

impl Socket {
    /// The socket or pipe with this path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), reading: ReaderOptions::new() }
    }

    /// The socket of a PowerShell that was started with `-CustomPipeName`.
    pub fn named(name: &str) -> Self {
        Self::new(directory().join(format!("{PREFIX}{name}")))
    }

    /// The socket of the PowerShell with this process identifier, the latest if there are several.
    ///
    /// On Linux a socket counts only if it belongs to the user of the process: the directory of temporary files is open
    /// to all, and others might have put one there.
    ///
    /// # Errors
    ///
    /// Fails if there is none ([`Error::is_closed`]) and if the directory of the sockets can't be read
    /// ([`Error::is_io`]).
    pub fn of_process(id: u32) -> Result<Self, Error> {
        let found = find(&directory(), id)?;
        found.map(Self::new).ok_or_else(|| {
            Error::with(Kind::Closed, format!("no PowerShell with the process identifier {id} listens"))
        })
    }

    /// The path of the socket or pipe.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Limits of what is read.
    #[must_use]
    pub fn reader_options(mut self, options: ReaderOptions) -> Self {
        self.reading = options;
        self
    }

    #[cfg(unix)]
    async fn stream(&self) -> std::io::Result<Stream> {
        Stream::connect(&self.path).await
    }

    #[cfg(windows)]
    async fn stream(&self) -> std::io::Result<Stream> {
        ClientOptions::new().open(&self.path)
    }
}

impl Connect for Socket {
    type Transport = Lines<ReadHalf<Stream>, WriteHalf<Stream>>;

    async fn connect(&self) -> Result<Self::Transport, Error> {
        let stream = self.stream().await.map_err(|error| {
            let path = self.path.to_string_lossy();
            Error::with(Kind::Io, format!("can't connect to {}", crate::terminal_safe(&path)))
                .caused_by(error)
        })?;
        let (read, write) = tokio::io::split(stream);
        Ok(Lines::with_options(Role::Client, read, write, self.reading))
    }
}

#[cfg(unix)]
fn directory() -> PathBuf {
    std::env::temp_dir()
}

#[cfg(windows)]
fn directory() -> PathBuf {
    PathBuf::from(r"\\.\pipe\")
}

/// The latest socket in a directory that a process listens on.
fn find(directory: &Path, id: u32) -> Result<Option<PathBuf>, Error> {
    let mut latest: Option<(SystemTime, PathBuf)> = None;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !is_of_process(&entry.file_name(), id) {
            continue;
        }
        let path = entry.path();
        // It may be gone since the directory was read. Pipes of Windows tell nothing about themselves.
        let time = match fs::symlink_metadata(&path) {
            Ok(metadata) if !is_trusted(&metadata, id) => continue,
            Ok(metadata) => metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            Err(_) if cfg!(windows) => SystemTime::UNIX_EPOCH,
            Err(_) => continue,
        };
        if latest.as_ref().is_none_or(|(other, _)| *other <= time) {
            latest = Some((time, path));
        }
    }
    Ok(latest.map(|(_, path)| path))
}

/// Whether a name is `PSHost.<start>.<process>.<domain>.<name>` with what .NET puts before it.
fn is_of_process(name: &OsStr, id: u32) -> bool {
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { return false };
    let Some(rest) = rest.strip_prefix(OF_PROCESS) else { return false };
    let mut parts = rest.split('.');
    parts.next().is_some_and(|start| !start.is_empty())
        && parts.next().is_some_and(|own| own.parse() == Ok(id))
        && parts.next().is_some()
}

#[cfg(target_os = "linux")]
fn is_trusted(metadata: &fs::Metadata, id: u32) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    let owner = fs::metadata(format!("/proc/{id}")).map(|process| process.uid());
    metadata.file_type().is_socket() && owner.is_ok_and(|owner| owner == metadata.uid())
}

#[cfg(not(target_os = "linux"))]
fn is_trusted(_: &fs::Metadata, _: u32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_process() {
        let name = |rest: &str| is_of_process(OsStr::new(&format!("{PREFIX}{rest}")), 42);
        assert!(name("PSHost.1D8A3F00.42.None.pwsh"));
        assert!(name("PSHost.133370000000000000.42.DefaultAppDomain.pwsh"));
        for other in
            ["PSHost.42.7.None.pwsh", "PSHost.1D8A3F00.421.None.pwsh", "PSHost.1.42", "x.1.42.None.a"]
        {
            assert!(!name(other), "{other}");
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_socket_of_a_process_is_found() {
        let id = std::process::id();
        let directory = std::env::temp_dir().join(format!("psrp-socket-{id}"));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join(format!("{PREFIX}PSHost.1D8A3F00.{id}.None.pwsh"));
        assert_eq!(find(&directory, id).unwrap(), None);
        // A file is no socket.
        fs::write(&path, "").unwrap();
        assert_eq!(find(&directory, id).unwrap(), None);
        fs::remove_file(&path).unwrap();
        let listener = tokio::net::UnixListener::bind(&path).unwrap();
        assert_eq!(find(&directory, id).unwrap(), Some(path.clone()));
        let socket = Socket::new(&path);
        let (accepted, connected) = tokio::join!(listener.accept(), socket.connect());
        accepted.unwrap();
        connected.unwrap();
        drop(listener);
        fs::remove_dir_all(&directory).unwrap();
        assert!(find(&directory, id).unwrap_err().is_io());
        assert!(socket.connect().await.unwrap_err().is_io());
    }
}
