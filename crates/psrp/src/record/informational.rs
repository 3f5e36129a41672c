//! Debug, verbose and warning records.

use super::InvocationInfo;
use crate::Error;
use crate::shape::{CopyBudget, DEFAULT_COPY_BUDGET, MemberReader, MemberWriter, Mismatch};
use crate::value::{Members, Object, PsString, TypeNames, Value};

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
    fn type_names(self) -> TypeNames {
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
        NAMES[self as usize].clone()
    }
}

/// A debug, verbose or warning record (MS-PSRP 2.2.3.16).
#[derive(Clone, Debug, PartialEq)]
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
const EXTENDED: &str = "InformationalRecord_SerializeInvocationInfo";
const ITERATION: &str = "InformationalRecord_PipelineIterationInfo";

impl InformationalRecord {
    /// Creates a record.
    pub fn new(message: impl Into<PsString>) -> Self {
        let message = message.into();
        Self {
            text: Some(message.clone()),
            message,
            invocation: None,
            pipeline_iteration_info: None,
            extra: Members::new(),
        }
    }

    /// Converts it to the object that represents it on this stream.
    pub fn to_value(&self, stream: RecordStream) -> Value {
        let mut out = MemberWriter::default();
        out.put(MESSAGE, &self.message);
        out.put(EXTENDED, &self.invocation.is_some());
        if let Some(invocation) = &self.invocation {
            invocation.write_members(&mut out);
            // PowerShell rejects a record with an invocation but without this member.
            let call = &invocation.call.pipeline_iteration_info;
            out.put(ITERATION, self.pipeline_iteration_info.as_ref().unwrap_or(call));
        }
        out.extend(&self.extra);
        let mut object = Object::builder().shared_type_names(stream.type_names());
        if let Some(text) = &self.text {
            object = object.to_string(text.clone());
        }
        out.finish_as(object)
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
        let extended = from.optional(EXTENDED)? == Some(true);
        let own: &[&str] = &[MESSAGE, EXTENDED];
        let [call, serialize_extent, extent, command] = InvocationInfo::NAMES;
        let known: &[&[&str]] =
            if extended { &[own, &[ITERATION], call, serialize_extent, extent, command] } else { &[own] };
        Ok(Self {
            message: from.required::<Option<_>>(MESSAGE)?.unwrap_or_default(),
            invocation: if extended {
                Some(Box::new(InvocationInfo::read_members(&mut from)?))
            } else {
                None
            },
            pipeline_iteration_info: if extended { from.optional(ITERATION)? } else { None },
            text: from.text_form()?,
            extra: from.extra(known)?,
        })
    }
}
