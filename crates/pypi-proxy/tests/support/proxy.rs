//! A proxy on loopback, in the process of the test.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pypi_proxy::page_cache::{self, IndexStrategy, PageCache};
use pypi_proxy::rules::ProjectPattern;
use pypi_proxy::serve::{self, Proxy, ServerConfig};
use pypi_proxy::store::{self, Store};
use pypi_proxy::upstream::{self, Upstream};
use reqwest::{Client, Method, Response};

use super::exposition::{self, Samples};
use super::server::listen;

/// Timeout of operations that succeed eventually, even on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

const ADMIN_TOKEN: &str = "admin-token-of-the-tests";
/// Header of requests that purge the cache of a proxy of [`Setup`].
pub(crate) const PURGE: [(&str, &str); 1] = [("authorization", "Bearer admin-token-of-the-tests")];

/// A running proxy. Dropping it stops it.
pub(crate) struct RunningProxy {
    pub(crate) store: Store,
    address: SocketAddr,
    pub(crate) client: Client,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    task: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
    dir: Option<tempfile::TempDir>,
}

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
        let upstream = |url: &String| {
            let mut config = upstream::Config::new(url).unwrap();
            config.read_timeout = TIMEOUT;
            config
        };
        let store = store::Config::new(dir.join("cache"));
        Self {
            upstreams: indexes.iter().map(upstream).collect(),
            store: store::Config { stall_timeout: TIMEOUT, retries: 2, ..store },
            pages: page_cache::Config::default(),
            serve: serve::Config { admin_token: Some(ADMIN_TOKEN.to_owned()), ..serve::Config::default() },
            server: ServerConfig { drain: TIMEOUT, ..ServerConfig::default() },
        }
    }

    pub(crate) fn ttl(&mut self, ttl: Duration) {
        self.upstreams.iter_mut().for_each(|upstream| upstream.ttl = ttl);
    }

    /// Unites the pages of all indexes.
    pub(crate) fn unite(&mut self) {
        self.pages = united(std::mem::take(&mut self.pages));
    }

    /// Revalidates pages on every request.
    pub(crate) fn always_revalidate(&mut self) {
        self.ttl(Duration::ZERO);
        self.pages.stale_while_revalidate = Duration::ZERO;
    }

    pub(crate) async fn start(self) -> RunningProxy {
        let store = open(self.store.clone()).await.unwrap();
        self.run(store, None)
    }

    fn run(self, store: Store, dir: Option<tempfile::TempDir>) -> RunningProxy {
        let upstreams: Vec<_> =
            self.upstreams.into_iter().map(|config| Arc::new(Upstream::new(config).unwrap())).collect();
        let config = page_cache::Config { dir: Some(store.pages_dir()), ..self.pages };
        let pages = PageCache::new(upstreams.clone(), config);
        let proxy = Proxy::new(upstreams, pages, store.clone(), self.serve);
        let (listener, address) = listen();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let server = serve::Server::new(proxy, self.server);
        let task = tokio::spawn(server.serve(listener, async {
            let _ = stopped.await;
        }));
        RunningProxy { store, address, client: client(), stop: Some(stop), task: Some(task), dir }
    }
}

/// Unites the pages of all indexes.
pub(crate) fn united(config: page_cache::Config) -> page_cache::Config {
    let merge_projects = vec![ProjectPattern::parse("*").unwrap()];
    page_cache::Config { strategy: IndexStrategy::UnsafeBestMatch, merge_projects, ..config }
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

/// An upstream with changes to its configuration.
pub(crate) fn upstream(index: &str, change: impl FnOnce(&mut upstream::Config)) -> Arc<Upstream> {
    let mut config = upstream::Config::new(index).unwrap();
    config.read_timeout = TIMEOUT;
    change(&mut config);
    Arc::new(Upstream::new(config).unwrap())
}

/// Starts a proxy with a new folder.
pub(crate) fn start(indexes: &[String]) -> RunningProxy {
    start_with(indexes, |_| ())
}

/// Like [`start`], with changes to the configuration.
pub(crate) fn start_with(indexes: &[String], change: impl FnOnce(&mut Setup)) -> RunningProxy {
    let dir = tempfile::tempdir().unwrap();
    let mut setup = Setup::new(dir.path(), indexes);
    change(&mut setup);
    let store = Store::open(setup.store.clone()).unwrap();
    setup.run(store, Some(dir))
}

/// A client that neither follows redirects nor decompresses.
pub(crate) fn client() -> Client {
    let client =
        Client::builder().redirect(reqwest::redirect::Policy::none()).no_gzip().no_zstd().no_deflate();
    client.build().unwrap()
}

pub(crate) async fn send(client: &Client, method: Method, url: String, headers: &[(&str, &str)]) -> Response {
    let request = client.request(method, url);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.send().await.unwrap()
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
        send(&self.client, method, self.url(path), headers).await
    }

    pub(crate) async fn metrics(&self) -> Samples {
        let response = self.get("/metrics", &[]).await;
        assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
        exposition::parse(&response.text().await.unwrap())
    }

    pub(crate) async fn json(&self, path: &str, headers: &[(&str, &str)]) -> tightwire_json::Value {
        let text = self.get(path, headers).await.text().await.unwrap();
        tightwire_json::from_str(&text).unwrap()
    }

    /// Stops the server, waits until it has ended, and closes its store.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        self.task.take().unwrap().await.unwrap().unwrap();
    }
}
