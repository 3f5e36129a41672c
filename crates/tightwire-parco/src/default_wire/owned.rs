//! Default wire types of the types that allocate.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(any(feature = "hashbrown", feature = "indexmap", feature = "std"))]
use core::hash::{BuildHasher, Hash};
#[cfg(feature = "std")]
use std::path::{Path, PathBuf};

use super::{DecodeAs, EncodeAs};
#[cfg(feature = "std")]
use crate::wire::Wrapped;
use crate::wire::{Blob, Format, Map, Pointer, Slice, Str};

generic! { Format:
    [] String => Str<F::Header>;
    [] Box<str> => Str<F::Header>;
    [] Rc<str> => Str<F::Header>;
    [] Arc<str> => Str<F::Header>;
    [] alloc::ffi::CString => Blob<F::Header>;
    #[cfg(feature = "bytes")]
    [] bytes::Bytes => Blob<F::Header>;
    #[cfg(feature = "bytes")]
    [] bytes::BytesMut => Blob<F::Header>;
    #[cfg(feature = "compact_str")]
    [] compact_str::CompactString => Str<F::Header>;
    #[cfg(feature = "std")]
    [] PathBuf => Str<F::Header>;
    [T] Vec<T> => Slice<F::Header, T::Wire>;
    [T] Box<[T]> => Slice<F::Header, T::Wire>;
    [T] Rc<[T]> => Slice<F::Header, T::Wire>;
    [T] Arc<[T]> => Slice<F::Header, T::Wire>;
    [T] LinkedList<T> => Slice<F::Header, T::Wire>;
    [T] BinaryHeap<T> => Slice<F::Header, T::Wire> where [T: Ord];
    [T] VecDeque<T> => Slice<F::Header, T::Wire>;
    [T] BTreeSet<T> => Slice<F::Header, T::Wire> where [T: Ord];
    [K, V] BTreeMap<K, V> => Map<F::Header, K::Wire, V::Wire> where [K: Ord];
    [T] Box<T> => Pointer<T::Wire>;
    [T] Rc<T> => Pointer<T::Wire>;
    [T] Arc<T> => Pointer<T::Wire>;
    #[cfg(feature = "std")]
    [T] std::sync::Mutex<T> => Wrapped<T::Wire>;
    #[cfg(feature = "std")]
    [T] std::sync::RwLock<T> => Wrapped<T::Wire>;
}

encode! {
    [] Cow<'_, str> => Str<F::Header>;
    [] Cow<'_, [u8]> => Blob<F::Header>;
    [T: EncodeAs<F> + Clone] Cow<'_, T> => Pointer<T::Wire>;
}

decode! {
    [] Cow<'de, str> => Str<F::Header>;
    [] Cow<'de, [u8]> => Blob<F::Header>;
    [T: DecodeAs<'de, F> + Clone] Cow<'_, T> => Pointer<T::Wire>;
}

/// Implements the traits for a map and a set of hashed keys.
#[cfg(any(feature = "hashbrown", feature = "indexmap", feature = "std"))]
macro_rules! hashed {
    ($map:ident, $set:ident in $($path:tt)*) => {generic! { Format:
        [K, V; S] $($path)*::$map<K, V, S> => Map<F::Header, K::Wire, V::Wire>
            where [K: Eq + Hash, S: BuildHasher + Default];
        [T; S] $($path)*::$set<T, S> => Slice<F::Header, T::Wire>
            where [T: Eq + Hash, S: BuildHasher + Default];
    }};
}

#[cfg(feature = "hashbrown")]
hashed!(HashMap, HashSet in hashbrown);
#[cfg(feature = "indexmap")]
hashed!(IndexMap, IndexSet in indexmap);
#[cfg(feature = "std")]
hashed!(HashMap, HashSet in std::collections);

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
    [] Path => Str<F::Header>;
    [] &Path => Str<F::Header>;
}

#[cfg(feature = "std")]
decode! {
    [] &'de Path => Str<F::Header>;
}
