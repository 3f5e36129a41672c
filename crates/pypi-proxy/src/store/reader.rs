//! Reading a file that grows.

use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tokio::sync::watch;

use super::fill::{Progress, Shared, given_up};
use crate::Error;
use crate::error::Kind;

/// The most bytes that are read at once. Each reader has two of them in memory: one is sent while the next is read.
const CHUNK: usize = 64 * 1024;

/// The bytes of a file, or of a range of it, as they come.
///
/// It ends after the last byte of a file that was verified, and fails for any other, however much of it has been read.
pub struct Reader(BoxStream<'static, Result<Bytes, Error>>);

/// Where a reader is. It leaves when this is dropped.
struct Place {
    shared: Arc<Shared>,
    progress: watch::Receiver<Progress>,
    id: u64,
    position: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.window().leave(self.id);
        self.shared.room.notify_one();
    }
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>, range: Range<u64>) -> Self {
        let progress = shared.progress.subscribe();
        let id = shared.window().join(range.start);
        let place = Place { shared, progress, id, position: range.start };
        let stream = futures_util::stream::unfold(Some(place), move |place| async move {
            let mut place = place?;
            match place.next(range.end).await.transpose()? {
                Ok(bytes) => Some((Ok(bytes), Some(place))),
                Err(error) => Some((Err(error), None)),
            }
        });
        Self(stream.boxed())
    }
}

impl Place {
    /// The next bytes before `end`; nothing at the end of the file.
    async fn next(&mut self, end: u64) -> Result<Option<Bytes>, Error> {
        loop {
            if self.position >= end {
                return Ok(None);
            }
            let (on_disk, visible, outcome) = {
                let progress = self.progress.borrow_and_update();
                (progress.on_disk, progress.visible, progress.end.clone())
            };
            // An end with an error comes first: what is left to read is of no use.
            match outcome {
                Some(Err(error)) => return Err(error.repeat()),
                Some(Ok(_)) if self.position >= visible => return Ok(None),
                _ => {}
            }
            let until = visible.min(end);
            if self.position < until {
                let bytes = self.read(on_disk, until).await?;
                self.position += bytes.len() as u64;
                self.shared.window().advance(self.id, self.position);
                self.shared.room.notify_one();
                return Ok(Some(bytes));
            }
            self.progress.changed().await.map_err(|_| given_up())?;
        }
    }

    async fn read(&self, on_disk: u64, until: u64) -> Result<Bytes, Error> {
        let position = self.position;
        let left = usize::try_from(until - position).unwrap_or(usize::MAX);
        if position >= on_disk {
            let bytes = self.shared.window().get(position);
            let mut bytes = bytes
                .ok_or_else(|| Error::with(Kind::Storage, "it can't be stored, and reading was too slow"))?;
            bytes.truncate(left);
            return Ok(bytes);
        }
        let file = self.shared.file.get().cloned().ok_or_else(given_up)?;
        let len = left.min(CHUNK).min(usize::try_from(on_disk - position).unwrap_or(usize::MAX));
        let work = move || {
            let mut buffer = vec![0; len];
            read_at(&file, &mut buffer, position).map(|()| Bytes::from(buffer))
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| given_up())?.map_err(Error::storage)
    }
}

impl Stream for Reader {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

/// Reads without moving the place at which the file is written.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], position: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, position)
}
