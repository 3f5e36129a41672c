//! Incomplete block: its fields, which borrow from the chunk or are buffered.

use alloc::string::String;
use alloc::vec::Vec;

use compact_str::CompactString;

use super::{Decoder, Partial};
use crate::event::{EventRef, stored_type};
use crate::line::Field;

/// Maximum capacity of a buffer between events, in bytes.
pub(super) const RETAINED_CAPACITY: usize = 256 << 10;

/// Maximum additional capacity when data lines are joined, in bytes. Enough for most events, so that joining their
/// lines allocates once.
const JOIN_RESERVE: usize = 1 << 10;

/// Incomplete block. Fields borrow from the chunk if possible; between chunks, all are in the buffers of the decoder.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenBlock<'c> {
    pub(super) data: Data<'c>,
    pub(super) event_type: FieldText<'c>,
    pub(super) id: FieldText<'c>,
    /// Size of data, type and id, in bytes.
    pub(super) size: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Data<'c> {
    None,
    Chunk(&'c str),
    Joined,
    /// Data in `Decoder::split_line`, from this offset on.
    SplitLine(usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum FieldText<'c> {
    None,
    Chunk(&'c str),
    /// Text in the decoder's buffer of this field.
    Buffered,
}

impl FieldText<'_> {
    /// Copies a text that borrows from the chunk into its buffer.
    fn buffered(self, buffer: &mut CompactString) -> FieldText<'static> {
        match self {
            FieldText::None => FieldText::None,
            FieldText::Chunk(text) => {
                set(buffer, text);
                FieldText::Buffered
            }
            FieldText::Buffered => FieldText::Buffered,
        }
    }
}

impl<'c> OpenBlock<'c> {
    pub(super) const EMPTY: Self =
        Self { data: Data::None, event_type: FieldText::None, id: FieldText::None, size: 0 };

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self { data: Data::None, event_type: FieldText::None, id: FieldText::None, .. })
    }
}

/// Complete block with data.
#[derive(Debug)]
pub(super) struct CompleteBlock<'c> {
    pub(super) event_type: FieldText<'c>,
    pub(super) data: Data<'c>,
    pub(super) retry: Option<u64>,
}

impl Decoder {
    /// Stores the incomplete block until the next chunk arrives. Copies fields that borrow from the current chunk
    /// into buffers of the decoder.
    #[cold]
    pub(super) fn save(&mut self, open: OpenBlock<'_>) {
        self.open = OpenBlock {
            data: match open.data {
                Data::None => Data::None,
                Data::Chunk(data) => {
                    self.joined.clear();
                    self.joined.push_str(data);
                    Data::Joined
                }
                Data::Joined => Data::Joined,
                Data::SplitLine(start) => Data::SplitLine(start),
            },
            event_type: open.event_type.buffered(&mut self.event_type),
            id: open.id.buffered(&mut self.pending_id),
            size: open.size,
        };
    }

    /// Returns the maximum length of the current line.
    #[inline(always)]
    pub(super) fn remaining_size(&self, open: &OpenBlock<'_>) -> usize {
        self.config.max_event_size.saturating_sub(open.size)
    }

    /// Appends a data line to those of the block. `ahead` is the length of the rest of the chunk.
    pub(super) fn join(&mut self, open: &mut OpenBlock<'_>, text: &str, ahead: usize) {
        self.start_join(open, text.len(), ahead.min(JOIN_RESERVE));
        self.joined.push_str(text);
        open.size += text.len() + 1;
    }

    /// Buffers a value with invalid UTF-8. Replacement characters make it longer: returns `false` if it exceeds the
    /// limit.
    #[cold]
    pub(super) fn buffer_lossy(&mut self, field: Field, value: &[u8], open: &mut OpenBlock<'_>) -> bool {
        if lossy_len(value) > self.remaining_size(open) {
            return false;
        }
        match field {
            Field::Data => {
                self.start_join(open, value.len(), 0);
                let before = self.joined.len();
                push_lossy(&mut self.joined, value);
                open.size += self.joined.len() - before + 1;
            }
            Field::Event => self.buffer_type(open, &String::from_utf8_lossy(value)),
            Field::Id => self.buffer_id(open, &String::from_utf8_lossy(value)),
            // Handled before.
            Field::Retry => {}
        }
        true
    }

