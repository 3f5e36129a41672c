//! Writer of a [`Memory`].

use std::cell::Cell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

use super::super::map::{INDEXED, Index, Key, deduplicate};
use super::super::number::{self, Kind};
use super::super::{Array, Number, Tag, Value};
use super::shapes::{SHAPES, Shape, Shapes, context};
use super::slot::{MASKS, hash, is_same, is_text, len_byte, text, words_before};
use super::{Chunk, Counted, Header, INLINE, INNER, Memory, Repr, Slot, UNINDEXED, VIEW, Word};
use crate::scan;

/// Whether the layouts of this platform are those that [`Builder`] writes. Otherwise trees are vectors and boxes.
pub(crate) const IS_SUPPORTED: bool = cfg!(target_pointer_width = "64");

const _: () =
    assert!(!IS_SUPPORTED || size_of::<Value>() == 24 && align_of::<Value>() == 8 && size_of::<Key>() == 24);

/// Minimum words of the first chunk.
const MIN_CHUNK: usize = 32;

/// Maximum words of a chunk, unless one array or object needs more.
const MAX_CHUNK: usize = 1 << 20;

/// Open object. It is expected to have the keys of the last object in the same context.
///
/// Most documents have many objects with the same keys, so that comparing the document with the expected key is faster
/// than searching for its end. Objects share the keys in the memory.
pub(crate) struct Object {
    /// Number of values on the stack before the object.
    from: usize,
    context: usize,
    shape: Shape,
    /// Next expected key.
    next: NonNull<Slot>,
    /// End of the expected keys.
    end: NonNull<Slot>,
    /// Number of keys on the stack before the object, `None` as long as all keys are the expected ones.
    keys: Option<usize>,
    /// Whether a document contains a key in another form than its text, so that they cannot be compared.
    has_escapes: bool,
}

impl Object {
    /// Returns the number of values on the stack before the object.
    pub(crate) fn from(&self) -> usize {
        self.from
    }

    /// Returns an object without expected keys.
    pub(crate) fn new(from: usize) -> Self {
        let shape = Shape::EMPTY;
        Self { from, context: 0, shape, next: shape.keys, end: shape.keys, keys: None, has_escapes: false }
    }

    /// Returns the expected key at `at`, and the position after it. `at` is `next`, or a position that this function returned.
    #[inline(always)]
    fn expected(&self, at: NonNull<Slot>) -> Option<(&Slot, NonNull<Slot>)> {
        // SAFETY: `next` is in the keys of the shape or `end`, the position after them, and so is each position after a
        // key. The memory of the builder has the keys, and does not move.
        (at != self.end).then(|| unsafe { (at.as_ref(), at.add(1)) })
    }
}

/// Expected keys after a missing one with which a key is compared, with the missing one.
const MAX_MISSING: usize = 4;

/// Slots that a thread keeps, at most.
const MAX_SLOTS: usize = 1 << 14;

/// Values, keys and expected keys.
type Scratch = ([Vec<Slot>; 2], Box<Shapes>);

thread_local! {
    /// Buffers that the next document of the thread reuses.
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

/// Writer of a [`Memory`].
#[allow(missing_debug_implementations, reason = "not nameable outside of the crate")]
pub struct Builder<'de> {
    document: &'de str,
    memory: Option<Arc<MaybeUninit<Memory>>>,
    /// Address of the memory.
    address: *const Memory,
    first: Option<Chunk>,
    chunks: Vec<Chunk>,
    indexes: Vec<Index>,
    /// Values of open arrays and objects.
    slots: Vec<Slot>,
    /// Keys of open objects with other keys than expected.
    keys: Vec<Slot>,
    /// Present until the builder is dropped.
    shapes: Option<Box<Shapes>>,
    /// Free part of the last chunk.
    next: NonNull<u64>,
    free: usize,
    /// Words of the next chunk.
    following: usize,
    string_limit: usize,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        let slots = [&mut self.slots, &mut self.keys].map(|slots| {
            slots.clear();
            slots.shrink_to(MAX_SLOTS);
            std::mem::take(slots)
        });
        // Fails while the thread ends.
        _ = SCRATCH.try_with(|scratch| scratch.set(self.shapes.take().map(|shapes| (slots, shapes))));
    }
}

