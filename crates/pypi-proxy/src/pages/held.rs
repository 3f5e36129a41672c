//! Where the bytes of a page are.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use crate::store::read_at;

/// From so many bytes on it pays that the kernel sends them without copying them first.
const LARGE: usize = 32 * 1024;
/// How many files in memory there are at most, in a process that may have few open files.
const MAX_FILES: usize = 256;

static FILES: AtomicUsize = AtomicUsize::new(0);

/// The bytes of a page: in memory, or, on Linux and if they are many, in a file in memory, out of which the kernel sends
/// them.
#[derive(Clone, Debug)]
pub struct Held(Place);

#[derive(Clone, Debug)]
enum Place {
    Bytes(Bytes),
    File(Arc<MemoryFile>, u64),
}

impl Held {
    /// Holds bytes. It may copy them.
    pub(super) fn new(bytes: Bytes) -> Self {
        match MemoryFile::new(&bytes) {
            Some(file) => Self(Place::File(Arc::new(file), bytes.len() as u64)),
            None => Self(Place::Bytes(bytes)),
        }
    }

    /// How many bytes.
    #[expect(clippy::len_without_is_empty, reason = "a page is not empty")]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Place::Bytes(bytes) => bytes.len() as u64,
            Place::File(_, len) => *len,
        }
    }

    /// The bytes themselves, which are copied if they are in a file.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be read.
    pub fn bytes(&self) -> io::Result<Bytes> {
        match &self.0 {
            Place::Bytes(bytes) => Ok(bytes.clone()),
            Place::File(file, len) => {
                // As long as bytes that were in memory.
                let mut bytes = vec![0; usize::try_from(*len).unwrap_or_default()];
                read_at(&file.file, &mut bytes, 0)?;
                Ok(bytes.into())
            }
        }
    }

    /// The bytes, or the file that has them.
    pub(crate) fn into_parts(self) -> Result<Bytes, (Arc<MemoryFile>, u64)> {
        match self.0 {
            Place::Bytes(bytes) => Ok(bytes),
            Place::File(file, len) => Err((file, len)),
        }
    }
}

/// A file that is not on any disk.
#[derive(Debug)]
pub(crate) struct MemoryFile {
    file: File,
}

impl MemoryFile {
    /// `None` if it does not pay, or can't be had.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn new(bytes: &[u8]) -> Option<Self> {
        use std::io::Write as _;

        use rustix::fs::{MemfdFlags, memfd_create};

        if bytes.len() < LARGE {
            return None;
        }
        if FILES.fetch_add(1, Ordering::Relaxed) >= MAX_FILES {
            FILES.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let write = || -> io::Result<File> {
            let mut file = File::from(memfd_create("page", MemfdFlags::CLOEXEC)?);
            file.write_all(bytes)?;
            Ok(file)
        };
        match write() {
            Ok(file) => Some(Self { file }),
            Err(_) => {
                FILES.fetch_sub(1, Ordering::Relaxed);
                None
            }
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn new(_: &[u8]) -> Option<Self> {
        None
    }

    pub(crate) fn as_file(&self) -> &File {
        &self.file
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        FILES.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_are_in_files_and_small_ones_are_not() {
        for (len, is_file) in [(0, false), (LARGE - 1, false), (LARGE, cfg!(target_os = "linux"))] {
            let bytes: Bytes = (0..len).map(|at| (at % 251) as u8).collect();
            let held = Held::new(bytes.clone());
            assert_eq!((held.len(), held.bytes().unwrap()), (len as u64, bytes));
            assert_eq!(held.into_parts().is_err(), is_file);
        }
    }
}
