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
pub(crate) mod number;
mod options;
mod reader;
mod short_text;
mod stream;
mod writer;

pub use console::{ConsoleEvent, ConsoleFilter};
pub use document::{Document, DocumentWriter, export, import};
pub use escape::{escape, unescape};
pub use options::{Limits, ReadOptions, WriteOptions};
pub use reader::{Reader, from_slice};
pub use stream::Stream;
pub use writer::{Writer, to_vec};
