//! Trait for hosts: handlers of host calls.

use std::future::Future;
use std::pin::Pin;

use uuid::Uuid;

use crate::host::{HostRequest, HostResult};
use crate::message::HostInfo;
use crate::record::ErrorRecord;

/// Future returned by [`Host::call`].
pub type HostFuture<'a> = Pin<Box<dyn Future<Output = Result<HostResult, Box<ErrorRecord>>> + Send + 'a>>;

/// Handler of a session's host calls: the user's console or window, as scripts see it (MS-PSRP 2.2.3.17).
///
/// All pipelines of a pool share one host. The calls of one pipeline are sequential; calls of different pipelines may
/// be concurrent.
pub trait Host: Send + Sync {
    /// Handles one call. `pipeline` is `None` for calls of the pool itself.
    ///
    /// The result is ignored for methods that return nothing. An error is thrown in the script.
    fn call(&self, pipeline: Option<Uuid>, request: HostRequest) -> HostFuture<'_>;

    /// Describes the host to the server when a pool is opened: its parts and the current console settings. The default
    /// describes a line-based console without further parts.
    fn info(&self) -> HostInfo {
        HostInfo::lines()
    }
}
