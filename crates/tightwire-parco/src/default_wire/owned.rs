//! Default wire types of the types that allocate.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::collections::{HashMap, HashSet};
#[cfg(feature = "std")]
use std::path::{Path, PathBuf};

use super::{DecodeAs, EncodeAs};
#[cfg(feature = "std")]
use crate::wire::Wrapped;
use crate::wire::{Blob, Format, Map, Pointer, Slice, Str};

both! { Format:
    String => Str<F::Header>;
    Box<str> => Str<F::Header>;
    Rc<str> => Str<F::Header>;
    Arc<str> => Str<F::Header>;
    alloc::ffi::CString => Blob<F::Header>;
    #[cfg(feature = "bytes")]
    bytes::Bytes => Blob<F::Header>;
    #[cfg(feature = "bytes")]
    bytes::BytesMut => Blob<F::Header>;
    #[cfg(feature = "compact_str")]
    compact_str::CompactString => Str<F::Header>;
    #[cfg(feature = "std")]
    PathBuf => Str<F::Header>;
}

encode! {
    [] Cow<'_, str> => Str<F::Header>;
    [] Cow<'_, [u8]> => Blob<F::Header>;
    [T: EncodeAs<F>] Vec<T> => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] Box<[T]> => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] Rc<[T]> => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] Arc<[T]> => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] LinkedList<T> => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] BinaryHeap<T> => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] VecDeque<T> => Slice<F::Header, T::Wire>;
    [T: EncodeAs<F>] BTreeSet<T> => Slice<F::Header, T::Wire>;
    [K: EncodeAs<F>, V: EncodeAs<F>] BTreeMap<K, V> => Map<F::Header, K::Wire, V::Wire>;
    [T: EncodeAs<F>] Box<T> => Pointer<T::Wire>;
    [T: EncodeAs<F>] Rc<T> => Pointer<T::Wire>;
    [T: EncodeAs<F>] Arc<T> => Pointer<T::Wire>;
    [T: EncodeAs<F> + Clone] Cow<'_, T> => Pointer<T::Wire>;
}

decode! {
    [] Cow<'de, str> => Str<F::Header>;
    [] Cow<'de, [u8]> => Blob<F::Header>;
    [T: DecodeAs<'de, F>] Vec<T> => Slice<F::Header, T::Wire>;
    [T: DecodeAs<'de, F>] Box<[T]> => Slice<F::Header, T::Wire>;
    [T: DecodeAs<'de, F>] Rc<[T]> => Slice<F::Header, T::Wire>;
    [T: DecodeAs<'de, F>] Arc<[T]> => Slice<F::Header, T::Wire>;
    [T: DecodeAs<'de, F>] LinkedList<T> => Slice<F::Header, T::Wire>;
    [T: DecodeAs<'de, F> + Ord] BinaryHeap<T> => Slice<F::Header, T::Wire>;
    [T: DecodeAs<'de, F>] VecDeque<T> => Slice<F::Header, T::Wire>;
    [T: DecodeAs<'de, F> + Ord] BTreeSet<T> => Slice<F::Header, T::Wire>;
    [K: DecodeAs<'de, F> + Ord, V: DecodeAs<'de, F>] BTreeMap<K, V> => Map<F::Header, K::Wire, V::Wire>;
    [T: DecodeAs<'de, F>] Box<T> => Pointer<T::Wire>;
    [T: DecodeAs<'de, F>] Rc<T> => Pointer<T::Wire>;
    [T: DecodeAs<'de, F>] Arc<T> => Pointer<T::Wire>;
    [T: DecodeAs<'de, F> + Clone] Cow<'_, T> => Pointer<T::Wire>;
}

#[cfg(feature = "indexmap")]
encode! {
    [K: EncodeAs<F>, V: EncodeAs<F>, S] indexmap::IndexMap<K, V, S> => Map<F::Header, K::Wire, V::Wire>;
    [T: EncodeAs<F>, S] indexmap::IndexSet<T, S> => Slice<F::Header, T::Wire>;
}

#[cfg(feature = "indexmap")]
decode! {
    [
        K: DecodeAs<'de, F> + Eq + core::hash::Hash,
        V: DecodeAs<'de, F>,
        S: core::hash::BuildHasher + Default
    ] indexmap::IndexMap<K, V, S> => Map<F::Header, K::Wire, V::Wire>;
    [T: DecodeAs<'de, F> + Eq + core::hash::Hash, S: core::hash::BuildHasher + Default]
        indexmap::IndexSet<T, S> => Slice<F::Header, T::Wire>;
}

#[cfg(feature = "hashbrown")]
encode! {
    [K: EncodeAs<F>, V: EncodeAs<F>, S] hashbrown::HashMap<K, V, S> => Map<F::Header, K::Wire, V::Wire>;
    [T: EncodeAs<F>, S] hashbrown::HashSet<T, S> => Slice<F::Header, T::Wire>;
}

#[cfg(feature = "hashbrown")]
decode! {
    [
        K: DecodeAs<'de, F> + Eq + core::hash::Hash,
        V: DecodeAs<'de, F>,
        S: core::hash::BuildHasher + Default
    ] hashbrown::HashMap<K, V, S> => Map<F::Header, K::Wire, V::Wire>;
    [T: DecodeAs<'de, F> + Eq + core::hash::Hash, S: core::hash::BuildHasher + Default]
        hashbrown::HashSet<T, S> => Slice<F::Header, T::Wire>;
}

#[cfg(feature = "smallvec")]
encode! {
    [A: smallvec::Array<Item: EncodeAs<F>>] smallvec::SmallVec<A>
        => Slice<F::Header, <A::Item as EncodeAs<F>>::Wire>;
}

#[cfg(feature = "smallvec")]
decode! {
    [A: smallvec::Array<Item: DecodeAs<'de, F>>] smallvec::SmallVec<A>
        => Slice<F::Header, <A::Item as DecodeAs<'de, F>>::Wire>;
}

#[cfg(feature = "std")]
encode! {
    [T: EncodeAs<F>] std::sync::Mutex<T> => Wrapped<T::Wire>;
    [T: EncodeAs<F>] std::sync::RwLock<T> => Wrapped<T::Wire>;
    [] Path => Str<F::Header>;
    [] &Path => Str<F::Header>;
    [K: EncodeAs<F>, V: EncodeAs<F>, S] HashMap<K, V, S> => Map<F::Header, K::Wire, V::Wire>;
    [T: EncodeAs<F>, S] HashSet<T, S> => Slice<F::Header, T::Wire>;
}

#[cfg(feature = "std")]
decode! {
    [T: DecodeAs<'de, F>] std::sync::Mutex<T> => Wrapped<T::Wire>;
    [T: DecodeAs<'de, F>] std::sync::RwLock<T> => Wrapped<T::Wire>;
    [] &'de Path => Str<F::Header>;
    [
        K: DecodeAs<'de, F> + Eq + core::hash::Hash,
        V: DecodeAs<'de, F>,
        S: core::hash::BuildHasher + Default
    ] HashMap<K, V, S> => Map<F::Header, K::Wire, V::Wire>;
    [T: DecodeAs<'de, F> + Eq + core::hash::Hash, S: core::hash::BuildHasher + Default]
        HashSet<T, S> => Slice<F::Header, T::Wire>;
}
