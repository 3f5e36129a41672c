//! A file that is on its way.

use std::fs::File;
use std::future::Future;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::window::Window;
use super::{Digest, Reader, Stored};
use crate::error::Kind;
use crate::upstream::{FileBody, Validators};
use crate::{Checksum, Error};

/// Where a file comes from.
pub trait Source: Send + 'static {
    /// Called once, before the file is opened. It takes the time that it needs.
    fn prepare(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Opens the file, or the part of it that follows a place.
    ///
    /// It is called again, with the place that was reached, when a connection breaks. If `known` is not what the file is
    /// known by any more, it should come from its start.
    ///
    /// # Errors
    ///
    /// Fails if the file is not to be had now; one that [is not there](Error::is_not_found) or
    /// [may not be had](Error::is_forbidden) is not asked for again.
    fn open(&mut self, from: u64, known: &Validators)
    -> impl Future<Output = Result<FileBody, Error>> + Send;

    /// What came is not the file. Whether it comes from somewhere else if it is opened once more.
    fn refuse(&mut self) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }

    /// What the file is called, for people: `project/file`.
    fn label(&self) -> Option<Arc<str>> {
        None
    }
}

/// What is known of a file before it is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Its SHA-256.
    pub sha256: Option<Digest>,
    /// Another hash. Without either, whatever comes is taken for the file.
    pub checksum: Option<Checksum>,
    /// Its length in bytes.
    pub size: Option<u64>,
}

/// What is known of a file when its source has answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Its length in bytes, if the source or somebody else tells.
    pub len: Option<u64>,
    /// What the source knows it by.
    pub validators: Validators,
}

/// A file on its way: it goes on whether or not somebody reads it.
#[derive(Clone, Debug)]
pub struct Fill {
    pub(super) shared: Arc<Shared>,
    /// Keeps what the disk can't have until there is a reader.
    hold: Option<Arc<Hold>>,
}

#[derive(Debug)]
struct Hold {
    shared: Arc<Shared>,
    id: u64,
}

impl Hold {
    fn release(&self) {
        self.shared.window().leave(self.id);
        self.shared.room.notify_one();
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.release();
    }
}

/// How far a file on its way is.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// What the file is called, if its source tells.
    pub(crate) label: Option<Arc<str>>,
    /// Bytes that have arrived.
    pub(crate) bytes: u64,
    /// Its length, as soon as it is known.
    pub(crate) len: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) progress: watch::Sender<Progress>,
    pub(super) window: Mutex<Window>,
    /// A reader has taken something from the window.
    pub(super) room: Notify,
    /// Where it grows, unless the disk can't be written from the start.
    pub(super) file: OnceLock<Arc<File>>,
    /// What the file is called, for people.
    pub(super) label: Option<Arc<str>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) head: Option<Head>,
    /// Bytes that are in the file; those after them are in the window.
    pub(super) on_disk: u64,
    /// Bytes that readers may have. The last one waits for the hash.
    pub(super) visible: u64,
    pub(super) end: Option<Result<Option<Stored>, Arc<Error>>>,
}

impl Fill {
    pub(super) fn new(label: Option<Arc<str>>) -> Self {
        let shared = Shared {
            progress: watch::Sender::new(Progress::default()),
            window: Mutex::default(),
            room: Notify::new(),
            file: OnceLock::new(),
            label,
        };
        Self { shared: Arc::new(shared), hold: None }
    }

    /// The same for one who is going to read it; `None` if not all of it is left.
    pub(super) fn hold(&self) -> Option<Self> {
        let id = self.shared.window().hold()?;
        let hold = Hold { shared: self.shared.clone(), id };
        Some(Self { shared: self.shared.clone(), hold: Some(Arc::new(hold)) })
    }

    /// The same for one who waits for the end: it keeps nothing in memory, and takes nothing from those who read.
    pub(crate) fn observer(&self) -> Self {
        Self { shared: self.shared.clone(), hold: None }
    }

    /// What the source tells of the file, as soon as it has answered.
    ///
    /// # Errors
    ///
    /// Fails if it does not.
    pub async fn head(&self) -> Result<Head, Error> {
        let mut progress = self.shared.progress.subscribe();
        let seen = progress.wait_for(|progress| progress.head.is_some() || progress.end.is_some()).await;
        let seen = seen.map_err(|_| given_up())?;
        match (&seen.head, &seen.end) {
            (Some(head), _) => Ok(head.clone()),
            (None, Some(Err(error))) => Err(error.repeat()),
            (None, _) => Err(given_up()),
        }
    }

    /// Bytes that have arrived, but for the last, which waits for the rest to be verified.
    pub fn available(&self) -> u64 {
        self.shared.progress.borrow().visible
    }

    /// The file as soon as this much of it is on disk, with its length if that is known. `None` if it has ended.
    pub(crate) async fn grown(&self, bytes: u64) -> Option<(Arc<File>, Option<u64>)> {
        let mut progress = self.shared.progress.subscribe();
        let is_there = |progress: &Progress| progress.on_disk >= bytes || progress.end.is_some();
        let seen = progress.wait_for(is_there).await.ok()?;
        let len = seen.head.as_ref().and_then(|head| head.len);
        if seen.end.is_some() {
            return None;
        }
        Some((self.shared.file.get()?.clone(), len))
    }

    /// How far it is.
    pub(super) fn state(&self) -> Running {
        let progress = self.shared.progress.borrow();
        let len = progress.head.as_ref().and_then(|head| head.len);
        Running { label: self.shared.label.clone(), bytes: progress.visible, len }
    }

    /// Reads the file while it grows, or a range of it.
    pub fn reader(&self, range: Option<Range<u64>>) -> Reader {
        Reader::new(self.shared.clone(), range.unwrap_or(0..u64::MAX))
    }

    /// Whether a reader that comes now still gets all of it. If the disk can't be written, what all readers have is gone.
    pub(super) fn is_whole(&self) -> bool {
        self.shared.window().is_whole()
    }

    /// Waits until the file is there and is what it should be. `None` if it could not be stored.
    ///
    /// # Errors
    ///
    /// Fails if the source does, if the file is not the one that was expected ([`Error::is_corrupt`]), or if it is too
    /// large ([`Error::is_limit`]).
    pub async fn done(&self) -> Result<Option<Stored>, Error> {
        // Who waits for the end is not going to read what comes before.
        if let Some(hold) = &self.hold {
            hold.release();
        }
        let mut progress = self.shared.progress.subscribe();
        let seen = progress.wait_for(|progress| progress.end.is_some()).await.map_err(|_| given_up())?;
        match &seen.end {
            Some(Ok(stored)) => Ok(stored.clone()),
            Some(Err(error)) => Err(error.repeat()),
            None => Err(given_up()),
        }
    }
}

impl Shared {
    pub(super) fn window(&self) -> MutexGuard<'_, Window> {
        // Nothing panics while it holds the lock half-way through a change.
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slowest reader sets the pace, but not for ever.
    pub(super) async fn wait_for_room(&self, max: usize, lag: Duration) {
        while self.window().bytes() >= max {
            if tokio::time::timeout(lag, self.room.notified()).await.is_err() {
                self.window().cut();
            }
        }
    }
}

/// The task that fetches it is gone, with the runtime.
#[cold]
pub(super) fn given_up() -> Error {
    Error::with(Kind::Upstream, "fetching was given up")
}
