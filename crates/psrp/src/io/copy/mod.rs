//! Copies files between this machine and the machine of a session.

use std::io;
use std::path::{Path, PathBuf, is_separator};

use aws_lc_rs::digest::{Context, SHA256};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use uuid::Uuid;

use super::Session;
use super::client::not_completed;
use crate::client::PipelineEvent;
use crate::error::{Error, Kind};
use crate::message::{Command, PipelineState, PowerShell};
use crate::value::{PsString, Value};

const UPLOAD: &str = concat!(
    "param([string]$Path, [string]$Name, [bool]$Overwrite)\n",
    include_str!("common.ps1"),
    include_str!("upload.ps1")
);
const DOWNLOAD: &str = concat!(
    "param([string]$Path, [int]$ChunkSize)\n",
    include_str!("common.ps1"),
    include_str!("download.ps1")
);

/// Maximum number of unacknowledged chunks before the next one is read.
const WINDOW: u64 = 16;

type OnProgress<'a> = Box<dyn FnMut(u64, Option<u64>) + Send + 'a>;

/// Options of [`copy_to`] and [`copy_from`].
pub struct CopyOptions<'a> {
    chunk_size: usize,
    overwrite: bool,
    on_progress: Option<OnProgress<'a>>,
}

impl<'a> CopyOptions<'a> {
    /// Default of [`chunk_size`](Self::chunk_size): 256 KiB.
    pub const DEFAULT_CHUNK_SIZE: usize = 256 << 10;
    /// Maximum of [`chunk_size`](Self::chunk_size): 16 MiB.
    pub const MAX_CHUNK_SIZE: usize = 16 << 20;

    /// Creates options with the default chunk size; existing files are not overwritten.
    pub fn new() -> Self {
        Self { chunk_size: Self::DEFAULT_CHUNK_SIZE, overwrite: false, on_progress: None }
    }

