//! S3 servers with one bucket each, stored in a folder that tests can inspect, and network faults in front of them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::ValueEnum as _;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::fleet::given;
use crate::support::prelude::*;
use crate::support::s3::{BUCKET, Kind};

pub(crate) const PREFIX: &str = "fleet";

impl Kind {
    /// Returns the server selected by `FLEET_SERVER`; the default is s3proxy.
    pub(crate) fn wanted() -> Self {
        let name = std::env::var("FLEET_SERVER").unwrap_or_default();
        let name = if name.is_empty() { "s3proxy" } else { &name };
        Self::from_str(name, false).unwrap_or_else(|error| panic!("FLEET_SERVER: {error}"))
    }
}

pub(crate) struct Bucket {
    pub(crate) kind: Kind,
    address: SocketAddr,
    dir: TempDir,
    child: Child,
}

impl Bucket {
    /// Starts the server, or reports why it is not available.
    pub(crate) async fn start(kind: Kind) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("root").join(BUCKET)).unwrap();
        let address = free_address();
        let child = spawn(kind, address, dir.path())?;
        let bucket = Self { kind, address, dir, child };
        bucket.answers().await;
        Some(bucket)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Suspends the server: it accepts connections but does not respond.
    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id().unwrap().cast_signed()).unwrap(), signal).unwrap();
    }

    /// Kills the server. Its folder remains.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    pub(crate) async fn start_again(&mut self) {
        self.child = spawn(self.kind, self.address, self.dir.path()).unwrap();
        self.answers().await;
    }

    async fn answers(&self) {
        let send = async || reqwest::get(self.endpoint()).await.is_ok();
        until("the server of the bucket answers", send).await;
    }

    /// Lists the objects below a prefix of the keys.
    pub(crate) fn objects(&self, below: &str) -> Vec<PathBuf> {
        files_below(&self.dir.path().join("root").join(BUCKET).join(PREFIX).join(below))
    }

    /// Lists the files, without temporary objects of the server.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found = self.objects("files/sha256");
        found.retain(|path| path.file_name().is_some_and(|name| name.len() == 64));
        found
    }

    /// Checks the hash of every file.
    pub(crate) fn is_whole(&self) {
        for path in self.files() {
            let digest = digest_of(&std::fs::read(&path).unwrap()).to_string();
            assert!(path.ends_with(&digest), "{}: its hash is {digest}", path.display());
        }
    }

    /// Waits until there are that many files and no leases, and checks the files.
    pub(crate) async fn settles(&self, count: usize) {
        // Without conditional writes, a lease may be renewed after it was released. It expires and does no harm.
        let has_leases = || self.kind.has_conditions() && !self.objects("leases").is_empty();
        until(&format!("{count} files"), async || self.files().len() == count && !has_leases()).await;
        self.is_whole();
    }
}

fn spawn(kind: Kind, address: SocketAddr, dir: &Path) -> Option<Child> {
    let log = std::fs::File::create(dir.join("log.txt")).unwrap();
    let installed = given(kind.variable())?;
    let mut command = Command::from(kind.command(&installed, address, &dir.join("root")).unwrap());
    // Tests are short, so optimized compilation would be too late.
    command.env("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1");
    command.current_dir(dir).stdin(Stdio::null()).kill_on_drop(true);
    Some(command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap())
}

pub(crate) struct Network {
    api: String,
    /// Endpoint of toxiproxy, used in place of the address of the S3 server.
    pub(crate) endpoint: String,
    client: reqwest::Client,
    _child: Child,
}

impl Network {
    /// Starts toxiproxy with this address as its upstream, or reports why toxiproxy is not available.
    pub(crate) async fn start(before: SocketAddr) -> Option<Self> {
        let programs = given("FLEET_GO")?;
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
        tightwire_json::from_str(&text).unwrap()
    }

    /// Adds a fault in one direction: `upstream` to the bucket or `downstream` from it.
    pub(crate) async fn spoil(&self, kind: &str, stream: &str, attributes: Value) {
        let toxic = json!({"name": stream, "type": kind, "stream": stream, "attributes": attributes});
        self.post("/proxies/bucket/toxics", &toxic).await;
    }

    pub(crate) async fn heal(&self) {
        let response = self.client.post(format!("{}/reset", self.api)).send().await.unwrap();
        assert!(response.status().is_success());
    }
}
