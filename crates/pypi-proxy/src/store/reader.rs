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
const CHUNK: u64 = 64 * 1024;

/// The bytes of a file, or of a range of it, as they come.
///
/// It ends after the last byte of a file that was verified, and fails for any other, however much of it has been read.
pub struct Reader(State);

enum State {
    /// Nobody has asked for bytes yet.
    Pieces(Place),
    Bytes(BoxStream<'static, Result<Bytes, Error>>),
    Over,
}

/// What has come of a file.
pub(crate) enum Piece {
    Bytes(Bytes),
    /// Part of the file itself, which is there.
    File(Arc<File>, Range<u64>),
}

/// Where a reader is. It leaves when this is dropped.
struct Place {
    shared: Arc<Shared>,
    progress: watch::Receiver<Progress>,
    id: u64,
    position: u64,
    end: u64,
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
        Self(State::Pieces(Place { shared, progress, id, position: range.start, end: range.end }))
    }

    /// What comes next, without a copy of what is in the file. It is not for readers of which bytes were asked before.
    pub(crate) async fn piece(&mut self) -> Result<Option<Piece>, Error> {
        let State::Pieces(place) = &mut self.0 else { return Ok(None) };
        place.next().await
    }
}

impl Place {
    /// What comes next before the end of the range; nothing at the end of the file.
    async fn next(&mut self) -> Result<Option<Piece>, Error> {
        let end = self.end;
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
                let piece = self.take(on_disk, until)?;
                self.position += match &piece {
                    Piece::Bytes(bytes) => bytes.len() as u64,
                    Piece::File(_, range) => range.end - range.start,
                };
                self.shared.window().advance(self.id, self.position);
                self.shared.room.notify_one();
                return Ok(Some(piece));
            }
            self.progress.changed().await.map_err(|_| given_up())?;
        }
    }

    fn take(&self, on_disk: u64, until: u64) -> Result<Piece, Error> {
        let position = self.position;
        if position >= on_disk {
            let bytes = self.shared.window().get(position);
            let mut bytes = bytes
                .ok_or_else(|| Error::with(Kind::Storage, "it can't be stored, and reading was too slow"))?;
            bytes.truncate(usize::try_from(until - position).unwrap_or(usize::MAX));
            return Ok(Piece::Bytes(bytes));
        }
        let file = self.shared.file.get().cloned().ok_or_else(given_up)?;
        Ok(Piece::File(file, position..until.min(on_disk)))
    }
}

/// The same as bytes.
fn bytes(place: Place) -> BoxStream<'static, Result<Bytes, Error>> {
    futures_util::stream::unfold(Some((place, None)), move |state| async move {
        let (mut place, mut part) = state?;
        loop {
            let Some((file, range)) = part.take() else {
                match place.next().await.transpose()? {
                    Ok(Piece::Bytes(bytes)) => return Some((Ok(bytes), Some((place, None)))),
                    Ok(Piece::File(file, range)) => part = Some((file, range)),
                    Err(error) => return Some((Err(error), None)),
                }
                continue;
            };
            let Range { start, end } = range;
            let until = end.min(start + CHUNK);
            let work = {
                let file: Arc<File> = Arc::clone(&file);
                move || {
                    // At most a chunk.
                    let mut buffer = vec![0; usize::try_from(until - start).unwrap_or_default()];
                    read_at(&file, &mut buffer, start).map(|()| Bytes::from(buffer))
                }
            };
            let read = match tokio::task::spawn_blocking(work).await {
                Ok(read) => read.map_err(Error::storage),
                Err(_) => Err(given_up()),
            };
            let rest = (until < end).then_some((file, until..end));
            let next = read.is_ok().then_some((place, rest));
            return Some((read, next));
        }
    })
    .boxed()
}

impl Stream for Reader {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let State::Pieces(_) = self.0
            && let State::Pieces(place) = std::mem::replace(&mut self.0, State::Over)
        {
            self.0 = State::Bytes(bytes(place));
        }
        match &mut self.0 {
            State::Bytes(stream) => stream.as_mut().poll_next(cx),
            State::Pieces(_) | State::Over => Poll::Ready(None),
        }
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
