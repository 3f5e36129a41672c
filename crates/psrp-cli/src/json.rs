//! JSON lines of objects and records.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, Write};

use psrp::client::PipelineEvent;
use psrp::clixml::Stream;
use psrp::record::{ErrorRecord, InformationalRecord};
use psrp::serde::{Plain, PlainNumbers};
use psrp::value::PsString;
use psrp::{Value, terminal_safe};
use serde::{Serialize, Serializer};
use serde_json::json;
use serde_json::ser::Formatter;

use crate::args::JsonStreams;

/// Encodes a value, with type names and text forms if `types` is set.
pub(crate) fn value(value: &Value, types: bool) -> serde_json::Result<String> {
    let is_number = Cell::new(false);
    let plain = Plain::new(value).numbers(ExactNumbers(&is_number));
    let mut json = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut json, NumberFormatter(&is_number));
    if types { plain.with_type_names() } else { plain }.serialize(&mut serializer)?;
    Ok(safe(String::from_utf8_lossy(&json).into_owned()))
}

/// Writes decimals and big integers as JSON numbers with all digits: as strings for which the formatter writes no
/// quotation marks.
#[derive(Clone, Copy)]
struct ExactNumbers<'a>(&'a Cell<bool>);

impl PlainNumbers for ExactNumbers<'_> {
    fn serialize<S: Serializer>(self, number: &str, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.set(true);
        serializer.serialize_str(number)
    }
}

/// The flag is true for a string that is a number.
struct NumberFormatter<'a>(&'a Cell<bool>);

impl Formatter for NumberFormatter<'_> {
    fn begin_string<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.0.get() { Ok(()) } else { writer.write_all(b"\"") }
    }

    fn end_string<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.0.take() { Ok(()) } else { writer.write_all(b"\"") }
    }
}

/// Encodes an event with its stream, `None` if it has no JSON form.
pub(crate) fn event(event: &PipelineEvent, types: bool) -> serde_json::Result<Option<String>> {
    let (stream, value) = match event {
        PipelineEvent::Output(value) => return tagged(Stream::Output, value, types).map(Some),
        PipelineEvent::Error(record) => (Stream::Error, error(record)),
        PipelineEvent::Warning(record) => (Stream::Warning, message(record)),
        PipelineEvent::Verbose(record) => (Stream::Verbose, message(record)),
        PipelineEvent::Debug(record) => (Stream::Debug, message(record)),
        PipelineEvent::Information(record) => {
            let tags: Vec<_> = record.tags.iter().map(PsString::to_string).collect();
            let data = value(&record.message_data, false)?;
            let [source, tags] = [json!(text(&record.source)), json!(tags)];
            let information = format!("{{\"data\":{data},\"source\":{source},\"tags\":{tags}}}");
            return line("information", &information).map(Some);
        }
        PipelineEvent::Progress(record) => {
            let value = json!({
                "activity": record.activity.to_string(),
                "id": record.activity_id,
                "parent": known(record.parent_activity_id),
                "status": record.status_description.to_string(),
                "operation": text(&record.current_operation),
                "percent": known(record.percent_complete),
                "seconds_left": known(record.seconds_remaining),
                "completed": record.completed,
            });
            (Stream::Progress, value)
        }
        PipelineEvent::State(info) => {
            let value = json!({
                "state": info.state.to_string(),
                "reason": info.error.as_deref().map(error),
            });
            return line("state", &value.to_string()).map(Some);
        }
        _ => return Ok(None),
    };
    line(&stream.name().to_ascii_lowercase(), &value.to_string()).map(Some)
}

/// Encodes a value with its stream.
pub(crate) fn tagged(stream: Stream, value: &Value, types: bool) -> serde_json::Result<String> {
    line(&stream.name().to_ascii_lowercase(), &self::value(value, types)?)
}

/// Adds the name of the server to an encoded value or event.
pub(crate) fn with_host(name: &str, streams: JsonStreams, json: &str) -> serde_json::Result<String> {
    let name = safe(serde_json::to_string(name)?);
    Ok(match streams {
        JsonStreams::Output => format!("{{\"host\":{name},\"value\":{json}}}"),
        // An event is an object.
        JsonStreams::All => format!("{{\"host\":{name},{}", &json[1..]),
    })
}

/// Returns a JSON object of a stream name and an encoded value.
pub(crate) fn line(stream: &str, value: &str) -> serde_json::Result<String> {
    let stream = serde_json::to_string(stream)?;
    Ok(safe(format!("{{\"stream\":{stream},\"value\":{value}}}")))
}

/// Escapes characters that control terminals. In JSON they occur only in strings.
fn safe(json: String) -> String {
    if matches!(terminal_safe(&json), std::borrow::Cow::Borrowed(_)) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for char in json.chars() {
        match terminal_safe(char.encode_utf8(&mut [0; 4])) {
            std::borrow::Cow::Borrowed(text) => escaped.push_str(text),
            // All of these characters are a single UTF-16 code unit.
            std::borrow::Cow::Owned(_) => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(char));
            }
        }
    }
    escaped
}

fn text(text: &Option<PsString>) -> Option<String> {
    text.as_ref().map(PsString::to_string)
}

/// Converts a number of a progress record, where -1 means unknown.
fn known(number: i32) -> Option<i32> {
    (number >= 0).then_some(number)
}

fn message(record: &InformationalRecord) -> serde_json::Value {
    json!({ "message": record.message.to_string() })
}

fn error(record: &ErrorRecord) -> serde_json::Value {
    let position = record.invocation_call().map(|call| {
        json!({
            "command": text(&call.invocation_name),
            "script": text(&call.script_name),
            "line": known(call.script_line_number),
            "column": known(call.offset_in_line),
            "text": text(&call.line),
        })
    });
    json!({
        "message": record.message().map(PsString::to_string),
        "category": record.category.to_string(),
        "id": text(&record.fully_qualified_error_id),
        "activity": text(&record.activity),
        "reason": text(&record.reason),
        "target": text(&record.target_name),
        "position": position,
        "stack": text(&record.script_stack_trace),
    })
}

#[cfg(test)]
mod tests {
    use psrp::Object;

    use super::*;

    #[test]
    fn control_characters_are_escaped_in_json() {
        let evil = "\u{1b}[2J\u{9b}31m\u{202e}\u{7f}";
        let json = value(&Object::custom([(evil, evil)]).into(), false).unwrap();
        assert!(matches!(terminal_safe(&json), std::borrow::Cow::Borrowed(_)), "{json:?}");
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back[evil], evil);
    }
}
