//! pip, uv, Poetry, pipenv and PDM install through the program.
//!
//! `PYPI_CLIENTS_PYTHON` is the path of a Python interpreter with the packages of `clients/requirements.txt`. Otherwise
//! the tests report that they are skipped. The configuration of the clients is read from the guide,
//! `docs/pypi-proxy.md`.
#![cfg(feature = "cli")]

mod access;
mod airgap;
mod audit;
mod features;
mod fleet;
mod guide;
mod indexes;
mod killed;
mod lock_files;
mod rules;
mod sandbox;

use std::collections::BTreeMap;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use sandbox::{RichIndex, Sandbox, Shelf, guide, html_index, python, serve};

use crate::support::prelude::*;
use crate::support::program::Served;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    Pip,
    Uv,
    Poetry,
    Pipenv,
    Pdm,
}

const CLIENTS: [Client; 5] = [Client::Pip, Client::Uv, Client::Poetry, Client::Pipenv, Client::Pdm];

const PROJECT: &str = "[project]\nname = \"kitchen\"\nversion = \"1.0\"\nrequires-python = \">=3.9\"\n\
                       dependencies = [\"pantry[spice]==2.0\"]\n";

impl Client {
    /// Installs `pantry[spice]==2.0`, from a lock file if the client supports one.
    async fn install(self, sandbox: &mut Sandbox, proxy: &str) {
        match self {
            Self::Pip => {
                sandbox.write("pip.conf", &guide("pip.conf", proxy));
                sandbox.set("PIP_CONFIG_FILE", sandbox.work().join("pip.conf").to_str().unwrap());
                sandbox.run("pip", &["install", "pantry[spice]==2.0"]).await;
            }
            Self::Uv => {
                let index = guide("pyproject.toml for uv", proxy);
                sandbox.write("pyproject.toml", &format!("{PROJECT}{index}"));
                sandbox.run("uv", &["lock"]).await;
                sandbox.run("uv", &["sync", "--active", "--locked"]).await;
            }
            Self::Poetry => {
                let source = guide("pyproject.toml for Poetry", proxy);
                let text = format!("{PROJECT}\n[tool.poetry]\npackage-mode = false\n{source}");
                sandbox.write("pyproject.toml", &text);
                sandbox.run("poetry", &["lock"]).await;
                sandbox.run("poetry", &["install"]).await;
            }
            Self::Pipenv => {
                let source = guide("Pipfile", proxy);
                let packages = "[packages]\npantry = {version = \"==2.0\", extras = [\"spice\"]}\n";
                sandbox.write("Pipfile", &format!("{source}{packages}"));
                sandbox.run("pipenv", &["install"]).await;
            }
            Self::Pdm => {
                let source = guide("pyproject.toml for PDM", proxy);
                let text = format!("{PROJECT}\n[tool.pdm]\ndistribution = false\n{source}");
                sandbox.write("pyproject.toml", &text);
                sandbox.run("pdm", &["lock"]).await;
                sandbox.run("pdm", &["sync"]).await;
            }
        }
    }
}

const INSTALLED: [&str; 4] =
    ["pantry==2.0", "pantry-notes==0.3", "pantry-shelf==2.0", "Spice.Rack==0.5+local.1"];

struct Pair {
    client: Client,
    _cache: tempfile::TempDir,
    proxy: Served,
}

impl Pair {
    async fn new(client: Client, env: &[(&str, &str)]) -> Self {
        let cache = tempfile::tempdir().unwrap();
        let proxy = serve(cache.path(), env).await;
        Self { client, _cache: cache, proxy }
    }

    /// Installs in a new environment. Returns the installed files.
    async fn install(&self, python: &Path) -> BTreeMap<String, String> {
        let mut sandbox = Sandbox::new(python).await;
        self.client.install(&mut sandbox, &self.proxy.url).await;
        let mut freeze = sandbox.freeze().await;
        let mut expected = INSTALLED.map(str::to_owned);
        freeze.sort();
        expected.sort();
        assert_eq!(freeze, expected, "{:?}", self.client);
        sandbox.installed()
    }
}

