//! Memory of decoded trees, and of those that are converted from other types.
//!
//! All arrays, objects and long strings of such a tree are in a few blocks of memory with one reference count. Therefore
//! decoding rarely allocates, and dropping a tree frees these blocks without visiting its values. The
//! benchmark rows `json/*_decode` of the class `tree` and `json/to_value` measure this.
//!
//! Rules, on which the `unsafe` code of this module relies:
//!
//! - The memory only contains values that have nothing to drop: literal names, numbers, inline texts, texts and
//!   written numbers in the same memory ([`VIEW`]), and [`Inner`]s of the same memory. They are never dropped, and never
//!   change.
//! - An [`Inner`] or a text in the memory does not count as a reference to it. It is reachable only through a reference
//!   to a [`Counted`] of the same memory. To own a value, or to change it, code has to clone it: cloning an array or
//!   object creates a [`Counted`], cloning a string copies the text.
//! - A [`Header`] precedes the items of each array and object.
//! - The layouts of [`Value`](super::Value), its numbers, arrays, objects and texts, and of keys are defined by
//!   `repr`, because [`Builder`] writes them as three words. Stores of other widths would delay the copy into the memory.
//!   On platforms with other layouts than [`IS_SUPPORTED`] requires, nothing is written into the memory.
//!
//! Property tests compare trees in this memory with the same trees of vectors and boxes.
#![allow(unsafe_code, reason = "trees in shared memory; see the module text")]

#[cfg_attr(
    not(target_pointer_width = "64"),
    allow(dead_code, unreachable_pub, reason = "`Stack` is another type there")
)]
mod builder;
#[cfg(any(test, not(target_pointer_width = "64")))]
mod portable;
mod shapes;
mod slot;

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

pub(crate) use self::builder::{Builder, IS_SUPPORTED, Object};
pub(crate) use self::shapes::context;
#[cfg(doc)]
use super::Array;
use super::map::{Index, Key};
use super::{Map, Value};

/// Values of open arrays and objects, and the tree when they are complete.
#[cfg(target_pointer_width = "64")]
pub(crate) type Stack = Builder<'static>;
#[cfg(not(target_pointer_width = "64"))]
pub(crate) type Stack = portable::PortableBuilder;

/// Memory of one decoded document.
pub(super) struct Memory {
    _first: Option<Chunk>,
    _others: Vec<Chunk>,
    /// Indexes of large objects.
    indexes: Vec<Index>,
}

/// Block of memory: the capacity of a vector without elements, which only frees it.
type Chunk = Vec<MaybeUninit<u64>>;

/// Array or object. The layout is defined, so that the decoder can write it.
#[repr(u8)]
pub(super) enum Repr<O, T> {
    Empty = 0,
    /// Array or object inside of another one in the memory.
    #[allow(dead_code, reason = "the decoder writes it as words")]
    Inner(Inner<T>) = INNER,
    /// Behind a pointer, because [`Value`] has no room for it.
    Owned(Box<O>) = 2,
    /// Array or object in a memory.
    Shared(Counted<T>) = 3,
}

const INNER: u8 = 1;

impl<O: Clone, T> Clone for Repr<O, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Inner(items) => Self::Shared(items.counted()),
            Self::Owned(owned) => Self::Owned(owned.clone()),
            Self::Shared(items) => Self::Shared(items.clone()),
        }
    }
}

/// Metadata before the items of an array or object.
struct Header {
    memory: *const Memory,
    /// Number of items.
    len: u32,
    /// Position in [`Memory::indexes`], [`UNINDEXED`] if there is no index.
    index: u32,
}

const UNINDEXED: u32 = u32::MAX;

/// Items of an [`Array`] or [`Map`] in a [`Memory`], without a reference count. Before the header of an object is a
/// pointer to its keys.
pub(super) struct Inner<T>(NonNull<Value>, PhantomData<T>);

