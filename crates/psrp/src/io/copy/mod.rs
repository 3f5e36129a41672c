//! Files to and from the machine of a session.

mod local;

use std::fmt;
use std::path::Path;

use aws_lc_rs::digest::{Context, SHA256};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use self::local::{Destination, can_not};
use super::client::not_completed;
use super::{Pipeline, RunspacePool};
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

/// Chunks that are sent before the server has written the first of them.
const WINDOW: u64 = 16;

type OnProgress<'a> = Box<dyn FnMut(u64, Option<u64>) + Send + 'a>;

/// How [`copy_to`] and [`copy_from`] copy a file.
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

    /// The default chunk size; existing files are not overwritten.
    pub fn new() -> Self {
        Self { chunk_size: Self::DEFAULT_CHUNK_SIZE, overwrite: false, on_progress: None }
    }

    /// Maximum bytes of a chunk, which is one object of the pipeline. An upload has at most 17 chunks in memory, on both
    /// sides together. Sizes outside of 1 to [`MAX_CHUNK_SIZE`](Self::MAX_CHUNK_SIZE) become the closest of these.
    /// Default: [`DEFAULT_CHUNK_SIZE`](Self::DEFAULT_CHUNK_SIZE), 256 KiB.
    #[must_use]
    pub fn chunk_size(mut self, bytes: usize) -> Self {
        self.chunk_size = bytes.clamp(1, Self::MAX_CHUNK_SIZE);
        self
    }

    /// Whether an existing file is replaced. The new one gets its permissions; a symbolic link is replaced, not followed.
    /// Default: no, the copy fails.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Calls a function with the bytes that the destination has written so far, and the size of the file at the beginning,
    /// `None` for a local pipe: once at the beginning, and after each chunk.
    #[must_use]
    pub fn on_progress(mut self, call: impl FnMut(u64, Option<u64>) + Send + 'a) -> Self {
        self.on_progress = Some(Box::new(call));
        self
    }

    fn progress(&mut self, copied: u64, total: Option<u64>) {
        if let Some(call) = &mut self.on_progress {
            call(copied, total);
        }
    }
}

impl Default for CopyOptions<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CopyOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyOptions")
            .field("chunk_size", &self.chunk_size)
            .field("overwrite", &self.overwrite)
            .finish_non_exhaustive()
    }
}

/// A file that [`copy_to`] or [`copy_from`] has copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of its contents, as both sides have computed it.
    pub sha256: [u8; 32],
}

