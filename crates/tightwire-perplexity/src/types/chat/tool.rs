//! Function tools and function calls.

use crate::types::wire::{object, open_enum};
use tightwire_json::{Map, Value};

open_enum! {
    /// Type of a tool.
    pub enum ToolKind {
        /// A function.
        Function = "function",
    }

    /// Whether the model may or must call functions.
    pub enum ToolChoice {
        /// Never call a function.
        None = "none",
        /// The model decides.
        Auto = "auto",
        /// Call at least one function.
        Required = "required",
    }
}

object! {
    /// A tool that the model may use.
    pub struct Tool: nested {
        /// Type of the tool.
        kind as "type": required ToolKind,
        /// Name, description and parameters of the function.
        function: required Function,
    }
}

impl Tool {
    /// Creates a function tool.
    pub fn function(function: Function) -> Self {
        Self { kind: ToolKind::Function, function, ..Self::default() }
    }
}

object! {
    /// A function that the model may call.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::chat::{Function, Schema, Tool};
    ///
    /// let parameters = Schema::new()
    ///     .property("city", tightwire_json::from_str::<tightwire_json::Value>(r#"{"type": "string"}"#)?)
    ///     .required(["city"]);
    /// let tool = Tool::function(Function::new("weather", "The weather in a city.", parameters));
    /// # let _ = tool;
    /// # Ok::<(), tightwire_json::Error>(())
    /// ```
    pub struct Function: nested, new {
        /// Name of the function.
        name: required String,
        /// Description of the function for the model.
        description: required String,
        /// JSON schema of the parameters: a [`Schema`] or any other one.
        parameters: required Value,
        /// Whether the arguments must conform exactly to `parameters`.
        strict: scalar bool,
    }
}

object! {
    /// JSON schema of an object, in the spelling of the official SDKs: `additional_properties` instead of
    /// `additionalProperties`.
    pub struct Schema: nested {
        /// Type, always `object`.
        kind as "type": required String,
        /// Schema of each property.
        properties: required Map<String, Value>,
        /// Names of the required properties.
        required: list String,
        /// Whether other properties are allowed.
        additional_properties: scalar bool,
    }
}

impl Schema {
    /// Creates the schema of an object without properties.
    pub fn new() -> Self {
        Self { kind: "object".to_owned(), ..Self::default() }
    }

    /// Adds a property with its schema.
    #[must_use]
    pub fn property(mut self, name: impl Into<String>, schema: impl Into<Value>) -> Self {
        self.properties.insert(name.into(), schema.into());
        self
    }
}

impl From<Schema> for Value {
    fn from(schema: Schema) -> Self {
        let mut object = Map::new();
        object.insert("type".to_owned(), schema.kind.into());
        object.insert("properties".to_owned(), schema.properties.into());
        if let Some(required) = schema.required {
            object.insert("required".to_owned(), required.into());
        }
        if let Some(additional) = schema.additional_properties {
            object.insert("additional_properties".to_owned(), additional.into());
        }
        for (name, value) in schema.extra.iter() {
            object.insert(name.to_owned(), value.clone());
        }
        object.into()
    }
}

object! {
    /// A function call by the model. Streams send it in fragments, so that any field may be missing.
    pub struct ToolCall: nested {
        /// Identifier of the call, to be repeated in its result.
        id: optional String,
        /// Function and arguments.
        function: optional FunctionCall,
        /// Type of the called tool.
        kind as "type": optional ToolKind,
        /// Index of the call within the message, which assigns fragments to calls.
        index: scalar u32,
    }
}

impl ToolCall {
    /// Creates a call of the function `name`.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        let function = FunctionCall::default().name(name).arguments(arguments);
        Self {
            id: Some(id.into()),
            function: Some(function),
            kind: Some(ToolKind::Function),
            ..Self::default()
        }
    }
}

object! {
    /// Name and arguments of a function call.
    pub struct FunctionCall: nested {
        /// Arguments: a JSON object as a string.
        arguments: optional String,
        /// Name of the function.
        name: optional String,
    }
}

impl FunctionCall {
    /// Decodes the arguments. Missing or empty arguments decode as an empty object.
    ///
    /// # Errors
    ///
    /// Returns an error if the arguments are not valid JSON or do not match `T`.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> tightwire_json::Result<T> {
        tightwire_json::from_str(self.arguments.as_deref().filter(|text| !text.is_empty()).unwrap_or("{}"))
    }
}
