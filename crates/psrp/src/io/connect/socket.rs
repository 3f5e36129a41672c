//! Connector for servers that listen on a local socket or named pipe.

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

/// Prefix of the Unix domain sockets that .NET creates for named pipes.
#[cfg(unix)]
const PREFIX: &str = "CoreFxPipe_";
#[cfg(windows)]
const PREFIX: &str = "";

/// Prefix of the names of sockets that PowerShell processes listen on.
const PROCESS_PREFIX: &str = "PSHost.";

/// Connects to a running PowerShell process over its Unix domain socket or, on Windows, its named pipe. The process
/// serves one client at a time.
///
/// The sockets are in the directory of temporary files, which all users can write to. Sockets found by
/// [process](Self::of_process) or [name](Self::named) are trusted only if the current user owns the socket and runs the
/// listening process. A socket given by [path](Self::new) is not checked, and neither is a named pipe on Windows.
///
/// ```no_run
/// # async fn example() -> Result<(), psrp::Error> {
/// use psrp::io::{Options, Session, Socket};
///
/// let session = Session::open(&Socket::of_process(4242)?, Options::new()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Socket {
    path: PathBuf,
    reader_options: ReaderOptions,
    /// Required user of the server, if checked.
    #[cfg(unix)]
    user: Option<u32>,
}

impl Socket {
    /// Connects to this path without checking the owner.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            reader_options: ReaderOptions::new(),
            #[cfg(unix)]
            user: None,
        }
    }

    /// Connects to a PowerShell process started with `-CustomPipeName`.
    ///
    /// Connecting fails with [`Error::is_untrusted`] if another user listens on the socket.
    pub fn named(name: &str) -> Self {
        Self::new(directory().join(format!("{PREFIX}{name}"))).for_current_user()
    }

    /// Finds the socket of the PowerShell process with this identifier, the newest if there are several.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_closed`] if there is none, with [`Error::is_untrusted`] if another user owns the socket
    /// or the process, and with [`Error::is_io`] if the socket directory cannot be read. Connecting fails with
    /// [`Error::is_untrusted`] if another user listens on the socket.
    pub fn of_process(id: u32) -> Result<Self, Error> {
        let found = find_socket(&directory(), id, current_user())?;
        found
            .map(|path| Self::new(path).for_current_user())
            .ok_or_else(|| Error::with(Kind::Closed, format!("no PowerShell process {id} is listening")))
    }

    /// Requires the server to run as the current user.
    fn for_current_user(self) -> Self {
        Self {
            #[cfg(unix)]
            user: Some(current_user()),
            ..self
        }
    }

    /// Returns the path of the socket or pipe.
    pub fn path(&self) -> &Path {
        &self.path
    }

    setters! {
        /// Sets the limits for reading packets.
        reader_options(options: ReaderOptions) => reader_options = options;
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
            let path = display_path(&self.path);
            Error::with(Kind::Io, format!("can't connect to {path}")).caused_by(error)
        };
        let stream = self.stream().await.map_err(failed)?;
        #[cfg(unix)]
        if let Some(user) = self.user {
            // The socket may have been replaced after it was found.
            let owner = stream.peer_cred().map_err(failed)?.uid();
            if owner != user {
                return Err(wrong_owner(&self.path, "is served by", owner, user));
            }
        }
        let (read, write) = tokio::io::split(stream);
        Ok(Lines::with_options(Role::Client, read, write, self.reader_options))
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

/// Unused: pipes are not checked.
#[cfg(windows)]
fn current_user() -> u32 {
    0
}

/// Escapes a path for messages. Any user can choose names in the directory of temporary files.
fn display_path(path: &Path) -> String {
    crate::terminal_safe(&path.to_string_lossy()).to_string()
}

#[cfg(unix)]
#[cold]
fn wrong_owner(path: &Path, relation: &str, owner: u32, user: u32) -> Error {
    let path = display_path(path);
    let what =
        format!("socket {path} {relation} user {owner}, not user {user} (use its path to connect anyway)");
    Error::with(Kind::Untrusted, what)
}

