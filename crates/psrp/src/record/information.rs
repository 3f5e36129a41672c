//! Records of the information stream, and the output of `Write-Host`.

use crate::host::ConsoleColor;
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, Mismatch, object_struct};
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

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let mut from = MemberReader::new(value, budget)?;
        Ok(Self { extra: from.extra(&[Self::NAMES])?, ..Self::read_members(&mut from)? })
    }
}

/// Output of `Write-Host` on the information stream (`System.Management.Automation.HostInformationMessage`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostInformationMessage {
    /// The text.
    pub message: PsString,
    /// True if no line end follows.
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

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let mut from = MemberReader::new(value, budget)?;
        Ok(Self {
            message: from.optional("Message")?.unwrap_or_default(),
            no_new_line: from.optional("NoNewLine")?,
            foreground_color: from.optional("ForegroundColor")?,
            background_color: from.optional("BackgroundColor")?,
        })
    }
}

object_struct!(@values HostInformationMessage);
