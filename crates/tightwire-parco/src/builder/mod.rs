//! Schemas made by calls, as an alternative to the derive macros: for models of other crates, for several schemas of
//! one model, and for registries.
//!
//! [`builder`](crate::builder()) starts a schema for both directions, [`compiler`](crate::compiler) one that writes,
//! [`parser`](crate::parser) one that reads.
//!
//! Each call appends a field, in the order of the wire, and gives a schema of a new type. So the whole codec is one
//! function to the compiler, as fast as a derived one, and the finished schema is a [`Wire`] form that carries the
//! model. [`WireExt`](crate::WireExt) has the methods that encode and decode with it; it can be an element, a nested
//! field or a model of a [`Registry`](crate::Registry).
//!
//! ```
//! use tightwire_parco::wire::{GoInt, Le, SmallVarchar, StaticWire, U8};
//! use tightwire_parco::{WireExt, builder};
//!
//! #[derive(Debug, Default, PartialEq)]
//! struct Pet {
//!     name: String,
//!     toys: Vec<String>,
//!     weight: Option<i64>,
//! }
//!
//! let schema = builder::<Pet>()
//!     .small_varchar(|pet| &pet.name, |pet, name| pet.name = name.into())
//!     .slice(U8, SmallVarchar::NEW, |pet| &pet.toys, |pet, toys| pet.toys = toys)
//!     .option(GoInt::<Le>::NEW, |pet| &pet.weight, |pet, weight| pet.weight = weight);
//!
//! let pet = Pet { name: "Tom".into(), toys: vec!["ball".into()], weight: None };
//! let bytes = schema.to_vec(&pet)?;
//! assert_eq!(bytes, b"\x03Tom\x01\x04ball\x00");
//! assert_eq!(schema.decode_exact::<Pet>(&bytes)?, pet);
//! # Ok::<(), tightwire_parco::Error>(())
//! ```
//!
//! Getters give numbers, flags and times by value and everything else by reference. Setters get what was decoded, text
//! and bytes borrowed from the input. The model itself borrows nothing, so that a schema can be a static; models that
//! borrow are for the derive macros.

pub(crate) mod boxed;
mod collections;
mod field;
mod list;
mod scalars;
pub(crate) mod start;
mod texts;

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

pub use boxed::Boxed;
pub use field::{ByRef, ByValue, Bytes, Field, GetField, Owned, PutField, Reserved, Text};
pub use list::{End, Fields, GetFields, PutFields, Then};

use crate::error::{Fault, Segment};
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Describe, Schema};
use crate::wire::{Get, Put, Wire};
use crate::write::Writer;

/// A schema of the model `M` with the fields `L`.
///
/// `K` says what each field is added with: [`Both`], [`Getters`] or [`Setters`].
#[must_use = "a schema does nothing by itself, and each field that is added makes another one"]
pub struct Builder<M, L, K> {
    fields: L,
    kind: K,
    model: PhantomData<fn(&M)>,
}

/// A schema with one more field, of form `W`.
pub type With<M, L, K, W, G, S> = Builder<M, Then<L, Field<W, G, S>>, K>;

/// A schema that only writes.
pub type Compiler<M, L> = Builder<M, L, Getters>;

/// A schema that only reads.
pub type Parser<M, L, N> = Builder<M, L, Setters<N>>;

/// Fields are added with a getter and a setter. `N` is the [`Factory`].
#[derive(Clone, Copy, Debug)]
pub struct Both<N>(N);

/// Fields are added with a getter.
#[derive(Clone, Copy, Debug)]
pub struct Getters;

/// Fields are added with a setter. `N` is the [`Factory`].
#[derive(Clone, Copy, Debug)]
pub struct Setters<N>(N);

/// Makes the model that is read into. Functions without arguments are factories.
pub trait Factory<M> {
    /// A new model.
    fn make(&self) -> M;
}

/// Makes models by their default.
#[derive(Clone, Copy, Debug)]
pub struct Defaults;

impl<M: Default> Factory<M> for Defaults {
    #[inline]
    fn make(&self) -> M {
        M::default()
    }
}

