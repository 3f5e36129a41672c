//! Builder methods for strings and bytes.

use core::marker::PhantomData;

use super::{Builder, GetRef, ReadOnly, ReadWrite, SetBytes, SetStr, With, WriteOnly};
use crate::wire::{self, Blob, Header, LongText, Order, SmallVarchar, StaticWire, Str, Varchar};

macro_rules! texts {
    (
        $target:ty, $setter:ident;
        $($(#[$doc:meta])* $name:ident $([$generic:ident: $bound:ident])? ($($arg:ident)?) => $wire:ty;)*
    ) => {
        impl<M, L, N> Builder<M, L, ReadWrite<N>> {$(
            $(#[$doc])*
            pub fn $name<$($generic: $bound,)? G, S>(
                self,
                $($arg: $generic,)?
                getter: G,
                setter: S,
            ) -> With<M, L, ReadWrite<N>, $wire, GetRef<G, $target>, $setter<S>>
            where
                G: for<'a> Fn(&'a M) -> &'a $target,
                S: for<'a> Fn(&mut M, &'a $target),
            {
                $(let _ = $arg;)?
                self.then(StaticWire::NEW, GetRef(getter, PhantomData), $setter(setter))
            }
        )*}

        impl<M, L> Builder<M, L, WriteOnly> {$(
            $(#[$doc])*
            pub fn $name<$($generic: $bound,)? G>(
                self,
                $($arg: $generic,)?
                getter: G,
            ) -> With<M, L, WriteOnly, $wire, GetRef<G, $target>, ()>
            where
                G: for<'a> Fn(&'a M) -> &'a $target,
            {
                $(let _ = $arg;)?
                self.then(StaticWire::NEW, GetRef(getter, PhantomData), ())
            }
        )*}

        impl<M, L, N> Builder<M, L, ReadOnly<N>> {$(
            $(#[$doc])*
            pub fn $name<$($generic: $bound,)? S>(
                self,
                $($arg: $generic,)?
                setter: S,
            ) -> With<M, L, ReadOnly<N>, $wire, (), $setter<S>>
            where
                S: for<'a> Fn(&mut M, &'a $target),
            {
                $(let _ = $arg;)?
                self.then(StaticWire::NEW, (), $setter(setter))
            }
        )*}
    };
}

texts! {
    str, SetStr;
    /// Adds a string of at most 65,535 bytes, with a little-endian length: [`Varchar`].
    varchar() => Varchar;
    /// Adds a string of at most 65,535 bytes, with a length in this byte order: [`Varchar`].
    varchar_order[O: Order](order) => Varchar<O>;
    /// Adds a string of at most 255 bytes: [`SmallVarchar`].
    small_varchar() => SmallVarchar;
    /// Adds a string of at most 2^32 - 1 bytes: [`wire::Text`].
    text[O: Order](order) => wire::Text<O>;
    /// Adds a string of at most 2^63 - 1 bytes: [`LongText`].
    long_text[O: Order](order) => LongText<O>;
    /// Adds a string with any header: [`Str`].
    string[H: Header](header) => Str<H>;
}

texts! {
    [u8], SetBytes;
    /// Adds bytes with any header: [`Blob`].
    blob[H: Header](header) => Blob<H>;
}
