//! Suppresses messages that the server sends twice.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use psrp::client::PipelineEvent;
use psrp::host::{HostRequest, HostResult};
use psrp::io::{Host, HostFuture};
use psrp::message::HostInfo;
use psrp::record::HostInformationMessage;
use uuid::Uuid;

use crate::console::{CallError, ConsoleHost};

/// Maximum number of remembered messages that came only one way. A server without host calls sends all messages as
/// records only.
const MAX_UNMATCHED: usize = 100;

/// The console. PowerShell's server sends host output, warnings, verbose and debug messages and progress twice: as a
/// record and as a host call. Only the first of the two is shown.
pub(crate) struct DedupHost {
    console: ConsoleHost,
    /// Number of records minus number of host calls per message, where they differ.
    unmatched: Mutex<HashMap<String, i32>>,
}

impl DedupHost {
    pub(crate) fn new(console: ConsoleHost) -> Self {
        Self { console, unmatched: Mutex::default() }
    }

    /// Shows an event unless a host call has shown it.
    pub(crate) async fn show(&self, event: PipelineEvent) -> Result<(), CallError> {
        match self.record_shown(&event) {
            true => self.console.show(event).await,
            false => Ok(()),
        }
    }

    /// Counts an event as shown. Returns false if a host call has already shown it.
    pub(crate) fn record_shown(&self, event: &PipelineEvent) -> bool {
        let message = match event {
            PipelineEvent::Warning(record) => Some(format!("warning {}", record.message)),
            PipelineEvent::Verbose(record) => Some(format!("verbose {}", record.message)),
            PipelineEvent::Debug(record) => Some(format!("debug {}", record.message)),
            PipelineEvent::Progress(record) => Some(format!("{record:?}")),
            PipelineEvent::Information(record) if record.tags.iter().any(|tag| tag == "PSHOST") => {
                let message = HostInformationMessage::from_value(&record.message_data).ok();
                message.map(|HostInformationMessage { message, no_new_line, .. }| match no_new_line {
                    Some(true) => format!("text {message}"),
                    _ => format!("line {message}"),
                })
            }
            _ => None,
        };
        message.is_none_or(|message| self.is_first(message, 1))
    }

    /// Returns whether the message has not come the other way yet. `way` is 1 for records, -1 for host calls.
    fn is_first(&self, message: String, way: i32) -> bool {
        let mut unmatched = self.unmatched.lock().unwrap_or_else(PoisonError::into_inner);
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

impl Host for DedupHost {
    fn call(&self, pipeline: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        let message = match &request {
            HostRequest::WriteWarningLine { text } => Some(format!("warning {text}")),
            HostRequest::WriteVerboseLine { text } => Some(format!("verbose {text}")),
            HostRequest::WriteDebugLine { text } => Some(format!("debug {text}")),
            HostRequest::WriteProgress { record, .. } => Some(format!("{record:?}")),
            HostRequest::Write1 { text } | HostRequest::Write2 { text, .. } => Some(format!("text {text}")),
            HostRequest::WriteLine1 => Some("line ".to_owned()),
            HostRequest::WriteLine2 { text } | HostRequest::WriteLine3 { text, .. } => {
                Some(format!("line {text}"))
            }
            _ => None,
        };
        match message.is_none_or(|message| self.is_first(message, -1)) {
            true => self.console.call(pipeline, request),
            false => Box::pin(async { Ok(HostResult::Nothing) }),
        }
    }

    fn info(&self) -> HostInfo {
        self.console.info()
    }
}

impl Deref for DedupHost {
    type Target = ConsoleHost;

    fn deref(&self) -> &ConsoleHost {
        &self.console
    }
}