/// Copies a local file to the machine of a session. With the features `tokio` and `crypto`.
///
/// The remote path is taken literally, without wildcards; a relative one begins at the location of the session. If it is a
/// directory, the file keeps its name. Directories are not created.
///
/// A script of the session writes the chunks to a file `.psrp-*` in the same directory, computes the SHA-256 of that file,
/// and renames it if it is that of the bytes that were read here. Otherwise, and when the copy is stopped, it removes the
/// file. It remains only if the server ends at once, and then under that name. Dropping the future stops the copy.
///
/// The script needs the full language of PowerShell 5 or later. It counts as one pipeline, so that limits of a WSMan session
/// configuration for the data that one command receives apply to the whole file.
///
/// # Errors
///
/// Fails if the local file can't be read ([`Error::is_io`]); if the server can't write the remote one, with its reason, or
/// the remote one exists ([`Error::is_pipeline`]); if the hashes differ ([`Error::is_corrupt`]); and as
/// [`RunspacePool::start`].
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), psrp::Error> {
/// use psrp::io::{Child, CopyOptions, Options, RunspacePool, copy_to};
///
/// let pool = RunspacePool::open(&Child::default(), Options::new()).await?;
/// let options = CopyOptions::new()
///     .overwrite(true)
///     .on_progress(|copied, total| eprintln!("{copied} of {} bytes", total.unwrap_or(copied)));
/// let file = copy_to(&pool, "build/app.zip", r"C:\deploy", options).await?;
/// println!("{} bytes with SHA-256 {:02x?}", file.bytes, file.sha256);
/// pool.close().await?;
/// # Ok(())
/// # }
/// ```
pub async fn copy_to(
    pool: &RunspacePool,
    local: impl AsRef<Path>,
    remote: impl Into<PsString>,
    mut options: CopyOptions<'_>,
) -> Result<Copied, Error> {
    let local = local.as_ref();
    let (mut file, total) = local::open(local).await?;
    file.set_max_buf_size(options.chunk_size);
    let name = local.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let script = Command::script(UPLOAD)
        .local_scope(true)
        .parameter("Path", remote.into())
        .parameter("Name", name)
        .parameter("Overwrite", options.overwrite);
    let mut pipeline = pool.start_with_input(PowerShell::new().command(script)).await?;
    options.progress(0, total);

    let mut digest = Context::new(&SHA256);
    let mut buffer = vec![0; options.chunk_size];
    let window = WINDOW * options.chunk_size as u64;
    let (mut sent, mut written) = (0, 0);
    loop {
        let count = file.read(&mut buffer).await.map_err(|error| can_not("read", local, error))?;
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
    check(&expected, actual)?;
    Ok(Copied { bytes: sent, sha256: expected })
}

/// Copies a file of the machine of a session to a local one. With the features `tokio` and `crypto`.
///
/// The paths are taken as by [`copy_to`]: if the local path is a directory, the file keeps its name. The bytes are written to
/// a file `.psrp-*` in the same directory, which is renamed if their SHA-256 is that of the remote file, computed by the
/// session after it was read. Otherwise it is removed. Dropping the future stops the copy.
///
/// # Errors
///
/// Fails if the local file can't be written or exists ([`Error::is_io`]); if the server can't read the remote one, with its
/// reason ([`Error::is_pipeline`]); if the hashes differ, also because the remote file has changed meanwhile
/// ([`Error::is_corrupt`]); if the server sends what the script does not ([`Error::is_protocol`]); and as
/// [`RunspacePool::start`].
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), psrp::Error> {
/// use psrp::io::{Child, CopyOptions, Options, RunspacePool, copy_from};
///
/// let pool = RunspacePool::open(&Child::default(), Options::new()).await?;
/// // To the current directory, with the same name.
/// let file = copy_from(&pool, "/var/log/app [1].log", ".", CopyOptions::new()).await?;
/// println!("{} bytes", file.bytes);
/// pool.close().await?;
/// # Ok(())
/// # }
/// ```
pub async fn copy_from(
    pool: &RunspacePool,
    remote: impl Into<PsString>,
    local: impl AsRef<Path>,
    mut options: CopyOptions<'_>,
) -> Result<Copied, Error> {
    let remote = remote.into();
    let destination = Destination::new(local.as_ref(), &remote.to_str_lossy(), options.overwrite)?;
    let script = Command::script(DOWNLOAD)
        .local_scope(true)
        .parameter("Path", remote)
        .parameter("ChunkSize", options.chunk_size as i32);
    let mut pipeline = pool.start(PowerShell::new().command(script)).await?;
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
                file.write_all(&chunk).await.map_err(|error| destination.can_not_write(error))?;
                copied += chunk.len() as u64;
                options.progress(copied, Some(total));
            }
            Value::String(hash) => expected = Some(hash),
            _ => return Err(unexpected()),
        }
    }
    file.flush().await.map_err(|error| destination.can_not_write(error))?;
    close(file).await;
    let actual = finish(digest);
    check(&actual, expected)?;
    destination.rename()?;
    Ok(Copied { bytes: copied, sha256: actual })
}

/// Closes the file before it is renamed.
async fn close(file: File) {
    drop(file.into_std().await);
}

/// Sends input. Returns false if the script has ended, whose state tells the reason.
async fn send(pipeline: &Pipeline, value: impl Into<Value>) -> Result<bool, Error> {
    match pipeline.send(value).await {
        Ok(()) => Ok(true),
        Err(error) if error.is_state() => Ok(false),
        Err(error) => Err(error),
    }
}

/// The next object of the output, `None` when the script has completed.
async fn next_output(pipeline: &mut Pipeline) -> Result<Option<Value>, Error> {
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
    Error::with(Kind::Protocol, "the script that copies a file has other output than it should")
}

/// The number of bytes that the server has written.
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

/// Fails if the server has another hash.
fn check(own: &[u8; 32], remote: Option<PsString>) -> Result<(), Error> {
    match remote {
        None => Err(unexpected()),
        Some(remote) if remote == *hex(own) => Ok(()),
        Some(_) => {
            Err(Error::with(Kind::Corrupt, "the SHA-256 of the two files differ; the copy was removed"))
        }
    }
}
