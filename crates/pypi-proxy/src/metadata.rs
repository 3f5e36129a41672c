//! Extracts the metadata of wheels, for indexes that do not offer it separately.

use std::cell::RefCell;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use flate2::read::DeflateDecoder;
use futures_util::TryStreamExt as _;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipLocator};
use url::Url;

use crate::Error;
use crate::error::Kind;
use crate::store::{FileInfo, FileSource, StoredFile, read_range};
use crate::upstream::{FileBody, Reservation, Upstream, Validators};

/// Bytes at the end of a wheel that are fetched first. They nearly always contain the central directory and the
/// metadata before it.
const TAIL: u64 = 64 * 1024;
/// Maximum ranges per wheel.
const MAX_RANGES: usize = 16;
/// Minimum length of a range, because the next one mostly follows it.
const MIN_RANGE: u64 = 16 * 1024;
/// Maximum bytes of all ranges.
const MAX_BYTES: u64 = 64 << 20;

/// Source of a wheel's metadata. Reads the stored wheel, or otherwise fetches the required ranges of it.
#[derive(Debug)]
pub(crate) struct MetadataSource {
    /// Index of the wheel.
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) url: Url,
    /// File name of the wheel.
    pub(crate) name: String,
    /// Name of the metadata file for logs and the status page.
    pub(crate) label: Arc<str>,
    /// The wheel, if it is stored.
    pub(crate) stored: Option<StoredFile>,
    /// Length and validators of the wheel, from the first response of its host.
    pub(crate) wheel_info: Arc<OnceLock<FileInfo>>,
}

impl MetadataSource {
    /// Extracts the metadata. Fails if the wheel has no readable metadata ([`Error::is_not_found`]), or if the index
    /// fails.
    pub(crate) async fn extract(&self) -> Result<Vec<u8>, Error> {
        self.read().await.map_err(|error| match error {
            // Installers then treat it as a wheel without separate metadata.
            error if error.is_corrupt() || error.is_limit() => Error::new(Kind::NotFound).caused_by(error),
            error => error,
        })
    }

    async fn read(&self) -> Result<Vec<u8>, Error> {
        let mut reservation = self.upstream.budget().reserve();
        reservation.grow(MAX_METADATA).await;
        let mut wheel = match &self.stored {
            Some(stored) => Sparse::new(stored.len),
            None => self.tail(&mut reservation).await?,
        };
        let mut left = MAX_BYTES;
        for _ in 0..MAX_RANGES {
            let (sparse, search) = metadata(wheel, &self.name);
            wheel = sparse;
            let missing = match search? {
                Search::Found(metadata) => return Ok(metadata),
                Search::Missing(missing) => missing,
            };
            let end = missing.end.max(missing.start + MIN_RANGE).min(wheel.len);
            let range = missing.start..end;
            left = left.checked_sub(range.end - range.start).ok_or_else(too_much)?;
            let part = self.part(range.clone(), &mut reservation).await?;
            if part.is_empty() {
                return Err(Error::with(Kind::Upstream, "empty response for a range of a wheel"));
            }
            wheel.parts.push((range.start, part));
        }
        Err(too_much())
    }

    async fn tail(&self, reservation: &mut Reservation) -> Result<Sparse, Error> {
        let body = self.upstream.tail(&self.url, TAIL).await?;
        let (start, len) = (body.start, body.len);
        // The cell is empty, because the tail is fetched once.
        let _ = self.wheel_info.set(FileInfo { len, validators: body.validators.clone() });
        // A host without support for ranges sends the whole file.
        let bytes = collect(body, MAX_BYTES, reservation).await?;
        let mut wheel = Sparse::new(len.unwrap_or(start + bytes.len() as u64));
        wheel.parts.push((start, bytes));
        Ok(wheel)
    }

    async fn part(&self, range: Range<u64>, reservation: &mut Reservation) -> Result<Bytes, Error> {
        if let Some(stored) = &self.stored {
            reservation.grow(range.end - range.start).await;
            return read_range(stored.file.clone(), range).await;
        }
        let (start, len) = (range.start, range.end - range.start);
        let body = self.upstream.part(&self.url, range).await?;
        let skip = usize::try_from(start.saturating_sub(body.start)).unwrap_or(usize::MAX);
        let bytes = collect(body, MAX_BYTES, reservation).await?;
        let part = bytes.slice(skip.min(bytes.len())..);
        Ok(part.slice(..part.len().min(usize::try_from(len).unwrap_or(usize::MAX))))
    }
}

async fn collect(mut body: FileBody, max: u64, reservation: &mut Reservation) -> Result<Bytes, Error> {
    let mut all = Vec::new();
    while let Some(chunk) = body.try_next().await? {
        if all.len() as u64 + chunk.len() as u64 > max {
            return Err(too_much());
        }
        reservation.grow(chunk.len() as u64).await;
        all.extend_from_slice(&chunk);
    }
    Ok(all.into())
}

