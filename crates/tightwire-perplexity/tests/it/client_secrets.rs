//! Secrets: API keys and other confidential parts of requests are never shown.
#![cfg(feature = "client")]

use http::Method;
use tightwire_perplexity::{Client, Connect, Proxy};

use crate::support;
use crate::support::{KEY, Script, Step};

#[tokio::test(start_paused = true)]
async fn key_does_not_appear_in_debug_output_and_errors() {
    let echo =
        r#"{"error":{"message":"no such key: pplx-s3cret","type":"pplx-s3cret","code":"pplx-s3cret"}}"#;
    let script = Script::new([
        Step::status(401, &[], echo),
        Step::ok("pplx-s3cret"),
        Step::pieces(["data: {pplx-s3cret\n\n"]),
        Step::pieces(["event: error\ndata: {\"error\":{\"message\":\"no such key: pplx-s3cret\"}}\n\n"]),
        Step::pieces(["data: 1\n\n"]),
        Step::status(200, &[("set-cookie", KEY)], "1"),
    ]);
    let builder = script.builder().default_header("x-secret", KEY).default_query("token", KEY);
    let proxy = Proxy::Url(format!("http://user:{KEY}@example.org"));
    let mut seen = format!("{builder:?} {:?}", Connect { proxy, ..Default::default() });
    let client = builder.base_url(format!("https://user:{KEY}@example.org/?k={KEY}")).build().unwrap();
    let call = || client.request(Method::GET, "/x").header("x-other", KEY).query("q", KEY).max_retries(0);
    seen += &format!("{client:?} {:?} {:?}", call(), client.to_builder());
    for _ in 0..2 {
        let error = call().await.unwrap_err();
        seen += &format!("{error} {error:?} {:?}", error.message());
    }
    for _ in 0..2 {
        let mut stream = call().events::<tightwire_json::Value>().await.unwrap();
        let error = stream.next().await.unwrap().unwrap_err();
        seen += &format!("{error} {error:?} {:?} {stream:?}", error.message());
    }
    let stream = call().events::<tightwire_json::Value>().await.unwrap();
    seen += &format!("{:?}", stream.text());
    seen += &format!("{:?}", call().raw().await.unwrap());
    assert!(!seen.contains(KEY), "{seen}");
    assert_eq!(script.left(), 0);
}

#[tokio::test]
async fn transport_errors_do_not_contain_the_url() {
    let (_taken, address) = support::refusing();
    // Bypass proxies of the environment, which cannot reach the loopback interface.
    let connect = Connect { proxy: Proxy::None, ..Connect::default() };
    let client = Client::builder()
        .without_environment()
        .api_key(KEY)
        .base_url(format!("http://user:{KEY}@{address}/?k={KEY}"))
        .connect(connect)
        .max_retries(0)
        .build()
        .unwrap();
    let error = client.request(Method::GET, "/x").await.unwrap_err();
    assert!(error.is_connection());
    let text = support::chain(&error);
    assert!(!text.contains(KEY) && !text.contains("user"), "{text}");
}

#[test]
fn malformed_secrets_do_not_appear_in_errors() {
    let builder = || Client::builder().without_environment();
    for error in [
        builder().api_key("s3cret\u{1}").build().unwrap_err(),
        builder().api_key("k").base_url("s3cret://x").build().unwrap_err(),
        builder().api_key("k").base_url("http://user:s3cret@[x/").build().unwrap_err(),
        builder().api_key("k").default_header("x", "s3cret\n").build().unwrap_err(),
        builder().api_key("k").default_header("s3 cret", "").build().unwrap_err(),
    ] {
        let text = format!("{error} {error:?}");
        assert!(!text.contains("s3cret"), "{text}");
    }
}