// SAFETY: the items do not change, and are not dropped through this pointer, so that it is like a shared reference.
unsafe impl<T: Sync> Send for Inner<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Inner<T> {}

impl<T> Inner<T> {
    /// Returns the elements or the values of the entries.
    #[inline]
    pub(super) fn items(&self) -> &[Value] {
        // SAFETY: `Builder::push_container` wrote so many items. The memory exists while `self` is borrowed: `self` is inside
        // of it and was reached through a counted reference, or `self` is the pointer of a counted reference.
        unsafe { slice::from_raw_parts(self.0.as_ptr(), self.header().len as usize) }
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: `Builder::push_container` wrote a header before the items; the memory exists, as above.
        unsafe { self.0.cast::<Header>().sub(1).as_ref() }
    }

    /// Returns a pointer to the same items that keeps the memory.
    pub(super) fn counted(&self) -> Counted<T> {
        // SAFETY: the pointer is that of an `Arc<Memory>`, which exists, as above.
        unsafe { Arc::increment_strong_count(self.header().memory) };
        Counted(Self(self.0, PhantomData))
    }
}

impl Inner<Map> {
    /// Returns the keys of the entries.
    #[inline]
    pub(super) fn keys(&self) -> &[Key] {
        // SAFETY: `Builder::push_object` wrote a pointer to at least as many keys before the header of each object.
        unsafe {
            let keys = self.0.cast::<Header>().sub(1).cast::<NonNull<Key>>().sub(1).read();
            slice::from_raw_parts(keys.as_ptr(), self.header().len as usize)
        }
    }

    /// Returns the index of an object. It may have more keys than the object.
    #[inline]
    pub(super) fn index(&self) -> Option<&Index> {
        let Header { memory, index, .. } = *self.header();
        if index == UNINDEXED {
            return None;
        }
        // SAFETY: a counted reference exists, so that `Builder::finish` has initialized the memory.
        unsafe { &*memory }.indexes.get(index as usize)
    }
}

/// Items of an array or object in a [`Memory`], with a reference count.
pub(super) struct Counted<T>(Inner<T>);

impl<T> Counted<T> {
    /// Returns the items without their reference count.
    #[inline]
    pub(super) fn inner(&self) -> &Inner<T> {
        &self.0
    }
}

impl<T> Clone for Counted<T> {
    fn clone(&self) -> Self {
        self.0.counted()
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        let memory = self.0.header().memory;
        // SAFETY: `counted` or `Builder::finish` increased the count for this pointer.
        unsafe { Arc::decrement_strong_count(memory) };
    }
}

/// Maximum length of an inline text, in bytes.
const INLINE: usize = 22;

/// Text of 23 bytes: up to 22 bytes of UTF-8, or a pointer to more.
///
/// The first byte is the length, [`HEAP`] or [`VIEW`]. Pointer and length are in the last 16 bytes, so that they are
/// aligned in a [`Value`](super::Value).
#[repr(C)]
pub(super) struct Text {
    len: u8,
    bytes: [MaybeUninit<u8>; INLINE],
}

/// Bytes for the capacity of a string, before its pointer.
const CAPACITY: usize = INLINE - 16;
/// The text is a string that it owns.
const HEAP: u8 = 0xfe;
/// The text is in a [`Memory`], without a reference count.
const VIEW: u8 = 0xff;

impl Text {
    /// Returns a text without an allocation. `None` if it is too long.
    #[inline]
    pub(super) fn inline(text: &str) -> Option<Self> {
        let mut bytes = [MaybeUninit::new(0); INLINE];
        write(bytes.get_mut(..text.len())?, text.as_bytes());
        Some(Self { len: text.len() as u8, bytes })
    }

