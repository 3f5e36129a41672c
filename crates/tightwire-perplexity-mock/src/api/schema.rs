//! Sample values for JSON schemas, for structured output and tool arguments.

use tightwire_json::{Value, json};

use super::input::Input;
use super::text;

/// Maximum depth; deeper values are null. Ends recursive schemas.
const MAX_DEPTH: usize = 16;

/// Maximum values per sample. Limits schemas with several recursive references, which grow exponentially with
/// the depth.
const MAX_VALUES: usize = 1_000;

/// Returns a sample value for the schema of `response_format` as JSON. Without a schema, returns a text that
/// repeats the prompt.
pub(crate) fn reply(input: &Input, prompt: &str) -> String {
    match input.get("response_format").map(|format| &format["json_schema"]["schema"]) {
        Some(schema) if schema.is_object() => sample(schema).to_string(),
        _ => text::reply_to(prompt),
    }
}

/// Returns a value that matches a schema. Supports types, properties, items, enums, constants, alternatives
/// and local references.
pub(crate) fn sample(schema: &Value) -> Value {
    Sampler { root: schema, left: MAX_VALUES }.value(schema, 0)
}

struct Sampler<'a> {
    root: &'a Value,
    /// Remaining number of values.
    left: usize,
}

impl Sampler<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if depth == MAX_DEPTH || self.left == 0 {
            return Value::Null;
        }
        self.left -= 1;
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(first) = schema.get("enum").and_then(|options| options.get(0)) {
            return first.clone();
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return target.map_or(Value::Null, |schema| self.value(schema, depth + 1));
        }
        for alternatives in ["anyOf", "oneOf", "allOf"] {
            if let Some(first) = schema.get(alternatives).and_then(|options| options.get(0)) {
                return self.value(first, depth + 1);
            }
        }
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
            Some(kind) => kind.as_str(),
            None => schema.get("properties").map(|_| "object"),
        };
        match kind {
            Some("string") => json!("text"),
            Some("integer") => json!(1),
            Some("number") => json!(1.5),
            Some("boolean") => json!(true),
            Some("array") => {
                schema.get("items").map(|items| self.value(items, depth + 1)).into_iter().collect()
            }
            Some("object") => {
                let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
                members.map(|(name, schema)| (name.clone(), self.value(schema, depth + 1))).collect()
            }
            _ => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use tightwire_json::Map;

    use super::*;

    #[test]
    fn samples_have_the_shape_of_the_schema() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": ["string", "null"]},
                "kind": {"enum": ["a", "b"]},
                "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
                "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            },
            "$defs": {"item": {"properties": {"done": {"type": "boolean"}}}},
        });
        let expected = json!({"name": "text", "kind": "a", "items": [{"done": true}], "either": 1});
        assert_eq!(sample(&schema), expected);
    }

    #[test]
    fn recursion_ends() {
        let schema = json!({"properties": {"next": {"$ref": "#"}}});
        assert!(sample(&schema)["next"]["next"].is_object());
        let members: Map<_, _> = (0..50).map(|name| (name.to_string(), json!({"$ref": "#"}))).collect();
        assert!(sample(&json!({"properties": members})).to_string().len() < 1 << 20);
    }
}
