//! Pending calls and requests of a pool, and received bytes of a pipeline.

use std::collections::HashMap;

use uuid::Uuid;

use super::protocol_violation;
use crate::error::{Error, Kind};
use crate::host::HostMethod;
use crate::message::{
    Availability, GetAvailableRunspaces, InitRunspacePool, Payload, ResetRunspaceState, SetMaxRunspaces,
    SetMinRunspaces,
};

/// Pending calls by pipeline (`None` for the runspace pool) and call identifier.
pub(crate) struct HostCalls {
    calls: HashMap<(Option<Uuid>, i64), HostMethod>,
    max: usize,
}

impl HostCalls {
    pub(crate) fn new(max: usize) -> Self {
        Self { calls: HashMap::new(), max }
    }

    /// Fails if the maximum number of calls is pending.
    pub(crate) fn reserve(&self) -> Result<(), Error> {
        if self.calls.len() >= self.max {
            return Err(Error::with(Kind::Limit, "number of pending host calls"));
        }
        Ok(())
    }

    pub(crate) fn insert(
        &mut self,
        pipeline: Option<Uuid>,
        call_id: i64,
        method: HostMethod,
    ) -> Result<(), Error> {
        self.reserve()?;
        match self.calls.insert((pipeline, call_id), method) {
            Some(_) => Err(protocol_violation("two host calls with the same identifier")),
            None => Ok(()),
        }
    }

    pub(crate) fn method(&self, pipeline: Option<Uuid>, call_id: i64) -> Option<HostMethod> {
        self.calls.get(&(pipeline, call_id)).copied()
    }

    pub(crate) fn remove(&mut self, pipeline: Option<Uuid>, call_id: i64) -> Option<HostMethod> {
        self.calls.remove(&(pipeline, call_id))
    }

    /// Removes all calls of a pipeline.
    pub(crate) fn remove_pipeline(&mut self, pipeline: Uuid) {
        self.calls.retain(|(caller, _), _| *caller != Some(pipeline));
    }

    pub(crate) fn clear(&mut self) {
        self.calls.clear();
    }
}

/// Receive state of a pipeline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Received {
    /// Fragment bytes so far.
    bytes: usize,
    /// A message was malformed or exceeded a limit: further input is dropped.
    pub(crate) has_failed: bool,
}

impl Received {
    /// Counts received bytes. Returns whether they are to be processed.
    pub(crate) fn count(&mut self, len: usize, max_bytes: usize) -> Result<bool, Error> {
        self.bytes = self.bytes.saturating_add(len);
        if self.bytes > max_bytes && !self.has_failed {
            return Err(Error::with(Kind::Limit, "bytes received for one pipeline"));
        }
        Ok(!self.has_failed)
    }
}

/// A request of a client about the runspaces of its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolRequest {
    /// Change the minimum number of runspaces. The response is whether it was changed.
    SetMinRunspaces(i32),
    /// Change the maximum number of runspaces. The response is whether it was changed.
    SetMaxRunspaces(i32),
    /// Return the number of free runspaces.
    GetAvailableRunspaces,
    /// Reset the variables of the runspace. The response is whether they were reset.
    ResetRunspaceState,
}

impl PoolRequest {
    pub(crate) const fn payload(self, call_id: i64) -> Payload {
        match self {
            Self::SetMinRunspaces(count) => {
                Payload::SetMinRunspaces(SetMinRunspaces { min_runspaces: count, call_id })
            }
            Self::SetMaxRunspaces(count) => {
                Payload::SetMaxRunspaces(SetMaxRunspaces { max_runspaces: count, call_id })
            }
            Self::GetAvailableRunspaces => Payload::GetAvailableRunspaces(GetAvailableRunspaces { call_id }),
            Self::ResetRunspaceState => Payload::ResetRunspaceState(ResetRunspaceState { call_id }),
        }
    }

    /// Returns whether a response is of the kind of this request.
    pub(crate) const fn fits(self, availability: Availability) -> bool {
        matches!(self, Self::GetAvailableRunspaces) == matches!(availability, Availability::Count(_))
    }

    /// Makes the change of an accepted request.
    pub(crate) const fn apply(self, init: &mut InitRunspacePool) {
        match self {
            Self::SetMinRunspaces(count) => init.min_runspaces = count,
            Self::SetMaxRunspaces(count) => init.max_runspaces = count,
            Self::GetAvailableRunspaces | Self::ResetRunspaceState => {}
        }
    }
}
