//! Storage of the bytes of an encoded page.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use crate::store::read_at;

/// Minimum size for a memory file: below it, copying is cheaper than `sendfile`.
const MEMORY_FILE_MIN: usize = 32 * 1024;
/// Maximum memory files at a time, because the process may be limited to few open files.
const MAX_MEMORY_FILES: usize = 256;

static MEMORY_FILES: AtomicUsize = AtomicUsize::new(0);

/// Bytes of an encoded page: on the heap or, if they are many and the system is Linux, in a memory file (`memfd`) that
/// the kernel sends without a copy.
#[derive(Clone, Debug)]
pub struct PageBytes(Storage);

#[derive(Clone, Debug)]
enum Storage {
    Bytes(Bytes),
    File(Arc<MemoryFile>, u64),
}

impl PageBytes {
    /// Returns the length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a page is not empty")]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Storage::Bytes(bytes) => bytes.len() as u64,
            Storage::File(_, len) => *len,
        }
    }

    /// Returns the bytes. Those of a memory file are copied.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be read.
    pub fn bytes(&self) -> io::Result<Bytes> {
        match &self.0 {
            Storage::Bytes(bytes) => Ok(bytes.clone()),
            Storage::File(file, len) => {
                // As long as bytes that were in memory.
                let mut bytes = vec![0; usize::try_from(*len).unwrap_or_default()];
                read_at(&file.file, &mut bytes, 0)?;
                Ok(bytes.into())
            }
        }
    }

    /// Returns the bytes, or the memory file and its length.
    pub(crate) fn into_parts(self) -> Result<Bytes, (Arc<MemoryFile>, u64)> {
        match self.0 {
            Storage::Bytes(bytes) => Ok(bytes),
            Storage::File(file, len) => Err((file, len)),
        }
    }
}

/// Writer that collects the bytes of a page.
#[derive(Default)]
pub(super) struct PageBuffer {
    /// Content until the memory file is created.
    bytes: Vec<u8>,
    file: Option<MemoryFile>,
    len: u64,
    has_failed: bool,
}

impl PageBuffer {
    pub(super) fn finish(self) -> PageBytes {
        match self.file {
            Some(file) => PageBytes(Storage::File(Arc::new(file), self.len)),
            None => PageBytes(Storage::Bytes(self.bytes.into())),
        }
    }
}

impl Write for PageBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_none() && !self.has_failed && self.bytes.len() + bytes.len() >= MEMORY_FILE_MIN {
            self.file = MemoryFile::new(&self.bytes);
            self.has_failed = self.file.is_none();
            if self.file.is_some() {
                self.bytes = Vec::new();
            }
        }
        if let Some(file) = &mut self.file
            && file.file.write_all(bytes).is_err()
        {
            // Memory files are exhausted: continue on the heap.
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

/// A file without a disk (`memfd`).
#[derive(Debug)]
pub(crate) struct MemoryFile {
    file: File,
}

impl MemoryFile {
    /// Creates a file with these bytes, or `None` if there are too many files or the system refuses.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn new(bytes: &[u8]) -> Option<Self> {
        use rustix::fs::{MemfdFlags, memfd_create};

        if MEMORY_FILES.fetch_add(1, Ordering::Relaxed) >= MAX_MEMORY_FILES {
            MEMORY_FILES.fetch_sub(1, Ordering::Relaxed);
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
                MEMORY_FILES.fetch_sub(1, Ordering::Relaxed);
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
        MEMORY_FILES.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_are_stored_in_memory_files() {
        for (len, is_file) in
            [(0, false), (MEMORY_FILE_MIN - 1, false), (MEMORY_FILE_MIN, cfg!(target_os = "linux"))]
        {
            let bytes: Bytes = (0..len).map(|at| (at % 251) as u8).collect();
            let mut buffer = PageBuffer::default();
            bytes.chunks(1000).for_each(|chunk| buffer.write_all(chunk).unwrap());
            let page = buffer.finish();
            assert_eq!((page.len(), page.bytes().unwrap()), (len as u64, bytes));
            assert_eq!(page.into_parts().is_err(), is_file);
        }
    }
}
