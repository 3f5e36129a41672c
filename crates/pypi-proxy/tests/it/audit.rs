//! The log of refusals that matter for security, as lines in JSON of the program.
#![cfg(feature = "cli")]

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustix::process::Signal;

use crate::support::prelude::*;
use crate::support::program::{Served, serve};
use crate::support::proxy::{client, send};

/// The password is `secret`.
const USERS: &str = "ann:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";
const BAD: &str = "demo-1.0-py3-none-any.whl";

/// Index with a file that has another hash than its page says, and a file on a private host.
fn index() -> Server {
    Server::start(|request| match &*request.path {
        "/simple/demo/" => {
            let elsewhere = json!({"filename": "demo-2.0.tar.gz", "url": "http://10.0.0.1/demo-2.0.tar.gz", "hashes": {}});
            respond(200, &[JSON], page_of(&[listed(BAD, &content(1000)), elsewhere]))
        }
        "/f/demo-1.0-py3-none-any.whl" => respond(200, &[], content(1001).slice(1..)),
        _ => respond(404, &[], ""),
    })
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

async fn get(proxy: &Served, method: Method, path: &str, authorization: Option<&str>) -> u16 {
    let headers: Vec<_> = authorization.map(|value| ("authorization", value)).into_iter().collect();
    let response = send(&client(), method, format!("{}{path}", proxy.url), &headers).await;
    let status = response.status().as_u16();
    // A file with a wrong hash ends early.
    let _ = response.bytes().await;
    status
}

/// Waits for an event of this kind about this path or file.
async fn event(proxy: &mut Served, kind: &str, about: &str) -> Value {
    let event = proxy.event(|event| {
        let is_about = event["path"] == about || event["file"] == about;
        event["target"] == "pypi_proxy::audit" && event["event"] == kind && is_about
    });
    let event = event.await;
    assert_eq!((&event["level"], &event["message"]), (&"WARN".into(), &"refused".into()), "{event}");
    assert!(event["suppressed"].is_u64(), "{event}");
    event
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_logged_with_client_user_and_rule() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let users = dir.path().join("users");
    std::fs::write(&users, USERS).unwrap();
    let (url, users) = (index.url("/simple/"), users.display().to_string());
    let env = [
        ("PYPI_PROXY_INDEX_URL", &*url),
        ("PYPI_PROXY_AUTH_HTPASSWD_FILE", &users),
        ("PYPI_PROXY_ADMIN_TOKEN", "hunter2"),
        ("PYPI_PROXY_DENY_PROJECTS", "denied"),
        ("PYPI_PROXY_ACCESS_LOG", "false"),
    ];
    let mut proxy = serve(dir.path(), &env).await;
    let (ann, file) = (basic("ann", "secret"), format!("/simple/demo/{BAD}"));
    let client = |event: &Value| assert_eq!(event["client"], "127.0.0.1", "{event}");

    // A request without a login is no failed login.
    assert_eq!(get(&proxy, Method::GET, "/simple/first/", None).await, 401);
    assert_eq!(
        get(&proxy, Method::GET, "/simple/demo/?token=hunter3", Some(&basic("ann", "hunter4"))).await,
        401
    );
    let login = event(&mut proxy, "login", "/simple/demo/").await;
    assert_eq!((&login["user"], &login["rule"]), (&"ann".into(), &"login".into()));
    client(&login);
    // An unknown user name may be a token in the wrong place.
    for wrong in [basic("hunter5", ""), "Bearer hunter6".to_owned(), "hunter7".to_owned()] {
        let path = format!("/simple/login-{}/", wrong.len());
        assert_eq!(get(&proxy, Method::GET, &path, Some(&wrong)).await, 401);
        assert!(event(&mut proxy, "login", &path).await.get("user").is_none());
    }

    assert_eq!(get(&proxy, Method::GET, "/simple/denied/", Some(&ann)).await, 403);
    let rule = event(&mut proxy, "rule", "/simple/denied/").await;
    assert_eq!((&rule["user"], &rule["rule"]), (&"ann".into(), &"deny_projects".into()));
    client(&rule);

    assert_eq!(get(&proxy, Method::DELETE, "/cache/demo", Some("Bearer hunter8")).await, 401);
    client(&event(&mut proxy, "purge", "/cache/demo").await);

    assert_eq!(get(&proxy, Method::GET, "/simple/demo/demo-2.0.tar.gz", Some(&ann)).await, 403);
    let host = event(&mut proxy, "file_host", "/simple/demo/demo-2.0.tar.gz").await;
    assert_eq!(host["user"], "ann");
    client(&host);

    get(&proxy, Method::GET, &file, Some(&ann)).await;
    let hash = event(&mut proxy, "hash", &format!("demo/{BAD}")).await;
    assert_eq!(hash["rule"], "its hash does not match");

    let log = proxy.end(Signal::TERM).await;
    assert!(!log.contains("hunter") && !log.contains("/simple/first/"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_limits_and_purges_without_a_token_are_logged() {
    let (index, dir) = (index(), tempfile::tempdir().unwrap());
    let url = index.url("/simple/");
    let env = [
        ("PYPI_PROXY_INDEX_URL", &*url),
        ("PYPI_PROXY_RATE_LIMIT", "1"),
        ("PYPI_PROXY_RATE_LIMIT_BURST", "1"),
        ("PYPI_PROXY_TRUSTED_PROXIES", "127.0.0.0/8"),
    ];
    let mut proxy = serve(dir.path(), &env).await;
    let from = async |method: Method, path: &str, address: &str| {
        let url = format!("{}{path}", proxy.url);
        send(&client(), method, url, &[("x-forwarded-for", address)]).await.status().as_u16()
    };
    assert_eq!(from(Method::DELETE, "/cache", "192.0.2.1").await, 403);
    until("the limit is exceeded", async || from(Method::GET, "/simple/x/", "192.0.2.2").await == 429).await;
    let purge = event(&mut proxy, "purge", "/cache").await;
    assert_eq!((&purge["client"], &purge["rule"]), (&"192.0.2.1".into(), &"purge".into()));
    let rate = event(&mut proxy, "rate_limit", "/simple/x/").await;
    assert_eq!((&rate["client"], &rate["rule"]), (&"192.0.2.2".into(), &"rate".into()));
    proxy.kill().await;
}
