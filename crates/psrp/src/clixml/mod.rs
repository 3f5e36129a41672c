//! CLIXML, the XML of PowerShell's objects (MS-PSRP 2.2.5).

mod escape;
pub(crate) mod number;
mod stream;
mod writer;

pub use escape::{escape, unescape};
pub use stream::Stream;
pub use writer::{WriteOptions, Writer, to_vec};