/// Returns the user's newest socket of a process in a directory. Fails if all sockets of the process belong to other
/// users.
fn find_socket(directory: &Path, id: u32, user: u32) -> Result<Option<PathBuf>, Error> {
    let mut latest: Option<(SystemTime, PathBuf)> = None;
    let mut rejected = None;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !names_process(&entry.file_name(), id) {
            continue;
        }
        let path = entry.path();
        // The entry may have been removed since. Named pipes on Windows have no metadata.
        let time = match fs::symlink_metadata(&path) {
            Ok(metadata) => match is_socket_of(&path, &metadata, id, user) {
                Ok(true) => metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                Ok(false) => continue,
                Err(error) => {
                    rejected = Some(error);
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
    match (latest, rejected) {
        (Some((_, path)), _) => Ok(Some(path)),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(None),
    }
}

/// Returns whether a name is `PSHost.<start>.<process>.<domain>.<name>`, with the .NET prefix.
fn names_process(name: &OsStr, id: u32) -> bool {
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { return false };
    let Some(rest) = rest.strip_prefix(PROCESS_PREFIX) else { return false };
    let mut parts = rest.split('.');
    parts.next().is_some_and(|start| !start.is_empty())
        && parts.next().is_some_and(|field| field.parse() == Ok(id))
        && parts.next().is_some()
}

/// Returns whether a file is a socket of a running process. Fails if another user owns the socket or, on Linux
/// according to `/proc`, the process.
#[cfg(unix)]
fn is_socket_of(path: &Path, metadata: &fs::Metadata, id: u32, user: u32) -> Result<bool, Error> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    if !metadata.file_type().is_socket() {
        return Ok(false);
    }
    if metadata.uid() != user {
        return Err(wrong_owner(path, "belongs to", metadata.uid(), user));
    }
    if cfg!(target_os = "linux") {
        let Ok(process) = fs::metadata(format!("/proc/{id}")) else { return Ok(false) };
        if process.uid() != user {
            return Err(wrong_owner(path, "names a process of", process.uid(), user));
        }
    }
    Ok(true)
}

#[cfg(windows)]
fn is_socket_of(_: &Path, _: &fs::Metadata, _: u32, _: u32) -> Result<bool, Error> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates an empty directory, and returns it and a path for a socket of this process in it.
    #[cfg(unix)]
    fn test_socket(name: &str) -> (PathBuf, PathBuf) {
        let id = std::process::id();
        let directory = std::env::temp_dir().join(format!("psrp-{name}-{id}"));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join(format!("{PREFIX}PSHost.1D8A3F00.{id}.None.pwsh"));
        (directory, path)
    }

    #[cfg(unix)]
    #[test]
    fn socket_of_another_user_is_rejected() {
        let (id, user) = (std::process::id(), current_user());
        let (directory, path) = test_socket("wrong_owner");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        // From the point of view of another user.
        let error = find_socket(&directory, id, user + 1).unwrap_err();
        assert!(error.is_untrusted(), "{error}");
        let text = format!("belongs to user {user}, not user {} (use its path", user + 1);
        assert!(error.to_string().contains(&text), "{error}");
        // A socket of the current user is accepted even if other users have created some for the same process.
        if user == 0 {
            let other = directory.join(format!("{PREFIX}PSHost.2D8A3F00.{id}.None.pwsh"));
            let _other = std::os::unix::net::UnixListener::bind(&other).unwrap();
            std::os::unix::fs::chown(&other, Some(12_345), None).unwrap();
            assert_eq!(find_socket(&directory, id, user).unwrap(), Some(path.clone()));
            fs::remove_file(&path).unwrap();
            assert!(find_socket(&directory, id, user).unwrap_err().is_untrusted());
        }
        fs::remove_dir_all(&directory).unwrap();
        assert!(find_socket(&directory, id, user).unwrap_err().is_io());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn server_of_another_user_is_rejected() {
        let user = current_user();
        let (directory, path) = test_socket("server");
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
