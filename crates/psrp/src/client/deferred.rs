//! Deferred messages that cannot be written after the session key has arrived.

use uuid::Uuid;

use super::{Event, PipelineEvent, RunspacePool};
use crate::fragment::Priority;
use crate::host::{HostOutcome, HostResponse};
use crate::link::{DeferredMessage, Quota};
use crate::message::{PipelineState, PipelineStateInfo};
use crate::record::{ErrorCategory, ErrorRecord};

impl RunspacePool {
    /// Fails a pipeline because of a local error that the server does not know about.
    pub(super) fn fail_pipeline(&mut self, id: Uuid, record: ErrorRecord) {
        let Some(entry) = self.pipelines.get_mut(&id) else { return };
        if entry.is_terminal() || entry.is_closing {
            return;
        }
        entry.state = PipelineState::Failed;
        self.host_calls.remove_pipeline(id);
        self.link.discard_output(Some(id));
        let error = Some(Box::new(record));
        let event = PipelineEvent::State(PipelineStateInfo { state: PipelineState::Failed, error });
        self.events.push(Event::Pipeline { id, event }, 0);
    }

    /// Sends the deferred messages. A message that cannot be written fails its pipeline or host call, not the pool.
    pub(super) fn send_deferred(&mut self) {
        while let Some((deferred, error)) = self.link.send_deferred() {
            let record = ErrorRecord::new(error.to_string(), ErrorCategory::WriteError);
            match (deferred.priority, deferred.target) {
                (Priority::PromptResponse, _) => self.respond_with_error(&deferred, record),
                (_, Some(id)) => self.fail_pipeline(id, record),
                // The pool defers no other messages.
                (_, None) => {}
            }
        }
    }

    /// Responds to a host call with an error if the actual response cannot be written, so that the server does not
    /// wait.
    fn respond_with_error(&mut self, deferred: &DeferredMessage, record: ErrorRecord) {
        let Some(answer) = deferred.value.as_ref().and_then(|value| HostResponse::from_value(value).ok())
        else {
            return;
        };
        let reason = Box::new(record);
        let response = HostResponse { outcome: HostOutcome::Error(reason.clone()), ..answer };
        let (call_id, value) = (response.call_id, response.to_value());
        // This record can always be written. Room was reserved for the deferred response.
        let _ = self.link.send(
            Quota::Reserved,
            deferred.target,
            deferred.priority,
            deferred.message_type,
            Some(&value),
        );
        self.events.push(Event::ResponseFailed { pipeline: deferred.target, call_id, reason }, 0);
    }
}
