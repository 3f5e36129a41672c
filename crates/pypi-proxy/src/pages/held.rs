//! Where the bytes of a page are.

use std::fs::File;
use std::io::{self, Write};
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

/// Takes the bytes of a page as they are made.
#[derive(Default)]
pub(super) struct Holder {
    /// What there is as long as there is no file.
    bytes: Vec<u8>,
    file: Option<MemoryFile>,
    len: u64,
    has_failed: bool,
}

impl Holder {
    /// All of them.
    pub(super) fn finish(self) -> Held {
        match self.file {
            Some(file) => Held(Place::File(Arc::new(file), self.len)),
            None => Held(Place::Bytes(self.bytes.into())),
        }
    }
}

impl Write for Holder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_none() && !self.has_failed && self.bytes.len() + bytes.len() >= LARGE {
            self.file = MemoryFile::new(&self.bytes);
            self.has_failed = self.file.is_none();
            if self.file.is_some() {
                self.bytes = Vec::new();
            }
        }
        if let Some(file) = &mut self.file
            && file.file.write_all(bytes).is_err()
        {
            // There is no room for more files in memory: it is held in the other way.
            self.bytes = vec![0; usize::try_from(self.len).unwrap_or_default()];
            read_at(&file.file, &mut self.bytes, 0)?;
            (self.file, self.has_failed) = (None, true);
        }
        if self.file.is_none() {
            self.bytes.extend_from_slice(bytes);
        }
        self.len += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is not on any disk.
#[derive(Debug)]
pub(crate) struct MemoryFile {
    file: File,
}

impl MemoryFile {
    /// One with these bytes, `None` if it can't be had.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn new(bytes: &[u8]) -> Option<Self> {
        use rustix::fs::{MemfdFlags, memfd_create};

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
            let mut holder = Holder::default();
            bytes.chunks(1000).for_each(|piece| holder.write_all(piece).unwrap());
            let held = holder.finish();
            assert_eq!((held.len(), held.bytes().unwrap()), (len as u64, bytes));
            assert_eq!(held.into_parts().is_err(), is_file);
        }
    }
}
