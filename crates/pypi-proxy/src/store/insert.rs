//! Storing files that were not downloaded.

use std::io::Write as _;
use std::sync::Arc;

use super::{CacheDir, Digest, Expected, Key, Reference, Store, StoredFile, read_at};
use crate::Error;
use crate::digest::Hasher;

impl Store {
    /// Maximum bytes of a file.
    pub(crate) fn max_file(&self) -> u64 {
        self.0.config.max_file
    }

    /// Stores a file that `write` passes to its argument in parts. `write` fails if the content does not have this
    /// hash; then nothing is stored. Returns false if the file was stored already, in which case its content is ignored.
    /// Blocks the thread.
    pub(crate) fn insert(
        &self,
        digest: &Digest,
        len: u64,
        write: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        if self.get(digest).is_some_and(|stored| stored.len == len) {
            write(&mut |_| Ok(()))?;
            return Ok(false);
        }
        let (path, mut file) = self.0.dir.partial()?;
        let store = || {
            write(&mut |bytes| file.write_all(bytes).map_err(Error::storage))?;
            if self.0.config.sync {
                file.sync_all().map_err(Error::storage)?;
            }
            Ok(())
        };
        if let Err(error) = store() {
            // A remaining file is deleted when the folder is opened next.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        let stored = StoredFile { file: Arc::new(file), len, digest: *digest };
        self.0.publish(&Key::Digest(*digest), None, &stored, &path).inspect_err(|_| {
            let _ = std::fs::remove_file(&path);
        })?;
        Ok(true)
    }

    /// Makes a stored file the content of a reference, unless it is not as expected. Returns whether it is now. Blocks the
    /// thread.
    pub(crate) fn bind(
        &self,
        reference: &Reference,
        digest: &Digest,
        expected: &Expected,
    ) -> Result<bool, Error> {
        let Some(stored) = self.get(digest) else { return Ok(false) };
        if expected.size.is_some_and(|size| size != stored.len) {
            return Ok(false);
        }
        if expected.checksum.is_some() {
            let mut hasher = Hasher::new(expected.checksum);
            let mut buffer = vec![0; 256 * 1024];
            let mut position = 0;
            while position < stored.len {
                let part = usize::try_from(stored.len - position).unwrap_or(buffer.len()).min(buffer.len());
                read_at(&stored.file, &mut buffer[..part], position).map_err(Error::storage)?;
                hasher.update(&buffer[..part]);
                position += part as u64;
            }
            if !hasher.finish().1 {
                return Ok(false);
            }
        }
        let origin = &reference.origin;
        self.0.write(CacheDir::reference_entry(origin), digest.to_string().as_bytes(), None)?;
        self.0.digests_by_origin.lock().insert(*origin, *digest);
        Ok(true)
    }
}
