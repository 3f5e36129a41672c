//! Schemas and values as JSON.
//!
//! The format is that of the vector file of the tests, for exchange with tools and other implementations. In addition
//! to the types of that file there are `{"t": "varint"}`, `{"t": "evolve", "required": COUNT, "fields": FIELDS}` with the
//! fields of a struct, and `{"t": "recursive", "n": LEVELS}` for a struct that contains itself. Each type can have the name of
//! its logical type in the key `logical`, a struct, evolve struct or multi the name of its type in the key `name`, and a
//! `multi` the names of its models by their ids in the key `names`. `SPEC.md` of the package describes all of it.

mod schema;
mod tree;
mod value;

use alloc::string::String;

use super::{Dynamic, Schema, SchemaError, Value};
use tree::Tree;

impl Schema {
    /// Parses a schema from JSON and validates it like [`compile`](Self::compile).
    ///
    /// Unknown and duplicate keys are rejected.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, or not a valid schema.
    ///
    /// ```
    /// use tightwire_parco::schema::Schema;
    ///
    /// let text = r#"{"t":"struct","fields":[["Tags",{"t":"slice","header":{"t":"int8_header"},"elem":{"t":"bool"}}]]}"#;
    /// let schema = Schema::from_json(text)?;
    /// assert_eq!(schema.to_json(), text);
    ///
    /// let error = Schema::from_json(&text.replace("int8_header", "float32")).unwrap_err();
    /// assert_eq!(error.to_string(), "a key is missing at .Tags[header].order");
    /// # Ok::<(), tightwire_parco::schema::SchemaError>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        let schema = schema::read(Tree::parse(text)?)?;
        schema.compile()?;
        Ok(schema)
    }

    /// Returns the schema as JSON in one line.
    pub fn to_json(&self) -> String {
        schema::write(self).print()
    }
}

impl Dynamic {
    /// Parses a value from JSON.
    ///
    /// | Type | JSON |
    /// |---|---|
    /// | bool | `true`, `false` |
    /// | integers, headers, time in UTC | a number, or its digits as a string |
    /// | floats | `{"bits": "0x.."}`; the key `text` is informational |
    /// | string, blob | a string, or `{"hex": ".."}`; for a blob also `null` |
    /// | slice, array | a list, or `null` |
    /// | map | a list of pairs, or `null` |
    /// | option | `null`, `{"some": ..}` |
    /// | struct | an object with all fields |
    /// | evolve struct | an object with all fields, or without some of the last, optional ones |
    /// | skip | `null` |
    /// | time with a zone | `{"unix_nanos": .., "zone": ".."}` |
    /// | multi | a pair of id and value |
    ///
    /// Lists whose length differs from that of the array, and numbers out of range, are parsed but cannot be encoded.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON or does not match the schema.
    ///
    /// ```
    /// use tightwire_parco::WireExt;
    ///
    /// let wire = tightwire_parco::schema::of::<Vec<u16>>().compile()?;
    /// let value = wire.value_from_json("[1, 513]")?;
    /// assert_eq!(wire.to_vec(&value)?, [2, 1, 0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value_from_json(&self, text: &str) -> Result<Value, SchemaError> {
        self.read_node(0, Tree::parse(text)?)
    }

    /// Returns the value as JSON in one line.
    ///
    /// # Errors
    ///
    /// Fails if the value does not match the schema.
    pub fn value_to_json(&self, value: &Value) -> Result<String, SchemaError> {
        Ok(value::write(self, value)?.print())
    }
}
