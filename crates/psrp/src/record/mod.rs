//! Records of the streams of a pipeline, and credentials (MS-PSRP 2.2.3).
//!
//! All types have constructors and public fields, and are converted to values and back with `to_value` and
//! `from_value`. Members that later versions of PowerShell add are preserved in `extra`. Lists are written as
//! `System.Collections.ArrayList`, regardless of their original type.

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
