//! CLIXML, the XML of PowerShell's objects (MS-PSRP 2.2.5).
//!
//! | a value | is read with | is written with |
//! | --- | --- | --- |
//! | in a message | [`from_slice`] | [`to_vec`], [`Writer::write`] |
//! | in an `<Objs>` document, or several of them | [`Reader`] | [`Writer::write_document`] |
//! | in the output of a program | [`ConsoleFilter`] | |
//! | in a file of `Export-Clixml` | [`import`], [`Document`] | [`export`], [`DocumentWriter`] |

mod console;
mod document;
mod escape;
mod limits;
pub(crate) mod number;
mod reader;
mod short;
mod stream;
mod writer;

pub use console::{ConsoleEvent, ConsoleFilter};
pub use document::{Document, DocumentWriter, export, import};
pub use escape::{escape, unescape};
pub use limits::Limits;
pub use reader::{ReadOptions, Reader, Unknown, from_slice};
pub use stream::Stream;
pub use writer::{WriteOptions, Writer, to_vec};
