//! Commands of a pipeline.

use crate::Error;
use crate::error::Kind;
use crate::shape::{CopyBudget, MemberReader, MemberWriter, Mismatch, object_struct, open_enum};
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
    pub text: PsString,
    /// Parameters and arguments in order.
    pub parameters: Vec<CommandParameter>,
    /// True if `text` is a script.
    pub is_script: bool,
    /// True for a variable scope of its own; `None` is the server's default.
    pub use_local_scope: Option<bool>,
    /// The stream redirected to `merge_to_result`: errors or none. Peers before protocol 2.2 support no other
    /// redirection.
    pub merge_my_result: PipelineResultTypes,
    /// Target of `merge_my_result`.
    pub merge_to_result: PipelineResultTypes,
    /// Streams of previous commands that become the input of this command.
    pub merge_previous_results: PipelineResultTypes,
    /// Target of errors.
    pub merge_error: PipelineResultTypes,
    /// Target of warnings.
    pub merge_warning: PipelineResultTypes,
    /// Target of verbose messages.
    pub merge_verbose: PipelineResultTypes,
    /// Target of debug messages.
    pub merge_debug: PipelineResultTypes,
    /// Target of information records, since protocol 2.3.
    pub merge_information: PipelineResultTypes,
}

/// First protocol version with a target for each stream.
const PER_STREAM_TARGETS: Version = Version::new(2, 2);

/// First protocol version with information records.
const INFORMATION_STREAM: Version = Version::new(2, 3);

impl Command {
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

    /// Selects whether the command has a variable scope of its own, like `&`, or uses the enclosing one, like `.`.
    #[must_use]
    pub fn local_scope(mut self, local: bool) -> Self {
        self.use_local_scope = Some(local);
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

    /// Redirects warnings. Requires protocol 2.2.
    #[must_use]
    pub fn redirect_warnings(mut self, target: MergeTarget) -> Self {
        self.merge_warning = target.into();
        self
    }

    /// Redirects verbose messages. Requires protocol 2.2.
    #[must_use]
    pub fn redirect_verbose(mut self, target: MergeTarget) -> Self {
        self.merge_verbose = target.into();
        self
    }

    /// Redirects debug messages. Requires protocol 2.2.
    #[must_use]
    pub fn redirect_debug(mut self, target: MergeTarget) -> Self {
        self.merge_debug = target.into();
        self
    }

    /// Redirects information records. Requires protocol 2.3.
    #[must_use]
    pub fn redirect_information(mut self, target: MergeTarget) -> Self {
        self.merge_information = target.into();
        self
    }

    /// Takes output and errors of previous commands as input.
    #[must_use]
    pub fn merge_unclaimed(mut self) -> Self {
        self.merge_previous_results = PipelineResultTypes::from_number(
            PipelineResultTypes::Output.number() | PipelineResultTypes::Error.number(),
        );
        self
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

    pub(super) fn write(&self, peer: Version) -> Value {
        let mut out = MemberWriter::default();
        out.put("Cmd", &self.text);
        out.put("Args", &self.parameters);
        out.put("IsScript", &self.is_script);
        out.put("UseLocalScope", &self.use_local_scope);
        out.put("MergeMyResult", &self.merge_my_result);
        out.put("MergeToResult", &self.merge_to_result);
        out.put("MergePreviousResults", &self.merge_previous_results);
        if peer >= PER_STREAM_TARGETS {
            out.put("MergeError", &self.merge_error);
            out.put("MergeWarning", &self.merge_warning);
            out.put("MergeVerbose", &self.merge_verbose);
            out.put("MergeDebug", &self.merge_debug);
        }
        if peer >= INFORMATION_STREAM {
            out.put("MergeInformation", &self.merge_information);
        }
        out.finish()
    }

    pub(super) fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let mut from = MemberReader::new(value, budget)?;
        Ok(Self {
            text: from.required("Cmd")?,
            parameters: from.optional("Args")?.unwrap_or_default(),
            is_script: from.optional("IsScript")?.unwrap_or_default(),
            use_local_scope: from.optional("UseLocalScope")?,
            merge_my_result: from.optional("MergeMyResult")?.unwrap_or_default(),
            merge_to_result: from.optional("MergeToResult")?.unwrap_or_default(),
            merge_previous_results: from.optional("MergePreviousResults")?.unwrap_or_default(),
            merge_error: from.optional("MergeError")?.unwrap_or_default(),
            merge_warning: from.optional("MergeWarning")?.unwrap_or_default(),
            merge_verbose: from.optional("MergeVerbose")?.unwrap_or_default(),
            merge_debug: from.optional("MergeDebug")?.unwrap_or_default(),
            merge_information: from.optional("MergeInformation")?.unwrap_or_default(),
        })
    }
}