impl<'de> Builder<'de> {
    /// Returns a builder for a tree in the last `rest` bytes of a document, which are less than 4 GiB.
    ///
    /// The document may have many trees. Therefore the size of the first chunk follows from the last tree, and not only
    /// from the rest.
    pub(crate) fn new(document: &'de str, rest: usize, string_limit: usize) -> Self {
        let memory = Arc::new_uninit();
        let ([slots, keys], mut shapes) = SCRATCH
            .try_with(Cell::take)
            .ok()
            .flatten()
            .unwrap_or_else(|| ([Vec::with_capacity(32), Vec::with_capacity(32)], Shapes::new()));
        shapes.document += 1;
        shapes.new = 0;
        let following = (rest / 4 * 3).min(shapes.words + shapes.words / 4).clamp(MIN_CHUNK, MAX_CHUNK);
        Self {
            document,
            address: Arc::as_ptr(&memory).cast(),
            memory: Some(memory),
            first: None,
            chunks: Vec::new(),
            indexes: Vec::new(),
            slots,
            keys,
            shapes: Some(shapes),
            next: NonNull::dangling(),
            free: 0,
            following,
            string_limit,
        }
    }

    /// Pushes a value. Three stores from registers: a copy of an array would go through memory.
    #[inline(always)]
    fn push(&mut self, first: u64, second: Word, third: Word) {
        self.slots.reserve(1);
        // SAFETY: the vector has room for one more slot.
        unsafe {
            let slot = self.slots.as_mut_ptr().add(self.slots.len()).cast::<Word>();
            slot.write(Word::of(first.to_le()));
            slot.add(1).write(second);
            slot.add(2).write(third);
            self.slots.set_len(self.slots.len() + 1);
        }
    }

    /// Pushes `null`.
    #[inline(always)]
    pub(crate) fn push_null(&mut self) {
        self.push(Tag::Null as u64, Word::of(0), Word::of(0));
    }

    /// Pushes `true` or `false`.
    #[inline(always)]
    pub(crate) fn push_bool(&mut self, value: bool) {
        // The value follows the tag.
        self.push(Tag::Bool as u64 | u64::from(value) << 8, Word::of(0), Word::of(0));
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
        self.push(Tag::Number as u64, Word::of((kind as u64).to_le()), Word::of(bits));
    }

