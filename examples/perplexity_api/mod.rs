//! Where the examples of `perplexity` send their requests.

use tightwire_perplexity::{Client, Connect, Proxy};
use tightwire_perplexity_mock::{Mock, Scenario};

/// A client, and the server that it talks to where that runs in this process.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) client: Client,
    _server: Option<Mock>,
}

impl Api {
    /// The real API where `PERPLEXITY_API_KEY` is set, otherwise a server of this process that repeats what it is told.
    pub(crate) async fn connect() -> anyhow::Result<Self> {
        match std::env::var_os("PERPLEXITY_API_KEY") {
            Some(_) => Ok(Self { client: Client::from_env()?, _server: None }),
            None => Self::local().await,
        }
    }

    /// The server of this process, whatever the environment says.
    pub(crate) async fn local() -> anyhow::Result<Self> {
        let server = Mock::start(Scenario::api()).await?;
        let builder = Client::builder().without_environment().api_key("any").base_url(server.url());
        let connect = Connect { proxy: Proxy::None, ..Connect::default() };
        Ok(Self { client: builder.connect(connect).build()?, _server: Some(server) })
    }
}
