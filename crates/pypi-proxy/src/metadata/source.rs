//! Extracted metadata as the content of a file.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use url::Url;

use super::sparse::Sparse;
use super::wheel::{MAX_METADATA, Search, metadata};
use crate::Error;
use crate::error::Kind;
use crate::store::{FileInfo, FileSource, StoredFile};
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
    /// URL of the wheel.
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
    /// Extracts the metadata.
    ///
    /// # Errors
    ///
    /// Fails if the wheel has no readable metadata ([`Error::is_not_found`]), or if the index fails.
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
            let end = missing.end.max(missing.start + MIN_RANGE).min(wheel.len());
            let range = missing.start..end;
            left = left.checked_sub(range.end - range.start).ok_or_else(|| {
                Error::with(Kind::Limit, "extracting the metadata of a wheel needs too many ranges or bytes")
            })?;
            let part = self.part(range.clone(), &mut reservation).await?;
            if part.is_empty() {
                return Err(Error::with(Kind::Upstream, "empty response for a range of a wheel"));
            }
            wheel.put(range.start, part);
        }
        Err(Error::with(Kind::Limit, "extracting the metadata of a wheel needs too many ranges or bytes"))
    }

    async fn tail(&self, reservation: &mut Reservation) -> Result<Sparse, Error> {
        let body = self.upstream.tail(&self.url, TAIL).await?;
        let (start, len) = (body.start, body.len);
        // The cell is empty, because the tail is fetched once.
        let _ = self.wheel_info.set(FileInfo { len, validators: body.validators.clone() });
        // A host without support for ranges sends the whole file.
        let bytes = collect(body, MAX_BYTES, reservation).await?;
        let mut wheel = Sparse::new(len.unwrap_or(start + bytes.len() as u64));
        wheel.put(start, bytes);
        Ok(wheel)
    }

    async fn part(&self, range: std::ops::Range<u64>, reservation: &mut Reservation) -> Result<Bytes, Error> {
        if let Some(stored) = &self.stored {
            let file = stored.file.clone();
            reservation.grow(range.end - range.start).await;
            let work = move || {
                let mut part = vec![0; usize::try_from(range.end - range.start).unwrap_or_default()];
                crate::store::read_at(&file, &mut part, range.start).map(|()| part.into())
            };
            let part = tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other);
            return part.flatten().map_err(Error::storage);
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
            return Err(Error::with(
                Kind::Limit,
                "extracting the metadata of a wheel needs too many ranges or bytes",
            ));
        }
        reservation.grow(chunk.len() as u64).await;
        all.extend_from_slice(&chunk);
    }
    Ok(all.into())
}

impl FileSource for MetadataSource {
    fn label(&self) -> Option<Arc<str>> {
        Some(self.label.clone())
    }

    async fn open(&mut self, _from: u64, _validators: &Validators) -> Result<FileBody, Error> {
        let metadata = Bytes::from(self.extract().await?);
        let len = metadata.len() as u64;
        Ok(FileBody::new(0, Some(len), Validators::default(), futures_util::stream::iter([Ok(metadata)])))
    }
}
