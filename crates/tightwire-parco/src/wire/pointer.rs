//! Values behind pointers. The pointer is not encoded.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use core::ops::Deref;

use super::{Get, Put, StaticWire, Wire};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Schema, SchemaContext};
use crate::write::Writer;

/// Wire type `W` for the target of a `Box`, `Rc`, `Arc` or reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pointer<W>(pub W);

same_wire!([W: Wire] Pointer<W>);

impl<W: StaticWire> StaticWire for Pointer<W> {
    const NEW: Self = Self(W::NEW);
}

impl<P: Deref, W: Put<P::Target>> Put<P> for Pointer<W> {
    #[inline]
    fn put(&self, value: &P, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.0.put(value, writer)
    }

    #[inline]
    fn size(&self, value: &P, levels: Levels) -> Result<usize, Fault> {
        self.0.size(value, levels)
    }
}

impl<'de, T, W: Get<'de, T>> Get<'de, Box<T>> for Pointer<W> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Box<T>, Fault> {
        self.0.get(reader).map(Box::new)
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut Box<T>) -> Result<(), Fault> {
        self.0.get_into(reader, value)
    }
}

impl<'de, T, W: Get<'de, T>> Get<'de, Rc<T>> for Pointer<W> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Rc<T>, Fault> {
        self.0.get(reader).map(Rc::new)
    }
}

impl<'de, T, W: Get<'de, T>> Get<'de, Arc<T>> for Pointer<W> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Arc<T>, Fault> {
        self.0.get(reader).map(Arc::new)
    }
}
