//! Creation of pipelines: their commands and options.

use super::{ApartmentState, HostInfo, SessionCapability};
use crate::Error;
use crate::error::Kind;
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, flags, object_struct, open_enum};
use crate::value::{PsString, Value, Version};

open_enum! {
    /// A stream of a command, or the target of its redirection
    /// (`System.Management.Automation.Runspaces.PipelineResultTypes`, MS-PSRP 2.2.3.31).
    #[derive(Default)]
    pub enum PipelineResultTypes as "System.Management.Automation.Runspaces.PipelineResultTypes" {
        /// Not redirected.
        #[default]
        None = 0,
        /// Output.
        Output = 1,
        /// Errors.
        Error = 2,
        /// Warnings. The same number also means output and errors of previous commands.
        Warning = 3,
        /// Verbose messages.
        Verbose = 4,
        /// Debug messages.
        Debug = 5,
        /// Information records.
        Information = 6,
        /// All streams.
        All = 7,
        /// Discarded.
        Null = 8,
    }
}

/// Target of the redirection of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MergeTarget {
    /// The output, like `2>&1`.
    Output,
    /// Discarded, like `2>$null`.
    Null,
}

impl From<MergeTarget> for PipelineResultTypes {
    fn from(target: MergeTarget) -> Self {
        match target {
            MergeTarget::Output => Self::Output,
            MergeTarget::Null => Self::Null,
        }
    }
}

object_struct! {
    /// A parameter or an argument of a command (MS-PSRP 2.2.3.13).
    #[derive(Clone, Debug, PartialEq)]
    pub struct CommandParameter {
        /// Name of the parameter without the hyphen; `None` for a positional argument.
        pub name: Option<PsString> => "N" [nil],
        /// The value; `true` for a switch.
        pub value: Value => "V" [or Value::Nil],
    }
}

object_struct! {
    /// A command or script of a pipeline (MS-PSRP 2.2.3.12).
    ///
    /// ```
    /// use psrp::message::{Command, MergeTarget};
    ///
    /// let command = Command::new("Get-ChildItem")
    ///     .argument("/srv")
    ///     .parameter("Filter", "*.log")
    ///     .switch("Recurse")
    ///     .redirect_errors(MergeTarget::Null);
    /// assert_eq!(command.parameters.len(), 3);
    /// ```
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct Command {
        /// Name of the command, or text of the script.
        pub text: PsString => "Cmd",
        /// Parameters and arguments in order.
        pub parameters: Vec<CommandParameter> => "Args" [or Vec::new()],
        /// Whether `text` is a script.
        pub is_script: bool => "IsScript" [or false],
        /// Whether the command runs in a new variable scope, like `&`; otherwise in the enclosing one, like `.`.
        /// `None` is the server's default.
        pub use_local_scope: Option<bool> => "UseLocalScope" [nil],
        /// The stream redirected to `merge_to_result`: errors or none. Peers before protocol 2.2 support no other
        /// redirection.
        pub merge_my_result: PipelineResultTypes => "MergeMyResult" [or PipelineResultTypes::None],
        /// Target of `merge_my_result`.
        pub merge_to_result: PipelineResultTypes => "MergeToResult" [or PipelineResultTypes::None],
        /// Streams of previous commands that become the input of this command.
        pub merge_previous_results: PipelineResultTypes => "MergePreviousResults" [or PipelineResultTypes::None],
        /// Target of errors.
        pub merge_error: PipelineResultTypes => "MergeError" [or PipelineResultTypes::None],
        /// Target of warnings.
        pub merge_warning: PipelineResultTypes => "MergeWarning" [or PipelineResultTypes::None],
        /// Target of verbose messages.
        pub merge_verbose: PipelineResultTypes => "MergeVerbose" [or PipelineResultTypes::None],
        /// Target of debug messages.
        pub merge_debug: PipelineResultTypes => "MergeDebug" [or PipelineResultTypes::None],
        /// Target of information records, since protocol 2.3.
        pub merge_information: PipelineResultTypes => "MergeInformation" [or PipelineResultTypes::None],
    }
}

/// First protocol version with a target for each stream.
const PER_STREAM_TARGETS: Version = Version::new(2, 2);

/// First protocol version with information records.
const INFORMATION_STREAM: Version = Version::new(2, 3);

impl Command {
    /// First protocol version with all members.
    const LAST_CHANGE: Version = INFORMATION_STREAM;

    /// Creates a command from its name.
    pub fn new(name: impl Into<PsString>) -> Self {
        Self { text: name.into(), ..Self::default() }
    }

    /// Creates a script.
    pub fn script(text: impl Into<PsString>) -> Self {
        Self { is_script: true, ..Self::new(text) }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<PsString>, value: impl Into<Value>) -> Self {
        self.parameters.push(CommandParameter { name: Some(name.into()), value: value.into() });
        self
    }

    /// Adds a switch parameter that is set.
    #[must_use]
    pub fn switch(self, name: impl Into<PsString>) -> Self {
        self.parameter(name, true)
    }

    /// Adds a positional argument.
    #[must_use]
    pub fn argument(mut self, value: impl Into<Value>) -> Self {
        self.parameters.push(CommandParameter { name: None, value: value.into() });
        self
    }

