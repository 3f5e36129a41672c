//! PowerShell Remoting Protocol (MS-PSRP): values, CLIXML, messages, fragments, key exchange and out-of-process packets.
//!
//! ```
//! use psrp::{Object, Value};
//!
//! let process = Object::builder()
//!     .type_names(["System.Diagnostics.Process", "System.Object"])
//!     .adapted("Id", 4242)
//!     .adapted("ProcessName", "pwsh")
//!     .build();
//! let value = Value::from(process);
//! assert_eq!(value["processname"], "pwsh");
//! ```
//!
//! Nothing here does I/O but for files of [`clixml::import`], [`clixml::export`] and [`clixml::Document`]: bytes go in,
//! values and bytes come out.

mod b64;
pub mod client;
pub mod clixml;
pub mod crypto;
mod error;
pub mod fragment;
mod guid;
pub mod host;
mod link;
pub mod message;
pub mod outofproc;
pub mod record;
#[cfg(feature = "serde")]
pub mod serde;
pub mod server;
mod shape;
mod terminal;
pub mod value;

#[cfg(feature = "serde")]
pub use self::serde::functions::{from_clixml, from_value, to_clixml, to_value};
pub use error::Error;
pub use terminal::terminal_safe;
pub use value::{Object, PsString, Value};