    /// Pushes the string that begins at `start`, after an opening quote, if it has no escapes and is not too long. Returns
    /// the offset of the closing quote.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push_text(&mut self, start: usize) -> Option<usize> {
        let text = scan::quoted(self.document, start).ok().filter(|text| text.len() <= self.string_limit)?;
        let len = text.len();
        if let Some(mask) = MASKS.get(len)
            && let Some(words) = words_before(self.document.as_bytes(), start)
            && words[0] >> 8 & 0xff == u64::from(b'"')
        {
            let first = words[0] & mask[0] & !0xffff | (len as u64) << 8 | Tag::String as u64;
            let [second, third] = [words[1] & mask[1], words[2] & mask[2]].map(|word| Word::of(word.to_le()));
            self.push(first, second, third);
        } else {
            self.push_copy(text);
        }
        Some(start + len)
    }

    /// Pushes any string.
    #[inline(never)]
    pub(crate) fn push_copy(&mut self, text: &str) {
        if text.len() <= INLINE {
            let (start, rest) = text.as_bytes().split_at(text.len().min(16));
            let [start, rest] = [start, rest].map(|part| u128::from_le_bytes(scan::short(part)));
            let first = (start as u64) << 16 | (text.len() as u64) << 8 | Tag::String as u64;
            let third = (start >> 112 | rest << 16) as u64;
            let [second, third] = [(start >> 48) as u64, third].map(|word| Word::of(word.to_le()));
            self.push(first, second, third);
        } else {
            let pointer = self.copy_text(text.as_bytes());
            let first = u64::from(VIEW) << 8 | Tag::String as u64;
            self.push(first, Word(pointer), Word::of(text.len() as u64));
        }
    }

    /// Pushes a value. Returns `false` for an array or object, which is not pushed.
    #[inline(always)]
    pub(crate) fn push_scalar(&mut self, value: &Value) -> bool {
        match value {
            Value::Null => self.push_null(),
            Value::Bool(value) => self.push_bool(*value),
            Value::Number(Number(number)) => match number {
                number::Repr::Unsigned(value) => self.push_unsigned(*value),
                number::Repr::Signed(value) => self.push_signed(*value),
                number::Repr::Float(value) => self.push_float(*value),
                number::Repr::Written(text) => self.push_written(text),
            },
            Value::String(text) => self.push_copy(text),
            Value::Array(_) | Value::Object(_) => return false,
        }
        true
    }

    #[inline(never)]
    fn push_written(&mut self, text: &str) {
        const { assert!(!IS_SUPPORTED || size_of::<Box<str>>() == 16 && align_of::<Box<str>>() == 8) };
        let bytes = ptr::slice_from_raw_parts_mut(self.copy_text(text.as_bytes()), text.len());
        let pointer = self.allocate(2).cast::<ManuallyDrop<Box<str>>>().as_ptr();
        // SAFETY: `allocate` has returned new memory of the size of the box. Neither it nor the box around it, which
        // the number has, is ever dropped, and the text is only read.
        unsafe { pointer.write(ManuallyDrop::new(Box::from_raw(bytes as *mut str))) };
        self.push(Tag::Number as u64, Word::of((Kind::Written as u64).to_le()), Word(pointer.cast()));
    }

    /// Returns the number of values on the stack.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the context of the value of the last key: a hash of the length and the first bytes of the key.
    #[inline(always)]
    pub(crate) fn context(&self, object: &Object) -> usize {
        let first = match object.keys {
            // SAFETY: an expected key precedes the next one.
            None => unsafe { object.next.sub(1).read()[0].bits() },
            Some(_) => self.keys.last().map_or(0, |key| key[0].bits()),
        };
        context(first)
    }

    /// Opens an object. The context is any number that is the same for objects that probably have the same keys.
    #[inline(always)]
    pub(crate) fn object(&mut self, context: usize) -> Object {
        let (from, context) = (self.slots.len(), context % SHAPES);
        let shape = match &self.shapes {
            Some(shapes) if shapes.current[context].0 == shapes.document => shapes.current[context].1,
            _ => self.restore(context),
        };
        // SAFETY: the memory has so many keys there.
        let end = unsafe { shape.keys.add(shape.len as usize) };
        Object { from, context, shape, next: shape.keys, end, keys: None, has_escapes: false }
    }

    /// Copies the keys of an earlier document into the memory, and returns them.
    #[inline(never)]
    fn restore(&mut self, context: usize) -> Shape {
        let Some(mut shapes) = self.shapes.take() else { return Shape::EMPTY };
        let kept = &shapes.kept[context];
        let mut shape = Shape::EMPTY;
        // The limit of this document may be lower.
        if !kept.keys.is_empty() && kept.longest <= self.string_limit {
            let mut index = UNINDEXED;
            if let Some(kept) = &kept.index {
                self.indexes.push(kept.clone());
                index = self.indexes.len() as u32 - 1;
            }
            shape = Shape { keys: self.copy_keys(&kept.keys), len: kept.keys.len() as u32, index };
            if !kept.texts.is_empty() {
                for (at, key) in kept.keys.iter().enumerate().filter(|(_, key)| text(key).len() > INLINE) {
                    let pointer = self.copy_text(text(key));
                    // SAFETY: `copy_keys` has copied so many keys there.
                    unsafe { (*shape.keys.as_ptr().add(at))[1] = Word(pointer) };
                }
            }
        }
        shapes.current[context] = (shapes.document, shape);
        self.shapes = Some(shapes);
        shape
    }

    /// Accepts the key that begins at `start`, after an opening quote, if it is the expected one. Returns the offset of
    /// the closing quote.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push_expected(&mut self, start: usize, object: &mut Object) -> Option<usize> {
        let (key, next) = object.expected(object.next)?;
        let bytes = self.document.as_bytes();
        let len = len_byte(key);
        let is_same = match (MASKS.get(len), words_before(bytes, start)) {
            (Some(mask), Some(words)) => is_text(key, [0, 1, 2].map(|at| words[at] & mask[at])),
            // The key is long, or near the end of the document.
            _ => bytes.get(start..).is_some_and(|rest| rest.starts_with(text(key))),
        };
        let end = start + if len == usize::from(VIEW) { text(key).len() } else { len };
        if !is_same || bytes.get(end) != Some(&b'"') {
            return None;
        }
        if object.keys.is_some() {
            self.keys.push(*key);
        }
        object.next = next;
        Some(end)
    }

    /// Makes the string that was pushed last the next key, which is not the expected one.
    pub(crate) fn end_new_key(&mut self, object: &mut Object, has_escapes: bool) {
        if let Some(key) = self.slots.pop() {
            object.has_escapes |= has_escapes;
            self.push_new_key(object, key);
        }
    }

    fn push_new_key(&mut self, object: &mut Object, key: Slot) {
        if object.keys.is_none() {
            object.keys = Some(self.keys.len());
            // SAFETY: the memory exists. There is a value for each key so far.
            let keys = unsafe { object.shape.keys() };
            self.keys.extend_from_slice(&keys[..self.slots.len() - object.from]);
        }
        // Expected keys may be missing. Those after this one are expected again.
        let mut next = object.next;
        for _ in 0..MAX_MISSING {
            let Some((expected, after)) = object.expected(next) else { break };
            next = after;
            if is_same(&key, expected) {
                object.next = next;
                break;
            }
        }
        self.keys.push(key);
    }

    /// Removes the value that was pushed last, and makes it the next key if it is a string. Otherwise returns `false`.
    #[inline(always)]
    pub(crate) fn end_key(&mut self, object: &mut Object) -> bool {
        let Some(key) = self.slots.pop() else { return false };
        if u64::from_le(key[0].bits()) as u8 != Tag::String as u8 {
            return false;
        }
        match object.expected(object.next) {
            Some((expected, next)) if is_same(&key, expected) => {
                object.next = next;
                if object.keys.is_some() {
                    self.keys.push(key);
                }
            }
            _ => {
                let text = text(&key);
                object.has_escapes |= scan::find(text, 0) < text.len();
                self.push_new_key(object, key);
            }
        }
        true
    }

    /// Returns whether the last key of an object has no value yet.
    #[inline(always)]
    pub(crate) fn has_key(&self, object: &Object) -> bool {
        let keys = match object.keys {
            Some(from) => self.keys.len() - from,
            None => (object.next.addr().get() - object.shape.keys.addr().get()) / size_of::<Slot>(),
        };
        keys != self.slots.len() - object.from
    }

    /// Removes the last key of an object if it has no value.
    #[inline(always)]
    pub(crate) fn drop_key(&mut self, object: &mut Object) {
        if self.has_key(object) {
            match object.keys {
                Some(_) => _ = self.keys.pop(),
                // SAFETY: the key without a value precedes the next one.
                None => object.next = unsafe { object.next.sub(1) },
            }
        }
    }

    /// Returns the numbers of values and keys on the stacks.
    #[inline(always)]
    pub(crate) fn lens(&self) -> [usize; 2] {
        [self.slots.len(), self.keys.len()]
    }

    /// Removes the values and keys after those that [`lens`](Self::lens) has returned.
    pub(crate) fn truncate(&mut self, [values, keys]: [usize; 2]) {
        self.slots.truncate(values);
        self.keys.truncate(keys);
    }

    /// Replaces the values from `from` on by an array of them. There is at least one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push_array(&mut self, from: usize) {
        let len = self.slots.len() - from;
        let header = self.allocate((size_of::<Header>() + size_of::<Slot>() * len) / 8).cast();
        self.push_container(Tag::Array, from, header, UNINDEXED);
    }

    /// Replaces the values of an open object by the object. There is at least one. Of duplicate keys, the last value is
    /// used at the position of the first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push_object(&mut self, object: &Object) {
        let shape = match object.keys {
            None => object.shape,
            Some(keys) => self.new_shape(object, keys),
        };
        let len = self.slots.len() - object.from;
        let words = self.allocate((8 + size_of::<Header>() + size_of::<Slot>() * len) / 8);
        // SAFETY: the memory has room for a pointer, a header and the slots.
        let header = unsafe {
            words.cast().write(shape.keys);
            words.add(1).cast()
        };
        self.push_container(Tag::Object, object.from, header, shape.index);
    }

    /// Removes duplicate keys of an object with other keys than expected, from `from` on, and copies its keys into the
    /// memory.
    #[inline(never)]
    fn new_shape(&mut self, object: &Object, from: usize) -> Shape {
        if let Some(shapes) = &mut self.shapes
            && shapes.previous[object.context].0 == shapes.document
        {
            let (previous, keys) = (&mut shapes.previous[object.context], &self.keys[from..]);
            // SAFETY: it is a shape of this document, so that its keys are in the memory.
            let known = unsafe { previous.1.keys() };
            if known.len() == keys.len() && known.iter().zip(keys).all(|(known, key)| is_same(known, key)) {
                std::mem::swap(&mut shapes.current[object.context], previous);
                self.keys.truncate(from);
                return shapes.current[object.context].1;
            }
        }
        let mut index = UNINDEXED;
        let len = self.keys.len() - from;
        if len >= INDEXED || !self.are_distinct(from) {
            // SAFETY: slots have the layout of keys and values. Slots are not dropped.
            let (keys, values) = unsafe {
                (
                    slice::from_raw_parts_mut(self.keys.as_mut_ptr().add(from).cast::<Key>(), len),
                    slice::from_raw_parts_mut(self.slots.as_mut_ptr().add(object.from).cast::<Value>(), len),
                )
            };
            let (len, new) = deduplicate(keys, values);
            self.keys.truncate(from + len);
            self.slots.truncate(object.from + len);
            if let Some(new) = new {
                index = self.indexes.len() as u32;
                self.indexes.push(new);
            }
        }
        let mut keys = std::mem::take(&mut self.keys);
        let new = &keys[from..];
        let shape = Shape { keys: self.copy_keys(new), len: new.len() as u32, index };
        keys.truncate(from);
        self.keys = keys;
        if let Some(shapes) = &mut self.shapes
            && !object.has_escapes
        {
            let current = &mut shapes.current[object.context];
            shapes.previous[object.context] = std::mem::replace(current, (shapes.document, shape));
            shapes.new |= 1 << object.context;
        }
        shape
    }

    /// Returns whether the keys of an object certainly are different from each other: a hash sets one of 1024 bits for
    /// each key.
    fn are_distinct(&self, from: usize) -> bool {
        let mut bits = [0_u64; 16];
        self.keys[from..].iter().all(|key| {
            let hash = hash(key) >> 54;
            let (word, bit) = (&mut bits[(hash / 64) as usize], 1 << (hash % 64));
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        })
    }

    /// Returns a copy of keys in the memory.
    fn copy_keys(&mut self, keys: &[Slot]) -> NonNull<Slot> {
        let copy: NonNull<Slot> = self.allocate(size_of_val(keys) / 8).cast();
        // SAFETY: `allocate` has returned new memory for the keys.
        unsafe { copy.as_ptr().copy_from_nonoverlapping(keys.as_ptr(), keys.len()) };
        copy
    }

    /// Returns a copy of a text in the memory.
    fn copy_text(&mut self, text: &[u8]) -> *mut u8 {
        let copy = self.allocate(text.len().div_ceil(8)).cast::<u8>().as_ptr();
        // SAFETY: `allocate` has returned new memory of at least `text.len()` bytes.
        unsafe { copy.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        copy
    }

    /// Replaces the values from `from` on by an array or object of them: writes its header, and moves the values behind it.
    /// There is room for them.
    #[inline(always)]
    fn push_container(&mut self, tag: Tag, from: usize, header: NonNull<Header>, index: u32) {
        const { assert!(!IS_SUPPORTED || size_of::<Header>() == 16 && align_of::<Header>() == 8) };
        let count = self.slots.len() - from;
        // SAFETY: the callers have allocated the memory. Copies words, not slots: wider loads would wait for the stores of
        // `push`.
        let items = unsafe {
            header.write(Header { memory: self.address, len: count as u32, index });
            let items = header.add(1).cast::<Word>();
            let source = self.slots.as_ptr().add(from).cast::<Word>();
            for at in 0..count {
                for word in 3 * at..3 * at + 3 {
                    items.add(word).write(source.add(word).read());
                }
            }
            self.slots.set_len(from);
            items
        };
        self.push(tag as u64, Word::of(u64::from(INNER).to_le()), Word(items.as_ptr().cast()));
    }

    /// Pushes an empty array or object.
    #[inline(always)]
    pub(crate) fn push_empty(&mut self, is_object: bool) {
        let tag = if is_object { Tag::Object } else { Tag::Array };
        // Zero is the tag of the empty representation.
        self.push(tag as u64, Word::of(0), Word::of(0));
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
        let mut chunk = Chunk::with_capacity(self.following.max(words));
        self.free = chunk.capacity();
        self.next = NonNull::from(chunk.spare_capacity_mut()).cast();
        self.following = self.free.saturating_mul(2).min(MAX_CHUNK);
        match self.first {
            None => self.first = Some(chunk),
            Some(_) => self.chunks.push(chunk),
        }
    }

    /// Returns the array or object on the stack, which becomes the owner of the memory.
    pub(crate) fn finish(mut self) -> Value {
        let Some(slot) = self.slots.pop() else { return Value::Null };
        // SAFETY: `push` has written the words of a value. It has nothing to drop.
        match unsafe { (&raw const slot).cast::<Value>().read() } {
            Value::Array(Array(array)) => Value::Array(Array(self.counted(array))),
            Value::Object(map) => Value::Object(map.map_repr(|map| self.counted(map))),
            scalar => scalar,
        }
    }

    /// Completes the memory, and returns the root with a counted pointer to its items.
    fn counted<O, T>(&mut self, root: Repr<O, T>) -> Repr<O, T> {
        let Repr::Inner(root) = root else { return root };
        if let Some(mut memory) = self.memory.take()
            && let Some(slot) = Arc::get_mut(&mut memory)
        {
            if let Some(shapes) = &mut self.shapes {
                let words = self.first.iter().chain(&self.chunks).map(Chunk::capacity).sum::<usize>();
                shapes.words = words - self.free;
                if shapes.new != 0 {
                    shapes.keep(&self.indexes);
                }
            }
            slot.write(Memory {
                _first: self.first.take(),
                _others: std::mem::take(&mut self.chunks),
                indexes: std::mem::take(&mut self.indexes),
            });
            // SAFETY: the line above has initialized the memory.
            let memory = unsafe { memory.assume_init() };
            // This reference becomes that of the returned pointer.
            let address = Arc::into_raw(memory);
            debug_assert_eq!(address, self.address, "headers have the address of the memory");
        }
        Repr::Shared(Counted(root))
    }
}
