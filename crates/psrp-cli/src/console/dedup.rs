//! Suppresses messages that the server sends twice.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use psrp::client::PipelineEvent;
use psrp::host::HostRequest;
use psrp::record::HostInformationMessage;

/// Maximum number of remembered messages that came only one way. A server without host calls sends all messages as
/// records only.
const MAX_UNMATCHED: usize = 100;

/// PowerShell's server sends host output, warnings, verbose and debug messages and progress twice: as a record and as
/// a host call. Only the first of the two is shown. The map contains the number of records minus the number of host
/// calls of each message, unless it is 0.
#[derive(Default)]
pub(super) struct Deduplicator(Mutex<HashMap<String, i32>>);

impl Deduplicator {
    /// Counts an event as shown. Returns false if a host call has already shown it.
    pub(super) fn is_first_record(&self, event: &PipelineEvent) -> bool {
        let message = match event {
            PipelineEvent::Warning(record) => format!("warning {}", record.message),
            PipelineEvent::Verbose(record) => format!("verbose {}", record.message),
            PipelineEvent::Debug(record) => format!("debug {}", record.message),
            PipelineEvent::Progress(record) => format!("{record:?}"),
            PipelineEvent::Information(record) if record.tags.iter().any(|tag| tag == "PSHOST") => {
                match HostInformationMessage::from_value(&record.message_data) {
                    Ok(HostInformationMessage { message, no_new_line: Some(true), .. }) => {
                        format!("text {message}")
                    }
                    Ok(HostInformationMessage { message, .. }) => format!("line {message}"),
                    Err(_) => return true,
                }
            }
            _ => return true,
        };
        self.is_first(message, 1)
    }

    /// Counts a host call as shown. Returns false if a record has already shown it.
    pub(super) fn is_first_call(&self, request: &HostRequest) -> bool {
        let message = match request {
            HostRequest::WriteWarningLine { text } => format!("warning {text}"),
            HostRequest::WriteVerboseLine { text } => format!("verbose {text}"),
            HostRequest::WriteDebugLine { text } => format!("debug {text}"),
            HostRequest::WriteProgress { record, .. } => format!("{record:?}"),
            HostRequest::Write1 { text } | HostRequest::Write2 { text, .. } => format!("text {text}"),
            HostRequest::WriteLine1 => "line ".to_owned(),
            HostRequest::WriteLine2 { text } | HostRequest::WriteLine3 { text, .. } => format!("line {text}"),
            _ => return true,
        };
        self.is_first(message, -1)
    }

    /// Counts a message. Returns false if it was already received the other way. `way` is 1 for records, -1 for host
    /// calls.
    fn is_first(&self, message: String, way: i32) -> bool {
        let mut unmatched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if unmatched.len() >= MAX_UNMATCHED {
            unmatched.clear();
        }
        let count = unmatched.get(&message).copied().unwrap_or_default();
        match count + way {
            0 => unmatched.remove(&message),
            now => unmatched.insert(message, now),
        };
        count * way >= 0
    }
}
