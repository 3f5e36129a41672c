//! Output format of a completion.

use crate::types::wire::{object, tagged};
use tightwire_json::Value;

tagged! {
    /// Output format of a completion.
    pub enum ResponseFormat by "type" from {
        /// Plain text.
        "text" => Text(TextFormat),
        /// JSON that conforms to a schema.
        "json_schema" => JsonSchema(JsonSchemaFormat),
        /// Text that matches a regular expression.
        "regex" => Regex(RegexFormat),
    }
}

impl ResponseFormat {
    /// Creates the format for plain text.
    pub fn text() -> Self {
        TextFormat::default().into()
    }

    /// Creates the format for JSON that conforms to `schema`.
    pub fn json_schema(schema: impl Into<Value>) -> Self {
        JsonSchema::new(schema).into()
    }

    /// Creates the format for text that matches `regex`.
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
    /// Plain text.
    pub struct TextFormat: nested {}

    /// JSON that conforms to a schema.
    pub struct JsonSchemaFormat: nested {
        /// The schema.
        json_schema: required JsonSchema,
    }

    /// A JSON schema with a name.
    pub struct JsonSchema: nested, new {
        /// The schema itself.
        schema: required Value,
        /// Name of the schema, 1 to 64 characters. The Agent API requires it.
        name: optional String,
        /// Description of the schema for the model.
        description: optional String,
        /// Whether the output must conform exactly.
        strict: scalar bool,
    }
}

object! {
    /// Text that matches a regular expression.
    pub struct RegexFormat: nested {
        /// The expression.
        regex: required Regex,
    }

    /// A regular expression with a name.
    pub struct Regex: nested {
        /// The expression itself.
        regex: required String,
        /// Name of the expression.
        name: optional String,
        /// Description of the expression for the model.
        description: optional String,
        /// Whether the output must match exactly.
        strict: scalar bool,
    }
}
