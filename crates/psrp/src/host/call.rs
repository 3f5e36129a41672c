//! Host calls as messages.

use super::{HostMethod, HostRequest};
use crate::Error;
use crate::shape::{CopyBudget, DEFAULT_COPY_BUDGET, object_struct};
use crate::value::Value;

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
