//! Invocations of commands, as part of records.

use crate::Error;
use crate::shape::{MemberReader, MemberWriter, flags, object_struct, open_enum};
use crate::value::{Members, Object, PsString, Value};

open_enum! {
    /// The caller of a command (`System.Management.Automation.CommandOrigin`, MS-PSRP 2.2.3.30).
    #[derive(Default)]
    pub enum CommandOrigin as "System.Management.Automation.CommandOrigin" {
        /// Outside of the runspace.
        #[default]
        Runspace = 0,
        /// A script or command inside the runspace.
        Internal = 1,
    }
}

open_enum! {
    /// Visibility of a command (`System.Management.Automation.SessionStateEntryVisibility`).
    #[derive(Default)]
    pub enum CommandVisibility as "System.Management.Automation.SessionStateEntryVisibility" {
        /// Callable from everywhere.
        #[default]
        Public = 0,
        /// Callable from other commands only.
        Private = 1,
    }
}

flags! {
    /// Kinds of commands (`System.Management.Automation.CommandTypes`, MS-PSRP 2.2.3.19).
    pub struct CommandTypes as "System.Management.Automation.CommandTypes" {
        /// Aliases.
        ALIAS = 1 "Alias",
        /// Functions.
        FUNCTION = 2 "Function",
        /// Filters.
        FILTER = 4 "Filter",
        /// Cmdlets.
        CMDLET = 8 "Cmdlet",
        /// Script files.
        EXTERNAL_SCRIPT = 16 "ExternalScript",
        /// Programs.
        APPLICATION = 32 "Application",
        /// Scripts of the session.
        SCRIPT = 64 "Script",
        /// Configurations.
        CONFIGURATION = 256 "Configuration",
        /// All kinds of commands.
        ALL = 383 "All",
    }
}

object_struct! {
    /// Position of a command in a script.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ScriptExtent {
        /// File of the script.
        pub file: Option<PsString> => "ScriptExtent_File" [nil],
        /// First line, counted from 1.
        pub start_line: i32 => "ScriptExtent_StartLineNumber" [or 0],
        /// Column of the first character, counted from 1.
        pub start_column: i32 => "ScriptExtent_StartColumnNumber" [or 0],
        /// Last line.
        pub end_line: i32 => "ScriptExtent_EndLineNumber" [or 0],
        /// Column after the last character.
        pub end_column: i32 => "ScriptExtent_EndColumnNumber" [or 0],
    }
}

object_struct! {
    /// Description of a command.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CommandInfo {
        /// Kind of the command.
        pub command_type: CommandTypes => "CommandInfo_CommandType",
        /// Definition: the text of a function, the syntax of a cmdlet.
        pub definition: Option<PsString> => "CommandInfo_Definition" [nil],
        /// Name of the command.
        pub name: Option<PsString> => "CommandInfo_Name" [unset PsString::default()],
        /// Visibility of the command.
        pub visibility: CommandVisibility => "CommandInfo_Visibility" [or CommandVisibility::Public],
    }
}

/// The invocation of a command (`System.Management.Automation.InvocationInfo`, MS-PSRP 2.2.3.15.1), part of the members
/// of a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InvocationInfo {
    /// Arguments and position.
    pub call: InvocationCall,
    /// Position in the script, if known.
    pub extent: Option<ScriptExtent>,
    /// The invoked command, if known.
    pub command: Option<CommandInfo>,
}

object_struct! {
    /// Arguments and position of an invocation.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct InvocationCall {
        /// Parameters and their values, a dictionary with strings as keys. Other values are not written.
        pub bound_parameters: Value => "InvocationInfo_BoundParameters" [or Value::Nil],
        /// Caller: outside of the runspace, or a script or command in it.
        pub command_origin: CommandOrigin => "InvocationInfo_CommandOrigin" [or CommandOrigin::Runspace],
        /// Whether the command takes input from the pipeline.
        pub expecting_input: bool => "InvocationInfo_ExpectingInput" [or false],
        /// The name that was used to call it.
        pub invocation_name: Option<PsString> => "InvocationInfo_InvocationName" [nil],
        /// Line of the script.
        pub line: Option<PsString> => "InvocationInfo_Line" [nil],
        /// Column in the line, counted from 1.
        pub offset_in_line: i32 => "InvocationInfo_OffsetInLine" [or 0],
        /// Number in the history of the session.
        pub history_id: i64 => "InvocationInfo_HistoryId" [or 0],
        /// Number of items that each command of the pipeline has processed.
        pub pipeline_iteration_info: Vec<i32> => "InvocationInfo_PipelineIterationInfo" [or Vec::new()],
        /// Number of commands in the pipeline.
        pub pipeline_length: i32 => "InvocationInfo_PipelineLength" [or 0],
        /// Position of this command in the pipeline, counted from 1.
        pub pipeline_position: i32 => "InvocationInfo_PipelinePosition" [or 0],
        /// Directory of the script.
        pub script_root: Option<PsString> => "InvocationInfo_PSScriptRoot" [nil],
        /// Path of the calling script.
        pub command_path: Option<PsString> => "InvocationInfo_PSCommandPath" [nil],
        /// Text that describes the position.
        pub position_message: Option<PsString> => "InvocationInfo_PositionMessage" [nil],
        /// Line number in the script, counted from 1.
        pub script_line_number: i32 => "InvocationInfo_ScriptLineNumber" [or 0],
        /// Path of the script that contains the invocation.
        pub script_name: Option<PsString> => "InvocationInfo_ScriptName" [nil],
        /// Arguments that are not bound to a parameter.
        pub unbound_arguments: Vec<Value> => "InvocationInfo_UnboundArguments" [or Vec::new()],
    }
}

