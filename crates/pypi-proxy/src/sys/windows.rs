//! Operations on files of Windows.

use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

const FILE_SHARE_READ: u32 = 1;
const FILE_GENERIC_READ: u32 = 0x0012_0089;
const FILE_WRITE_ATTRIBUTES: u32 = 0x100;
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
const ERROR_ACCESS_DENIED: i32 = 5;
const ERROR_SHARING_VIOLATION: i32 = 32;

/// Attempts to replace a file, and the pause before the second one, which doubles each time: 255 milliseconds in total.
const ATTEMPTS: u32 = 9;
const PAUSE: Duration = Duration::from_millis(1);

/// Reads and writes at an offset. Also moves the position of the handle, which this crate uses only for new files.
pub(crate) trait FileExt {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;
    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> io::Result<()>;
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()>;
}

impl FileExt for File {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.seek_read(buffer, position)
    }

    fn read_exact_at(&self, mut buffer: &mut [u8], mut position: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            let count = match self.seek_read(buffer, position)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                count => count,
            };
            buffer = &mut buffer[count..];
            position += count as u64;
        }
        Ok(())
    }

    fn write_all_at(&self, mut bytes: &[u8], mut position: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = match self.seek_write(bytes, position)? {
                0 => return Err(ErrorKind::WriteZero.into()),
                count => count,
            };
            bytes = &bytes[count..];
            position += count as u64;
        }
        Ok(())
    }
}

/// Opens a file for reading and, if permitted, for setting its times. Does not follow links.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let open = |access| {
        let mut options = OpenOptions::new();
        options.access_mode(access).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)
    };
    match open(FILE_GENERIC_READ | FILE_WRITE_ATTRIBUTES) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => open(FILE_GENERIC_READ),
        result => result,
    }
}

/// Opens or creates a file, to append to it.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

/// Opens a file for writing. Returns whether it is locked for this handle; otherwise another process has locked it.
///
/// A lock of Windows would keep other processes from reading as well, so that the handle denies only writing.
pub(crate) fn lock(path: &Path, create: bool) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    match options.read(true).write(true).create(create).share_mode(FILE_SHARE_READ).open(path) {
        Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => Ok((open(path)?, false)),
        opened => opened.map(|file| (file, true)),
    }
}

/// Creates a folder. Its parent determines which users can write to it.
pub(crate) fn create_dir(path: &Path, is_recursive: bool) -> io::Result<()> {
    DirBuilder::new().recursive(is_recursive).create(path)
}

/// Access control lists are not examined.
#[expect(clippy::unnecessary_wraps, reason = "same signature as on Unix")]
pub(crate) fn access_problem(_: &Path) -> io::Result<Option<String>> {
    Ok(None)
}

/// Sets the time of the last access and, if `sets_modified` is set, of the last modification. Does not follow links.
pub(crate) fn set_times(path: &Path, time: SystemTime, sets_modified: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.access_mode(FILE_WRITE_ATTRIBUTES).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    let times = FileTimes::new().set_accessed(time);
    options.open(path)?.set_times(if sets_modified { times.set_modified(time) } else { times })
}

/// The available bytes of the disk are unknown: the disk counts as full until a file is stored again.
pub(crate) fn available(_: &Path) -> u64 {
    0
}

/// Moves a file to its final place. Replaces a file that is open.
///
/// Retries for a moment: virus scanners and indexers open new files without sharing them.
pub(crate) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let is_in_use = |error: &io::Error| {
        matches!(error.raw_os_error(), Some(ERROR_ACCESS_DENIED | ERROR_SHARING_VIOLATION))
    };
    let mut attempt = 1;
    loop {
        match fs::rename(from, to) {
            Err(error) if is_in_use(&error) && attempt < ATTEMPTS => {
                std::thread::sleep(PAUSE * (1 << (attempt - 1)));
                attempt += 1;
            }
            result => return result,
        }
    }
}
