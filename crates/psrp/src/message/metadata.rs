//! Listing of commands.

use crate::Error;
use crate::record::CommandTypes;
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, object_struct};
use crate::value::{Object, PsString, Value};

object_struct! {
    /// Starts a pipeline that lists commands (MS-PSRP 2.2.2.14), since protocol 2.1.
    ///
    /// Its output is an object with the member `Count`, then that many [`CommandMetadata`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct GetCommandMetadata {
        /// Names, possibly with wildcards.
        pub names: Vec<PsString> => "Name" [or Vec::new()],
        /// Kinds of commands.
        pub command_type: CommandTypes => "CommandType",
        /// Modules, `None` for all.
        pub namespaces: Option<Vec<PsString>> => "Namespace" [nil],
        /// Arguments; the parameters of some commands depend on them.
        pub argument_list: Option<Vec<Value>> => "ArgumentList" [nil],
    }
}

impl GetCommandMetadata {
    /// Requests commands of all kinds with these names.
    pub fn new<N: Into<PsString>>(names: impl IntoIterator<Item = N>) -> Self {
        Self {
            names: names.into_iter().map(Into::into).collect(),
            command_type: CommandTypes::ALL,
            namespaces: None,
            argument_list: None,
        }
    }

    /// Reads the number of commands that follow, from the first output of the pipeline (MS-PSRP 2.2.3.21).
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_mismatch`] if there is no number `Count`.
    pub fn count(first_output: &Value) -> Result<i64, Error> {
        let mut budget = CopyBudget::new(crate::shape::DEFAULT_COPY_BUDGET);
        MemberReader::new(first_output, &mut budget)?.required("Count")
    }

    /// Creates the first output of the pipeline for this number of commands (MS-PSRP 2.2.3.21).
    pub fn count_to_value(count: usize) -> Value {
        let names = ["Selected.Microsoft.PowerShell.Commands.GenericMeasureInfo", CUSTOM, "System.Object"];
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        Object::builder().type_names(names).extended("Count", count).build().into()
    }
}

const CUSTOM: &str = "System.Management.Automation.PSCustomObject";

object_struct! {
    /// A command listed by [`GetCommandMetadata`] (MS-PSRP 2.2.3.22).
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct CommandMetadata {
        /// Name of the command.
        pub name: PsString => "Name",
        /// Module of the command.
        pub namespace: Option<PsString> => "Namespace" [nil],
        /// URI of the online help.
        pub help_uri: Option<PsString> => "HelpUri" [nil],
        /// Kind of the command.
        pub command_type: CommandTypes => "CommandType",
        /// The command that an alias resolves to.
        pub resolved_command_name: Option<PsString> => "ResolvedCommandName" [nil],
        /// Types of the output.
        pub output_type: Vec<PsString> => "OutputType" [or Vec::new()],
        ..
        /// Parameters of the command.
        pub parameters: Vec<ParameterMetadata>,
    }
}

/// A parameter of a listed command (MS-PSRP 2.2.3.23).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParameterMetadata {
    /// Name of the parameter.
    pub name: PsString,
    /// Name of the type. It is data: no type is instantiated by name.
    pub parameter_type: Option<PsString>,
    /// Alternative names.
    pub aliases: Vec<PsString>,
    /// Whether it is a switch.
    pub is_switch: bool,
    /// Whether it depends on the arguments.
    pub is_dynamic: bool,
}

impl CommandMetadata {
    /// Creates a command without parameters.
    pub fn new(name: impl Into<PsString>, command_type: CommandTypes) -> Self {
        Self {
            name: name.into(),
            namespace: None,
            help_uri: None,
            command_type,
            resolved_command_name: None,
            output_type: Vec::new(),
            parameters: Vec::new(),
        }
    }
}

impl Field for CommandMetadata {
    fn write(&self) -> Value {
        let parameters =
            self.parameters.iter().map(|parameter| (parameter.name.clone(), parameter.to_value()));
        let mut out = MemberWriter::default();
        self.write_members(&mut out);
        out.put("Parameters", &Value::from(Object::dictionary(parameters)));
        let names = ["Selected.System.Management.Automation.CmdletInfo", CUSTOM, "System.Object"];
        out.finish_as(Object::builder().type_names(names))
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        let parameters: Option<Value> = from.optional("Parameters")?;
        let entries = match &parameters {
            Some(value) => {
                value.entries().ok_or_else(|| Error::mismatch("not a dictionary").at("Parameters"))?
            }
            None => &[],
        };
        let parameter = |(index, (name, value)): (usize, &(Value, Value))| {
            ParameterMetadata::read(name, value, from.budget)
                .map_err(|error| error.at(index).at("Parameters"))
        };
        let parameters = entries.iter().enumerate().map(parameter).collect::<Result<_, _>>()?;
        Ok(Self { parameters, ..Self::read_members(&mut from)? })
    }
}

impl ParameterMetadata {
    /// Creates a parameter with a value of any type.
    pub fn new(name: impl Into<PsString>) -> Self {
        Self {
            name: name.into(),
            parameter_type: None,
            aliases: Vec::new(),
            is_switch: false,
            is_dynamic: false,
        }
    }

    fn to_value(&self) -> Value {
        let mut out = MemberWriter::default();
        out.put("Name", &self.name);
        out.put("ParameterType", &self.parameter_type);
        out.put("Aliases", &self.aliases);
        out.put("SwitchParameter", &self.is_switch);
        out.put("IsDynamic", &self.is_dynamic);
        let names = ["System.Management.Automation.ParameterMetadata", "System.Object"];
        out.finish_as(Object::builder().type_names(names))
    }

    fn read(name: &Value, value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        Ok(Self {
            name: match from.optional("Name")? {
                Some(name) => name,
                None => Field::read(name, from.budget)?,
            },
            parameter_type: from.optional("ParameterType")?,
            aliases: from.optional("Aliases")?.unwrap_or_default(),
            is_switch: from.optional("SwitchParameter")?.unwrap_or_default(),
            is_dynamic: from.optional("IsDynamic")?.unwrap_or_default(),
        })
    }
}
