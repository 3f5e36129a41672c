//! A proxy on loopback, in the process of the test.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pypi_proxy::page_cache::{self, PageCache};
use pypi_proxy::serve::{self, Proxy, ServerConfig};
use pypi_proxy::store::{self, Store};
use pypi_proxy::upstream::{self, Upstream};
use reqwest::{Client, Method, Response};

/// Timeout of operations that succeed eventually, even on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A running proxy. Dropping it stops it.
pub(crate) struct RunningProxy {
    pub(crate) store: Store,
    address: SocketAddr,
    pub(crate) client: Client,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    task: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
    dir: Option<tempfile::TempDir>,
}

/// Configuration of a proxy.
pub(crate) struct Setup {
    pub(crate) upstreams: Vec<upstream::Config>,
    pub(crate) store: store::Config,
    /// The folder is set by [`Setup::start`].
    pub(crate) pages: page_cache::Config,
    pub(crate) serve: serve::Config,
    pub(crate) server: ServerConfig,
}

impl Setup {
    /// Proxy of these indexes with its cache below a folder.
    pub(crate) fn new(dir: &std::path::Path, indexes: &[String]) -> Self {
        let upstream = |url: &String| upstream::Config::new(url).unwrap().read_timeout(TIMEOUT);
        Self {
            upstreams: indexes.iter().map(upstream).collect(),
            store: store::Config::new(dir.join("cache")).stall_timeout(TIMEOUT).retries(2),
            pages: page_cache::Config::new(),
            serve: serve::Config::new(),
            server: ServerConfig::new(),
        }
    }

    pub(crate) async fn start(self) -> RunningProxy {
        let upstreams: Vec<_> =
            self.upstreams.into_iter().map(|config| Arc::new(Upstream::new(config).unwrap())).collect();
        let store = open(self.store).await.unwrap();
        let pages = PageCache::new(upstreams.clone(), self.pages.dir(store.pages_dir()));
        let proxy = Proxy::new(upstreams, pages, store.clone(), self.serve);
        run(proxy, store, self.server).await
    }
}

/// Opens a store. Retries while its folder is locked, because a scan or the end of a download may keep the previous
/// store alive for a moment.
pub(crate) async fn open(config: store::Config) -> Result<Store, pypi_proxy::Error> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match Store::open(config.clone()) {
            Err(error) if error.is_busy() && Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            result => return result,
        }
    }
}

pub(crate) async fn start(indexes: &[String], config: serve::Config) -> RunningProxy {
    start_as(indexes, config, ServerConfig::new(), |upstream| upstream, |pages| pages).await
}

/// Like [`start`], with a configuration of the server.
pub(crate) async fn start_with_server_config(
    indexes: &[String],
    config: serve::Config,
    server: ServerConfig,
) -> RunningProxy {
    start_as(indexes, config, server, |upstream| upstream, |pages| pages).await
}

/// Like [`start`], with changes to the configuration of the indexes and of the page cache.
pub(crate) async fn start_with(
    indexes: &[String],
    config: serve::Config,
    each: impl Fn(upstream::Config) -> upstream::Config,
    all: impl Fn(page_cache::Config) -> page_cache::Config,
) -> RunningProxy {
    start_as(indexes, config, ServerConfig::new(), each, all).await
}

async fn start_as(
    indexes: &[String],
    config: serve::Config,
    server: ServerConfig,
    each: impl Fn(upstream::Config) -> upstream::Config,
    all: impl Fn(page_cache::Config) -> page_cache::Config,
) -> RunningProxy {
    let dir = tempfile::tempdir().unwrap();
    let mut setup = Setup { serve: config, server, ..Setup::new(dir.path(), indexes) };
    setup.upstreams = setup.upstreams.into_iter().map(each).collect();
    setup.pages = all(setup.pages);
    let mut running = setup.start().await;
    running.dir = Some(dir);
    running
}

async fn run(proxy: Proxy, store: Store, server: ServerConfig) -> RunningProxy {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let server = serve::Server::new(proxy, server.drain(TIMEOUT));
    let task = tokio::spawn(server.serve(listener, async {
        let _ = stopped.await;
    }));
    let client =
        Client::builder().redirect(reqwest::redirect::Policy::none()).no_gzip().no_zstd().no_deflate();
    RunningProxy {
        store,
        address,
        client: client.build().unwrap(),
        stop: Some(stop),
        task: Some(task),
        dir: None,
    }
}

impl RunningProxy {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn dir(&self) -> &std::path::Path {
        self.dir.as_ref().unwrap().path()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        self.send(Method::GET, path, headers).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = self.client.request(method, self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap()
    }

    /// Gets a document in JSON.
    pub(crate) async fn json(&self, path: &str, headers: &[(&str, &str)]) -> serde_json::Value {
        let text = self.get(path, headers).await.text().await.unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Stops the server and waits until it has ended.
    pub(crate) async fn stop(&mut self) {
        drop(self.stop.take());
        self.task.take().unwrap().await.unwrap().unwrap();
    }
}
