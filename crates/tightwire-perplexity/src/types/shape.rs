//! Descriptions of the JSON of all types, for the comparison with the official SDK.

use super::arbitrary::Arbitrary;

/// JSON that a type decodes from, merged over lists, maps and options.
#[derive(Default)]
#[cfg_attr(not(feature = "client"), allow(dead_code, reason = "the comparison includes the endpoints"))]
pub(crate) struct Shape {
    pub(crate) objects: Vec<ObjectShape>,
    /// Known values of enums.
    pub(crate) values: Vec<&'static str>,
    /// Whether any string is allowed.
    pub(crate) is_text: bool,
    /// Whether any JSON value is allowed.
    pub(crate) is_untyped: bool,
}

/// Fields of a JSON object, by the Rust type that encodes it.
#[cfg_attr(not(feature = "client"), allow(dead_code, reason = "the comparison includes the endpoints"))]
pub(crate) struct ObjectShape {
    pub(crate) name: &'static str,
    /// Name and value of the tag, as a variant of a union.
    pub(crate) tag: Option<(&'static str, &'static str)>,
    pub(crate) fields: Vec<FieldShape>,
}

/// Name of a field in JSON, and a function that describes it, because types can be recursive.
pub(crate) type FieldShape = (&'static str, fn() -> Shape);

impl Shape {
    pub(crate) fn of<T: Arbitrary>() -> Self {
        let mut shape = Self::default();
        T::describe(&mut shape);
        shape
    }

    pub(crate) fn add_object(&mut self, name: &'static str, fields: Vec<FieldShape>) {
        self.objects.push(ObjectShape { name, tag: None, fields });
    }

    /// Adds a variant of a union.
    pub(crate) fn add_variant<T: Arbitrary>(&mut self, tag: &'static str, value: &'static str) {
        let variants = Self::of::<T>().objects.into_iter();
        self.objects.extend(variants.map(|object| ObjectShape { tag: Some((tag, value)), ..object }));
    }
}
