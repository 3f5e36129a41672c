//! Messages that the server sends twice.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use psrp::client::PipelineEvent;
use psrp::host::{HostRequest, HostResult};
use psrp::io::{Host, HostFuture};
use psrp::message::HostInfo;
use psrp::record::HostInformationMessage;
use uuid::Uuid;

use crate::console::{ConsoleHost, Refusal};

/// Messages that came one way only, at most: a server that has no host sends all of them so.
const UNMATCHED: usize = 100;

/// The console. PowerShell's server sends what scripts write to the host, warnings, verbose and debug messages and progress
/// both as records and as calls of the host; each is shown where the first of the two comes.
pub(crate) struct Screen {
    console: ConsoleHost,
    /// Records less calls of each message that did not come both ways.
    unmatched: Mutex<HashMap<String, i32>>,
}

impl Screen {
    pub(crate) fn new(console: ConsoleHost) -> Self {
        Self { console, unmatched: Mutex::default() }
    }

    /// Shows an event, unless a call of the host has.
    pub(crate) async fn show(&self, event: PipelineEvent) -> Result<(), Refusal> {
        match self.note(&event) {
            true => self.console.show(event).await,
            false => Ok(()),
        }
    }

    /// Counts an event as shown. Whether no call of the host has shown it.
    pub(crate) fn note(&self, event: &PipelineEvent) -> bool {
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

    /// Whether a message did not come the other way before.
    fn is_first(&self, message: String, way: i32) -> bool {
        let mut unmatched = self.unmatched.lock().unwrap_or_else(PoisonError::into_inner);
        if unmatched.len() >= UNMATCHED {
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

impl Host for Screen {
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

impl Deref for Screen {
    type Target = ConsoleHost;

    fn deref(&self) -> &ConsoleHost {
        &self.console
    }
}
