//! CLIXML, the XML format of PowerShell objects (MS-PSRP 2.2.5).
//!
//! | location of a value | reading | writing |
//! | --- | --- | --- |
//! | message | [`from_slice`] | [`to_vec`], [`Writer::write`] |
//! | `<Objs>` documents | [`Reader`] | [`Writer::write_document`] |
//! | output of a program | [`ConsoleFilter`] | |
//! | file of `Export-Clixml` | [`import`], [`Document`] | [`export`], [`DocumentWriter`] |

mod console;
mod document;
mod escape;
mod limits;
pub(crate) mod number;
mod reader;
mod short_text;
mod stream;
mod writer;

pub use console::{ConsoleEvent, ConsoleFilter};
pub use document::{Document, DocumentWriter, export, import};
pub use escape::{escape, unescape};
pub use limits::Limits;
pub use reader::{ReadOptions, Reader, from_slice};
pub use stream::Stream;
pub use writer::{WriteOptions, Writer, to_vec};
