//! Creation of pipelines.

use super::{ApartmentState, Command, HostInfo, SessionCapability};
use crate::Error;
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, flags, object_struct};
use crate::value::{PsString, Value, Version};

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
    /// True if it runs inside another pipeline, for example at a nested prompt.
    pub is_nested: bool,
    /// The text in the session's history.
    pub history: Option<PsString>,
    /// True if errors of the last command go to the error stream of the session.
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

/// Writes it for a peer with our own protocol version.
impl Field for PowerShell {
    fn write(&self) -> Value {
        self.write(SessionCapability::PROTOCOL)
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        let extra: Vec<Statement> = from.optional("ExtraCmds")?.unwrap_or_default();
        let statements = if extra.is_empty() {
            vec![from.required("Cmds")?]
        } else {
            extra.into_iter().map(|statement| statement.0).collect()
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

/// Reads a statement in a list. Statements are written for a specific peer instead.
struct Statement(Vec<Command>);

impl Field for Statement {
    fn write(&self) -> Value {
        Value::Nil
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        MemberReader::new(value, budget)?.required("Cmds").map(Self)
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
        /// True if the pipeline has no input. Otherwise the input must be ended.
        pub no_input: bool => "NoInput" [or false],
        /// Apartment of the thread that runs it.
        pub apartment_state: ApartmentState => "ApartmentState" [or ApartmentState::Unknown],
        /// The streams whose records include the invocation.
        pub remote_stream_options: RemoteStreamOptions => "RemoteStreamOptions" [or RemoteStreamOptions::NONE],
        /// True to add it to the session's history.
        pub add_to_history: bool => "AddToHistory" [or false],
        /// The client's host.
        pub host_info: HostInfo => "HostInfo" [or HostInfo::none()],
        /// The code to run.
        pub power_shell: PowerShell => "PowerShell",
        /// True if it runs inside another pipeline.
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

    /// Converts it to the object for a peer with this protocol version. Older peers reject members that they do not
    /// know.
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
            return Err(Error::with(crate::error::Kind::Unwritable, detail));
        }
        Ok(())
    }
}
