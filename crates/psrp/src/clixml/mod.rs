//! CLIXML, the XML of PowerShell's objects (MS-PSRP 2.2.5).

mod console;
mod escape;
mod limits;
pub(crate) mod number;
mod reader;
mod stream;

pub use console::{ConsoleEvent, ConsoleFilter};
pub use escape::{escape, unescape};
pub use limits::Limits;
pub use reader::{ReadOptions, Reader, Unknown, from_slice};
pub use stream::Stream;
