//! What a prompt asks for.

use crate::shape::{flags, object_struct as bag, open_enum};
use crate::value::{PsString, Value};

bag! {
    /// One of the choices of a prompt (`System.Management.Automation.Host.ChoiceDescription`).
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ChoiceDescription {
        /// The label; the character after `&` is its key.
        pub label: PsString => "label",
        /// A longer explanation.
        pub help_message: Option<PsString> => "helpMessage" [unset PsString::default()],
    }
}

impl ChoiceDescription {
    /// A choice with a label and an explanation.
    pub fn new(label: impl Into<PsString>, help_message: impl Into<PsString>) -> Self {
        Self { label: label.into(), help_message: Some(help_message.into()) }
    }
}

bag! {
    /// One of the values that a prompt asks for (`System.Management.Automation.Host.FieldDescription`).
    ///
    /// If one of the three names of the type is missing, another one is sent in its place: PowerShell takes the value for
    /// a string otherwise.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct FieldDescription {
        /// Name of the value, its key in the answer.
        pub name: PsString => "name",
        /// The label; the character after `&` is its key.
        pub label: Option<PsString> => "label" [unset PsString::default()],
        /// Short name of the type to convert the answer to.
        pub parameter_type_name: Option<PsString> => "parameterTypeName" [optional parameter_type_full_name],
        /// Full name of the type. A name is data: nothing is made by it.
        pub parameter_type_full_name: Option<PsString> => "parameterTypeFullName" [optional parameter_type_name],
        /// Assembly of the type.
        pub parameter_assembly_full_name: Option<PsString> => "parameterAssemblyFullName" [optional parameter_type_full_name],
        /// A longer explanation.
        pub help_message: Option<PsString> => "helpMessage" [unset PsString::default()],
        /// Whether there has to be an answer.
        pub is_mandatory: bool => "isMandatory" [or false],
        /// Attributes of the parameter, a list.
        pub metadata: Option<Value> => "metadata" [optional],
        /// Whether the server changed the prompt to show where it comes from.
        pub modified_by_remoting_protocol: bool => "modifiedByRemotingProtocol" [or false],
        /// Whether it comes from a remote host.
        pub is_from_remote_host: bool => "isFromRemoteHost" [or false],
        /// The answer to assume.
        pub default_value: Option<Value> => "defaultValue" [optional],
    }
}

flags! {
    /// Kinds of credentials to ask for (`System.Management.Automation.PSCredentialTypes`).
    pub struct CredentialTypes {
        /// Any user and password.
        GENERIC = 1 "Generic",
        /// Those of a domain.
        DOMAIN = 2 "Domain",
        /// Both.
        DEFAULT = 3 "Default",
    }
}

open_enum! {
    /// How to ask for a credential (`System.Management.Automation.PSCredentialUIOptions`).
    #[derive(Default)]
    pub enum CredentialUiOptions {
        /// Nothing in particular.
        None = 0,
        /// The name of the user has to be valid. The default.
        #[default]
        ValidateUserNameSyntax = 1,
        /// Ask even if the credential is known.
        AlwaysPrompt = 2,
        /// The name of the user can't be changed.
        ReadOnlyUserName = 3,
    }
}
