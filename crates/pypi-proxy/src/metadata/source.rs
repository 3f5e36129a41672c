//! Metadata as a file that can be fetched.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use url::Url;

use super::sparse::Sparse;
use super::wheel::{Look, MAX_METADATA, metadata};
use crate::Error;
use crate::error::Kind;
use crate::store::{FileInfo, FileSource, StoredFile};
use crate::upstream::{Body, Share, Upstream, Validators};

/// What is read of the end of a wheel first: nearly always its list of files, and the metadata in front of it.
const TAIL: u64 = 64 * 1024;
/// The most parts that are asked for.
const MAX_PARTS: usize = 16;
/// A part that is asked for is at least this long, for another one follows it mostly.
const MIN_PART: u64 = 16 * 1024;
/// The most bytes of all parts.
const MAX_BYTES: u64 = 64 << 20;

/// The metadata of a wheel: read out of the wheel if it is stored, else out of those parts of it that they are in.
#[derive(Debug)]
pub(crate) struct MetadataSource {
    /// Where the wheel is.
    pub(crate) upstream: Arc<Upstream>,
    /// Its address.
    pub(crate) url: Url,
    /// Its name.
    pub(crate) name: String,
    /// What the metadata are called, for people.
    pub(crate) label: Arc<str>,
    /// The wheel, if it is stored.
    pub(crate) stored: Option<StoredFile>,
    /// What its host tells of the wheel when it is asked for a part.
    pub(crate) wheel_info: Arc<OnceLock<FileInfo>>,
}

impl MetadataSource {
    /// Reads the metadata.
    ///
    /// # Errors
    ///
    /// Fails if the wheel has none that can be read ([`Error::is_not_found`]), and as the index does.
    pub(crate) async fn make(&self) -> Result<Vec<u8>, Error> {
        self.read().await.map_err(|error| match error {
            // To installers it is a wheel whose metadata are not a file of their own.
            error if error.is_corrupt() || error.is_limit() => Error::new(Kind::NotFound).caused_by(error),
            error => error,
        })
    }

    async fn read(&self) -> Result<Vec<u8>, Error> {
        let mut share = self.upstream.budget().share();
        share.grow(MAX_METADATA).await;
        let mut wheel = match &self.stored {
            Some(stored) => Sparse::new(stored.len),
            None => self.tail(&mut share).await?,
        };
        let mut left = MAX_BYTES;
        for _ in 0..MAX_PARTS {
            let (sparse, look) = metadata(wheel, &self.name);
            wheel = sparse;
            let missing = match look? {
                Look::Found(metadata) => return Ok(metadata),
                Look::Missing(missing) => missing,
            };
            let end = missing.end.max(missing.start + MIN_PART).min(wheel.len());
            let range = missing.start..end;
            left = left
                .checked_sub(range.end - range.start)
                .ok_or_else(|| Error::with(Kind::Limit, "the parts of a wheel"))?;
            let part = self.part(range.clone(), &mut share).await?;
            if part.is_empty() {
                return Err(Error::with(Kind::Upstream, "nothing of a part of a wheel"));
            }
            wheel.put(range.start, part);
        }
        Err(Error::with(Kind::Limit, "the parts of a wheel"))
    }

    async fn tail(&self, share: &mut Share) -> Result<Sparse, Error> {
        let body = self.upstream.tail(&self.url, TAIL).await?;
        let (start, len) = (body.start, body.len);
        // It is set once: there is one tail.
        let _ = self.wheel_info.set(FileInfo { len, validators: body.validators.clone() });
        // A host that knows no ranges sends all of it.
        let bytes = collect(body, MAX_BYTES, share).await?;
        let mut wheel = Sparse::new(len.unwrap_or(start + bytes.len() as u64));
        wheel.put(start, bytes);
        Ok(wheel)
    }

    async fn part(&self, range: std::ops::Range<u64>, share: &mut Share) -> Result<Bytes, Error> {
        if let Some(stored) = &self.stored {
            let file = stored.file.clone();
            share.grow(range.end - range.start).await;
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
        let bytes = collect(body, MAX_BYTES, share).await?;
        let part = bytes.slice(skip.min(bytes.len())..);
        Ok(part.slice(..part.len().min(usize::try_from(len).unwrap_or(usize::MAX))))
    }
}

async fn collect(mut body: Body, max: u64, share: &mut Share) -> Result<Bytes, Error> {
    let mut all = Vec::new();
    while let Some(chunk) = body.try_next().await? {
        if all.len() as u64 + chunk.len() as u64 > max {
            return Err(Error::with(Kind::Limit, "the parts of a wheel"));
        }
        share.grow(chunk.len() as u64).await;
        all.extend_from_slice(&chunk);
    }
    Ok(all.into())
}

impl FileSource for MetadataSource {
    fn label(&self) -> Option<Arc<str>> {
        Some(self.label.clone())
    }

    async fn open(&mut self, _from: u64, _known: &Validators) -> Result<Body, Error> {
        let made = Bytes::from(self.make().await?);
        let len = made.len() as u64;
        Ok(Body::new(0, Some(len), Validators::default(), futures_util::stream::iter([Ok(made)])))
    }
}
