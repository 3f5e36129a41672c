//! Events of the remote session.

use uuid::Uuid;

use crate::shape::object_struct;
use crate::value::{DateTime, PsString, Value};

object_struct! {
    /// An event that a script on the server forwards (MS-PSRP 2.2.2.12).
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct UserEvent {
        /// Number of the event.
        pub event_identifier: i32 => "PSEventArgs.EventIdentifier",
        /// What the event was registered as.
        pub source_identifier: Option<PsString> => "PSEventArgs.SourceIdentifier" [unset PsString::default()],
        /// When it happened; `io::serve` sets it to the present if there is none.
        pub time_generated: Option<DateTime> => "PSEventArgs.TimeGenerated" [unset DateTime::UNSET],
        /// The object that it comes from.
        pub sender: Value => "PSEventArgs.Sender" [or Value::Nil],
        /// The arguments of the event.
        pub source_args: Vec<Value> => "PSEventArgs.SourceArgs" [or Vec::new()],
        /// What the script added.
        pub message_data: Value => "PSEventArgs.MessageData" [or Value::Nil],
        /// The computer.
        pub computer_name: Option<PsString> => "PSEventArgs.ComputerName" [nil],
        /// The runspace.
        pub runspace_id: Option<Uuid> => "PSEventArgs.RunspaceId" [unset Uuid::nil()],
    }
}
