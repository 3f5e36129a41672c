//! Values that fit a JSON schema, for structured output and arguments of tools.

use serde_json::{Map, Value, json};

/// Deeper schemas, such as recursive ones, end with null there.
const MAX_DEPTH: usize = 16;

/// A value for a schema. Of what a schema can say, types, members, items, enumerations, constants, alternatives and
/// local references count.
pub(crate) fn sample(schema: &Value) -> Value {
    value(schema, schema, 0)
}

fn value(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth == MAX_DEPTH {
        return Value::Null;
    }
    let inner = |schema: &Value| value(schema, root, depth + 1);
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(first) = schema.get("enum").and_then(|options| options.get(0)) {
        return first.clone();
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return target.strip_prefix('#').and_then(|pointer| root.pointer(pointer)).map_or(Value::Null, inner);
    }
    for alternatives in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema.get(alternatives).and_then(|options| options.get(0)) {
            return inner(first);
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
        Some("array") => Value::Array(schema.get("items").map(inner).into_iter().collect()),
        Some("object") => {
            let members = schema.get("properties").and_then(Value::as_object);
            let members = members.into_iter().flatten();
            Value::Object(members.map(|(name, schema)| (name.clone(), inner(schema))).collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
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
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        assert!(sample(&schema)["next"]["next"].is_object());
    }
}
