//! Views of collections in the input: validated once, and decoded while iterating.

use core::borrow::Borrow;
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::Deref;

use crate::error::ErrorKind;
use crate::options::Mode;
use crate::read::{Context, KeyOrder};
use crate::wire::prelude::*;
use crate::wire::{Header, Map, Slice, both, put_as, static_wire};

/// Context for bytes that were already validated: no limits except `levels`, which sufficed when they were validated.
fn trusted(bytes: &[u8], mode: Mode, levels: Levels) -> Context {
    Context::new(bytes, levels.alone().mode(mode))
}

/// A view of a slice in the input.
///
/// Decoding a view validates every element but stores none; iterating decodes them again and cannot fail. A struct of
/// scalars, `&str` and `Seq` is therefore a fully validated view of a message, and decoding it allocates nothing.
///
/// `E` is the wire type of an element, `T` the Rust type it is decoded to.
///
/// ```
/// use tightwire_parco::wire::{Le, U16};
///
/// let bytes = tightwire_parco::to_vec(&vec![5u16, 6, 7])?;
/// let view: tightwire_parco::Seq<'_, U16<Le>, u16> = tightwire_parco::decode_exact(&bytes)?;
/// assert_eq!(view.len(), 3);
/// assert_eq!(view.iter().sum::<u16>(), 18);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub struct Seq<'de, E, T> {
    bytes: &'de [u8],
    len: usize,
    mode: Mode,
    /// Whether the canonical order was checked.
    canonical: bool,
    /// Remaining nesting levels when the view was decoded.
    levels: Levels,
    wire: PhantomData<fn() -> (E, T)>,
}

/// A view of a map in the input, with the entries in wire order.
///
/// Works like [`Seq`]: `K` and `V` are the wire types, `A` and `B` the Rust types. Duplicate keys are not removed. Two
/// views are equal if they have equal entries in the same order.
pub struct Entries<'de, K, V, A, B>(Seq<'de, Entry<K, V>, (A, B)>);

/// Wire type of the entries of a map: a key, then a value.
#[derive(Debug)]
pub struct Entry<K, V>(K, V);

impl<K: Wire, V: Wire> Wire for Entry<K, V> {
    fn min_size(&self) -> usize {
        self.0.min_size() + self.1.min_size()
    }

    fn fixed_size(&self) -> Option<usize> {
        both(self.0.fixed_size(), self.1.fixed_size())
    }

    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        let last = self.1.min_size();
        input.announce(last);
        self.0.walk(input)?;
        input.start(last);
        self.1.walk(input)
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        let (key, value) = (self.0.schema(context), self.1.schema(context));
        Schema::Struct([("key".into(), key), ("value".into(), value)].into())
    }
}

static_wire!([K: StaticWire, V: StaticWire] Entry<K, V> = Self(K::NEW, V::NEW));

impl<'de, A, B, K: Get<'de, A>, V: Get<'de, B>> Get<'de, (A, B)> for Entry<K, V> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<(A, B), Fault> {
        Ok((self.0.get(reader)?, self.1.get(reader)?))
    }
}

impl<'de, E, T> Seq<'de, E, T>
where
    E: StaticWire + Get<'de, T>,
{
    /// Returns an iterator that decodes the elements.
    pub fn iter(&self) -> SeqIter<'de, E, T> {
        SeqIter {
            rest: self.bytes,
            context: trusted(self.bytes, self.mode, self.levels),
            left: self.len,
            wire: PhantomData,
        }
    }

    /// Decodes the element at an index. Takes constant time if all elements have the same size, linear time otherwise.
    pub fn get(&self, index: usize) -> Option<T> {
        let Some(size) = E::NEW.fixed_size() else { return self.iter().nth(index) };
        if index >= self.len {
            return None;
        }
        let mut context = trusted(self.bytes, self.mode, self.levels);
        let mut reader = Reader::new(&self.bytes[index * size..], &mut context);
        Some(accepted(E::NEW.get(&mut reader)))
    }
}

impl<'de, E, T> Seq<'de, E, T> {
    /// Creates a view of `len` elements, which were read since [`rest`](Reader::rest) was `start`.
    #[inline]
    fn new(start: &'de [u8], len: usize, reader: &Reader<'_, 'de>) -> Self {
        Self {
            bytes: &start[..start.len() - reader.rest().len()],
            len,
            mode: reader.options().mode,
            canonical: reader.options().canonical,
            levels: reader.levels(),
            wire: PhantomData,
        }
    }

