//! The block in progress: what it has so far, and where that is stored.

use alloc::string::String;
use alloc::vec::Vec;

use compact_str::CompactString;

use super::{Decoder, Partial};
use crate::event::EventRef;
use crate::line::Field;

/// Buffers that grew past this many bytes for one large event are given back after it.
pub(super) const RETAINED_CAPACITY: usize = 256 << 10;

/// How much is reserved for the second data line of an event if the chunk has as much left: enough for most
/// events, so that joining their lines allocates once.
const JOIN_RESERVE: usize = 1 << 10;

/// A block in progress, as kept between chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Saved {
    pub(super) data: SavedData,
    event_type: bool,
    id: bool,
    pub(super) size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SavedData {
    None,
    Joined,
    /// The value starts at this offset of `held`.
    Held(usize),
}

impl Saved {
    pub(super) const NOTHING: Self = Self { data: SavedData::None, event_type: false, id: false, size: 0 };
}

/// A block in progress while a chunk is being walked: what can be borrowed is not copied.
#[derive(Debug)]
pub(super) struct Open<'c> {
    pub(super) data: Data<'c>,
    pub(super) event_type: Text<'c>,
    pub(super) id: Text<'c>,
    /// Decoded bytes of data, type and id.
    pub(super) size: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Data<'c> {
    None,
    Chunk(&'c str),
    Joined,
    Held(usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Text<'c> {
    None,
    Chunk(&'c str),
    /// In the decoder's own buffer.
    Kept,
}

impl<'c> Open<'c> {
    pub(super) const NOTHING: Self =
        Self { data: Data::None, event_type: Text::None, id: Text::None, size: 0 };

    #[inline(always)]
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Self { data: Data::None, event_type: Text::None, id: Text::None, .. })
    }
}

/// A dispatched block.
#[derive(Debug)]
pub(super) struct Dispatched<'c> {
    pub(super) event_type: Text<'c>,
    pub(super) data: Data<'c>,
    pub(super) retry: Option<u64>,
}

impl Decoder {
    /// The block in progress.
    #[inline(always)]
    pub(super) fn resume<'c>(&self) -> Open<'c> {
        if self.open == Saved::NOTHING {
            return Open::NOTHING;
        }
        let kept = |kept: bool| if kept { Text::Kept } else { Text::None };
        Open {
            data: match self.open.data {
                SavedData::None => Data::None,
                SavedData::Joined => Data::Joined,
                SavedData::Held(start) => Data::Held(start),
            },
            event_type: kept(self.open.event_type),
            id: kept(self.open.id),
            size: self.open.size,
        }
    }

    /// Keeps the block in progress for the next chunk: what borrows from this one is copied.
    #[cold]
    pub(super) fn save(&mut self, open: Open<'_>) {
        self.open = Saved {
            data: match open.data {
                Data::None => SavedData::None,
                Data::Chunk(data) => {
                    self.joined.clear();
                    self.joined.push_str(data);
                    SavedData::Joined
                }
                Data::Joined => SavedData::Joined,
                Data::Held(start) => SavedData::Held(start),
            },
            event_type: match open.event_type {
                Text::None => false,
                Text::Chunk(text) => {
                    set(&mut self.event_type, text);
                    true
                }
                Text::Kept => true,
            },
            id: match open.id {
                Text::None => false,
                Text::Chunk(text) => {
                    set(&mut self.pending_id, text);
                    true
                }
                Text::Kept => true,
            },
            size: open.size,
        };
    }

    /// Bytes that the line in progress may have.
    #[inline(always)]
    pub(super) fn room(&self, open: &Open<'_>) -> usize {
        self.config.max_event_size.saturating_sub(open.size)
    }

    /// Appends a data line to the ones that the block already has.
    pub(super) fn join(&mut self, open: &mut Open<'_>, text: &str, ahead: usize) {
        self.gather(open, text.len(), ahead.min(JOIN_RESERVE));
        self.joined.push_str(text);
        open.size += text.len() + 1;
    }

    /// Takes a value that is not UTF-8. Repairing makes it longer, so that it is measured again: `false` means
    /// that it does not fit.
    #[cold]
    pub(super) fn take_repaired(&mut self, field: Field, value: &[u8], open: &mut Open<'_>) -> bool {
        if repaired_len(value) > self.room(open) {
            return false;
        }
        match field {
            Field::Data => {
                self.gather(open, value.len(), 0);
                let before = self.joined.len();
                push_repaired(&mut self.joined, value);
                open.size += self.joined.len() - before + 1;
            }
            Field::Event => self.keep_type(open, &String::from_utf8_lossy(value)),
            Field::Id => self.keep_id(open, &String::from_utf8_lossy(value)),
            // Its value is never text.
            Field::Retry => {}
        }
        true
    }

