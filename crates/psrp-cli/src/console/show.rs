//! Shows records and objects as text.

use std::fmt::{self, Write as _};
use std::io;

use psrp::client::PipelineEvent;
use psrp::message::{PipelineState, PipelineStateInfo};
use psrp::record::{ErrorCategory, ErrorRecord, HostInformationMessage, InformationRecord};
use psrp::value::{Base, Object, PsString, Value};

use super::session::Session;
use super::style::Style;
use super::terminal::Channel;

/// Maximum depth of nested lists that are shown.
const MAX_DEPTH: usize = 8;

/// Type name of objects that have only the properties that a script has given them.
const CUSTOM_OBJECT: &str = "System.Management.Automation.PSCustomObject";

/// Source identifier for progress records of the stream, which have none.
const STREAM: i64 = -1;

impl Session {
    pub(super) fn show(&mut self, event: &PipelineEvent) -> io::Result<()> {
        match event {
            PipelineEvent::Error(record) => self.show_error(record),
            PipelineEvent::Warning(record) => self.write_labeled("WARNING", Style::WARNING, &record.message),
            PipelineEvent::Verbose(record) => self.write_labeled("VERBOSE", Style::DETAIL, &record.message),
            PipelineEvent::Debug(record) => self.write_labeled("DEBUG", Style::DETAIL, &record.message),
            PipelineEvent::Information(record) => self.show_information(record),
            PipelineEvent::Progress(record) => {
                let is_visible = self.is_at_line_start();
                self.bars.update(STREAM, record, is_visible);
                Ok(())
            }
            PipelineEvent::State(PipelineStateInfo { state: PipelineState::Failed, error, .. }) => {
                match error {
                    Some(error) => self.show_error(error),
                    None => self.write_line(Channel::Messages, Style::ERROR, "error: the pipeline failed"),
                }
            }
            _ => Ok(()),
        }
    }

    /// Shows an error record: message, position, category and identifier.
    fn show_error(&mut self, record: &ErrorRecord) -> io::Result<()> {
        self.end_partial_line()?;
        let text =
            |text: &Option<PsString>| text.as_ref().map(PsString::to_string).filter(|text| !text.is_empty());
        let message = record.message().map(PsString::to_string).unwrap_or_default();
        if is_native_output(record) {
            return self.write_line(Channel::Messages, Style::PLAIN, message.trim_end());
        }
        self.write_line(Channel::Messages, Style::ERROR, &format!("error: {}", message.trim_end()))?;
        if let Some(place) = place(record) {
            self.write_line(Channel::Messages, Style::DETAIL, &format!("  at {place}"))?;
        }
        // Without details, the category message only repeats the category.
        let has_details =
            [&record.activity, &record.reason, &record.target_name].iter().any(|part| text(part).is_some());
        let kind = if has_details { text(&record.category_message) } else { category(record) };
        let id = text(&record.fully_qualified_error_id);
        for detail in [kind, id, text(&record.recommended_action)].into_iter().flatten() {
            self.write_line(Channel::Messages, Style::FAINT, &format!("  {}", detail.trim_end()))?;
        }
        Ok(())
    }

    /// Shows `Write-Host` output like a host call, and other information records as messages.
    fn show_information(&mut self, record: &InformationRecord) -> io::Result<()> {
        let is_host = record.is_host();
        if is_host && let Ok(message) = HostInformationMessage::from_value(&record.message_data) {
            let style = self.style();
            let style = Style {
                foreground: message.foreground_color.or(style.foreground),
                background: message.background_color.or(style.background),
            };
            let end = if message.no_new_line == Some(true) { "" } else { "\n" };
            return self.write(Channel::Output, style, &format!("{}{end}", message.message.to_str_lossy()));
        }
        let mut text = String::new();
        match record.message() {
            Some(message) => text = message.to_string(),
            None => _ = write_value(&record.message_data, 0, &mut text),
        }
        let channel = if is_host { Channel::Output } else { Channel::Messages };
        self.write_line(channel, Style::PLAIN, &text)
    }
}

/// Returns whether a record is a line that a native program has written to its standard error, which is no error.
pub(crate) fn is_native_output(record: &ErrorRecord) -> bool {
    let id = record.fully_qualified_error_id.as_ref().and_then(PsString::as_str);
    matches!(id, Some("NativeCommandError" | "NativeCommandErrorMessage"))
}

fn category(record: &ErrorRecord) -> Option<String> {
    (record.category != ErrorCategory::NotSpecified).then(|| record.category.to_string())
}

/// Returns the position of an error if the record contains one.
fn place(record: &ErrorRecord) -> Option<String> {
    let call = record.invocation_call()?;
    let text = |text: &Option<PsString>| text.as_ref().map(PsString::to_string).unwrap_or_default();
    let script = text(&call.script_name);
    let script = if script.is_empty() { "line ".to_owned() } else { format!("{script}:") };
    if call.script_line_number <= 0 {
        let name = text(&call.invocation_name);
        return (!name.is_empty()).then_some(name);
    }
    let mut place = format!("{script}{}:{}", call.script_line_number, call.offset_in_line);
    let line = text(&call.line);
    if !line.trim().is_empty() {
        place += &format!(": {}", line.trim());
    }
    Some(place)
}

