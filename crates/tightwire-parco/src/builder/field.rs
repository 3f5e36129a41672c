//! Fields of a schema. Each added field makes a new type around the previous ones, so that encoding and decoding all of
//! them compiles to straight-line code.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use crate::error::{Fault, Segment};
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Schema, SchemaContext};
use crate::wire::{Get, Put, Wire, both, put_as, same_wire};
use crate::write::Writer;

/// A field: its wire type, its getter and its setter, each `()` if there is none.
///
/// `K` is one of [`ByRef`], [`ByValue`] and [`Reserved`].
#[derive(Clone, Copy)]
pub struct Field<W, G, S, K> {
    pub(super) wire: W,
    pub(super) getter: G,
    pub(super) setter: S,
    pub(super) kind: PhantomData<K>,
    /// Empty if the field is named by its position.
    pub(super) name: &'static str,
    pub(super) position: usize,
}

/// Kind of a field whose getter borrows from the model. `V` is a function that takes the argument of the setter.
#[derive(Clone, Copy, Debug)]
pub struct ByRef<V>(PhantomData<V>);

/// Kind of a field whose getter returns a value. `V` is a function that takes the argument of the setter.
#[derive(Clone, Copy, Debug)]
pub struct ByValue<V>(PhantomData<V>);

/// Kind of a field of reserved bytes, which the model does not contain.
#[derive(Clone, Copy, Debug)]
pub struct Reserved;

/// No fields.
#[derive(Clone, Copy, Debug)]
pub struct Nil;

/// The fields of `L`, then the field `F`.
#[derive(Clone, Copy, Debug)]
pub struct Cons<L, F> {
    pub(super) before: L,
    pub(super) last: F,
}

/// Fields that can be decoded into a model `M`.
pub trait GetFields<'de, M>: Wire {
    /// Decodes the fields.
    ///
    /// # Errors
    ///
    /// Returns the fault of the first field that cannot be decoded.
    fn get_fields(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault>;
}

impl<W, G, S, K> Field<W, G, S, K> {
    /// Returns the path segment of this field: its name, or else its position.
    #[cold]
    fn segment(&self) -> Segment {
        match self.name {
            "" => Segment::Name(self.position.to_string()),
            name => Segment::Field(name),
        }
    }
}

put_as! {
    [M, W: Put<T>, G: Fn(&M) -> T, S, T, V] M, Field<W, G, S, ByValue<V>>: |field, model|
        &(field.getter)(model), field.wire;
    [M, W: Put<T>, G: for<'a> Fn(&'a M) -> &'a T, S, T: ?Sized, V] M, Field<W, G, S, ByRef<V>>: |field, model|
        (field.getter)(model), field.wire;
    [M, W: Put<()>] M, Field<W, (), (), Reserved>: |field, _| &(), field.wire;
}

macro_rules! setters {
    ($($kind:ident),*) => {$(
        impl<'de, M, W, G, S, V> GetFields<'de, M> for Field<W, G, S, $kind<fn(V)>>
        where
            W: Get<'de, V>,
            S: Fn(&mut M, V),
        {
            #[inline(always)]
            fn get_fields(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault> {
                let value = self.wire.get(reader)?;
                (self.setter)(model, value);
                Ok(())
            }
        }
    )*};
}

setters!(ByRef, ByValue);

impl<'de, M, W: Get<'de, ()>> GetFields<'de, M> for Field<W, (), (), Reserved> {
    #[inline(always)]
    fn get_fields(&self, reader: &mut Reader<'_, 'de>, _: &mut M) -> Result<(), Fault> {
        self.wire.get(reader)
    }
}

same_wire! { [W: Wire, G, S, K] Field<W, G, S, K>: |field| field.wire }

impl<W, G, S, K> fmt::Debug for Field<W, G, S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Wire for Nil {
    #[inline(always)]
    fn fixed_size(&self) -> Option<usize> {
        Some(0)
    }

    #[inline(always)]
    fn walk<I: Input>(&self, _: &mut I) -> Result<(), Fault> {
        Ok(())
    }

    fn schema(&self, _: &mut SchemaContext) -> Schema {
        Schema::Struct(Vec::new())
    }
}

impl<M> Put<M> for Nil {
    #[inline(always)]
    fn put(&self, _: &M, _: &mut Writer<'_>) -> Result<(), Fault> {
        Ok(())
    }

    #[inline(always)]
    fn size(&self, _: &M, _: Levels) -> Result<usize, Fault> {
        Ok(0)
    }
}

impl<M> GetFields<'_, M> for Nil {
    #[inline(always)]
    fn get_fields(&self, _: &mut Reader<'_, '_>, _: &mut M) -> Result<(), Fault> {
        Ok(())
    }
}

impl<L: Wire, W: Wire, G, S, K> Wire for Cons<L, Field<W, G, S, K>> {
    #[inline(always)]
    fn min_size(&self) -> usize {
        self.before.min_size() + self.last.min_size()
    }

    #[inline(always)]
    fn fixed_size(&self) -> Option<usize> {
        both(self.before.fixed_size(), self.last.fixed_size())
    }

    #[inline(always)]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        let last = self.last.min_size();
        input.announce(last);
        self.before.walk(input)?;
        input.start(last);
        self.last.walk(input).map_err(|fault| input.locate(fault, self.last.segment()))
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        let Schema::Struct(mut fields) = self.before.schema(context) else {
            unreachable!("a list of fields")
        };
        let name = match self.last.name {
            "" => self.last.position.to_string(),
            name => name.into(),
        };
        fields.push((name, self.last.schema(context)));
        Schema::Struct(fields)
    }
}

impl<M, L: Put<M>, W: Wire, G, S, K> Put<M> for Cons<L, Field<W, G, S, K>>
where
    Field<W, G, S, K>: Put<M>,
{
    #[inline(always)]
    fn put(&self, model: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.before.put(model, writer)?;
        self.last.put(model, writer).map_err(|fault| writer.locate(fault, self.last.segment()))
    }

    #[inline(always)]
    fn size(&self, model: &M, levels: Levels) -> Result<usize, Fault> {
        Ok(self.before.size(model, levels)? + self.last.size(model, levels)?)
    }
}

impl<'de, M, L: GetFields<'de, M>, W: Wire, G, S, K> GetFields<'de, M> for Cons<L, Field<W, G, S, K>>
where
    Field<W, G, S, K>: GetFields<'de, M>,
{
    #[inline(always)]
    fn get_fields(&self, reader: &mut Reader<'_, 'de>, model: &mut M) -> Result<(), Fault> {
        self.before.get_fields(reader, model)?;
        self.last.get_fields(reader, model).map_err(|fault| reader.locate(fault, self.last.segment()))
    }
}
