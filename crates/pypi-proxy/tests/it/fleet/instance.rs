//! Instances of the program with separate folders, and clients that verify every byte.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::fleet::bucket::PREFIX;
use crate::fleet::index::{File, Index};
use crate::support::prelude::*;
use crate::support::program::{Served, run, serve};
use crate::support::s3::{BUCKET, IDENTITY, SECRET};

const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Instance {
    dir: TempDir,
    env: Vec<(String, String)>,
    served: Served,
    pub(crate) url: String,
}

impl Instance {
    /// Starts an instance with this index and a bucket at an endpoint.
    pub(crate) async fn start(index: &Index, endpoint: &str, more: &[(&str, &str)]) -> Self {
        let index = index.url();
        let env = [
            ("PYPI_PROXY_INDEX_URL", &*index),
            ("GROXPI_STORAGE_TYPE", "hybrid"),
            ("GROXPI_S3_BUCKET", BUCKET),
            ("GROXPI_S3_PREFIX", PREFIX),
            ("GROXPI_S3_FORCE_PATH_STYLE", "true"),
            ("GROXPI_S3_USE_SSL", "false"),
            ("AWS_ENDPOINT_URL", endpoint),
            ("AWS_ACCESS_KEY_ID", IDENTITY),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_REGION", "us-east-1"),
            // Never redirect clients, even on a slow machine.
            ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "60s"),
            ("PYPI_PROXY_ACCESS_LOG", "false"),
        ];
        let mut all: Vec<(String, String)> = Vec::new();
        for (name, value) in env.iter().chain(more) {
            all.retain(|(known, _)| known != name);
            all.push(((*name).to_owned(), (*value).to_owned()));
        }
        Self::spawn(tempfile::tempdir().unwrap(), all).await
    }

    async fn spawn(dir: TempDir, env: Vec<(String, String)>) -> Self {
        let pairs: Vec<_> = env.iter().map(|(name, value)| (&**name, &**value)).collect();
        let served = serve(dir.path(), &pairs).await;
        Self { url: served.url.clone(), dir, env, served }
    }

    pub(crate) async fn text(&self, path: &str) -> (u16, String) {
        let response = reqwest::get(format!("{}{path}", self.url)).await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    pub(crate) fn log(&self) -> String {
        self.served.log.all().join("\n")
    }

    /// Waits until `/health` reports this state, `ok` or `degraded`.
    pub(crate) async fn becomes(&self, state: &str) {
        let is_so = async || {
            let health: Value = tightwire_json::from_str(&self.text("/health").await.1).unwrap();
            health["data"]["state"] == state
        };
        until(&format!("its health is {state}"), is_so).await;
    }

    pub(crate) async fn kill(self) -> Stopped {
        self.served.kill().await;
        Stopped { dir: self.dir, env: self.env }
    }

    /// Stops the instance and checks the remaining files.
    pub(crate) async fn end(self) {
        self.served.end(Signal::TERM).await;
        Stopped { dir: self.dir, env: self.env }.verify().await;
    }
}

pub(crate) struct Stopped {
    dir: TempDir,
    env: Vec<(String, String)>,
}

impl Stopped {
    pub(crate) async fn verify(&self) {
        let env: Vec<_> = self.env.iter().map(|(name, value)| (&**name, &**value)).collect();
        let (code, text) = run(self.dir.path(), &env, &["verify"]).await;
        assert_eq!(code, 0, "{text}");
    }

    pub(crate) async fn start_again(self) -> Instance {
        Instance::spawn(self.dir, self.env).await
    }
}

/// Starts instances with the same settings.
pub(crate) async fn instances<const N: usize>(
    index: &Index,
    endpoint: &str,
    more: &[(&str, &str)],
) -> [Instance; N] {
    let all = join_all((0..N).map(|_| Instance::start(index, endpoint, more))).await;
    all.try_into().ok().unwrap()
}

