//! CLIXML, the XML of PowerShell's objects (MS-PSRP 2.2.5).

mod escape;
pub(crate) mod number;

pub use escape::{escape, unescape};
