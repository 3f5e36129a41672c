//! Local files of a copy.

use std::io;
use std::path::{Path, PathBuf, is_separator};

use tokio::fs::File;
use uuid::Uuid;

use crate::error::{Error, Kind};

/// Returns the error of a local file operation.
pub(super) fn file_error(action: &str, path: &Path, error: io::Error) -> Error {
    let path = path.display().to_string();
    Error::with(Kind::Io, format!("can't {action} {}", crate::terminal_safe(&path))).caused_by(error)
}

/// Opens the source file. Returns its size, or `None` if it is not a regular file (a pipe, for example).
pub(super) async fn open(path: &Path) -> Result<(File, Option<u64>), Error> {
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
pub(super) struct LocalDestination {
    path: PathBuf,
    temporary: PathBuf,
    overwrite: bool,
}

impl LocalDestination {
    pub(super) fn new(local: &Path, remote: &str, overwrite: bool) -> Result<Self, Error> {
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

    pub(super) fn write_error(&self, error: io::Error) -> Error {
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

    pub(super) async fn create(&self) -> Result<File, Error> {
        File::create_new(&self.temporary).await.map_err(|error| self.write_error(error))
    }

    pub(super) fn rename(self) -> Result<(), Error> {
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
