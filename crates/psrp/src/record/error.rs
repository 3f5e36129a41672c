//! Error records, their exceptions and categories.

use std::borrow::Cow;

use super::invocation::InvocationMembers;
use super::{InvocationCall, InvocationInfo};
use crate::Error;
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, object_struct, open_enum};
use crate::value::{Members, Object, PsString, TypeNames, Value};

object_struct! {
    /// An error (`System.Management.Automation.ErrorRecord`, MS-PSRP 2.2.3.15): a record of the error stream, the reason
    /// of a failed pipeline or pool, or the response of a host call that failed.
    ///
    /// ```
    /// use psrp::record::{ErrorCategory, ErrorRecord};
    ///
    /// let record = ErrorRecord::new("file not found", ErrorCategory::ObjectNotFound)
    ///     .with_target("a.txt", "a.txt", "String")
    ///     .with_reason("ItemNotFoundException");
    /// let message = record.category_message.as_ref().unwrap();
    /// assert_eq!(message, &"ObjectNotFound (a.txt:String) [], ItemNotFoundException");
    /// assert_eq!(ErrorRecord::from_value(&record.to_value())?, record);
    /// # Ok::<(), psrp::Error>(())
    /// ```
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ErrorRecord {
        /// The exception as an object; see [`exception`](exception()).
        pub exception: Value => "Exception" [or Value::Nil],
        /// The object that the command was processing.
        pub target_object: Value => "TargetObject" [or Value::Nil],
        /// Identifier of the error, such as `PathNotFound,Microsoft.PowerShell.Commands.GetChildItemCommand`.
        pub fully_qualified_error_id: Option<PsString> => "FullyQualifiedErrorId" [nil],
        /// The invocation as an object; see [`invocation_call`](Self::invocation_call).
        pub invocation_info: Value => "InvocationInfo" [or Value::Nil],
        /// Category of the error.
        pub category: ErrorCategory => "ErrorCategory_Category" [or ErrorCategory::NotSpecified],
        /// The operation that failed.
        pub activity: Option<PsString> => "ErrorCategory_Activity" [nil],
        /// Reason of the failure, usually the type of the exception.
        pub reason: Option<PsString> => "ErrorCategory_Reason" [nil],
        /// Name of the target.
        pub target_name: Option<PsString> => "ErrorCategory_TargetName" [nil],
        /// Type of the target.
        pub target_type: Option<PsString> => "ErrorCategory_TargetType" [nil],
        /// Summary of the category and the four previous members.
        pub category_message: Option<PsString> => "ErrorCategory_Message" [nil],
        /// Text to be shown instead of the message of the exception.
        pub details_message: Option<PsString> => "ErrorDetails_Message" [optional],
        /// Recommended action for the user.
        pub recommended_action: Option<PsString> => "ErrorDetails_RecommendedAction" [optional],
        /// Stack trace of the script.
        pub script_stack_trace: Option<PsString> => "ErrorDetails_ScriptStackTrace" [optional],
        ..
        /// The invocation that failed, if the client requested invocations.
        pub invocation: Option<Box<InvocationInfo>>,
        /// Number of items that each command of the pipeline has processed. Only written with `invocation`; `None`
        /// writes the list in `invocation`.
        pub pipeline_iteration_info: Option<Vec<i32>>,
        /// Text form of the record at the sender.
        pub text: Option<PsString>,
        /// Unknown members.
        pub extra: Members,
    }
}

const INVOCATION: InvocationMembers =
    InvocationMembers { flag: "SerializeExtendedInfo", iteration: "PipelineIterationInfo" };

impl ErrorRecord {
    /// Creates an error with this message; the exception is a `System.Exception`.
    pub fn new(message: impl Into<PsString>, category: ErrorCategory) -> Self {
        Self::of_exception(exception([], message), category)
    }

    /// Creates an error from an exception; see [`exception`](exception()).
    pub fn of_exception(exception: Value, category: ErrorCategory) -> Self {
        let text = exception.get("Message").and_then(Value::as_ps_string).cloned();
        let mut record = Self { exception, category, text, ..Self::default() };
        record.describe_category();
        record
    }

    setters! {
        /// Sets the identifier.
        with_id(id: impl Into<PsString>) => fully_qualified_error_id = Some(id.into());
    }

    /// Sets the operation that failed.
    #[must_use]
    pub fn with_activity(mut self, activity: impl Into<PsString>) -> Self {
        self.activity = Some(activity.into());
        self.describe_category();
        self
    }