    /// Redirects errors.
    #[must_use]
    pub fn redirect_errors(mut self, target: MergeTarget) -> Self {
        self.merge_error = target.into();
        (self.merge_my_result, self.merge_to_result) = match target {
            MergeTarget::Output => (PipelineResultTypes::Error, PipelineResultTypes::Output),
            MergeTarget::Null => Default::default(),
        };
        self
    }

    setters! {
        /// Selects whether the command has a new variable scope, like `&`, or uses the enclosing one, like `.`.
        local_scope(local: bool) => use_local_scope = Some(local);
        /// Redirects warnings. Requires protocol 2.2.
        redirect_warnings(target: MergeTarget) => merge_warning = target.into();
        /// Redirects verbose messages. Requires protocol 2.2.
        redirect_verbose(target: MergeTarget) => merge_verbose = target.into();
        /// Redirects debug messages. Requires protocol 2.2.
        redirect_debug(target: MergeTarget) => merge_debug = target.into();
        /// Redirects information records. Requires protocol 2.3.
        redirect_information(target: MergeTarget) => merge_information = target.into();
        /// Takes output and errors of previous commands as input.
        merge_unclaimed() => merge_previous_results = PipelineResultTypes::from_number(
            PipelineResultTypes::Output.number() | PipelineResultTypes::Error.number(),
        );
    }

    /// Fails if a stream is redirected in a way that this protocol version does not support.
    fn check(&self, peer: Version) -> Result<(), Error> {
        let is_set = |merge: &PipelineResultTypes| *merge != PipelineResultTypes::None;
        let others = [self.merge_warning, self.merge_verbose, self.merge_debug];
        // Before 2.2, only errors can be redirected, and only to the output, with the two members that all versions
        // have.
        let error = is_set(&self.merge_error) && self.merge_my_result != PipelineResultTypes::Error;
        if peer < PER_STREAM_TARGETS && (error || others.iter().any(is_set)) {
            return Err(Error::with(Kind::Unwritable, "redirection of this stream requires protocol 2.2"));
        }
        if peer < INFORMATION_STREAM && is_set(&self.merge_information) {
            return Err(Error::with(Kind::Unwritable, "information records require protocol 2.3"));
        }
        Ok(())
    }

    /// Converts the pipeline to the object for a peer with this protocol version.
    fn write_for(&self, peer: Version) -> Value {
        let mut out = MemberWriter::default();
        self.write_members(&mut out);
        // The last five members are the targets of each stream, of which the last one is that of information records.
        if peer < PER_STREAM_TARGETS {
            out.truncate(Self::NAMES.len() - 5);
        } else if peer < INFORMATION_STREAM {
            out.truncate(Self::NAMES.len() - 1);
        }
        out.finish()
    }
}

flags! {
    /// The streams whose records include the invocation that they come from
    /// (`System.Management.Automation.RemoteStreamOptions`, MS-PSRP 2.2.3.8).
    #[derive(Default)]
    pub struct RemoteStreamOptions as "System.Management.Automation.RemoteStreamOptions" {
        /// None.
        NONE = 0 "None",
        /// Error records.
        ERROR = 1 "AddInvocationInfoToErrorRecord",
        /// Warnings.
        WARNING = 2 "AddInvocationInfoToWarningRecord",
        /// Debug records.
        DEBUG = 4 "AddInvocationInfoToDebugRecord",
        /// Verbose records.
        VERBOSE = 8 "AddInvocationInfoToVerboseRecord",
        /// All four.
        ALL = 15 "AddInvocationInfo",
    }
}

/// The code of a pipeline: statements, each a sequence of commands connected by a pipe (MS-PSRP 2.2.3.11).
///
/// ```
/// use psrp::message::{Command, PowerShell};
///
/// let shell = PowerShell::new()
///     .command(Command::new("Get-Process").parameter("Name", "pwsh"))
///     .command(Command::new("Select-Object").parameter("First", 1))
///     .statement()
///     .command(Command::script("Get-Date"));
/// assert_eq!(shell.statements().map(<[_]>::len).collect::<Vec<_>>(), [2, 1]);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PowerShell {
    /// At least one, possibly empty.
    statements: Vec<Vec<Command>>,
    /// Whether it runs inside another pipeline, for example at a nested prompt.
    pub is_nested: bool,
    /// The text in the session's history.
    pub history: Option<PsString>,
    /// Whether errors of the last command go to the error stream of the session.
    pub redirect_shell_error_output_pipe: bool,
}

impl PowerShell {
    /// Creates an empty pipeline.
    pub fn new() -> Self {
        Self {
            statements: vec![Vec::new()],
            is_nested: false,
            history: None,
            redirect_shell_error_output_pipe: true,
        }
    }

    /// Creates a pipeline with one script.
    pub fn script(text: impl Into<PsString>) -> Self {
        Self::new().command(Command::script(text))
    }

    /// Adds a command to the last statement. Its input is the output of the previous command.
    #[must_use]
    pub fn command(mut self, command: Command) -> Self {
        if let Some(statement) = self.statements.last_mut() {
            statement.push(command);
        }
        self
    }

