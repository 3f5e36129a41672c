//! Lock files that were created without the proxy are installed through it after their host is replaced, and the other
//! way around.

use std::collections::BTreeMap;
use std::path::Path;

use crate::clients::sandbox::{RichIndex, Sandbox, Shelf, guide, html_index, python, serve};
use crate::clients::{INSTALLED, PROJECT};
use crate::support::prelude::*;

type Call = (&'static str, &'static [&'static str]);

/// A lock file of a client.
struct Format {
    /// File that configures the index, its block in the guide, and the text before and after the block.
    config: Option<(&'static str, &'static str, &'static str, &'static str)>,
    locks: &'static [Call],
    lock_file: &'static str,
    /// Whether the lock file has the URLs of files instead of that of the index.
    has_files: bool,
    installs: &'static [Call],
}

const FORMATS: [Format; 6] = [
    Format {
        config: None,
        locks: &[("pip", &["lock", "pantry[spice]==2.0", "-o", "pylock.toml"])],
        lock_file: "pylock.toml",
        has_files: true,
        installs: &[("pip", &["install", "-r", "pylock.toml"])],
    },
    Format {
        config: Some(("pyproject.toml", "pyproject.toml for uv", PROJECT, "")),
        locks: &[("uv", &["lock"])],
        lock_file: "uv.lock",
        has_files: true,
        installs: &[("uv", &["sync", "--active", "--frozen"]), ("uv", &["lock", "--check"])],
    },
    Format {
        config: Some(("pyproject.toml", "pyproject.toml for uv", PROJECT, "")),
        locks: &[("uv", &["export", "--format", "pylock.toml", "-o", "pylock.toml"])],
        lock_file: "pylock.toml",
        has_files: true,
        installs: &[("uv", &["pip", "sync", "--preview-features", "pylock", "pylock.toml"])],
    },
    Format {
        config: Some((
            "pyproject.toml",
            "pyproject.toml for PDM",
            PROJECT,
            "[tool.pdm]\ndistribution = false\n",
        )),
        locks: &[("pdm", &["lock", "--static-urls"])],
        lock_file: "pdm.lock",
        has_files: true,
        installs: &[("pdm", &["sync"])],
    },
    Format {
        config: Some((
            "pyproject.toml",
            "pyproject.toml for Poetry",
            PROJECT,
            "[tool.poetry]\npackage-mode = false\n",
        )),
        locks: &[("poetry", &["lock"])],
        lock_file: "poetry.lock",
        has_files: false,
        // The content hash of the lock file includes the URL of the source; versions and hashes are kept.
        installs: &[("poetry", &["lock"]), ("poetry", &["install"])],
    },
    Format {
        config: Some((
            "Pipfile",
            "Pipfile",
            "",
            "[packages]\npantry = {version = \"==2.0\", extras = [\"spice\"]}\n",
        )),
        locks: &[("pipenv", &["lock"])],
        lock_file: "Pipfile.lock",
        has_files: false,
        installs: &[("pipenv", &["sync"])],
    },
];

impl Format {
    /// Locks a project with the index at one base URL, and installs it from another one.
    async fn carry(&self, python: &Path, from: &str, to: &str) -> BTreeMap<String, String> {
        let mut origin = Sandbox::new(python).await;
        origin.set("PIP_INDEX_URL", &format!("{from}/simple/"));
        let mut files = vec![self.lock_file];
        if let Some((file, block, before, after)) = self.config {
            origin.write(file, &format!("{before}\n{after}{}", guide(block, from)));
            files.push(file);
        }
        for (program, args) in self.locks {
            origin.run(program, args).await;
        }
        let target = Sandbox::new(python).await;
        let read =
            |sandbox: &Sandbox, file: &str| std::fs::read_to_string(sandbox.work().join(file)).unwrap();
        for file in files {
            let text = read(&origin, file);
            assert!(text.contains(from), "{text}");
            target.write(file, &text.replace(from, to));
        }
        let lock = read(&target, self.lock_file);
        assert_eq!(lock.contains("/pantry/pantry-2.0-"), self.has_files, "{lock}");
        assert!(!lock.contains("/simple/pantry"), "{lock}");
        for (program, args) in self.installs {
            target.run(program, args).await;
        }
        let pins = |text: &str| {
            let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("content-hash")).collect();
            lines.join("\n")
        };
        assert_eq!(pins(&read(&target, self.lock_file)), pins(&lock), "{}", self.lock_file);
        let mut freeze = target.freeze().await;
        let mut expected = INSTALLED.map(str::to_owned);
        freeze.sort();
        expected.sort();
        assert_eq!(freeze, expected, "{}", self.lock_file);
        target.installed()
    }
}

/// Carries all lock files from the index to a proxy, which is new for each, and back.
async fn carry_all(python: &Path, index: &str, folder: &str) {
    let index_url = format!("{index}/simple/");
    let carried = join_all(FORMATS.iter().map(async |format| {
        let cache = tempfile::tempdir().unwrap();
        let proxy = serve(cache.path(), &[("PYPI_PROXY_INDEX_URL", &*index_url)]).await;
        let there = format.carry(python, index, &proxy.url).await;
        let log = proxy.log.all();
        let is_file = |line: &String| {
            line.contains(&format!("\"path\":\"/{folder}/")) && line.contains("\"status\":200")
        };
        assert!(log.iter().any(is_file), "{}: {log:?}", format.lock_file);
        proxy.has_only_good_answers();
        // An installation from URLs requests no pages.
        if format.has_files {
            assert!(!log.iter().any(|line| line.contains("\"path\":\"/simple/")), "{log:?}");
        }
        (there, format.carry(python, &proxy.url, index).await)
    }))
    .await;
    for (format, (there, back)) in FORMATS.iter().zip(&carried) {
        assert_eq!((there, back), (&carried[0].0, &carried[0].0), "{}", format.lock_file);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lock_files_of_a_json_index_are_portable() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let index = RichIndex::start(&python, &shelf).await;
    let url = index.url();
    carry_all(&python, url.strip_suffix("/simple/").unwrap(), "resources").await;
}

/// Its pages have no hashes, so neither have most lock files.
#[tokio::test(flavor = "multi_thread")]
async fn lock_files_of_an_html_index_are_portable() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let index = html_index(shelf.path());
    let url = index.url("");
    for format in &FORMATS[..2] {
        let cache = tempfile::tempdir().unwrap();
        let proxy = serve(cache.path(), &[("PYPI_PROXY_INDEX_URL", &*index.url("/simple/"))]).await;
        let there = format.carry(&python, &url, &proxy.url).await;
        assert_eq!(there, format.carry(&python, &proxy.url, &url).await, "{}", format.lock_file);
    }
}
