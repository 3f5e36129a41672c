//! Messages: the header and what is told by it.

mod header;
mod message_type;

pub use header::{Destination, Message, MessageHeader};
pub use message_type::{Layer, MessageType};
