//! Finds the metadata in a wheel.

use std::io::Read;
use std::ops::Range;

use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipLocator};

use super::sparse::Sparse;
use crate::Error;
use crate::error::Kind;

/// Maximum bytes of metadata.
pub(super) const MAX_METADATA: u64 = 16 << 20;
/// Maximum entries of the archive that are searched.
const MAX_ENTRIES: usize = 1_000_000;

/// Result of a search in a wheel.
pub(super) enum Search {
    /// The metadata.
    Found(Vec<u8>),
    /// This range of the wheel is required first.
    Missing(Range<u64>),
}

/// Searches the metadata in the wheel with this file name.
pub(super) fn metadata(wheel: Sparse, name: &str) -> (Sparse, Result<Search, Error>) {
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let len = wheel.len();
    // The archive takes ownership of the reader and returns it.
    match ZipLocator::new().locate_in_reader(wheel, &mut buffer, len) {
        Err((wheel, _)) => {
            let search =
                wheel.take_missing().map(Search::Missing).ok_or_else(|| corrupt("not a ZIP archive"));
            (wheel, search)
        }
        Ok(archive) => {
            let result = find(&archive, name, &mut buffer);
            let wheel = archive.into_inner();
            let search = match (result, wheel.take_missing()) {
                (Ok(metadata), _) => Ok(Search::Found(metadata)),
                (Err(_), Some(missing)) => Ok(Search::Missing(missing)),
                (Err(error), None) => Err(error),
            };
            (wheel, search)
        }
    }
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
fn corrupt(what: &str) -> Error {
    Error::with(Kind::Corrupt, what)
}
