//! Two instances behind nginx with the configuration in `docs/deploy`.

use std::path::Path;
use std::process::Stdio;

use reqwest::StatusCode;
use tokio::process::{Child, Command};

use crate::deploy::{WHEEL, file, has, index, wheel};
use crate::support::prelude::*;
use crate::support::program::serve;

/// Starts nginx in front of two addresses. Returns its process and address.
async fn start(dir: &Path, instances: [&str; 2]) -> (Child, String) {
    let address = free_address();
    let text = file("nginx/nginx.conf")
        .replace("/tmp/", &format!("{}/", dir.display()))
        .replace("proxy-1:5000", instances[0])
        .replace("proxy-2:5000", instances[1])
        .replace("listen 8080;", &format!("listen {address};"));
    let path = dir.join("nginx.conf");
    std::fs::write(&path, text).unwrap();
    let mut command = Command::new("nginx");
    // A single process in the foreground.
    command
        .args(["-g", "daemon off; master_process off;", "-e", "error.log", "-p"])
        .arg(dir)
        .arg("-c")
        .arg(path);
    let child = command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    until("nginx listens", async || tokio::net::TcpStream::connect(address).await.is_ok()).await;
    (child, format!("http://{address}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_an_instance_fails_no_request() {
    if !has("nginx", "stopping_an_instance_fails_no_request") {
        return;
    }
    let index = index();
    let url = index.url("/simple/");
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let mut instances = Vec::new();
    for dir in &dirs[..2] {
        instances.push(serve(dir.path(), &[("PYPI_PROXY_INDEX_URL", &url)]).await);
    }
    let hosts = [0, 1].map(|at: usize| instances[at].address());
    let (_nginx, front) = start(dirs[2].path(), hosts).await;
    let client = reqwest::Client::new();
    for round in 0..3 {
        for _ in 0..10 {
            let response = client.get(format!("{front}/simple/demo/{WHEEL}")).send().await.unwrap();
            match round {
                0 | 1 => {
                    assert_eq!(response.status(), StatusCode::OK);
                    assert!(response.bytes().await.unwrap() == wheel());
                }
                _ => assert_eq!(response.status(), StatusCode::BAD_GATEWAY),
            }
        }
        if let Some(instance) = instances.pop() {
            instance.kill().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_can_listen_on_unix_sockets() {
    if !has("nginx", "instances_can_listen_on_unix_sockets") {
        return;
    }
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let (url, listen) = (index.url("/simple/"), format!("unix:{}/s", dir.path().display()));
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_LISTEN", &listen)];
    let _instance = serve(dir.path(), &env).await;
    let (_nginx, front) = start(dir.path(), [&listen, &listen]).await;
    for path in ["/simple/demo/", &format!("/simple/demo/{WHEEL}"), &format!("/simple/demo/{WHEEL}")] {
        let response = reqwest::get(format!("{front}{path}")).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert!(path.ends_with('/') || response.bytes().await.unwrap() == wheel());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_get_the_client_address() {
    if !has("nginx", "instances_get_the_client_address") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let instance = Server::start(|_| respond(200, &[], ""));
    let host = instance.address().to_string();
    let (_nginx, front) = start(dir.path(), [&host, &host]).await;
    let client = reqwest::Client::new();
    let send = |method: Method, path: &str| client.request(method, format!("{front}{path}")).send();
    assert_eq!(send(Method::GET, "/simple/").await.unwrap().status(), StatusCode::OK);
    let headers = instance.last();
    assert_eq!(headers["x-forwarded-for"], "127.0.0.1");
    assert_eq!(headers["x-forwarded-proto"], "http");
    assert_eq!(headers["host"], front.strip_prefix("http://").unwrap());
    assert!(!headers.contains_key("connection"));
    // Endpoints about a single instance are not available through the load balancer.
    let paths = "/ /metrics /status /status.json /health /cache /cache/demo //metrics /metrics/ /%6detrics \
        /status/ /status.json/ //cache/demo /%63ache/demo";
    for path in paths.split(' ') {
        assert_eq!(send(Method::GET, path).await.unwrap().status(), StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(send(Method::DELETE, "/cache").await.unwrap().status(), StatusCode::NOT_FOUND);
    assert_eq!(instance.count(), 1);
}
