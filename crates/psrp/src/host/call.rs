//! Calls on the wire.

use super::{HostMethod, HostRequest};
use crate::Error;
use crate::shape::{CopyBudget, DEFAULT_COPY_BUDGET, object_struct as bag};
use crate::value::Value;

bag! {
    /// A call of a method of the client's host, for the pool or a pipeline (MS-PSRP 2.2.2.15, 2.2.2.27).
    #[derive(Clone, Debug, PartialEq)]
    pub struct HostCall {
        /// Number of the call, which its answer repeats; [`HostCall::VOID`] if there is none.
        pub call_id: i64 => "ci",
        /// The method.
        pub method: HostMethod => "mi",
        /// Its parameters as they travel; [`HostCall::request`] has them typed.
        pub parameters: Vec<Value> => "mp" [or Vec::new()],
    }
}

impl HostCall {
    /// The number of every call that expects no answer.
    pub const VOID: i64 = -100;

    /// A call; one that returns nothing gets the number [`HostCall::VOID`] instead of `call_id`.
    pub fn new(call_id: i64, request: &HostRequest) -> Self {
        let method = request.method();
        let call_id = if method.is_void() { Self::VOID } else { call_id };
        Self { call_id, method, parameters: request.to_parameters() }
    }

    /// Whether no answer may be sent.
    pub fn is_void(&self) -> bool {
        self.call_id == Self::VOID
    }

    /// The method with its parameters typed.
    ///
    /// # Errors
    ///
    /// Fails if a parameter is missing or of another type ([`Error::is_mismatch`]); its name is that of the place in the
    /// list, `mp[0]` for the first. Further parameters are ignored.
    pub fn request(&self) -> Result<HostRequest, Error> {
        let mut budget = CopyBudget::new(DEFAULT_COPY_BUDGET);
        let request = HostRequest::read(self.method, &self.parameters, &mut budget);
        Ok(request.map_err(|mismatch| mismatch.in_member("mp"))?)
    }
}
