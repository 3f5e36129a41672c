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
/// The sockets are in the directory of temporary files, which is open to all users. Sockets found by
/// [process](Self::of_process) or [name](Self::named) are trusted only if the current user owns them and the process that
/// listens. A socket given by its [path](Self::new) is not checked, and neither is a named pipe of Windows.
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
    /// The user that the server has to run as, if that is checked.
    #[cfg(unix)]
    user: Option<u32>,
}

impl Socket {
    /// The socket or pipe with this path, whoever owns it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            reading: ReaderOptions::new(),
            #[cfg(unix)]
            user: None,
        }
    }

    /// The socket of a PowerShell that was started with `-CustomPipeName`.
    ///
    /// Connecting fails if another user listens on it ([`Error::is_untrusted`]).
    pub fn named(name: &str) -> Self {
        Self::new(directory().join(format!("{PREFIX}{name}"))).own()
    }

    /// The socket of the PowerShell with this process identifier, the latest if there are several.
    ///
    /// # Errors
    ///
    /// Fails if there is none ([`Error::is_closed`]), if another user owns the socket or the process
    /// ([`Error::is_untrusted`]), and if the directory of the sockets can't be read ([`Error::is_io`]). Connecting fails if
    /// another user listens on the socket ([`Error::is_untrusted`]).
    pub fn of_process(id: u32) -> Result<Self, Error> {
        let found = find(&directory(), id, current_user())?;
        found.map(|path| Self::new(path).own()).ok_or_else(|| {
            Error::with(Kind::Closed, format!("no PowerShell with the process identifier {id} listens"))
        })
    }

    /// The same socket, trusted only if the current user listens on it.
    fn own(self) -> Self {
        Self {
            #[cfg(unix)]
            user: Some(current_user()),
            ..self
        }
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
        let failed = |error| {
            let path = shown(&self.path);
            Error::with(Kind::Io, format!("can't connect to {path}")).caused_by(error)
        };
        let stream = self.stream().await.map_err(failed)?;
        #[cfg(unix)]
        if let Some(user) = self.user {
            // The socket may have been replaced since it was found.
            let owner = stream.peer_cred().map_err(failed)?.uid();
            if owner != user {
                return Err(foreign(&self.path, "is served by", owner, user));
            }
        }
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

#[cfg(unix)]
fn current_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Pipes are not checked.
#[cfg(windows)]
fn current_user() -> u32 {
    0
}

/// A path as it may be shown: any user can choose names in the directory of temporary files.
fn shown(path: &Path) -> String {
    crate::terminal_safe(&path.to_string_lossy()).to_string()
}

#[cfg(unix)]
#[cold]
fn foreign(path: &Path, relation: &str, owner: u32, user: u32) -> Error {
    let path = shown(path);
    let what =
        format!("socket {path} {relation} user {owner}, not user {user} (use its path to connect anyway)");
    Error::with(Kind::Untrusted, what)
}

/// The latest socket of a user in a directory that a process listens on.
///
/// # Errors
///
/// Fails if the only sockets of that process belong to other users.
fn find(directory: &Path, id: u32, user: u32) -> Result<Option<PathBuf>, Error> {
    let mut latest: Option<(SystemTime, PathBuf)> = None;
    let mut refused = None;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !is_of_process(&entry.file_name(), id) {
            continue;
        }
        let path = entry.path();
        // It may be gone since the directory was read. Pipes of Windows tell nothing about themselves.
        let time = match fs::symlink_metadata(&path) {
            Ok(metadata) => match check(&path, &metadata, id, user) {
                Ok(true) => metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                Ok(false) => continue,
                Err(error) => {
                    refused = Some(error);
                    continue;
                }
            },
            Err(_) if cfg!(windows) => SystemTime::UNIX_EPOCH,
            Err(_) => continue,
        };
        if latest.as_ref().is_none_or(|(other, _)| *other <= time) {
            latest = Some((time, path));
        }
    }
    match (latest, refused) {
        (Some((_, path)), _) => Ok(Some(path)),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(None),
    }
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

/// Whether a file is a socket of this process.
///
/// # Errors
///
/// Fails if another user owns the socket or, where `/proc` tells that, the process.
#[cfg(unix)]
fn check(path: &Path, metadata: &fs::Metadata, id: u32, user: u32) -> Result<bool, Error> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    if !metadata.file_type().is_socket() {
        return Ok(false);
    }
    if metadata.uid() != user {
        return Err(foreign(path, "belongs to", metadata.uid(), user));
    }
    if cfg!(target_os = "linux") {
        let Ok(process) = fs::metadata(format!("/proc/{id}")) else { return Ok(false) };
        if process.uid() != user {
            return Err(foreign(path, "names a process of", process.uid(), user));
        }
    }
    Ok(true)
}

