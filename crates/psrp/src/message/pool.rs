//! States of pools and pipelines, requests of a pool and their response, and events of the remote session.

use uuid::Uuid;

use crate::Error;
use crate::record::{ErrorCategory, ErrorRecord, exception};
use crate::shape::{CopyBudget, Field, object_struct, open_enum};
use crate::value::{DateTime, PsString, Value};

object_struct! {
    /// Sets the maximum number of runspaces (MS-PSRP 2.2.2.6).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SetMaxRunspaces {
        /// The new maximum.
        pub max_runspaces: i32 => "MaxRunspaces",
        /// Number of the request, repeated in the response.
        pub call_id: i64 => "ci",
    }
}

object_struct! {
    /// Sets the minimum number of runspaces (MS-PSRP 2.2.2.7).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SetMinRunspaces {
        /// The new minimum.
        pub min_runspaces: i32 => "MinRunspaces",
        /// Number of the request, repeated in the response.
        pub call_id: i64 => "ci",
    }
}

object_struct! {
    /// Requests the number of available runspaces (MS-PSRP 2.2.2.11).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GetAvailableRunspaces {
        /// Number of the request, repeated in the response.
        pub call_id: i64 => "ci",
    }
}

object_struct! {
    /// Resets the variables of the runspace (MS-PSRP 2.2.2.31), since protocol 2.3.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ResetRunspaceState {
        /// Number of the request, repeated in the response.
        pub call_id: i64 => "ci",
    }
}

object_struct! {
    /// The response to the four requests of a pool (MS-PSRP 2.2.2.8).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RunspaceAvailability {
        /// Success of the request, or the number of free runspaces.
        pub availability: Availability => "SetMinMaxRunspacesResponse",
        /// Number of the request.
        pub call_id: i64 => "ci",
    }
}

/// Result of a request of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Whether the change was made.
    Accepted(bool),
    /// Number of available runspaces.
    Count(i64),
}

impl Field for Availability {
    fn write(&self) -> Value {
        match *self {
            Self::Accepted(accepted) => accepted.into(),
            // PowerShell expects `Int32`, contrary to the specification.
            Self::Count(count) => i32::try_from(count).map_or(count.into(), Value::from),
        }
    }

    fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Error> {
        let accepted = value.as_bool().map(Self::Accepted);
        let answer = accepted.or_else(|| value.as_i64().map(Self::Count));
        answer.ok_or_else(|| Error::mismatch("neither a boolean nor a number"))
    }
}

object_struct! {
    /// An event forwarded by a script on the server (MS-PSRP 2.2.2.12).
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct UserEvent {
        /// Number of the event.
        pub event_identifier: i32 => "PSEventArgs.EventIdentifier",
        /// Name of the event's registration.
        pub source_identifier: Option<PsString> => "PSEventArgs.SourceIdentifier" [unset PsString::default()],
        /// Time of the event. If it is `None`, `io::serve` sets the current time.
        pub time_generated: Option<DateTime> => "PSEventArgs.TimeGenerated" [unset DateTime::UNSET],
        /// The object that raised the event.
        pub sender: Value => "PSEventArgs.Sender" [or Value::Nil],
        /// The arguments of the event.
        pub source_args: Vec<Value> => "PSEventArgs.SourceArgs" [or Vec::new()],
        /// Data added by the script.
        pub message_data: Value => "PSEventArgs.MessageData" [or Value::Nil],
        /// Name of the computer.
        pub computer_name: Option<PsString> => "PSEventArgs.ComputerName" [nil],
        /// Id of the runspace.
        pub runspace_id: Option<Uuid> => "PSEventArgs.RunspaceId" [unset Uuid::nil()],
    }
}

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
    #[derive(Default)]
    pub enum PipelineState {
        /// Not started yet.
        #[default]
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
        /// New state of the pool.
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
        /// New state of the pipeline.
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
