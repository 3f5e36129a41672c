//! Writer of a [`Memory`].

use std::cell::Cell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

use super::super::map::{Entry, INDEXED, Index, deduplicate};
use super::super::number::{Kind, Repr};
use super::super::{Array, Map, Number, Tag, Value};
use super::{Chunk, Counted, Header, INLINE, INNER, Inner, Memory, UNINDEXED, VIEW, Word};
use crate::scan;

/// Value or key that is not yet in the memory, as words of the layout of [`Value`].
type Slot = [Word; 3];

/// Whether the layouts of this platform are those that [`Builder`] writes. Otherwise trees are vectors and boxes.
pub(crate) const IS_SUPPORTED: bool = cfg!(target_pointer_width = "64");

const _: () = assert!(
    !IS_SUPPORTED || size_of::<Value>() == 24 && size_of::<Entry>() == 48 && align_of::<Entry>() == 8
);

/// Minimum words of the first chunk.
const MIN_CHUNK: usize = 32;

/// Maximum words of a chunk, unless one array or object needs more.
const MAX_CHUNK: usize = 1 << 20;

/// Number of shapes that are remembered.
const SHAPES: usize = 128;

/// Open object, with the keys of an object in the same context that has been decoded before.
///
/// Most documents have many objects with the same keys, so that comparing the document with the expected key is faster
/// than searching for its end.
pub(crate) struct Object {
    /// Number of values and keys on the stack before the object.
    from: usize,
    context: usize,
    /// Next expected entry.
    next: NonNull<Entry>,
    /// Number of expected entries.
    remaining: usize,
    /// Whether all keys so far were the expected ones.
    holds: bool,
    escapes: bool,
}

impl Object {
    /// Returns an object with unknown keys, after `from` values and keys on the stack.
    #[inline(always)]
    pub(crate) fn new(from: usize) -> Self {
        Self { from, context: 0, next: NonNull::dangling(), remaining: 0, holds: false, escapes: false }
    }

    /// Returns the number of values and keys on the stack before the object.
    pub(crate) fn from(&self) -> usize {
        self.from
    }

    /// Records that a key is not the expected one.
    pub(crate) fn differs(&mut self) {
        self.holds = false;
    }

    /// Records that a key was written with escapes, so that its text cannot be compared with other documents.
    pub(crate) fn has_escapes(&mut self) {
        self.escapes = true;
    }
}

/// Shapes of a thread. They are in the memory of one document, and `document` tells them from those of others.
struct Shapes {
    /// Entries of the last object in each context, with different keys without escapes.
    shapes: [Remembered; SHAPES],
    /// Number of the current document.
    document: u64,
    /// Words that the last tree needed.
    words: usize,
}

/// Entries of a decoded object.
#[derive(Clone, Copy)]
struct Remembered {
    entries: NonNull<Entry>,
    len: u32,
    document: u64,
}

/// Slots that a thread keeps, at most.
const MAX_SLOTS: usize = 1 << 14;

thread_local! {
    /// Buffers that the next document of the thread reuses.
    static SCRATCH: Cell<Option<(Vec<Slot>, Box<Shapes>)>> = const { Cell::new(None) };
}

/// Writer of a [`Memory`].
#[allow(missing_debug_implementations, reason = "not nameable outside of the crate")]
pub struct Builder {
    memory: Option<Arc<MaybeUninit<Memory>>>,
    /// Address of the memory.
    address: *const Memory,
    chunks: Vec<Chunk>,
    indexes: Vec<Index>,
    /// Values of open arrays and objects, each key before its value.
    slots: Vec<Slot>,
    /// Present until the builder is dropped.
    shapes: Option<Box<Shapes>>,
    /// Free part of the last chunk.
    next: NonNull<u64>,
    free: usize,
    /// Words of the next chunk.
    following: usize,
}

impl Drop for Builder {
    fn drop(&mut self) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        slots.shrink_to(MAX_SLOTS);
        // Fails while the thread ends.
        _ = SCRATCH.try_with(|scratch| scratch.set(self.shapes.take().map(|shapes| (slots, shapes))));
    }
}

