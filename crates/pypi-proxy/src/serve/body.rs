//! Bodies of responses.

use std::fs::File;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Frame, SizeHint};
use tokio::task::JoinHandle;

use super::http1::BodySource;
use crate::page_cache::{MemoryFile, PageBytes};
use crate::store::{Reader, read_at};
use crate::{Error, system, upstream};

/// Maximum bytes per read of a file.
const CHUNK: u64 = 128 * 1024;

/// Body of a response.
#[derive(Debug)]
pub struct ResponseBody(BodyKind);

#[derive(Debug)]
enum BodyKind {
    Full(Option<Bytes>),
    /// Range of a file.
    File {
        file: FileHandle,
        at: u64,
        end: u64,
        reading: Option<JoinHandle<std::io::Result<Bytes>>>,
    },
    /// A file that is being downloaded.
    Growing {
        reader: Reader,
        remaining: Option<u64>,
    },
    /// A body from the upstream that is not stored.
    PassThrough {
        body: upstream::FileBody,
        remaining: Option<u64>,
    },
}

/// Handle of a file on disk or in memory.
#[derive(Clone, Debug)]
pub(super) enum FileHandle {
    Disk(Arc<File>),
    Memory(Arc<MemoryFile>),
}

impl FileHandle {
    pub(super) fn as_file(&self) -> &File {
        match self {
            Self::Disk(file) => file,
            Self::Memory(file) => file.as_file(),
        }
    }

    /// Reads at most `CHUNK` bytes.
    fn read(&self, at: u64, len: u64) -> std::io::Result<Bytes> {
        let mut buffer = vec![0; usize::try_from(len.min(CHUNK)).unwrap_or_default()];
        read_at(self.as_file(), &mut buffer, at)?;
        Ok(buffer.into())
    }
}

impl ResponseBody {
    /// Returns an empty body.
    pub fn empty() -> Self {
        Self(BodyKind::Full(None))
    }

    pub(super) fn file(file: Arc<File>, range: Range<u64>) -> Self {
        Self::from_handle(FileHandle::Disk(file), range)
    }

    pub(super) fn from_handle(file: FileHandle, range: Range<u64>) -> Self {
        Self(BodyKind::File { file, at: range.start, end: range.end, reading: None })
    }

    pub(super) fn growing(reader: Reader, len: Option<u64>) -> Self {
        Self(BodyKind::Growing { reader, remaining: len })
    }

    pub(super) fn pass_through(body: upstream::FileBody, len: Option<u64>) -> Self {
        Self(BodyKind::PassThrough { body, remaining: len })
    }

    /// Returns the representation that the HTTP/1 writer can send without copies.
    pub(super) fn into_source(self) -> BodySource {
        match self.0 {
            BodyKind::Full(bytes) => BodySource::Bytes(bytes.unwrap_or_default()),
            BodyKind::File { file, at, end, reading: None } => BodySource::File(file, at..end),
            BodyKind::Growing { reader, .. } => BodySource::Growing(reader),
            other => BodySource::Stream(Self(other)),
        }
    }
}

impl From<PageBytes> for ResponseBody {
    fn from(bytes: PageBytes) -> Self {
        match bytes.into_parts() {
            Ok(bytes) => bytes.into(),
            Err((file, len)) => Self::from_handle(FileHandle::Memory(file), 0..len),
        }
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self(BodyKind::Full(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let next = match &mut self.0 {
            BodyKind::Full(bytes) => bytes.take().map(Ok),
            BodyKind::File { file, at, end, reading } => {
                if at == end {
                    return Poll::Ready(None);
                }
                let (from, len) = (*at, *end - *at);
                let result = if matches!(file, FileHandle::Memory(_)) {
                    Ok(file.read(from, len))
                } else {
                    let task = reading.get_or_insert_with(|| {
                        let file = file.clone();
                        system::spawn_blocking(move || file.read(from, len))
                    });
                    let result = ready!(Pin::new(task).poll(cx));
                    *reading = None;
                    result
                };
                match result {
                    Ok(Ok(bytes)) => {
                        *at += bytes.len() as u64;
                        Some(Ok(bytes))
                    }
                    Ok(Err(error)) => Some(Err(Error::storage(error))),
                    Err(error) => Some(Err(Error::storage(std::io::Error::other(error)))),
                }
            }
            BodyKind::Growing { reader, remaining } => {
                count(ready!(Pin::new(reader).poll_next(cx)), remaining)
            }
            BodyKind::PassThrough { body, remaining } => {
                count(ready!(Pin::new(body).poll_next(cx)), remaining)
            }
        };
        Poll::Ready(next.map(|result| result.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            BodyKind::Full(bytes) => bytes.is_none(),
            BodyKind::File { at, end, .. } => at == end,
            // The last item may be an error.
            BodyKind::Growing { .. } | BodyKind::PassThrough { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodyKind::Full(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            BodyKind::File { at, end, .. } => SizeHint::with_exact(end - at),
            BodyKind::Growing { remaining, .. } | BodyKind::PassThrough { remaining, .. } => {
                remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
            }
        }
    }
}

fn count(next: Option<Result<Bytes, Error>>, remaining: &mut Option<u64>) -> Option<Result<Bytes, Error>> {
    if let (Some(Ok(bytes)), Some(remaining)) = (&next, remaining) {
        *remaining = remaining.saturating_sub(bytes.len() as u64);
    }
    next
}