    /// Moves the data so far into `joined`, with a line break after it, and makes room for `next` bytes. If that
    /// is where joining begins, room is made for the `further` bytes as well that may follow.
    #[inline]
    fn gather(&mut self, open: &mut Open<'_>, next: usize, further: usize) {
        match open.data {
            Data::Joined => self.joined.reserve(next + 1),
            Data::None => {
                self.joined.clear();
                self.joined.reserve(next);
                open.data = Data::Joined;
                return;
            }
            Data::Chunk(first) => {
                self.joined.clear();
                self.joined.reserve(first.len() + 1 + next + further);
                self.joined.push_str(first);
            }
            Data::Held(start) => {
                self.joined.clear();
                self.joined.reserve(self.held.len() + 1 + next + further);
                self.joined.push_str(&self.held[start..]);
            }
        }
        self.joined.push('\n');
        open.data = Data::Joined;
        self.overgrown |= self.joined.capacity() > RETAINED_CAPACITY;
    }

    pub(super) fn keep_type(&mut self, open: &mut Open<'_>, text: &str) {
        open.size = open.size - length(open.event_type, &self.event_type) + text.len();
        set(&mut self.event_type, text);
        open.event_type = Text::Kept;
    }

    pub(super) fn keep_id(&mut self, open: &mut Open<'_>, text: &str) {
        if memchr::memchr(0, text.as_bytes()).is_none() {
            open.size = open.size - length(open.id, &self.pending_id) + text.len();
            set(&mut self.pending_id, text);
            open.id = Text::Kept;
        }
    }

    #[cold]
    pub(super) fn repair_comment<'c>(&mut self, bytes: &[u8]) -> Text<'c> {
        self.comment.clear();
        push_repaired(&mut self.comment, bytes);
        self.overgrown |= self.comment.capacity() > RETAINED_CAPACITY;
        Text::Kept
    }

    /// The empty line: commits the id and hands the block over if it has data.
    #[inline(always)]
    pub(super) fn dispatch<'c>(&mut self, open: &mut Open<'c>) -> Option<Dispatched<'c>> {
        match open.id {
            Text::None => {}
            Text::Chunk(id) => set(&mut self.last_event_id, id),
            Text::Kept => core::mem::swap(&mut self.last_event_id, &mut self.pending_id),
        }
        let Open { data, event_type, .. } = core::mem::replace(open, Open::NOTHING);
        if let Data::None = data {
            return None;
        }
        Some(Dispatched { event_type, data, retry: self.take_retry() })
    }

    /// Hands over a block that is one data line.
    #[inline(always)]
    pub(super) fn dispatch_data<'c>(&mut self, data: &'c str) -> Dispatched<'c> {
        Dispatched { event_type: Text::None, data: Data::Chunk(data), retry: self.take_retry() }
    }

    #[inline(always)]
    fn take_retry(&mut self) -> Option<u64> {
        // Seldom there; a read is cheaper than the write of `take`.
        if self.unreported_retry.is_some() { self.unreported_retry.take() } else { None }
    }

    #[inline(always)]
    pub(super) fn event_ref<'a>(&'a self, event: &Dispatched<'a>) -> EventRef<'a> {
        EventRef {
            event_type: match event.event_type {
                Text::None => "",
                Text::Chunk(text) => text,
                Text::Kept => &self.event_type,
            },
            data: match event.data {
                Data::None => "",
                Data::Chunk(data) => data,
                Data::Joined => &self.joined,
                Data::Held(start) => &self.held[start..],
            },
            last_event_id: &self.last_event_id,
            retry: event.retry,
        }
    }

    /// Gives back buffers that one large event has blown up and that nothing uses any more.
    #[cold]
    pub(super) fn shrink(&mut self) {
        self.overgrown = false;
        let idle = self.open.data == SavedData::None;
        for text in [&mut self.joined, &mut self.held] {
            if text.capacity() > RETAINED_CAPACITY {
                if idle {
                    *text = String::new();
                } else {
                    self.overgrown = true;
                }
            }
        }
        if self.comment.capacity() > RETAINED_CAPACITY {
            self.comment = String::new();
        }
        if self.line.capacity() > RETAINED_CAPACITY {
            if matches!(self.partial, Partial::None | Partial::Skipped) {
                self.line = Vec::new();
            } else {
                self.overgrown = true;
            }
        }
    }
}

#[inline(always)]
pub(super) fn length(text: Text<'_>, kept: &str) -> usize {
    match text {
        Text::None => 0,
        Text::Chunk(text) => text.len(),
        Text::Kept => kept.len(),
    }
}

/// Replaces the content and keeps the capacity.
#[inline(always)]
fn set(target: &mut CompactString, text: &str) {
    target.clear();
    target.push_str(text);
}

/// The length of bytes once repaired by [`push_repaired`].
fn repaired_len(bytes: &[u8]) -> usize {
    let mark = char::REPLACEMENT_CHARACTER.len_utf8();
    bytes
        .utf8_chunks()
        .map(|chunk| chunk.valid().len() + if chunk.invalid().is_empty() { 0 } else { mark })
        .sum()
}

/// Appends bytes as text; every maximal invalid part becomes one U+FFFD.
fn push_repaired(target: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        target.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            target.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
