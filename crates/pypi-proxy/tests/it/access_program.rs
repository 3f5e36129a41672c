//! Access settings of the program.
#![cfg(feature = "cli")]

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pypi_proxy::Error;
use pypi_proxy::config::{Settings, Sources};

use crate::support::program::{run, serve};
use crate::support::source::content;
use crate::support::{Server, file_index};

async fn index() -> Server {
    file_index([("demo-1.0.tar.gz", content(1000))]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn all_access_settings_take_effect() {
    let (index, dir) = (index().await, tempfile::tempdir().unwrap());
    let users = dir.path().join("users");
    std::fs::write(&users, "ann:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n").unwrap();
    let config = dir.path().join("config.toml");
    let text = "allow_projects = ['demo', 'S?x']\ndeny_projects = ['six']\nproject_sources = ['demo=1']\n\
        min_age = '7d'\nmin_age_unknown = 'allow'\nmin_age_exempt = ['a-*']\nyanked = 'hide'\n\
        rate_limit = 100\nrate_limit_burst = 100\ntrusted_proxies = ['10.0.0.0/8', '::1']\nmetrics_need_auth = false\n";
    std::fs::write(&config, text).unwrap();
    let wanted = |name: &str| {
        let path = dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, format!("{name}\n")).unwrap();
        path
    };
    let (demo, six) = (wanted("demo"), wanted("six"));
    let (url, users) = (index.url("/simple/"), users.to_str().unwrap().to_owned());
    let env = [
        ("PYPI_PROXY_INDEX_URL", &*url),
        ("PYPI_PROXY_AUTH_HTPASSWD_FILE", &*users),
        ("PYPI_PROXY_CONFIG", config.to_str().unwrap()),
        ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "never"),
    ];
    let (code, output) = run(dir.path(), &env, &["check"]).await;
    assert!(code == 0 && output.contains("ok    access"), "{output}");
    let proxy = serve(dir.path(), &env).await;
    let get = |path: &'static str, login: &'static str| {
        let url = format!("{}{path}", proxy.url);
        let login = format!("Basic {}", BASE64_STANDARD.encode(login));
        async move {
            reqwest::Client::new().get(url).header("authorization", login).send().await.unwrap().status()
        }
    };
    assert_eq!(get("/simple/demo/", "ann:wrong").await, 401);
    assert_eq!(get("/simple/demo/demo-1.0.tar.gz", "ann:secret").await, 200);
    assert_eq!(get("/simple/six/", "ann:secret").await, 403);
    assert_eq!(get("/metrics", ":").await, 200);
    // A running proxy requires a login for `warm`, too.
    let warm = |login: &str| {
        let url = format!("{login}{}", proxy.address());
        let (dir, env, demo) = (dir.path(), &env, &demo);
        async move { run(dir, env, &["warm", "--proxy", &format!("http://{url}"), demo]).await }
    };
    let (code, output) = warm("").await;
    assert!(code == 1 && output.contains("401"), "{output}");
    let (code, output) = warm("ann:secret@").await;
    assert_eq!(code, 0, "{output}");
    proxy.kill().await;
    // Without a running proxy, `warm` needs no login but obeys the rules.
    let (code, output) = run(dir.path(), &env, &["warm", &demo]).await;
    assert_eq!(code, 0, "{output}");
    let (code, output) = run(dir.path(), &env, &["warm", &six]).await;
    assert!(code == 1 && output.contains("403"), "{output}");
    // The program does not start with an invalid file.
    std::fs::write(&users, "ann:geheim").unwrap();
    for command in ["serve", "check"] {
        let (code, output) = run(dir.path(), &env, &[command, "--listen", "127.0.0.1:0"]).await;
        assert!(code > 0 && output.contains("line 1") && !output.contains("geheim"), "{output}");
    }
}

fn refuse(name: &str, value: &str) -> Error {
    Settings::read(&Sources::new().flag(name, value)).unwrap_err()
}

#[test]
fn contradictory_access_settings_are_rejected() {
    for (name, value) in [
        ("trusted_proxies", "10.0.0.0/33"),
        ("trusted_proxies", "localhost"),
        ("allow_projects", "[ab]"),
        ("deny_projects", "a b"),
        ("project_sources", "acme-*"),
        ("project_sources", "acme-*=0"),
        ("project_sources", "acme-*=second"),
        ("project_sources", "acme-*=2"),
        ("min_age", "soon"),
        ("min_age_unknown", "maybe"),
        ("yanked", "burn"),
        ("rate_limit", "-1"),
        ("rate_limit_burst", "0"),
    ] {
        let error = refuse(name, value).to_string();
        let flag = name.replace('_', "-");
        assert!(error.contains(&flag) || error.contains(name), "{name}={value}: {error}");
    }
    let sources = Sources::new()
        .flag("extra_index_urls", "https://b.example.org/")
        .flag("project_sources", "Acme_* = 2, six=1")
        .flag("trusted_proxies", "10.1.2.3, 2001:db8::/32")
        .flag("yanked", "Refuse");
    let settings = Settings::read(&sources).unwrap();
    let shown = |name| settings.rows().into_iter().find(|row| row.setting.name == name).unwrap().shown;
    assert_eq!(shown("project_sources"), "acme-*=2, six=1");
    assert_eq!(shown("trusted_proxies"), "10.1.2.3/32, 2001:db8::/32");
    assert_eq!(shown("yanked"), "refuse");
}