#[cfg(windows)]
fn check(_: &Path, _: &fs::Metadata, _: u32, _: u32) -> Result<bool, Error> {
    Ok(true)
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

    /// An empty directory for sockets, and the path of a socket of this process in it.
    #[cfg(unix)]
    fn place(name: &str) -> (PathBuf, PathBuf) {
        let id = std::process::id();
        let directory = std::env::temp_dir().join(format!("psrp-{name}-{id}"));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join(format!("{PREFIX}PSHost.1D8A3F00.{id}.None.pwsh"));
        (directory, path)
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_socket_of_a_process_is_found() {
        let (id, user) = (std::process::id(), current_user());
        let (directory, path) = place("socket");
        assert_eq!(find(&directory, id, user).unwrap(), None);
        // A file is no socket.
        fs::write(&path, "").unwrap();
        assert_eq!(find(&directory, id, user).unwrap(), None);
        fs::remove_file(&path).unwrap();
        let listener = tokio::net::UnixListener::bind(&path).unwrap();
        assert_eq!(find(&directory, id, user).unwrap(), Some(path.clone()));
        let socket = Socket::new(&path).own();
        let (accepted, connected) = tokio::join!(listener.accept(), socket.connect());
        accepted.unwrap();
        connected.unwrap();
        drop(listener);
        fs::remove_dir_all(&directory).unwrap();
        assert!(find(&directory, id, user).unwrap_err().is_io());
        assert!(socket.connect().await.unwrap_err().is_io());
    }

    #[cfg(unix)]
    #[test]
    fn a_socket_of_another_user_is_refused() {
        let (id, user) = (std::process::id(), current_user());
        let (directory, path) = place("foreign");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        // Seen by another user.
        let error = find(&directory, id, user + 1).unwrap_err();
        assert!(error.is_untrusted(), "{error}");
        let text = format!("belongs to user {user}, not user {} (use its path", user + 1);
        assert!(error.to_string().contains(&text), "{error}");
        // A socket of the current user counts, whatever others have put beside it.
        if user == 0 {
            let other = directory.join(format!("{PREFIX}PSHost.2D8A3F00.{id}.None.pwsh"));
            let _other = std::os::unix::net::UnixListener::bind(&other).unwrap();
            std::os::unix::fs::chown(&other, Some(12_345), None).unwrap();
            assert_eq!(find(&directory, id, user).unwrap(), Some(path.clone()));
            fs::remove_file(&path).unwrap();
            assert!(find(&directory, id, user).unwrap_err().is_untrusted());
        }
        fs::remove_dir_all(&directory).unwrap();
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_server_of_another_user_is_refused() {
        let user = current_user();
        let (directory, path) = place("server");
        let listener = tokio::net::UnixListener::bind(&path).unwrap();
        let socket = Socket { user: Some(user + 1), ..Socket::new(&path) };
        let (_, connected) = tokio::join!(listener.accept(), socket.connect());
        let error = connected.err().unwrap();
        assert!(error.is_untrusted(), "{error}");
        assert!(error.to_string().contains("is served by"), "{error}");
        assert_eq!(Socket::named("x").user, Some(user));
        fs::remove_dir_all(&directory).unwrap();
    }
}
