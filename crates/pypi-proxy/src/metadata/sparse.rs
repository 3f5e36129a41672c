//! A remote file of which only some ranges are in memory.

use std::cell::RefCell;
use std::io;
use std::ops::Range;

use bytes::Bytes;

/// A file with some ranges in memory. Reading other ranges fails and records what is missing.
pub(super) struct Sparse {
    len: u64,
    parts: Vec<(u64, Bytes)>,
    missing: RefCell<Option<Range<u64>>>,
}

impl Sparse {
    pub(super) fn new(len: u64) -> Self {
        Self { len, parts: Vec::new(), missing: RefCell::new(None) }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn put(&mut self, start: u64, bytes: Bytes) {
        self.parts.push((start, bytes));
    }

    /// Returns the range of the last failed read.
    pub(super) fn take_missing(&self) -> Option<Range<u64>> {
        self.missing.borrow_mut().take()
    }
}

impl rawzip::ReaderAt for Sparse {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let end = at.saturating_add(buffer.len() as u64).min(self.len);
        if at >= end {
            return Ok(0);
        }
        for (start, bytes) in &self.parts {
            let part = *start..start + bytes.len() as u64;
            if part.contains(&at) {
                // Fits, because the range is in memory.
                let from = usize::try_from(at - start).unwrap_or(usize::MAX);
                let rest = &bytes[from..];
                let len = rest.len().min(buffer.len());
                buffer[..len].copy_from_slice(&rest[..len]);
                return Ok(len);
            }
        }
        *self.missing.borrow_mut() = Some(at..end);
        Err(io::Error::other("the range is not in memory"))
    }
}
