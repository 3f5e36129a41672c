//! Host calls and responses as messages, and results of host methods.

use uuid::Uuid;

use super::{CellBuffer, ConsoleColor, Coordinates, HostMethod, HostRequest, KeyInfo, Size};
use crate::Error;
use crate::record::{ErrorCategory, ErrorRecord, PsCredential, exception};
use crate::shape::{CopyBudget, DEFAULT_COPY_BUDGET, Field, MemberReader, MemberWriter, object_struct};
use crate::value::{Object, PsString, SecureString, Value, Version};

object_struct! {
    /// A call of a method of the client's host, for the pool or a pipeline (MS-PSRP 2.2.2.15, 2.2.2.27).
    #[derive(Clone, Debug, PartialEq)]
    pub struct HostCall {
        /// Identifier of the call, repeated by its response; [`HostCall::VOID`] if there is none.
        pub call_id: i64 => "ci",
        /// Called method of the host.
        pub method: HostMethod => "mi",
        /// Untyped parameters. [`HostCall::request`] returns them typed.
        pub parameters: Vec<Value> => "mp" [or Vec::new()],
    }
}

impl HostCall {
    /// Identifier of all calls without a response.
    pub const VOID: i64 = -100;

    /// Creates a call. A method without a result gets the identifier [`HostCall::VOID`] instead of `call_id`.
    pub fn new(call_id: i64, request: &HostRequest) -> Self {
        let method = request.method();
        let call_id = if method.is_void() { Self::VOID } else { call_id };
        Self { call_id, method, parameters: request.to_parameters() }
    }

    /// Returns whether the call must not be responded to.
    pub fn is_void(&self) -> bool {
        self.call_id == Self::VOID
    }

    /// Returns the method with typed parameters. Excess parameters are ignored.
    ///
    /// # Errors
    ///
    /// Fails if a parameter is missing or has another type ([`Error::is_mismatch`]). The error names its position, such
    /// as `mp[0]` for the first.
    pub fn request(&self) -> Result<HostRequest, Error> {
        let mut budget = CopyBudget::new(DEFAULT_COPY_BUDGET);
        HostRequest::read(self.method, &self.parameters, &mut budget).map_err(|error| error.at("mp"))
    }
}

/// Response to a [`HostCall`], for the pool or a pipeline (MS-PSRP 2.2.2.16, 2.2.2.28).
#[derive(Clone, Debug, PartialEq)]
pub struct HostResponse {
    /// Identifier of the call.
    pub call_id: i64,
    /// Called method of the host.
    pub method: HostMethod,
    /// Result or error of the method.
    pub outcome: HostOutcome,
}

/// Result or error of a [`HostCall`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum HostOutcome {
    /// The method returned nothing, or `$null`.
    #[default]
    Nothing,
    /// Untyped result. [`HostResponse::result`] returns it typed.
    Value(Value),
    /// The method failed.
    Error(Box<ErrorRecord>),
}

impl HostResponse {
    /// Creates a response with the result of the method.
    pub fn new(call: &HostCall, result: &HostResult) -> Self {
        let outcome = result.to_value().map_or(HostOutcome::Nothing, HostOutcome::Value);
        Self { call_id: call.call_id, method: call.method, outcome }
    }

    /// Creates a response for a method that failed.
    pub fn failed(call: &HostCall, message: impl Into<PsString>) -> Self {
        let record = ErrorRecord::host_failure(message, ErrorCategory::InvalidOperation);
        let outcome = HostOutcome::Error(Box::new(record));
        Self { call_id: call.call_id, method: call.method, outcome }
    }

    /// Returns the typed result.
    ///
    /// # Errors
    ///
    /// Fails if the value does not have the method's result type, or if the method failed ([`Error::is_mismatch`]).
    /// Check `outcome` first to tell these apart.
    pub fn result(&self) -> Result<HostResult, Error> {
        match &self.outcome {
            HostOutcome::Nothing => Ok(HostResult::Nothing),
            HostOutcome::Value(value) => HostResult::from_value(self.method, value),
            HostOutcome::Error(_) => Err(Error::mismatch("an error").at("me")),
        }
    }
}

impl Field for HostResponse {
    fn write(&self) -> Value {
        let mut out = MemberWriter::default();
        out.put("ci", &self.call_id);
        out.put("mi", &self.method);
        match &self.outcome {
            HostOutcome::Nothing => {}
            HostOutcome::Value(value) => out.put("mr", value),
            HostOutcome::Error(record) => out.put("me", record),
        }
        out.finish()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        Ok(Self {
            call_id: from.required("ci")?,
            method: from.required("mi")?,
            outcome: match from.optional("me")? {
                Some(record) => HostOutcome::Error(record),
                None if from.object().get("mr").is_some() => HostOutcome::Value(from.required("mr")?),
                None => HostOutcome::Nothing,
            },
        })
    }
}

