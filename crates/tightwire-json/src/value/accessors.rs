//! Access to the parts of a tree.

use std::ops;

use super::{Array, JsonString, Map, Number, Value};
use crate::error::{Found, describe};
use crate::pointer;

impl Value {
    /// Returns whether the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns whether the value is `true` or `false`.
    pub fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    /// Returns whether the value is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Returns whether the value is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Returns whether the value is an array.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Returns whether the value is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Returns whether [`as_i64`](Self::as_i64) returns a value.
    pub fn is_i64(&self) -> bool {
        self.as_number().is_some_and(Number::is_i64)
    }

    /// Returns whether [`as_u64`](Self::as_u64) returns a value.
    pub fn is_u64(&self) -> bool {
        self.as_number().is_some_and(Number::is_u64)
    }

    /// Returns whether the value is a float. See [`Number::is_f64`].
    pub fn is_f64(&self) -> bool {
        self.as_number().is_some_and(Number::is_f64)
    }

    /// Returns `()` if the value is `null`.
    pub fn as_null(&self) -> Option<()> {
        self.is_null().then_some(())
    }

    /// Returns a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns a number.
    #[inline]
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns an integer in the range of `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// Returns an integer in the range of `u64`.
    #[inline]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// Returns a number as the nearest `f64`. See [`Number::as_f64`].
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// Returns the text if the value is a string.
    #[inline]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the array if the value is one.
    #[inline]
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// Returns the array for changes if the value is one.
    pub fn as_array_mut(&mut self) -> Option<&mut Array> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// Returns the object if the value is one.
    #[inline]
    pub fn as_object(&self) -> Option<&Map<String, Self>> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the object for changes if the value is one.
    pub fn as_object_mut(&mut self) -> Option<&mut Map<String, Self>> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// Returns an element of an array or the value of a key of an object. `None` if it does not exist, or if the value
    /// is of another type.
    #[inline]
    pub fn get<I: Index>(&self, index: I) -> Option<&Self> {
        index.find_in(self)
    }

    /// Same as [`get`](Self::get), for changes.
    pub fn get_mut<I: Index>(&mut self, index: I) -> Option<&mut Self> {
        index.find_in_mut(self)
    }

    /// Returns the value at a JSON Pointer (RFC 6901), such as `/users/0/name`. The empty pointer is the value itself.
    ///
    /// `~1` in a key means `/`, `~0` means `~`. Indexes have no leading zeros.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_json::json;
    ///
    /// let value = json!({"users": [{"name": "Ada"}]});
    /// assert_eq!(value.pointer("/users/0/name"), Some(&json!("Ada")));
    /// assert_eq!(value.pointer("/users/1"), None);
    /// ```
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        pointer::tokens(pointer)?.try_fold(self, |value, token| match value {
            Self::Object(map) => map.get(&*token),
            Self::Array(array) => array.get(pointer::index(&token)?),
            _ => None,
        })
    }

    /// Same as [`pointer`](Self::pointer), for changes.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        pointer::tokens(pointer)?.try_fold(self, |value, token| match value {
            Self::Object(map) => map.get_mut(&*token),
            Self::Array(array) => array.get_mut(pointer::index(&token)?),
            _ => None,
        })
    }

    /// Replaces the value by `null` and returns it.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Sorts the entries of all objects in the tree by their keys, in byte order.
    pub fn sort_all_objects(&mut self) {
        match self {
            Self::Object(map) => {
                map.sort_keys();
                map.values_mut().for_each(Self::sort_all_objects);
            }
            Self::Array(array) => array.iter_mut().for_each(Self::sort_all_objects),
            _ => {}
        }
    }
}

/// Applies a JSON Merge Patch (RFC 7396): entries of objects are merged, entries that are `null` in the patch are
/// removed, and any other value is replaced.
///
/// # Examples
///
/// ```
/// use tightwire_json::{json, merge_patch};
///
/// let mut user = json!({"name": "Ada", "role": "admin", "tags": [1, 2]});
/// merge_patch(&mut user, json!({"role": null, "tags": [3]}));
/// assert_eq!(user, json!({"name": "Ada", "tags": [3]}));
/// ```
pub fn merge_patch(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    // One pass, because the removal of a single entry takes linear time if the order stays.
    if patch.values().any(Value::is_null) {
        target.retain(|key, _| !patch.get(key).is_some_and(Value::is_null));
    }
    for (key, value) in patch {
        if !value.is_null() {
            merge_patch(target.entry_of(key).or_insert(Value::Null), value);
        }
    }
}

/// Index of a [`Value`]: a `usize` for arrays, or a string for objects.
///
/// This trait is sealed.
pub trait Index: sealed::Sealed {
    #[doc(hidden)]
    fn find_in<'v>(&self, value: &'v Value) -> Option<&'v Value>;

    #[doc(hidden)]
    fn find_in_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value>;

    #[doc(hidden)]
    fn find_or_insert_in<'v>(&self, value: &'v mut Value) -> &'v mut Value;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for usize {}
    impl Sealed for str {}
    impl Sealed for String {}
    impl Sealed for super::JsonString {}
    impl<T: Sealed + ?Sized> Sealed for &T {}
}

impl Index for usize {
    #[inline]
    fn find_in<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_array()?.get(*self)
    }

    fn find_in_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_array_mut()?.get_mut(*self)
    }

    fn find_or_insert_in<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        match value {
            Value::Array(array) => &mut array[*self],
            other => {
                panic!("index into {}, which is not an array", Found::Type(describe(other.unexpected())))
            }
        }
    }
}

impl Index for str {
    #[inline]
    fn find_in<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_object()?.get(self)
    }

    fn find_in_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_object_mut()?.get_mut(self)
    }

    fn find_or_insert_in<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        match value {
            Value::Object(map) => map.entry_of(self.into()).or_insert(Value::Null),
            other => panic!("key of {}, which is not an object", Found::Type(describe(other.unexpected()))),
        }
    }
}

macro_rules! forward {
    ($([$($generics:tt)*] $type:ty: $target:ty;)*) => {
        $(
            impl<$($generics)*> Index for $type {
                #[inline]
                fn find_in<'v>(&self, value: &'v Value) -> Option<&'v Value> {
                    <$target>::find_in(self, value)
                }

                fn find_in_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
                    <$target>::find_in_mut(self, value)
                }

                fn find_or_insert_in<'v>(&self, value: &'v mut Value) -> &'v mut Value {
                    <$target>::find_or_insert_in(self, value)
                }
            }
        )*
    };
}

forward! {
    [] String: str;
    [] JsonString: str;
    [T: Index + ?Sized] &T: T;
}

/// Returns `null` if the element or key does not exist, or if the value is of another type.
impl<I: Index> ops::Index<I> for Value {
    type Output = Self;

    #[inline]
    fn index(&self, index: I) -> &Self {
        index.find_in(self).unwrap_or_default()
    }
}

/// Inserts `null` for a key that does not exist. `null` becomes an object before.
///
/// # Panics
///
/// If an element of an array does not exist, or if the value is of another type.
impl<I: Index> ops::IndexMut<I> for Value {
    fn index_mut(&mut self, index: I) -> &mut Self {
        index.find_or_insert_in(self)
    }
}

impl Default for &Value {
    #[inline]
    fn default() -> Self {
        &Value::Null
    }
}
