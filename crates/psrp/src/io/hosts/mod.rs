//! Hosts for unattended programs and for tests.

mod null;
mod scripted;

pub use null::NullHost;
pub use scripted::{ScriptedCall, ScriptedHost};

use crate::host::HostMethod;
use crate::record::{ErrorCategory, ErrorRecord, exception};

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
