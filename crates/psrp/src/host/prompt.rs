//! Parameters of prompts.

use crate::shape::{flags, object_struct, open_enum};
use crate::value::{PsString, Value};

object_struct! {
    /// A choice of a prompt (`System.Management.Automation.Host.ChoiceDescription`).
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ChoiceDescription {
        /// Label. The character after `&` is the access key.
        pub label: PsString => "label",
        /// Help text.
        pub help_message: Option<PsString> => "helpMessage" [unset PsString::default()],
    }
}

impl ChoiceDescription {
    /// Creates a choice with a label and a help text.
    pub fn new(label: impl Into<PsString>, help_message: impl Into<PsString>) -> Self {
        Self { label: label.into(), help_message: Some(help_message.into()) }
    }
}

object_struct! {
    /// A value that a prompt asks for (`System.Management.Automation.Host.FieldDescription`).
    ///
    /// If one of the three type names is missing, another one is sent instead, because otherwise PowerShell assumes a
    /// string.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct FieldDescription {
        /// Name of the value, and its key in the result.
        pub name: PsString => "name",
        /// Label. The character after `&` is the access key.
        pub label: Option<PsString> => "label" [unset PsString::default()],
        /// Short name of the value's type.
        pub parameter_type_name: Option<PsString> => "parameterTypeName" [optional parameter_type_full_name],
        /// Full name of the type. It is only data: no type is instantiated from it.
        pub parameter_type_full_name: Option<PsString> => "parameterTypeFullName" [optional parameter_type_name],
        /// Name of the type's assembly.
        pub parameter_assembly_full_name: Option<PsString> => "parameterAssemblyFullName" [optional parameter_type_full_name],
        /// Help text.
        pub help_message: Option<PsString> => "helpMessage" [unset PsString::default()],
        /// Whether a value is required.
        pub is_mandatory: bool => "isMandatory" [or false],
        /// List of the parameter's attributes.
        pub metadata: Option<Value> => "metadata" [optional],
        /// Whether the server changed the prompt to show that it comes from a remote host.
        pub modified_by_remoting_protocol: bool => "modifiedByRemotingProtocol" [or false],
        /// Whether the prompt comes from a remote host.
        pub is_from_remote_host: bool => "isFromRemoteHost" [or false],
        /// Default value.
        pub default_value: Option<Value> => "defaultValue" [optional],
    }
}

flags! {
    /// Accepted kinds of credentials (`System.Management.Automation.PSCredentialTypes`).
    pub struct CredentialTypes {
        /// Any user and password.
        GENERIC = 1 "Generic",
        /// Domain credentials.
        DOMAIN = 2 "Domain",
        /// Both.
        DEFAULT = 3 "Default",
    }
}

open_enum! {
    /// Options of a credential prompt (`System.Management.Automation.PSCredentialUIOptions`).
    #[derive(Default)]
    pub enum CredentialUiOptions {
        /// No options.
        None = 0,
        /// The user name must be valid. Default.
        #[default]
        ValidateUserNameSyntax = 1,
        /// Ask even if the credential is known.
        AlwaysPrompt = 2,
        /// The user name cannot be changed.
        ReadOnlyUserName = 3,
    }
}
