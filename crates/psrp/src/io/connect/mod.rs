//! Connections to servers.

mod child;
mod stderr;

pub use child::{Child, ChildTransport};
