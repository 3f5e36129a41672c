//! Indexing of trees.

use std::ops;

use super::Value;
use crate::map::Map;

/// Index of an element or key of an entry: `usize`, `str`, `String`, and references to them. No other type can implement
/// it.
pub trait Index: private::Sealed {
    #[doc(hidden)]
    fn index_into<'v>(&self, v: &'v Value) -> Option<&'v Value>;

    #[doc(hidden)]
    fn index_into_mut<'v>(&self, v: &'v mut Value) -> Option<&'v mut Value>;

    /// Panics if there is no such element, or if the value is of another type. Inserts a missing key.
    #[doc(hidden)]
    fn index_or_insert<'v>(&self, v: &'v mut Value) -> &'v mut Value;
}

mod private {
    pub trait Sealed {}

    impl Sealed for usize {}
    impl Sealed for str {}
    impl Sealed for String {}
    impl<T: ?Sized + Sealed> Sealed for &T {}
}

impl Index for usize {
    fn index_into<'v>(&self, v: &'v Value) -> Option<&'v Value> {
        v.as_array()?.get(*self)
    }

    fn index_into_mut<'v>(&self, v: &'v mut Value) -> Option<&'v mut Value> {
        v.as_array_mut()?.get_mut(*self)
    }

    fn index_or_insert<'v>(&self, v: &'v mut Value) -> &'v mut Value {
        let Value::Array(elements) = v else { panic!("cannot access index {self} of JSON {}", type_name(v)) };
        let len = elements.len();
        match elements.get_mut(*self) {
            Some(element) => element,
            None => panic!("cannot access index {self} of JSON array of length {len}"),
        }
    }
}

impl Index for str {
    fn index_into<'v>(&self, v: &'v Value) -> Option<&'v Value> {
        v.as_object()?.get(self)
    }

    fn index_into_mut<'v>(&self, v: &'v mut Value) -> Option<&'v mut Value> {
        v.as_object_mut()?.get_mut(self)
    }

    fn index_or_insert<'v>(&self, v: &'v mut Value) -> &'v mut Value {
        if v.is_null() {
            *v = Value::Object(Map::new());
        }
        let Value::Object(entries) = v else { panic!("cannot access key {self:?} in JSON {}", type_name(v)) };
        entries.entry(self).or_insert(Value::Null)
    }
}

macro_rules! forward {
    ($([$($generics:tt)*] $type:ty, $self:ident => $index:expr;)*) => {
        $(
            impl<$($generics)*> Index for $type {
                fn index_into<'v>(&$self, v: &'v Value) -> Option<&'v Value> {
                    $index.index_into(v)
                }

                fn index_into_mut<'v>(&$self, v: &'v mut Value) -> Option<&'v mut Value> {
                    $index.index_into_mut(v)
                }

                fn index_or_insert<'v>(&$self, v: &'v mut Value) -> &'v mut Value {
                    $index.index_or_insert(v)
                }
            }
        )*
    };
}

forward! {
    [] String, self => self.as_str();
    [T: ?Sized + Index] &T, self => (**self);
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns `null` if there is no such element or entry.
impl<I: Index> ops::Index<I> for Value {
    type Output = Self;

    fn index(&self, index: I) -> &Self {
        static NULL: Value = Value::Null;
        index.index_into(self).unwrap_or(&NULL)
    }
}

/// Inserts `null` for a key that an object does not have. The value `null` becomes an object.
///
/// # Panics
///
/// If an array has no such element, or if the value is of another type.
impl<I: Index> ops::IndexMut<I> for Value {
    fn index_mut(&mut self, index: I) -> &mut Self {
        index.index_or_insert(self)
    }
}
