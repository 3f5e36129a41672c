//! Files without SHA-256: other hashes are verified, and the content is bound to its index and URL.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA224, SHA256, SHA384, SHA512, digest};
use bytes::Bytes;

use crate::support::proxy::{RunningProxy, Setup, start, start_with};
use crate::support::source::content;
use crate::support::{HTML, JSON, Server, respond};

const WHEEL: &str = "demo-1.0-py3-none-any.whl";

/// Hash of some content. MD5 is only known for the content of these tests.
fn hash(algorithm: &str, content: &[u8]) -> String {
    let algorithm = match algorithm {
        "sha1" => &SHA1_FOR_LEGACY_USE_ONLY,
        "sha224" => &SHA224,
        "sha256" => &SHA256,
        "sha384" => &SHA384,
        "sha512" => &SHA512,
        _ if content == GOOD => return "900150983cd24fb0d6963f7d28e17f72".into(),
        _ => return "0".repeat(32),
    };
    digest(algorithm, content).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

const GOOD: &[u8] = b"abc";
const ALGORITHMS: [&str; 6] = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];

/// Index with one wheel and its metadata, listed with this page.
async fn index(page: impl Into<Bytes>, is_json: bool, file: &'static [u8]) -> (Server, RunningProxy) {
    let page = page.into();
    let server = Server::start(move |path, _| {
        let page = page.clone();
        async move {
            match &*path {
                "/simple/demo/" => respond(200, &[if is_json { JSON } else { HTML }], page),
                _ => respond(200, &[], file),
            }
        }
    })
    .await;
    let proxy = start(&[server.url("/simple")]).await;
    (server, proxy)
}

fn page(hashes: &serde_json::Value) -> String {
    let file =
        serde_json::json!({"filename": WHEEL, "url": "/f/a.whl", "hashes": hashes, "core-metadata": hashes});
    serde_json::json!({"files": [file]}).to_string()
}

/// Returns whether a file was sent completely and is stored.
async fn is_served(proxy: &RunningProxy, name: &str) -> bool {
    let response = proxy.get(&format!("/simple/demo/{name}"), &[]).await;
    let is_whole = response.status() == 200 && response.bytes().await.is_ok_and(|bytes| bytes == GOOD);
    assert_eq!(proxy.store.stats().files, u64::from(is_whole), "{name}");
    is_whole
}

#[tokio::test]
async fn every_hash_algorithm_is_verified() {
    for algorithm in ALGORITHMS {
        for (of, is_good) in [(GOOD, true), (&b"abd"[..], false)] {
            let hash = hash(algorithm, of);
            let html = format!("<a href=\"/f/{WHEEL}#{algorithm}={hash}\">x</a>");
            let (_server, proxy) = index(html, false, GOOD).await;
            assert_eq!(is_served(&proxy, WHEEL).await, is_good, "{algorithm} in HTML");
            let upper = serde_json::json!({algorithm: hash.to_uppercase()});
            for name in [WHEEL.to_owned(), format!("{WHEEL}.metadata")] {
                let (_server, proxy) = index(page(&upper), true, GOOD).await;
                assert_eq!(is_served(&proxy, &name).await, is_good, "{algorithm} of {name}");
            }
        }
    }
}

#[tokio::test]
async fn the_strongest_hash_is_verified() {
    for (at, weak) in ALGORITHMS.iter().enumerate() {
        for strong in &ALGORITHMS[at + 1..] {
            let hashes = serde_json::json!({*weak: hash(weak, GOOD), *strong: hash(strong, b"abd")});
            let (_server, proxy) = index(page(&hashes), true, GOOD).await;
            assert!(!is_served(&proxy, WHEEL).await, "{strong} beside {weak}");
            let hashes = serde_json::json!({*strong: hash(strong, GOOD), *weak: hash(weak, GOOD)});
            let (_server, proxy) = index(page(&hashes), true, GOOD).await;
            assert!(is_served(&proxy, WHEEL).await, "{strong} beside {weak}");
        }
    }
}

#[tokio::test]
async fn invalid_hashes_are_ignored() {
    for hashes in [
        serde_json::json!({}),
        serde_json::json!({"md5": "00"}),
        serde_json::json!({"blake2b": "00", "sha512": 7}),
        serde_json::json!({"sha1": "zz".repeat(20)}),
    ] {
        let (_server, proxy) = index(page(&hashes), true, GOOD).await;
        assert!(is_served(&proxy, WHEEL).await, "{hashes}");
    }
}

/// HTML pages contain hashes other than SHA-256, too.
#[tokio::test]
async fn html_pages_contain_the_hash() {
    let hash = hash("sha512", GOOD);
    let (_server, proxy) = index(page(&serde_json::json!({"sha512": hash})), true, GOOD).await;
    let html = proxy.get("/simple/demo/", &[("accept", "text/html")]).await.text().await.unwrap();
    assert!(html.contains(&format!("href=\"{WHEEL}#sha512={hash}\"")), "{html}");
    assert!(html.contains(&format!("data-core-metadata=\"sha512={hash}\"")), "{html}");
}

/// Index with a wheel without a hash, with content of this length at every URL.
async fn nameless(path: &'static str, len: usize) -> Server {
    Server::start(move |request, _| async move {
        match &*request {
            "/simple/demo/" => respond(200, &[HTML], format!("<a href=\"{path}/{WHEEL}\">x</a>")),
            _ => respond(200, &[], content(len)),
        }
    })
    .await
}

#[tokio::test]
async fn files_without_a_hash_are_bound_to_their_index() {
    let (first, second) = (nameless("/f", 100).await, nameless("/f", 200).await);
    let dir = tempfile::tempdir().unwrap();
    for (index, len) in [(&first, 100), (&second, 200), (&first, 100)] {
        let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
        let path = format!("/simple/demo/{WHEEL}");
        assert_eq!(proxy.get(&path, &[]).await.bytes().await.unwrap(), content(len));
        proxy.stop().await;
    }
    // The stored file is reused for its own index.
    assert_eq!(first.paths().iter().filter(|path| path.starts_with("/f/")).count(), 1);
}

#[tokio::test]
async fn files_without_a_hash_are_bound_to_their_url_and_page() {
    let number = Arc::new(AtomicUsize::new(0));
    let now = number.clone();
    // Each page lists another URL, or a hash with an unsupported algorithm.
    let server = Server::start(move |path, _| {
        let number = now.load(Ordering::Relaxed);
        async move {
            match &*path {
                "/simple/demo/" => {
                    let link = match number {
                        0 => format!("/f/{WHEEL}"),
                        1 => format!("/g/{WHEEL}"),
                        2 => format!("/g/{WHEEL}?token=2"),
                        _ => format!("/g/{WHEEL}?token=2#md5={}", hash("md5", GOOD)),
                    };
                    respond(200, &[HTML], format!("<a href=\"{link}\">x</a>"))
                }
                _ if number == 3 => respond(200, &[], GOOD),
                _ => respond(200, &[], content(100 + number)),
            }
        }
    })
    .await;
    let proxy = start_with(&[server.url("/simple")], Setup::always_revalidate).await;
    for at in 0..4 {
        number.store(at, Ordering::Relaxed);
        let expected = if at == 3 { Bytes::from_static(GOOD) } else { content(100 + at) };
        for _ in 0..2 {
            let path = format!("/simple/demo/{WHEEL}");
            assert_eq!(proxy.get(&path, &[]).await.bytes().await.unwrap(), expected, "{at}");
        }
    }
    let fetched = server.paths().iter().filter(|path| !path.starts_with("/simple/")).count();
    assert_eq!(fetched, 4);
}
