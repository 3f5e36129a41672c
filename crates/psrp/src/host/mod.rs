//! Host calls: a server calls the host of its client, which is the console or window of the user (MS-PSRP 2.2.3.17,
//! 2.2.6).
//!
//! A server sends a [`HostCall`]; [`HostRequest`] is its typed form. The client responds with a [`HostResponse`] that
//! contains a [`HostResult`], unless the call has no response ([`HostCall::is_void`]).
//!
//! ```
//! use psrp::host::{HostCall, HostRequest, HostResponse, HostResult};
//!
//! let call = HostCall::new(1, &HostRequest::ReadLine);
//! let call = HostCall::from_value(&call.to_value())?;
//! assert_eq!(call.request()?, HostRequest::ReadLine);
//!
//! let response = HostResponse::new(&call, &HostResult::Text("typed".into()));
//! assert_eq!(response.result()?, HostResult::Text("typed".into()));
//! # Ok::<(), psrp::Error>(())
//! ```

mod call;
mod console;
mod method;
mod prompt;

pub use call::{HostCall, HostOutcome, HostResponse, HostResult};
pub use console::{
    BufferCell, BufferCellType, CellBuffer, ConsoleColor, ControlKeyStates, Coordinates, KeyInfo,
    ReadKeyOptions, Rectangle, Size,
};
pub use method::{HostMethod, HostRequest};
pub use prompt::{ChoiceDescription, CredentialTypes, CredentialUiOptions, FieldDescription};