/// Stops all instances and checks the remaining files.
pub(crate) async fn end(instances: impl IntoIterator<Item = Instance>) {
    join_all(instances.into_iter().map(Instance::end)).await;
}

/// A client with persistent connections that does not follow redirects.
pub(crate) fn client() -> reqwest::Client {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    client.timeout(TIMEOUT).build().unwrap()
}

/// Downloads a file. Returns an error if the response is wrong.
pub(crate) async fn get(client: &reqwest::Client, proxy: &str, file: &File) -> Result<(), String> {
    let path = file.path();
    let output = |error: reqwest::Error| format!("{path}: {error:?}");
    let response = client.get(format!("{proxy}{path}")).send().await.map_err(output)?;
    if response.status() != 200 {
        return Err(format!("{path}: {} {}", response.status(), response.text().await.unwrap_or_default()));
    }
    let body = response.bytes().await.map_err(output)?;
    if body == file.content { Ok(()) } else { Err(format!("{path}: other bytes, {} of them", body.len())) }
}

/// Downloads files with many clients. Each downloads some of them in its own order from all instances in turn.
pub(crate) async fn ask_all(clients: usize, instances: &[&Instance], files: &[Arc<File>], part: usize) {
    let mut tasks = JoinSet::new();
    for number in 0..clients {
        let urls: Vec<_> = instances.iter().map(|instance| instance.url.clone()).collect();
        let start = number * files.len() / clients;
        let mine: Vec<_> = (start..start + part).map(|at| files[at % files.len()].clone()).collect();
        tasks.spawn(async move {
            let client = client();
            let mut failed = Vec::new();
            for (at, file) in mine.iter().enumerate() {
                failed.extend(get(&client, &urls[(number + at) % urls.len()], file).await.err());
            }
            failed
        });
    }
    let failed = tasks.join_all().await.concat();
    assert!(failed.is_empty(), "{} failed: {failed:#?}", failed.len());
}

/// Clients that send requests until they are stopped.
pub(crate) struct Load {
    is_over: tokio::sync::watch::Sender<bool>,
    answered: Arc<AtomicUsize>,
    tasks: JoinSet<Vec<String>>,
}

impl Load {
    /// Each client requests known files from one instance; ten times per second, one of them requests a new file.
    pub(crate) fn start(
        clients: usize,
        instances: &[&Instance],
        known: &[Arc<File>],
        new: &[Arc<File>],
    ) -> Self {
        let (is_over, over) = tokio::sync::watch::channel(false);
        let (known, new): (Arc<[_]>, Arc<[_]>) = (known.into(), new.into());
        let (answered, next): (Arc<AtomicUsize>, Arc<AtomicUsize>) = Default::default();
        let (mut tasks, start) = (JoinSet::new(), Instant::now());
        for number in 0..clients {
            let url = instances[number % instances.len()].url.clone();
            let (known, new) = (known.clone(), new.clone());
            let (answered, next, over) = (answered.clone(), next.clone(), over.clone());
            tasks.spawn(async move {
                let client = client();
                let mut failed = Vec::new();
                for at in number.. {
                    if *over.borrow() {
                        break;
                    }
                    let is_due = next.load(Ordering::Relaxed) < start.elapsed().as_millis() as usize / 100;
                    let file = is_due.then(|| new.get(next.fetch_add(1, Ordering::Relaxed))).flatten();
                    failed.extend(get(&client, &url, file.unwrap_or(&known[at % known.len()])).await.err());
                    answered.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                failed
            });
        }
        Self { is_over, answered, tasks }
    }

    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }

    /// Stops the clients and checks that every response was correct.
    pub(crate) async fn end(self) {
        self.is_over.send(true).unwrap();
        let failed = self.tasks.join_all().await.concat();
        let count = self.answered.load(Ordering::Relaxed);
        assert!(failed.is_empty(), "{} of {count} failed: {failed:#?}", failed.len());
    }
}
