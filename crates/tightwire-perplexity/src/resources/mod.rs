//! Endpoints of the API, grouped as in its documentation.
//!
//! Groups borrow the client and are free to create. The calls they return own their data.

mod batches;
mod chat;
mod embeddings;
mod files;
mod models;
mod responses;
mod sessions;
mod skills;

use serde::Serialize;

pub use self::batches::Batches;
pub use self::chat::{AsyncChat, Chat};
pub use self::embeddings::Embeddings;
pub use self::files::Files;
pub use self::models::{Decisions, Models, Search};
pub use self::responses::{ResponseFiles, Responses};
pub use self::sessions::Sessions;
pub use self::skills::Skills;
use crate::client::{Client, Plan};
use crate::error::{Error, Result};
use crate::types::Invalid;

impl Client {
    /// Chat completions.
    pub fn chat(&self) -> Chat<'_> {
        Chat::new(self)
    }

    /// Asynchronous chat completions.
    pub fn async_chat(&self) -> AsyncChat<'_> {
        AsyncChat::new(self)
    }

    /// Web search without a model.
    pub fn search(&self) -> Search<'_> {
        Search::new(self)
    }

    /// The Agent API.
    pub fn responses(&self) -> Responses<'_> {
        Responses::new(self)
    }

    /// Embeddings.
    pub fn embeddings(&self) -> Embeddings<'_> {
        Embeddings::new(self)
    }

    /// Browser sessions.
    pub fn browser_sessions(&self) -> Sessions<'_> {
        Sessions::new(self)
    }

    /// Models of the Agent API.
    pub fn models(&self) -> Models<'_> {
        Models::new(self)
    }

    /// Files.
    pub fn files(&self) -> Files<'_> {
        Files::new(self)
    }

    /// Batches of requests.
    pub fn batches(&self) -> Batches<'_> {
        Batches::new(self)
    }

    /// Decisions.
    pub fn decisions(&self) -> Decisions<'_> {
        Decisions::new(self)
    }

    /// Stored skills.
    pub fn skills(&self) -> Skills<'_> {
        Skills::new(self)
    }

    /// Validates `body` and creates a POST request with it.
    fn posting<T: Serialize>(
        &self,
        path: impl Into<std::borrow::Cow<'static, str>>,
        body: &T,
        check: impl FnOnce(&T) -> Result<(), Invalid>,
    ) -> Result<Plan> {
        if self.validates() {
            check(body)?;
        }
        Plan::post(path).with_json(body)
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::invalid(invalid.field().to_owned(), "failed validation").with_source(invalid)
    }
}

/// Defines a group of endpoints.
macro_rules! group {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name<'c> {
            client: &'c crate::client::Client,
        }

        impl<'c> $name<'c> {
            pub(super) fn new(client: &'c crate::client::Client) -> Self {
                Self { client }
            }
        }
    };
}

use group;
