//! Credentials.

use crate::shape::{CopyBudget, Field, Mismatch, MemberReader, object_struct};
use crate::value::{Object, PsString, SecureString, Value};

/// A user and a password (`System.Management.Automation.PSCredential`, MS-PSRP 2.2.3.25).
///
/// The password is encrypted when it is written, and so needs the session key; `Debug` does not show it.
#[derive(Clone, Debug, PartialEq)]
pub struct PsCredential {
    /// Name of the user, with a domain where there is one.
    pub user_name: PsString,
    /// The password.
    pub password: SecureString,
}

impl PsCredential {
    /// A credential from its two parts.
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
