//! `healthcheck`.

use crate::deploy::index;
use crate::support::program::{run, serve};

#[tokio::test(flavor = "multi_thread")]
async fn it_tells_whether_the_proxy_of_the_same_settings_answers() {
    let dir = tempfile::tempdir().unwrap();
    let index = index().await;
    let served = serve(dir.path(), &[("PYPI_PROXY_INDEX_URL", &index.url("/simple/"))]).await;
    let address = served.url.strip_prefix("http://").unwrap().to_owned();
    // It is asked at an address that it listens at, whatever this machine has as a proxy for others.
    let all = address.replace("127.0.0.1", "0.0.0.0");
    for listen in [&address, &all] {
        let env = [("PYPI_PROXY_LISTEN", listen.as_str()), ("HTTP_PROXY", "http://127.0.0.1:1")];
        assert_eq!(run(dir.path(), &env, &["healthcheck"]).await, (0, String::new()));
    }
    served.kill().await;
    let (code, text) = run(dir.path(), &[], &["healthcheck", "--listen", &address]).await;
    assert_eq!(code, 1, "{text}");
    assert!(text.contains(&format!("no response from {address}")), "{text}");
    assert_eq!(run(dir.path(), &[], &["healthcheck", "--listen", "nowhere:x"]).await.0, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn over_tls_it_asks_for_no_name() {
    let dir = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["packages.example.org".to_owned()]).unwrap();
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let index = index().await;
    let url = index.url("/simple/");
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_TLS_CERT", &cert), ("PYPI_PROXY_TLS_KEY", &key)];
    let served = serve(dir.path(), &env).await;
    let address = served.url.strip_prefix("http://").unwrap();
    let health = run(dir.path(), &env, &["healthcheck", "--listen", address]).await;
    assert_eq!(health, (0, String::new()));
    served.kill().await;
}
