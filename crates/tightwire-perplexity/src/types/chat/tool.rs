//! Functions that a model may call, and its calls.

use crate::types::wire::{object, open_enum};
use tightwire_json::{Map, Value};

open_enum! {
    /// What a tool is.
    pub enum ToolKind {
        /// A function.
        Function = "function",
    }
}

open_enum! {
    /// Whether a model calls functions.
    pub enum ToolChoice {
        /// It does not.
        None = "none",
        /// It may.
        Auto = "auto",
        /// It has to.
        Required = "required",
    }
}

object! {
    /// A tool that a model may use.
    pub struct Tool: part {
        /// What the tool is.
        kind as "type": must ToolKind,
        /// The function.
        function: must Function,
    }
}

impl Tool {
    /// A function.
    pub fn function(function: Function) -> Self {
        Self { kind: ToolKind::Function, function, ..Self::default() }
    }
}

object! {
    /// A function that a model may call.
    ///
    /// # Examples
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
    pub struct Function: part {
        /// Its name.
        name: must String,
        /// What it does.
        description: must String,
        /// What it takes: a JSON schema.
        parameters: must Value,
        /// Whether arguments follow `parameters` exactly.
        strict: copy bool,
    }
}

impl Function {
    /// A function. The parameters are a [`Schema`], or any JSON schema.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: impl Into<Value>,
    ) -> Self {
        let (name, description, parameters) = (name.into(), description.into(), parameters.into());
        Self { name, description, parameters, ..Self::default() }
    }
}

object! {
    /// The schema of an object, as SDKs write it: with `additional_properties`, where JSON schema has
    /// `additionalProperties`.
    pub struct Schema: part {
        /// The type, `object`.
        kind as "type": must String,
        /// The schema of each property.
        properties: must Map<String, Value>,
        /// The properties that have to be there.
        required: many String,
        /// Whether there may be other properties.
        additional_properties: copy bool,
    }
}

impl Schema {
    /// The schema of an object without properties.
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
        for (name, value) in &schema.extra {
            object.insert(name.to_owned(), value.clone());
        }
        object.into()
    }
}

object! {
    /// A call of a function. In streams it comes in fragments, so that everything may be missing.
    pub struct ToolCall: part {
        /// The identifier of the call, which its result refers to.
        id: may String,
        /// What is called.
        function: may FunctionCall,
        /// What kind of tool is called.
        kind as "type": may ToolKind,
        /// Which call of the message a fragment belongs to.
        index: copy u32,
    }
}

impl ToolCall {
    /// A call of the function `name`.
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
    /// The function that is called.
    pub struct FunctionCall: part {
        /// The arguments, as the text of a JSON object.
        arguments: may String,
        /// The name of the function.
        name: may String,
    }
}

impl FunctionCall {
    /// Decodes the arguments; without any, those of an empty object.
    ///
    /// # Errors
    /// The model wrote something else than JSON of this type.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> tightwire_json::Result<T> {
        tightwire_json::from_str(self.arguments.as_deref().filter(|text| !text.is_empty()).unwrap_or("{}"))
    }
}