    /// Sets the reason of the failure.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<PsString>) -> Self {
        self.reason = Some(reason.into());
        self.describe_category();
        self
    }

    /// Sets the target: the object, its name and its type.
    #[must_use]
    pub fn with_target(
        mut self,
        object: impl Into<Value>,
        name: impl Into<PsString>,
        type_name: impl Into<PsString>,
    ) -> Self {
        self.target_object = object.into();
        self.target_name = Some(name.into());
        self.target_type = Some(type_name.into());
        self.describe_category();
        self
    }

    /// Updates `category_message` from the other members: `Category (TargetName:TargetType) [Activity], Reason`.
    pub fn describe_category(&mut self) {
        let text = |text: &Option<PsString>| text.as_ref().map(PsString::to_string).unwrap_or_default();
        let [name, type_name] = [&self.target_name, &self.target_type].map(text);
        let [activity, reason] = [&self.activity, &self.reason].map(text);
        let message = format!("{} ({name}:{type_name}) [{activity}], {reason}", self.category);
        self.category_message = Some(message.into());
    }

    /// Returns the text to show: the details, else the message of the exception, else the text form. Not escaped for a
    /// terminal; see [`terminal_safe`](crate::terminal_safe).
    pub fn message(&self) -> Option<&PsString> {
        self.details_message
            .as_ref()
            .or_else(|| self.exception.get("Message").and_then(Value::as_ps_string))
            .or(self.text.as_ref())
    }

    /// Returns the invocation that failed and its position, from `invocation` or from the object `invocation_info`,
    /// which `throw` and parse errors have.
    pub fn invocation_call(&self) -> Option<Cow<'_, InvocationCall>> {
        match (&self.invocation, &self.invocation_info) {
            (Some(invocation), _) => Some(Cow::Borrowed(&invocation.call)),
            (None, Value::Object(object)) => InvocationCall::from_object(object).map(Cow::Owned),
            _ => None,
        }
    }
}

impl Field for ErrorRecord {
    fn write(&self) -> Value {
        use std::sync::LazyLock;

        static TYPE_NAMES: LazyLock<TypeNames> =
            LazyLock::new(|| TypeNames::new(["System.Management.Automation.ErrorRecord", "System.Object"]));

        let mut out = MemberWriter::default();
        self.write_members(&mut out);
        INVOCATION.write(&mut out, self.invocation.as_deref(), self.pipeline_iteration_info.as_ref());
        out.finish_record(&TYPE_NAMES, self.text.as_ref(), &self.extra)
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        let (invocation, pipeline_iteration_info, text, extra) = INVOCATION.read(&mut from, Self::NAMES)?;
        Ok(Self { invocation, pipeline_iteration_info, text, extra, ..Self::read_members(&mut from)? })
    }
}

/// `COR_E_SYSTEM`, the `HResult` of exceptions without a specific one.
const DEFAULT_HRESULT: i32 = -2_146_233_087;

/// Creates the object of an exception with this message.
///
/// `type_names` are the type names of the exception, most derived first, without the last two, `System.Exception` and
/// `System.Object`. For `System.Management.Automation.RuntimeException` they are that name and
/// `System.SystemException`.
///
/// ```
/// let exception = psrp::record::exception(["System.TimeoutException", "System.SystemException"], "too late");
/// assert_eq!(exception["Message"], "too late");
/// ```
pub fn exception<'a>(type_names: impl IntoIterator<Item = &'a str>, message: impl Into<PsString>) -> Value {
    let message = message.into();
    Object::builder()
        .type_names(type_names.into_iter().chain(["System.Exception", "System.Object"]))
        .adapted("Message", message)
        .adapted("Data", Value::Nil)
        .adapted("HelpLink", Value::Nil)
        .adapted("HResult", DEFAULT_HRESULT)
        .adapted("InnerException", Value::Nil)
        .adapted("Source", Value::Nil)
        .adapted("StackTrace", Value::Nil)
        .adapted("TargetSite", Value::Nil)
        .build()
        .into()
}

open_enum! {
    /// The category of an error (`System.Management.Automation.ErrorCategory`, MS-PSRP 2.2.3.9).
    #[derive(Default)]
    pub enum ErrorCategory {
        /// No category.
        #[default]
        NotSpecified = 0,
        /// Opening failed.
        OpenError = 1,
        /// Closing failed.
        CloseError = 2,
        /// A device failed.
        DeviceError = 3,
        /// A deadlock was detected.
        DeadlockDetected = 4,
        /// An argument is invalid.
        InvalidArgument = 5,
        /// Data is invalid.
        InvalidData = 6,
        /// The operation is invalid in the current state.
        InvalidOperation = 7,
        /// A result is invalid.
        InvalidResult = 8,
        /// A type is invalid.
        InvalidType = 9,
        /// Metadata is invalid.
        MetadataError = 10,
        /// Not implemented.
        NotImplemented = 11,
        /// Not installed.
        NotInstalled = 12,
        /// An object, command or path was not found.
        ObjectNotFound = 13,
        /// The operation was stopped.
        OperationStopped = 14,
        /// The operation timed out.
        OperationTimeout = 15,
        /// A syntax error.
        SyntaxError = 16,
        /// The script can't be parsed.
        ParserError = 17,
        /// Permission denied.
        PermissionDenied = 18,
        /// A resource is in use.
        ResourceBusy = 19,
        /// A resource already exists.
        ResourceExists = 20,
        /// A resource is not available.
        ResourceUnavailable = 21,
        /// Reading failed.
        ReadError = 22,
        /// Writing failed.
        WriteError = 23,
        /// Text that a program wrote to standard error.
        FromStdErr = 24,
        /// A security check failed.
        SecurityError = 25,
        /// The protocol was violated.
        ProtocolError = 26,
        /// A connection failed.
        ConnectionError = 27,
        /// Authentication failed.
        AuthenticationError = 28,
        /// A limit was exceeded.
        LimitsExceeded = 29,
        /// A quota was exceeded.
        QuotaExceeded = 30,
        /// A feature is not enabled.
        NotEnabled = 31,
    }
}
