//! Records of the debug, verbose, warning and information streams, and the output of `Write-Host`.

use super::InvocationInfo;
use super::invocation::InvocationMembers;
use crate::Error;
use crate::host::ConsoleColor;
use crate::shape::{CopyBudget, DEFAULT_COPY_BUDGET, Field, MemberReader, MemberWriter, object_struct};
use crate::value::{DateTime, Members, Object, PsString, TypeNames, Value};

object_struct! {
    /// A record of the information stream (`System.Management.Automation.InformationRecord`, MS-PSRP 2.2.2.26), since
    /// protocol 2.3.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct InformationRecord {
        /// The written object; for `Write-Host` a [`HostInformationMessage`].
        pub message_data: Value => "MessageData",
        /// Script or command that wrote it.
        pub source: Option<PsString> => "Source" [nil],
        /// Time of writing. If it is `None`, `io::serve` sets the current time. PowerShell rejects a record without
        /// one.
        pub time_generated: Option<DateTime> => "TimeGenerated" [unset DateTime::UNSET],
        /// Tags; `Write-Host` sets `PSHOST`.
        pub tags: Vec<PsString> => "Tags" [or Vec::new()],
        /// User of the session.
        pub user: Option<PsString> => "User" [nil],
        /// Name of the computer.
        pub computer: Option<PsString> => "Computer" [nil],
        /// Process id.
        pub process_id: u32 => "ProcessId" [or 0],
        /// Id of the operating system's thread.
        pub native_thread_id: u32 => "NativeThreadId" [or 0],
        /// Id of the .NET thread.
        pub managed_thread_id: u32 => "ManagedThreadId" [or 0],
        ..
        /// Unknown members.
        pub extra: Members,
    }
}

impl InformationRecord {
    /// Creates a record of an object or text.
    pub fn new(message_data: impl Into<Value>) -> Self {
        Self { message_data: message_data.into(), ..Self::default() }
    }

    /// Returns whether `Write-Host` wrote it: it has the tag `PSHOST`.
    pub fn is_host(&self) -> bool {
        self.tags.iter().any(|tag| tag.eq_ignore_ascii_case("PSHOST"))
    }

    /// Returns the text to show: the message of `Write-Host`, a string, or else the text form of the object. Not
    /// escaped for a terminal; see [`terminal_safe`](crate::terminal_safe).
    pub fn message(&self) -> Option<&PsString> {
        match &self.message_data {
            Value::Object(object) if object.is_a(HostInformationMessage::TYPE_NAME) => {
                object.get("Message").and_then(Value::as_ps_string).or(object.to_string_text())
            }
            Value::Object(object) => self.message_data.as_ps_string().or(object.to_string_text()),
            data => data.as_ps_string(),
        }
    }
}

impl Field for InformationRecord {
    fn write(&self) -> Value {
        let mut out = MemberWriter::default();
        self.write_members(&mut out);
        out.extend(&self.extra);
        out.finish()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        Ok(Self { extra: from.extra(&[Self::NAMES])?, ..Self::read_members(&mut from)? })
    }
}

/// Output of `Write-Host` on the information stream (`System.Management.Automation.HostInformationMessage`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostInformationMessage {
    /// Printed text.
    pub message: PsString,
    /// Whether no line end follows.
    pub no_new_line: Option<bool>,
    /// Text colour, if not the host's default.
    pub foreground_color: Option<ConsoleColor>,
    /// Background colour, if not the host's default.
    pub background_color: Option<ConsoleColor>,
}

impl HostInformationMessage {
    const TYPE_NAME: &'static str = "System.Management.Automation.HostInformationMessage";
}

impl Field for HostInformationMessage {
    fn write(&self) -> Value {
        let names = TypeNames::new([Self::TYPE_NAME, "System.Object"]);
        let colour = |colour: Option<ConsoleColor>| colour.map(ConsoleColor::to_enumeration);
        Object::builder()
            .shared_type_names(names)
            .to_string(self.message.clone())
            .adapted("Message", self.message.clone())
            .adapted("NoNewLine", self.no_new_line)
            .adapted("ForegroundColor", colour(self.foreground_color))
            .adapted("BackgroundColor", colour(self.background_color))
            .build()
            .into()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        Ok(Self {
            message: from.optional("Message")?.unwrap_or_default(),
            no_new_line: from.optional("NoNewLine")?,
            // A colour without a name here must not hide the text.
            foreground_color: from.optional("ForegroundColor").unwrap_or_default(),
            background_color: from.optional("BackgroundColor").unwrap_or_default(),
        })
    }
}

object_struct!(@values HostInformationMessage);

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
    /// The invocation that produced the record, if the client requested invocations.
    pub invocation: Option<Box<InvocationInfo>>,
    /// Number of items that each command of the pipeline has processed. Only written with `invocation`; `None` writes
    /// the list in `invocation`.
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

    /// Converts the record to the object that represents it on this stream.
    pub fn to_value(&self, stream: RecordStream) -> Value {
        let mut out = MemberWriter::default();
        out.put(MESSAGE, &self.message);
        INVOCATION.write(&mut out, self.invocation.as_deref(), self.pipeline_iteration_info.as_ref());
        out.finish_record(stream.type_names(), self.text.as_ref(), &self.extra)
    }

    /// Reads the record from an object. The order of the members does not matter; names are compared
    /// case-insensitively.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_mismatch`], naming the member, if a member is missing or has another type, and with
    /// [`Error::is_limit`] if copying shared parts of the value would take more than 64 MiB.
    pub fn from_value(value: &Value) -> Result<Self, Error> {
        Self::read(value, &mut CopyBudget::new(DEFAULT_COPY_BUDGET))
    }

    pub(crate) fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        budget.items::<Self>(1)?;
        let mut from = MemberReader::new(value, budget)?;
        let (invocation, pipeline_iteration_info, text, extra) = INVOCATION.read(&mut from, &[MESSAGE])?;
        let message = from.required::<Option<_>>(MESSAGE)?.unwrap_or_default();
        Ok(Self { message, invocation, pipeline_iteration_info, text, extra })
    }
}
