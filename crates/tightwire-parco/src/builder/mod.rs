//! Schemas built by method calls, as an alternative to the derive macros: for types of other crates, for several
//! schemas of one type, and for registries.
//!
//! [`builder`](crate::builder()) starts a schema that encodes and decodes, [`compiler`] one that only
//! encodes, and [`parser`] one that only decodes.
//!
//! Each call appends a field, in wire order, and returns a schema of a new type. The compiler sees the whole codec as
//! one function, so it is as fast as a derived one. The finished schema is a [`Wire`] type for the model: encode and
//! decode with the methods of [`WireExt`](crate::WireExt), nest it in other schemas, use it for the elements of a
//! collection, or add it to a [`Registry`](crate::Registry).
//!
//! ```
//! use tightwire_parco::wire::{GoInt, Le, Opt, Slice, SmallVarchar, StaticWire, U8};
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
//!     .field(SmallVarchar::NEW, |pet| &pet.name, |pet, name| pet.name = name)
//!     .field(Slice::of(U8, SmallVarchar::NEW), |pet| &pet.toys, |pet, toys| pet.toys = toys)
//!     .field(Opt(GoInt::<Le>::NEW), |pet| &pet.weight, |pet, weight| pet.weight = weight);
//!
//! let pet = Pet { name: "Tom".into(), toys: vec!["ball".into()], weight: None };
//! let bytes = schema.to_vec(&pet)?;
//! assert_eq!(bytes, b"\x03Tom\x01\x04ball\x00");
//! assert_eq!(schema.decode_exact::<Pet>(&bytes)?, pet);
//! # Ok::<(), tightwire_parco::Error>(())
//! ```
//!
//! Each field has a wire type of the module [`wire`](crate::wire), a getter and a setter. The getter of `field` returns a
//! reference, that of `value` a value; the setter receives an owned value. The model cannot borrow from the input, so
//! that a schema can be a static; use the derive macros for models that borrow.

mod field;

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

pub use field::{ByRef, ByValue, Cons, Field, GetFields, Nil, Reserved};

use crate::error::{Fault, Segment};
use crate::options::Levels;
use crate::read::{Input, Reader, level, walk_level};
use crate::schema::{Schema, SchemaContext};
use crate::wire::{Get, OrDefault, Put, Skip, Wire, sized};
use crate::write::Writer;

/// A schema of the model `M` with the fields `L`.
///
/// `K` determines which functions each field needs: [`ReadWrite`], [`WriteOnly`] or [`ReadOnly`].
#[must_use = "a schema does nothing by itself, and each field that is added makes another one"]
pub struct Builder<M, L, K> {
    fields: L,
    counts: Counts,
    kind: K,
    model: PhantomData<fn(&M)>,
}

/// Numbers of fields.
#[derive(Clone, Copy, Default)]
struct Counts {
    all: usize,
    /// Number of fields up to the last one without a default.
    required: usize,
    /// The same among the fields before the last one.
    required_before: usize,
}

/// A schema with one more field, of wire type `W`.
pub type With<M, L, K, W, G, S, F> = Builder<M, Cons<L, Field<W, G, S, F>>, K>;

/// A schema that only encodes.
pub type Compiler<M, L> = Builder<M, L, WriteOnly>;

/// A schema that only decodes.
pub type Parser<M, L, N> = Builder<M, L, ReadOnly<N>>;

/// Fields are added with a getter and a setter. `N` is the function that creates the model to decode into.
#[derive(Clone, Copy, Debug)]
pub struct ReadWrite<N>(N);

/// Fields are added with a getter.
#[derive(Clone, Copy, Debug)]
pub struct WriteOnly;

/// Fields are added with a setter. `N` is the function that creates the model to decode into.
#[derive(Clone, Copy, Debug)]
pub struct ReadOnly<N>(N);

