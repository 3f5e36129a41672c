//! Client setup of the `perplexity_*` examples.

use tightwire_perplexity::{Client, Connect, Proxy};
use tightwire_perplexity_mock::{Mock, Scenario};

/// A client, and the mock server if it uses one.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) client: Client,
    _server: Option<Mock>,
}

impl Api {
    /// Connects to the real API if `PERPLEXITY_API_KEY` is set, otherwise to a mock server in this process.
    pub(crate) async fn connect() -> anyhow::Result<Self> {
        match std::env::var_os("PERPLEXITY_API_KEY") {
            Some(_) => Ok(Self { client: Client::from_env()?, _server: None }),
            None => Self::local().await,
        }
    }

    /// Connects to a mock server in this process, ignoring the environment.
    pub(crate) async fn local() -> anyhow::Result<Self> {
        let server = Mock::start(Scenario::api()).await?;
        let builder = Client::builder().without_environment().api_key("any").base_url(server.url());
        let connect = Connect { proxy: Proxy::None, ..Connect::default() };
        Ok(Self { client: builder.connect(connect).build()?, _server: Some(server) })
    }
}
