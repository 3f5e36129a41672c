//! Clients choose another version because of each rule.

use std::path::Path;

use crate::clients::sandbox::{RichIndex, Sandbox, Shelf, Site, guide, python, serve};
use crate::clients::{CLIENTS, Client};
use crate::support::prelude::*;
use crate::support::program::Served;

const RECORD: &str = r#"{"id":"MAL-2024-3","affected":[{"package":{"ecosystem":"PyPI","name":"Pantry_Shelf"},
    "ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"2.2"},{"last_affected":"3.0"}]}]}]}"#;

const PROJECT: &str = "[project]\nname = \"kitchen\"\nversion = \"1.0\"\nrequires-python = \">=3.9\"\n";

/// Installs the newest allowed version of a project, and returns it.
async fn newest(python: &Path, client: Client, proxy: &Served, project: &str) -> String {
    let sandbox = Sandbox::new(python).await;
    let url = format!("{}/simple/", proxy.url);
    let dependencies = format!("dependencies = [\"{project}\"]\n");
    match client {
        Client::Pip => sandbox.run("pip", &["install", "--no-deps", "--index-url", &url, project]).await,
        Client::Uv => {
            sandbox.run("uv", &["pip", "install", "--no-deps", "--default-index", &url, project]).await
        }
        Client::Poetry => {
            let source = guide("pyproject.toml for Poetry", &proxy.url);
            let text = format!("{PROJECT}{dependencies}\n[tool.poetry]\npackage-mode = false\n{source}");
            sandbox.write("pyproject.toml", &text);
            sandbox.run("poetry", &["lock"]).await;
            sandbox.run("poetry", &["install"]).await
        }
        Client::Pipenv => {
            let source = guide("Pipfile", &proxy.url);
            sandbox.write("Pipfile", &format!("{source}[packages]\n{project} = \"*\"\n"));
            sandbox.run("pipenv", &["install"]).await
        }
        Client::Pdm => {
            let source = guide("pyproject.toml for PDM", &proxy.url);
            let text = format!("{PROJECT}{dependencies}\n[tool.pdm]\ndistribution = false\n{source}");
            sandbox.write("pyproject.toml", &text);
            sandbox.run("pdm", &["install"]).await
        }
    };
    let installed = sandbox.freeze().await;
    let version = installed.iter().find_map(|line| line.strip_prefix(&format!("{project}==")));
    version.unwrap_or_else(|| panic!("{client:?}: {installed:?}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_choose_versions_that_the_rules_allow() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let index = RichIndex::start(&python, &shelf).await;
    let records = tempfile::tempdir().unwrap();
    std::fs::write(records.path().join("MAL-2024-3.json"), RECORD).unwrap();
    let records = records.path().to_str().unwrap();
    for (env, version, rule) in [
        (&[("PYPI_PROXY_DENY_PROJECTS", "pantry-shelf >2, <4, spice-*")][..], "2.0", "deny_projects"),
        (&[("PYPI_PROXY_ALLOW_PROJECTS", "*, pantry-shelf <2")], "1.1", "allow_projects"),
        (&[("PYPI_PROXY_EXCLUDE_NEWER", "2024-02-05")], "2.0", "exclude_newer"),
        (
            &[
                ("PYPI_PROXY_MIN_AGE", "3600d"),
                ("PYPI_PROXY_MIN_AGE_EXEMPT", "pantry-shelf ==1.0, pantry-shelf ==1.1"),
            ],
            "1.1",
            "min_age",
        ),
        (&[("PYPI_PROXY_OSV_DIR", records)], "2.0", "osv_dir"),
    ] {
        let cache = tempfile::tempdir().unwrap();
        let url = index.url();
        let env = [&[("PYPI_PROXY_INDEX_URL", &*url)], env].concat();
        let proxy = serve(cache.path(), &env).await;
        let found = join_all(CLIENTS.map(|client| newest(&python, client, &proxy, "pantry-shelf"))).await;
        assert_eq!(found, [version; 5], "{rule} {CLIENTS:?}");
        // A URL from a lock file points to the refused file.
        let refused = format!("{}/simple/pantry-shelf/pantry_shelf-3.0-py3-none-any.whl", proxy.url);
        let response = reqwest::get(&refused).await.unwrap();
        assert_eq!(response.headers()["x-pypi-proxy-rule"], rule);
        let sandbox = Sandbox::new(&python).await;
        let output = sandbox.fails("pip", &["install", &refused]).await;
        assert!(output.contains("403 Client Error: ") && output.contains("This Proxy"), "{output}");
        let output = sandbox.fails("uv", &["pip", "install", &refused]).await;
        assert!(output.contains("Server message: ") && output.contains("this proxy"), "{output}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pip_and_uv_do_not_find_yanked_files_that_are_refused() {
    let Some(site) = Site::start(&[("PYPI_PROXY_YANKED", "refuse")]).await else { return };
    let url = format!("{}/simple/", site.proxy.url);
    let sandbox = site.sandbox().await;
    let output = sandbox.fails("pip", &["install", "--index-url", &url, "pantry==2.1"]).await;
    assert!(output.contains("from versions: 1.0, 2.0)"), "{output}");
    let output = sandbox.fails("uv", &["pip", "install", "--default-index", &url, "pantry==2.1"]).await;
    assert!(output.contains("there is no version of pantry==2.1"), "{output}");
    sandbox.run("uv", &["pip", "install", "--default-index", &url, "pantry"]).await;
    assert!(sandbox.freeze().await.contains(&"pantry==2.0".into()));
}

/// An index whose only project is quarantined, although it still lists a file.
fn quarantined_index() -> Server {
    let page = json!({
        "meta": {"api-version": "1.4"}, "name": "demo", "versions": ["1.0"],
        "files": [listed("demo-1.0-py3-none-any.whl", &content(1000))],
        "project-status": {"status": "quarantined", "reason": "the project is haunted"},
    });
    Server::start(move |request| match &*request.path {
        "/simple/demo/" => respond(200, &[JSON], page.to_string()),
        path if path.starts_with("/f/") => respond(200, &[], content(1000)),
        _ => respond(404, &[], ""),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_find_no_files_of_quarantined_projects() {
    let Some(python) = python() else { return };
    let index = quarantined_index();
    let cache = tempfile::tempdir().unwrap();
    let proxy = serve(cache.path(), &[("PYPI_PROXY_INDEX_URL", &index.url("/simple/"))]).await;
    let url = format!("{}/simple/", proxy.url);
    let sandbox = Sandbox::new(&python).await;
    let output = sandbox.fails("pip", &["install", "--index-url", &url, "demo"]).await;
    assert!(output.contains("from versions: none"), "{output}");
    let output = sandbox.fails("uv", &["pip", "install", "--default-index", &url, "demo"]).await;
    assert!(output.contains("demo"), "{output}");
    assert!(!index.paths().iter().any(|path| path.starts_with("/f/")), "{:?}", index.paths());
}
