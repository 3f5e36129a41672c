//! Text of requests and generated responses.

use tightwire_json::Value;

/// Maximum characters of the prompt that are repeated. A stream repeats them with every word, so its size is
/// quadratic.
const MAX_REPEATED: usize = 1_000;

/// Returns the text of a message's content: a string, or the concatenated text parts.
pub(crate) fn of_content(content: &Value) -> String {
    match content {
        Value::String(text) => text.into(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

/// Returns the text of the content, truncated to the part that the response repeats.
pub(crate) fn prompt(content: &Value) -> String {
    of_content(content).chars().take(MAX_REPEATED).collect()
}

/// Returns the generated text. It repeats the prompt, so that clients can match responses to requests.
pub(crate) fn reply_to(text: &str) -> String {
    format!("You said: {text}")
}

/// Returns the number of tokens, which are words here.
pub(crate) fn tokens(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// Returns the first tokens of a text.
pub(crate) fn first_tokens(text: &str, count: u64) -> String {
    let words = text.split_inclusive(char::is_whitespace).take(usize::try_from(count).unwrap_or(usize::MAX));
    words.collect::<String>().trim_end().to_owned()
}

/// Splits a text into stream pieces: words with trailing whitespace, at least one piece.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    if text.is_empty() { vec![""] } else { text.split_inclusive(char::is_whitespace).collect() }
}