async fn pairs(env: &[(&str, &str)]) -> Vec<Pair> {
    join_all(CLIENTS.map(|client| Pair::new(client, env))).await
}

/// Installs with all clients, and checks that they install the same files.
async fn install_all(pairs: &[Pair], python: &Path) -> BTreeMap<String, String> {
    let found = join_all(pairs.iter().map(|pair| pair.install(python))).await;
    for (pair, files) in pairs.iter().zip(&found) {
        assert_eq!(files, &found[0], "{:?}", pair.client);
        pair.proxy.has_only_good_answers();
    }
    found[0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_clients_install_equally_from_a_json_index() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let index = RichIndex::start(&python, &shelf).await;
    let pairs = pairs(&[("PYPI_PROXY_INDEX_URL", &index.url())]).await;
    let cold = install_all(&pairs, &python).await;
    assert!(cold.contains_key("pantry_shelf/__init__.py"), "{cold:?}");
    // The cached files are enough for other clients.
    let requests_before = index.lines.count();
    assert_eq!(install_all(&pairs, &python).await, cold);
    assert_eq!(index.lines.all()[requests_before..], [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_clients_install_equally_from_an_html_index() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let index = html_index(shelf.path());
    // Every page is revalidated.
    let env = [
        ("PYPI_PROXY_INDEX_URL", &*index.url("/simple/")),
        ("PYPI_PROXY_INDEX_TTL", "0"),
        ("PYPI_PROXY_STALE_WHILE_REVALIDATE", "0"),
    ];
    let pairs = pairs(&env).await;
    let cold = install_all(&pairs, &python).await;
    assert!(cold.contains_key("spice_rack/__init__.py"), "{cold:?}");
    let requests_before = index.count();
    assert_eq!(install_all(&pairs, &python).await, cold);
    let again = &index.requests()[requests_before..];
    assert!(!again.is_empty());
    for Request { path, headers, .. } in again {
        // Pages are unchanged. Metadata of wheels without hashes is not listed, so clients fetch ranges of wheels that
        // they do not install.
        let is_revalidated = path.ends_with('/') && headers.contains_key("if-none-match");
        let is_part = path.ends_with(".whl") && headers.contains_key("range");
        assert!(is_revalidated || is_part, "{path} {headers:?}");
    }
}

/// Each reload changes the rules, so that the proxy is rebuilt.
#[tokio::test(flavor = "multi_thread")]
async fn all_clients_install_during_reloads() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let index = RichIndex::start(&python, &shelf).await;
    let dir = tempfile::tempdir().unwrap();
    let (new, config) = (dir.path().join("new"), dir.path().join("config.toml"));
    let write = move |number: u32| {
        std::fs::write(&new, format!("deny_projects = [\"other-{number}\"]\n")).unwrap();
        std::fs::rename(&new, &config).unwrap();
    };
    write(0);
    let config = dir.path().join("config.toml").display().to_string();
    let env = [("PYPI_PROXY_INDEX_URL", &*index.url()), ("PYPI_PROXY_CONFIG", &config)];
    let pairs = pairs(&env).await;
    let pids: Vec<_> = pairs.iter().map(|pair| pair.proxy.child.id().unwrap().cast_signed()).collect();
    let reloads = tokio::spawn(async move {
        for number in 1.. {
            write(number);
            for pid in &pids {
                kill_process(Pid::from_raw(*pid).unwrap(), Signal::HUP).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    install_all(&pairs, &python).await;
    reloads.abort();
    for pair in &pairs {
        let log = pair.proxy.log.all();
        let reloads = log.iter().filter(|line| line.contains("settings reloaded")).count();
        assert!(reloads >= 5, "{:?}: {reloads}", pair.client);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_clients_follow_redirects_to_the_index() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let index = RichIndex::start(&python, &shelf).await;
    let env = [("PYPI_PROXY_INDEX_URL", &*index.url()), ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "0")];
    let pairs = pairs(&env).await;
    install_all(&pairs, &python).await;
    for pair in &pairs {
        let log = pair.proxy.log.all();
        assert!(log.iter().any(|line| line.contains("\"status\":302")), "{:?}: {log:?}", pair.client);
    }
}
