//! Client setup of the `perplexity_*` examples.

use tightwire_perplexity::{Client, Connect, Proxy};
use tightwire_perplexity_mock::{Mock, Scenario};

/// Returns a client of the real API if `PERPLEXITY_API_KEY` is set, otherwise of a mock server in this process, which
/// runs until it is dropped.
pub(crate) async fn connect() -> anyhow::Result<(Client, Option<Mock>)> {
    if std::env::var_os("PERPLEXITY_API_KEY").is_some() {
        return Ok((Client::from_env()?, None));
    }
    let (client, server) = local().await?;
    Ok((client, Some(server)))
}

/// Returns a client of a mock server in this process, ignoring the environment.
pub(crate) async fn local() -> anyhow::Result<(Client, Mock)> {
    let server = Mock::start(Scenario::api()).await?;
    let builder = Client::builder()
        .without_environment()
        .api_key("pplx-0123456789abcdef0123456789abcdef")
        .base_url(server.url());
    let connect = Connect { proxy: Proxy::None, ..Connect::default() };
    Ok((builder.connect(connect).build()?, server))
}
