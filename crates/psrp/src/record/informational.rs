//! Debug, verbose and warning records.

use super::InvocationInfo;
use super::invocation::{InvocationMembers, RecordParts};
use crate::Error;
use crate::shape::{CopyBudget, DEFAULT_COPY_BUDGET, MemberReader, MemberWriter, Mismatch};
use crate::value::{Members, PsString, TypeNames, Value};

/// A stream of informational records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordStream {
    /// Debug messages.
    Debug,
    /// Verbose messages.
    Verbose,
    /// Warnings.
    Warning,
}

impl RecordStream {
    fn type_names(self) -> &'static TypeNames {
        use std::sync::LazyLock;

        static NAMES: LazyLock<[TypeNames; 3]> = LazyLock::new(|| {
            ["DebugRecord", "VerboseRecord", "WarningRecord"].map(|name| {
                TypeNames::new([
                    &*format!("System.Management.Automation.{name}"),
                    "System.Management.Automation.InformationalRecord",
                    "System.Object",
                ])
            })
        });
        &NAMES[self as usize]
    }
}

/// A debug, verbose or warning record (MS-PSRP 2.2.3.16).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InformationalRecord {
    /// The message. Not escaped for a terminal; see [`terminal_safe`](crate::terminal_safe).
    pub message: PsString,
    /// The invocation that it comes from, if the client requested it.
    pub invocation: Option<Box<InvocationInfo>>,
    /// Number of items that each command of the pipeline has processed. Only written with `invocation`, whose list is
    /// used for `None`.
    pub pipeline_iteration_info: Option<Vec<i32>>,
    /// Text form of the record at the sender.
    pub text: Option<PsString>,
    /// Unknown members.
    pub extra: Members,
}

const MESSAGE: &str = "InformationalRecord_Message";
const INVOCATION: InvocationMembers = InvocationMembers {
    flag: "InformationalRecord_SerializeInvocationInfo",
    iteration: "InformationalRecord_PipelineIterationInfo",
};

impl InformationalRecord {
    /// Creates a record.
    pub fn new(message: impl Into<PsString>) -> Self {
        let message = message.into();
        Self { text: Some(message.clone()), message, ..Self::default() }
    }

    /// Converts it to the object that represents it on this stream.
    pub fn to_value(&self, stream: RecordStream) -> Value {
        let mut out = MemberWriter::default();
        out.put(MESSAGE, &self.message);
        INVOCATION.write(&mut out, self.invocation.as_deref(), self.pipeline_iteration_info.as_ref());
        out.finish_record(stream.type_names(), self.text.as_ref(), &self.extra)
    }

    /// Reads it from an object. The order of the members does not matter; names are compared case-insensitively.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_mismatch`], naming the member, if a member is missing or has another type, and with
    /// [`Error::is_limit`] if copying shared parts of the value would take more than 64 MiB.
    pub fn from_value(value: &Value) -> Result<Self, Error> {
        Ok(Self::read(value, &mut CopyBudget::new(DEFAULT_COPY_BUDGET))?)
    }

    pub(crate) fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        budget.items::<Self>(1)?;
        let mut from = MemberReader::new(value, budget)?;
        let RecordParts { invocation, pipeline_iteration_info, text, extra } =
            INVOCATION.read(&mut from, &[MESSAGE])?;
        let message = from.required::<Option<_>>(MESSAGE)?.unwrap_or_default();
        Ok(Self { message, invocation, pipeline_iteration_info, text, extra })
    }
}
