//! Type-level functions that the derive attributes apply to a field's default wire type.
//!
//! The macros do not have to guess the type of a field from its name: `#[parco(header = u8)]` selects
//! [`Replace<Header, U8>`](Replace) of the default wire type, and fails to compile if that has no header.
//!
//! [`Opt`] and [`Pointer`] forward every attribute but `inner`, so that an attribute means the same for `T`, `Option<T>`
//! and `Box<T>`.

use super::logical::Logical;
use super::{
    Array, Bool, Char, Either, F32, F64, GoInt, GoUint, I8, I16, I32, I64, Map, Message, Opt, Pointer, Put,
    RangeBound, Skip, Slice, SortedMap, SortedSlice, StaticWire, Str, TimeLocation, TimeUtc, U8, U16, U32,
    U64, U128, Varint, Wrapped,
};
use crate::error::Fault;
use crate::read::Input;
#[cfg(feature = "alloc")]
use crate::schema::{Schema, Variant};
use crate::wire;

/// Replaces one part of a wire type, which the attribute `A` selects, with `New`.
#[diagnostic::on_unimplemented(
    message = "the attribute `{A}` does not apply to the wire type `{Self}`",
    label = "does not apply to the type of this field",
    note = "the documentation of `Encode` has a table of attributes and the types that they apply to"
)]
pub trait Replace<A, New = ()> {
    /// The new wire type.
    type Wire;
}

/// The part of a wire type that the attribute `A` changes.
#[diagnostic::on_unimplemented(
    message = "the attribute `{A}` does not apply to the wire type `{Self}`",
    label = "does not apply to the type of this field",
    note = "the documentation of `Encode` has a table of attributes and the types that they apply to"
)]
pub trait Part<A> {
    /// Wire type of the elements, keys, values or content that the attribute names.
    type Wire;
}

/// Replaces the byte order of numbers, headers and nested types, but not of nested messages: `be` and `le` inside of
/// `elem(..)` and so on.
#[diagnostic::on_unimplemented(message = "the wire type `{Self}` has no byte order")]
pub trait WithOrder<O> {
    /// The wire type in the byte order `O`.
    type Wire;
}

/// An attribute that applies to the value of an option, not to the option.
pub trait Forwarded {}

macro_rules! attributes {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Forwarded for $name {}
    )*};
}

attributes! {
    /// The attributes `header`, `small` and `max`.
    Header,
    /// The attribute `elem`.
    Elem,
    /// The attribute `key`.
    Key,
    /// The attribute `value`.
    Value,
    /// The attribute `sorted`.
    Sorted,
    /// The attribute `blob`: bytes are encoded with one copy instead of one element at a time.
    Blob,
    /// The attribute `int`, Go's name for an `i64`.
    Int,
    /// The attribute `uint`, Go's name for a `u64`.
    Uint,
}

/// The attribute `inner`.
#[derive(Clone, Copy, Debug)]
pub enum Inner {}

#[diagnostic::do_not_recommend]
impl<A: Forwarded, New, W: Replace<A, New>> Replace<A, New> for Opt<W> {
    type Wire = Opt<W::Wire>;
}

#[diagnostic::do_not_recommend]
impl<A: Forwarded, W: Part<A>> Part<A> for Opt<W> {
    type Wire = W::Wire;
}

macro_rules! wires {
    ($([$($generics:tt)*] $wire:ty: $trait:ty => $result:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $trait for $wire {
            type Wire = $result;
        }
    )*};
}

