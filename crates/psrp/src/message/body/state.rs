//! States of pools and pipelines.

use crate::record::{ErrorCategory, ErrorRecord, exception};
use crate::shape::{object_struct, open_enum};

open_enum! {
    /// The state of a runspace pool (`System.Management.Automation.Runspaces.RunspacePoolState`).
    ///
    /// The numbers are those of PowerShell, which differ from MS-PSRP 2.2.3.4 above 5.
    pub enum RunspacePoolState {
        /// Not opened yet.
        BeforeOpen = 0,
        /// Being opened.
        Opening = 1,
        /// Open.
        Opened = 2,
        /// Closed.
        Closed = 3,
        /// Being closed.
        Closing = 4,
        /// Failed.
        Broken = 5,
        /// Being disconnected.
        Disconnecting = 6,
        /// Disconnected: running without a client.
        Disconnected = 7,
        /// Being connected.
        Connecting = 8,
    }
}

open_enum! {
    /// The state of a pipeline (`System.Management.Automation.PSInvocationState`, MS-PSRP 2.2.3.5).
    pub enum PipelineState {
        /// Not started yet.
        NotStarted = 0,
        /// Running.
        Running = 1,
        /// Being stopped.
        Stopping = 2,
        /// Stopped before completion.
        Stopped = 3,
        /// Completed.
        Completed = 4,
        /// Failed with an error.
        Failed = 5,
        /// Running without a client.
        Disconnected = 6,
    }
}

object_struct! {
    /// The state of a pool (MS-PSRP 2.2.2.9).
    #[derive(Clone, Debug, PartialEq)]
    pub struct RunspacePoolStateInfo {
        /// The state.
        pub state: RunspacePoolState => "RunspaceState",
        /// The reason, if any.
        pub error: Option<Box<ErrorRecord>> => "ExceptionAsErrorRecord" [optional],
    }
}

impl RunspacePoolStateInfo {
    /// Creates a state without a reason.
    pub fn new(state: RunspacePoolState) -> Self {
        Self { state, error: None }
    }
}

object_struct! {
    /// The state of a pipeline (MS-PSRP 2.2.2.21).
    #[derive(Clone, Debug, PartialEq)]
    pub struct PipelineStateInfo {
        /// The state.
        pub state: PipelineState => "PipelineState",
        /// The reason, if any.
        pub error: Option<Box<ErrorRecord>> => "ExceptionAsErrorRecord" [optional],
    }
}

impl PipelineStateInfo {
    /// Creates a state without a reason.
    pub fn new(state: PipelineState) -> Self {
        Self { state, error: None }
    }

    /// Creates the state of a stopped pipeline with the same error record as PowerShell.
    pub fn stopped() -> Self {
        let names = [
            "System.Management.Automation.PipelineStoppedException",
            "System.Management.Automation.RuntimeException",
            "System.SystemException",
        ];
        let exception = exception(names, "The pipeline has been stopped.");
        let record = ErrorRecord::of_exception(exception, ErrorCategory::OperationStopped)
            .with_id("PipelineStopped")
            .with_reason("PipelineStoppedException");
        Self { state: PipelineState::Stopped, error: Some(Box::new(record)) }
    }
}