object_struct!(@values HostResponse);

/// Error records of host calls, with PowerShell's identifier and exception types.
impl ErrorRecord {
    /// Creates the record of a failed call.
    pub fn host_failure(message: impl Into<PsString>, category: ErrorCategory) -> Self {
        let names = [
            "System.Management.Automation.Host.HostException",
            "System.Management.Automation.RuntimeException",
        ];
        Self::of_host(names, message.into(), category).with_reason("HostException")
    }

    /// Creates the record of a call of a method that the host does not implement.
    pub fn host_not_implemented(method: HostMethod) -> Self {
        let names =
            ["System.Management.Automation.PSNotImplementedException", "System.NotImplementedException"];
        let message = format!("The client's host does not implement {method}.");
        Self::of_host(names, message.into(), ErrorCategory::NotImplemented)
            .with_reason("PSNotImplementedException")
    }

    fn of_host(names: [&str; 2], message: PsString, category: ErrorCategory) -> Self {
        let names = names.into_iter().chain(["System.SystemException"]);
        Self::of_exception(exception(names, message), category).with_id("RemoteHostExecutionException")
    }
}

/// Defines [`HostResult`] and [`Shape`] from the results that are read and written like a member of a message; the
/// others are listed in the macro.
macro_rules! host_results {
    ($($(#[$doc:meta])* $name:ident($type:ty),)*) => {
        /// Result of a host method.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum HostResult {
            /// No result: the method returns nothing, or the user entered nothing.
            Nothing,
            $($(#[$doc])* $name($type),)*
            /// Names of a prompt's fields, and the values entered.
            Answers(Vec<(PsString, Value)>),
            /// Result of an unknown method.
            Other(Value),
        }

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Shape {
            Nothing,
            $($name,)*
            Answers,
            Other,
        }

        impl HostResult {
            /// Returns the value to send, `None` for [`HostResult::Nothing`].
            pub fn to_value(&self) -> Option<Value> {
                match self {
                    Self::Nothing => None,
                    $(Self::$name(result) => Some(result.write()),)*
                    Self::Answers(answers) => Some(Object::dictionary(answers.iter().cloned()).into()),
                    Self::Other(value) => Some(value.clone()),
                }
            }

            fn read(shape: Shape, value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
                Ok(match shape {
                    $(Shape::$name => Self::$name(Field::read(value, budget)?),)*
                    Shape::Answers => Self::Answers(answers(value, budget)?),
                    // An unexpected value is harmless.
                    Shape::Nothing | Shape::Other => Self::Other(Field::read(value, budget)?),
                })
            }
        }
    };
}

host_results! {
    /// Text: an input line, a title, or a culture name.
    Text(PsString),
    /// Secure string.
    Secure(SecureString),
    /// Version of the host.
    Version(Version),
    /// Identifier.
    Guid(Uuid),
    /// Number: the index of a choice, or the cursor size in percent.
    Number(i32),
    /// Boolean.
    Bool(bool),
    /// Colour.
    Color(ConsoleColor),
    /// Position.
    Coordinates(Coordinates),
    /// Size.
    Size(Size),
    /// Key.
    Key(KeyInfo),
    /// Cells of the screen buffer.
    Cells(CellBuffer),
    /// User name and password.
    Credential(PsCredential),
    /// Indexes of several choices.
    Choices(Vec<i32>),
}

impl HostResult {
    /// Reads the result of a method. `$null` is [`HostResult::Nothing`] for every method.
    ///
    /// # Errors
    ///
    /// Fails if the value does not have the method's result type ([`Error::is_mismatch`]).
    pub fn from_value(method: HostMethod, value: &Value) -> Result<Self, Error> {
        if value.is_nil() {
            return Ok(Self::Nothing);
        }
        let mut budget = CopyBudget::new(DEFAULT_COPY_BUDGET);
        Self::read(method.shape(), value, &mut budget).map_err(|error| error.at("mr"))
    }
}

fn answers(value: &Value, budget: &mut CopyBudget) -> Result<Vec<(PsString, Value)>, Error> {
    let entries = value.entries().ok_or_else(|| Error::mismatch("not a dictionary"))?;
    budget.items::<(PsString, Value)>(entries.len())?;
    let mut answers = Vec::with_capacity(entries.len());
    for (index, (key, answer)) in entries.iter().enumerate() {
        let name = PsString::read(key, budget).map_err(|error| error.at(index))?;
        answers.push((name, Value::read(answer, budget)?));
    }
    Ok(answers)
}
