//! The command `healthcheck`.

use crate::deploy::index;
use crate::support::program::{run, serve};

#[tokio::test(flavor = "multi_thread")]
async fn healthcheck_reports_whether_the_proxy_responds() {
    let dir = tempfile::tempdir().unwrap();
    let index = index().await;
    let served = serve(dir.path(), &[("PYPI_PROXY_INDEX_URL", &index.url("/simple/"))]).await;
    let address = served.address().to_owned();
    // It connects directly to a listening address, ignoring the HTTP proxy settings of this machine.
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
async fn healthcheck_over_tls_needs_no_name() {
    let dir = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["packages.example.org".to_owned()]).unwrap();
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let index = index().await;
    let url = index.url("/simple/");
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_TLS_CERT", &cert), ("PYPI_PROXY_TLS_KEY", &key)];
    let served = serve(dir.path(), &env).await;
    let address = served.address();
    let health = run(dir.path(), &env, &["healthcheck", "--listen", address]).await;
    assert_eq!(health, (0, String::new()));
}