    /// Begins a new statement, unless the last one is empty. Several statements require protocol 2.2.
    #[must_use]
    pub fn statement(mut self) -> Self {
        if self.statements.last().is_some_and(|statement| !statement.is_empty()) {
            self.statements.push(Vec::new());
        }
        self
    }

    /// Iterates over the statements.
    pub fn statements(&self) -> impl ExactSizeIterator<Item = &[Command]> {
        self.statements.iter().map(Vec::as_slice)
    }

    fn write(&self, peer: Version) -> Value {
        let commands = |statement: &Vec<Command>| -> Vec<Value> {
            statement.iter().map(|command| command.write_for(peer)).collect()
        };
        let mut out = MemberWriter::default();
        out.put("Cmds", &self.statements.first().map(commands).unwrap_or_default());
        out.put("IsNested", &self.is_nested);
        out.put("History", &self.history);
        out.put("RedirectShellErrorOutputPipe", &self.redirect_shell_error_output_pipe);
        if self.statements.len() > 1 {
            // All statements, including the first one.
            let statement = |statement| {
                let mut out = MemberWriter::default();
                out.put("Cmds", &commands(statement));
                out.finish()
            };
            out.put("ExtraCmds", &self.statements.iter().map(statement).collect::<Vec<_>>());
        }
        out.finish()
    }
}

impl_default!(PowerShell);

/// Writes the pipeline for a peer with our protocol version.
impl Field for PowerShell {
    fn write(&self) -> Value {
        self.write(SessionCapability::PROTOCOL)
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        let extra: Vec<Value> = from.optional("ExtraCmds")?.unwrap_or_default();
        let statement = |(index, statement): (usize, &Value)| {
            MemberReader::new(statement, from.budget)
                .and_then(|mut from| from.required("Cmds"))
                .map_err(|error| error.at(index).at("ExtraCmds"))
        };
        let statements = match &extra[..] {
            [] => vec![from.required("Cmds")?],
            extra => extra.iter().enumerate().map(statement).collect::<Result<_, _>>()?,
        };
        Ok(Self {
            statements,
            is_nested: from.optional("IsNested")?.unwrap_or_default(),
            history: from.optional("History")?,
            redirect_shell_error_output_pipe: from
                .optional("RedirectShellErrorOutputPipe")?
                .unwrap_or_default(),
        })
    }
}

object_struct! {
    /// Creates a pipeline (MS-PSRP 2.2.2.10).
    ///
    /// ```
    /// use psrp::message::{CreatePipeline, PowerShell};
    ///
    /// let message = CreatePipeline::new(PowerShell::script("1 + 1"));
    /// assert_eq!(CreatePipeline::from_value(&message.to_value())?, message);
    /// # Ok::<(), psrp::Error>(())
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct CreatePipeline {
        /// Whether the pipeline has no input. Otherwise the input must be ended.
        pub no_input: bool => "NoInput" [or false],
        /// Apartment of the thread that runs it.
        pub apartment_state: ApartmentState => "ApartmentState" [or ApartmentState::Unknown],
        /// The streams whose records include the invocation.
        pub remote_stream_options: RemoteStreamOptions => "RemoteStreamOptions" [or RemoteStreamOptions::NONE],
        /// Whether to add it to the session's history.
        pub add_to_history: bool => "AddToHistory" [or false],
        /// The client's host.
        pub host_info: HostInfo => "HostInfo" [or HostInfo::none()],
        /// The code to run.
        pub power_shell: PowerShell => "PowerShell",
        /// Whether it runs inside another pipeline.
        pub is_nested: bool => "IsNested" [or false],
    }
}

impl CreatePipeline {
    /// Creates a pipeline without input that uses the host of its pool.
    pub fn new(power_shell: PowerShell) -> Self {
        Self {
            no_input: true,
            apartment_state: ApartmentState::Unknown,
            remote_stream_options: RemoteStreamOptions::NONE,
            add_to_history: false,
            host_info: HostInfo::none(),
            is_nested: power_shell.is_nested,
            power_shell,
        }
    }

    /// Converts the pipeline to the object for a peer with this protocol version. Older peers reject members that they
    /// do not know.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_unwritable`] if the peer does not support the pipeline, for example a redirection of
    /// warnings before 2.2.
    pub fn to_value_for(&self, peer: Version) -> Result<Value, Error> {
        self.check_for(peer)?;
        let mut out = MemberWriter::default();
        self.write_members(&mut out);
        if peer < Command::LAST_CHANGE {
            out.replace("PowerShell", self.power_shell.write(peer));
        }
        Ok(out.finish())
    }

    /// Fails like [`to_value_for`](Self::to_value_for).
    pub(crate) fn check_for(&self, peer: Version) -> Result<(), Error> {
        for command in self.power_shell.statements.iter().flatten() {
            command.check(peer)?;
        }
        if peer < Version::new(2, 2) && self.power_shell.statements.len() > 1 {
            let detail = "several statements require protocol 2.2";
            return Err(Error::with(Kind::Unwritable, detail));
        }
        Ok(())
    }
}
