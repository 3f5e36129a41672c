//! Clients with named indexes of the proxy.

use crate::clients::sandbox::{RichIndex, Sandbox, Shelf, guide, html_index, python};
use crate::support::prelude::*;
use crate::support::program::{self, Served};

/// A default index without `pantry`, and the named index `torch-cu128` with everything.
struct NamedSite {
    python: std::path::PathBuf,
    default: Server,
    _index: RichIndex,
    _shelf: Shelf,
    proxy: Served,
    _dir: tempfile::TempDir,
}

impl NamedSite {
    async fn start() -> Option<Self> {
        let python = python()?;
        let shelf = Shelf::new(&python).await;
        let index = RichIndex::start(&python, &shelf).await;
        let dir = tempfile::tempdir().unwrap();
        let files = dir.path().join("default");
        for project in ["spice-rack", "pantry-notes"] {
            let (from, to) = (shelf.path().join("files").join(project), files.join("files").join(project));
            std::fs::create_dir_all(&to).unwrap();
            for file in std::fs::read_dir(from).unwrap() {
                let file = file.unwrap();
                std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
            }
        }
        let default = html_index(&files);
        let config = dir.path().join("proxy.toml");
        let text = format!(
            "index_url = '{}'\ndownload_timeout = 'never'\n[index.torch-cu128]\nindex_url = '{}'\n",
            default.url("/simple/"),
            index.url()
        );
        std::fs::write(&config, text).unwrap();
        let env = [("PYPI_PROXY_CONFIG", config.to_str().unwrap())];
        let proxy = program::serve(dir.path(), &env).await;
        Some(Self { python, default, _index: index, _shelf: shelf, proxy, _dir: dir })
    }

    async fn sandbox(&self) -> Sandbox {
        Sandbox::new(&self.python).await
    }
}

const PROJECT: &str = "[project]\nname = \"kitchen\"\nversion = \"1.0\"\nrequires-python = \">=3.9\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn pip_uv_and_poetry_use_a_named_index() {
    let Some(site) = NamedSite::start().await else { return };
    let url = &site.proxy.url;

    let pip = site.sandbox().await;
    let named = format!("{url}/torch-cu128/simple/");
    pip.run("pip", &["install", "--index-url", &named, "pantry[spice]==2.0"]).await;
    assert_eq!(pip.freeze().await.len(), 4);
    let pip = site.sandbox().await;
    let default = format!("{url}/simple/");
    pip.fails("pip", &["install", "--index-url", &default, "pantry==2.0"]).await;
    pip.run("pip", &["install", "--index-url", &default, "--extra-index-url", &named, "pantry==1.0"]).await;
    assert_eq!(pip.freeze().await, ["pantry==1.0", "pantry-shelf==1.1"]);

    // An explicit index is used only for the projects that name it.
    let uv = site.sandbox().await;
    let index = guide("pyproject.toml for uv with a named index", url);
    let index = index.replace("torch = ", "pantry-shelf = ");
    uv.write(
        "pyproject.toml",
        &format!("{PROJECT}dependencies = [\"pantry-shelf==2.0\", \"pantry-notes\"]\n{index}"),
    );
    uv.run("uv", &["lock"]).await;
    let lock = std::fs::read_to_string(uv.work().join("uv.lock")).unwrap();
    let has = |name: &str, registry: &str| {
        lock.contains(&format!(
            "name = \"{name}\"\nversion = \"{}\"\nsource = {{ registry = \"{registry}\" }}",
            if name == "pantry-shelf" { "2.0" } else { "0.3" }
        ))
    };
    assert!(has("pantry-shelf", &named) && has("pantry-notes", &default), "{lock}");
    uv.run("uv", &["sync", "--active", "--locked"]).await;
    assert_eq!(uv.freeze().await, ["pantry-notes==0.3", "pantry-shelf==2.0"]);

    let poetry = site.sandbox().await;
    let source =
        guide("pyproject.toml for Poetry with a named index", url).replace("torch = ", "pantry-shelf = ");
    poetry.write(
        "pyproject.toml",
        &format!("{PROJECT}dependencies = [\"pantry-notes\", \"pantry-shelf==2.0\"]\n[tool.poetry]\npackage-mode = false\n{source}"),
    );
    poetry.run("poetry", &["lock"]).await;
    poetry.run("poetry", &["install"]).await;
    assert_eq!(poetry.freeze().await, ["pantry-notes==0.3", "pantry-shelf==2.0"]);
    // The default index was never asked for the project of the explicit one.
    let asked = site.default.count_of("/simple/pantry-shelf/");
    assert!(asked <= 1, "{:?}", site.default.paths());
}
