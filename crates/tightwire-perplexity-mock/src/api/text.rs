//! Texts inside requests, and what is said to them.

use serde_json::Value;

/// How much of a text is repeated, in characters. A stream repeats it with every word, so that its length is squared.
const MAX_REPEATED: usize = 1_000;

/// The text of a message's content: a string, or the text members of its parts, one after the other.
pub(crate) fn of_content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

/// As [`of_content`], as far as the answer may repeat it.
pub(crate) fn asked(content: &Value) -> String {
    of_content(content).chars().take(MAX_REPEATED).collect()
}

/// What the model says to a text. It repeats the text, so that a client can tell whose answer it got.
pub(crate) fn reply_to(text: &str) -> String {
    format!("You said: {text}")
}

/// The number of tokens, which are words here.
pub(crate) fn tokens(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// The pieces in which a text is streamed: words with the white space after them, and at least one.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    if text.is_empty() { vec![""] } else { text.split_inclusive(char::is_whitespace).collect() }
}