    /// Moves the data of the block into `joined`, appends a line break, and reserves `next` bytes. If `joined` was not
    /// in use, reserves `further` bytes in addition.
    #[inline]
    fn start_join(&mut self, open: &mut OpenBlock<'_>, next: usize, further: usize) {
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
            Data::SplitLine(start) => {
                self.joined.clear();
                self.joined.reserve(self.split_line.len() + 1 + next + further);
                self.joined.push_str(&self.split_line[start..]);
            }
        }
        self.joined.push('\n');
        open.data = Data::Joined;
        self.oversized_buffer |= self.joined.capacity() > RETAINED_CAPACITY;
    }

    pub(super) fn buffer_type(&mut self, open: &mut OpenBlock<'_>, text: &str) {
        open.size = open.size - length(open.event_type, &self.event_type) + text.len();
        set(&mut self.event_type, text);
        open.event_type = FieldText::Buffered;
    }

    pub(super) fn buffer_id(&mut self, open: &mut OpenBlock<'_>, text: &str) {
        if memchr::memchr(0, text.as_bytes()).is_none() {
            open.size = open.size - length(open.id, &self.pending_id) + text.len();
            set(&mut self.pending_id, text);
            open.id = FieldText::Buffered;
        }
    }

    #[cold]
    pub(super) fn buffer_comment_lossy<'c>(&mut self, bytes: &[u8]) -> FieldText<'c> {
        self.comment.clear();
        push_lossy(&mut self.comment, bytes);
        self.oversized_buffer |= self.comment.capacity() > RETAINED_CAPACITY;
        FieldText::Buffered
    }

    /// Handles the empty line: sets the last event id, and returns the block if it has data.
    #[inline(always)]
    pub(super) fn dispatch<'c>(&mut self, open: &mut OpenBlock<'c>) -> Option<CompleteBlock<'c>> {
        match open.id {
            FieldText::None => {}
            FieldText::Chunk(id) => set(&mut self.last_event_id, id),
            FieldText::Buffered => core::mem::swap(&mut self.last_event_id, &mut self.pending_id),
        }
        let OpenBlock { data, event_type, .. } = core::mem::replace(open, OpenBlock::EMPTY);
        if let Data::None = data {
            return None;
        }
        Some(CompleteBlock { event_type, data, retry: self.take_retry() })
    }

    /// Returns a block that consists of one data line.
    #[inline(always)]
    pub(super) fn dispatch_data<'c>(&mut self, data: &'c str) -> CompleteBlock<'c> {
        CompleteBlock { event_type: FieldText::None, data: Data::Chunk(data), retry: self.take_retry() }
    }

    #[inline(always)]
    fn take_retry(&mut self) -> Option<u64> {
        // Rarely set, and reading is cheaper than the write of `take`.
        if self.unreported_retry.is_some() { self.unreported_retry.take() } else { None }
    }

    #[inline(always)]
    pub(super) fn event_ref<'a>(&'a self, event: &CompleteBlock<'a>) -> EventRef<'a> {
        EventRef {
            event_type: match event.event_type {
                FieldText::None => "",
                FieldText::Chunk(text) => stored_type(text),
                FieldText::Buffered => stored_type(&self.event_type),
            },
            data: match event.data {
                Data::None => "",
                Data::Chunk(data) => data,
                Data::Joined => &self.joined,
                Data::SplitLine(start) => &self.split_line[start..],
            },
            last_event_id: &self.last_event_id,
            retry: event.retry,
        }
    }

    /// Frees unused buffers that exceed `RETAINED_CAPACITY`.
    #[cold]
    pub(super) fn shrink(&mut self) {
        self.oversized_buffer = false;
        let idle = matches!(self.open.data, Data::None);
        for text in [&mut self.joined, &mut self.split_line] {
            if text.capacity() > RETAINED_CAPACITY {
                if idle {
                    *text = String::new();
                } else {
                    self.oversized_buffer = true;
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
                self.oversized_buffer = true;
            }
        }
    }
}

#[inline(always)]
pub(super) fn length(text: FieldText<'_>, buffered: &str) -> usize {
    match text {
        FieldText::None => 0,
        FieldText::Chunk(text) => text.len(),
        FieldText::Buffered => buffered.len(),
    }
}

/// Replaces the content and reuses the capacity.
#[inline(always)]
fn set(target: &mut CompactString, text: &str) {
    target.clear();
    target.push_str(text);
}

/// Returns the number of bytes that [`push_lossy`] appends.
fn lossy_len(bytes: &[u8]) -> usize {
    let replacement = char::REPLACEMENT_CHARACTER.len_utf8();
    bytes
        .utf8_chunks()
        .map(|chunk| chunk.valid().len() + if chunk.invalid().is_empty() { 0 } else { replacement })
        .sum()
}

/// Appends bytes as text. Every maximal invalid sequence becomes one U+FFFD.
fn push_lossy(target: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        target.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            target.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
