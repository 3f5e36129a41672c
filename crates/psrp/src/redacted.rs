//! Hides secrets from `Debug`.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Bytes of which `Debug` shows only the length.
#[derive(Clone, Default)]
pub(crate) struct Redacted<T>(pub(crate) T);

impl<T: AsRef<[u8]>> fmt::Debug for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.as_ref().len())
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Redacted<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Implements `Debug` for a type whose other parts may be secret: `Type |this| name = value, ...` shows these values, and
/// `Type` alone shows none.
macro_rules! impl_debug {
    ($(#[$doc:meta])* $type:ident $(<$lifetime:lifetime>)? $(|$this:ident| $($name:ident = $value:expr),+)?) => {
        $(#[$doc])*
        impl std::fmt::Debug for $type $(<$lifetime>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                impl_debug!(@show self, f, $type $(, $this, $($name = $value),+)?)
            }
        }
    };
    (@show $self:ident, $f:ident, $type:ident) => {
        $f.debug_tuple(stringify!($type)).finish_non_exhaustive()
    };
    (@show $self:ident, $f:ident, $type:ident, $this:ident, $($name:ident = $value:expr),+) => {{
        let $this = $self;
        $f.debug_struct(stringify!($type))$(.field(stringify!($name), &$value))+.finish_non_exhaustive()
    }};
}
