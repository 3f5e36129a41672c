//! Fragments: messages cut into pieces for the transport, and put together again (MS-PSRP 2.2.4).
//!
//! ```
//! use psrp::fragment::{Assembler, Fragmenter};
//!
//! let mut wire = Vec::new();
//! Fragmenter::new().fragment_size(100).encode(&[7; 1000], &mut wire);
//!
//! // However the bytes are divided on the way.
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
//! What is to be sent waits in a [`SendQueue`], which keeps targets and priorities apart. What is received goes to one
//! [`Assembler`] per target and [`Priority`]; an [`InterleavedAssembler`] is for peers that mix them.

mod assembler;
mod debug;
mod fragmenter;
mod header;
mod input;
mod interleaved;
mod queue;

pub use assembler::{Assembler, AssemblerOptions, OutOfOrder};
pub use fragmenter::{Fragmenter, Fragments};
pub use header::{Fragment, FragmentHeader};
pub use interleaved::{InterleavedAssembler, InterleavedOptions};
pub use queue::{Payload, SendQueue};

/// The two streams to each target. They share nothing but the target: fragments never mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Priority {
    /// Everything that is not the other.
    #[default]
    Default,
    /// Answers to calls of the host.
    PromptResponse,
}