impl Builder {
    /// Returns a builder for a tree in the last `rest` bytes of a text, which are less than 4 GiB.
    ///
    /// The text may have many trees. Therefore the size of the first chunk follows from the last tree, and not only from
    /// the rest of the text.
    pub(crate) fn new(rest: usize) -> Self {
        let memory = Arc::new_uninit();
        let (slots, mut shapes) = SCRATCH.try_with(Cell::take).ok().flatten().unwrap_or_else(|| {
            let none = Remembered { entries: NonNull::dangling(), len: 0, document: 0 };
            (Vec::with_capacity(32), Box::new(Shapes { shapes: [none; SHAPES], document: 0, words: 0 }))
        });
        shapes.document += 1;
        let following = (rest / 4).min(2 * shapes.words).clamp(MIN_CHUNK, MAX_CHUNK);
        Self {
            address: Arc::as_ptr(&memory).cast(),
            memory: Some(memory),
            chunks: Vec::new(),
            indexes: Vec::new(),
            slots,
            shapes: Some(shapes),
            next: NonNull::dangling(),
            free: 0,
            following,
        }
    }

    /// Pushes a value or key.
    #[inline(always)]
    fn push(&mut self, first: u64, second: Word, third: Word) {
        self.slots.reserve(1);
        // SAFETY: the vector has room for one more slot.
        unsafe { self.write(first, second, third) };
    }

    /// Writes a value or key after the last one. Three stores from registers: a copy of an array would go through memory.
    ///
    /// # Safety
    /// The vector has room for one more slot.
    #[inline(always)]
    unsafe fn write(&mut self, first: u64, second: Word, third: Word) {
        // SAFETY: see above.
        unsafe {
            let slot = self.slots.as_mut_ptr().add(self.slots.len()).cast::<Word>();
            slot.write(Word { bits: first.to_le() });
            slot.add(1).write(second);
            slot.add(2).write(third);
            self.slots.set_len(self.slots.len() + 1);
        }
    }

    /// Pushes `null`.
    #[inline(always)]
    pub(crate) fn push_null(&mut self) {
        self.push(Tag::Null as u64, Word { bits: 0 }, Word { bits: 0 });
    }

    /// Pushes `true` or `false`.
    #[inline(always)]
    pub(crate) fn push_bool(&mut self, value: bool) {
        // The value follows the tag.
        self.push(Tag::Bool as u64 | u64::from(value) << 8, Word { bits: 0 }, Word { bits: 0 });
    }

    /// Pushes an integer.
    #[inline(always)]
    pub(crate) fn push_unsigned(&mut self, value: u64) {
        self.push_number(Kind::Unsigned, value);
    }

    /// Pushes a negative integer.
    #[inline(always)]
    pub(crate) fn push_signed(&mut self, value: i64) {
        self.push_number(Kind::Signed, value.cast_unsigned());
    }

    /// Pushes a finite number.
    #[inline(always)]
    pub(crate) fn push_float(&mut self, value: f64) {
        self.push_number(Kind::Float, value.to_bits());
    }

    #[inline(always)]
    fn push_number(&mut self, kind: Kind, bits: u64) {
        self.push(Tag::Number as u64, Word { bits: (kind as u64).to_le() }, Word { bits });
    }

