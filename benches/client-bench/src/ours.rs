//! This workspace's client.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use tightwire_json::Value;
use tightwire_perplexity::{Client, ClientBuilder, Connect, Jitter, Proxy, RetryPolicy};

use crate::repeat::Operation;
use crate::server::Server;
use crate::workload::{AGENT, KEY, Workload};

/// A client and what it asks for.
#[derive(Debug, Clone)]
pub struct Ours {
    client: Client,
    workload: Arc<Workload>,
    body: Option<Arc<Value>>,
}

/// A client with the settings of the published rows.
pub(crate) fn builder(server: &Server) -> ClientBuilder {
    Client::builder()
        .without_environment()
        .api_key(KEY)
        .base_url(server.url(""))
        .user_agent(AGENT)
        .default_header("content-type", "application/json")
        .default_header("accept-encoding", "gzip")
        .without_default_header("x-source")
        .without_default_header("x-title")
        .timeout(Duration::from_secs(30))
        .connect(Connect { proxy: Proxy::None, ..Connect::default() })
}

impl Ours {
    /// A client of this server that waits before a retry as the original does: half a second, up to half of it more
    /// or less.
    pub fn new(workload: &Workload, server: &Server) -> Self {
        let policy = RetryPolicy::new()
            .initial_delay(Duration::from_millis(750))
            .jitter(Jitter::Full)
            // Two thirds of the range, so that the wait is between 250 and 750 ms.
            .random(|| fastrand::u32(..u32::MAX / 3 * 2));
        Self::with_policy(workload, server, policy)
    }

    /// A client of this server that sends again at once.
    pub fn without_sleep(workload: &Workload, server: &Server) -> Self {
        Self::with_policy(workload, server, RetryPolicy::new().initial_delay(Duration::ZERO))
    }

    fn with_policy(workload: &Workload, server: &Server, policy: RetryPolicy) -> Self {
        let policy = policy.max_retries(workload.retries);
        let client = builder(server).retry_policy(policy).build().expect("the settings are valid");
        let body = workload.posts.then(|| {
            let body = r#"{"messages":[{"content":"Hello","role":"user"}],"model":"sonar"}"#;
            Arc::new(tightwire_json::from_str(body).expect("the body is JSON"))
        });
        Self { client, workload: Arc::new(workload.clone()), body }
    }
}

impl Operation for Ours {
    async fn once(&self) -> u64 {
        let mut call = self.client.request(self.workload.method.clone(), self.workload.path);
        for (name, value) in self.workload.headers {
            call = call.header(name, value);
        }
        if let Some(body) = &self.body {
            call = call.json_body(&**body);
        }
        let response = call.undecoded().await.expect("the server answers");
        black_box(response.head().request_id());
        self.workload.check(response.head().status().as_u16(), response.body())
    }
}
