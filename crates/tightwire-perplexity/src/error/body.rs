//! Extracts the message from an error body, in all formats that the API and its gateways are known to send.

use http::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tightwire_json::Value;

use crate::types::codec;

/// Maximum length of a plain-text message, in bytes. Longer texts are usually HTML pages.
const MAX_TEXT: usize = 500;

/// Maximum length of a message, in bytes. The rest is only in the body.
const MAX_MESSAGE: usize = 4000;

/// Fields with the message of an error, or with an object or a list that has it.
const MESSAGES: [&str; 5] = ["error", "message", "detail", "errors", "msg"];

#[derive(Debug)]
pub(crate) struct ParsedBody {
    pub(super) message: Box<str>,
    pub(super) error_type: Option<Box<str>>,
    pub(super) code: Option<Box<str>>,
    pub(super) param: Option<Box<str>>,
}

impl ParsedBody {
    /// Takes the message from the field of [`MESSAGES`] that comes first and has one, or a plain-text body, else the
    /// reason phrase of the status. An error event of a stream has no status.
    pub(super) fn new(status: Option<StatusCode>, body: &[u8]) -> Self {
        let document: Option<Value> = codec().from_slice(body).ok();
        let (object, outer) = match &document {
            Some(outer) => (outer.get("error").filter(|error| error.is_object()), Some(outer)),
            None => (None, None),
        };
        let field = |name| object.and_then(|object| object.get(name)).or_else(|| outer?.get(name));
        let message = outer.map_or_else(|| plain(body), message).unwrap_or_else(|| {
            status.and_then(|status| status.canonical_reason()).unwrap_or("no message").to_owned()
        });
        Self {
            message: printable(&message),
            error_type: field("type").and_then(scalar),
            code: field("code").and_then(scalar),
            param: field("param").and_then(scalar),
        }
    }

    /// Replaces all occurrences of `secret` that are no part of a longer word.
    pub(super) fn redact(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        let Self { message, error_type, code, param } = self;
        let optional = [error_type, code, param].into_iter().flatten();
        for text in optional.chain([message]) {
            if let Some(redacted) = without(text, secret) {
                *text = redacted.into();
            }
        }
    }
}

/// Returns whether a document that is no response reports an error: it has a message, or is one.
pub(crate) fn reports_error(body: &[u8]) -> bool {
    codec().from_slice::<Value>(body).is_ok_and(|document| {
        let reports = |name| document.get(name).is_some_and(|value| !value.is_null());
        document.is_string() || MESSAGES.into_iter().any(reports)
    })
}

