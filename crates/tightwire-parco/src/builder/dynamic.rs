//! Type-erased schemas, so that all schemas of one model have the same type.

use alloc::boxed::Box;
use core::fmt;

use super::{Builder, Fields};
use crate::error::{Fault, Segment};
use crate::options::{Levels, Options};
use crate::read::{Input, Reader};
use crate::schema::{Schema, SchemaContext};
use crate::wire::{Get, Put, Wire};
use crate::write::Writer;

/// A schema of the model `M` whose type does not list the fields.
///
/// Each message costs one virtual call; as the wire type of elements, each element costs one.
pub struct Boxed<M>(Box<dyn DynWire<M>>);

impl<M, L: Fields, K> Builder<M, L, K> {
    /// Erases the field list from the type.
    pub fn boxed(self) -> Boxed<M>
    where
        Self: Put<M> + for<'de> Get<'de, M> + Send + Sync + 'static,
    {
        Boxed(Box::new(self))
    }
}

/// The object-safe part of a wire type for values of type `M`.
trait DynWire<M>: Send + Sync {
    fn min_size(&self) -> usize;
    fn fixed_size(&self) -> Option<usize>;
    fn walk(&self, input: &mut dyn DynInput) -> Result<(), Fault>;
    fn schema(&self, context: &mut SchemaContext) -> Schema;
    fn put(&self, value: &M, writer: &mut Writer<'_>) -> Result<(), Fault>;
    fn size(&self, value: &M, levels: Levels) -> Result<usize, Fault>;
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<M, Fault>;
    fn get_into(&self, reader: &mut Reader<'_, '_>, value: &mut M) -> Result<(), Fault>;
}

impl<M, W> DynWire<M> for W
where
    W: Put<M> + for<'de> Get<'de, M> + Send + Sync,
{
    fn min_size(&self) -> usize {
        Wire::min_size(self)
    }

    fn fixed_size(&self) -> Option<usize> {
        Wire::fixed_size(self)
    }

    fn walk(&self, input: &mut dyn DynInput) -> Result<(), Fault> {
        Wire::walk(self, &mut DynInputRef(input))
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Wire::schema(self, context)
    }

    fn put(&self, value: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        Put::put(self, value, writer)
    }

    fn size(&self, value: &M, levels: Levels) -> Result<usize, Fault> {
        Put::size(self, value, levels)
    }

    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<M, Fault> {
        Get::get(self, reader)
    }

    fn get_into(&self, reader: &mut Reader<'_, '_>, value: &mut M) -> Result<(), Fault> {
        Get::get_into(self, reader, value)
    }
}

impl<M> Wire for Boxed<M> {
    fn min_size(&self) -> usize {
        self.0.min_size()
    }

    fn fixed_size(&self) -> Option<usize> {
        self.0.fixed_size()
    }

    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        self.0.walk(input)
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        self.0.schema(context)
    }
}

impl<M> Put<M> for Boxed<M> {
    fn put(&self, value: &M, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.0.put(value, writer)
    }

    fn size(&self, value: &M, levels: Levels) -> Result<usize, Fault> {
        self.0.size(value, levels)
    }
}

impl<'de, M> Get<'de, M> for Boxed<M> {
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<M, Fault> {
        self.0.get(reader)
    }

    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut M) -> Result<(), Fault> {
        self.0.get_into(reader, value)
    }
}

impl<M> fmt::Debug for Boxed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Boxed").field("model", &core::any::type_name::<M>()).finish_non_exhaustive()
    }
}

/// The object-safe part of [`Input`].
pub(crate) trait DynInput {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault>;
    fn skip(&mut self, count: usize) -> Result<(), Fault>;
    fn expect(&mut self, count: usize) -> Result<(), Fault>;
    fn at_end(&mut self) -> Result<bool, Fault>;
    fn options(&self) -> &Options;
    fn locate(&mut self, fault: Fault, segment: Segment) -> Fault;
    fn rewind_fault(&mut self, fault: Fault, count: usize) -> Fault;
    fn enter(&mut self) -> Result<(), Fault>;
    fn leave(&mut self);
    fn begin_parts(&mut self) -> usize;
    fn record_parts(&mut self, parts: usize);
    fn finish_parts(&mut self);
}

impl<I: Input> DynInput for I {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        // Checked first, so that the fault reports all missing bytes.
        Input::expect(self, bytes.len())?;
        match bytes.len() {
            2 => bytes.copy_from_slice(&self.array::<2>()?),
            4 => bytes.copy_from_slice(&self.array::<4>()?),
            8 => bytes.copy_from_slice(&self.array::<8>()?),
            _ => {
                for byte in bytes {
                    [*byte] = self.array()?;
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, count: usize) -> Result<(), Fault> {
        Input::skip(self, count)
    }

    fn expect(&mut self, count: usize) -> Result<(), Fault> {
        Input::expect(self, count)
    }

    fn at_end(&mut self) -> Result<bool, Fault> {
        Input::at_end(self)
    }

    fn options(&self) -> &Options {
        Input::options(self)
    }

    fn locate(&mut self, fault: Fault, segment: Segment) -> Fault {
        Input::locate(self, fault, segment)
    }

    fn rewind_fault(&mut self, fault: Fault, count: usize) -> Fault {
        Input::rewind_fault(self, fault, count)
    }

    fn enter(&mut self) -> Result<(), Fault> {
        Input::enter(self)
    }

    fn leave(&mut self) {
        Input::leave(self);
    }

    fn begin_parts(&mut self) -> usize {
        Input::begin_parts(self)
    }

    fn record_parts(&mut self, parts: usize) {
        Input::record_parts(self, parts);
    }

    fn finish_parts(&mut self) {
        Input::finish_parts(self);
    }
}

/// Implements [`Input`] for a [`DynInput`].
pub(crate) struct DynInputRef<'a>(pub(crate) &'a mut dyn DynInput);

impl Input for DynInputRef<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        self.0.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn skip(&mut self, count: usize) -> Result<(), Fault> {
        self.0.skip(count)
    }

    fn expect(&mut self, count: usize) -> Result<(), Fault> {
        self.0.expect(count)
    }

    fn at_end(&mut self) -> Result<bool, Fault> {
        self.0.at_end()
    }

    fn options(&self) -> &Options {
        self.0.options()
    }

    fn locate(&mut self, fault: Fault, segment: Segment) -> Fault {
        self.0.locate(fault, segment)
    }

    fn rewind_fault(&mut self, fault: Fault, count: usize) -> Fault {
        self.0.rewind_fault(fault, count)
    }

    fn enter(&mut self) -> Result<(), Fault> {
        self.0.enter()
    }

    fn leave(&mut self) {
        self.0.leave();
    }

    fn begin_parts(&mut self) -> usize {
        self.0.begin_parts()
    }

    fn record_parts(&mut self, parts: usize) {
        self.0.record_parts(parts);
    }

    fn finish_parts(&mut self) {
        self.0.finish_parts();
    }
}
