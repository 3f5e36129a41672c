//! Suppresses host calls that repeat a record.

use std::sync::{Mutex, PoisonError};

use psrp::client::PipelineEvent;
use psrp::host::HostRequest;
use psrp::record::HostInformationMessage;
use psrp::value::{Progress, Value};

use super::show::{short_text, type_name};

/// PowerShell's server sends each warning, verbose and debug message, progress record and `Write-Host` message as a
/// record, directly followed by the host call that shows it. It does the same with other information records if their
/// preference is `Continue`. The record is shown and its call is not; all other calls are shown.
///
/// Holds the call that the last record causes.
#[derive(Default)]
pub(super) struct Deduplicator(Mutex<Option<Cause>>);

/// Content of a record for comparison with its host call.
enum Cause {
    /// Method name and text.
    Line(&'static str, String),
    Progress(Progress),
    /// Information that causes a call only with the preference `Continue`.
    Information(Value),
}

impl Deduplicator {
    /// Remembers the call that a shown event causes.
    pub(super) fn record(&self, event: &PipelineEvent) {
        let cause = match event {
            PipelineEvent::Warning(record) => Some(Cause::Line(WARNING, record.message.to_string())),
            PipelineEvent::Verbose(record) => Some(Cause::Line(VERBOSE, record.message.to_string())),
            PipelineEvent::Debug(record) => Some(Cause::Line(DEBUG, record.message.to_string())),
            PipelineEvent::Progress(record) => Some(Cause::Progress((**record).clone())),
            PipelineEvent::Information(record) => {
                Some(match HostInformationMessage::from_value(&record.message_data) {
                    Ok(HostInformationMessage { message, no_new_line, .. }) if record.is_host() => {
                        Cause::Line(if no_new_line == Some(true) { TEXT } else { LINE }, message.to_string())
                    }
                    _ => Cause::Information(record.message_data.clone()),
                })
            }
            _ => None,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cause;
    }

    /// Returns whether the last record has caused this call.
    pub(super) fn is_repeated(&self, request: &HostRequest) -> bool {
        let (name, text) = match request {
            HostRequest::WriteWarningLine { text } => (WARNING, text.to_string()),
            HostRequest::WriteVerboseLine { text } => (VERBOSE, text.to_string()),
            HostRequest::WriteDebugLine { text } => (DEBUG, text.to_string()),
            HostRequest::Write1 { text } | HostRequest::Write2 { text, .. } => (TEXT, text.to_string()),
            HostRequest::WriteLine1 => (LINE, String::new()),
            HostRequest::WriteLine2 { text } | HostRequest::WriteLine3 { text, .. } => {
                (LINE, text.to_string())
            }
            _ => ("", String::new()),
        };
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_repeated = match (&*last, request) {
            (Some(Cause::Progress(shown)), HostRequest::WriteProgress { record, .. }) => *shown == **record,
            (Some(Cause::Line(shown, content)), _) => *shown == name && *content == text,
            (Some(Cause::Information(value)), HostRequest::WriteLine2 { .. }) => is_text_of(value, &text),
            _ => false,
        };
        // Another thread of the script may call the host between a record and its call.
        if is_repeated || matches!(&*last, Some(Cause::Information(_))) {
            *last = None;
        }
        is_repeated
    }
}

const WARNING: &str = "warning";
const VERBOSE: &str = "verbose";
const DEBUG: &str = "debug";
const TEXT: &str = "text";
const LINE: &str = "line";

fn has_members(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|object| object.extended().iter().chain(object.adapted().iter()).next().is_some())
}

/// Returns whether a text is what `ToString` of a value returns at the server, whose culture is unknown.
fn is_text_of(value: &Value, text: &str) -> bool {
    // Signs and separators depend on the culture, years on its calendar.
    let digits = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let base = value.base();
    match base {
        Value::Nil => text == "System.Management.Automation.InformationRecord",
        // Minutes and seconds have two digits in all of them.
        Value::DateTime(time) => {
            time.to_string().get(14..19).is_some_and(|time| digits(text).contains(&digits(time)))
        }
        Value::TimeSpan(_) => text.contains(':'),
        Value::Xml(_) => text == "System.Xml.XmlDocument",
        Value::Bytes(_) => text == "System.Byte[]",
        Value::Progress(_) => text.starts_with("parent = "),
        _ => match short_text(value) {
            Some(own) => {
                let is_number = base.as_str().is_none() && own.parse::<f64>().is_ok();
                let own = if text.ends_with('\u{221e}') { own.replace("Infinity", "") } else { own };
                own == text || is_number && digits(&own) == digits(text)
            }
            // Type names in the records of generic types have assemblies, those of `ToString` have none.
            None => {
                text.is_empty() && !has_members(value)
                    || text.starts_with("@{")
                    || text.split('[').next() == type_name(value).split('[').next()
            }
        },
    }
}
