//! Credentials.

use crate::shape::{CopyBudget, Field, MemberReader, Mismatch, object_struct};
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

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let mut from = MemberReader::new(value, budget)?;
        Ok(Self { user_name: from.required("UserName")?, password: from.required("Password")? })
    }
}

object_struct!(@values PsCredential);
