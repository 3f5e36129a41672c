//! pip and uv with logins, minimum age and rate limits.

use crate::clients::sandbox::Site;
use crate::support::prelude::*;
use crate::support::program::Served;

const USERS: &str = "ann:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";
const TOKENS: &str = "0123456789abcdef ci\n";

/// URL of the index with a login.
fn index_url(proxy: &Served, login: &str) -> String {
    format!("http://{login}{}/simple/", proxy.address())
}

#[tokio::test(flavor = "multi_thread")]
async fn pip_and_uv_log_in_with_credentials_in_the_url() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(file("users"), USERS).unwrap();
    std::fs::write(file("tokens"), TOKENS).unwrap();
    let env = [
        ("PYPI_PROXY_AUTH_HTPASSWD_FILE", &*file("users")),
        ("PYPI_PROXY_AUTH_TOKENS_FILE", &*file("tokens")),
    ];
    let Some(site) = Site::start(&env).await else { return };
    let proxy = &site.proxy;
    let requests = site.index.lines.count();
    for login in ["", "ann:wrong@", "__token__:0123456789abcdee@"] {
        let (sandbox, url) = (site.sandbox().await, index_url(proxy, login));
        let output = sandbox.fails("pip", &["install", "--no-input", "--index-url", &url, "pantry"]).await;
        assert!(output.contains("No matching distribution found for pantry"), "{output}");
        assert!(login.is_empty() || output.contains("401 Error, Credentials not correct"), "{output}");
        let output = sandbox.fails("uv", &["pip", "install", "--default-index", &url, "pantry"]).await;
        assert!(output.contains("lack of valid authentication credentials (401 Unauthorized)"), "{output}");
    }
    // None of these requests reached the index.
    assert_eq!(site.index.lines.count(), requests);
    for login in ["ann:secret@", "__token__:0123456789abcdef@"] {
        let url = index_url(proxy, login);
        let sandbox = site.sandbox().await;
        sandbox.run("pip", &["install", "--index-url", &url, "pantry==1.0"]).await;
        let sandbox = site.sandbox().await;
        sandbox.run("uv", &["pip", "install", "--default-index", &url, "pantry==1.0"]).await;
        assert_eq!(sandbox.freeze().await, ["pantry==1.0", "pantry-shelf==1.1"]);
    }
    let log = proxy.log.all().concat();
    assert!(log.contains("\"user\":\"ann\"") && log.contains("\"user\":\"ci\""), "{log}");
    assert!(!log.contains("secret") && !log.contains("0123456789abc"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pip_and_uv_see_the_minimum_age() {
    // 1 March 2024.
    let day = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_709_251_200);
    let age = format!("{}s", day.elapsed().unwrap().as_secs());
    let env = [("PYPI_PROXY_MIN_AGE", &*age), ("PYPI_PROXY_DENY_PROJECTS", "spice.*")];
    let Some(site) = Site::start(&env).await else { return };
    let url = index_url(&site.proxy, "");
    let young = format!("{url}pantry-shelf/pantry_shelf-3.0-py3-none-any.whl");

    let pip = site.sandbox().await;
    pip.run("pip", &["install", "--index-url", &url, "pantry-shelf"]).await;
    assert_eq!(pip.freeze().await, ["pantry-shelf==2.0"]);
    let output = pip.fails("pip", &["install", "--index-url", &url, "pantry-shelf==3.0"]).await;
    assert!(output.contains("from versions: 1.0, 1.1, 2.0, 2.1rc1)"), "{output}");
    // A URL from a lock file points to the file directly.
    let output = pip.fails("pip", &["install", &young]).await;
    assert!(output.contains("403 Client Error: File Too Young For This Proxy"), "{output}");
    let output = pip.fails("pip", &["install", "-vv", "--index-url", &url, "spice-rack"]).await;
    assert!(output.contains("403 Client Error: Project Denied By This Proxy"), "{output}");

    let uv = site.sandbox().await;
    uv.run("uv", &["pip", "install", "--default-index", &url, "pantry-shelf"]).await;
    assert_eq!(uv.freeze().await, ["pantry-shelf==2.0"]);
    let output = uv.fails("uv", &["pip", "install", "--default-index", &url, "pantry-shelf==3.0"]).await;
    assert!(output.contains("there is no version of pantry-shelf==3.0"), "{output}");
    let output = uv.fails("uv", &["pip", "install", &young]).await;
    let expected = "Server message: File Too Young For This Proxy, this proxy serves files";
    assert!(output.contains(expected), "{output}");
    let output = uv.fails("uv", &["pip", "install", "--default-index", &url, "spice-rack"]).await;
    assert!(output.contains("403 Forbidden"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pip_and_uv_retry_after_429() {
    let env = [("PYPI_PROXY_RATE_LIMIT", "1"), ("PYPI_PROXY_RATE_LIMIT_BURST", "1")];
    let Some(site) = Site::start(&env).await else { return };
    let proxy = &site.proxy;
    let url = index_url(proxy, "");
    for (program, args) in
        [("pip", &["install", "--index-url"][..]), ("uv", &["pip", "install", "--default-index"])]
    {
        let (started, sandbox) = (proxy.log.count(), site.sandbox().await);
        sandbox.run(program, &[args, &[&url, "--no-deps", "pantry==1.0"]].concat()).await;
        let log = proxy.log.all().split_off(started).concat();
        assert!(log.contains("\"status\":429"), "{program}: {log}");
    }
}
