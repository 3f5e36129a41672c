//! The client of this workspace.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use tightwire_perplexity::retry::{Jitter, RetryPolicy};
use tightwire_perplexity::{Client, ClientBuilder, Connect, Proxy};

use crate::peers::hyper_client;
use crate::repeat::Operation;
use crate::server::Server;
use crate::workload::{AGENT, KEY, Workload};

/// A client and its workload.
#[derive(Clone)]
pub(crate) struct Ours {
    client: Client,
    workload: Arc<Workload>,
    /// Use the random retry delay of the Go client.
    random_delay: bool,
}

/// Returns a builder with the settings of the published rows.
pub(crate) fn builder(server: &Server) -> ClientBuilder {
    Client::builder()
        .without_environment()
        .api_key(KEY)
        .base_url(server.url(""))
        .default_header("user-agent", AGENT)
        .default_header("content-type", "application/json")
        .default_header("accept-encoding", "gzip")
        .without_default_header("x-source")
        .without_default_header("x-title")
        .timeout(Duration::from_secs(30))
        .connect(Connect { proxy: Proxy::None, ..Connect::default() })
}

impl Ours {
    /// Creates a client with the retry delay of the Go client: 250 to 750 ms, evenly distributed.
    pub(crate) fn new(workload: &Workload, server: &Server) -> Self {
        Self { random_delay: true, ..Self::without_sleep(workload, server) }
    }

    pub(crate) fn without_sleep(workload: &Workload, server: &Server) -> Self {
        Self::from_builder(builder(server), workload)
    }

    /// Creates a client that sends through hyper-util instead of reqwest, and retries without delay.
    pub(crate) fn over_hyper(workload: &Workload, server: &Server) -> Self {
        Self::from_builder(builder(server).service(hyper_client()), workload)
    }

    fn from_builder(builder: ClientBuilder, workload: &Workload) -> Self {
        let policy = RetryPolicy {
            initial_delay: Duration::ZERO,
            max_retries: workload.retries,
            ..RetryPolicy::new()
        };
        let client = builder.retry_policy(policy).build().expect("the settings are valid");
        Self { client, workload: Arc::new(workload.clone()), random_delay: false }
    }
}

impl Operation for Ours {
    async fn once(&self) -> u64 {
        let mut call = self.client.request(self.workload.method(), self.workload.path());
        for (name, value) in self.workload.headers {
            call = call.header(name, value);
        }
        if let Some(body) = &self.workload.body {
            call = call.json_body(&**body);
        }
        if self.random_delay && self.workload.retries > 0 {
            call = call.retry_policy(RetryPolicy {
                initial_delay: Duration::from_millis(fastrand::u64(250..=750)),
                jitter: Jitter::None,
                max_retries: self.workload.retries,
                ..RetryPolicy::new()
            });
        }
        let response = call.undecoded().await.expect("the server answers");
        black_box(response.head().request_id());
        self.workload.check(response.head().status().as_u16(), response.body())
    }
}
