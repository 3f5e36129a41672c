//! The form of an answer.

use crate::types::wire::{object, tagged};
use tightwire_json::Value;

tagged! {
    /// The form of an answer.
    pub enum ResponseFormat by "type" from {
        /// Text.
        "text" => Text(TextFormat),
        /// JSON that follows a schema.
        "json_schema" => JsonSchema(JsonSchemaFormat),
        /// A text that matches a regular expression.
        "regex" => Regex(RegexFormat),
    }
}

impl ResponseFormat {
    /// Text.
    pub fn text() -> Self {
        TextFormat::default().into()
    }

    /// JSON that follows `schema`.
    pub fn json_schema(schema: impl Into<Value>) -> Self {
        JsonSchema::new(schema).into()
    }

    /// A text that matches `regex`.
    pub fn regex(regex: impl Into<String>) -> Self {
        let regex = Regex { regex: regex.into(), ..Regex::default() };
        RegexFormat { regex, ..RegexFormat::default() }.into()
    }
}

impl From<JsonSchema> for ResponseFormat {
    fn from(json_schema: JsonSchema) -> Self {
        JsonSchemaFormat { json_schema, ..JsonSchemaFormat::default() }.into()
    }
}

object! {
    /// Text.
    pub struct TextFormat: part {}
}

object! {
    /// JSON that follows a schema.
    pub struct JsonSchemaFormat: part {
        /// The schema.
        json_schema: must JsonSchema,
    }
}

object! {
    /// A JSON schema with a name.
    pub struct JsonSchema: part {
        /// The schema itself.
        schema: must Value,
        /// What it is called, 1 to 64 characters. The agent API requires it.
        name: may String,
        /// What it is for.
        description: may String,
        /// Whether the answer follows it exactly.
        strict: copy bool,
    }
}

impl JsonSchema {
    /// A schema without a name.
    pub fn new(schema: impl Into<Value>) -> Self {
        Self { schema: schema.into(), ..Self::default() }
    }
}

object! {
    /// A text that matches a regular expression.
    pub struct RegexFormat: part {
        /// The expression.
        regex: must Regex,
    }
}

object! {
    /// A regular expression with a name.
    pub struct Regex: part {
        /// The expression itself.
        regex: must String,
        /// What it is called.
        name: may String,
        /// What it is for.
        description: may String,
        /// Whether the answer matches it exactly.
        strict: copy bool,
    }
}
