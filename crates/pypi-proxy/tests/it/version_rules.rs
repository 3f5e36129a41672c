//! Rules about versions, upload times, project statuses and malware; and the command `explain`.

use std::path::Path;
use std::time::SystemTime;

use pypi_proxy::rules::{OsvConfig, OsvDir, ProjectSelector, Rules, StatusRule, Yanked};

use crate::support::prelude::*;

const FILES: [(&str, &str); 4] = [
    ("demo-1.0-py3-none-any.whl", "2024-01-10T00:00:00Z"),
    ("demo-2.0-py3-none-any.whl", "2024-03-10T00:00:00Z"),
    ("demo-2.0.tar.gz", "2024-03-11T00:00:00Z"),
    ("demo-3.0-py3-none-any.whl", "2024-05-10T00:00:00Z"),
];

/// Index with the project `demo`, whose version 2.0 is yanked. With `is_html`, its page has no upload times.
fn index(status: &'static str, is_html: bool) -> Server {
    let files: Vec<_> = FILES
        .iter()
        .map(|(name, time)| {
            let mut file = listed(name, &content(1000));
            file["core-metadata"] = true.into();
            file["upload-time"] = (*time).into();
            file["yanked"] = name.contains("2.0").into();
            file
        })
        .collect();
    let status_field = json!({"status": status, "reason": "of a reason"});
    let page = json!({"meta": {"api-version": "1.4"}, "name": "demo", "versions": ["1.0", "2.0", "3.0"], "files": files,
        "project-status": status_field});
    let links: String = files.iter().map(|file| format!("<a href={}>x</a>", file["url"])).collect();
    let html = format!("<meta name=\"pypi:project-status\" content=\"{status}\">{links}");
    Server::start(move |request| match &*request.path {
        "/simple/demo/" if is_html => respond(200, &[HTML], html.clone()),
        "/simple/demo/" => respond(200, &[JSON, ("etag", "\"1\"")], page.to_string()),
        "/simple/" => respond(200, &[JSON], r#"{"projects":[{"name":"demo"}]}"#),
        path if path.ends_with(".metadata") => respond(200, &[], "Name: demo\n"),
        path if path.starts_with("/f/") => respond(200, &[], content(1000)),
        _ => respond(404, &[], ""),
    })
}

fn start(indexes: &[&Server], rules: Rules) -> RunningProxy {
    let urls: Vec<_> = indexes.iter().map(|index| index.url("/simple")).collect();
    start_with(&urls, |setup| {
        setup.pages.rules = rules;
        setup.unite();
    })
}

fn selectors(texts: &[&str]) -> Vec<ProjectSelector> {
    texts.iter().map(|text| ProjectSelector::parse(text).unwrap()).collect()
}

/// Writes a record about `demo` with these versions, or all versions if there is none.
fn write_record(dir: &Path, id: &str, versions: &[&str]) {
    let record = json!({"id": id, "affected": [{"package": {"ecosystem": "PyPI", "name": "Demo"}, "versions": versions}]});
    std::fs::write(dir.join(format!("{id}.json")), record.to_string()).unwrap();
}

/// Rules with the records of a directory, which is read often.
fn with_osv(dir: &Path) -> Rules {
    let config = OsvConfig { interval: Duration::from_millis(20), ..OsvConfig::new(dir) };
    Rules { osv: Some(OsvDir::open(config).unwrap()), ..Rules::default() }
}

async fn versions(proxy: &RunningProxy) -> String {
    proxy.json("/simple/demo/", &[("accept", JSON.1)]).await["versions"].to_string()
}

/// Returns the rule and the entry that a rejection names, in its header and its body.
async fn refusal(response: Response) -> (String, Option<String>) {
    assert_eq!(response.status(), 403);
    let rule = response.headers()["x-pypi-proxy-rule"].to_str().unwrap().to_owned();
    let body: Value = tightwire_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(body["rule"], *rule);
    (rule, body["entry"].as_str().map(str::to_owned))
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_files_obey_every_rule() {
    let dir = tempfile::tempdir().unwrap();
    write_record(dir.path(), "MAL-2024-7", &["3.0"]);
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_714_521_600);
    let (index, archived, deprecated) =
        (index("active", false), index("archived", false), index("deprecated", false));
    let rules = Rules::default;
    let refuse = StatusRule::Refuse;
    let all = r#"["1.0","2.0","3.0"]"#;
    let none = "[]";
    let not_3 = r#"["1.0","2.0"]"#;
    // Rules, index, versions on the page, refused file, rule, entry, reason in the metrics, removed files.
    for (rules, index, shown, name, rule, entry, reason, removed) in [
        (
            Rules { deny: selectors(&["demo >2"]), ..rules() },
            &index,
            not_3,
            FILES[3].0,
            "deny_projects",
            Some("demo >2"),
            "version",
            Some("deny_projects=1"),
        ),
        (
            Rules { allow: selectors(&["*", "de?o <2", "demo ==2.*"]), ..rules() },
            &index,
            not_3,
            FILES[3].0,
            "allow_projects",
            Some("de?o <2; demo ==2.*"),
            "version",
            Some("allow_projects=1"),
        ),
        (
            Rules { exclude_newer: Some(time), ..rules() },
            &index,
            not_3,
            FILES[3].0,
            "exclude_newer",
            Some("2024-05-01T00:00:00Z"),
            "newer",
            Some("exclude_newer=1"),
        ),
        (
            Rules {
                min_age: Duration::from_secs(40 * 365 * 86_400),
                min_age_exempt: selectors(&["demo ==1.0", "demo <3, >1"]),
                ..rules()
            },
            &index,
            not_3,
            FILES[3].0,
            "min_age",
            Some("14600d"),
            "age",
            Some("min_age=1"),
        ),
        (
            Rules { yanked: Yanked::Refuse, ..rules() },
            &index,
            r#"["1.0","3.0"]"#,
            FILES[2].0,
            "yanked",
            None,
            "yanked",
            Some("yanked=2"),
        ),
        (
            with_osv(dir.path()),
            &index,
            not_3,
            FILES[3].0,
            "osv_dir",
            Some("MAL-2024-7"),
            "osv",
            Some("osv_dir=1"),
        ),
        (
            Rules { archived: refuse, ..rules() },
            &archived,
            none,
            FILES[0].0,
            "archived",
            None,
            "status",
            Some("archived=4"),
        ),
        (
            Rules { deprecated: refuse, ..rules() },
            &deprecated,
            none,
            FILES[0].0,
            "deprecated",
            None,
            "status",
            Some("deprecated=4"),
        ),
        (rules(), &archived, all, "", "", None, "", None),
        (rules(), &deprecated, all, "", "", None, "", None),
        (Rules { archived: refuse, deprecated: refuse, ..rules() }, &index, all, "", "", None, "", None),
        (
            Rules { osv_exempt: selectors(&["demo ==3.*"]), ..with_osv(dir.path()) },
            &index,
            all,
            "",
            "",
            None,
            "",
            None,
        ),
    ] {
        let proxy = start(&[index], rules);
        assert_eq!(versions(&proxy).await, shown, "{rule}");
        let links = proxy.get("/simple/demo/", &[]).await;
        let header =
            links.headers().get("x-pypi-proxy-removed").map(|header| header.to_str().unwrap().to_owned());
        assert_eq!(header.as_deref(), removed, "{rule}");
        let links = links.text().await.unwrap();
        for (file, _) in FILES {
            let is_refused = !links.contains(&format!(">{file}<"));
            for path in [format!("/simple/demo/{file}"), format!("/index/Demo/{file}.metadata")] {
                if path.ends_with(".gz.metadata") {
                    continue;
                }
                let status = proxy.get(&path, &[]).await.status();
                assert_eq!(status, if is_refused { 403 } else { 200 }, "{rule} {path}");
            }
        }
        if rule.is_empty() {
            continue;
        }
        let found = refusal(proxy.get(&format!("/simple/demo/{name}"), &[]).await).await;
        assert_eq!(found, (rule.to_owned(), entry.map(str::to_owned)));
        let metrics = proxy.get("/metrics", &[]).await.text().await.unwrap();
        let counted = format!("pypi_proxy_http_refused_total{{reason=\"{reason}\"}} ");
        assert!(metrics.contains(&counted) && !metrics.contains(&format!("{counted}0\n")), "{metrics}");
        // A page without files is still a page.
        if shown == none {
            assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 200);
        }
    }
    // A project rule names its entry, too.
    let proxy = start(&[&index], Rules { deny: selectors(&["de*"]), ..rules() });
    let found = refusal(proxy.get("/simple/demo/", &[]).await).await;
    assert_eq!(found, ("deny_projects".into(), Some("de*".into())));
    let proxy = start(&[&index], Rules { allow: selectors(&["other"]), ..rules() });
    assert_eq!(refusal(proxy.get("/simple/demo/", &[]).await).await, ("allow_projects".into(), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_files_obey_new_rules() {
    let index = index("active", false);
    let dir = tempfile::tempdir().unwrap();
    let path = format!("/simple/demo/{}", FILES[3].0);
    let mut setup = Setup::new(dir.path(), &[index.url("/simple")]);
    let proxy = {
        setup.ttl(Duration::from_secs(3600));
        setup.start().await
    };
    assert_eq!(proxy.get(&path, &[]).await.bytes().await.unwrap(), content(1000));
    proxy.stop().await;
    let requests = index.count();
    let mut setup = Setup::new(dir.path(), &[index.url("/simple")]);
    setup.ttl(Duration::from_secs(3600));
    setup.pages.rules = Rules { deny: selectors(&["demo ==3.0"]), ..Rules::default() };
    let proxy = setup.start().await;
    assert_eq!(refusal(proxy.get(&path, &[]).await).await.0, "deny_projects");
    // The rules apply to the pages and files of the cache, without a request to the index.
    assert_eq!((versions(&proxy).await.as_str(), index.count()), (r#"["1.0","2.0"]"#, requests));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_quarantined_projects_are_not_offered() {
    for is_html in [false, true] {
        let quarantined = index("quarantined", is_html);
        let proxy = start(&[&quarantined], Rules::default());
        let page = proxy.json("/simple/demo/", &[("accept", JSON.1)]).await;
        assert_eq!((filenames(&page), &page["project-status"]["status"]), (vec![], &"quarantined".into()));
        let path = format!("/simple/demo/{}", FILES[0].0);
        assert_eq!(refusal(proxy.get(&path, &[]).await).await, ("quarantined".into(), None));
        let keep = Rules { quarantined: StatusRule::Keep, ..Rules::default() };
        let proxy = start(&[&quarantined], keep);
        assert_eq!(filenames(&proxy.json("/simple/demo/", &[("accept", JSON.1)]).await).len(), 4);
        assert_eq!(proxy.get(&path, &[]).await.status(), 200);
    }
    // Another index still offers its own files.
    let (quarantined, other) = (index("quarantined", false), index("active", false));
    let proxy = start(&[&quarantined, &other], Rules::default());
    let page = proxy.json("/simple/demo/", &[("accept", JSON.1)]).await;
    assert_eq!((filenames(&page).len(), &page["project-status"]["status"]), (4, &"active".into()));
    assert_eq!(proxy.get(&format!("/simple/demo/{}", FILES[0].0), &[]).await.status(), 200);
    assert!(!quarantined.paths().iter().any(|path| path.starts_with("/f/")), "{:?}", quarantined.paths());
}

#[tokio::test(flavor = "multi_thread")]
async fn new_malware_records_take_effect_on_cached_pages() {
    let dir = tempfile::tempdir().unwrap();
    write_record(dir.path(), "MAL-1", &["9.9"]);
    let index = index("active", false);
    let rules = with_osv(dir.path());
    let proxy = start(&[&index], rules.clone());
    let path = format!("/simple/demo/{}", FILES[3].0);
    let etag = proxy.get("/simple/demo/", &[]).await.headers()["etag"].clone();
    assert_eq!(proxy.get(&path, &[]).await.status(), 200);
    let requests = index.count();
    write_record(dir.path(), "MAL-2", &["3"]);
    until("the record takes effect", async || proxy.get(&path, &[]).await.status() == 403).await;
    assert_eq!(refusal(proxy.get(&path, &[]).await).await.1, Some("MAL-2".into()));
    let response = proxy.get("/simple/demo/", &[("if-none-match", etag.to_str().unwrap())]).await;
    assert_eq!((response.status().as_u16(), &response.headers()["x-cache"].to_str().unwrap()), (200, &"hit"));
    assert_eq!(versions(&proxy).await, r#"["1.0","2.0"]"#);
    // A malformed record is ignored, and a removed one no longer applies.
    std::fs::write(dir.path().join("MAL-3.json"), "{\"id\":").unwrap();
    std::fs::remove_file(dir.path().join("MAL-2.json")).unwrap();
    until("the record is removed", async || proxy.get(&path, &[]).await.status() == 200).await;
    assert_eq!(index.count(), requests);
    // The records also apply while the index is down.
    index.stop().await;
    write_record(dir.path(), "MAL-4", &[]);
    until("the record takes effect", async || proxy.get(&path, &[]).await.status() == 403).await;
    assert_eq!(versions(&proxy).await, "[]");
    assert_eq!(rules.osv.unwrap().problems().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn records_apply_to_expired_pages_while_the_index_fails() {
    for is_stopped in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let page = page_of(&FILES.map(|(name, _)| listed(name, &content(1000))));
        // The index asks for a break of five minutes.
        let index = Server::start(move |request| match request.nth {
            0 => respond(200, &[JSON], page.clone()),
            _ => respond(503, &[("retry-after", "300")], ""),
        });
        let rules = with_osv(dir.path());
        let proxy = start_with(&[index.url("/simple")], |setup| {
            setup.always_revalidate();
            setup.pages.rules = rules;
        });
        let shown = async || filenames(&proxy.json("/simple/demo/", &[("accept", JSON.1)]).await).len();
        assert_eq!((shown().await, shown().await), (4, 4));
        if is_stopped {
            index.stop().await;
        }
        write_record(dir.path(), "MAL-1", &["3.0"]);
        until("the record takes effect", async || shown().await == 3).await;
        assert_eq!(shown().await, 3);
    }
}

#[cfg(feature = "cli")]
mod commands {
    use super::*;
    use crate::support::program::{run, serve};

    /// Runs `explain` and checks its exit code.
    async fn explain(dir: &Path, env: &[(&str, &str)], requirement: &str, code: i32) -> String {
        let (found, output) = run(dir, env, &["explain", requirement]).await;
        assert_eq!(found, code, "{requirement}: {output}");
        output
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn explain_names_indexes_files_and_rules() {
        let (first, second) = (index("archived", false), index("active", false));
        let dir = tempfile::tempdir().unwrap();
        let (url, extra) = (first.url("/simple/"), second.url("/simple/"));
        let env = [
            ("PYPI_PROXY_INDEX_URL", &*url),
            ("PYPI_PROXY_EXTRA_INDEX_URLS", &*extra),
            ("PYPI_PROXY_EXTRA_INDEX_TTLS", "1h"),
            ("PYPI_PROXY_DENY_PROJECTS", "demo >=3, acme-*"),
            ("PYPI_PROXY_YANKED", "hide"),
            ("PYPI_PROXY_PROJECT_SOURCES", "six=2"),
        ];
        let merged = [
            &env[..],
            &[("PYPI_PROXY_INDEX_STRATEGY", "unsafe-best-match"), ("PYPI_PROXY_MERGE_PROJECTS", "*")],
        ]
        .concat();
        let output = explain(dir.path(), &merged, "demo", 0).await;
        assert!(output.contains(&format!("index 2: {extra}: 4 files, page of ")), "{output}");
        assert!(output.contains("\n1.0: 1 allowed\n"), "{output}");
        let private = [&env[..], &[("PYPI_PROXY_PRIVATE_INDEXES", "2")]].concat();
        let requests = first.count();
        let output = explain(dir.path(), &private, "demo==1.0", 0).await;
        assert!(
            output.contains("demo-1.0-py3-none-any.whl  (index 2, ") && first.count() == requests,
            "{output}"
        );

        let output = explain(dir.path(), &env, "Demo", 0).await;
        for line in [
            &*format!("index 1: {url}: 4 files, page of 0 seconds ago, archived (\"of a reason\")\n"),
            &*format!("index 2: {extra}: not used, because another index has precedence\n"),
            "1.0: 1 allowed\n",
            "2.0: 2 removed from pages by yanked, but served\n",
            "3.0: 1 refused by deny_projects (demo >=3)\n",
        ] {
            // The page may be a second old on a slow machine.
            let line = line.split(", page of").next().unwrap();
            assert!(output.contains(line), "{line} {output}");
        }
        assert!(output.contains("archived (\"of a reason\")"), "{output}");
        let output = explain(dir.path(), &env, "demo==3", 0).await;
        let expected = "demo-3.0-py3-none-any.whl  (index 1, uploaded 2024-05-10T00:00:00Z)\n  \
            refused by deny_projects (demo >=3): this proxy denies the version (demo >=3)\n";
        assert!(output.contains(expected), "{output}");
        let output = explain(dir.path(), &env, "demo ==1.*", 0).await;
        assert!(output.contains("demo-1.0-py3-none-any.whl") && output.contains("\n  allowed\n"), "{output}");
        assert!(explain(dir.path(), &env, "demo==7", 1).await.contains("no index has a file of demo==7"));
        let output = explain(dir.path(), &env, "six", 1).await;
        assert!(
            output.contains("another index has precedence") && output.contains("no such project"),
            "{output}"
        );
        assert!(output.contains("no index has a file of six"), "{output}");
        for wrong in ["a b", "demo==", "demo>2"] {
            assert!(explain(dir.path(), &env, wrong, 2).await.contains("expected NAME or NAME==VERSION"));
        }
        // No index is contacted for a denied project.
        let requests = first.count() + second.count();
        let output = explain(dir.path(), &env, "acme-tools", 0).await;
        assert!(
            output.contains("acme-tools: refused by deny_projects (acme-*): this proxy denies"),
            "{output}"
        );
        assert_eq!(first.count() + second.count(), requests);
        // Nothing was written.
        assert!(files_below(&dir.path().join(".cache")).is_empty());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn explain_reads_the_pages_of_a_running_proxy() {
        let index = index("active", false);
        let dir = tempfile::tempdir().unwrap();
        let url = index.url("/simple/");
        let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_EXCLUDE_NEWER", "2024-03-10")];
        let proxy = serve(dir.path(), &env).await;
        let page = reqwest::get(format!("{}/simple/demo/", proxy.url)).await.unwrap();
        assert_eq!(page.headers()["x-pypi-proxy-removed"], "exclude_newer=2");
        let requests = index.count();
        let output = explain(dir.path(), &env, "demo", 0).await;
        let expected = "1.0: 1 allowed\n2.0: 1 allowed, 1 refused by exclude_newer (2024-03-11T00:00:00Z)\n";
        assert!(output.contains(expected), "{output}");
        assert_eq!(index.count(), requests);
        // An expired page is requested; if that fails, the copy is used, and the error is printed.
        index.stop().await;
        let expired = [&env[..], &[("PYPI_PROXY_INDEX_TTL", "0")]].concat();
        let output = explain(dir.path(), &expired, "demo", 0).await;
        assert!(
            output.contains("4 files, page of ") && output.contains("upstream request failed"),
            "{output}"
        );
        let offline = [&expired[..], &[("PYPI_PROXY_OFFLINE", "true")]].concat();
        let output = explain(dir.path(), &offline, "demo", 0).await;
        assert!(output.contains("the proxy is offline") && output.contains("1.0: 1 allowed\n"), "{output}");
        let output = explain(dir.path(), &offline, "six", 1).await;
        assert!(output.contains(": no page, "), "{output}");
        proxy.kill().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn settings_of_rules_take_effect_and_are_checked() {
        let index = index("quarantined", false);
        let dir = tempfile::tempdir().unwrap();
        let records = dir.path().join("osv");
        std::fs::create_dir(&records).unwrap();
        write_record(&records, "PYSEC-1", &["1.0"]);
        let config = dir.path().join("config.toml");
        let text = format!(
            "index_url = '{}'\nquarantined = 'keep'\narchived = 'refuse'\ndeprecated = 'refuse'\n\
             allow_projects = ['*', 'demo >=1, <=9']\nmin_age = '7d'\nmin_age_exempt = ['demo ==1.0', 'demo ==2.0']\n\
             exclude_newer = 2024-05-01\nosv_dir = '{}'\nosv_records = 'all'\nosv_exempt = ['demo ==2.*']\n",
            index.url("/simple/"),
            records.display()
        );
        std::fs::write(&config, text).unwrap();
        let env = [("PYPI_PROXY_CONFIG", config.to_str().unwrap())];
        let args = ["check", "--listen", "127.0.0.1:0"];
        let (code, output) = run(dir.path(), &env, &args).await;
        assert!(code == 0 && output.contains("ok    osv: 1 records take effect\n"), "{output}");
        let proxy = serve(dir.path(), &env).await;
        let page = reqwest::Client::new().get(format!("{}/simple/demo/", proxy.url)).header("accept", JSON.1);
        let page: Value =
            tightwire_json::from_str(&page.send().await.unwrap().text().await.unwrap()).unwrap();
        assert_eq!(page["versions"], json!(["2.0"]));
        proxy.kill().await;

        std::fs::write(records.join("broken.json"), "{").unwrap();
        let (code, output) = run(dir.path(), &env, &args).await;
        assert!(code == 1 && output.contains("FAIL  osv: ") && output.contains("broken.json: "), "{output}");
        assert!(output.contains("ok    osv: 1 records take effect\n"), "{output}");
        std::fs::rename(&records, dir.path().join("elsewhere")).unwrap();
        let (code, output) = run(dir.path(), &env, &args).await;
        assert!(code == 1 && output.contains("FAIL  osv: "), "{output}");
        let (code, output) = run(dir.path(), &env, &["serve", "--listen", "127.0.0.1:0"]).await;
        assert!(code == 2 && output.contains("osv_dir: ") && output.contains("can't be read"), "{output}");
    }
}
