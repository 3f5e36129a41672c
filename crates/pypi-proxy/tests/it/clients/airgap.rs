//! Clients install from archives without a network: after an installation through the proxy, and from their lock files.

use std::path::{Path, PathBuf};

use super::{CLIENTS, Client, INSTALLED, PROJECT, Pair};
use crate::clients::sandbox::{RichIndex, Sandbox, Shelf, guide, python, serve};
use crate::support::prelude::*;
use crate::support::program::run;

/// Runs a command of the program with the cache in a folder.
async fn command(cache: &Path, url: &str, args: &[&str]) -> String {
    let env = [("PYPI_PROXY_INDEX_URL", url), ("PYPI_PROXY_CACHE_DIR", cache.to_str().unwrap())];
    let (code, text) = run(cache, &env, args).await;
    assert_eq!(code, 0, "{args:?}: {text}");
    text
}

/// Moves a cache to a new folder, by an archive. `more` are further arguments of the export.
async fn moved(cache: &Path, url: &str, to: &Path, more: &[&str]) -> PathBuf {
    let archive = to.join("archive.tar.zst").to_str().unwrap().to_owned();
    command(cache, url, &[&["export", &archive], more].concat()).await;
    let moved = to.join("cache");
    command(&moved, url, &["import", &archive]).await;
    moved
}

#[tokio::test(flavor = "multi_thread")]
async fn all_clients_install_offline_from_an_archive() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let index = RichIndex::start(&python, &shelf).await;
    let url = index.url();
    let env = [("PYPI_PROXY_INDEX_URL", &*url)];
    let pairs = super::pairs(&env).await;
    let online = join_all(pairs.iter().map(|pair| pair.install(&python))).await;
    drop(index);
    for (pair, online) in pairs.into_iter().zip(online) {
        let Pair { client, _cache: cache, proxy } = pair;
        proxy.kill().await;
        let to = tempfile::tempdir().unwrap();
        // The default folder of the cache, below the home folder.
        let home = cache.path().join(".cache/pypi-proxy");
        let moved = moved(&home, &url, to.path(), &[]).await;
        let env = [
            ("PYPI_PROXY_INDEX_URL", &*url),
            ("PYPI_PROXY_CACHE_DIR", moved.to_str().unwrap()),
            ("PYPI_PROXY_OFFLINE", "true"),
        ];
        let pair = Pair { client, proxy: serve(to.path(), &env).await, _cache: to };
        assert_eq!(pair.install(&python).await, online, "{client:?}");
        pair.proxy.has_only_good_answers();
    }
}

impl Client {
    /// Creates a lock file. Returns its name.
    async fn lock(self, sandbox: &Sandbox, proxy: &str) -> &'static str {
        match self {
            Self::Pip => {
                let url = format!("{proxy}/simple/");
                sandbox.run("pip", &["lock", "--index-url", &url, "pantry[spice]==2.0"]).await;
                "pylock.toml"
            }
            Self::Uv => {
                let index = guide("pyproject.toml for uv", proxy);
                sandbox.write("pyproject.toml", &format!("{PROJECT}{index}"));
                sandbox.run("uv", &["lock"]).await;
                "uv.lock"
            }
            Self::Poetry => {
                let source = guide("pyproject.toml for Poetry", proxy);
                let text = format!("{PROJECT}\n[tool.poetry]\npackage-mode = false\n{source}");
                sandbox.write("pyproject.toml", &text);
                sandbox.run("poetry", &["lock"]).await;
                "poetry.lock"
            }
            Self::Pipenv => {
                let source = guide("Pipfile", proxy);
                let packages = "[packages]\npantry = {version = \"==2.0\", extras = [\"spice\"]}\n";
                sandbox.write("Pipfile", &format!("{source}{packages}"));
                sandbox.run("pipenv", &["lock"]).await;
                "Pipfile.lock"
            }
            Self::Pdm => {
                let source = guide("pyproject.toml for PDM", proxy);
                let text = format!("{PROJECT}\n[tool.pdm]\ndistribution = false\n{source}");
                sandbox.write("pyproject.toml", &text);
                sandbox.run("pdm", &["lock"]).await;
                "pdm.lock"
            }
        }
    }

    /// Installs from the lock file, without the caches of the client.
    async fn sync(self, sandbox: &mut Sandbox, proxy: &str) {
        let cache = sandbox.home().join("other-cache").to_str().unwrap().to_owned();
        for name in
            ["XDG_CACHE_HOME", "UV_CACHE_DIR", "PIP_CACHE_DIR", "POETRY_CACHE_DIR", "PIPENV_CACHE_DIR"]
        {
            sandbox.set(name, &cache);
        }
        let index = format!("{proxy}/simple/");
        let (program, args): (_, &[&str]) = match self {
            Self::Pip => ("pip", &["install", "--no-deps", "--index-url", &index, "-r", "pylock.toml"]),
            Self::Uv => ("uv", &["sync", "--active", "--frozen"]),
            Self::Poetry => ("poetry", &["install"]),
            Self::Pipenv => ("pipenv", &["sync"]),
            Self::Pdm => ("pdm", &["sync"]),
        };
        sandbox.run(program, args).await;
    }
}

/// A cache that was filled from a lock file and moved by an archive is enough to install from the lock file.
async fn syncs_offline(client: Client, python: &Path, url: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    // Lock files contain the address of the proxy.
    let address = free_address().to_string();
    let env = [("PYPI_PROXY_INDEX_URL", url), ("PYPI_PROXY_LISTEN", &*address)];
    let mut sandbox = Sandbox::new(python).await;
    let proxy = serve(&path("first"), &env).await;
    let name = client.lock(&sandbox, &proxy.url).await;
    proxy.kill().await;
    let lock = sandbox.work().join(name).to_str().unwrap().to_owned();

    let filled = path("filled");
    std::fs::create_dir(&filled).unwrap();
    let text = command(&filled.join("cache"), url, &["warm", &lock]).await;
    // Some clients lock for all versions of Python and all platforms.
    let count = text.lines().find_map(|line| line.split_once(" files (")?.0.parse::<usize>().ok()).unwrap();
    assert!((4..=6).contains(&count), "{client:?}: {text} {}", std::fs::read_to_string(&lock).unwrap());
    let text = command(&filled.join("cache"), url, &["warm", &lock]).await;
    let stored = format!("; {count} files were stored already");
    assert!(text.contains("0 files (0 B)") && text.contains(&stored), "{client:?}: {text}");
    let moved = moved(&filled.join("cache"), url, dir.path(), &["--requirements", &lock]).await;
    let env =
        [&env[..], &[("PYPI_PROXY_CACHE_DIR", moved.to_str().unwrap()), ("PYPI_PROXY_OFFLINE", "true")]]
            .concat();
    let proxy = serve(&path("offline"), &env).await;
    client.sync(&mut sandbox, &proxy.url).await;
    let mut freeze = sandbox.freeze().await;
    let mut expected = INSTALLED.map(str::to_owned);
    freeze.sort();
    expected.sort();
    assert_eq!(freeze, expected, "{client:?}");
    let log = proxy.log.all().concat();
    assert!(log.contains("pantry_notes-0.3.tar.gz\",\"status\":200"), "{client:?}: {log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_clients_sync_offline_from_their_lock_files() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let index = RichIndex::start(&python, &shelf).await;
    let url = index.url();
    join_all(CLIENTS.map(|client| syncs_offline(client, &python, &url))).await;
}
