//! JSON Schemas of trees and raw values, as those of the types of serde_json.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{Array, JsonString, Map, Number, RawValue, Value};

/// Any value.
impl JsonSchema for Value {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

/// Any number.
impl JsonSchema for Number {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

macro_rules! same_schema {
    ($($type:ty: $other:ty;)*) => {
        $(
            impl JsonSchema for $type {
                fn inline_schema() -> bool {
                    <$other>::inline_schema()
                }

                fn schema_name() -> Cow<'static, str> {
                    <$other>::schema_name()
                }

                fn schema_id() -> Cow<'static, str> {
                    <$other>::schema_id()
                }

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    <$other>::json_schema(generator)
                }
            }
        )*
    };
}

same_schema! {
    Array: Vec<Value>;
    JsonString: String;
    Map: BTreeMap<String, Value>;
    RawValue: Value;
}