/// The length of the fields precedes them, as a varint; see [`Builder::evolve`].
#[derive(Clone, Copy, Debug)]
pub struct Evolve<K>(K);

/// Kind of a schema: [`ReadWrite`], [`WriteOnly`], [`ReadOnly`], or [`Evolve`] of one of these.
pub trait Kind {
    /// Whether the length of the fields precedes them.
    const EVOLVES: bool = false;
}

impl<N> Kind for ReadWrite<N> {}

impl Kind for WriteOnly {}

impl<N> Kind for ReadOnly<N> {}

impl<K> Kind for Evolve<K> {
    const EVOLVES: bool = true;
}

/// Starts a schema that encodes and decodes, with a getter and a setter per field.
///
/// Decoding starts from `M::default()`; for types without a default, use [`builder_with`].
pub fn builder<M: Default>() -> Builder<M, Nil, ReadWrite<impl Fn() -> M + Copy>> {
    builder_with(M::default)
}

/// Same as [`builder`](builder()), with a function that creates the model to decode into.
pub fn builder_with<M, N: Fn() -> M>(factory: N) -> Builder<M, Nil, ReadWrite<N>> {
    Builder::new(ReadWrite(factory))
}

/// Starts a schema that only encodes, with a getter per field.
pub fn compiler<M>() -> Compiler<M, Nil> {
    Builder::new(WriteOnly)
}

/// Starts a schema that only decodes, with a setter per field.
///
/// Decoding starts from `M::default()`; for types without a default, use [`parser_with`].
pub fn parser<M: Default>() -> Parser<M, Nil, impl Fn() -> M + Copy> {
    parser_with(M::default)
}

/// Same as [`parser`], with a function that creates the model to decode into.
pub fn parser_with<M, N: Fn() -> M>(factory: N) -> Parser<M, Nil, N> {
    Builder::new(ReadOnly(factory))
}

/// Kind of a schema that decodes: creates the model to decode into.
pub trait Factory<M>: Kind {
    /// Creates a model.
    fn make(&self) -> M;
}

macro_rules! factories {
    ($([$($bound:tt)*] $kind:ident<$inner:ident>: |$factory:ident| $model:expr;)*) => {$(
        impl<M, $inner: $($bound)*> Factory<M> for $kind<$inner> {
            #[inline]
            fn make(&self) -> M {
                let $factory = &self.0;
                $model
            }
        }
    )*};
}

factories! {
    [Fn() -> M] ReadWrite<N>: |factory| factory();
    [Fn() -> M] ReadOnly<N>: |factory| factory();
    [Factory<M>] Evolve<K>: |kind| kind.make();
}

impl<M, K> Builder<M, Nil, K> {
    fn new(kind: K) -> Self {
        Self { fields: Nil, counts: Counts::default(), kind, model: PhantomData }
    }
}

impl<M, L, K> Builder<M, L, K> {
    fn then<W, G, S, F>(self, wire: W, getter: G, setter: S) -> With<M, L, K, W, G, S, F> {
        let Counts { all, required, .. } = self.counts;
        let last = Field { wire, getter, setter, kind: PhantomData, name: "", position: all };
        let counts = Counts { all: all + 1, required: all + 1, required_before: required };
        Builder { fields: Cons { before: self.fields, last }, counts, kind: self.kind, model: PhantomData }
    }

    /// Adds `COUNT` reserved bytes: [`Skip`].
    pub fn skip<const COUNT: usize>(self) -> With<M, L, K, Skip<COUNT>, (), (), Reserved> {
        self.then(Skip, (), ())
    }

