//! Pointers that own their target.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;

use super::*;

/// Size above which a shared value is copied from a box instead of the stack.
const LARGE: usize = 4096;

impl<'de, T, W: Get<'de, T>> Get<'de, Box<T>> for Pointer<W> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Box<T>, Fault> {
        self.0.get_boxed(reader)
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut Box<T>) -> Result<(), Fault> {
        self.0.get_into(reader, value)
    }
}

/// Decodes a value on the stack and moves it. In a separate function, so that the stack frames of callers are smaller.
#[inline]
fn moved<'de, T, P: From<T>, W: Get<'de, T>>(wire: &W, reader: &mut Reader<'_, 'de>) -> Result<P, Fault> {
    wire.get(reader).map(P::from)
}

macro_rules! shared {
    ($($pointer:ident),*) => {$(
        impl<'de, T, W: Get<'de, T>> Get<'de, $pointer<T>> for Pointer<W> {
            #[inline]
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<$pointer<T>, Fault> {
                if size_of::<T>() > LARGE {
                    self.0.get_boxed(reader).map($pointer::from)
                } else {
                    moved::<T, _, _>(&self.0, reader)
                }
            }
        }
    )*};
}

shared!(Rc, Arc);

/// The value is owned.
impl<'de, 'a, T: Clone, W: Get<'de, T>> Get<'de, Cow<'a, T>> for Pointer<W> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Cow<'a, T>, Fault> {
        self.0.get(reader).map(Cow::Owned)
    }
}
