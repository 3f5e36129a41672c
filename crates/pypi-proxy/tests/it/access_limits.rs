//! Rate limits, and identification of clients behind trusted proxies.

use std::time::Instant;

use pypi_proxy::guard::{self, Guard};
use reqwest::Version;

use crate::support::proxy::{RunningProxy, start_with};
use crate::support::{Server, respond};

async fn proxy(config: guard::Config) -> (Server, RunningProxy) {
    let index = Server::start(|_, _| async { respond(404, &[], "") }).await;
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.serve.guard = Some(Guard::new(config).unwrap().into());
    })
    .await;
    (index, proxy)
}

/// Sends `count` requests with these headers and returns the number of successful responses.
async fn answered(proxy: &RunningProxy, count: usize, headers: &[(&str, &str)]) -> usize {
    let mut answered = 0;
    for _ in 0..count {
        let response = proxy.get("/status.json", headers).await;
        match response.status().as_u16() {
            200 => answered += 1,
            429 => {
                let wait: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
                assert_eq!(wait, 1);
                assert!(response.text().await.unwrap().contains("too many requests"));
            }
            other => panic!("{other}"),
        }
    }
    answered
}

const BURST: usize = 20;

fn limited() -> guard::Config {
    guard::Config { rate_limit: Some((1, BURST as u32)), ..guard::Config::default() }
}

/// Maximum successful requests of a client that started at this time, independent of the speed of the machine.
fn most(started: Instant) -> usize {
    BURST + 1 + usize::try_from(started.elapsed().as_secs()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_above_the_rate_limit_get_429() {
    let (_index, proxy) = proxy(limited()).await;
    let started = Instant::now();
    let mut count = answered(&proxy, 100, &[]).await;
    assert!((BURST..=most(started)).contains(&count), "{count}");
    // Over every protocol, and whatever address the client claims.
    let client = reqwest::Client::builder().http2_prior_knowledge().build().unwrap();
    for _ in 0..50 {
        let response = client.get(proxy.url("/simple/demo/")).send().await.unwrap();
        assert_eq!(response.version(), Version::HTTP_2);
        count += usize::from(response.status() != 429);
    }
    count += answered(&proxy, 50, &[("x-forwarded-for", "192.0.2.7")]).await;
    count += answered(&proxy, 50, &[("x-forwarded-for", "192.0.2.7"), ("te", "trailers")]).await;
    assert!(count <= most(started), "{count}");
    for _ in 0..50 {
        assert_eq!(proxy.get("/livez", &[]).await.status(), 200);
        assert_ne!(proxy.get("/readyz", &[]).await.status(), 429);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trusted_proxies_forward_the_client_address() {
    let (_index, proxy) =
        proxy(guard::Config { trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()], ..limited() }).await;
    let started = Instant::now();
    for address in ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"] {
        let mut count = answered(&proxy, BURST, &[("x-forwarded-for", address)]).await;
        assert_eq!(count, BURST, "{address}");
        // An address forged by the client precedes the one that the proxy has appended, in one header line or two.
        let spoofed = format!("198.51.100.1, {address}");
        // The second variant is handled by hyper.
        for more in [
            &[("x-forwarded-for", address)][..],
            &[("x-forwarded-for", address), ("te", "trailers")],
            &[("x-forwarded-for", &spoofed)],
            &[("x-forwarded-for", "198.51.100.1"), ("x-forwarded-for", address)],
        ] {
            count += answered(&proxy, 20, more).await;
        }
        assert!(count <= most(started), "{address} {count}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn users_have_separate_rate_limits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tokens");
    std::fs::write(&path, "0123456789-first one\n0123456789-second two\n0123456789-third one\n").unwrap();
    let (_index, proxy) = proxy(guard::Config { tokens_file: Some(path), ..limited() }).await;
    // Failed logins are limited by address, which does not affect users.
    let started = Instant::now();
    let mut guessed = 0;
    for _ in 0..60 {
        let response = proxy.get("/simple/demo/", &[("authorization", "Bearer 0123456789-other")]).await;
        guessed += usize::from(response.status() == 401);
    }
    assert!((BURST..=most(started)).contains(&guessed), "{guessed}");
    let mut first = answered(&proxy, 40, &[("authorization", "Bearer 0123456789-first")]).await;
    assert!(first >= BURST, "{first}");
    assert_eq!(answered(&proxy, BURST, &[("authorization", "Bearer 0123456789-second")]).await, BURST);
    // Another token of the same owner shares the limit.
    first += answered(&proxy, 40, &[("authorization", "Bearer 0123456789-third")]).await;
    assert!(first <= most(started), "{first}");
}