    /// Puts the length of the fields before them, so that fields can be added at the end later: the attribute `evolve`.
    ///
    /// Readers skip the bytes of fields that they do not know. Fields that older messages do not contain need
    /// [`default_on_eof`](Self::default_on_eof).
    ///
    /// ```
    /// use tightwire_parco::wire::{Slice, U8, U16, Le};
    /// use tightwire_parco::{WireExt, builder};
    ///
    /// let first = builder::<(u8, u16)>().value(U8, |m| m.0, |m, v| m.0 = v);
    /// let second = first.value(U16::<Le>::default(), |m| m.1, |m, v| m.1 = v).default_on_eof().evolve();
    /// let (first, second) = (Slice::of(U8, first.evolve()), Slice::of(U8, second));
    ///
    /// let bytes = second.to_vec(&vec![(1, 2), (3, 4)])?;
    /// assert_eq!(bytes, [2, 3, 1, 2, 0, 3, 3, 4, 0]);
    /// assert_eq!(first.decode_exact::<Vec<(u8, u16)>>(&bytes)?, [(1, 0), (3, 0)]);
    /// assert_eq!(second.decode_exact::<Vec<(u8, u16)>>(&[1, 1, 7])?, [(7, 0)]);
    /// # Ok::<(), tightwire_parco::Error>(())
    /// ```
    pub fn evolve(self) -> Builder<M, L, Evolve<K>> {
        Builder { fields: self.fields, counts: self.counts, kind: Evolve(self.kind), model: PhantomData }
    }
}

#[expect(clippy::type_complexity, reason = "the type of a schema tells all of its fields")]
impl<M, L, N> Builder<M, L, ReadWrite<N>> {
    /// Adds a field with a getter that borrows from the model.
    pub fn field<W, T, V, G, S>(
        self,
        wire: W,
        getter: G,
        setter: S,
    ) -> With<M, L, ReadWrite<N>, W, G, S, ByRef<fn(V)>>
    where
        T: ?Sized,
        G: for<'a> Fn(&'a M) -> &'a T,
        S: Fn(&mut M, V),
        W: Put<T> + for<'de> Get<'de, V>,
    {
        self.then(wire, getter, setter)
    }

    /// Adds a field with a getter that returns a value.
    pub fn value<W, T, V, G, S>(
        self,
        wire: W,
        getter: G,
        setter: S,
    ) -> With<M, L, ReadWrite<N>, W, G, S, ByValue<fn(V)>>
    where
        G: Fn(&M) -> T,
        S: Fn(&mut M, V),
        W: Put<T> + for<'de> Get<'de, V>,
    {
        self.then(wire, getter, setter)
    }
}

impl<M, L> Builder<M, L, WriteOnly> {
    /// Adds a field with a getter that borrows from the model.
    pub fn field<W, T, G>(self, wire: W, getter: G) -> With<M, L, WriteOnly, W, G, (), ByRef<()>>
    where
        T: ?Sized,
        G: for<'a> Fn(&'a M) -> &'a T,
        W: Put<T>,
    {
        self.then(wire, getter, ())
    }

    /// Adds a field with a getter that returns a value.
    pub fn value<W, T, G>(self, wire: W, getter: G) -> With<M, L, WriteOnly, W, G, (), ByValue<()>>
    where
        G: Fn(&M) -> T,
        W: Put<T>,
    {
        self.then(wire, getter, ())
    }
}

#[expect(clippy::type_complexity, reason = "the type of a schema tells all of its fields")]
impl<M, L, N> Builder<M, L, ReadOnly<N>> {
    /// Adds a field.
    pub fn field<W, V, S>(self, wire: W, setter: S) -> With<M, L, ReadOnly<N>, W, (), S, ByValue<fn(V)>>
    where
        S: Fn(&mut M, V),
        W: for<'de> Get<'de, V>,
    {
        self.then(wire, (), setter)
    }
}

