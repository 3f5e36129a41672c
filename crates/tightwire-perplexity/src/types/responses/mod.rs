//! Agent API: `/v1/agent`, also known as `/v1/responses`.

mod accumulator;
mod common;
mod event;
mod from_chat;
mod input;
mod mcp;
mod output;
mod request;
mod response;
mod sandbox;
mod skill;
mod sources;
mod tool;

pub use accumulator::*;
pub use common::*;
pub use event::*;
pub use from_chat::*;
pub use input::*;
pub use mcp::*;
pub use output::*;
pub use request::*;
pub use response::*;
pub use sandbox::*;
pub use skill::*;
pub use sources::*;
pub use tool::*;
