//! The client, its settings and the modules of the requests in one import.
//!
//! ```no_run
//! # #[cfg(feature = "client")]
//! # async fn example() -> tightwire_perplexity::Result<()> {
//! use tightwire_perplexity::prelude::*;
//!
//! let client = Client::from_env()?;
//! let request = chat::Request::new("sonar", "Which stars are near?").search_mode(SearchMode::Academic);
//! let completion = client.chat().create(&request).await?;
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
pub use crate::types::{
    Recency, SearchContextSize, SearchMode, async_chat, batches, chat, decisions, embeddings, files,
    responses, search, skills,
};
#[cfg(feature = "client")]
pub use crate::{Client, ClientBuilder, Error, Timeouts};