impl<M, N: Fn() -> M> Factory<M> for N {
    #[inline]
    fn make(&self) -> M {
        self()
    }
}

impl<M, N: Factory<M>> Factory<M> for Both<N> {
    #[inline]
    fn make(&self) -> M {
        self.0.make()
    }
}

impl<M, N: Factory<M>> Factory<M> for Setters<N> {
    #[inline]
    fn make(&self) -> M {
        self.0.make()
    }
}

impl<M, L, K> Builder<M, L, K> {
    fn then<W, G, S>(self, form: W, getter: G, setter: S) -> With<M, L, K, W, G, S> {
        let last = Field { form, getter, setter, name: "" };
        Builder { fields: Then { before: self.fields, last }, kind: self.kind, model: PhantomData }
    }
}

impl<M, L, W, G, S, K> With<M, L, K, W, G, S> {
    /// Gives the last field a name for the paths of errors and for the schema.
    ///
    /// Without one a field goes by its position, from zero.
    ///
    /// ```
    /// use tightwire_parco::{WireExt, parser};
    ///
    /// let schema = parser::<(u8, bool)>().uint8(|m, v| m.0 = v).bool(|m, v| m.1 = v).named("open");
    /// let error = schema.decode::<(u8, bool)>(&[1, 9]).unwrap_err();
    /// assert_eq!(error.to_string(), "a flag is neither 0 nor 1 at .open (byte 1)");
    /// ```
    pub fn named(mut self, name: &'static str) -> Self {
        self.fields.last.name = name;
        self
    }
}

impl<M, L: Fields, K> Wire for Builder<M, L, K> {
    #[inline]
    fn min_size(&self) -> usize {
        self.fields.min_size()
    }

    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        self.fields.fixed_size()
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        input.walk_parts(1, |input, _| {
            input.enter()?;
            self.fields.walk(input)?;
            input.leave();
            Ok(())
        })
    }

    fn schema(&self, describe: &mut Describe) -> Schema {
        // The type of a schema contains those of the nested ones, so no two that are nested have the same name.
        describe.structure(core::any::type_name::<Self>(), |describe| {
            let mut fields = Vec::new();
            self.fields.schema(describe, &mut fields);
            fields
        })
    }
}

impl<M, L: PutFields<M>, K> Put<M> for Builder<M, L, K> {
    #[inline]
    fn put(&self, model: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.enter()?;
        writer.reserve(self.fields.min_size());
        self.fields.put_fields(model, writer)?;
        writer.leave();
        Ok(())
    }

    #[inline]
    fn size(&self, model: &M, levels: Levels) -> Result<usize, Fault> {
        self.fields.size_of_fields(model, levels.deeper()?)
    }
}

impl<'de, M, L: GetFields<'de, M>, K: Factory<M>> Get<'de, M> for Builder<M, L, K> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<M, Fault> {
        let mut model = self.kind.make();
        self.get_into(reader, &mut model)?;
        Ok(model)
    }

    /// Runs the setters on the older model, which keeps what they do not touch.
    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault> {
        reader.enter()?;
        self.fields.get_fields(reader, model)?;
        reader.leave();
        Ok(())
    }

    /// Reads each model where it stays, which saves moving it there.
    #[inline]
    fn get_all(&self, count: usize, reader: &mut Reader<'_, 'de>, models: &mut Vec<M>) -> Result<(), Fault> {
        let start = models.len();
        models.reserve(count);
        for index in 0..count {
            models.push(self.kind.make());
            if let Err(fault) = self.get_into(reader, &mut models[start + index]) {
                return Err(reader.locate(fault, Segment::Index(index)));
            }
        }
        Ok(())
    }
}

impl<M, L: Clone, K: Clone> Clone for Builder<M, L, K> {
    fn clone(&self) -> Self {
        Self { fields: self.fields.clone(), kind: self.kind.clone(), model: PhantomData }
    }
}

impl<M, L: Copy, K: Copy> Copy for Builder<M, L, K> {}

impl<M, L: Fields, K> fmt::Debug for Builder<M, L, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("model", &core::any::type_name::<M>())
            .field("fields", &L::LEN)
            .finish_non_exhaustive()
    }
}
