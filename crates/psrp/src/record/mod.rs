//! Records of the streams of a pipeline, and credentials (MS-PSRP 2.2.3).
//!
//! All of them are made by their constructors, changed through their fields, and turned into values and back with
//! `to_value` and `from_value`. What other versions of PowerShell add to a record is kept in its `extra` members. Lists are written as
//! `System.Collections.ArrayList`, whatever they came as.

mod category;
mod credential;
mod error;
mod exception;
mod information;
mod informational;
mod invocation;
mod progress;

pub use category::ErrorCategory;
pub use credential::PsCredential;
pub use error::ErrorRecord;
pub use exception::exception;
pub use information::{HostInformationMessage, InformationRecord};
pub use informational::{InformationalRecord, RecordStream};
pub use invocation::{
    CommandInfo, CommandOrigin, CommandTypes, CommandVisibility, InvocationCall, InvocationInfo, ScriptExtent,
};
pub use progress::ProgressRecordType;
