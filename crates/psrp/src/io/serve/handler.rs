//! What a server does.

use std::future::{Future, ready};
use std::sync::Arc;

use super::{Ended, Input, Pipeline, Session};
use crate::Error;
use crate::message::{CommandMetadata, CreatePipeline, GetCommandMetadata};
use crate::record::{ErrorCategory, ErrorRecord};

/// What comes of something that a client asked for; the record tells it why it failed.
///
/// An [`Error`] and an [`ErrorRecord`] become the record by `?` and `into`.
pub type Outcome<T = ()> = Result<T, Box<ErrorRecord>>;

/// Does what the client of a session asks for.
///
/// All methods but [`run`](Self::run) have a default.
#[allow(unused_variables, reason = "their names are for those who write the methods")]
pub trait Handler: Send + Sync + 'static {
    /// Runs a pipeline. The client hears that it is completed when this returns.
    ///
    /// # Errors
    ///
    /// The client hears that it has failed, and why, if this fails.
    fn run(
        &self,
        create: CreatePipeline,
        pipeline: Pipeline,
        input: Input,
    ) -> impl Future<Output = Outcome> + Send;

    /// Lists commands. Default: there are none.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    fn commands(
        &self,
        get: GetCommandMetadata,
        pipeline: Pipeline,
    ) -> impl Future<Output = Outcome<Vec<CommandMetadata>>> + Send {
        ready(Ok(Vec::new()))
    }

    /// The pool is open. No pipeline runs before this has returned.
    ///
    /// # Errors
    ///
    /// The pool is broken, with this reason, if it fails.
    fn opened(&self, session: &Session) -> impl Future<Output = Outcome> + Send {
        ready(Ok(()))
    }

    /// A client has connected to the pool.
    fn connected(&self, session: &Session) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// The session has ended; no pipeline runs any more. Called once for each session, unless the future of
    /// [`serve`](super::serve) is dropped before.
    fn closed(&self, ended: &Result<Ended, Error>) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// Whether the largest number of runspaces becomes this, which is at least 1 and the least number. Default: yes.
    fn set_max_runspaces(&self, count: i32) -> bool {
        true
    }

    /// Whether the least number of runspaces becomes this, which is at least 1 and at most the largest number. Default:
    /// yes.
    fn set_min_runspaces(&self, count: i32) -> bool {
        true
    }

    /// How many runspaces are free, given the number of those in which nothing runs. Default: that number.
    fn available_runspaces(&self, idle: i64) -> i64 {
        idle
    }

    /// Resets the state of the runspace, and tells whether it has. Default: no.
    fn reset_runspace(&self, session: &Session) -> impl Future<Output = bool> + Send {
        ready(false)
    }
}

/// One handler for several sessions.
impl<H: Handler> Handler for Arc<H> {
    fn run(
        &self,
        create: CreatePipeline,
        pipeline: Pipeline,
        input: Input,
    ) -> impl Future<Output = Outcome> + Send {
        H::run(self, create, pipeline, input)
    }

    fn commands(
        &self,
        get: GetCommandMetadata,
        pipeline: Pipeline,
    ) -> impl Future<Output = Outcome<Vec<CommandMetadata>>> + Send {
        H::commands(self, get, pipeline)
    }

    fn opened(&self, session: &Session) -> impl Future<Output = Outcome> + Send {
        H::opened(self, session)
    }

    fn connected(&self, session: &Session) -> impl Future<Output = ()> + Send {
        H::connected(self, session)
    }

    fn closed(&self, ended: &Result<Ended, Error>) -> impl Future<Output = ()> + Send {
        H::closed(self, ended)
    }

    fn set_max_runspaces(&self, count: i32) -> bool {
        H::set_max_runspaces(self, count)
    }

    fn set_min_runspaces(&self, count: i32) -> bool {
        H::set_min_runspaces(self, count)
    }

    fn available_runspaces(&self, idle: i64) -> i64 {
        H::available_runspaces(self, idle)
    }

    fn reset_runspace(&self, session: &Session) -> impl Future<Output = bool> + Send {
        H::reset_runspace(self, session)
    }
}

/// What a client is told of an error, whose text has nothing of the input.
impl From<Error> for Box<ErrorRecord> {
    fn from(error: Error) -> Self {
        let category = if error.is_closed() || error.is_io() {
            ErrorCategory::ConnectionError
        } else if error.is_limit() {
            ErrorCategory::LimitsExceeded
        } else if error.is_timeout() {
            ErrorCategory::OperationTimeout
        } else if error.is_protocol()
            || error.is_syntax()
            || error.is_structure()
            || error.is_invalid_header()
        {
            ErrorCategory::ProtocolError
        } else {
            ErrorCategory::InvalidOperation
        };
        Self::new(ErrorRecord::new(error.to_string(), category).with_id("PsrpError"))
    }
}
