//! The functions that start a schema.

use core::marker::PhantomData;

use super::{Both, Builder, Compiler, Defaults, End, Getters, Parser, Setters};

/// Starts a schema that writes models and reads them, with a getter and a setter for each field.
///
/// A model that is read starts as its default. Where there is none, [`builder_with`] takes a factory.
pub fn builder<M: Default>() -> Builder<M, End, Both<Defaults>> {
    builder_with(Defaults)
}

/// As [`builder`], with a function that makes the model that is read into.
pub fn builder_with<M, N: super::Factory<M>>(factory: N) -> Builder<M, End, Both<N>> {
    Builder { fields: End, kind: Both(factory), model: PhantomData }
}

/// Starts a schema that writes models, with a getter for each field.
pub fn compiler<M>() -> Compiler<M, End> {
    Builder { fields: End, kind: Getters, model: PhantomData }
}

/// Starts a schema that reads models, with a setter for each field.
///
/// A model that is read starts as its default. Where there is none, [`parser_with`] takes a factory.
pub fn parser<M: Default>() -> Parser<M, End, Defaults> {
    parser_with(Defaults)
}

/// As [`parser`], with a function that makes the model that is read into.
pub fn parser_with<M, N: super::Factory<M>>(factory: N) -> Parser<M, End, N> {
    Builder { fields: End, kind: Setters(factory), model: PhantomData }
}
