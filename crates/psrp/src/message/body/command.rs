//! Commands of a pipeline.

use crate::Error;
use crate::error::Kind;
use crate::shape::{CopyBudget, Mismatch, MemberReader, MemberWriter, object_struct, open_enum};
use crate::value::{PsString, Value, Version};

open_enum! {
    /// Streams of a command, and where they go (`System.Management.Automation.Runspaces.PipelineResultTypes`, MS-PSRP
    /// 2.2.3.31).
    #[derive(Default)]
    pub enum PipelineResultTypes as "System.Management.Automation.Runspaces.PipelineResultTypes" {
        /// None: a stream stays what it is.
        #[default]
        None = 0,
        /// The output.
        Output = 1,
        /// The errors.
        Error = 2,
        /// The warnings; also output and errors of the commands before, which has the same number.
        Warning = 3,
        /// The verbose messages.
        Verbose = 4,
        /// The debug messages.
        Debug = 5,
        /// The information records.
        Information = 6,
        /// All streams.
        All = 7,
        /// Nowhere.
        Null = 8,
    }
}

/// Where a stream is redirected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MergeTarget {
    /// Into the output, as `2>&1`.
    Output,
    /// Nowhere, as `2>$null`.
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
        /// Name of the parameter without the hyphen, `None` for an argument by position.
        pub name: Option<PsString> => "N" [nil],
        /// Its value; `true` for a switch.
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
    /// Parameters and arguments in their order.
    pub parameters: Vec<CommandParameter>,
    /// Whether the text is a script.
    pub is_script: bool,
    /// Whether it has variables of its own; `None` leaves that to the server.
    pub use_local_scope: Option<bool>,
    /// The stream that goes to `merge_to_result`: errors or none. Peers before protocol 2.2 know of no other way.
    pub merge_my_result: PipelineResultTypes,
    /// Where that stream goes.
    pub merge_to_result: PipelineResultTypes,
    /// Streams of the commands before that this one takes as input.
    pub merge_previous_results: PipelineResultTypes,
    /// Where errors go.
    pub merge_error: PipelineResultTypes,
    /// Where warnings go.
    pub merge_warning: PipelineResultTypes,
    /// Where verbose messages go.
    pub merge_verbose: PipelineResultTypes,
    /// Where debug messages go.
    pub merge_debug: PipelineResultTypes,
    /// Where information records go, since protocol 2.3.
    pub merge_information: PipelineResultTypes,
}

/// The first protocol with a target for each stream.
const EACH_STREAM: Version = Version::new(2, 2);

/// The first protocol with information records.
const INFORMATION: Version = Version::new(2, 3);

impl Command {
    /// A command by its name.
    pub fn new(name: impl Into<PsString>) -> Self {
        Self { text: name.into(), ..Self::default() }
    }

    /// A script.
    pub fn script(text: impl Into<PsString>) -> Self {
        Self { is_script: true, ..Self::new(text) }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<PsString>, value: impl Into<Value>) -> Self {
        self.parameters.push(CommandParameter { name: Some(name.into()), value: value.into() });
        self
    }

    /// Adds a switch that is on.
    #[must_use]
    pub fn switch(self, name: impl Into<PsString>) -> Self {
        self.parameter(name, true)
    }

    /// Adds an argument by position.
    #[must_use]
    pub fn argument(mut self, value: impl Into<Value>) -> Self {
        self.parameters.push(CommandParameter { name: None, value: value.into() });
        self
    }

    /// Whether the command has variables of its own, as with `&`, or those of its surroundings, as with `.`.
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

    /// Redirects warnings, with a peer of protocol 2.2 or later.
    #[must_use]
    pub fn redirect_warnings(mut self, target: MergeTarget) -> Self {
        self.merge_warning = target.into();
        self
    }

    /// Redirects verbose messages, with a peer of protocol 2.2 or later.
    #[must_use]
    pub fn redirect_verbose(mut self, target: MergeTarget) -> Self {
        self.merge_verbose = target.into();
        self
    }

    /// Redirects debug messages, with a peer of protocol 2.2 or later.
    #[must_use]
    pub fn redirect_debug(mut self, target: MergeTarget) -> Self {
        self.merge_debug = target.into();
        self
    }

    /// Redirects information records, with a peer of protocol 2.3 or later.
    #[must_use]
    pub fn redirect_information(mut self, target: MergeTarget) -> Self {
        self.merge_information = target.into();
        self
    }

    /// Takes output and errors of the commands before as input.
    #[must_use]
    pub fn merge_unclaimed(mut self) -> Self {
        self.merge_previous_results = PipelineResultTypes::from_number(
            PipelineResultTypes::Output.number() | PipelineResultTypes::Error.number(),
        );
        self
    }

    /// Fails if a stream is redirected that a peer of this protocol can't redirect.
    pub(super) fn check(&self, peer: Version) -> Result<(), Error> {
        let is_set = |merge: &PipelineResultTypes| *merge != PipelineResultTypes::None;
        let others = [self.merge_warning, self.merge_verbose, self.merge_debug];
        // Before, errors can only go to the output, by the two members that all versions have.
        let error = is_set(&self.merge_error) && self.merge_my_result != PipelineResultTypes::Error;
        if peer < EACH_STREAM && (error || others.iter().any(is_set)) {
            return Err(Error::with(
                Kind::Unwritable,
                "streams of commands are redirected since protocol 2.2",
            ));
        }
        if peer < INFORMATION && is_set(&self.merge_information) {
            return Err(Error::with(Kind::Unwritable, "information records exist since protocol 2.3"));
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
        if peer >= EACH_STREAM {
            out.put("MergeError", &self.merge_error);
            out.put("MergeWarning", &self.merge_warning);
            out.put("MergeVerbose", &self.merge_verbose);
            out.put("MergeDebug", &self.merge_debug);
        }
        if peer >= INFORMATION {
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
