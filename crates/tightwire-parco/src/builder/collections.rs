//! Builder methods for slices, arrays, maps, options and nested models.

use core::marker::PhantomData;

use super::{Builder, GetRef, ReadOnly, ReadWrite, SetValue, With, WriteOnly};
use crate::wire::{Array, Get, Header, Map, Opt, Put, Slice, SortedMap, StaticWire, TimeLocation, Wire};

macro_rules! references {
    ($(
        $(#[$doc:meta])*
        $name:ident [$($generic:ident $(: $bound:ident)?),*] $(const $len:ident)? ($($arg:ident: $type:ty),*): $value:ty
            => $wire:ty = $new:expr;
    )*) => {
        impl<M, L, N> Builder<M, L, ReadWrite<N>> {$(
            $(#[$doc])*
            pub fn $name<$($generic $(: $bound)?,)* T, G, S $(, const $len: usize)?>(
                self,
                $($arg: $type,)*
                getter: G,
                setter: S,
            ) -> With<M, L, ReadWrite<N>, $wire, GetRef<G, $value>, SetValue<S, $value>>
            where
                G: for<'a> Fn(&'a M) -> &'a $value,
                S: Fn(&mut M, $value),
                $wire: Put<$value> + for<'de> Get<'de, $value>,
            {
                self.then($new, GetRef(getter, PhantomData), SetValue(setter, PhantomData))
            }
        )*}

        impl<M, L> Builder<M, L, WriteOnly> {$(
            $(#[$doc])*
            pub fn $name<$($generic $(: $bound)?,)* T, G $(, const $len: usize)?>(
                self,
                $($arg: $type,)*
                getter: G,
            ) -> With<M, L, WriteOnly, $wire, GetRef<G, $value>, ()>
            where
                G: for<'a> Fn(&'a M) -> &'a $value,
                $wire: Put<$value>,
            {
                self.then($new, GetRef(getter, PhantomData), ())
            }
        )*}

        impl<M, L, N> Builder<M, L, ReadOnly<N>> {$(
            $(#[$doc])*
            pub fn $name<$($generic $(: $bound)?,)* T, S $(, const $len: usize)?>(
                self,
                $($arg: $type,)*
                setter: S,
            ) -> With<M, L, ReadOnly<N>, $wire, (), SetValue<S, $value>>
            where
                S: Fn(&mut M, $value),
                $wire: for<'de> Get<'de, $value>,
            {
                self.then($new, (), SetValue(setter, PhantomData))
            }
        )*}
    };
}

references! {
    /// Adds a slice with a header that counts the elements: [`Slice`].
    slice[H: Header, E: Wire](header: H, element: E): T => Slice<H, E> = Slice::of(header, element);
    /// Adds a fixed-size array without a header: [`Array`].
    array[E: Wire] const LEN (element: E): [T; LEN] => Array<LEN, E> = Array(element);
    /// Adds a map with a header that counts the entries, in iteration order: [`Map`].
    map[H: Header, A: Wire, B: Wire](header: H, key: A, value: B): T
        => Map<H, A, B> = Map::of(header, key, value);
    /// Adds a map with a header that counts the entries, sorted by key: [`SortedMap`].
    sorted_map[H: Header, A: Wire, B: Wire](header: H, key: A, value: B): T
        => SortedMap<H, A, B> = SortedMap::of(header, key, value);
    /// Adds an optional value: [`Opt`].
    option[W: Wire](inner: W): T => Opt<W> = Opt(inner);
    /// Adds a nested model with its own schema. It is inlined, without header or length.
    nested[W](schema: W): T => W = schema;
    /// Adds a point in time and the name of a time zone: [`TimeLocation`].
    time_location[](): T => TimeLocation = TimeLocation::NEW;
}

impl<M, L, N> Builder<M, L, ReadWrite<N>> {
    /// Adds a field of any wire type. Use it if there is no specific method, or if getter and setter have different
    /// types.
    #[expect(clippy::type_complexity, reason = "the type of a schema tells all of its fields")]
    pub fn field<W, T, V, G, S>(
        self,
        wire: W,
        getter: G,
        setter: S,
    ) -> With<M, L, ReadWrite<N>, W, GetRef<G, T>, SetValue<S, V>>
    where
        T: ?Sized,
        G: for<'a> Fn(&'a M) -> &'a T,
        S: Fn(&mut M, V),
        W: Put<T> + for<'de> Get<'de, V>,
    {
        self.then(wire, GetRef(getter, PhantomData), SetValue(setter, PhantomData))
    }
}

impl<M, L> Builder<M, L, WriteOnly> {
    /// Adds a field of any wire type. Use it if there is no specific method.
    pub fn field<W, T, G>(self, wire: W, getter: G) -> With<M, L, WriteOnly, W, GetRef<G, T>, ()>
    where
        T: ?Sized,
        G: for<'a> Fn(&'a M) -> &'a T,
        W: Put<T>,
    {
        self.then(wire, GetRef(getter, PhantomData), ())
    }
}

impl<M, L, N> Builder<M, L, ReadOnly<N>> {
    /// Adds a field of any wire type. Use it if there is no specific method.
    pub fn field<W, V, S>(self, wire: W, setter: S) -> With<M, L, ReadOnly<N>, W, (), SetValue<S, V>>
    where
        S: Fn(&mut M, V),
        W: for<'de> Get<'de, V>,
    {
        self.then(wire, (), SetValue(setter, PhantomData))
    }
}
