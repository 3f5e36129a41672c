//! Functions that start a schema.

use core::marker::PhantomData;

use super::{Both, Builder, Compiler, Defaults, End, Getters, Parser, Setters};

/// Starts a schema that encodes and decodes, with a getter and a setter per field.
///
/// Decoding starts from `M::default()`; for types without a default, use [`builder_with`].
pub fn builder<M: Default>() -> Builder<M, End, Both<Defaults>> {
    builder_with(Defaults)
}

/// As [`builder`], with a function that creates the model to decode into.
pub fn builder_with<M, N: super::Factory<M>>(factory: N) -> Builder<M, End, Both<N>> {
    Builder { fields: End, kind: Both(factory), model: PhantomData }
}

/// Starts a schema that only encodes, with a getter per field.
pub fn compiler<M>() -> Compiler<M, End> {
    Builder { fields: End, kind: Getters, model: PhantomData }
}

/// Starts a schema that only decodes, with a setter per field.
///
/// Decoding starts from `M::default()`; for types without a default, use [`parser_with`].
pub fn parser<M: Default>() -> Parser<M, End, Defaults> {
    parser_with(Defaults)
}

/// As [`parser`], with a function that creates the model to decode into.
pub fn parser_with<M, N: super::Factory<M>>(factory: N) -> Parser<M, End, N> {
    Builder { fields: End, kind: Setters(factory), model: PhantomData }
}
