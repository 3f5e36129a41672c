//! Events of the remote session.

use uuid::Uuid;

use crate::shape::object_struct;
use crate::value::{DateTime, PsString, Value};

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