impl FileSource for MetadataSource {
    fn origin(&self) -> Option<String> {
        Some(self.upstream.to_string())
    }

    fn label(&self) -> Option<Arc<str>> {
        Some(self.label.clone())
    }

    async fn open(&mut self, _from: u64, _validators: &Validators) -> Result<FileBody, Error> {
        let metadata = Bytes::from(self.extract().await?);
        let len = metadata.len() as u64;
        Ok(FileBody::new(0, Some(len), Validators::default(), futures_util::stream::iter([Ok(metadata)])))
    }
}

/// A file with some ranges in memory. Reading another range fails and records the missing range.
struct Sparse {
    len: u64,
    parts: Vec<(u64, Bytes)>,
    /// The range of the last failed read.
    missing: RefCell<Option<Range<u64>>>,
}

impl Sparse {
    fn new(len: u64) -> Self {
        Self { len, parts: Vec::new(), missing: RefCell::new(None) }
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

const MAX_METADATA: u64 = 16 << 20;
/// Maximum entries of the archive that are searched.
const MAX_ENTRIES: usize = 1_000_000;

enum Search {
    Found(Vec<u8>),
    /// This range of the wheel is required first.
    Missing(Range<u64>),
}

fn metadata(wheel: Sparse, name: &str) -> (Sparse, Result<Search, Error>) {
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let len = wheel.len;
    // The archive takes ownership of the reader and returns it.
    let (wheel, result) = match ZipLocator::new().locate_in_reader(wheel, &mut buffer, len) {
        Err((wheel, _)) => (wheel, Err(corrupt("not a ZIP archive"))),
        Ok(archive) => {
            let result = find(&archive, name, &mut buffer);
            (archive.into_inner(), result)
        }
    };
    let search = match (result, wheel.missing.take()) {
        (Ok(metadata), _) => Ok(Search::Found(metadata)),
        (Err(_), Some(missing)) => Ok(Search::Missing(missing)),
        (Err(error), None) => Err(error),
    };
    (wheel, search)
}

fn find(archive: &rawzip::ZipArchive<Sparse>, name: &str, buffer: &mut [u8]) -> Result<Vec<u8>, Error> {
    let expected = project_and_version(name).ok_or_else(|| corrupt("not the file name of a wheel"))?;
    let mut entries = archive.entries(buffer);
    let mut found = None;
    for _ in 0..MAX_ENTRIES {
        let Some(entry) = entries.next_entry().map_err(|_| corrupt("the central directory is corrupt"))?
        else {
            break;
        };
        if is_metadata(entry.file_path().as_ref(), &expected) {
            found = Some((entry.wayfinder(), entry.compression_method(), entry.uncompressed_size_hint()));
        }
    }
    let (wayfinder, method, size) = found.ok_or_else(|| corrupt("the wheel has no metadata"))?;
    if size > MAX_METADATA {
        return Err(Error::with(Kind::Limit, "the metadata of a wheel is larger than 16 MiB"));
    }
    let entry = archive.get_entry(wayfinder).map_err(|_| corrupt("the metadata is corrupt"))?;
    let mut out = Vec::new();
    let read = match method {
        CompressionMethod::STORE => {
            entry.verifying_reader(entry.reader()).take(MAX_METADATA).read_to_end(&mut out)
        }
        CompressionMethod::DEFLATE => entry
            .verifying_reader(DeflateDecoder::new(entry.reader()))
            .take(MAX_METADATA)
            .read_to_end(&mut out),
        _ => return Err(corrupt("the metadata has an unsupported compression method")),
    };
    read.map_err(|_| corrupt("the metadata is corrupt"))?;
    Ok(out)
}

/// Returns the project name and version from the file name, normalized.
fn project_and_version(name: &str) -> Option<(String, String)> {
    let mut parts = name.strip_suffix(".whl")?.split('-');
    Some((normalize(parts.next()?), normalize(parts.next()?)))
}

/// Returns whether an entry is the metadata. Tools spell the name of its folder in different ways.
fn is_metadata(path: &[u8], (project, version): &(String, String)) -> bool {
    let Some(folder) =
        std::str::from_utf8(path).ok().and_then(|path| path.strip_suffix(".dist-info/METADATA"))
    else {
        return false;
    };
    let is_top = !folder.contains('/');
    is_top
        && folder.rsplit_once('-').is_some_and(|(own, own_version)| {
            normalize(own) == *project && normalize(own_version) == *version
        })
}

fn normalize(text: &str) -> String {
    text.to_ascii_lowercase().replace(['-', '.'], "_")
}

#[cold]
fn too_much() -> Error {
    Error::with(Kind::Limit, "extracting the metadata of a wheel needs too many ranges or bytes")
}

#[cold]
fn corrupt(what: &str) -> Error {
    Error::with(Kind::Corrupt, what)
}
