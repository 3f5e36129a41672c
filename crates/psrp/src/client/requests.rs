//! Requests of the client's pool, and responses to host calls.

use uuid::Uuid;

use super::RunspacePool;
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::host::HostResponse;
use crate::link::Request;
use crate::message::{
    GetAvailableRunspaces, Payload, ResetRunspaceState, RunspacePoolState, SetMaxRunspaces, SetMinRunspaces,
};
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
        const ACTION: &str = "set the minimum number of runspaces";
        self.require(ACTION, &[RunspacePoolState::BeforeOpen, RunspacePoolState::Opened])?;
        if count < 1 || count > self.init.max_runspaces {
            return Err(Error::with(Kind::State, "the number of runspaces is out of range"));
        }
        if count == self.init.min_runspaces {
            return Ok(None);
        }
        if self.state == RunspacePoolState::BeforeOpen {
            self.init.min_runspaces = count;
            return Ok(None);
        }
        let message = |call_id| Payload::SetMinRunspaces(SetMinRunspaces { min_runspaces: count, call_id });
        self.request(Request::SetMin(count), message).map(Some)
    }

    /// Sets the maximum number of runspaces, see [`set_min_runspaces`](Self::set_min_runspaces).
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and if `count` is below the minimum ([`Error::is_state`]).
    pub fn set_max_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        const ACTION: &str = "set the maximum number of runspaces";
        self.require(ACTION, &[RunspacePoolState::BeforeOpen, RunspacePoolState::Opened])?;
        if count < self.init.min_runspaces.max(1) {
            return Err(Error::with(Kind::State, "the number of runspaces is out of range"));
        }
        if count == self.init.max_runspaces {
            return Ok(None);
        }
        if self.state == RunspacePoolState::BeforeOpen {
            self.init.max_runspaces = count;
            return Ok(None);
        }
        let message = |call_id| Payload::SetMaxRunspaces(SetMaxRunspaces { max_runspaces: count, call_id });
        self.request(Request::SetMax(count), message).map(Some)
    }

    /// Requests the number of free runspaces. Returns the identifier of the request, which
    /// [`Event::RequestCompleted`](super::Event::RequestCompleted) repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn get_available_runspaces(&mut self) -> Result<i64, Error> {
        self.require_opened("request the number of free runspaces")?;
        let message = |call_id| Payload::GetAvailableRunspaces(GetAvailableRunspaces { call_id });
        self.request(Request::GetAvailable, message)
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
        let message = |call_id| Payload::ResetRunspaceState(ResetRunspaceState { call_id });
        self.request(Request::Reset, message)
    }

    fn request(&mut self, request: Request, message: impl FnOnce(i64) -> Payload) -> Result<i64, Error> {
        if self.requests.len() >= self.limits.max_requests {
            return Err(Error::with(Kind::Limit, "number of pending requests"));
        }
        let call_id = self.next_call_id;
        self.link.send_application_payload(None, &message(call_id))?;
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
}
