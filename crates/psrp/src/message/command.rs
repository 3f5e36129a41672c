//! Commands of a pipeline.

use crate::Error;
use crate::error::Kind;
use crate::shape::{MemberWriter, object_struct, open_enum};
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
        /// True if `text` is a script.
        pub is_script: bool => "IsScript" [or false],
        /// True for a variable scope of its own; `None` is the server's default.
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
    pub(super) const LAST_CHANGE: Version = INFORMATION_STREAM;

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
        /// Selects whether the command has a variable scope of its own, like `&`, or uses the enclosing one, like `.`.
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
    pub(super) fn check(&self, peer: Version) -> Result<(), Error> {
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

    /// Converts it to the object for a peer with this protocol version.
    pub(super) fn write_for(&self, peer: Version) -> Value {
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