    /// Pushes the string or key that begins at `start`, after an opening quote, if it is not longer than `limit` and has
    /// no escapes. Returns the offset of the closing quote.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push_text(&mut self, document: &str, start: usize, limit: usize) -> Option<usize> {
        let bytes = document.as_bytes();
        let end = scan::find(bytes, start);
        let len = end - start;
        if bytes.get(end) != Some(&b'"') || len > limit {
            return None;
        }
        // The text is between two quotes, so that it begins and ends at character boundaries.
        if let Some(mask) = MASKS.get(len)
            && let Some(words) = words_before(bytes, start)
            && words[0] >> 8 & 0xff == u64::from(b'"')
        {
            let first = words[0] & mask[0] & !0xffff | (len as u64) << 8 | Tag::String as u64;
            let [second, third] =
                [words[1] & mask[1], words[2] & mask[2]].map(|word| Word { bits: word.to_le() });
            self.push(first, second, third);
        } else {
            self.push_copy(&document[start..end]);
        }
        Some(end)
    }

    /// Pushes any string or key.
    #[inline(never)]
    pub(crate) fn push_copy(&mut self, text: &str) {
        if text.len() <= INLINE {
            let (start, rest) = text.as_bytes().split_at(text.len().min(16));
            let [start, rest] = [start, rest].map(|part| u128::from_le_bytes(scan::short(part)));
            let first = (start as u64) << 16 | (text.len() as u64) << 8 | Tag::String as u64;
            let third = (start >> 112 | rest << 16) as u64;
            let [second, third] = [(start >> 48) as u64, third].map(|word| Word { bits: word.to_le() });
            self.push(first, second, third);
        } else {
            let pointer = self.copy(text);
            let first = u64::from(VIEW) << 8 | Tag::String as u64;
            self.push(first, Word { pointer }, Word { len: text.len() });
        }
    }

    /// Copies a text into the memory.
    fn copy(&mut self, text: &str) -> *mut u8 {
        let pointer = self.allocate(text.len().div_ceil(8)).cast::<u8>().as_ptr();
        // SAFETY: `allocate` has returned new memory of at least `text.len()` bytes.
        unsafe { pointer.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        pointer
    }

    /// Pushes a value. Returns `false` for an array or object, which is not pushed.
    #[inline(always)]
    pub(crate) fn push_scalar(&mut self, value: &Value) -> bool {
        match value {
            Value::Null => self.push_null(),
            Value::Bool(value) => self.push_bool(*value),
            Value::Number(Number(Repr::Unsigned(value))) => self.push_unsigned(*value),
            Value::Number(Number(Repr::Signed(value))) => self.push_signed(*value),
            Value::Number(Number(Repr::Float(value))) => self.push_float(*value),
            Value::Number(Number(Repr::Written(text))) => self.push_written(text),
            Value::String(text) => self.push_copy(text),
            Value::Array(_) | Value::Object(_) => return false,
        }
        true
    }

    #[inline(never)]
    fn push_written(&mut self, text: &str) {
        const { assert!(!IS_SUPPORTED || size_of::<Box<str>>() == 16 && align_of::<Box<str>>() == 8) };
        let bytes = ptr::slice_from_raw_parts_mut(self.copy(text), text.len());
        let pointer = self.allocate(2).cast::<ManuallyDrop<Box<str>>>().as_ptr();
        // SAFETY: `allocate` has returned new memory of the size of the box. Neither it nor the box around it, which
        // the number has, is ever dropped, and the text is only read.
        unsafe { pointer.write(ManuallyDrop::new(Box::from_raw(bytes as *mut str))) };
        self.push(
            Tag::Number as u64,
            Word { bits: (Kind::Written as u64).to_le() },
            Word { pointer: pointer.cast() },
        );
    }

    /// Returns the number of values and keys on the stack.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the context of the value of the last key: a hash of the length and the first bytes of the key.
    #[inline(always)]
    pub(crate) fn context(&self) -> usize {
        // SAFETY: all words of slots are initialized.
        let word = self.slots.last().map_or(0, |key| unsafe { key[0].bits });
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
    }

    /// Opens an object. The context is any number that is the same for objects that probably have the same keys.
    #[inline(always)]
    pub(crate) fn object(&self, context: usize) -> Object {
        let mut object = Object { context, ..Object::new(self.slots.len()) };
        if let Some(shapes) = &self.shapes {
            let shape = &shapes.shapes[context % SHAPES];
            if shape.document == shapes.document {
                (object.next, object.remaining, object.holds) = (shape.entries, shape.len as usize, true);
            }
        }
        object
    }

    /// Pushes the key that begins at `start`, after an opening quote, if it is the expected one. Returns the offset of the
    /// closing quote.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push_expected(
        &mut self,
        document: &str,
        start: usize,
        object: &mut Object,
    ) -> Option<usize> {
        if object.remaining > 0 {
            // SAFETY: the entry is in the memory, and `remaining` counts the entries. `push` has written its words.
            let key = unsafe { object.next.cast::<Slot>().read() };
            // SAFETY: as above, or the end of the entries.
            object.next = unsafe { object.next.add(1) };
            object.remaining -= 1;
            let bytes = document.as_bytes();
            let end = match MASKS.get(len_byte(&key)) {
                Some(mask) => {
                    let words = words_before(bytes, start);
                    let is_same =
                        words.is_some_and(|words| is_text(&key, [0, 1, 2].map(|at| words[at] & mask[at])));
                    is_same.then_some(start + len_byte(&key))
                }
                None => {
                    let text = long_text(&key);
                    bytes
                        .get(start..)
                        .is_some_and(|rest| rest.starts_with(text))
                        .then_some(start + text.len())
                }
            };
            if let Some(end) = end
                && bytes.get(end) == Some(&b'"')
            {
                // SAFETY: all words of slots are initialized.
                self.push(u64::from_le(unsafe { key[0].bits }), key[1], key[2]);
                return Some(end);
            }
        }
        None
    }

    /// Compares the last key with the expected one. Returns `false` if it is not a text.
    #[inline(always)]
    pub(crate) fn end_key(&self, object: &mut Object) -> bool {
        let Some(key) = self.slots.last() else { return false };
        if object.remaining > 0 {
            // SAFETY: as in `push_expected`.
            let expected = unsafe { object.next.cast::<Slot>().read() };
            // SAFETY: as above, or the end of the entries.
            object.next = unsafe { object.next.add(1) };
            object.remaining -= 1;
            if is_same(key, &expected) {
                return true;
            }
        }
        object.differs();
        // SAFETY: all words of slots are initialized.
        u64::from_le(unsafe { key[0].bits }) as u8 == Tag::String as u8
    }

    /// Removes the values and keys from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.slots.truncate(len);
    }

    /// Replaces the values from `from` on by an array of them. There is at least one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push_array(&mut self, from: usize) {
        let len = self.slots.len() - from;
        let items = self.move_slots(from, len, UNINDEXED);
        self.push_container(Tag::Array, items);
    }

    /// Replaces the keys and values of an open object by the object. There is at least one entry. Of duplicate keys, the
    /// last value is used at the position of the first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push_object(&mut self, object: &Object) {
        let count = self.slots.len() - object.from;
        if object.holds && count < 2 * INDEXED {
            let items = self.move_slots(object.from, count / 2, UNINDEXED);
            self.push_container(Tag::Object, items);
        } else {
            self.push_new_object(object.from, object.context, object.escapes);
        }
    }

    /// Same as [`push_object`](Self::push_object) for an object with other keys than expected.
    #[inline(never)]
    fn push_new_object(&mut self, from: usize, context: usize, escapes: bool) {
        let index = self.check_keys(from);
        let len = (self.slots.len() - from) / 2;
        let items = self.move_slots(from, len, index);
        if let Some(shapes) = &mut self.shapes
            && !escapes
        {
            let document = shapes.document;
            shapes.shapes[context % SHAPES] = Remembered { entries: items.cast(), len: len as u32, document };
        }
        self.push_container(Tag::Object, items);
    }

    /// Removes duplicate keys. Returns the number of the index.
    fn check_keys(&mut self, from: usize) -> u32 {
        let len = (self.slots.len() - from) / 2;
        if len < INDEXED && self.are_distinct(from) {
            return UNINDEXED;
        }
        // SAFETY: the slots are keys and values in turn, which is the layout of entries. Slots are not dropped.
        let entries =
            unsafe { slice::from_raw_parts_mut(self.slots[from..].as_mut_ptr().cast::<Entry>(), len) };
        let (len, index) = deduplicate(entries);
        self.slots.truncate(from + 2 * len);
        index.map_or(UNINDEXED, |index| {
            self.indexes.push(index);
            self.indexes.len() as u32 - 1
        })
    }

    /// Returns `true` if the keys of an object certainly are different from each other: a hash sets one of 1024 bits for
    /// each key.
    fn are_distinct(&self, from: usize) -> bool {
        let mut bits = [0_u64; 16];
        self.slots[from..].chunks_exact(2).all(|entry| {
            let hash = hash(&entry[0]) >> 54;
            let (word, bit) = (&mut bits[(hash / 64) as usize], 1 << (hash % 64));
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        })
    }

    /// Moves the slots from `from` on into the memory, as an array or object of `len` items. There is at least one slot.
    #[inline(always)]
    fn move_slots(&mut self, from: usize, len: usize, index: u32) -> NonNull<Word> {
        const { assert!(!IS_SUPPORTED || size_of::<Header>() == 16 && align_of::<Header>() == 8) };
        let count = self.slots.len() - from;
        let header = self.allocate((size_of::<Header>() + size_of::<Slot>() * count) / 8).cast::<Header>();
        // SAFETY: the memory has room for a header and the slots. Copies words, not slots: wider loads would wait for the
        // stores of `push`.
        unsafe {
            header.write(Header { memory: self.address, len: len as u32, index });
            let items = header.add(1).cast::<Word>();
            let source = self.slots.as_ptr().add(from).cast::<Word>();
            for at in 0..count {
                for word in 3 * at..3 * at + 3 {
                    items.add(word).write(source.add(word).read());
                }
            }
            self.slots.set_len(from);
            items
        }
    }

    /// Pushes an array or object after its slots were moved into the memory.
    #[inline(always)]
    fn push_container(&mut self, tag: Tag, items: NonNull<Word>) {
        let pointer = items.cast().as_ptr();
        // SAFETY: the vector has had a slot there.
        unsafe { self.write(tag as u64, Word { bits: u64::from(INNER).to_le() }, Word { pointer }) };
    }

    /// Pushes an empty array or object.
    #[inline(always)]
    pub(crate) fn push_empty(&mut self, is_object: bool) {
        let tag = if is_object { Tag::Object } else { Tag::Array };
        // Zero is the tag of the empty representation.
        self.push(tag as u64, Word { bits: 0 }, Word { bits: 0 });
    }

    /// Returns uninitialized words.
    #[inline(always)]
    fn allocate(&mut self, words: usize) -> NonNull<u64> {
        if words > self.free {
            self.grow(words);
        }
        let start = self.next;
        self.free -= words;
        // SAFETY: the chunk has at least this many words left.
        self.next = unsafe { self.next.add(words) };
        start
    }

    #[cold]
    fn grow(&mut self, words: usize) {
        let chunk = Chunk::new(self.following.max(words));
        self.free = chunk.0.len();
        self.next = chunk.0.cast();
        self.following = self.free.saturating_mul(2).min(MAX_CHUNK);
        self.chunks.push(chunk);
    }

    /// Returns the array or object on the stack, which becomes the owner of the memory.
    pub(crate) fn finish(mut self) -> Value {
        let Some(slot) = self.slots.pop() else { return Value::Null };
        // SAFETY: `push` has written the words of a value. It has nothing to drop.
        match unsafe { (&raw const slot).cast::<Value>().read() } {
            Value::Array(array) => {
                Value::Array(array.into_inner().map_or_else(Array::new, |items| self.counted(items).into()))
            }
            Value::Object(map) => {
                Value::Object(map.into_inner().map_or_else(Map::new, |entries| self.counted(entries).into()))
            }
            scalar => scalar,
        }
    }

    /// Completes the memory, and returns a counted pointer to the items of the root.
    fn counted<T>(&mut self, root: Inner<T>) -> Counted<T> {
        if let Some(mut memory) = self.memory.take()
            && let Some(slot) = Arc::get_mut(&mut memory)
        {
            if let Some(shapes) = &mut self.shapes {
                shapes.words = self.chunks.iter().map(|chunk| chunk.0.len()).sum::<usize>() - self.free;
            }
            let (chunks, indexes) = (std::mem::take(&mut self.chunks), std::mem::take(&mut self.indexes));
            slot.write(Memory { _chunks: chunks, indexes });
            // SAFETY: the line above has initialized the memory.
            let memory = unsafe { memory.assume_init() };
            // This reference becomes that of the returned pointer.
            let address = Arc::into_raw(memory);
            debug_assert_eq!(address, self.address, "headers have the address of the memory");
        }
        Counted(root)
    }
}

