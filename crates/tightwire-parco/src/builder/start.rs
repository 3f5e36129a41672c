//! Functions that start a schema.

use core::marker::PhantomData;

use super::{Builder, Compiler, Defaults, Nil, Parser, ReadOnly, ReadWrite, WriteOnly};

/// Starts a schema that encodes and decodes, with a getter and a setter per field.
///
/// Decoding starts from `M::default()`; for types without a default, use [`builder_with`].
pub fn builder<M: Default>() -> Builder<M, Nil, ReadWrite<Defaults>> {
    builder_with(Defaults)
}

/// As [`builder`], with a function that creates the model to decode into.
pub fn builder_with<M, N: super::Factory<M>>(factory: N) -> Builder<M, Nil, ReadWrite<N>> {
    Builder { fields: Nil, kind: ReadWrite(factory), model: PhantomData }
}

/// Starts a schema that only encodes, with a getter per field.
pub fn compiler<M>() -> Compiler<M, Nil> {
    Builder { fields: Nil, kind: WriteOnly, model: PhantomData }
}

/// Starts a schema that only decodes, with a setter per field.
///
/// Decoding starts from `M::default()`; for types without a default, use [`parser_with`].
pub fn parser<M: Default>() -> Parser<M, Nil, Defaults> {
    parser_with(Defaults)
}

/// As [`parser`], with a function that creates the model to decode into.
pub fn parser_with<M, N: super::Factory<M>>(factory: N) -> Parser<M, Nil, N> {
    Builder { fields: Nil, kind: ReadOnly(factory), model: PhantomData }
}
