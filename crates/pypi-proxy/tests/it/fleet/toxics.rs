//! Injects network faults between an instance and a bucket with toxiproxy.

use std::net::SocketAddr;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::fleet::given;
use crate::support::free_address;
use crate::support::{skip, until};

pub(crate) struct Network {
    api: String,
    /// Endpoint in place of the real address.
    pub(crate) endpoint: String,
    client: reqwest::Client,
    _child: Child,
}

impl Network {
    /// Starts it in front of an address, or reports why it is not available.
    pub(crate) async fn start(before: SocketAddr) -> Option<Self> {
        let Some(programs) = given("FLEET_GO") else {
            skip("toxiproxy is not installed");
            return None;
        };
        let port = free_address().port();
        let mut command = Command::new(programs.join("server"));
        command.args(["-host", "127.0.0.1", "-port", &port.to_string()]).env("LOG_LEVEL", "error");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let child = command.spawn().unwrap();
        let api = format!("http://127.0.0.1:{port}");
        let send = async || reqwest::get(format!("{api}/version")).await.is_ok();
        until("toxiproxy answers", send).await;
        let mut network =
            Self { api, endpoint: String::new(), client: reqwest::Client::new(), _child: child };
        let plan = json!({"name": "bucket", "listen": "127.0.0.1:0", "upstream": before.to_string()});
        let made = network.post("/proxies", &plan).await;
        network.endpoint = format!("http://{}", made["listen"].as_str().unwrap());
        Some(network)
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let request = self.client.post(format!("{}{path}", self.api)).body(body.to_string());
        let response = request.send().await.unwrap();
        let (status, text) = (response.status(), response.text().await.unwrap());
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Adds a fault in one direction: `upstream` to the bucket or `downstream` from it.
    pub(crate) async fn spoil(&self, kind: &str, stream: &str, attributes: Value) {
        let toxic = json!({"name": stream, "type": kind, "stream": stream, "attributes": attributes});
        self.post("/proxies/bucket/toxics", &toxic).await;
    }

    /// Removes all faults.
    pub(crate) async fn heal(&self) {
        let response = self.client.post(format!("{}/reset", self.api)).send().await.unwrap();
        assert!(response.status().is_success());
    }
}