    /// Returns a text that owns a string, with its capacity.
    pub(super) fn heap(text: String) -> Self {
        let mut text = ManuallyDrop::new(text);
        let mut bytes = [MaybeUninit::uninit(); INLINE];
        assert!(text.capacity() as u64 >> (8 * CAPACITY) == 0, "the capacity of a string has six bytes");
        write(&mut bytes[..CAPACITY], &(text.capacity() as u64).to_le_bytes()[..CAPACITY]);
        let words = [Word(text.as_mut_ptr()), Word::of(text.len() as u64)];
        // SAFETY: the last 16 bytes have room for two words; the write needs no alignment.
        unsafe { bytes.as_mut_ptr().add(INLINE - 16).cast::<[Word; 2]>().write_unaligned(words) };
        Self { len: HEAP, bytes }
    }

    /// Moves the string out of a text that owns one, which is empty afterwards. Copies any other text.
    pub(super) fn take(&mut self) -> String {
        if self.len != HEAP {
            return self.as_str().to_owned();
        }
        let mut capacity = [0; 8];
        // SAFETY: `heap` has written these bytes.
        capacity[..CAPACITY].copy_from_slice(unsafe { &*self.bytes.as_ptr().cast::<[u8; CAPACITY]>() });
        let (text, len) = (self.pointer(), self.as_str().len());
        self.len = 0;
        // SAFETY: `heap` has taken these parts from a string, and nothing else owns it, because this text is empty now.
        unsafe { String::from_raw_parts(text.cast(), len, u64::from_le_bytes(capacity) as usize) }
    }

    /// Appends in amortized constant time per byte.
    pub(super) fn push_str(&mut self, text: &str) {
        let len = usize::from(self.len);
        match self.bytes.get_mut(len..len + text.len()).filter(|_| self.len < HEAP) {
            Some(free) => {
                write(free, text.as_bytes());
                self.len += text.len() as u8;
            }
            None => {
                let mut string = self.take();
                string.push_str(text);
                *self = Self::heap(string);
            }
        }
    }

    /// Returns the text that is not inline.
    fn pointer(&self) -> *mut str {
        debug_assert!(self.len >= HEAP, "an inline text has no pointer");
        // SAFETY: `heap` and `Builder` write a pointer and a length there.
        let [Word(pointer), len] =
            unsafe { self.bytes.as_ptr().add(INLINE - 16).cast::<[Word; 2]>().read_unaligned() };
        ptr::slice_from_raw_parts_mut(pointer.cast_mut(), len.bits() as usize) as *mut str
    }

    #[inline]
    pub(super) fn as_str(&self) -> &str {
        // SAFETY: the constructors, and `Builder`, copy the first `len` bytes from a `str` between character
        // boundaries. A pointer refers to a string that this text owns, or to a memory that exists as for `Inner::items`.
        unsafe {
            if self.len < HEAP {
                let bytes = slice::from_raw_parts(self.bytes.as_ptr().cast(), self.len.into());
                str::from_utf8_unchecked(bytes)
            } else {
                &*self.pointer()
            }
        }
    }
}

/// Copies bytes. The method of slices needs a newer compiler than the package.
#[inline(always)]
fn write(to: &mut [MaybeUninit<u8>], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "the slices have the same length");
    // SAFETY: both slices have this length, and do not overlap, because one is borrowed exclusively.
    unsafe { to.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from.as_ptr(), from.len()) };
}

impl Clone for Text {
    fn clone(&self) -> Self {
        if self.len < HEAP {
            Self { len: self.len, bytes: self.bytes }
        } else {
            Self::heap(self.as_str().to_owned())
        }
    }
}

impl Drop for Text {
    #[inline]
    fn drop(&mut self) {
        if self.len == HEAP {
            drop(self.take());
        }
    }
}

/// Value or key as words of the layout of [`Value`].
type Slot = [Word; 3];

/// Eight bytes of a value or key: a pointer, or a number that is stored like one.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Word(*const u8);

impl Word {
    #[inline(always)]
    const fn of(bits: u64) -> Self {
        Self(ptr::without_provenance(bits as usize))
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        self.0.addr() as u64
    }
}
