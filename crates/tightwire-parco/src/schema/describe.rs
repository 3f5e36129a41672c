//! Schemas of Rust types and wire types.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::Schema;
use crate::default_wire::{DecodeAs, Encode};
use crate::wire::{StaticWire, Wire};

/// Returns the schema of a type that can be encoded.
///
/// ```
/// use tightwire_parco::schema::{self, Schema};
///
/// assert_eq!(schema::of::<Option<bool>>(), Schema::Option(Box::new(Schema::Bool)));
/// ```
pub fn of<T: Encode + ?Sized>() -> Schema {
    of_wire(&T::Wire::NEW)
}

/// Returns the schema of a type for decoding. It differs from [`of`] only if the two wire types differ.
pub fn of_decoded<'de, T: DecodeAs<'de>>() -> Schema {
    of_wire(&T::Wire::NEW)
}

/// Returns the schema of a wire type.
pub fn of_wire(wire: &impl Wire) -> Schema {
    wire.schema(&mut SchemaContext::default())
}

/// Context of [`Wire::schema`]: the types that are currently described, to detect recursion.
#[derive(Debug, Default)]
pub struct SchemaContext {
    open: Vec<&'static str>,
}

impl SchemaContext {
    /// Describes a struct by its type name and fields, or returns a reference if the type is already being described.
    pub fn structure(
        &mut self,
        name: &'static str,
        fields: impl FnOnce(&mut Self) -> Vec<(String, Schema)>,
    ) -> Schema {
        self.enclosed(name, |context| Schema::Struct(fields(context)))
    }

    /// Describes an enum or registry by its type name, the wire type of the ids, and the models.
    pub fn multi(
        &mut self,
        name: &'static str,
        header: Schema,
        models: impl FnOnce(&mut Self) -> Vec<(String, Schema)>,
    ) -> Schema {
        self.enclosed(name, |context| Schema::Multi { header: Box::new(header), models: models(context) })
    }

    /// Describes a struct without a type, such as the fields of an enum variant. It counts as a nesting level.
    pub fn inline(&mut self, fields: impl FnOnce(&mut Self) -> Vec<(String, Schema)>) -> Schema {
        // No type has an empty name, so this level is never the target of a reference.
        self.open.push("");
        let fields = fields(self);
        self.open.pop();
        Schema::Struct(fields)
    }

    fn enclosed(&mut self, name: &'static str, inside: impl FnOnce(&mut Self) -> Schema) -> Schema {
        if let Some(at) = self.open.iter().rposition(|open| *open == name) {
            return Schema::Recursive(self.open.len() - at);
        }
        self.open.push(name);
        let schema = inside(self);
        self.open.pop();
        schema
    }
}
