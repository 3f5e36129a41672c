//! Finding the metadata in a wheel.

use std::io::Read;
use std::ops::Range;

use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipLocator};

use super::sparse::Sparse;
use crate::Error;
use crate::error::Kind;

/// More is no description of a package.
pub(super) const MAX_METADATA: u64 = 16 << 20;
/// The most entries that are looked at.
const MAX_ENTRIES: usize = 1_000_000;

/// What a look into a wheel leads to.
pub(super) enum Look {
    /// The metadata.
    Found(Vec<u8>),
    /// This part of the wheel is needed first.
    Missing(Range<u64>),
}

/// Reads the metadata of the wheel with this name, or tells which part of it is needed.
pub(super) fn metadata(wheel: Sparse, name: &str) -> (Sparse, Result<Look, Error>) {
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let len = wheel.len();
    // The archive takes the reader and gives it back.
    match ZipLocator::new().locate_in_reader(wheel, &mut buffer, len) {
        Err((wheel, _)) => {
            let look = wheel.take_missing().map(Look::Missing).ok_or_else(|| broken("it is no archive"));
            (wheel, look)
        }
        Ok(archive) => {
            let result = find(&archive, name, &mut buffer);
            let wheel = archive.into_inner();
            let look = match (result, wheel.take_missing()) {
                (Ok(metadata), _) => Ok(Look::Found(metadata)),
                (Err(_), Some(missing)) => Ok(Look::Missing(missing)),
                (Err(error), None) => Err(error),
            };
            (wheel, look)
        }
    }
}

fn find(archive: &rawzip::ZipArchive<Sparse>, name: &str, buffer: &mut [u8]) -> Result<Vec<u8>, Error> {
    let wanted = path(name).ok_or_else(|| broken("its name is not that of a wheel"))?;
    let mut entries = archive.entries(buffer);
    let mut found = None;
    for _ in 0..MAX_ENTRIES {
        let Some(entry) = entries.next_entry().map_err(|_| broken("its list of files is damaged"))? else {
            break;
        };
        if is_metadata(entry.file_path().as_ref(), &wanted) {
            found = Some((entry.wayfinder(), entry.compression_method(), entry.uncompressed_size_hint()));
        }
    }
    let (wayfinder, method, size) = found.ok_or_else(|| broken("it has no metadata"))?;
    if size > MAX_METADATA {
        return Err(Error::with(Kind::Limit, "the size of the metadata of a wheel"));
    }
    let entry = archive.get_entry(wayfinder).map_err(|_| broken("its metadata are damaged"))?;
    let mut out = Vec::new();
    let read = match method {
        CompressionMethod::STORE => {
            entry.verifying_reader(entry.reader()).take(MAX_METADATA).read_to_end(&mut out)
        }
        CompressionMethod::DEFLATE => entry
            .verifying_reader(DeflateDecoder::new(entry.reader()))
            .take(MAX_METADATA)
            .read_to_end(&mut out),
        _ => return Err(broken("its metadata are compressed in a way that is not known")),
    };
    read.map_err(|_| broken("its metadata are damaged"))?;
    Ok(out)
}

/// The folder of the metadata, with the name and the version as the name of the wheel gives them.
fn path(name: &str) -> Option<(String, String)> {
    let mut parts = name.strip_suffix(".whl")?.split('-');
    Some((plain(parts.next()?), plain(parts.next()?)))
}

/// Whether an entry is the metadata: tools spell the name of the folder in several ways.
fn is_metadata(path: &[u8], (project, version): &(String, String)) -> bool {
    let Some(folder) =
        std::str::from_utf8(path).ok().and_then(|path| path.strip_suffix(".dist-info/METADATA"))
    else {
        return false;
    };
    let is_top = !folder.contains('/');
    is_top
        && folder
            .rsplit_once('-')
            .is_some_and(|(own, own_version)| plain(own) == *project && plain(own_version) == *version)
}

fn plain(text: &str) -> String {
    text.to_ascii_lowercase().replace(['-', '.'], "_")
}

#[cold]
fn broken(what: &str) -> Error {
    Error::with(Kind::Corrupt, what)
}
