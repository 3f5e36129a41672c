//! Requests of the pool, and answers to the calls of its host.

use uuid::Uuid;

use super::RunspacePool;
use super::pool::Request;
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::host::HostResponse;
use crate::message::{
    GetAvailableRunspaces, Payload, ResetRunspaceState, RunspacePoolState, SetMaxRunspaces, SetMinRunspaces,
};
use crate::value::Version;

impl RunspacePool {
    /// Changes the least number of runspaces: at once before opening, else when the server agrees. The number of the
    /// request, `None` if nothing is to be asked.
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and for a number below 1 or above the largest
    /// ([`Error::is_state`]). Every request fails while too many of them wait ([`Error::is_limit`]).
    pub fn set_min_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        const ACTION: &str = "set the least number of runspaces";
        self.require(ACTION, &[RunspacePoolState::BeforeOpen, RunspacePoolState::Opened])?;
        if count < 1 || count > self.init.max_runspaces {
            return Err(Error::with(Kind::State, "can't set a number of runspaces outside of the limits"));
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

    /// Changes the largest number of runspaces; otherwise as [`set_min_runspaces`](Self::set_min_runspaces).
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and for a number below the least one
    /// ([`Error::is_state`]).
    pub fn set_max_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        const ACTION: &str = "set the largest number of runspaces";
        self.require(ACTION, &[RunspacePoolState::BeforeOpen, RunspacePoolState::Opened])?;
        if count < self.init.min_runspaces.max(1) {
            return Err(Error::with(Kind::State, "can't set a number of runspaces outside of the limits"));
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

    /// Asks how many runspaces are free. The number of the request, which [`Event::Answer`](super::Event::Answer) repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn get_available_runspaces(&mut self) -> Result<i64, Error> {
        self.require_opened("ask for free runspaces")?;
        let message = |call_id| Payload::GetAvailableRunspaces(GetAvailableRunspaces { call_id });
        self.request(Request::GetAvailable, message)
    }

    /// Resets the variables of the runspace. The number of the request, which [`Event::Answer`](super::Event::Answer) repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open, or if the server's protocol is older than 2.3 ([`Error::is_state`]).
    pub fn reset_runspace_state(&mut self) -> Result<i64, Error> {
        self.require_opened("reset the runspace")?;
        if self.protocol() < Version::new(2, 3) {
            return Err(Error::with(Kind::State, "runspaces can be reset since protocol 2.3"));
        }
        let message = |call_id| Payload::ResetRunspaceState(ResetRunspaceState { call_id });
        self.request(Request::Reset, message)
    }

    fn request(&mut self, request: Request, message: impl FnOnce(i64) -> Payload) -> Result<i64, Error> {
        if self.requests.len() >= self.max_requests {
            return Err(Error::with(Kind::Limit, "number of requests that wait"));
        }
        let call_id = self.next_call_id;
        self.link.send_payload(None, &message(call_id))?;
        self.next_call_id += 1;
        self.requests.insert(call_id, request);
        Ok(call_id)
    }

    /// Answers a call of the host, for a pipeline or with `None` for the pool.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open or if no such call waits for an answer ([`Error::is_state`]), and if the answer
    /// can't be written; the call waits on then.
    pub fn respond(&mut self, pipeline: Option<Uuid>, response: HostResponse) -> Result<(), Error> {
        self.require_opened("answer a call of the host")?;
        let call_id = response.call_id;
        if self.host_calls.method(pipeline, call_id) != Some(response.method) {
            return Err(Error::with(Kind::State, "can't answer a call of the host that does not wait"));
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