impl<M, L, W, G, S, F, K> With<M, L, K, W, G, S, F> {
    /// Names the last field, for error paths and for the schema.
    ///
    /// The default name of a field is its position, starting at zero.
    ///
    /// ```
    /// use tightwire_parco::wire::{Bool, U8};
    /// use tightwire_parco::{WireExt, parser};
    ///
    /// let schema = parser::<(u8, bool)>().field(U8, |m, v| m.0 = v).field(Bool, |m, v| m.1 = v).named("open");
    /// let error = schema.decode::<(u8, bool)>(&[1, 9]).unwrap_err();
    /// assert_eq!(error.to_string(), "a flag is neither 0 nor 1 at .open (byte 1)");
    /// ```
    pub fn named(mut self, name: &'static str) -> Self {
        self.fields.last.name = name;
        self
    }

    /// Decodes the last field as the default of its type if the message, or the enclosing evolve struct, ends before the
    /// field: the attribute `default_on_eof`. All fields after it need it as well.
    pub fn default_on_eof(self) -> With<M, L, K, OrDefault<W>, G, S, F> {
        let Cons { before, last: Field { wire, getter, setter, kind, name, position } } = self.fields;
        let last = Field { wire: OrDefault(wire), getter, setter, kind, name, position };
        let counts = Counts { required: self.counts.required_before, ..self.counts };
        Builder { fields: Cons { before, last }, counts, kind: self.kind, model: PhantomData }
    }
}

impl<M, L: Wire, K: Kind> Wire for Builder<M, L, K> {
    #[inline]
    fn min_size(&self) -> usize {
        usize::from(K::EVOLVES) + self.fields.min_size()
    }

    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        if K::EVOLVES { None } else { self.fields.fixed_size() }
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        walk_level(input, |input| {
            let walk = |input: &mut I| self.fields.walk(input);
            if K::EVOLVES { input.walk_sized(walk) } else { walk(input) }
        })
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        // The type of a schema contains the types of nested schemas, so a nested schema never has the same name.
        let name = core::any::type_name::<Self>();
        let schema = context.enclosed(name, |context| match self.fields.schema(context) {
            Schema::Struct(fields) if K::EVOLVES => Schema::Evolve { required: self.counts.required, fields },
            schema => schema,
        });
        schema.named::<M>()
    }
}

impl<M, L: Put<M>, K: Kind> Put<M> for Builder<M, L, K> {
    #[inline]
    fn put(&self, model: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.level(|writer| {
            if K::EVOLVES {
                return writer.put_sized(|writer| self.fields.put(model, writer));
            }
            writer.reserve(self.fields.min_size());
            self.fields.put(model, writer)
        })
    }

    #[inline]
    fn size(&self, model: &M, levels: Levels) -> Result<usize, Fault> {
        let size = self.fields.size(model, levels.deeper()?)?;
        Ok(if K::EVOLVES { sized(size) } else { size })
    }
}

impl<'de, M, L: GetFields<'de, M>, K: Factory<M>> Get<'de, M> for Builder<M, L, K> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<M, Fault> {
        let mut model = self.kind.make();
        self.get_into(reader, &mut model)?;
        Ok(model)
    }

    /// Runs the setters on the existing model. Data that they do not touch is unchanged.
    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault> {
        level(reader, |reader| {
            let mut get = |reader: &mut Reader<'_, 'de>| self.fields.get_fields(reader, model);
            if K::EVOLVES { reader.get_sized(get) } else { get(reader) }
        })
    }

    /// Decodes each model in place, which avoids moving it.
    #[inline]
    fn get_all(&self, count: usize, reader: &mut Reader<'_, 'de>, models: &mut Vec<M>) -> Result<(), Fault> {
        let start = models.len();
        if !K::EVOLVES {
            // Evolve structs can have one byte each, so a forged count could reserve much more memory than the input has.
            models.reserve(count);
        }
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
        Self { fields: self.fields.clone(), counts: self.counts, kind: self.kind.clone(), model: PhantomData }
    }
}

impl<M, L: Copy, K: Copy> Copy for Builder<M, L, K> {}

impl<M, L, K> fmt::Debug for Builder<M, L, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("model", &core::any::type_name::<M>())
            .field("fields", &self.counts.all)
            .finish_non_exhaustive()
    }
}