/// Appends the text of an output object without a final line end. Returns whether there is anything to show.
pub(super) fn write_value(value: &Value, depth: usize, out: &mut String) -> bool {
    if let Some(text) = short_text(value) {
        out.push_str(&text);
        return !value.is_nil();
    }
    let separate = |out: &mut String| {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
    };
    if let Some(items) = value.items() {
        let mut any = false;
        for item in items {
            if depth >= MAX_DEPTH {
                out.push('\u{2026}');
                return true;
            }
            separate(out);
            any |= write_value(item, depth + 1, out);
        }
        return any;
    }
    let mut line = |name: &str, value: &Value| {
        separate(out);
        *out += &format!("{name} : {}", inner_text(value));
    };
    if let Some(entries) = value.entries() {
        for (key, value) in entries {
            line(&inner_text(key), value);
        }
        return !entries.is_empty();
    }
    if let Some(object) = value.as_object() {
        let members = || object.extended().iter().chain(object.adapted().iter());
        for (name, value) in members() {
            line(&name.to_str_lossy(), value);
        }
        return members().next().is_some();
    }
    false
}

/// Returns whether the text of an output object is its properties or entries.
pub(super) fn has_properties(value: &Value) -> bool {
    short_text(value).is_none() && value.items().is_none()
}

/// Returns a nested value on one line.
fn inner_text(value: &Value) -> String {
    let texts: Vec<String> = match (short_text(value), value.items(), value.entries()) {
        (None, Some(items), _) => items.iter().map(item_text).collect(),
        (None, None, Some(entries)) => {
            entries.iter().map(|(key, value)| format!("[{}, {}]", item_text(key), item_text(value))).collect()
        }
        _ => return item_text(value).replace('\n', " "),
    };
    format!("{{{}}}", texts.join(", ")).replace('\n', " ")
}

/// Returns the text of a value, of a custom object with its properties, or the name of the type.
fn item_text(value: &Value) -> String {
    let plain = |value: &Value| short_text(value).unwrap_or_else(|| type_name(value));
    match value.as_object() {
        Some(object) if object.is_a(CUSTOM_OBJECT) && matches!(object.base(), Base::None) => {
            let texts = object.extended().iter().map(|(name, value)| format!("{name}={}", plain(value)));
            format!("@{{{}}}", texts.collect::<Vec<_>>().join("; "))
        }
        _ => plain(value),
    }
}

pub(super) fn type_name(value: &Value) -> String {
    let object = value.as_object();
    let name = object.as_ref().and_then(Object::type_names).and_then(|names| names.first());
    name.map_or_else(|| "\u{2026}".to_owned(), ToString::to_string)
}

/// Returns the text of a primitive value or the `ToString` text of an object, `None` for property bags.
pub(super) fn short_text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Nil => String::new(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Single(value) => float_text(*value, 9),
        Value::Double(value) => float_text(*value, 17),
        Value::Bytes(bytes) => bytes_text(bytes),
        Value::SecureString(_) => "System.Security.SecureString".into(),
        Value::Progress(record) => record.activity.to_string(),
        Value::Cycle(cycle) => cycle.upgrade()?.to_string_text()?.to_string(),
        Value::Object(object) => return object_text(object),
        Value::MemberSet(_) => return None,
        value => match (value.as_i64(), value.as_u64()) {
            (Some(number), _) => number.to_string(),
            (None, Some(number)) => number.to_string(),
            // Texts, and values such as dates that have a text form.
            (None, None) => psrp::from_value::<PsString>(value).ok()?.to_string(),
        },
    })
}

/// Formats a number like `ToString` of .NET, with an exponent if the integer part has more than `digits` digits.
fn float_text<F: Into<f64> + fmt::Display + fmt::UpperExp + Copy>(number: F, digits: i32) -> String {
    let wide: f64 = number.into();
    if wide.is_infinite() {
        return if wide > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    let text = format!("{number:E}");
    match text.split_once('E').and_then(|(mantissa, text)| Some((mantissa, text.parse::<i32>().ok()?))) {
        Some((mantissa, exponent)) if exponent >= digits || exponent < -4 => {
            format!("{mantissa}E{exponent:+03}")
        }
        _ => number.to_string(),
    }
}

/// Formats bytes as decimal numbers separated by spaces. Avoids a string per byte, as there may be millions.
fn bytes_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(4 * bytes.len());
    for (index, byte) in bytes.iter().enumerate() {
        let separator = if index == 0 { "" } else { " " };
        let _ = write!(text, "{separator}{byte}");
    }
    text
}

fn object_text(object: &Object) -> Option<String> {
    let text = object.to_string_text().map(PsString::to_string);
    match object.base() {
        Base::Value(_) if object.is_a("System.Enum") && text.is_some() => text,
        Base::Value(inner) => short_text(inner).or(text),
        Base::None if !object.is_a(CUSTOM_OBJECT) => {
            let has_members = !object.adapted().is_empty() || !object.extended().is_empty();
            text.filter(|text| !has_members || !is_type_name(object, text))
        }
        _ => None,
    }
}

/// Returns whether the text of an object is empty or only the name of its type, as for types without `ToString`.
fn is_type_name(object: &Object, text: &str) -> bool {
    let names = object.type_names().into_iter().flat_map(|names| names.as_slice());
    let mut plain = names.map(|name| name.to_string().trim_start_matches("Deserialized.").to_owned());
    text.trim().is_empty() || plain.any(|name| name == text.trim_start_matches("Deserialized."))
}
