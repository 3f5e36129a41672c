//! Host calls and responses as messages.

use super::{HostMethod, HostRequest, HostResult};
use crate::Error;
use crate::record::{ErrorCategory, ErrorRecord, exception};
use crate::shape::{
    CopyBudget, DEFAULT_COPY_BUDGET, Field, MemberReader, MemberWriter, Mismatch, object_struct,
};
use crate::value::{PsString, Value};

object_struct! {
    /// A call of a method of the client's host, for the pool or a pipeline (MS-PSRP 2.2.2.15, 2.2.2.27).
    #[derive(Clone, Debug, PartialEq)]
    pub struct HostCall {
        /// Identifier of the call, repeated by its response; [`HostCall::VOID`] if there is none.
        pub call_id: i64 => "ci",
        /// The called method.
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
        let request = HostRequest::read(self.method, &self.parameters, &mut budget);
        Ok(request.map_err(|mismatch| mismatch.in_member("mp"))?)
    }
}

/// Response to a [`HostCall`], for the pool or a pipeline (MS-PSRP 2.2.2.16, 2.2.2.28).
#[derive(Clone, Debug, PartialEq)]
pub struct HostResponse {
    /// Identifier of the call.
    pub call_id: i64,
    /// The called method.
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
            HostOutcome::Error(_) => Err(Mismatch::new("is an error").in_member("me").into()),
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

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
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
