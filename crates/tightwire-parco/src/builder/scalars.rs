//! Builder methods for numbers, flags, points in time and reserved bytes.

use core::marker::PhantomData;

use super::{Builder, GetValue, ReadOnly, ReadWrite, Reserved, SetValue, With, WriteOnly};
use crate::wire::{
    Be, Bool, F32, F64, FromNanos, GoInt, GoUint, I8, I16, I32, I64, Le, Order, Skip, StaticWire, TimeUtc,
    ToNanos, U8, U16, U32, U64,
};

macro_rules! scalars {
    ($($(#[$doc:meta])* $name:ident $([$($generic:tt)*])? ($($order:ident: $type:ty)?): $value:ty => $wire:ty;)*) => {
        impl<M, L, N> Builder<M, L, ReadWrite<N>> {$(
            $(#[$doc])*
            pub fn $name<$($($generic)*,)? G, S>(
                self,
                $($order: $type,)?
                getter: G,
                setter: S,
            ) -> With<M, L, ReadWrite<N>, $wire, GetValue<G, $value>, SetValue<S, $value>>
            where
                G: Fn(&M) -> $value,
                S: Fn(&mut M, $value),
            {
                $(let _ = $order;)?
                self.then(StaticWire::NEW, GetValue(getter, PhantomData), SetValue(setter, PhantomData))
            }
        )*}

        impl<M, L> Builder<M, L, WriteOnly> {$(
            $(#[$doc])*
            pub fn $name<$($($generic)*,)? G>(
                self,
                $($order: $type,)?
                getter: G,
            ) -> With<M, L, WriteOnly, $wire, GetValue<G, $value>, ()>
            where
                G: Fn(&M) -> $value,
            {
                $(let _ = $order;)?
                self.then(StaticWire::NEW, GetValue(getter, PhantomData), ())
            }
        )*}

        impl<M, L, N> Builder<M, L, ReadOnly<N>> {$(
            $(#[$doc])*
            pub fn $name<$($($generic)*,)? S>(
                self,
                $($order: $type,)?
                setter: S,
            ) -> With<M, L, ReadOnly<N>, $wire, (), SetValue<S, $value>>
            where
                S: Fn(&mut M, $value),
            {
                $(let _ = $order;)?
                self.then(StaticWire::NEW, (), SetValue(setter, PhantomData))
            }
        )*}
    };
}

scalars! {
    /// Adds a one-byte flag: [`Bool`].
    bool(): bool => Bool;
    /// Adds a byte: [`U8`].
    byte(): u8 => U8;
    /// Adds a one-byte unsigned integer: [`U8`].
    uint8(): u8 => U8;
    /// Adds a one-byte signed integer: [`I8`].
    int8(): i8 => I8;
    /// Adds a two-byte unsigned integer: [`U16`].
    uint16[O: Order](order: O): u16 => U16<O>;
    /// Adds a two-byte unsigned integer, little endian: [`U16`].
    uint16_le(): u16 => U16<Le>;
    /// Adds a two-byte unsigned integer, big endian: [`U16`].
    uint16_be(): u16 => U16<Be>;
    /// Adds a two-byte signed integer: [`I16`].
    int16[O: Order](order: O): i16 => I16<O>;
    /// Adds a two-byte signed integer, little endian: [`I16`].
    int16_le(): i16 => I16<Le>;
    /// Adds a two-byte signed integer, big endian: [`I16`].
    int16_be(): i16 => I16<Be>;
    /// Adds a four-byte unsigned integer: [`U32`].
    uint32[O: Order](order: O): u32 => U32<O>;
    /// Adds a four-byte unsigned integer, little endian: [`U32`].
    uint32_le(): u32 => U32<Le>;
    /// Adds a four-byte unsigned integer, big endian: [`U32`].
    uint32_be(): u32 => U32<Be>;
    /// Adds a four-byte signed integer: [`I32`].
    int32[O: Order](order: O): i32 => I32<O>;
    /// Adds a four-byte signed integer, little endian: [`I32`].
    int32_le(): i32 => I32<Le>;
    /// Adds a four-byte signed integer, big endian: [`I32`].
    int32_be(): i32 => I32<Be>;
    /// Adds an eight-byte unsigned integer: [`U64`].
    uint64[O: Order](order: O): u64 => U64<O>;
    /// Adds an eight-byte unsigned integer, little endian: [`U64`].
    uint64_le(): u64 => U64<Le>;
    /// Adds an eight-byte unsigned integer, big endian: [`U64`].
    uint64_be(): u64 => U64<Be>;
    /// Adds an eight-byte signed integer: [`I64`].
    int64[O: Order](order: O): i64 => I64<O>;
    /// Adds an eight-byte signed integer, little endian: [`I64`].
    int64_le(): i64 => I64<Le>;
    /// Adds an eight-byte signed integer, big endian: [`I64`].
    int64_be(): i64 => I64<Be>;
    /// Adds Go's `int` on 64-bit platforms: [`GoInt`].
    int[O: Order](order: O): i64 => GoInt<O>;
    /// Adds Go's `int` on 64-bit platforms, little endian: [`GoInt`].
    int_le(): i64 => GoInt<Le>;
    /// Adds Go's `int` on 64-bit platforms, big endian: [`GoInt`].
    int_be(): i64 => GoInt<Be>;
    /// Adds Go's `uint` on 64-bit platforms: [`GoUint`].
    uint[O: Order](order: O): u64 => GoUint<O>;
    /// Adds Go's `uint` on 64-bit platforms, little endian: [`GoUint`].
    uint_le(): u64 => GoUint<Le>;
    /// Adds Go's `uint` on 64-bit platforms, big endian: [`GoUint`].
    uint_be(): u64 => GoUint<Be>;
    /// Adds a four-byte IEEE 754 float: [`F32`].
    float32[O: Order](order: O): f32 => F32<O>;
    /// Adds a four-byte IEEE 754 float, little endian: [`F32`].
    float32_le(): f32 => F32<Le>;
    /// Adds a four-byte IEEE 754 float, big endian: [`F32`].
    float32_be(): f32 => F32<Be>;
    /// Adds an eight-byte IEEE 754 float: [`F64`].
    float64[O: Order](order: O): f64 => F64<O>;
    /// Adds an eight-byte IEEE 754 float, little endian: [`F64`].
    float64_le(): f64 => F64<Le>;
    /// Adds an eight-byte IEEE 754 float, big endian: [`F64`].
    float64_be(): f64 => F64<Be>;
    /// Adds a point in time: [`TimeUtc`].
    time_utc[T: ToNanos + FromNanos](): T => TimeUtc;
}

impl<M, L, K> Builder<M, L, K> {
    /// Adds `COUNT` reserved bytes: [`Skip`].
    pub fn skip<const COUNT: usize>(self) -> With<M, L, K, Skip<COUNT>, Reserved, Reserved> {
        self.then(Skip, Reserved, Reserved)
    }
}
