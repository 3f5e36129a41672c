//! Trait for servers: what pipelines do.

use std::future::{Future, ready};
use std::sync::Arc;

use super::{Input, Outcome, Pipeline, Session, SessionEnd};
use crate::Error;
use crate::message::{CommandMetadata, CreatePipeline, GetCommandMetadata};

/// Executes the requests of a session's client.
///
/// All methods except [`run`](Self::run) have a default.
#[allow(unused_variables, reason = "parameter names are part of the documentation")]
pub trait Handler: Send + Sync + 'static {
    /// Runs a pipeline. The pipeline is completed when this returns.
    ///
    /// # Errors
    ///
    /// An error fails the pipeline; the client receives the error record.
    fn run(
        &self,
        create: CreatePipeline,
        pipeline: Pipeline,
        input: Input,
    ) -> impl Future<Output = Outcome> + Send;

    /// Lists the available commands. Default: none. Fails like [`run`](Self::run).
    fn commands(
        &self,
        get: GetCommandMetadata,
        pipeline: Pipeline,
    ) -> impl Future<Output = Outcome<Vec<CommandMetadata>>> + Send {
        ready(Ok(Vec::new()))
    }

    /// Called when the pool is open. Pipelines start after it has returned.
    ///
    /// # Errors
    ///
    /// An error breaks the pool; the client receives the error record.
    fn opened(&self, session: &Session) -> impl Future<Output = Outcome> + Send {
        ready(Ok(()))
    }

    /// Called once at the end of a session, after all pipelines have ended, unless the future of
    /// [`serve`](super::serve) is dropped.
    fn closed(&self, ended: &Result<SessionEnd, Error>) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// Called when the client sets the maximum number of runspaces, which is at least 1 and at least the minimum.
    /// Returns whether to accept it. Default: true.
    fn set_max_runspaces(&self, count: i32) -> bool {
        true
    }

    /// Resets the state of the runspace. Returns whether it was reset. Default: false.
    fn reset_runspace(&self, session: &Session) -> impl Future<Output = bool> + Send {
        ready(false)
    }
}

/// Allows several sessions to share a handler.
impl<H: Handler> Handler for Arc<H> {
    async fn run(&self, create: CreatePipeline, pipeline: Pipeline, input: Input) -> Outcome {
        H::run(self, create, pipeline, input).await
    }

    async fn commands(&self, get: GetCommandMetadata, pipeline: Pipeline) -> Outcome<Vec<CommandMetadata>> {
        H::commands(self, get, pipeline).await
    }

    async fn opened(&self, session: &Session) -> Outcome {
        H::opened(self, session).await
    }

    async fn closed(&self, ended: &Result<SessionEnd, Error>) {
        H::closed(self, ended).await;
    }

    fn set_max_runspaces(&self, count: i32) -> bool {
        H::set_max_runspaces(self, count)
    }

    async fn reset_runspace(&self, session: &Session) -> bool {
        H::reset_runspace(self, session).await
    }
}
