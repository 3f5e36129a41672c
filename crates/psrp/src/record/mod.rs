//! Records of the streams of a pipeline, and credentials (MS-PSRP 2.2.3).
//!
//! All types have constructors and public fields, and are converted to values and back with `to_value` and
//! `from_value`. Members that later versions of PowerShell add are preserved in `extra`. Lists are written as
//! `System.Collections.ArrayList`, regardless of their original type.

mod error;
mod information;
mod invocation;
mod progress;

pub use error::{ErrorCategory, ErrorRecord, exception};
pub use information::{HostInformationMessage, InformationRecord, InformationalRecord, RecordStream};
pub use invocation::{
    CommandInfo, CommandOrigin, CommandTypes, CommandVisibility, InvocationCall, InvocationInfo, ScriptExtent,
};
pub use progress::ProgressRecordType;

use crate::Error;
use crate::shape::{CopyBudget, Field, MemberReader, object_struct};
use crate::value::{Object, PsString, SecureString, Value};

/// User name and password (`System.Management.Automation.PSCredential`, MS-PSRP 2.2.3.25).
///
/// The password is encrypted when it is written, which requires the session key. `Debug` does not show it.
#[derive(Clone, Debug, PartialEq)]
pub struct PsCredential {
    /// User name, optionally with a domain.
    pub user_name: PsString,
    /// The password.
    pub password: SecureString,
}

impl PsCredential {
    /// Creates a credential.
    pub fn new(user_name: impl Into<PsString>, password: SecureString) -> Self {
        Self { user_name: user_name.into(), password }
    }
}

impl Field for PsCredential {
    fn write(&self) -> Value {
        Object::builder()
            .type_names(["System.Management.Automation.PSCredential", "System.Object"])
            .adapted("UserName", self.user_name.clone())
            .adapted("Password", self.password.clone())
            .build()
            .into()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        Ok(Self { user_name: from.required("UserName")?, password: from.required("Password")? })
    }
}

object_struct!(@values PsCredential);
