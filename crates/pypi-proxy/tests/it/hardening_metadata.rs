//! Pages list extracted metadata only if it can be served.

use rawzip::CompressionMethod;

use crate::support::proxy::{RunningProxy, start_with};
use crate::support::source::{content, digest_of};
use crate::support::wheel::archive;
use crate::support::{HTML, JSON, Server, hashed_page, respond, until};

const TEXT: &[u8] = b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n";
const GOOD: &str = "demo-1.0-py3-none-any.whl";
const BAD: &str = "demo-2.0-py3-none-any.whl";

fn wheel(name: &str) -> Vec<u8> {
    match name {
        GOOD => archive(&[("demo-1.0.dist-info/METADATA", TEXT)], CompressionMethod::DEFLATE),
        _ => content(5000).to_vec(),
    }
}

/// Index with a valid and an invalid wheel, in JSON or HTML, without metadata.
async fn index(is_json: bool) -> Server {
    Server::start(move |path, _| async move {
        match path.strip_prefix("/f/") {
            Some(name @ (GOOD | BAD)) => respond(200, &[], wheel(name)),
            Some(_) => respond(404, &[], ""),
            None if is_json => {
                respond(200, &[JSON], hashed_page([GOOD, BAD].map(|name| (name, wheel(name).into()))))
            }
            None => {
                let link =
                    |name: &str| format!("<a href=\"/f/{name}#sha256={}\">x</a>", digest_of(&wheel(name)));
                respond(200, &[HTML], link(GOOD) + &link(BAD))
            }
        }
    })
    .await
}

/// Starts a proxy that revalidates on every request.
async fn start(index: &Server, wheel_metadata: bool) -> RunningProxy {
    start_with(&[index.url("/simple")], |setup| {
        setup.always_revalidate();
        setup.pages.wheel_metadata = wheel_metadata;
    })
    .await
}

/// Returns the `core-metadata` fields of both files.
async fn listed_metadata(proxy: &RunningProxy) -> [serde_json::Value; 2] {
    let page = proxy.json("/simple/demo/", &[("accept", "application/vnd.pypi.simple.v1+json")]).await;
    [0, 1].map(|at| page["files"][at]["core-metadata"].clone())
}

async fn get(proxy: &RunningProxy, name: &str) -> (u16, Vec<u8>) {
    let response = proxy.get(&format!("/simple/demo/{name}"), &[]).await;
    (response.status().as_u16(), response.bytes().await.unwrap().to_vec())
}

#[tokio::test]
async fn pages_list_extracted_metadata() {
    for is_json in [true, false] {
        let index = index(is_json).await;
        let proxy = start(&index, true).await;
        assert_eq!(listed_metadata(&proxy).await, [serde_json::Value::Null, serde_json::Value::Null]);
        for name in [BAD, GOOD] {
            assert_eq!(get(&proxy, name).await, (200, wheel(name)));
        }
        let fetched = index.count();
        let expected = serde_json::json!({"sha256": digest_of(TEXT).to_string()});
        until("metadata is listed", async || listed_metadata(&proxy).await[0] == expected).await;
        // All listed metadata is available, extracted from the stored wheel.
        assert_eq!(get(&proxy, &format!("{GOOD}.metadata")).await, (200, TEXT.to_vec()));
        assert!(!index.paths()[fetched..].iter().any(|path| path.starts_with("/f/")));
        // Unreadable metadata is not listed, and is no error of the proxy.
        assert_eq!(listed_metadata(&proxy).await[1], serde_json::Value::Null);
        assert_eq!(get(&proxy, &format!("{BAD}.metadata")).await.0, 404);
        let html = proxy.get("/simple/demo/", &[("accept", "text/html")]).await.text().await.unwrap();
        assert!(html.contains(&format!("data-core-metadata=\"sha256={}\"", digest_of(TEXT))), "{html}");
        assert_eq!(html.matches("data-core-metadata").count(), 1);
        // A wheel that was stored before is searched at the next request, once.
        for _ in 0..3 {
            get(&proxy, BAD).await;
        }
        assert_eq!(proxy.store.stats().corrupt, 0);
    }
}

#[tokio::test]
async fn without_the_setting_no_metadata_is_extracted() {
    let index = index(true).await;
    let proxy = start(&index, false).await;
    assert_eq!(get(&proxy, GOOD).await, (200, wheel(GOOD)));
    for _ in 0..3 {
        assert!(listed_metadata(&proxy).await.iter().all(serde_json::Value::is_null));
    }
    for name in [GOOD, BAD] {
        assert_eq!(get(&proxy, &format!("{name}.metadata")).await.0, 404);
    }
}
