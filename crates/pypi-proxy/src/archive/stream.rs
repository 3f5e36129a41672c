//! Reading and writing the entries of an archive.

use std::io::{self, Read, Write};

use aws_lc_rs::digest::{Context, SHA256};

use super::manifest::Manifest;
use super::{damaged, tar, unwritten};
use crate::Error;
use crate::error::Kind;
use crate::store::Digest;

/// Maximum size of a manifest in bytes, enough for several 100,000 files.
pub(super) const MAX_MANIFEST: u64 = 128 << 20;
/// Size of the buffer for contents.
const BUFFER: usize = 128 * 1024;

fn manifest_name(digest: &Digest) -> String {
    format!("manifest-{digest}.json")
}

pub(super) struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Writes the manifest. Returns its hash.
    pub(super) fn new(mut out: W, manifest: &Manifest) -> Result<(Self, Digest), Error> {
        let json = manifest.to_json()?;
        if json.len() as u64 > MAX_MANIFEST {
            let text = "the archive has too many files (select projects with --requirements)";
            return Err(Error::with(Kind::Limit, text));
        }
        let digest = Digest::of(&json);
        let size = json.len() as u64;
        let write = |out: &mut W| {
            out.write_all(&tar::header(&manifest_name(&digest), size))?;
            out.write_all(&json)?;
            out.write_all(&[0; tar::BLOCK][..tar::padding(size)])
        };
        write(&mut out).map_err(unwritten)?;
        Ok((Self { out }, digest))
    }

    /// Writes an entry whose content has this size. Returns the hash of the content.
    pub(super) fn entry(&mut self, name: &str, size: u64, content: &mut impl Read) -> Result<Digest, Error> {
        self.out.write_all(&tar::header(name, size)).map_err(unwritten)?;
        let mut hash = Context::new(&SHA256);
        let mut buffer = vec![0; BUFFER];
        let mut rest = size;
        while rest > 0 {
            let max = usize::try_from(rest).unwrap_or(BUFFER).min(BUFFER);
            match content.read(&mut buffer[..max]) {
                Ok(0) => return Err(Error::with(Kind::Storage, format!("{name} is truncated"))),
                Ok(count) => {
                    hash.update(&buffer[..count]);
                    self.out.write_all(&buffer[..count]).map_err(unwritten)?;
                    rest -= count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::storage(error)),
            }
        }
        self.out.write_all(&[0; tar::BLOCK][..tar::padding(size)]).map_err(unwritten)?;
        Ok(hash.finish().into())
    }

    pub(super) fn finish(mut self) -> Result<W, Error> {
        self.out.write_all(&[0; tar::END]).map_err(unwritten)?;
        Ok(self.out)
    }
}

pub(super) struct Reader<R> {
    input: R,
}

impl<R: Read> Reader<R> {
    /// Reads the manifest. Returns its hash as well.
    pub(super) fn new(mut input: R) -> Result<(Self, Manifest, Digest), Error> {
        let mut block = [0; tar::BLOCK];
        read(&mut input, &mut block, "the manifest")?;
        let digest =
            |name: &str| name.strip_prefix("manifest-")?.strip_suffix(".json")?.parse::<Digest>().ok();
        let parsed = tar::parse(&block).and_then(|(name, size)| Some((digest(name)?, size)));
        let (digest, size) = parsed.ok_or_else(|| damaged("it was not written by pypi-proxy export"))?;
        if size > MAX_MANIFEST {
            return Err(Error::with(
                Kind::Limit,
                format!("the manifest is larger than {MAX_MANIFEST} bytes"),
            ));
        }
        let mut reader = Self { input };
        let mut json = Vec::new();
        let found = reader.content("the manifest", size, &mut |bytes| {
            json.extend_from_slice(bytes);
            Ok(())
        })?;
        if found != digest {
            return Err(damaged("the hash of the manifest is wrong"));
        }
        Ok((reader, Manifest::parse(&json)?, digest))
    }

    /// Reads the entry of this name and size. Passes its content on and returns its hash.
    pub(super) fn entry(
        &mut self,
        name: &str,
        size: u64,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<Digest, Error> {
        let mut block = [0; tar::BLOCK];
        read(&mut self.input, &mut block, name)?;
        if block != tar::header(name, size) {
            return Err(damaged(format!("expected the entry {name}")));
        }
        self.content(name, size, sink)
    }

    fn content(
        &mut self,
        name: &str,
        size: u64,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<Digest, Error> {
        let mut hash = Context::new(&SHA256);
        // The size may be wrong, so it does not determine the allocation.
        let mut buffer = vec![0; BUFFER];
        let mut rest = size;
        while rest > 0 {
            let part = &mut buffer[..usize::try_from(rest).unwrap_or(BUFFER).min(BUFFER)];
            read(&mut self.input, part, name)?;
            hash.update(part);
            sink(part)?;
            rest -= part.len() as u64;
        }
        let mut padding = [0; tar::BLOCK];
        let padding = &mut padding[..tar::padding(size)];
        read(&mut self.input, padding, name)?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err(damaged(format!("unexpected bytes after {name}")));
        }
        Ok(hash.finish().into())
    }

    /// Reads the end of the archive.
    pub(super) fn finish(mut self) -> Result<R, Error> {
        let mut end = [1; tar::END];
        read(&mut self.input, &mut end, "the end")?;
        if end != [0; tar::END] {
            return Err(damaged("unexpected bytes after the last entry"));
        }
        match self.input.read(&mut [0]) {
            Ok(0) => Ok(self.input),
            Ok(_) => Err(damaged("unexpected bytes after the end")),
            Err(error) => Err(unread(error, "the end")),
        }
    }
}

fn read(input: &mut impl Read, buffer: &mut [u8], name: &str) -> Result<(), Error> {
    input.read_exact(buffer).map_err(|error| unread(error, name))
}

#[cold]
fn unread(error: io::Error, name: &str) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged(format!("it is truncated in {name}")),
        _ => damaged(format!("{name} can't be read")).caused_by(error),
    }
}

/// Reads all entries of an archive without storing them. For fuzzing and tests.
#[doc(hidden)]
pub fn check_archive(archive: &[u8]) -> Result<(), Error> {
    let (mut reader, manifest, _) = Reader::new(archive)?;
    for (blob, size) in manifest.blobs()? {
        let found = reader.entry(&blob.to_string(), size, &mut |_| Ok(()))?;
        if found != blob.digest {
            return Err(damaged("wrong hash"));
        }
    }
    reader.finish().map(drop)
}

/// Returns the start of an archive with this manifest. For fuzzing and tests.
#[doc(hidden)]
pub fn with_manifest(json: &[u8]) -> Vec<u8> {
    let size = json.len() as u64;
    let header = tar::header(&manifest_name(&Digest::of(json)), size);
    [&header, json, &[0; tar::BLOCK][..tar::padding(size)]].concat()
}

/// Returns an entry of an archive. For tests.
#[doc(hidden)]
pub fn entry(name: &str, content: &[u8]) -> Vec<u8> {
    let size = content.len() as u64;
    [&tar::header(name, size), content, &[0; tar::BLOCK][..tar::padding(size)]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_large_manifests_are_not_written() {
        let manifest = Manifest::new(vec!["x".repeat(usize::try_from(MAX_MANIFEST).unwrap())]);
        assert!(Writer::new(Vec::new(), &manifest).err().unwrap().is_limit());
    }
}
