//! Requests of a pool and their response, and events of the remote session.

use uuid::Uuid;

use crate::shape::{CopyBudget, Field, Mismatch, object_struct};
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
        /// The result.
        pub availability: Availability => "SetMinMaxRunspacesResponse",
        /// Number of the request.
        pub call_id: i64 => "ci",
    }
}

/// Result of a request of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// True if the change was made.
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

    fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Mismatch> {
        let accepted = value.as_bool().map(Self::Accepted);
        let answer = accepted.or_else(|| value.as_i64().map(Self::Count));
        answer.ok_or_else(|| Mismatch::new("is neither a boolean nor a number"))
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
