//! Splitting messages into fragments and reassembling them (MS-PSRP 2.2.4).
//!
//! ```
//! use psrp::fragment::{Assembler, Fragmenter};
//!
//! let mut wire = Vec::new();
//! Fragmenter::new().fragment_size(100).encode(&[7; 1000], &mut wire);
//!
//! // Input may be split into chunks anywhere.
//! let mut assembler = Assembler::new();
//! let mut messages = Vec::new();
//! for mut chunk in wire.chunks(33) {
//!     while let Some(message) = assembler.next(&mut chunk)? {
//!         messages.push(message.to_vec());
//!     }
//! }
//! assert_eq!(messages, [[7; 1000]]);
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! All messages of a sender are numbered by one [`Fragmenter`]. The receiver needs one [`Assembler`] per target and
//! [`Priority`].

mod assembler;
mod fragmenter;

pub use assembler::{Assembler, AssemblerOptions, OutOfOrder};
pub use fragmenter::{Fragment, FragmentHeader, Fragmenter, Fragments};

/// Stream of a target. Fragments of the two streams are numbered and reassembled independently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Priority {
    /// All messages except responses to host calls.
    #[default]
    Default,
    /// Responses to host calls.
    PromptResponse,
}
