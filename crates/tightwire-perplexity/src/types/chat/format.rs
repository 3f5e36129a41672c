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
        /// Schema with its name.
        json_schema: required JsonSchema,
    }

    /// A JSON schema with a name.
    pub struct JsonSchema: nested, new {
        /// JSON Schema of the output.
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
        /// Regular expression that the output matches.
        regex: required Regex,
    }

    /// A regular expression with a name.
    pub struct Regex: nested {
        /// Pattern of the regular expression.
        regex: required String,
        /// Name of the expression.
        name: optional String,
        /// Description of the expression for the model.
        description: optional String,
        /// Whether the output must match exactly.
        strict: scalar bool,
    }
}

#[cfg(feature = "schemars")]
impl JsonSchema {
    /// Creates the schema of a type, with the name of the type. Doc comments become descriptions for the model.
    ///
    /// In the name, characters other than ASCII letters, digits, `_` and `-` are replaced by `_`, and characters beyond
    /// 64 are removed.
    ///
    /// # Errors
    ///
    /// Returns an error if the schema exceeds the default limits of [`tightwire_json::Codec`].
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::chat::{JsonSchema, Request};
    ///
    /// #[derive(schemars::JsonSchema)]
    /// struct Moon {
    ///     name: String,
    /// }
    ///
    /// let schema = JsonSchema::of::<Moon>()?.strict(true);
    /// assert_eq!(schema.name.as_deref(), Some("Moon"));
    /// assert_eq!(schema.schema["properties"]["name"]["type"], "string");
    /// let request = Request::new("sonar", "Which moon is the largest?").response_format(schema);
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub fn of<T: schemars::JsonSchema + ?Sized>() -> tightwire_json::Result<Self> {
        let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
        Ok(Self::new(tightwire_json::to_value(schema)?).name(name(&T::schema_name())))
    }
}

/// Returns the name of a schema in the characters and the length that the API accepts.
#[cfg(feature = "schemars")]
fn name(of_type: &str) -> String {
    let is_accepted = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    of_type.chars().map(|char| if is_accepted(char) { char } else { '_' }).take(64).collect()
}

#[cfg(all(test, feature = "schemars"))]
mod tests {
    use super::*;

    #[test]
    fn names_of_schemas() {
        assert_eq!(name("Page<caf\u{e9}-1>"), "Page_caf_-1_");
        assert_eq!(name(&"x".repeat(65)).len(), 64);
        assert_eq!(JsonSchema::of::<Vec<u8>>().unwrap().name.unwrap(), "Array_of_uint8");
    }
}
