//! Requests to an index, and validation of its responses.

use std::time::Duration;

use futures_util::TryStreamExt;
use pypi_proxy::upstream::{Config, PageResponse, Upstream, Validators};
use pypi_proxy::{Error, ProjectName};

use crate::support;
use crate::support::proxy::TIMEOUT;
use crate::support::{JSON, Server, page, respond};

fn six() -> ProjectName {
    ProjectName::parse("six").unwrap()
}

fn upstream(url: &str) -> Upstream {
    let mut config = Config::new(url).unwrap();
    config.read_timeout = TIMEOUT;
    Upstream::new(config).unwrap()
}

async fn collect(body: Result<pypi_proxy::upstream::FileBody, Error>) -> Result<Vec<u8>, Error> {
    body?
        .try_fold(Vec::new(), |mut all, chunk| async move {
            all.extend_from_slice(&chunk);
            Ok(all)
        })
        .await
}

#[tokio::test]
async fn credentials_are_sent_only_to_the_index() {
    let files = Server::start(|_, _| async { respond(200, &[], "file") }).await;
    let elsewhere = files.url("/f/six.whl");
    let index = Server::start(move |path, _| {
        let elsewhere = elsewhere.clone();
        async move {
            match &*path {
                "/simple/six/" => respond(200, &[JSON], page("six", &[])),
                "/moved.whl" => respond(302, &[("location", &elsewhere)], ""),
                _ => respond(200, &[], "own"),
            }
        }
    })
    .await;
    let url = index.url("/simple").replace("http://", "http://us%40er:se%3Acret@");
    let upstream = upstream(&url);
    let page = upstream.page(Some(&six()), &Validators::default()).await.unwrap();
    assert!(matches!(page, PageResponse::Page(_)));
    // us@er:se:cret
    assert_eq!(index.last()["authorization"], "Basic dXNAZXI6c2U6Y3JldA==");
    assert!(index.last()["accept"].to_str().unwrap().starts_with("application/vnd.pypi.simple.v1+json"));
    let own = upstream.resolve(&six(), "/own.whl").unwrap();
    assert_eq!(collect(upstream.file(&own, 0, &Validators::default()).await).await.unwrap(), b"own");
    assert!(index.last().contains_key("authorization"));
    assert_eq!(index.last()["accept-encoding"], "identity");
    for link in [files.url("/f/six.whl"), index.url("/moved.whl")] {
        let url = upstream.resolve(&six(), &link).unwrap();
        assert_eq!(collect(upstream.file(&url, 0, &Validators::default()).await).await.unwrap(), b"file");
        assert!(!files.last().contains_key("authorization"), "{link}");
    }
    assert!(!format!("{upstream:?}").contains("cret"));
    assert!(!format!("{:?} {0}", Config::new(&url).unwrap()).contains("cret"));
}

#[test]
fn invalid_index_urls_are_rejected_without_printing_the_password() {
    for url in [
        "",
        "six",
        "ftp://u:secret@example.org/",
        "http://",
        "file:///simple",
        "https://u:secret@:0/",
        "/simple",
    ] {
        let error = Config::new(url).unwrap_err();
        assert!(error.is_config());
        assert!(!format!("{error} {error:?}").contains("secret"));
    }
    assert_eq!(Config::new("HTTP://Example.org/a/b?x=1#y").unwrap().to_string(), "http://example.org/a/b/");
    for pem in ["no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let mut config = Config::new("https://example.org").unwrap();
        config.authorities.push(pem.into());
        assert!(Upstream::new(config).unwrap_err().is_config(), "{pem}");
    }
}

#[test]
fn urls_are_resolved_against_the_page() {
    let upstream = upstream("https://example.org/base/simple");
    let resolve = |url: &str| upstream.resolve(&six(), url).map(|url| url.to_string());
    assert_eq!(resolve("six-1.0.whl").unwrap(), "https://example.org/base/simple/six/six-1.0.whl");
    assert_eq!(resolve("../../f/six-1.0.whl").unwrap(), "https://example.org/base/f/six-1.0.whl");
    assert_eq!(resolve("//files.example.org/x").unwrap(), "https://files.example.org/x");
    assert!(resolve("http://files.example.org/x").unwrap_err().is_forbidden());
    assert!(resolve("https://127.0.0.1/x").unwrap_err().is_forbidden());
    assert!(resolve("https://[x/").unwrap_err().is_upstream());
}

#[tokio::test]
async fn downloads_resume_only_if_the_validators_match() {
    let server = Server::start(|path, headers| async move {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(text("range").as_deref(), Some("bytes=4-"));
        assert_eq!(text("if-range").as_deref(), (path != "/weak").then_some("\"v1\""));
        match &*path {
            "/changed" => respond(200, &[("etag", "\"v2\"")], "new content"),
            _ => respond(206, &[("content-range", "bytes 4-9/10"), ("etag", "\"v1\"")], "456789"),
        }
    })
    .await;
    let upstream = upstream(&server.url("/simple"));
    let known = Validators { etag: Some("\"v1\"".into()), last_modified: None };
    let body = upstream.file(&server.url("/same").parse().unwrap(), 4, &known).await.unwrap();
    assert_eq!((body.start, body.len, body.validators.clone()), (4, Some(10), known.clone()));
    assert_eq!(collect(Ok(body)).await.unwrap(), b"456789");
    let body = upstream.file(&server.url("/changed").parse().unwrap(), 4, &known).await.unwrap();
    assert_eq!((body.start, body.len), (0, Some(11)));
    let weak = Validators { etag: Some("W/\"v1\"".into()), last_modified: None };
    upstream.file(&server.url("/weak").parse().unwrap(), 4, &weak).await.unwrap();
}

#[tokio::test]
async fn a_silent_index_times_out() {
    let server = Server::start(|_, _| std::future::pending::<http::Response<support::Body>>()).await;
    let mut config = Config::new(&server.url("/simple")).unwrap();
    config.read_timeout = Duration::from_millis(200);
    let error = Upstream::new(config).unwrap().page(None, &Validators::default()).await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    server.stop().await;
    let error = upstream(&server.url("/simple")).page(None, &Validators::default()).await.unwrap_err();
    assert!(error.is_upstream(), "{error:?}");
    assert!(!format!("{error:?}").contains("/simple"), "{error:?}");
}