    setters! {
        /// Sets the maximum bytes per chunk, which is one object of the pipeline. At most 17 chunks of an upload are in
        /// memory, client and server together. The value is clamped to 1 to [`MAX_CHUNK_SIZE`](Self::MAX_CHUNK_SIZE).
        /// Default: [`DEFAULT_CHUNK_SIZE`](Self::DEFAULT_CHUNK_SIZE), 256 KiB.
        chunk_size(bytes: usize) => chunk_size = bytes.clamp(1, Self::MAX_CHUNK_SIZE);
        /// Sets whether to replace an existing file. The new file gets its permissions; a symbolic link is replaced,
        /// not followed. Default: false, the copy fails.
        overwrite(overwrite: bool) => overwrite = overwrite;
        /// Calls a function once at the start and after every chunk, with the bytes written to the destination and the
        /// initial size of the source (`None` for a local pipe).
        on_progress(call: impl FnMut(u64, Option<u64>) + Send + 'a) => on_progress = Some(Box::new(call));
    }

    fn progress(&mut self, copied: u64, total: Option<u64>) {
        if let Some(call) = &mut self.on_progress {
            call(copied, total);
        }
    }
}

impl_default!(CopyOptions<'_>);

impl_debug!(CopyOptions<'_> |this| chunk_size = this.chunk_size, overwrite = this.overwrite);

/// Result of [`copy_to`] or [`copy_from`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedFile {
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// SHA-256 of the contents, computed and compared on both machines.
    pub sha256: [u8; 32],
}

/// Copies a local file to the machine of a session. Requires the features `tokio` and `crypto`.
///
/// The remote path is literal, without wildcards, and relative to the session's current location. If it is a directory,
/// the file name is retained. Directories are not created.
///
/// A remote script writes the chunks to a file named `.psrp-*` in the same directory, computes its SHA-256, and renames
/// it if the hash matches. If the hashes differ or the copy is stopped, it removes the file. The file remains only if
/// the server is terminated. Dropping the future stops the copy.
///
/// The script requires PowerShell 5 or later in full language mode. It is a single pipeline: a limit of a WSMan session
/// configuration on the data per command applies to the whole file.
///
/// # Errors
///
/// Fails with [`Error::is_io`] if the local file cannot be read; with [`Error::is_pipeline`] and the server's reason if
/// the remote file cannot be written or already exists; with [`Error::is_corrupt`] if the hashes differ; and like
/// [`Session::start`].
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), psrp::Error> {
/// use psrp::io::{Child, CopyOptions, Options, Session, copy_to};
///
/// let session = Session::open(&Child::default(), Options::new()).await?;
/// let options = CopyOptions::new()
///     .overwrite(true)
///     .on_progress(|copied, total| eprintln!("{copied} of {} bytes", total.unwrap_or(copied)));
/// let file = copy_to(&session, "build/app.zip", r"C:\deploy", options).await?;
/// println!("{} bytes with SHA-256 {:02x?}", file.bytes, file.sha256);
/// session.close().await?;
/// # Ok(())
/// # }
/// ```
pub async fn copy_to(
    session: &Session,
    local: impl AsRef<Path>,
    remote: impl Into<PsString>,
    mut options: CopyOptions<'_>,
) -> Result<CopiedFile, Error> {
    let local = local.as_ref();
    let (mut file, total) = open(local).await?;
    file.set_max_buf_size(options.chunk_size);
    let name = local.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let script = Command::script(UPLOAD)
        .local_scope(true)
        .parameter("Path", remote.into())
        .parameter("Name", name)
        .parameter("Overwrite", options.overwrite);
    let mut pipeline = session.start_with_input(PowerShell::new().command(script)).await?;
    options.progress(0, total);

    let mut digest = Context::new(&SHA256);
    let mut buffer = vec![0; options.chunk_size];
    let window = WINDOW * options.chunk_size as u64;
    let (mut sent, mut written) = (0, 0);
    loop {
        let count = file.read(&mut buffer).await.map_err(|error| file_error("read", local, error))?;
        if count == 0 {
            break;
        }
        digest.update(&buffer[..count]);
        if !send(&pipeline, buffer[..count].to_vec()).await? {
            break;
        }
        sent += count as u64;
        while sent - written > window {
            match next_output(&mut pipeline).await? {
                Some(value) => written = written_bytes(&value, sent)?,
                None => return Err(unexpected()),
            }
            options.progress(written, total);
        }
    }
    let expected = finish(digest);
    if send(&pipeline, hex(&expected)).await? {
        match pipeline.end_input().await {
            Err(error) if !error.is_state() => return Err(error),
            _ => {}
        }
    }
    let mut actual = None;
    while let Some(value) = next_output(&mut pipeline).await? {
        match value {
            Value::String(hash) => actual = Some(hash),
            value => options.progress(written_bytes(&value, sent)?, total),
        }
    }
    check_hash(&expected, actual)?;
    Ok(CopiedFile { bytes: sent, sha256: expected })
}

/// Copies a file from the machine of a session to a local file. Requires the features `tokio` and `crypto`.
///
/// Paths are treated as in [`copy_to`]: if the local path is a directory, the file name is retained. The bytes are
/// written to a file named `.psrp-*` in the same directory. It is renamed if its SHA-256 matches the one that the
/// remote script computes after reading the file; otherwise it is removed. Dropping the future stops the copy.
///
/// # Errors
///
/// Fails with [`Error::is_io`] if the local file cannot be written or already exists; with [`Error::is_pipeline`] and
/// the server's reason if the remote file cannot be read; with [`Error::is_corrupt`] if the hashes differ, which
/// includes changes of the remote file during the copy; with [`Error::is_protocol`] if the script's output is not as
/// expected; and like [`Session::start`].
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), psrp::Error> {
/// use psrp::io::{Child, CopyOptions, Options, Session, copy_from};
///
/// let session = Session::open(&Child::default(), Options::new()).await?;
/// // To the current directory, with the same name.
/// let file = copy_from(&session, "/var/log/app [1].log", ".", CopyOptions::new()).await?;
/// println!("{} bytes", file.bytes);
/// session.close().await?;
/// # Ok(())
/// # }
/// ```
pub async fn copy_from(
    session: &Session,
    remote: impl Into<PsString>,
    local: impl AsRef<Path>,
    mut options: CopyOptions<'_>,
) -> Result<CopiedFile, Error> {
    let remote = remote.into();
    let destination = LocalDestination::new(local.as_ref(), &remote.to_str_lossy(), options.overwrite)?;
    let script = Command::script(DOWNLOAD)
        .local_scope(true)
        .parameter("Path", remote)
        .parameter("ChunkSize", options.chunk_size as i32);
    let mut pipeline = session.start(PowerShell::new().command(script)).await?;
    let Some(Value::Int64(total)) = next_output(&mut pipeline).await? else { return Err(unexpected()) };
    let total = u64::try_from(total).map_err(|_| unexpected())?;
    let mut file = destination.create().await?;
    options.progress(0, Some(total));

    let mut digest = Context::new(&SHA256);
    let (mut copied, mut expected) = (0, None);
    while let Some(value) = next_output(&mut pipeline).await? {
        match value {
            Value::Bytes(chunk) => {
                digest.update(&chunk);
                file.write_all(&chunk).await.map_err(|error| destination.write_error(error))?;
                copied += chunk.len() as u64;
                options.progress(copied, Some(total));
            }
            Value::String(hash) => expected = Some(hash),
            _ => return Err(unexpected()),
        }
    }
    file.flush().await.map_err(|error| destination.write_error(error))?;
    close(file).await;
    let actual = finish(digest);
    check_hash(&actual, expected)?;
    destination.rename()?;
    Ok(CopiedFile { bytes: copied, sha256: actual })
}

/// Closes the file, because Windows cannot rename open files.
async fn close(file: File) {
    drop(file.into_std().await);
}

/// Sends input. Returns false if the script has ended; its final state then contains the reason.
async fn send(pipeline: &super::Command, value: impl Into<Value>) -> Result<bool, Error> {
    match pipeline.send(value).await {
        Ok(()) => Ok(true),
        Err(error) if error.is_state() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the next object of the output, or `None` when the script has completed.
async fn next_output(pipeline: &mut super::Command) -> Result<Option<Value>, Error> {
    while let Some(event) = pipeline.next().await {
        match event? {
            PipelineEvent::Output(value) => return Ok(Some(value)),
            PipelineEvent::State(info) => match info.state {
                PipelineState::Completed => return Ok(None),
                PipelineState::Failed | PipelineState::Stopped => {
                    return Err(not_completed(info.state, info.error.as_deref()));
                }
                _ => {}
            },
            _ => {}
        }
    }
    Err(unexpected())
}

fn unexpected() -> Error {
    Error::with(Kind::Protocol, "unexpected output of the copy script")
}

/// Returns the number of bytes written by the server.
fn written_bytes(value: &Value, sent: u64) -> Result<u64, Error> {
    let Value::Int64(written) = value else { return Err(unexpected()) };
    u64::try_from(*written).ok().filter(|written| *written <= sent).ok_or_else(unexpected)
}

fn finish(digest: Context) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest.finish().as_ref());
    hash
}

fn hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Fails if the server's hash differs.
fn check_hash(local: &[u8; 32], remote: Option<PsString>) -> Result<(), Error> {
    match remote {
        None => Err(unexpected()),
        Some(remote) if remote == *hex(local) => Ok(()),
        Some(_) => {
            Err(Error::with(Kind::Corrupt, "the SHA-256 of the two files differ; the copy was removed"))
        }
    }
}

/// Returns the error of a local file operation.
fn file_error(action: &str, path: &Path, error: io::Error) -> Error {
    let path = path.display().to_string();
    Error::with(Kind::Io, format!("can't {action} {}", crate::terminal_safe(&path))).caused_by(error)
}

/// Opens the source file. Returns its size, or `None` if it is not a regular file (a pipe, for example).
async fn open(path: &Path) -> Result<(File, Option<u64>), Error> {
    let open = async {
        let file = File::open(path).await?;
        let metadata = file.metadata().await?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok((file, metadata.is_file().then_some(metadata.len())))
    };
    open.await.map_err(|error| file_error("read", path, error))
}

/// Local file being written, under a temporary name until it is complete. Dropping it removes the temporary file.
struct LocalDestination {
    path: PathBuf,
    temporary: PathBuf,
    overwrite: bool,
}

impl LocalDestination {
    fn new(local: &Path, remote: &str, overwrite: bool) -> Result<Self, Error> {
        let mut path = local.to_owned();
        if path.is_dir() {
            // The remote path can have separators of Windows or of Unix.
            let name = remote.rsplit(['/', '\\']).next().unwrap_or_default();
            if Path::new(name).file_name() != Some(name.as_ref()) {
                return Err(file_error("write", local, io::ErrorKind::IsADirectory.into()));
            }
            path.push(name);
        } else if path.to_string_lossy().ends_with(is_separator) {
            return Err(file_error("write", local, io::ErrorKind::NotADirectory.into()));
        }
        let temporary = path.with_file_name(format!(".psrp-{}", Uuid::new_v4().simple()));
        let destination = Self { path, temporary, overwrite };
        destination.existing()?;
        Ok(destination)
    }

    fn write_error(&self, error: io::Error) -> Error {
        file_error("write", &self.path, error)
    }

    /// Returns the metadata of the file to be overwritten, if it exists.
    fn existing(&self) -> Result<Option<std::fs::Metadata>, Error> {
        match std::fs::metadata(&self.path) {
            Ok(metadata) if self.overwrite && metadata.is_file() => Ok(Some(metadata)),
            Ok(_) => Err(self.write_error(io::ErrorKind::AlreadyExists.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.write_error(error)),
        }
    }

    async fn create(&self) -> Result<File, Error> {
        File::create_new(&self.temporary).await.map_err(|error| self.write_error(error))
    }

    fn rename(self) -> Result<(), Error> {
        let existing = self.existing()?;
        let rename = || {
            if let Some(metadata) = existing {
                std::fs::set_permissions(&self.temporary, metadata.permissions())?;
            }
            std::fs::rename(&self.temporary, &self.path)
        };
        rename().map_err(|error| self.write_error(error))
    }
}

impl Drop for LocalDestination {
    fn drop(&mut self) {
        // Fails after the rename and before the first chunk, when there is no temporary file.
        let _ = std::fs::remove_file(&self.temporary);
    }
}
