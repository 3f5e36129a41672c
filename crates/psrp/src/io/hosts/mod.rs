//! Trait for hosts, and hosts for unattended programs and for tests.

mod null;
mod scripted;

pub use null::NullHost;
pub use scripted::{ScriptedCall, ScriptedHost};

use std::future::Future;
use std::pin::Pin;

use uuid::Uuid;

use crate::host::{HostMethod, HostRequest, HostResult};
use crate::message::HostInfo;
use crate::record::{ErrorCategory, ErrorRecord, exception};

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

/// Error identifier that PowerShell uses for host errors.
const ERROR_ID: &str = "RemoteHostExecutionException";

/// Returns the error for a method that the host does not implement.
fn not_implemented(method: HostMethod) -> Box<ErrorRecord> {
    let names = [
        "System.Management.Automation.PSNotImplementedException",
        "System.NotImplementedException",
        "System.SystemException",
    ];
    let message = format!("The client's host does not implement {method}.");
    Box::new(
        ErrorRecord::of_exception(exception(names, message), ErrorCategory::NotImplemented)
            .with_id(ERROR_ID)
            .with_reason("PSNotImplementedException"),
    )
}

/// Returns the error for a failed call.
fn failed(message: impl Into<String>, category: ErrorCategory) -> Box<ErrorRecord> {
    let names = [
        "System.Management.Automation.Host.HostException",
        "System.Management.Automation.RuntimeException",
        "System.SystemException",
    ];
    Box::new(
        ErrorRecord::of_exception(exception(names, message.into()), category)
            .with_id(ERROR_ID)
            .with_reason("HostException"),
    )
}