    /// Returns the number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<'de, K, V, A, B> Entries<'de, K, V, A, B>
where
    K: StaticWire + Get<'de, A>,
    V: StaticWire + Get<'de, B>,
{
    /// Returns the value of the last entry with this key, by scanning all entries.
    pub fn get<Q>(&self, key: &Q) -> Option<B>
    where
        A: Borrow<Q>,
        Q: PartialEq + ?Sized,
    {
        self.iter().filter(|(candidate, _)| candidate.borrow() == key).last().map(|(_, value)| value)
    }
}

/// The entries as a sequence of pairs.
impl<'de, K, V, A, B> Deref for Entries<'de, K, V, A, B> {
    type Target = Seq<'de, Entry<K, V>, (A, B)>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Unwraps the result of decoding validated bytes: wire types decode the same bytes in the same way each time.
fn accepted<T>(result: Result<T, Fault>) -> T {
    result.unwrap_or_else(|_| unreachable!("validated bytes decode"))
}

/// Iterator over the elements of a [`Seq`].
#[must_use = "iterators do nothing unless consumed"]
pub struct SeqIter<'de, E, T> {
    rest: &'de [u8],
    context: Context,
    left: usize,
    wire: PhantomData<fn() -> (E, T)>,
}

impl<'de, E, T> Iterator for SeqIter<'de, E, T>
where
    E: StaticWire + Get<'de, T>,
{
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let mut reader = Reader::new(self.rest, &mut self.context);
        let value = accepted(E::NEW.get(&mut reader));
        self.rest = reader.rest();
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// Iterator over the entries of [`Entries`].
pub type EntriesIter<'de, K, V, A, B> = SeqIter<'de, Entry<K, V>, (A, B)>;

impl<'de, E: StaticWire + Get<'de, T>, T> ExactSizeIterator for SeqIter<'de, E, T> {}

impl<'de, E: StaticWire + Get<'de, T>, T> FusedIterator for SeqIter<'de, E, T> {}

impl<E, T> fmt::Debug for SeqIter<'_, E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeqIter").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<E, T> Default for Seq<'_, E, T> {
    fn default() -> Self {
        Self { bytes: &[], len: 0, mode: Mode::Strict, canonical: true, levels: Levels(0), wire: PhantomData }
    }
}

impl<K, V, A, B> Default for Entries<'_, K, V, A, B> {
    fn default() -> Self {
        Self(Seq::default())
    }
}

macro_rules! common {
    (
        $view:ident, $iter:ident, $item:ty, [$($generic:ident),*],
        [$($wire:ident: $target:ident),*]
    ) => {
        impl<$($generic),*> Clone for $view<'_, $($generic),*> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($generic),*> Copy for $view<'_, $($generic),*> {}

        impl<'de, $($generic),*> IntoIterator for $view<'de, $($generic),*>
        where
            $($wire: StaticWire + Get<'de, $target>),*
        {
            type Item = $item;
            type IntoIter = $iter<'de, $($generic),*>;

            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }

        impl<'de, $($generic),*> PartialEq for $view<'de, $($generic),*>
        where
            $($wire: StaticWire + Get<'de, $target>,)*
            $item: PartialEq,
        {
            fn eq(&self, other: &Self) -> bool {
                self.iter().eq(other.iter())
            }
        }
    };
}

common!(Seq, SeqIter, T, [E, T], [E: T]);
common!(Entries, EntriesIter, (A, B), [K, V, A, B], [K: A, V: B]);

impl<'de, E: StaticWire + Get<'de, T>, T: fmt::Debug> fmt::Debug for Seq<'de, E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'de, K, V, A, B> fmt::Debug for Entries<'de, K, V, A, B>
where
    K: StaticWire + Get<'de, A>,
    V: StaticWire + Get<'de, B>,
    A: fmt::Debug,
    B: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'de, H: Header, E: StaticWire + Get<'de, T>, T> Get<'de, Seq<'de, E, T>> for Slice<H, E> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Seq<'de, E, T>, Fault> {
        let len = self.count(reader)?;
        let start = reader.rest();
        self.element().check_all(len, reader)?;
        Ok(Seq::new(start, len, reader))
    }
}

impl<'de, H, K, V, A, B> Get<'de, Entries<'de, K, V, A, B>> for Map<H, K, V>
where
    H: Header,
    K: StaticWire + Get<'de, A>,
    V: StaticWire + Get<'de, B>,
{
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Entries<'de, K, V, A, B>, Fault> {
        let len = self.count(reader)?;
        let start = reader.rest();
        let mut order = KeyOrder::new(reader);
        for index in 0..len {
            self.get_entry(index, &mut order, reader, |_: A, _: B| ())?;
        }
        Ok(Entries(Seq::new(start, len, reader)))
    }
}

/// Copies the bytes of the view. Rejects views decoded with [`Mode::Compat`], which may contain bytes that no encoder
/// writes, and with [`Options::canonical`](crate::Options::canonical) those decoded without it.
impl<'de, H: Header, E: StaticWire, T> Put<Seq<'de, E, T>> for Slice<H, E> {
    fn put(&self, view: &Seq<'de, E, T>, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.size(view, writer.levels())?;
        if writer.is_canonical() && !view.canonical {
            return Err(Fault(ErrorKind::WrongOrder));
        }
        writer.check_elements(view.len, ElementSize::of(self.element()), 0)?;
        H::put_length(view.len, writer)?;
        writer.bytes(view.bytes);
        Ok(())
    }

    fn size(&self, view: &Seq<'de, E, T>, levels: Levels) -> Result<usize, Fault> {
        if view.levels > levels {
            let mut context = trusted(view.bytes, view.mode, levels);
            self.element().walk_all(view.len, &mut Reader::new(view.bytes, &mut context))?;
        }
        if view.mode == Mode::Compat {
            return Err(Fault(ErrorKind::InvalidValue));
        }
        H::check(view.len)?;
        Ok(H::width(view.len as u64) + view.bytes.len())
    }
}

put_as! {
    ['de, H: Header, K: StaticWire, V: StaticWire, A, B] Entries<'de, K, V, A, B>, Map<H, K, V>: |_map, entries|
        &entries.0, Slice::<H, Entry<K, V>>::NEW;
}
