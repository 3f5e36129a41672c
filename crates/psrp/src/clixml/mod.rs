//! CLIXML, the XML of PowerShell's objects (MS-PSRP 2.2.5).

mod escape;
mod limits;
pub(crate) mod number;
mod reader;
mod stream;
mod writer;

pub use escape::{escape, unescape};
pub use limits::Limits;
pub use reader::{ReadOptions, Reader, Unknown, from_slice};
pub use stream::Stream;
pub use writer::{WriteOptions, Writer, to_vec};
