//! What is sent.

use std::fs::File;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Frame, SizeHint};
use tokio::task::JoinHandle;

use super::http1::Whole;
use crate::Error;
use crate::pages::{Held, MemoryFile};
use crate::store::{Reader, read_at};
use crate::upstream;

/// The most bytes of a file that are read at once.
const CHUNK: u64 = 128 * 1024;

/// The body of an answer.
#[derive(Debug)]
pub struct Body(Kind);

#[derive(Debug)]
enum Kind {
    Full(Option<Bytes>),
    /// Part of a file.
    File {
        file: Source,
        at: u64,
        end: u64,
        reading: Option<JoinHandle<std::io::Result<Bytes>>>,
    },
    /// A file that grows, with the bytes that are left if they are known.
    Growing {
        reader: Reader,
        left: Option<u64>,
    },
    /// Bytes on their way through.
    Passing {
        body: upstream::FileBody,
        left: Option<u64>,
    },
}

/// Where a file is.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Disk(Arc<File>),
    Memory(Arc<MemoryFile>),
}

impl Source {
    pub(super) fn as_file(&self) -> &File {
        match self {
            Self::Disk(file) => file,
            Self::Memory(file) => file.as_file(),
        }
    }

    /// Reads at most a chunk.
    fn read(&self, at: u64, len: u64) -> std::io::Result<Bytes> {
        let mut buffer = vec![0; usize::try_from(len.min(CHUNK)).unwrap_or_default()];
        read_at(self.as_file(), &mut buffer, at)?;
        Ok(buffer.into())
    }
}

impl Body {
    /// Nothing.
    pub fn empty() -> Self {
        Self(Kind::Full(None))
    }

    pub(super) fn file(file: Arc<File>, range: Range<u64>) -> Self {
        Self::of_source(Source::Disk(file), range)
    }

    pub(super) fn of_source(file: Source, range: Range<u64>) -> Self {
        Self(Kind::File { file, at: range.start, end: range.end, reading: None })
    }

    pub(super) fn growing(reader: Reader, len: Option<u64>) -> Self {
        Self(Kind::Growing { reader, left: len })
    }

    pub(super) fn passing(body: upstream::FileBody, len: Option<u64>) -> Self {
        Self(Kind::Passing { body, left: len })
    }
}

impl Body {
    /// What is known of it before it is read.
    pub(super) fn into_whole(self) -> Whole {
        match self.0 {
            Kind::Full(bytes) => Whole::Bytes(bytes.unwrap_or_default()),
            Kind::File { file, at, end, reading: None } => Whole::File(file, at..end),
            Kind::Growing { reader, .. } => Whole::Growing(reader),
            other => Whole::Other(Self(other)),
        }
    }
}

impl From<Held> for Body {
    fn from(held: Held) -> Self {
        match held.into_parts() {
            Ok(bytes) => bytes.into(),
            Err((file, len)) => Self::of_source(Source::Memory(file), 0..len),
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self(Kind::Full(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let next = match &mut self.0 {
            Kind::Full(bytes) => bytes.take().map(Ok),
            Kind::File { file, at, end, reading } => {
                if at == end {
                    return Poll::Ready(None);
                }
                let (from, len) = (*at, *end - *at);
                let result = if matches!(file, Source::Memory(_)) {
                    Ok(file.read(from, len))
                } else {
                    let task = reading.get_or_insert_with(|| {
                        let file = file.clone();
                        tokio::task::spawn_blocking(move || file.read(from, len))
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
            Kind::Growing { reader, left } => count(ready!(Pin::new(reader).poll_next(cx)), left),
            Kind::Passing { body, left } => count(ready!(Pin::new(body).poll_next(cx)), left),
        };
        Poll::Ready(next.map(|result| result.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Full(bytes) => bytes.is_none(),
            Kind::File { at, end, .. } => at == end,
            // The end may yet be an error.
            Kind::Growing { .. } | Kind::Passing { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::File { at, end, .. } => SizeHint::with_exact(end - at),
            Kind::Growing { left, .. } | Kind::Passing { left, .. } => {
                left.map_or_else(SizeHint::default, SizeHint::with_exact)
            }
        }
    }
}

fn count(next: Option<Result<Bytes, Error>>, left: &mut Option<u64>) -> Option<Result<Bytes, Error>> {
    if let (Some(Ok(bytes)), Some(left)) = (&next, left) {
        *left = left.saturating_sub(bytes.len() as u64);
    }
    next
}
