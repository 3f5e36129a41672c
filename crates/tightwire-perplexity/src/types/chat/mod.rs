//! Chat completions: `POST /chat/completions`.
//!
//! Perplexity ended them on 2026-09-27; some gateways still offer them. Use [`responses`](super::responses):
//! [`Request::from_chat`](super::responses::Request::from_chat) converts requests.

mod accumulator;
mod completion;
mod content;
mod deltas;
mod format;
mod message;
mod reasoning;
mod request;
mod tool;

pub use accumulator::*;
pub use completion::*;
pub use content::*;
pub use deltas::*;
pub use format::*;
pub use message::*;
pub use reasoning::*;
pub use request::*;
pub use tool::*;
