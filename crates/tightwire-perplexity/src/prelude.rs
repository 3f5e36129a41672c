//! The client, its settings and the modules of the requests in one import.
//!
//! ```no_run
//! # #[cfg(feature = "client")]
//! # async fn example() -> tightwire_perplexity::Result<()> {
//! use tightwire_perplexity::prelude::*;
//!
//! let client = Client::from_env()?;
//! let request = responses::Request::with_effort(Effort::Low, "Which stars are near?").tools([WebSearch::new()]);
//! let response = client.responses().create(&request).await?;
//! let results = client.search().create(&search::Request::new("nearest stars")).await?;
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "blocking")]
pub use crate::blocking;
#[cfg(feature = "client")]
pub use crate::retry::RetryPolicy;
#[cfg(feature = "client")]
pub use crate::stream::EventStream;
pub use crate::types::responses::{Effort, FunctionTool, InputItem, Tool, WebFilters, WebSearch};
pub use crate::types::{
    DomainFilter, Recency, SearchContextSize, SearchMode, async_chat, batches, chat, decisions, embeddings,
    files, responses, search, skills,
};
#[cfg(feature = "client")]
pub use crate::{Client, ClientBuilder, Error, Timeouts};