/// Returns the second byte of a text: its length, or [`VIEW`].
#[inline(always)]
fn len_byte(text: &Slot) -> usize {
    // SAFETY: all words of slots are initialized.
    usize::from((u64::from_le(unsafe { text[0].bits }) >> 8) as u8)
}

/// Returns a text in the memory.
fn long_text(text: &Slot) -> &[u8] {
    debug_assert_eq!(len_byte(text), usize::from(VIEW), "an inline text has no pointer");
    // SAFETY: `push_copy` has written a pointer into the memory, which exists, and the length.
    unsafe { slice::from_raw_parts(text[1].pointer, text[2].len) }
}

/// Returns whether two keys certainly are the same text.
#[inline(always)]
fn is_same(left: &Slot, right: &Slot) -> bool {
    // SAFETY: all words of slots are initialized.
    let [first, second, third] = [0, 1, 2].map(|at| unsafe { (left[at].bits, right[at].bits) });
    match len_byte(left) == usize::from(VIEW) {
        false => ((first.0 ^ first.1) | (second.0 ^ second.1) | (third.0 ^ third.1)) == 0,
        true => len_byte(right) == usize::from(VIEW) && long_text(left) == long_text(right),
    }
}

/// Returns a hash of a key.
#[inline(always)]
fn hash(key: &Slot) -> u64 {
    let [first, second, third] = match len_byte(key) {
        len if len == usize::from(VIEW) => {
            let text = long_text(key);
            let word = |bytes: Option<&[u8; 8]>| bytes.copied().map_or(0, u64::from_le_bytes);
            [text.len() as u64, word(text.first_chunk()), word(text.last_chunk())]
        }
        // SAFETY: all words of slots are initialized.
        _ => key.map(|word| unsafe { word.bits }),
    };
    let mixed = first ^ second.rotate_left(23).wrapping_mul(0xc2b2_ae3d_27d4_eb4f) ^ third.rotate_left(47);
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns whether the masked words of a document are the text of a key. The two bytes before the text differ.
#[inline(always)]
fn is_text(key: &Slot, words: [u64; 3]) -> bool {
    // SAFETY: all words of slots are initialized.
    let [first, second, third] = key.map(|word| u64::from_le(unsafe { word.bits }));
    ((first ^ words[0]) >> 16) | (second ^ words[1]) | (third ^ words[2]) == 0
}

/// Returns the words from two bytes before `start` on.
#[inline(always)]
fn words_before(bytes: &[u8], start: usize) -> Option<[u64; 3]> {
    let end = start.checked_add(INLINE)?;
    bytes.get(end.wrapping_sub(24)..end)?.first_chunk().map(words)
}

#[inline(always)]
fn words(bytes: &[u8; 24]) -> [u64; 3] {
    let (words, _) = bytes.as_chunks::<8>();
    [words[0], words[1], words[2]].map(u64::from_le_bytes)
}

/// By length of an inline text, masks for its words: ones for the two bytes before the text, and the text.
static MASKS: [[u64; 3]; INLINE + 1] = {
    let mut masks = [[0; 3]; INLINE + 1];
    let mut len = 0;
    while len <= INLINE {
        let mut byte = 0;
        while byte < len + 2 {
            masks[len][byte / 8] |= 0xff << (8 * (byte % 8));
            byte += 1;
        }
        len += 1;
    }
    masks
};