wires! {
    [A, New, W: Replace<A, New>] Pointer<W>: Replace<A, New> => Pointer<W::Wire>;
    [A, New, W: Replace<A, New>] Wrapped<W>: Replace<A, New> => Wrapped<W::Wire>;
    [A, W: Part<A>] Pointer<W>: Part<A> => W::Wire;
    [A, W: Part<A>] Wrapped<W>: Part<A> => W::Wire;
    [H] Str<H>: Part<Header> => H;
    [H] wire::Blob<H>: Part<Header> => H;
    [H, E] Slice<H, E>: Part<Header> => H;
    [H, K, V] Map<H, K, V>: Part<Header> => H;
    [H, K, V] SortedMap<H, K, V>: Part<Header> => H;
    [H, Old] Str<Old>: Replace<Header, H> => Str<H>;
    [H, Old] wire::Blob<Old>: Replace<Header, H> => wire::Blob<H>;
    [H, Old, E] Slice<Old, E>: Replace<Header, H> => Slice<H, E>;
    [H, Old, K, V] Map<Old, K, V>: Replace<Header, H> => Map<H, K, V>;
    [H, Old, K, V] SortedMap<Old, K, V>: Replace<Header, H> => SortedMap<H, K, V>;

    [O] U8: WithOrder<O> => Self;
    [O] I8: WithOrder<O> => Self;
    [O] Varint: WithOrder<O> => Self;
    [O] Bool: WithOrder<O> => Self;
    [O] TimeLocation: WithOrder<O> => Self;
    [O] TimeUtc: WithOrder<O> => Self;
    [O, const N: usize] Skip<N>: WithOrder<O> => Self;
    [O, M, Role] Message<M, Role>: WithOrder<O> => Self;
    [O, Old] U16<Old>: WithOrder<O> => U16<O>;
    [O, Old] I16<Old>: WithOrder<O> => I16<O>;
    [O, Old] U32<Old>: WithOrder<O> => U32<O>;
    [O, Old] I32<Old>: WithOrder<O> => I32<O>;
    [O, Old] U64<Old>: WithOrder<O> => U64<O>;
    [O, Old] I64<Old>: WithOrder<O> => I64<O>;
    [O, Old] GoInt<Old>: WithOrder<O> => GoInt<O>;
    [O, Old] GoUint<Old>: WithOrder<O> => GoUint<O>;
    [O, Old] U128<Old>: WithOrder<O> => U128<O>;
    [O, Old] Char<Old>: WithOrder<O> => Char<O>;
    [O, Old] F32<Old>: WithOrder<O> => F32<O>;
    [O, Old] F64<Old>: WithOrder<O> => F64<O>;
    [O, H: WithOrder<O>] Str<H>: WithOrder<O> => Str<H::Wire>;
    [O, H: WithOrder<O>] wire::Blob<H>: WithOrder<O> => wire::Blob<H::Wire>;
    [O, H: WithOrder<O>, E: WithOrder<O>] Slice<H, E>: WithOrder<O>
        => Slice<H::Wire, E::Wire>;
    [O, const N: usize, E: WithOrder<O>] Array<N, E>: WithOrder<O> => Array<N, E::Wire>;
    [O, H: WithOrder<O>, K: WithOrder<O>, V: WithOrder<O>] Map<H, K, V>: WithOrder<O>
        => Map<H::Wire, K::Wire, V::Wire>;

    [H, E] Slice<H, E>: Part<Elem> => E;
    [const N: usize, E] Array<N, E>: Part<Elem> => E;
    [H, Old, E] Slice<H, Old>: Replace<Elem, E> => Slice<H, E>;
    [const N: usize, Old, E] Array<N, Old>: Replace<Elem, E> => Array<N, E>;

    [H, K, V] Map<H, K, V>: Part<Key> => K;
    [H, K, V] Map<H, K, V>: Part<Value> => V;
    [H, K, Old, V] Map<H, Old, V>: Replace<Key, K> => Map<H, K, V>;
    [H, K, Old, V] Map<H, K, Old>: Replace<Value, V> => Map<H, K, V>;

    [O, Old, A: WithOrder<O>, B: WithOrder<O>] Either<A, B, Old>: WithOrder<O> => Either<A::Wire, B::Wire, O>;
    [O, W: WithOrder<O>] Opt<W>: WithOrder<O> => Opt<W::Wire>;
    [O, Old, W: WithOrder<O>] RangeBound<W, Old>: WithOrder<O> => RangeBound<W::Wire, O>;
    [O, W: WithOrder<O>] Pointer<W>: WithOrder<O> => Pointer<W::Wire>;
    [O, W: WithOrder<O>] Wrapped<W>: WithOrder<O> => Wrapped<W::Wire>;
    [O, L, W: WithOrder<O>] Logical<L, W>: WithOrder<O> => Logical<L, W::Wire>;

    [W] Opt<W>: Part<Inner> => W;
    [Old, W] Opt<Old>: Replace<Inner, W> => Opt<W>;

    [H, K, V] Map<H, K, V>: Replace<Sorted> => SortedMap<H, K, V>;
    [H, E] Slice<H, E>: Replace<Sorted> => SortedSlice<H, E>;
    [H, E] SortedSlice<H, E>: Part<Header> => H;
    [H, Old, E] SortedSlice<Old, E>: Replace<Header, H> => SortedSlice<H, E>;
    [H] Slice<H, U8>: Replace<Blob> => wire::Blob<H>;
    [H] Str<H>: Replace<Blob> => wire::Blob<H>;
    [H] wire::Blob<H>: Replace<Blob> => Self;
    [O] I64<O>: Replace<Int> => GoInt<O>;
    [O] U64<O>: Replace<Uint> => GoUint<O>;
}

