//! Deferred messages that cannot be written after the session key has arrived.

use super::{Event, RunspacePool};
use crate::host::{HostCall, HostOutcome, HostResponse};
use crate::message::MessageType;
use crate::record::{ErrorCategory, ErrorRecord};

impl RunspacePool {
    /// Sends the deferred messages. A message that cannot be written fails its pipeline or host call, not the pool.
    pub(super) fn send_deferred(&mut self) {
        while let Some((deferred, error)) = self.link.send_deferred() {
            let record = ErrorRecord::new(error.to_string(), ErrorCategory::WriteError);
            let is_call = matches!(
                deferred.message_type,
                MessageType::PipelineHostCall | MessageType::RunspacePoolHostCall
            );
            let call = deferred.value.as_ref().filter(|_| is_call).map(HostCall::from_value);
            let event = match (call, deferred.target) {
                (Some(Ok(HostCall { call_id, method, .. })), pipeline) => {
                    self.host_calls.remove(pipeline, call_id);
                    let outcome = HostOutcome::Error(Box::new(record));
                    Event::HostResponse { pipeline, response: HostResponse { call_id, method, outcome } }
                }
                (_, Some(id)) => {
                    self.fail_pipeline(id, record);
                    continue;
                }
                (_, None) => Event::NotSent { message_type: deferred.message_type, reason: Box::new(record) },
            };
            self.events.push(event, 0);
        }
    }
}
