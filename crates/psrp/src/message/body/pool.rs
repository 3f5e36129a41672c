//! Requests of a pool, and the answer to all of them.

use crate::shape::{CopyBudget, Field, Mismatch, object_struct};
use crate::value::Value;

object_struct! {
    /// Changes the largest number of runspaces (MS-PSRP 2.2.2.6).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SetMaxRunspaces {
        /// The new number.
        pub max_runspaces: i32 => "MaxRunspaces",
        /// Number of the call, which the answer repeats.
        pub call_id: i64 => "ci",
    }
}

object_struct! {
    /// Changes the least number of runspaces (MS-PSRP 2.2.2.7).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SetMinRunspaces {
        /// The new number.
        pub min_runspaces: i32 => "MinRunspaces",
        /// Number of the call, which the answer repeats.
        pub call_id: i64 => "ci",
    }
}

object_struct! {
    /// Asks how many runspaces are free (MS-PSRP 2.2.2.11).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GetAvailableRunspaces {
        /// Number of the call, which the answer repeats.
        pub call_id: i64 => "ci",
    }
}

object_struct! {
    /// Resets the variables of the runspace (MS-PSRP 2.2.2.31), since protocol 2.3.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ResetRunspaceState {
        /// Number of the call, which the answer repeats.
        pub call_id: i64 => "ci",
    }
}

object_struct! {
    /// The answer to the four requests of a pool (MS-PSRP 2.2.2.8).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RunspaceAvailability {
        /// The answer.
        pub availability: Availability => "SetMinMaxRunspacesResponse",
        /// Number of the call that is answered.
        pub call_id: i64 => "ci",
    }
}

/// What a pool answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Whether the change was made.
    Accepted(bool),
    /// How many runspaces are free.
    Count(i64),
}

impl Field for Availability {
    fn write(&self) -> Value {
        match *self {
            Self::Accepted(accepted) => accepted.into(),
            // PowerShell expects the narrower type, against the specification.
            Self::Count(count) => i32::try_from(count).map_or(count.into(), Value::from),
        }
    }

    fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Mismatch> {
        let accepted = value.as_bool().map(Self::Accepted);
        let answer = accepted.or_else(|| value.as_i64().map(Self::Count));
        answer.ok_or_else(|| Mismatch::new("is neither boolean nor number"))
    }
}