macro_rules! tuple_order {
    ($($wire:ident $type:ident $index:tt $name:literal),*) => {
        wires! { [O, $($wire: WithOrder<O>),*] ($($wire,)*): WithOrder<O> => ($($wire::Wire,)*); }
    };
}

for_tuples!(tuple_order);

/// Returns the schema of a struct with these fields.
#[cfg(feature = "alloc")]
pub fn structure<const N: usize>(fields: [(&str, Schema); N]) -> Schema {
    Schema::Struct(fields.map(|(name, schema)| (name.into(), schema)).into())
}

/// Returns the schema of an evolve struct with these fields, the first `required` of which have no default.
#[cfg(feature = "alloc")]
pub fn evolve<const N: usize>(required: usize, fields: [(&str, Schema); N]) -> Schema {
    Schema::Evolve { required, fields: fields.map(|(name, schema)| (name.into(), schema)).into() }
}

/// Returns the schema of an enum with this schema of the ids and these variants: id, name and schema of the fields.
#[cfg(feature = "alloc")]
pub fn multi<const N: usize>(header: Schema, variants: [(&str, &str, Schema); N]) -> Schema {
    let models =
        variants.map(|(id, name, schema)| Variant { id: id.into(), name: name.into(), schema }).into();
    Schema::Multi { header: header.into(), models }
}

/// A wire type for the ids of an enum: a number or a string.
#[diagnostic::on_unimplemented(
    message = "the wire type `{Self}` cannot be an id",
    label = "ids are numbers, such as `U8`, or strings, such as `SmallVarchar`"
)]
pub trait Id: StaticWire + Put<Self::Value> {
    /// Rust type of ids: a number or a `&'static str`.
    type Value: 'static;

    /// Reads an id and returns its index in `known`.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not an id, and with [`Fault::UNKNOWN_TYPE`] at the offset of the id if it is unknown.
    fn find<I: Input>(known: &[Self::Value], input: &mut I) -> Result<usize, Fault>;
}

impl<H: wire::Header> Id for Str<H> {
    type Value = &'static str;

    /// Compares byte by byte, which needs no allocation and rejects an unknown id at the first byte that differs.
    fn find<I: Input>(known: &[&'static str], input: &mut I) -> Result<usize, Fault> {
        let len = H::length(input)?;
        input.expect(len)?;
        let Some(mut at) = known.iter().position(|id| id.len() == len) else {
            return Err(input.rewind_fault(Fault::UNKNOWN_TYPE, H::width(len as u64)));
        };
        for index in 0..len {
            let [byte] = input.array::<1>()?;
            // All bytes before this one match `known[at]`.
            let read = &known[at].as_bytes()[..index];
            let goes_on = |id: &&str| {
                id.len() == len && id.as_bytes().starts_with(read) && id.as_bytes()[index] == byte
            };
            match known.iter().position(goes_on) {
                Some(found) => at = found,
                None => {
                    let read = H::width(len as u64) + index + 1;
                    return Err(input.rewind_fault(Fault::UNKNOWN_TYPE, read));
                }
            }
        }
        Ok(at)
    }
}
