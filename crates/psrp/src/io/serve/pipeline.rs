//! A pipeline as its handler sees it.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use uuid::Uuid;

use super::shared::{Run, Shared};
use super::stop::Stop;
use super::{Outcome, Session, now};
use crate::Error;
use crate::host::{HostRequest, HostResult};
use crate::record::{ErrorRecord, InformationRecord, InformationalRecord};
use crate::value::{Progress, Value};

/// The streams of a pipeline, and the client's host.
///
/// Everything that writes waits while much is unsent ([`Options::max_unsent_bytes`](super::Options::max_unsent_bytes)),
/// or while a secure string that was written before waits for the session key, and fails if the pipeline has ended or the
/// client is gone ([`Error::is_closed`]), or if the value can't be written.
#[derive(Clone)]
pub struct Pipeline {
    pub(super) run: Run,
    pub(super) stop: Arc<Stop>,
    pub(super) session: Session,
}

impl Pipeline {
    /// The identifier of the pipeline.
    pub fn id(&self) -> Uuid {
        self.run.id
    }

    /// The session that the pipeline belongs to.
    pub fn session(&self) -> &Session {
        &self.session
    }

    fn shared(&self) -> &Shared {
        &self.session.shared
    }

    /// Writes an object to the output.
    ///
    /// # Errors
    ///
    /// As described for the [type](Self).
    pub async fn output(&self, value: impl Into<Value>) -> Result<(), Error> {
        let value = value.into();
        self.shared().write_of(self.run, |pipeline| pipeline.write_output(value)).await
    }

    /// Writes an error record. The pipeline goes on; what a handler fails with ends it.
    ///
    /// # Errors
    ///
    /// As described for the [type](Self).
    pub async fn error(&self, record: ErrorRecord) -> Result<(), Error> {
        let record = Box::new(record);
        self.shared().write_of(self.run, |pipeline| pipeline.write_error(*record)).await
    }

    /// Writes a warning.
    ///
    /// # Errors
    ///
    /// As described for the [type](Self).
    pub async fn warning(&self, record: InformationalRecord) -> Result<(), Error> {
        self.shared().write_of(self.run, |pipeline| pipeline.write_warning(record)).await
    }

    /// Writes a verbose message.
    ///
    /// # Errors
    ///
    /// As described for the [type](Self).
    pub async fn verbose(&self, record: InformationalRecord) -> Result<(), Error> {
        self.shared().write_of(self.run, |pipeline| pipeline.write_verbose(record)).await
    }

    /// Writes a debug message.
    ///
    /// # Errors
    ///
    /// As described for the [type](Self).
    pub async fn debug(&self, record: InformationalRecord) -> Result<(), Error> {
        self.shared().write_of(self.run, |pipeline| pipeline.write_debug(record)).await
    }

    /// Writes an information record. One without a time gets the present.
    ///
    /// # Errors
    ///
    /// As described for the [type](Self), and if the client's protocol is older than 2.3 ([`Error::is_state`]).
    pub async fn information(&self, mut record: InformationRecord) -> Result<(), Error> {
        record.time_generated = record.time_generated.or_else(now);
        self.shared().write_of(self.run, |pipeline| pipeline.write_information(record)).await
    }

    /// Writes progress.
    ///
    /// # Errors
    ///
    /// As described for the [type](Self).
    pub async fn progress(&self, record: Progress) -> Result<(), Error> {
        self.shared().write_of(self.run, |pipeline| pipeline.write_progress(record)).await
    }

    /// Calls a method of the client's host and waits for the answer. For a method without a result it is
    /// [`HostResult::Nothing`], at once.
    ///
    /// An answer that is not waited for any more is dropped; its call counts for
    /// [`Config::max_host_calls`](crate::server::Config::max_host_calls) until it comes or the pipeline ends.
    ///
    /// # Errors
    ///
    /// Fails with the record of the client if the method failed there, and with one of its own if nothing can be written,
    /// as described for the [type](Self), if too many calls wait, and if the answer is of another type.
    pub async fn host(&self, request: HostRequest) -> Outcome<HostResult> {
        self.shared().call(Some(self.run), request).await
    }

    /// Waits until the client wants the pipeline to stop.
    ///
    /// From the call on, even before it is awaited, a stop does not drop the handler's future any more: the handler is
    /// expected to end by itself, within [`Options::stop_timeout`](super::Options::stop_timeout). Whatever it returns, the
    /// client hears that the pipeline was stopped.
    pub fn stopping(&self) -> impl Future<Output = ()> + Send + 'static {
        self.stop.handle();
        let stop = self.stop.clone();
        async move { stop.requested().await }
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("id", &self.run.id)
            .field("is_stopping", &self.stop.is_requested())
            .finish_non_exhaustive()
    }
}
