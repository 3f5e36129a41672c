//! Who answers the calls of a host.

use std::future::Future;
use std::pin::Pin;

use uuid::Uuid;

use crate::host::{HostRequest, HostResult};
use crate::record::ErrorRecord;

/// What [`Host::call`] returns.
pub type HostFuture<'a> = Pin<Box<dyn Future<Output = Result<HostResult, Box<ErrorRecord>>> + Send + 'a>>;

/// The console or window in front of a user, as scripts of a server see it (MS-PSRP 2.2.3.17).
///
/// A host is shared by all pipelines of its pool. Calls of one pipeline come one after the other, those of several may
/// come at once.
pub trait Host: Send + Sync {
    /// Does what a script asks for. The pipeline is `None` for the pool itself.
    ///
    /// What a call without result returns is dropped. An error is thrown in the script.
    fn call(&self, pipeline: Option<Uuid>, request: HostRequest) -> HostFuture<'_>;
}
