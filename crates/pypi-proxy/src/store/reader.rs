//! Reads a file while it is being downloaded.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tokio::sync::watch;

use super::download::{DownloadState, Progress, aborted};
use crate::error::Kind;
use crate::sys::FileExt as _;
use crate::{Error, system};

/// Maximum bytes per read. A reader has at most two such buffers: one is sent while the next one is read.
const READ_SIZE: u64 = 64 * 1024;

/// Stream of the bytes of a file or range, as they arrive.
///
/// Ends after the last byte of a verified file. Fails if the download fails, no matter how much was read before.
pub struct Reader(State);

enum State {
    /// The reader was not polled as a stream yet.
    Chunks(Cursor),
    Bytes(BoxStream<'static, Result<Bytes, Error>>),
    Over,
}

/// Bytes of a file that are available.
pub(crate) enum FileChunk {
    Bytes(Bytes),
    /// A range of the file on disk.
    File(Arc<File>, Range<u64>),
}

/// Position of a reader in a download. Leaves the window when dropped.
struct Cursor {
    state: Arc<DownloadState>,
    progress: watch::Receiver<Progress>,
    id: u64,
    position: u64,
    end: u64,
}

impl Drop for Cursor {
    fn drop(&mut self) {
        self.state.window.lock().leave(self.id);
        self.state.room.notify_one();
    }
}

impl Reader {
    pub(super) fn new(state: Arc<DownloadState>, range: Range<u64>) -> Self {
        let progress = state.progress.subscribe();
        let id = state.window.lock().join(range.start);
        Self(State::Chunks(Cursor { state, progress, id, position: range.start, end: range.end }))
    }

    /// Returns the next chunk without copying bytes that are on disk. Returns `None` after the reader was polled as a
    /// stream.
    pub(crate) async fn next_chunk(&mut self) -> Result<Option<FileChunk>, Error> {
        let State::Chunks(cursor) = &mut self.0 else { return Ok(None) };
        cursor.next().await
    }
}

impl Cursor {
    /// Waits for the next chunk. Returns `None` at the end of the range or file.
    async fn next(&mut self) -> Result<Option<FileChunk>, Error> {
        let end = self.end;
        loop {
            if self.position >= end {
                return Ok(None);
            }
            let (on_disk, visible, outcome) = {
                let progress = self.progress.borrow_and_update();
                (progress.on_disk, progress.visible, progress.end.clone())
            };
            // An error takes precedence over the remaining bytes, because the client must not use them.
            match outcome {
                Some(Err(error)) => return Err(error.repeat()),
                Some(Ok(_)) if self.position >= visible => return Ok(None),
                _ => {}
            }
            let until = visible.min(end);
            if self.position < until {
                let chunk = self.take(on_disk, until)?;
                self.position += match &chunk {
                    FileChunk::Bytes(bytes) => bytes.len() as u64,
                    FileChunk::File(_, range) => range.end - range.start,
                };
                self.state.window.lock().advance(self.id, self.position);
                self.state.room.notify_one();
                return Ok(Some(chunk));
            }
            self.progress.changed().await.map_err(|_| aborted())?;
        }
    }

    fn take(&self, on_disk: u64, until: u64) -> Result<FileChunk, Error> {
        let position = self.position;
        if position >= on_disk {
            let bytes = self.state.window.lock().get(position);
            let mut bytes = bytes.ok_or_else(|| {
                Error::with(Kind::Storage, "the file can't be stored, and the client reads it too slowly")
            })?;
            bytes.truncate(usize::try_from(until - position).unwrap_or(usize::MAX));
            return Ok(FileChunk::Bytes(bytes));
        }
        let file = self.state.file.get().cloned().ok_or_else(aborted)?;
        Ok(FileChunk::File(file, position..until.min(on_disk)))
    }
}

/// Converts chunks to bytes by reading the file on a blocking thread.
fn bytes(cursor: Cursor) -> BoxStream<'static, Result<Bytes, Error>> {
    futures_util::stream::unfold(Some((cursor, None)), move |state| async move {
        let (mut cursor, mut part) = state?;
        loop {
            let Some((file, range)) = part.take() else {
                match cursor.next().await.transpose()? {
                    Ok(FileChunk::Bytes(bytes)) => return Some((Ok(bytes), Some((cursor, None)))),
                    Ok(FileChunk::File(file, range)) => part = Some((file, range)),
                    Err(error) => return Some((Err(error), None)),
                }
                continue;
            };
            let Range { start, end } = range;
            let until = end.min(start + READ_SIZE);
            let read = read_range(Arc::clone(&file), start..until).await;
            let rest = (until < end).then_some((file, until..end));
            let next = read.is_ok().then_some((cursor, rest));
            return Some((read, next));
        }
    })
    .boxed()
}

impl Stream for Reader {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let State::Chunks(_) = self.0
            && let State::Chunks(cursor) = std::mem::replace(&mut self.0, State::Over)
        {
            self.0 = State::Bytes(bytes(cursor));
        }
        match &mut self.0 {
            State::Bytes(stream) => stream.as_mut().poll_next(cx),
            State::Chunks(_) | State::Over => Poll::Ready(None),
        }
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

/// Reads a file from its start without changing the position of its handle, which others share.
pub(crate) struct FileFromStart<'f> {
    file: &'f File,
    position: u64,
}

impl<'f> FileFromStart<'f> {
    pub(crate) fn new(file: &'f File) -> Self {
        Self { file, position: 0 }
    }
}

impl Read for FileFromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

/// Reads at an offset, independent of the position at which the file is written.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<()> {
    file.read_exact_at(buffer, position)
}

/// Reads a range of a file on a blocking thread. The caller limits its length.
pub(crate) async fn read_range(file: Arc<File>, range: Range<u64>) -> Result<Bytes, Error> {
    let work = move || {
        let mut buffer = vec![0; usize::try_from(range.end - range.start).unwrap_or(usize::MAX)];
        read_at(&file, &mut buffer, range.start).map(|()| Bytes::from(buffer))
    };
    let read = system::spawn_blocking(work).await;
    read.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(Error::storage)
}
