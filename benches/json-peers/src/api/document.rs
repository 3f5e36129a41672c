//! Documents of the published rows.

use serde_json::Value;

/// Inputs, and the outputs of the Go library. The README in the same folder describes their origin.
const FILE: &str =
    include_str!("../../../../crates/tightwire-perplexity/tests/data/perplexity-bench-data.json");

/// Input and output of a value.
#[derive(Clone, Debug)]
pub struct Document {
    /// Input of the unmarshal row, including white space.
    pub input: Vec<u8>,
    /// Output of the Go library in the marshal row.
    pub output: Vec<u8>,
    value: Value,
}

impl Document {
    /// Loads the document of a type and variant, such as `_SimpleText`, by its names in the file.
    ///
    /// # Panics
    ///
    /// If the file does not contain the names.
    pub fn load(kind: &str, variant: &str) -> Self {
        let file: Value = serde_json::from_str(FILE).unwrap_or_default();
        let text = |form: &str, name: String| match file[form][&name].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => panic!("{form} has no {name}"),
        };
        let input = text("unmarshal_inputs_exact_text", format!("{kind}_Unmarshal{variant}"));
        let output = text("marshal_expected_output", format!("{kind}{variant}"));
        let value = serde_json::from_slice(&output).unwrap_or_default();
        Self { input, output, value }
    }

    /// Returns whether `encoded` equals the output, ignoring the order of fields and the format of numbers.
    pub fn is_encoded_in(&self, encoded: &[u8]) -> bool {
        serde_json::from_slice(encoded).is_ok_and(|encoded| same(&encoded, &self.value))
    }

    /// Returns whether a decoded value, which is encoded again, has all fields of the input. The empty message in the
    /// output is not in the input.
    pub fn is_decoded_in(&self, encoded: &[u8]) -> bool {
        let mut expected = self.value.clone();
        drop_empty_messages(&mut expected);
        serde_json::from_slice(encoded).is_ok_and(|mut decoded| {
            drop_empty_messages(&mut decoded);
            same(&decoded, &expected)
        })
    }
}

/// Returns whether two values are equal, except for the last digits of decimals; `0` equals `0.0`, because encoders differ
/// for floats without a fraction.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let [a, b] = [a, b].map(|number| number.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= a.abs() * 1e-6
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn drop_empty_messages(value: &mut Value) {
    let empty = serde_json::json!({"role": "", "content": null});
    for choice in value.get_mut("choices").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(choice) = choice.as_object_mut()
            && choice.get("message") == Some(&empty)
        {
            choice.remove("message");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_the_published_lengths() {
        for (kind, variant, lengths) in [
            ("UsageInfo", "", (301, 247)),
            ("StreamChunk", "", (418, 411)),
            ("ChatMessage", "_SimpleText", (69, 59)),
            ("ChatMessage", "_StructuredContent", (166, 139)),
            ("ToolCall", "", (167, 140)),
            ("ReasoningStep", "", (480, 385)),
            ("SearchResponse", "", (583, 452)),
            ("ComplexResponse", "", (1241, 1000)),
        ] {
            let document = Document::load(kind, variant);
            assert_eq!((document.input.len(), document.output.len()), lengths, "{kind}{variant}");
            assert!(document.is_encoded_in(&document.output));
            assert!(!document.is_encoded_in(b"{}") && !document.is_encoded_in(b"{"));
        }
    }

    #[test]
    fn a_missing_or_changed_field_is_detected() {
        let chunk = Document::load("StreamChunk", "");
        let output: Value = serde_json::from_slice(&chunk.output).unwrap();
        let is_decoded_in = |value: &Value| chunk.is_decoded_in(value.to_string().as_bytes());
        assert!(is_decoded_in(&output));
        let mut without_message = output.clone();
        without_message["choices"][0].as_object_mut().unwrap().remove("message");
        assert!(is_decoded_in(&without_message));
        assert!(!chunk.is_encoded_in(without_message.to_string().as_bytes()));
        let mut changed = output.clone();
        changed["usage"]["cost"]["total_cost"] = 0.002.into();
        assert!(!is_decoded_in(&changed));
        let mut further = output;
        further["object"] = "chunk".into();
        assert!(!is_decoded_in(&further));
    }
}