/// Returns whether an object reports an error, also beside a part of the response.
///
/// The substring search avoids a second decoding: ordinary events do not contain it, because quotes in strings are
/// escaped.
pub(crate) fn is_failure(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Probe {
        error: Option<Value>,
        response: Option<IgnoredAny>,
        object: Option<Value>,
        r#type: Option<Value>,
    }

    memchr::memmem::find(body, b"\"error\"").is_some()
        && codec().from_slice::<Probe>(body).is_ok_and(|probe| {
            let is_error = |value: Option<&Value>| value.is_some_and(|value| value == "error");
            let has_error = match &probe.error {
                Some(Value::Object(error)) => !error.is_empty(),
                Some(Value::String(error)) => !error.is_empty(),
                error => matches!(error, Some(Value::Number(_) | Value::Array(_) | Value::Bool(true))),
            };
            // The event of a failed response is part of the stream.
            let kind = probe.r#type.as_ref().and_then(Value::as_str).unwrap_or_default();
            let is_event =
                kind == "response.failed" || (probe.response.is_some() && kind.starts_with("response."));
            is_error(probe.object.as_ref()) || is_error(probe.r#type.as_ref()) || (has_error && !is_event)
        })
}

/// Replaces `secret` where it is a whole token: a short key must not destroy the words of a message. `None` if there is
/// nothing to replace.
fn without(text: &str, secret: &str) -> Option<String> {
    let (mut redacted, mut end) = (String::new(), 0);
    for (start, _) in text.match_indices(secret) {
        let (before, after) = (&text[..start], &text[start + secret.len()..]);
        // The end of a percent-encoded character is no part of the token.
        let is_encoded = before.len() >= 3 && before.as_bytes()[before.len() - 3] == b'%';
        let continues_before = secret.starts_with(is_inner) && before.ends_with(is_inner) && !is_encoded;
        if continues_before || (secret.ends_with(is_inner) && after.starts_with(is_inner)) {
            continue;
        }
        redacted.push_str(&text[end..start]);
        redacted.push_str("[redacted]");
        end = start + secret.len();
    }
    (end > 0).then(|| redacted + &text[end..])
}

/// Returns whether a character may be part of a key.
fn is_inner(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_')
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Formats a string or number.
fn scalar(value: &Value) -> Option<Box<str>> {
    match value {
        Value::String(text) => Some(printable(text)),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// Formats the message of a string, an object, or a list of either. The problems of a schema violation have a location.
fn message(value: &Value) -> Option<String> {
    match value {
        Value::Array(problems) => {
            let messages: Vec<_> = problems.iter().filter_map(message).collect();
            Some(messages.join("; ")).filter(|message| !message.is_empty())
        }
        Value::Object(_) => {
            let text = MESSAGES.into_iter().find_map(|name| message(value.get(name)?))?;
            let places = value.get("loc").and_then(Value::as_array).into_iter().flatten();
            let name = |place: &Value| place.as_str().map_or_else(|| place.to_string(), str::to_owned);
            let places = places.map(name).collect::<Vec<_>>().join(".");
            Some(if places.is_empty() { text } else { format!("{places}: {text}") })
        }
        _ => text(value),
    }
}

/// Returns the body if it is a short plain text.
fn plain(body: &[u8]) -> Option<String> {
    let text = str::from_utf8(body).ok()?.trim();
    let is_message = !text.is_empty() && text.len() <= MAX_TEXT && !text.starts_with(['<', '{', '[']);
    is_message.then(|| text.to_owned())
}

/// Truncates the text before a word, of which a part would not be redacted, and replaces control characters, because
/// messages end up in logs and on terminals.
fn printable(text: &str) -> Box<str> {
    let mut end = text.floor_char_boundary(MAX_MESSAGE);
    let word = text[..end].trim_end_matches(is_inner).len();
    if end < text.len() && word > 0 {
        end = word;
    }
    text[..end].chars().map(|char| if char.is_control() { ' ' } else { char }).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(status: u16, body: &str) -> ParsedBody {
        ParsedBody::new(StatusCode::from_u16(status).ok(), body.as_bytes())
    }

    #[test]
    fn formats_of_bodies() {
        let (type_and_code, long) = ((Some("t"), Some("7")), "x".repeat(MAX_TEXT + 1));
        for (status, body, message, (error_type, code)) in [
            (
                400,
                r#"{"error":{"message":"Invalid model 'x'.","type":"invalid_model","code":400}}"#,
                "Invalid model 'x'.",
                (Some("invalid_model"), Some("400")),
            ),
            (
                500,
                r#"{"error":{"message":"no","code":"server_error","type":null}}"#,
                "no",
                (None, Some("server_error")),
            ),
            (400, r#"{"error":"flat"}"#, "flat", (None, None)),
            (400, "\u{feff}{\"error\":\"flat\"}", "flat", (None, None)),
            (400, r#"{"message":"flat","error":{}}"#, "flat", (None, None)),
            (400, r#""quoted""#, "quoted", (None, None)),
            (400, r#"{"message":"m","type":"t","code":7}"#, "m", type_and_code),
            (
                422,
                r#"{"detail":[{"loc":["body","messages",0],"msg":"Field required","type":"missing"},
                    {"msg":"Too long"}, {"loc":[]}, 7]}"#,
                "body.messages.0: Field required; Too long",
                (None, None),
            ),
            (404, r#"{"detail":"Not Found"}"#, "Not Found", (None, None)),
            (400, r#"{"detail":{"message":"no","code":7}}"#, "no", (None, None)),
            (400, r#"{"errors":[{"message":"one"},{"error":["two"]}]}"#, "one; two", (None, None)),
            (400, r#"{"error":{"error":{"message":"deep"},"code":7}}"#, "deep", (None, Some("7"))),
            (401, "<html><head><title>401</title></head></html>", "Unauthorized", (None, None)),
            (502, " upstream failed\n", "upstream failed", (None, None)),
            (503, "", "Service Unavailable", (None, None)),
            (400, "{\"error\": cut", "Bad Request", (None, None)),
            (500, &long, "Internal Server Error", (None, None)),
            (499, "{}", "no message", (None, None)),
            (400, r#"{"message":"a\u001b[31m\nb"}"#, "a [31m b", (None, None)),
        ] {
            let parsed = parse(status, body);
            assert_eq!(&*parsed.message, message, "{body}");
            assert_eq!((parsed.error_type.as_deref(), parsed.code.as_deref()), (error_type, code), "{body}");
        }
        let long = format!("{{\"message\":\"{}\"}}", "\u{e9}".repeat(MAX_MESSAGE));
        assert_eq!(parse(400, &long).message.len(), MAX_MESSAGE);
    }

    #[test]
    fn a_secret_is_redacted_as_a_whole_token() {
        for (text, secret, expected) in [
            ("no such key: pplx-0a1b.", "pplx-0a1b", "no such key: [redacted]."),
            ("key=k&k, \u{e9}k\u{e9}k", "k", "key=[redacted]&[redacted], \u{e9}[redacted]\u{e9}[redacted]"),
            ("an unknown key", "k", "an unknown key"),
            ("pplx-0a1b2, xpplx-0a1b", "pplx-0a1b", "pplx-0a1b2, xpplx-0a1b"),
            ("x=%22pplx-0a1b%22", "pplx-0a1b", "x=%22[redacted]%22"),
            ("a.pplx-0a1b=b", ".pplx-0a1b=", "a[redacted]b"),
        ] {
            let mut parsed = parse(400, &format!("{{\"message\":{text:?},\"param\":{text:?}}}"));
            parsed.redact(secret);
            assert_eq!((&*parsed.message, parsed.param.as_deref()), (expected, Some(expected)));
        }
        let long = format!("{{\"message\":\"{} pplx-0a1b\"}}", "x ".repeat(MAX_MESSAGE / 2 - 3));
        assert!(!parse(400, &long).message.contains("pplx"));
    }

    proptest! {
        #[test]
        fn any_body_has_a_message(body in proptest::collection::vec(any::<u8>(), 0..200), text in ".{0,40}") {
            for body in [body, format!("{{\"error\":{{\"message\":{text:?}}}}}").into_bytes()] {
                let parsed = ParsedBody::new(Some(StatusCode::BAD_REQUEST), &body);
                prop_assert!(!parsed.message.is_empty());
                prop_assert!(!parsed.message.contains(char::is_control));
            }
        }
    }
}
