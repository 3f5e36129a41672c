//! Operations on files of Unix.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{AtFlags, CWD, OFlags, Timespec, Timestamps, UTIME_OMIT, utimensat};

pub(crate) use std::fs::rename as replace;
pub(crate) use std::os::unix::fs::FileExt;

/// Opens a file for reading and for setting its times. Does not follow links.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    // Opening a named pipe would block.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Opens or creates a file that other users can't write to, to append to it.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o644).open(path)
}

/// Opens a file for writing. Returns whether it is locked for this handle; otherwise another process has locked it.
pub(crate) fn lock(path: &Path, create: bool) -> io::Result<(File, bool)> {
    let file = OpenOptions::new().read(true).write(true).create(create).open(path)?;
    let is_locked = file.try_lock().is_ok();
    Ok((file, is_locked))
}

/// Creates a folder that other users can't write to, independent of the umask.
pub(crate) fn create_dir(path: &Path, is_recursive: bool) -> io::Result<()> {
    DirBuilder::new().recursive(is_recursive).mode(0o755).create(path)
}

/// Returns the reason why users other than root can replace the content of a folder, or `None` if they can't.
pub(crate) fn access_problem(dir: &Path) -> io::Result<Option<String>> {
    let metadata = fs::metadata(dir)?;
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    Ok(if owner != user && owner != 0 {
        Some(format!("is owned by another user (uid {owner})"))
    } else if metadata.mode() & 0o022 != 0 {
        Some(format!("is writable by other users (mode {:o})", metadata.mode() & 0o7777))
    } else {
        None
    })
}

/// Sets the time of the last access and, if `sets_modified` is set, of the last modification. Does not follow links.
pub(crate) fn set_times(path: &Path, time: SystemTime, sets_modified: bool) -> io::Result<()> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).map_err(io::Error::other)?;
    let tv_sec = i64::try_from(since.as_secs()).map_err(io::Error::other)?;
    let last_access = Timespec { tv_sec, tv_nsec: since.subsec_nanos().into() };
    let unchanged = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let last_modification = if sets_modified { last_access } else { unchanged };
    Ok(utimensat(CWD, path, &Timestamps { last_access, last_modification }, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Returns the available bytes of the disk, or 0 if they are unknown.
pub(crate) fn available(dir: &Path) -> u64 {
    rustix::fs::statvfs(dir).map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}
