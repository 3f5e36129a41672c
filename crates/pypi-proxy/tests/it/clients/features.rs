//! Features of pip and uv besides plain installation, and installation from the index of this machine.

use tokio::process::Command;

use crate::clients::sandbox::{Sandbox, Shelf, Site, guide, html_index, python, serve};
use crate::support::prelude::*;
use crate::support::program::Served;

/// A sandbox for pip with the proxy as its index.
async fn sandbox(python: &std::path::Path, proxy: &Served) -> Sandbox {
    let mut sandbox = Sandbox::new(python).await;
    sandbox.set("PIP_INDEX_URL", &format!("{}/simple/", proxy.url));
    sandbox
}

#[tokio::test(flavor = "multi_thread")]
async fn pip_selects_files_by_page_fields() {
    let Some(site) = Site::start(&[]).await else { return };
    let pip = sandbox(&site.python, &site.proxy).await;

    // Neither files for other Python versions nor pre-releases.
    let versions = pip.run("pip", &["index", "versions", "Pantry_Shelf"]).await;
    assert!(versions.contains("Available versions: 3.0, 2.0, 1.1, 1.0\n"), "{versions}");
    let missing = pip.fails("pip", &["install", "no-such-project"]).await;
    assert!(missing.contains("No matching distribution found for no-such-project"), "{missing}");
    pip.run("pip", &["install", "--pre", "pantry-shelf<2.2"]).await;
    assert_eq!(pip.freeze().await, ["pantry-shelf==2.1rc1"]);

    // A yanked version is only installed if requested exactly; pip prints the reason.
    pip.run("pip", &["install", "--no-deps", "pantry"]).await;
    assert!(pip.freeze().await.contains(&"pantry==2.0".into()));
    let output = pip.run("pip", &["install", "--no-deps", "pantry==2.1"]).await;
    assert!(output.contains("Reason for being yanked: it spoils"), "{output}");

    // A source archive is not a built distribution.
    let refused = pip.fails("pip", &["install", "--only-binary", ":all:", "pantry-notes"]).await;
    assert!(refused.contains("No matching distribution found for pantry-notes"), "{refused}");
    let plan = ["install", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "Spice.Rack"];
    let requests_before = site.index.lines.count();
    let output = pip.run("pip", &plan).await;
    assert!(output.contains("Would install Spice.Rack-0.5+local.1 pantry-shelf-3.0"), "{output}");
    // Resolution needs metadata, but no wheels.
    let lines = site.index.lines.all();
    assert!(!lines[requests_before..].iter().any(|line| line.contains(".whl ")), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pip_finds_files_by_hash() {
    let Some(site) = Site::start(&[]).await else { return };
    let pip = sandbox(&site.python, &site.proxy).await;
    let files = [
        ("pantry-shelf", "1.1", "pantry_shelf-1.1-py3-none-any.whl"),
        ("pantry-notes", "0.3", "pantry_notes-0.3.tar.gz"),
        ("spice-rack", "0.5+local.1", "spice_rack-0.5+local.1-py3-none-any.whl"),
    ];
    let pins = files.map(|(project, version, file)| {
        format!("{project}=={version} --hash=sha256:{}\n", site.shelf.sha256(project, file))
    });
    pip.write("requirements.txt", &pins.concat());
    pip.run("pip", &["install", "--require-hashes", "-r", "requirements.txt"]).await;
    let mut installed = pip.freeze().await;
    installed.sort();
    assert_eq!(installed, ["Spice.Rack==0.5+local.1", "pantry-notes==0.3", "pantry-shelf==1.1"]);

    let other = site.shelf.sha256("pantry-shelf", "pantry_shelf-1.0-py3-none-any.whl");
    pip.write("wrong.txt", &format!("pantry-shelf==2.0 --hash=sha256:{other}\n"));
    let output = pip.fails("pip", &["install", "--require-hashes", "-r", "wrong.txt"]).await;
    assert!(output.contains("DO NOT MATCH THE HASHES"), "{output}");

    pip.run("pip", &["download", "--no-deps", "--dest", "taken", "-r", "requirements.txt"]).await;
    for (project, _, file) in files {
        let taken = std::fs::read(pip.work().join("taken").join(file)).unwrap();
        assert_eq!(digest_of(&taken).to_string(), site.shelf.sha256(project, file));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_resolution_downloads_no_wheel_of_an_html_index() {
    let Some(python) = python() else { return };
    let shelf = Shelf::new(&python).await;
    let index = html_index(shelf.path());
    let cache = tempfile::tempdir().unwrap();
    let proxy = serve(cache.path(), &[("PYPI_PROXY_INDEX_URL", &index.url("/simple/"))]).await;
    let pip = sandbox(&python, &proxy).await;
    let plan = ["install", "--dry-run", "--only-binary", ":all:", "pantry-barrel", "Spice.Rack"];
    let output = pip.run("pip", &plan).await;
    let expected = "Would install Spice.Rack-0.5+local.1 pantry-barrel-1.0 pantry-shelf-3.0";
    assert!(output.contains(expected), "{output}");
    let seen = index.count();
    pip.write("wanted.in", "pantry-barrel\nspice-rack\npantry-shelf\n");
    let index_url = format!("{}/simple/", proxy.url);
    let plan = ["pip", "compile", "--default-index", &index_url, "--no-header", "--no-annotate", "wanted.in"];
    let output = pip.run("uv", &plan).await;
    assert!(output.contains("pantry-barrel==1.0\npantry-shelf==3.0\nspice-rack==0.5+local.1\n"), "{output}");
    // The first resolution downloads wheels, because metadata of wheels without hashes is not listed.
    for Request { path, headers, .. } in &index.requests()[seen..] {
        assert!(!path.ends_with(".whl") || headers.contains_key("range"), "{path} {headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn uv_gets_times_sizes_and_hashes() {
    let Some(site) = Site::start(&[]).await else { return };
    let (proxy, shelf) = (&site.proxy, &site.shelf);
    let mut uv = site.sandbox().await;
    uv.export(&guide("uv", &proxy.url));

    // The state at the end of 2023.
    uv.run("uv", &["pip", "install", "--exclude-newer", "2023-12-31", "pantry"]).await;
    assert_eq!(uv.freeze().await, ["pantry==1.0", "pantry-shelf==1.1"]);

    let project = "[project]\nname = \"kitchen\"\nversion = \"1.0\"\nrequires-python = \">=3.9\"\n\
                   dependencies = [\"pantry-shelf<2\"]\n";
    uv.write("pyproject.toml", project);
    uv.run("uv", &["lock"]).await;
    let lock = std::fs::read_to_string(uv.work().join("uv.lock")).unwrap();
    let name = "pantry_shelf-1.1-py3-none-any.whl";
    let len = std::fs::metadata(shelf.file("pantry-shelf", name)).unwrap().len();
    let expected = format!(
        "{{ url = \"{}/resources/pantry-shelf/{name}\", hash = \"sha256:{}\", size = {len}, \
         upload-time = \"2023-06-05T00:00:00Z\" }}",
        proxy.url,
        shelf.sha256("pantry-shelf", name)
    );
    assert!(lock.contains(&expected), "{lock}");

    uv.write("wanted.in", "pantry[spice]==2.0\n");
    uv.run("uv", &["pip", "compile", "--generate-hashes", "wanted.in", "-o", "wanted.txt"]).await;
    uv.run("uv", &["pip", "sync", "--require-hashes", "wanted.txt"]).await;
    assert!(uv.freeze().await.contains(&"Spice.Rack==0.5+local.1".into()));

    // uv revalidates its cache with 304.
    let log = proxy.log.count();
    uv.run("uv", &["pip", "install", "--refresh", "--reinstall", "pantry-shelf==2.0"]).await;
    let log = proxy.log.all().split_off(log);
    assert!(log.iter().any(|line| line.contains("/simple/pantry-shelf/\",\"status\":304")), "{log:?}");
    assert!(!log.iter().any(|line| line.contains("pantry-shelf/\",\"status\":200")), "{log:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_install_from_the_configured_index() {
    let Some(python) = python() else { return };
    let cache = tempfile::tempdir().unwrap();
    let check = Command::new(env!("CARGO_BIN_EXE_pypi-proxy"))
        .args(["check", "--listen", "127.0.0.1:0", "--cache-dir"])
        .arg(cache.path())
        .output()
        .await
        .unwrap();
    if !check.status.success() {
        let text = [check.stdout, check.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains("FAIL  index") || text.contains("no index is set"), "{text}");
        skip(&format!("the index of this machine: {text}"));
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_pypi-proxy"));
    command.arg("serve").arg("--cache-dir").arg(cache.path()).kill_on_drop(true);
    command.args(["--listen", "127.0.0.1:0", "--download-timeout", "never", "--log-format", "json"]);
    let proxy = Served::start(command).await;
    let url = format!("{}/simple/", proxy.url);
    let pip = Sandbox::new(&python).await;
    pip.run("pip", &["install", "--index-url", &url, "six==1.17.0", "idna==3.10"]).await;
    let uv = Sandbox::new(&python).await;
    let log = proxy.log.count();
    uv.run("uv", &["pip", "install", "--index-url", &url, "six==1.17.0", "idna==3.10"]).await;
    assert_eq!(uv.freeze().await, ["idna==3.10", "six==1.17.0"]);
    assert_eq!(uv.freeze().await, pip.freeze().await);
    assert_eq!(uv.installed(), pip.installed());
    let log = proxy.log.all().split_off(log);
    let files: Vec<_> = log.iter().filter(|line| line.contains(".whl\"")).collect();
    assert!(files.len() >= 2 && files.iter().all(|line| line.contains("\"cache\":\"hit\"")), "{log:?}");
}
