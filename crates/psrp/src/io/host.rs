//! Who answers the calls of a host.

use std::future::Future;
use std::pin::Pin;

use uuid::Uuid;

use crate::host::{HostRequest, HostResult};
use crate::message::HostInfo;
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

    /// What the server is told about the host when a pool is opened: which parts it has, and the console as it is then.
    /// The default is a host that reads and writes lines.
    fn info(&self) -> HostInfo {
        HostInfo::lines()
    }
}
