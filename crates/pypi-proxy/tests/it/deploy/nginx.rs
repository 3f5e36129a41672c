//! Two instances behind nginx with the configuration of `docs/deploy`.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use tokio::process::{Child, Command};

use crate::deploy::{WHEEL, file, free_address, has, index, wheel};
use crate::support::program::serve;
use crate::support::{Server, answer};

/// nginx in front of two addresses, and where.
async fn start(dir: &Path, instances: [&str; 2]) -> (Child, String) {
    let address = free_address();
    let text = file("nginx/nginx.conf")
        .replace("proxy-1:5000", instances[0])
        .replace("proxy-2:5000", instances[1])
        .replace("listen 8080;", &format!("listen {address};"))
        .replace("/tmp/", &format!("{}/", dir.display()));
    let path = dir.join("nginx.conf");
    std::fs::write(&path, text).unwrap();
    let mut command = Command::new("nginx");
    // One process, which ends when it is told to.
    command
        .args(["-g", "daemon off; master_process off;", "-e", "error.log", "-p"])
        .arg(dir)
        .arg("-c")
        .arg(path);
    let child = command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    for _ in 0..600 {
        if tokio::net::TcpStream::connect(address).await.is_ok() {
            return (child, format!("http://{address}"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nginx does not listen: {:?}", std::fs::read_to_string(dir.join("error.log")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_goes_is_not_noticed() {
    if !has("nginx", "an_instance_that_goes_is_not_noticed") {
        return;
    }
    let index = index().await;
    let url = index.url("/simple/");
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let mut instances = Vec::new();
    for dir in &dirs[..2] {
        instances.push(serve(dir.path(), &[("PYPI_PROXY_INDEX_URL", &url)]).await);
    }
    let hosts = [0, 1].map(|at: usize| instances[at].url.strip_prefix("http://").unwrap());
    let (_nginx, front) = start(dirs[2].path(), hosts).await;
    let client = reqwest::Client::new();
    for round in 0..3 {
        for _ in 0..10 {
            let answer = client.get(format!("{front}/simple/demo/{WHEEL}")).send().await.unwrap();
            match round {
                0 | 1 => {
                    assert_eq!(answer.status(), StatusCode::OK);
                    assert!(answer.bytes().await.unwrap() == wheel());
                }
                _ => assert_eq!(answer.status(), StatusCode::BAD_GATEWAY),
            }
        }
        if let Some(instance) = instances.pop() {
            instance.kill().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_learn_whose_request_it_is() {
    if !has("nginx", "instances_learn_whose_request_it_is") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let instance = Server::start(|_, _| async { answer(200, &[], "") }).await;
    let host = instance.address().to_string();
    let (_nginx, front) = start(dir.path(), [&host, &host]).await;
    let client = reqwest::Client::new();
    let ask = |method: Method, path: &str| client.request(method, format!("{front}{path}")).send();
    assert_eq!(ask(Method::GET, "/simple/").await.unwrap().status(), StatusCode::OK);
    let headers = instance.last();
    assert_eq!(headers["x-forwarded-for"], "127.0.0.1");
    assert_eq!(headers["x-forwarded-proto"], "http");
    assert_eq!(headers["host"], front.strip_prefix("http://").unwrap());
    assert!(!headers.contains_key("connection"));
    // What is about one instance is not told through the balancer.
    let paths = ["/", "/metrics", "/status", "/status.json", "/health", "/cache", "/cache/demo"];
    let spellings = [
        "//metrics",
        "/metrics/",
        "/%6detrics",
        "/status/",
        "/status.json/",
        "//cache/demo",
        "/%63ache/demo",
    ];
    for path in paths.into_iter().chain(spellings) {
        assert_eq!(ask(Method::GET, path).await.unwrap().status(), StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(ask(Method::DELETE, "/cache").await.unwrap().status(), StatusCode::NOT_FOUND);
    assert_eq!(instance.count(), 1);
}
