//! Values inside of cells, locks and other wrappers of the standard library.

use core::cell::{Cell, RefCell};
use core::cmp::Reverse;

use super::{Get, Put, StaticWire, Wire};
use crate::error::Fault;
use crate::options::Levels;
use crate::read::{Input, Reader};
#[cfg(feature = "alloc")]
use crate::schema::{Schema, SchemaContext};
use crate::write::Writer;

/// Wire type `W` for the value in a cell, a lock or a `Reverse`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrapped<W>(pub W);

same_wire!([W: Wire] Wrapped<W>: |wrapped| wrapped.0);

impl<W: StaticWire> StaticWire for Wrapped<W> {
    const NEW: Self = Self(W::NEW);
}

/// Implements the traits for wrappers: how the value is borrowed, and how a wrapper is made.
macro_rules! wrapped {
    ($([$($bound:ident)?] $type:ty: |$wrapper:ident| $borrow:expr, $new:expr;)*) => {$(
        impl<T $(: $bound)?, W: Put<T>> Put<$type> for Wrapped<W> {
            #[inline]
            fn put(&self, $wrapper: &$type, writer: &mut Writer<'_>) -> Result<(), Fault> {
                self.0.put(&$borrow, writer)
            }

            #[inline]
            fn size(&self, $wrapper: &$type, levels: Levels) -> Result<usize, Fault> {
                self.0.size(&$borrow, levels)
            }
        }

        impl<'de, T, W: Get<'de, T>> Get<'de, $type> for Wrapped<W> {
            #[inline]
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<$type, Fault> {
                self.0.get(reader).map($new)
            }
        }
    )*};
}

wrapped! {
    [] Reverse<T>: |value| value.0, Reverse;
    [Copy] Cell<T>: |value| value.get(), Cell::new;
    [] RefCell<T>: |value| *value.try_borrow().map_err(|_| Fault::INVALID_VALUE)?, RefCell::new;
}

// A poisoned lock still has a value.
#[cfg(feature = "std")]
wrapped! {
    [] std::sync::Mutex<T>: |lock| *lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner), std::sync::Mutex::new;
    [] std::sync::RwLock<T>: |lock| *lock.read().unwrap_or_else(std::sync::PoisonError::into_inner), std::sync::RwLock::new;
}
