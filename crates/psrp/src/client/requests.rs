//! Requests of the client's pool, responses to host calls, and deferred messages.

use uuid::Uuid;

use super::{Event, RunspacePool};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::host::{HostOutcome, HostResponse};
use crate::link::{DeferredMessage, PoolRequest, Quota};
use crate::message::{Payload, RunspacePoolState};
use crate::record::{ErrorCategory, ErrorRecord};
use crate::value::Version;

impl RunspacePool {
    /// Sets the minimum number of runspaces. Before opening it takes effect immediately, otherwise when the server
    /// accepts. Returns the identifier of the request, `None` if none was sent.
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and if `count` is below 1 or above the maximum
    /// ([`Error::is_state`]). Every request fails while the maximum number of requests is pending
    /// ([`Error::is_limit`]).
    pub fn set_min_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        let is_valid = count >= 1 && count <= self.init.max_runspaces;
        let is_set = count == self.init.min_runspaces;
        self.set_runspaces("minimum", PoolRequest::SetMinRunspaces(count), is_valid, is_set)
    }

    /// Sets the maximum number of runspaces, see [`set_min_runspaces`](Self::set_min_runspaces).
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and if `count` is below the minimum ([`Error::is_state`]).
    pub fn set_max_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        let is_valid = count >= self.init.min_runspaces.max(1);
        let is_set = count == self.init.max_runspaces;
        self.set_runspaces("maximum", PoolRequest::SetMaxRunspaces(count), is_valid, is_set)
    }

    fn set_runspaces(
        &mut self,
        limit: &str,
        request: PoolRequest,
        is_valid: bool,
        is_set: bool,
    ) -> Result<Option<i64>, Error> {
        let action = format!("set the {limit} number of runspaces");
        self.require(&action, &[RunspacePoolState::BeforeOpen, RunspacePoolState::Opened])?;
        if !is_valid {
            return Err(Error::with(Kind::State, "the number of runspaces is out of range"));
        }
        if is_set {
            return Ok(None);
        }
        if self.state == RunspacePoolState::BeforeOpen {
            request.apply(&mut self.init);
            return Ok(None);
        }
        self.request(request).map(Some)
    }

    /// Requests the number of free runspaces. Returns the identifier of the request, which
    /// [`Event::RequestCompleted`](super::Event::RequestCompleted) repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn get_available_runspaces(&mut self) -> Result<i64, Error> {
        self.require_opened("request the number of free runspaces")?;
        self.request(PoolRequest::GetAvailableRunspaces)
    }

    /// Resets the variables of the runspace. Returns the identifier of the request, which
    /// [`Event::RequestCompleted`](super::Event::RequestCompleted) repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open, or if the server's protocol is older than 2.3 ([`Error::is_state`]).
    pub fn reset_runspace_state(&mut self) -> Result<i64, Error> {
        self.require_opened("reset the runspace")?;
        if self.protocol() < Version::new(2, 3) {
            return Err(Error::with(Kind::State, "resetting a runspace requires protocol 2.3"));
        }
        self.request(PoolRequest::ResetRunspaceState)
    }

    fn request(&mut self, request: PoolRequest) -> Result<i64, Error> {
        if self.requests.len() >= self.limits.max_requests {
            return Err(Error::with(Kind::Limit, "number of pending requests"));
        }
        let call_id = self.next_call_id;
        self.link.send_application_payload(None, &request.payload(call_id))?;
        self.next_call_id += 1;
        self.requests.insert(call_id, request);
        Ok(call_id)
    }

    /// Responds to a host call of a pipeline, or of the pool with `None`.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open or if no such call is pending ([`Error::is_state`]), and if the response cannot be
    /// written; the call stays pending then.
    pub fn respond(&mut self, pipeline: Option<Uuid>, response: HostResponse) -> Result<(), Error> {
        self.require_opened("respond to a host call")?;
        let call_id = response.call_id;
        if self.host_calls.method(pipeline, call_id) != Some(response.method) {
            return Err(Error::with(Kind::State, "no such host call is pending"));
        }
        let payload = match pipeline {
            None => Payload::RunspacePoolHostResponse(response),
            Some(_) => Payload::PipelineHostResponse(response),
        };
        self.send(pipeline, Priority::PromptResponse, payload.message_type(), payload.to_value())?;
        self.host_calls.remove(pipeline, call_id);
        Ok(())
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
