//! Named indexes in one process.
#![cfg(feature = "cli")]

use std::path::Path;

use crate::support::prelude::*;
use crate::support::program;
use crate::support::program::Served;
use crate::support::proxy::{client, send};

const ADMIN: [(&str, &str); 1] = [("authorization", "Bearer secret")];
const WHEEL: &str = "demo-1.0-py3-none-any.whl";
const OTHER: &str = "demo-2.0-py3-none-any.whl";

/// Command with an empty environment and this configuration file.
fn command(dir: &Path, file: &str, args: &[&str]) -> tokio::process::Command {
    std::fs::write(dir.join("proxy.toml"), file).unwrap();
    let mut command = program::program(dir, &[], args);
    command.env("PYPI_PROXY_CACHE_DIR", dir.join("cache")).env("PYPI_PROXY_ADMIN_TOKEN", "secret");
    command.env("PYPI_PROXY_CONFIG", dir.join("proxy.toml"));
    command.env("PYPI_PROXY_LISTEN", "127.0.0.1:0").env("PYPI_PROXY_LOG_FORMAT", "json");
    command
}

async fn serve(dir: &Path, file: &str) -> Served {
    Served::start(command(dir, file, &["serve"])).await
}

async fn run(dir: &Path, file: &str, args: &[&str]) -> (Option<i32>, String) {
    let output = command(dir, file, args).output().await.unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

async fn get(proxy: &Served, path: &str) -> Response {
    send(&client(), Method::GET, format!("{}{path}", proxy.url), &[("accept", JSON.1)]).await
}

async fn status(proxy: &Served, path: &str) -> u16 {
    get(proxy, path).await.status().as_u16()
}

async fn listed(proxy: &Served, path: &str) -> Vec<String> {
    let page: Value = tightwire_json::from_slice(&get(proxy, path).await.bytes().await.unwrap()).unwrap();
    filenames(&page).into_iter().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn named_indexes_have_their_own_pages_and_share_files() {
    let default = file_index([(WHEEL, content(1000))]);
    let torch = file_index([(WHEEL, content(1000)), (OTHER, content(2000))]);
    let dir = tempfile::tempdir().unwrap();
    let file = format!(
        "index_url = '{}'\n[index.torch-cu128]\nindex_url = '{}'\nyanked = 'hide'\n[index.strict]\nindex_url = '{}'\n\
         deny_projects = ['demo']\n",
        default.url("/simple"),
        torch.url("/simple"),
        torch.url("/simple")
    );
    let proxy = serve(dir.path(), &file).await;
    assert_eq!(listed(&proxy, "/simple/demo/").await, [WHEEL]);
    assert_eq!(listed(&proxy, "/torch-cu128/simple/demo/").await, [WHEEL, OTHER]);
    assert_eq!(listed(&proxy, "/torch-cu128/index/demo/").await, [WHEEL, OTHER]);
    assert_eq!(status(&proxy, "/strict/simple/demo/").await, 403);
    for (path, len) in [("/simple/demo", 1000), ("/torch-cu128/simple/demo", 1000)] {
        let response = get(&proxy, &format!("{path}/{WHEEL}")).await;
        assert_eq!(response.bytes().await.unwrap(), content(len));
    }
    // The same file is downloaded once.
    assert_eq!((default.count_of(&format!("/f/{WHEEL}")), torch.count_of(&format!("/f/{WHEEL}"))), (1, 0));
    assert_eq!(status(&proxy, &format!("/simple/demo/{OTHER}")).await, 404);
    let file = format!("/torch-cu128/simple/demo/{OTHER}");
    let head = send(&client(), Method::HEAD, format!("{}{file}", proxy.url), &[]).await;
    assert_eq!(head.headers()["content-length"], "2000");
    assert_eq!(get(&proxy, &file).await.bytes().await.unwrap(), content(2000));

    // Files by their path at the index; without a prefix, from the index that has them.
    for path in [format!("/torch-cu128/f/{OTHER}"), format!("/f/{OTHER}")] {
        assert_eq!(get(&proxy, &path).await.bytes().await.unwrap(), content(2000), "{path}");
    }
    assert_eq!(status(&proxy, &format!("/strict/f/{OTHER}")).await, 403);
    assert_eq!(status(&proxy, "/f/demo-3.0-py3-none-any.whl").await, 403);

    // Redirects are relative, and other paths have one spelling.
    for (path, to) in [
        ("/torch-cu128/simple", "simple/"),
        ("/torch-cu128/simple/Demo/", "../demo/"),
        ("/status/", "../status"),
    ] {
        assert_eq!(get(&proxy, path).await.headers()["location"], to, "{path}");
    }
    for path in [
        "/torch-cu128",
        "/torch-cu128/",
        "/torch-cu128/metrics",
        "/torch-cu128/status",
        "/torch-cu128/status/",
        "/torch-cu128/status.json",
        "/torch-cu128/livez",
        "/torch-cu128/readyz",
        "/torch-cu128/health",
        "//torch-cu128/simple/demo/",
        "/Torch-cu128/simple/demo/",
        "/torch%2dcu128/simple/demo/",
        "/torch-cu128/torch-cu128/simple/demo/",
        "/torch/simple/demo/",
        "/torch-cu128/cache",
    ] {
        assert_eq!(status(&proxy, path).await, 404, "{path}");
    }

    // Metrics, health and the status page have all indexes.
    let samples = crate::support::exposition::parse(&get(&proxy, "/metrics").await.text().await.unwrap());
    let requests = |index: &str| {
        samples
            [&format!("pypi_proxy_upstream_requests_total{{index=\"{index}\",kind=\"page\",code=\"2xx\"}}")]
    };
    assert!(requests("1") >= 1.0 && requests("torch-cu128/1") >= 1.0, "{samples:#?}");
    assert!(samples["pypi_proxy_pages"] >= 2.0);
    assert!(samples[r#"pypi_proxy_http_requests_total{route="project",code="2xx"}"#] >= 3.0, "{samples:#?}");
    assert!(samples[r#"pypi_proxy_http_requests_total{route="file",code="2xx"}"#] >= 3.0, "{samples:#?}");
    let health: Value =
        tightwire_json::from_slice(&get(&proxy, "/health").await.bytes().await.unwrap()).unwrap();
    let labels: Vec<_> =
        health["data"]["indexes"].as_array().unwrap().iter().map(|index| index["index"].clone()).collect();
    assert_eq!(labels, ["1", "strict/1", "torch-cu128/1"]);
    let page = get(&proxy, "/").await.text().await.unwrap();
    assert!(page.contains("torch-cu128: http://") && page.contains("torch-cu128: demo"), "{page}");

    let listed = "<td data-label=\"Project\">demo</td><td data-label=\"Index\">default, torch-cu128</td>";
    assert!(page.contains(listed), "{page}");

    // Purging affects one index, or all.
    let purge = async |path: &str| {
        let response = send(&client(), Method::DELETE, format!("{}{path}", proxy.url), &ADMIN).await;
        assert_eq!(response.status(), 200, "{path}");
    };
    let counts = || (default.count_of("/simple/demo/"), torch.count_of("/simple/demo/"));
    assert_eq!(counts(), (1, 1));
    purge("/torch-cu128/cache/demo").await;
    purge("/torch-cu128/cache").await;
    for path in ["/simple/demo/", "/torch-cu128/simple/demo/"] {
        assert_eq!(status(&proxy, path).await, 200, "{path}");
    }
    assert_eq!(counts(), (1, 2));
    purge("/cache").await;
    for path in ["/simple/demo/", "/torch-cu128/simple/demo/"] {
        assert_eq!(status(&proxy, path).await, 200, "{path}");
    }
    assert_eq!(counts(), (2, 3));
    purge(&format!("/torch-cu128/cache/demo/{OTHER}")).await;
    assert_eq!(get(&proxy, &file).await.headers()["x-cache"], "miss");
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_and_the_admin_token_apply_to_named_indexes() {
    let index = file_index([(WHEEL, content(1000))]);
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tokens"), "0123456789abcdef ci\n").unwrap();
    let url = index.url("/simple");
    let file = format!(
        "index_url = '{url}'\nadmin_token = 'secret'\nauth_tokens_file = '{}'\n[index.other]\nindex_url = '{url}'\n",
        dir.path().join("tokens").display()
    );
    let proxy = serve(dir.path(), &file).await;
    let code = async |method: Method, path: &str, token: &str| {
        let token = format!("Bearer {token}");
        let headers = [("authorization", &*token)];
        send(&client(), method, format!("{}{path}", proxy.url), &headers).await.status().as_u16()
    };
    for path in ["/other/simple/demo/", "/other/metrics"] {
        assert_eq!(code(Method::GET, path, "wrong").await, 401, "{path}");
    }
    assert_eq!(code(Method::GET, "/other/simple/demo/", "0123456789abcdef").await, 200);
    assert_eq!(code(Method::DELETE, "/other/cache", "0123456789abcdef").await, 401);
    assert_eq!(code(Method::DELETE, "/other/cache", "secret").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_index_may_be_offline_or_fail() {
    let index = file_index([(WHEEL, content(1000))]);
    let down = file_index([]);
    let dir = tempfile::tempdir().unwrap();
    let url = index.url("/simple");
    let set = |is_offline: bool| {
        format!(
            "index_url = '{url}'\nindex_ttl = 0\n[index.frozen]\nindex_url = '{}/'\noffline = {is_offline}\n\
             [index.down]\nindex_url = '{}'\nread_timeout = '1s'\n",
            url,
            down.url("/simple")
        )
    };
    let proxy = serve(dir.path(), &set(false)).await;
    assert_eq!(status(&proxy, "/frozen/simple/demo/").await, 200);
    assert_eq!(
        get(&proxy, &format!("/frozen/simple/demo/{WHEEL}")).await.bytes().await.unwrap(),
        content(1000)
    );
    proxy.kill().await;
    let address = down.address();
    down.stop().await;
    let proxy = serve(dir.path(), &set(true)).await;
    let requests = index.count();
    for (path, expected) in [
        ("/frozen/simple/demo/", 200),
        (&*format!("/frozen/simple/demo/{WHEEL}"), 200),
        ("/frozen/simple/other/", 504),
        ("/down/simple/demo/", 502),
    ] {
        assert_eq!(status(&proxy, path).await, expected, "{path}");
    }
    assert_eq!(index.count(), requests);
    assert_eq!(status(&proxy, "/simple/other/").await, 404);
    assert_eq!(status(&proxy, "/readyz").await, 200);
    let health = get(&proxy, "/health").await.text().await.unwrap();
    assert!(health.contains("index down/1 failed"), "{health}");
    drop(std::net::TcpListener::bind(address));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_named_index_protects_its_names() {
    let public = file_index([(WHEEL, content(1000))]);
    let private = file_index([(OTHER, content(2000))]);
    let dir = tempfile::tempdir().unwrap();
    let file = format!(
        "index_url = '{}'\n[index.company]\nindex_url = '{}'\nextra_index_urls = ['{}']\nprivate_indexes = [1]\n",
        public.url("/simple"),
        private.url("/simple"),
        public.url("/simple")
    );
    let proxy = serve(dir.path(), &file).await;
    assert_eq!(listed(&proxy, "/company/simple/demo/").await, [OTHER]);
    assert_eq!(status(&proxy, "/simple/demo/").await, 404);
    for path in ["/company/simple/demo", "/f", "/company/f"] {
        assert_eq!(status(&proxy, &format!("{path}/{WHEEL}")).await, 404, "{path}");
    }
    assert_eq!(get(&proxy, &format!("/f/{OTHER}")).await.bytes().await.unwrap(), content(2000));
    proxy.kill().await;
    private.stop().await;
    let proxy = serve(dir.path(), &file).await;
    // From the disk.
    assert_eq!(listed(&proxy, "/company/simple/demo/").await, [OTHER]);
    assert_eq!(status(&proxy, "/simple/demo/").await, 404);
    send(&client(), Method::DELETE, format!("{}/cache", proxy.url), &ADMIN).await;
    assert_eq!(status(&proxy, "/company/simple/demo/").await, 502);
    assert_eq!(status(&proxy, "/simple/demo/").await, 404);
    let (code, text) = run(dir.path(), &file, &["explain", "demo"]).await;
    assert!(code == Some(1) && !text.contains(WHEEL), "{code:?} {text}");
    assert_eq!(public.count(), 0);
    proxy.kill().await;
    // Claims that can't be read are an error at start.
    let claims = files_below(&dir.path().join("cache/claims"));
    assert_eq!(
        std::fs::read_to_string(&claims[0]).unwrap(),
        format!("# {}\ndemo\n", private.url("/simple/"))
    );
    std::fs::write(&claims[0], "a b\n").unwrap();
    let (code, text) = run(dir.path(), &file, &["serve"]).await;
    assert!(code == Some(1) && text.contains("line 1: expected a project name"), "{code:?} {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_cover_named_indexes() {
    let default = file_index([(WHEEL, content(1000))]);
    let torch = file_index([(OTHER, content(2000))]);
    let dir = tempfile::tempdir().unwrap();
    let secret = torch.url("/simple").replace("http://", "http://reader:hunter2@");
    let file = format!(
        "index_url = '{}'\nmin_age = '0s'\n[index.torch]\nindex_url = '{secret}'\nindex_ttl = '1d'\n",
        default.url("/simple")
    );
    let run = async |args: &[&str]| run(dir.path(), &file, args).await;
    let (code, text) = run(&["check"]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("ok    index torch: http://***@127.0.0.1") && !text.contains("hunter2"), "{text}");
    let (code, text) = run(&["config"]).await;
    assert!(code == Some(0) && text.contains("\n[index.torch], otherwise as above\nindex_url "), "{text}");
    assert!(
        text.contains("= http://***@127") && text.contains("= 1d\n") && !text.contains("hunter2"),
        "{text}"
    );
    let (code, text) = run(&["config", "--toml"]).await;
    assert!(code == Some(0) && text.contains("\n# [index.torch]\n") && !text.contains("hunter2"), "{text}");
    std::fs::write(dir.path().join("wanted.txt"), "demo\n").unwrap();
    let wanted = dir.path().join("wanted.txt");
    let (code, text) = run(&["warm", "--index", "torch", wanted.to_str().unwrap()]).await;
    assert!(code == Some(0) && text.starts_with("1 files"), "{text}");
    assert_eq!(
        (torch.count_of(&format!("/f/{OTHER}")), default.count()),
        (1, default.count_of("/simple/pip/") + default.count_of("/simple/"))
    );
    let (code, text) = run(&["warm", "--index", "no-such", wanted.to_str().unwrap()]).await;
    assert!(code == Some(2) && text.contains("there is no index no-such"), "{text}");
    // One URL must not have two users.
    let file = format!("{file}[index.other]\nindex_url = '{}'\n", torch.url("/simple/"));
    let (code, text) = self::run(dir.path(), &file, &["serve"]).await;
    assert!(code == Some(2) && text.contains("different users") && !text.contains("hunter2"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_lists_a_path_has_precedence() {
    let default = file_index([(WHEEL, content(1000))]);
    let torch = file_index([(OTHER, content(2000))]);
    let dir = tempfile::tempdir().unwrap();
    // The default index rejects files of unknown age, such as those that it does not list.
    let file = format!(
        "index_url = '{}'\nmin_age = '1d'\n[index.torch-cu128]\nindex_url = '{}'\nmin_age = '0'\n",
        default.url("/simple"),
        torch.url("/simple")
    );
    let proxy = serve(dir.path(), &file).await;
    assert_eq!(get(&proxy, &format!("/f/{OTHER}")).await.bytes().await.unwrap(), content(2000));
    assert_eq!(default.count_of(&format!("/f/{OTHER}")), 0);
    assert_eq!(status(&proxy, &format!("/f/{WHEEL}")).await, 403);
    assert_eq!(status(&proxy, "/f/demo-3.0-py3-none-any.whl").await, 403);
}
