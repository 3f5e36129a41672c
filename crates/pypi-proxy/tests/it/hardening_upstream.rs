//! Where an index may lead the proxy to.

use std::time::Duration;

use pypi_proxy::ProjectName;
use pypi_proxy::upstream::{Config, Upstream, Validators};

use crate::support::{Server, answer};

/// Where no index of this machine or a private network may lead to.
const FORBIDDEN: [&str; 5] = [
    "http://169.254.169.254/latest/meta-data",
    "http://[::ffff:169.254.169.254]/latest/meta-data",
    "http://[fd00:ec2::254]/latest/meta-data",
    "http://10.255.255.1/x.whl",
    "http://0.0.0.0/x.whl",
];

#[tokio::test]
async fn a_private_index_leads_to_no_other_private_address() {
    let six = ProjectName::parse("six").unwrap();
    for place in FORBIDDEN {
        let index = Server::start(move |path, _| async move {
            match &*path {
                // Over a second hop as well.
                "/twice.whl" => answer(302, &[("location", "/once.whl")], ""),
                _ => answer(302, &[("location", place)], ""),
            }
        })
        .await;
        let config = Config::new(&index.url("/simple")).unwrap().connect_timeout(Duration::from_millis(100));
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
async fn a_name_of_this_machine_is_forbidden_for_an_index_elsewhere() {
    for index in ["http://10.255.255.1/simple/", "http://packages.invalid/simple/"] {
        let upstream = Upstream::new(Config::new(index).unwrap()).unwrap();
        let six = ProjectName::parse("six").unwrap();
        for place in ["http://localhost/x.whl", "http://127.0.0.1/x.whl", "http://a.localhost/x.whl"] {
            assert!(upstream.resolve(&six, place).unwrap_err().is_forbidden(), "{index} {place}");
        }
    }
}

/// An HTTP proxy of the environment whose name has a private address is used, and what it passes on is checked by URL.
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
                answer(200, &[JSON], page("six", &files).replace("\"size\":1", "\"size\":6"))
            }
            "/moved" => answer(302, &[("location", "http://169.254.169.254/")], ""),
            _ => answer(200, &[], "passed"),
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
        let answer = client.get(format!("{}/simple/six/{file}", served.url)).send().await.unwrap();
        assert_eq!(answer.status(), status, "{file}");
    }
    assert_eq!(proxy.paths(), ["/simple/six/", "/moved", "/six-4.0.whl"]);
    served.kill().await;
}
