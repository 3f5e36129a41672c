//! Pointers that own their target.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;

use super::{Get, Pointer};
use crate::error::Fault;
use crate::read::Reader;

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

/// The value is owned.
impl<'de, 'a, T: Clone, W: Get<'de, T>> Get<'de, Cow<'a, T>> for Pointer<W> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Cow<'a, T>, Fault> {
        self.0.get(reader).map(Cow::Owned)
    }
}
