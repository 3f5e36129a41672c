//! Keys that objects are expected to have.

use std::ptr::NonNull;
use std::slice;

use super::slot::text;
use super::{INLINE, Slot, UNINDEXED, Word};
use crate::value::map::Index;

/// Number of contexts.
pub(super) const SHAPES: usize = 128;

/// Maximum number of keys of an object that later documents of a thread are compared with.
const MAX_KEPT: usize = 32;

/// Maximum total length in bytes of the keys of such an object that are not stored inline.
const MAX_KEPT_TEXT: usize = 1024;

/// Keys of an object in the memory.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) keys: NonNull<Slot>,
    pub(super) len: u32,
    /// Number of the index, [`UNINDEXED`] if there is none.
    pub(super) index: u32,
}

impl Shape {
    pub(super) const EMPTY: Self = Self { keys: NonNull::dangling(), len: 0, index: UNINDEXED };

    /// # Safety
    ///
    /// The memory with the keys exists.
    pub(super) unsafe fn keys(&self) -> &[Slot] {
        // SAFETY: the memory has so many keys there.
        unsafe { slice::from_raw_parts(self.keys.as_ptr(), self.len as usize) }
    }
}

/// Keys that the objects of a thread are expected to have, by context.
pub(super) struct Shapes {
    /// Last object in each context, with the number of the document whose memory has its keys.
    pub(super) current: [(u64, Shape); SHAPES],
    /// Last object in each context with other keys than the current one. Optional fields make objects of two kinds
    /// alternate.
    pub(super) previous: [(u64, Shape); SHAPES],
    /// Keys of objects of earlier documents.
    pub(super) kept: [Kept; SHAPES],
    /// Bits of the contexts with new keys in the current document.
    pub(super) new: u128,
    /// Number of the current document.
    pub(super) document: u64,
    /// Words that the last tree needed.
    pub(super) words: usize,
}

/// Copy of the keys of an object.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) keys: Vec<Slot>,
    /// Keys that are not inline.
    pub(super) texts: Vec<Box<[u8]>>,
    /// Length of the longest key, in bytes.
    pub(super) longest: usize,
    pub(super) index: Option<Index>,
}

impl Shapes {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            current: [(0, Shape::EMPTY); SHAPES],
            previous: [(0, Shape::EMPTY); SHAPES],
            kept: std::array::from_fn(|_| Kept::default()),
            new: 0,
            document: 0,
            words: 0,
        })
    }

    /// Copies the new keys of the current document, which is complete, for later documents.
    #[cold]
    pub(super) fn keep(&mut self, indexes: &[Index]) {
        while self.new != 0 {
            let context = self.new.trailing_zeros() as usize;
            self.new &= self.new - 1;
            let (_, shape) = self.current[context];
            // SAFETY: the memory of the document exists.
            let keys = unsafe { shape.keys() };
            let long = keys.iter().map(|key| text(key).len()).filter(|len| *len > INLINE).sum::<usize>();
            if keys.len() > MAX_KEPT || long > MAX_KEPT_TEXT {
                continue;
            }
            let mut kept = Kept { index: indexes.get(shape.index as usize).cloned(), ..Kept::default() };
            for mut key in keys.iter().copied() {
                let text = text(&key);
                kept.longest = kept.longest.max(text.len());
                if text.len() > INLINE {
                    let text: Box<[u8]> = text.into();
                    key[1] = Word(text.as_ptr());
                    kept.texts.push(text);
                }
                kept.keys.push(key);
            }
            self.kept[context] = kept;
        }
    }
}

/// Returns the context for the first word of a key or document.
#[inline(always)]
pub(crate) fn context(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}
