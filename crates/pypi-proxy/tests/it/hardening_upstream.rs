//! Redirects and file URLs that an index may use.

use std::time::Duration;

use pypi_proxy::ProjectName;
use pypi_proxy::upstream::{Config, Upstream, Validators};

use crate::support::{Server, respond};

/// Addresses that are forbidden for an index on this machine or in a private network.
const FORBIDDEN: [&str; 5] = [
    "http://169.254.169.254/latest/meta-data",
    "http://[::ffff:169.254.169.254]/latest/meta-data",
    "http://[fd00:ec2::254]/latest/meta-data",
    "http://10.255.255.1/x.whl",
    "http://0.0.0.0/x.whl",
];

#[tokio::test]
async fn a_private_index_can_not_redirect_to_other_private_addresses() {
    let six = ProjectName::parse("six").unwrap();
    for place in FORBIDDEN {
        let index = Server::start(move |path, _| async move {
            match &*path {
                // Also after a second redirect.
                "/twice.whl" => respond(302, &[("location", "/once.whl")], ""),
                _ => respond(302, &[("location", place)], ""),
            }
        })
        .await;
        let mut config = Config::new(&index.url("/simple")).unwrap();
        config.connect_timeout = Duration::from_millis(100);
        let upstream = Upstream::new(config).unwrap();
        let error = upstream.page(Some(&six), &Validators::default()).await.unwrap_err();
        assert!(error.is_forbidden(), "{place}: {error:?}");
        for link in ["/once.whl", "/twice.whl"] {
            let url = upstream.resolve(&six, link).unwrap();
            let error = upstream.file(&url, 0, &Validators::default()).await.unwrap_err();
            assert!(error.is_forbidden(), "{place} {link}: {error:?}");
        }
        assert!(upstream.resolve(&six, place).unwrap_err().is_forbidden(), "{place}");
    }
}

#[tokio::test]
async fn a_remote_index_can_not_use_local_host_names() {
    for index in ["http://10.255.255.1/simple/", "http://packages.invalid/simple/"] {
        let upstream = Upstream::new(Config::new(index).unwrap()).unwrap();
        let six = ProjectName::parse("six").unwrap();
        for place in ["http://localhost/x.whl", "http://127.0.0.1/x.whl", "http://a.localhost/x.whl"] {
            assert!(upstream.resolve(&six, place).unwrap_err().is_forbidden(), "{index} {place}");
        }
    }
}

/// An HTTP proxy from the environment with a private address is allowed; requests through it are checked by URL.
#[cfg(feature = "cli")]
#[tokio::test(flavor = "multi_thread")]
async fn addresses_are_checked_behind_an_http_proxy() {
    use crate::support::program::serve;
    use crate::support::{JSON, page};

    let proxy = Server::start(|path, _| async move {
        match &*path {
            "/simple/six/" => {
                let files = [
                    ("six-1.0.whl", "http://169.254.169.254/six-1.0.whl"),
                    ("six-2.0.whl", "http://files.invalid/moved"),
                    ("six-3.0.whl", "http://localhost/six-3.0.whl"),
                    ("six-4.0.whl", "http://files.invalid/six-4.0.whl"),
                ];
                respond(200, &[JSON], page("six", &files).replace("\"size\":1", "\"size\":6"))
            }
            "/moved" => respond(302, &[("location", "http://169.254.169.254/")], ""),
            _ => respond(200, &[], "passed"),
        }
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let by_name = format!("http://localhost:{}", proxy.address().port());
    let env = [
        ("HTTP_PROXY", &*by_name),
        ("PYPI_PROXY_INDEX_URL", "http://packages.invalid/simple/"),
        ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "never"),
    ];
    let served = serve(dir.path(), &env).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (file, status) in
        [("six-1.0.whl", 403), ("six-2.0.whl", 403), ("six-3.0.whl", 403), ("six-4.0.whl", 200)]
    {
        let response = client.get(format!("{}/simple/six/{file}", served.url)).send().await.unwrap();
        assert_eq!(response.status(), status, "{file}");
    }
    assert_eq!(proxy.paths(), ["/simple/six/", "/moved", "/six-4.0.whl"]);
    served.kill().await;
}
