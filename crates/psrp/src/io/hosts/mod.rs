//! Hosts: one without a user, and one for tests.

mod null;
mod scripted;

pub use null::NullHost;
pub use scripted::{ScriptedCall, ScriptedHost};

use crate::host::HostMethod;
use crate::record::{ErrorCategory, ErrorRecord, exception};

/// The identifier that PowerShell gives errors of hosts.
const ERROR_ID: &str = "RemoteHostExecutionException";

/// The answer to a method that a host does not have.
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

/// The answer to a call that failed.
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