impl InvocationCall {
    /// Reads the object form, whose members have no prefix.
    pub(super) fn from_object(object: &Object) -> Option<Self> {
        let mut members = MemberWriter::default();
        for name in Self::NAMES {
            if let Some(value) = object.member(name.trim_start_matches("InvocationInfo_")) {
                members.put(name, value);
            }
        }
        Self::from_value(&members.finish()).ok()
    }
}

impl InvocationInfo {
    const SERIALIZE_EXTENT: &'static str = "SerializeExtent";

    fn write_members(&self, out: &mut MemberWriter) {
        let parameters = &self.call.bound_parameters;
        let is_table =
            |entries: &[(Value, Value)]| entries.iter().all(|(key, _)| key.as_ps_string().is_some());
        match parameters.is_nil() || parameters.entries().is_some_and(is_table) {
            true => self.call.write_members(out),
            // PowerShell rejects a record whose parameters are not a dictionary.
            false => InvocationCall { bound_parameters: Value::Nil, ..self.call.clone() }.write_members(out),
        }
        out.put(Self::SERIALIZE_EXTENT, &self.extent.is_some());
        if let Some(extent) = &self.extent {
            extent.write_members(out);
        }
        if let Some(command) = &self.command {
            command.write_members(out);
        }
    }

    fn read_members(from: &mut MemberReader<'_, '_>) -> Result<Self, Error> {
        from.budget.items::<Self>(1)?;
        Ok(Self {
            call: InvocationCall::read_members(from)?,
            extent: match from.optional(Self::SERIALIZE_EXTENT)? {
                Some(true) => Some(ScriptExtent::read_members(from)?),
                _ => None,
            },
            command: match from.object().get("CommandInfo_CommandType") {
                None | Some(Value::Nil) => None,
                Some(_) => Some(CommandInfo::read_members(from)?),
            },
        })
    }
}

/// The members of a record that announce an invocation.
pub(super) struct InvocationMembers {
    pub(super) flag: &'static str,
    pub(super) iteration: &'static str,
}

/// The invocation of a record, the items that each command has processed, the text form, and the unknown members.
type RecordParts = (Option<Box<InvocationInfo>>, Option<Vec<i32>>, Option<PsString>, Members);

impl InvocationMembers {
    pub(super) fn write(
        &self,
        out: &mut MemberWriter,
        invocation: Option<&InvocationInfo>,
        iteration: Option<&Vec<i32>>,
    ) {
        out.put(self.flag, &invocation.is_some());
        if let Some(invocation) = invocation {
            invocation.write_members(out);
            // PowerShell rejects a record with an invocation but without this member.
            out.put(self.iteration, iteration.unwrap_or(&invocation.call.pipeline_iteration_info));
        }
    }

    /// `names` are the names of the record's other members.
    pub(super) fn read(&self, from: &mut MemberReader<'_, '_>, names: &[&str]) -> Result<RecordParts, Error> {
        let mut known = vec![names, std::slice::from_ref(&self.flag)];
        let (mut invocation, mut pipeline_iteration_info) = (None, None);
        if from.optional(self.flag)? == Some(true) {
            invocation = Some(Box::new(InvocationInfo::read_members(from)?));
            pipeline_iteration_info = from.optional(self.iteration)?;
            known.push(std::slice::from_ref(&self.iteration));
            known.push(&[InvocationInfo::SERIALIZE_EXTENT]);
            known.extend([InvocationCall::NAMES, ScriptExtent::NAMES, CommandInfo::NAMES]);
        }
        Ok((invocation, pipeline_iteration_info, from.text_form()?, from.extra(&known)?))
    }
}
