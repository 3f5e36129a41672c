//! Error records.

use super::{ErrorCategory, InvocationInfo, exception};
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, Mismatch, object_struct};
use crate::value::{Members, Object, PsString, TypeNames, Value};

/// An error (`System.Management.Automation.ErrorRecord`, MS-PSRP 2.2.3.15): a record of the error stream, the reason of
/// a failed pipeline or pool, or the response of a host call that failed.
///
/// ```
/// use psrp::record::{ErrorCategory, ErrorRecord};
///
/// let record = ErrorRecord::new("file not found", ErrorCategory::ObjectNotFound)
///     .with_target("a.txt", "a.txt", "String")
///     .with_reason("ItemNotFoundException");
/// assert_eq!(record.category_message.as_ref().unwrap(), &"ObjectNotFound (a.txt:String) [], ItemNotFoundException");
/// assert_eq!(ErrorRecord::from_value(&record.to_value())?, record);
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ErrorRecord {
    /// The exception as an object; see [`exception`](super::exception()).
    pub exception: Value,
    /// The object that the command was processing.
    pub target_object: Value,
    /// Identifier of the error, such as `PathNotFound,Microsoft.PowerShell.Commands.GetChildItemCommand`.
    pub fully_qualified_error_id: Option<PsString>,
    /// The invocation as an object. Most senders use `invocation` instead.
    pub invocation_info: Value,
    /// Category of the error.
    pub category: ErrorCategory,
    /// The operation that failed.
    pub activity: Option<PsString>,
    /// Reason of the failure, usually the type of the exception.
    pub reason: Option<PsString>,
    /// Name of the target.
    pub target_name: Option<PsString>,
    /// Type of the target.
    pub target_type: Option<PsString>,
    /// Summary of the category and the four previous members.
    pub category_message: Option<PsString>,
    /// Text to be shown instead of the message of the exception.
    pub details_message: Option<PsString>,
    /// Recommended action for the user.
    pub recommended_action: Option<PsString>,
    /// Stack trace of the script.
    pub script_stack_trace: Option<PsString>,
    /// The invocation that failed, if the client requested it.
    pub invocation: Option<Box<InvocationInfo>>,
    /// Number of items that each command of the pipeline has processed. Only written with `invocation`, whose list is
    /// used for `None`.
    pub pipeline_iteration_info: Option<Vec<i32>>,
    /// Text form of the record at the sender.
    pub text: Option<PsString>,
    /// Unknown members.
    pub extra: Members,
}

const EXTENDED: &str = "SerializeExtendedInfo";
const ITERATION: &str = "PipelineIterationInfo";

/// Names of all members except those of the invocation.
const NAMES: &[&str] = &[
    "Exception",
    "TargetObject",
    "FullyQualifiedErrorId",
    "InvocationInfo",
    "ErrorCategory_Category",
    "ErrorCategory_Activity",
    "ErrorCategory_Reason",
    "ErrorCategory_TargetName",
    "ErrorCategory_TargetType",
    "ErrorCategory_Message",
    "ErrorDetails_Message",
    "ErrorDetails_RecommendedAction",
    "ErrorDetails_ScriptStackTrace",
    EXTENDED,
];

impl ErrorRecord {
    /// Creates an error with this message; the exception is a `System.Exception`.
    pub fn new(message: impl Into<PsString>, category: ErrorCategory) -> Self {
        Self::of_exception(exception([], message), category)
    }

    /// Creates an error from an exception; see [`exception`](super::exception()).
    pub fn of_exception(exception: Value, category: ErrorCategory) -> Self {
        let text = exception.get("Message").and_then(Value::as_ps_string).cloned();
        let mut record = Self {
            exception,
            target_object: Value::Nil,
            fully_qualified_error_id: None,
            invocation_info: Value::Nil,
            category,
            activity: None,
            reason: None,
            target_name: None,
            target_type: None,
            category_message: None,
            details_message: None,
            recommended_action: None,
            script_stack_trace: None,
            invocation: None,
            pipeline_iteration_info: None,
            text,
            extra: Members::new(),
        };
        record.describe_category();
        record
    }

    /// Sets the identifier.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<PsString>) -> Self {
        self.fully_qualified_error_id = Some(id.into());
        self
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
}

impl Field for ErrorRecord {
    fn write(&self) -> Value {
        use std::sync::LazyLock;

        static TYPE_NAMES: LazyLock<TypeNames> =
            LazyLock::new(|| TypeNames::new(["System.Management.Automation.ErrorRecord", "System.Object"]));

        let mut out = MemberWriter::default();
        out.put("Exception", &self.exception);
        out.put("TargetObject", &self.target_object);
        out.put("FullyQualifiedErrorId", &self.fully_qualified_error_id);
        out.put("InvocationInfo", &self.invocation_info);
        out.put("ErrorCategory_Category", &self.category);
        out.put("ErrorCategory_Activity", &self.activity);
        out.put("ErrorCategory_Reason", &self.reason);
        out.put("ErrorCategory_TargetName", &self.target_name);
        out.put("ErrorCategory_TargetType", &self.target_type);
        out.put("ErrorCategory_Message", &self.category_message);
        out.put_some("ErrorDetails_Message", &self.details_message);
        out.put_some("ErrorDetails_RecommendedAction", &self.recommended_action);
        out.put_some("ErrorDetails_ScriptStackTrace", &self.script_stack_trace);
        out.put(EXTENDED, &self.invocation.is_some());
        if let Some(invocation) = &self.invocation {
            invocation.write_members(&mut out);
            // PowerShell rejects a record with an invocation but without this member.
            let call = &invocation.call.pipeline_iteration_info;
            out.put(ITERATION, self.pipeline_iteration_info.as_ref().unwrap_or(call));
        }
        out.extend(&self.extra);
        let mut object = Object::builder().shared_type_names(TYPE_NAMES.clone());
        if let Some(text) = &self.text {
            object = object.to_string(text.clone());
        }
        out.finish_as(object)
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let mut from = MemberReader::new(value, budget)?;
        let extended = from.optional(EXTENDED)? == Some(true);
        let [call, serialize_extent, extent, command] = InvocationInfo::NAMES;
        let known: &[&[&str]] =
            if extended { &[NAMES, &[ITERATION], call, serialize_extent, extent, command] } else { &[NAMES] };
        Ok(Self {
            exception: from.optional("Exception")?.unwrap_or_default(),
            target_object: from.optional("TargetObject")?.unwrap_or_default(),
            fully_qualified_error_id: from.optional("FullyQualifiedErrorId")?,
            invocation_info: from.optional("InvocationInfo")?.unwrap_or_default(),
            category: from.optional("ErrorCategory_Category")?.unwrap_or_default(),
            activity: from.optional("ErrorCategory_Activity")?,
            reason: from.optional("ErrorCategory_Reason")?,
            target_name: from.optional("ErrorCategory_TargetName")?,
            target_type: from.optional("ErrorCategory_TargetType")?,
            category_message: from.optional("ErrorCategory_Message")?,
            details_message: from.optional("ErrorDetails_Message")?,
            recommended_action: from.optional("ErrorDetails_RecommendedAction")?,
            script_stack_trace: from.optional("ErrorDetails_ScriptStackTrace")?,
            invocation: if extended {
                Some(Box::new(InvocationInfo::read_members(&mut from)?))
            } else {
                None
            },
            pipeline_iteration_info: if extended { from.optional(ITERATION)? } else { None },
            text: from.text_form()?,
            extra: from.extra(known)?,
        })
    }
}

object_struct!(@values ErrorRecord);
