//! What becomes of messages that turn out not to be writable when the key for them is there.

use super::{Event, RunspacePool};
use crate::host::{HostCall, HostOutcome, HostResponse};
use crate::message::MessageType;
use crate::record::{ErrorCategory, ErrorRecord};

impl RunspacePool {
    /// Sends what waited for the key. What can't be written fails its pipeline or call, not the pool.
    pub(super) fn send_parked(&mut self) {
        while let Some((parked, error)) = self.link.send_parked() {
            let record = ErrorRecord::new(error.to_string(), ErrorCategory::WriteError);
            let is_call = matches!(
                parked.message_type,
                MessageType::PipelineHostCall | MessageType::RunspacePoolHostCall
            );
            let call = parked.value.as_ref().filter(|_| is_call).map(HostCall::from_value);
            let event = match (call, parked.target) {
                (Some(Ok(HostCall { call_id, method, .. })), pipeline) => {
                    self.host_calls.remove(pipeline, call_id);
                    let outcome = HostOutcome::Error(Box::new(record));
                    Event::HostResponse { pipeline, response: HostResponse { call_id, method, outcome } }
                }
                (_, Some(id)) => {
                    self.fail_pipeline(id, record);
                    continue;
                }
                (_, None) => Event::NotSent { message_type: parked.message_type, reason: Box::new(record) },
            };
            self.events.push(event, 0);
        }
    }
}
