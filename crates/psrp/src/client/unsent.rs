//! What becomes of messages that turn out not to be writable when the key for them is there.

use uuid::Uuid;

use super::{Event, PipelineEvent, RunspacePool};
use crate::fragment::Priority;
use crate::host::{HostOutcome, HostResponse};
use crate::link::{Parked, Sender};
use crate::message::{PipelineState, PipelineStateInfo};
use crate::record::{ErrorCategory, ErrorRecord};

impl RunspacePool {
    /// Fails a pipeline because of something that the server does not know of.
    pub(super) fn fail_pipeline(&mut self, id: Uuid, record: ErrorRecord) {
        let Some(entry) = self.pipelines.get_mut(&id) else { return };
        if entry.is_terminal() || entry.is_closing {
            return;
        }
        entry.state = PipelineState::Failed;
        self.host_calls.forget(id);
        self.link.discard_output(Some(id));
        let error = Some(Box::new(record));
        let event = PipelineEvent::State(PipelineStateInfo { state: PipelineState::Failed, error });
        self.events.push(Event::Pipeline { id, event }, 0);
    }

    /// Sends what waited for the key. What can't be written fails its pipeline or call, not the pool.
    pub(super) fn send_parked(&mut self) {
        while let Some((parked, error)) = self.link.send_parked() {
            let record = ErrorRecord::new(error.to_string(), ErrorCategory::WriteError);
            match (parked.priority, parked.target) {
                (Priority::PromptResponse, _) => self.respond_instead(&parked, record),
                (_, Some(id)) => self.fail_pipeline(id, record),
                // The pool sends nothing else that waits.
                (_, None) => {}
            }
        }
    }

    /// Answers a call of the host with an error where the answer can't be written, so that the server does not wait.
    fn respond_instead(&mut self, parked: &Parked, record: ErrorRecord) {
        let Some(answer) = parked.value.as_ref().and_then(|value| HostResponse::from_value(value).ok())
        else {
            return;
        };
        let reason = Box::new(record);
        let response = HostResponse { outcome: HostOutcome::Error(reason.clone()), ..answer };
        let (call_id, value) = (response.call_id, response.to_value());
        // An error of ours can be written, and has the place of the answer that was admitted.
        let _ = self.link.send(
            Sender::Admitted,
            parked.target,
            parked.priority,
            parked.message_type,
            Some(&value),
        );
        self.events.push(Event::ResponseFailed { pipeline: parked.target, call_id, reason }, 0);
    }
}
