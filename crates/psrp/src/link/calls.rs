//! Calls of the host that wait for an answer.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::violation;
use crate::error::{Error, Kind};
use crate::host::HostMethod;

/// The calls by who has made them, `None` for the pool, and their numbers.
pub(crate) struct HostCalls {
    calls: BTreeMap<(Option<Uuid>, i64), HostMethod>,
    max: usize,
}

impl HostCalls {
    pub(crate) fn new(max: usize) -> Self {
        Self { calls: BTreeMap::new(), max }
    }

    /// Whether one more may wait.
    pub(crate) fn reserve(&self) -> Result<(), Error> {
        if self.calls.len() >= self.max {
            return Err(Error::with(Kind::Limit, "number of calls of the host that wait"));
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
            Some(_) => Err(violation("two calls of the host with one number")),
            None => Ok(()),
        }
    }

    pub(crate) fn method(&self, pipeline: Option<Uuid>, call_id: i64) -> Option<HostMethod> {
        self.calls.get(&(pipeline, call_id)).copied()
    }

    pub(crate) fn remove(&mut self, pipeline: Option<Uuid>, call_id: i64) -> Option<HostMethod> {
        self.calls.remove(&(pipeline, call_id))
    }

    /// Removes all of a pipeline.
    pub(crate) fn forget(&mut self, pipeline: Uuid) {
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
