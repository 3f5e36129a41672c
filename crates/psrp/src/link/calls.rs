//! Pending host calls.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::error::protocol_violation;
use crate::error::{Error, Kind};
use crate::host::HostMethod;

/// Pending calls by pipeline (`None` for the runspace pool) and call identifier.
pub(crate) struct HostCalls {
    calls: BTreeMap<(Option<Uuid>, i64), HostMethod>,
    max: usize,
}

impl HostCalls {
    pub(crate) fn new(max: usize) -> Self {
        Self { calls: BTreeMap::new(), max }
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
        let id = Some(pipeline);
        let numbers: Vec<_> =
            self.calls.range((id, i64::MIN)..=(id, i64::MAX)).map(|(call, _)| *call).collect();
        for call in numbers {
            self.calls.remove(&call);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.calls.clear();
    }
}
