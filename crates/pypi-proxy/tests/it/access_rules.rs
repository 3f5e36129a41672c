//! Rules: denied and private projects, minimum age of files, and yanked files.

use jiff::Timestamp;
use pypi_proxy::rules::{ProjectPattern, ProjectSelector, Rules, UnknownAge, Yanked};
use reqwest::Version;

use crate::support::prelude::*;

const DAY: Duration = Duration::from_secs(86_400);

/// A file with metadata, of this age.
fn file(name: &str, age: Option<Duration>, yanked: bool) -> Value {
    let mut file = listed(name, &content(1000));
    file["core-metadata"] = true.into();
    file["yanked"] = yanked.into();
    if let Some(age) = age {
        let time =
            Timestamp::from_second(Timestamp::now().as_second() - age.as_secs().cast_signed()).unwrap();
        file["upload-time"] = time.to_string().into();
    }
    file
}

/// Index with one project, whose files have these ages now.
fn index(ages: Vec<(&'static str, Option<Duration>, bool)>) -> Server {
    let files: Vec<_> = ages.iter().map(|(name, age, yanked)| file(name, *age, *yanked)).collect();
    let page = json!({"meta": {"api-version": "1.1"}, "name": "demo", "versions": ["1.0", "2.0", "3.0"], "files": files});
    Server::start(move |request| {
        let mut page = page.clone();
        page["name"] = request.project().into();
        let page = page.to_string();
        match &*request.path {
            "/simple/" => {
                let projects = json!([{"name": "demo"}, {"name": "Acme_Tools"}, {"name": "six"}]);
                respond(200, &[JSON], json!({"projects": projects}).to_string())
            }
            "/simple/demo/" | "/simple/acme-tools/" => respond(200, &[JSON, ("etag", "\"1\"")], page),
            path if path.ends_with(".metadata") => respond(200, &[], "Name: demo\n"),
            path if path.starts_with("/f/") => respond(200, &[], content(1000)),
            _ => respond(404, &[], ""),
        }
    })
}

fn start(indexes: &[&Server], rules: Rules) -> RunningProxy {
    let urls: Vec<_> = indexes.iter().map(|index| index.url("/simple")).collect();
    start_with(&urls, |setup| setup.pages.rules = rules)
}

fn private_from_second() -> Rules {
    Rules { only_from: vec![(pattern("acme-*"), 1)], ..Rules::default() }
}

fn aged(min_age: Duration) -> Rules {
    Rules { min_age, ..Rules::default() }
}

fn pattern(text: &str) -> ProjectPattern {
    ProjectPattern::parse(text).unwrap()
}

fn selector(text: &str) -> ProjectSelector {
    ProjectSelector::parse(text).unwrap()
}

async fn page(proxy: &RunningProxy, path: &str) -> (Vec<String>, String) {
    let page = proxy.json(path, &[("accept", JSON.1)]).await;
    (filenames(&page).into_iter().map(str::to_owned).collect(), page["versions"].to_string())
}

/// Checks a rejection: the title in the status line and the detail in the body.
async fn refused(response: Response, title: &str, detail: &str) {
    assert_eq!((response.status().as_u16(), response.version()), (403, Version::HTTP_11));
    let reason = response.extensions().get::<hyper::ext::ReasonPhrase>().unwrap();
    assert_eq!(std::str::from_utf8(reason.as_bytes()).unwrap(), title);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let body: Value = tightwire_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!((&body["title"], &body["status"]), (&title.into(), &403.into()));
    assert!(body["detail"].as_str().unwrap().contains(detail), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn denied_projects_are_neither_listed_nor_served() {
    let index = index(vec![("demo-1.0.tar.gz", Some(DAY), false)]);
    let rules = Rules {
        allow: vec![selector("demo"), selector("acme-*")],
        deny: vec![selector("ACME.t*")],
        ..Rules::default()
    };
    let proxy = start(&[&index], rules);
    let denied = "Project Denied By This Proxy";
    for path in [
        "/simple/acme-tools/",
        "/index/acme-tools/",
        "/simple/Acme.Tools/x-1.0.tar.gz",
        "/simple/acme-tools/x-1.0.whl.metadata",
    ] {
        for more in [&[][..], &[("te", "trailers")]] {
            refused(proxy.get(path, more).await, denied, "denies").await;
        }
    }
    refused(proxy.get("/simple/six/", &[]).await, "Project Not Allowed By This Proxy", "allows").await;
    // No index received a request for them.
    assert_eq!(index.count(), 0);
    assert_eq!(page(&proxy, "/simple/demo/").await.0, ["demo-1.0.tar.gz"]);
    assert_eq!(proxy.get("/simple/demo/demo-1.0.tar.gz", &[]).await.bytes().await.unwrap(), content(1000));
    let list = proxy.json("/simple/", &[("accept", JSON.1)]).await;
    assert_eq!(list["projects"], json!([{"name": "demo"}]));
    let links = proxy.get("/simple/", &[]).await.text().await.unwrap();
    assert!(links.contains("demo/") && !links.contains("acme") && !links.contains("six"), "{links}");
    let counted = proxy.get("/metrics", &[]).await.text().await.unwrap();
    assert!(counted.contains("pypi_proxy_http_refused_total{reason=\"project\"} 9\n"), "{counted}");
}

#[tokio::test(flavor = "multi_thread")]
async fn private_projects_come_only_from_their_index() {
    let public = index(vec![("demo-9.0.tar.gz", Some(DAY), false)]);
    let private = index(vec![("demo-1.0.tar.gz", Some(DAY), false)]);
    let rules = private_from_second;
    let proxy = start(&[&public, &private], rules());
    assert_eq!(page(&proxy, "/simple/acme-tools/").await.0, ["demo-1.0.tar.gz"]);
    assert_eq!(proxy.get("/simple/acme-tools/demo-9.0.tar.gz", &[]).await.status(), 404);
    assert_eq!(proxy.get("/simple/acme-tools/demo-1.0.tar.gz", &[]).await.status(), 200);
    assert_eq!(public.count(), 0, "{:?}", public.paths());
    assert_eq!(page(&proxy, "/simple/demo/").await.0, ["demo-9.0.tar.gz"]);
    // Projects of the public index are missing, and an unreachable index is not replaced by another one.
    assert_eq!(proxy.get("/simple/acme-nothing/", &[]).await.status(), 404);
    private.stop().await;
    assert_eq!(proxy.get("/simple/acme-other/", &[]).await.status(), 502);
    assert!(!public.paths().iter().any(|path| path.contains("acme")), "{:?}", public.paths());
    let list = start(&[&public], rules()).json("/simple/", &[("accept", JSON.1)]).await;
    assert_eq!(list["projects"], json!([{"name": "demo"}, {"name": "six"}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn new_rules_apply_to_pages_on_disk() {
    let public = index(vec![("demo-9.0.tar.gz", Some(DAY), false)]);
    let private = index(vec![("demo-1.0.tar.gz", Some(DAY * 30), true)]);
    let dir = tempfile::tempdir().unwrap();
    let urls = [public.url("/simple"), private.url("/simple")];
    let restart = async |rules: Rules| {
        let mut setup = Setup::new(dir.path(), &urls);
        setup.pages.rules = rules;
        setup.unite();
        setup.start().await
    };
    let proxy = restart(Rules::default()).await;
    assert_eq!(page(&proxy, "/simple/acme-tools/").await.0, ["demo-9.0.tar.gz", "demo-1.0.tar.gz"]);
    proxy.stop().await;
    let requests = public.count();
    let proxy = restart(private_from_second()).await;
    assert_eq!(page(&proxy, "/simple/acme-tools/").await.0, ["demo-1.0.tar.gz"]);
    proxy.stop().await;
    let proxy = restart(Rules { yanked: Yanked::Hide, ..aged(DAY * 7) }).await;
    assert_eq!(page(&proxy, "/simple/acme-tools/").await, (vec![], "[\"2.0\",\"3.0\"]".into()));
    assert_eq!(public.count(), requests);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_below_the_minimum_age_are_hidden() {
    let files = vec![
        ("demo-1.0-py3-none-any.whl", Some(DAY * 30), false),
        ("demo-2.0-py3-none-any.whl", Some(DAY * 2), false),
        ("demo-2.0.tar.gz", Some(DAY * 30), false),
        ("demo-3.0-py3-none-any.whl", None, false),
    ];
    let index = index(files);
    let rules = Rules { min_age_exempt: vec![selector("acme-*")], ..aged(DAY * 7) };
    let proxy = start(&[&index], rules.clone());
    let (names, versions) = page(&proxy, "/simple/demo/").await;
    assert_eq!(names, ["demo-1.0-py3-none-any.whl", "demo-2.0.tar.gz"]);
    assert_eq!(versions, "[\"1.0\",\"2.0\"]");
    let links = proxy.get("/simple/demo/", &[]).await.text().await.unwrap();
    assert!(!links.contains("demo-2.0-py3") && !links.contains("demo-3.0"), "{links}");
    for end in ["", ".metadata"] {
        let get = |name: &str| {
            let path = format!("/simple/demo/{name}{end}");
            let proxy = &proxy;
            async move { proxy.get(&path, &[]).await }
        };
        assert_eq!(get("demo-1.0-py3-none-any.whl").await.status(), 200);
        refused(get("demo-2.0-py3-none-any.whl").await, "File Too Young For This Proxy", "7d old").await;
        let unknown = "File Of Unknown Age Refused By This Proxy";
        refused(get("demo-3.0-py3-none-any.whl").await, unknown, "unknown").await;
    }
    // None of them was downloaded.
    let paths = index.paths();
    assert!(!paths.iter().any(|path| path.contains("2.0-py3") || path.contains("3.0")), "{paths:?}");
    assert_eq!(page(&proxy, "/simple/acme-tools/").await.0.len(), 4);
    assert_eq!(proxy.get("/simple/acme-tools/demo-3.0-py3-none-any.whl", &[]).await.status(), 200);
    // Stored files are hidden as well.
    let stored = proxy.get("/simple/demo/demo-3.0-py3-none-any.whl", &[]).await;
    refused(stored, "File Of Unknown Age Refused By This Proxy", "").await;
    let proxy = start(&[&index], Rules { min_age_unknown: UnknownAge::Allow, ..rules });
    assert_eq!(page(&proxy, "/simple/demo/").await.0.len(), 3);
    assert_eq!(proxy.get("/simple/demo/demo-3.0-py3-none-any.whl", &[]).await.status(), 200);
}

/// Index with a file that becomes a day old after `lead`, and one that is older.
fn ripening(lead: Duration) -> Server {
    index(vec![("demo-1.0.tar.gz", Some(DAY * 2), false), ("demo-2.0.tar.gz", Some(DAY - lead), false)])
}

/// Returns the status of a conditional request for the page.
async fn known(proxy: &RunningProxy, field: &str, value: &str) -> u16 {
    proxy.get("/simple/demo/", &[("accept", JSON.1), (field, value)]).await.status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_appears_when_it_is_old_enough() {
    // On a busy machine, the file may be old enough before the first check. Then try with more time.
    let mut lead = Duration::from_secs(4);
    let (index, proxy, etag, modified) = loop {
        let started = Instant::now();
        let index = ripening(lead);
        let proxy = start(&[&index], aged(DAY));
        let young = proxy.get("/simple/demo/", &[("accept", JSON.1)]).await;
        let modified = young.headers()["last-modified"].to_str().unwrap().to_owned();
        let etag = young.headers()["etag"].to_str().unwrap().to_owned();
        let text = young.text().await.unwrap();
        let again = [
            known(&proxy, "if-none-match", &etag).await,
            known(&proxy, "if-modified-since", &modified).await,
        ];
        // Dates have full seconds, and those before and after must differ.
        if started.elapsed() < lead / 4 {
            assert!(!text.contains("demo-2.0"));
            assert_eq!(again, [304, 304]);
            break (index, proxy, etag, modified);
        }
        lead *= 4;
    };
    // One request to the index: the age of a file does not change the index.
    until("the file appears", async || page(&proxy, "/simple/demo/").await.0.len() == 2).await;
    assert_eq!(known(&proxy, "if-none-match", &etag).await, 200);
    assert_eq!(known(&proxy, "if-modified-since", &modified).await, 200);
    assert_eq!(proxy.get("/simple/demo/demo-2.0.tar.gz", &[]).await.status(), 200);
    assert_eq!(index.paths().iter().filter(|path| path.ends_with('/')).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_appears_while_its_index_is_down() {
    let mut lead = Duration::from_secs(4);
    let proxy = loop {
        let started = Instant::now();
        let index = ripening(lead);
        let proxy = start_with(&[index.url("/simple")], |setup| {
            setup.ttl(Duration::ZERO);
            setup.pages.rules = aged(DAY);
        });
        let shown = page(&proxy, "/simple/demo/").await.0.len();
        index.stop().await;
        if started.elapsed() < lead / 4 {
            assert_eq!(shown, 1);
            break proxy;
        }
        lead *= 4;
    };
    until("the file appears", async || page(&proxy, "/simple/demo/").await.0.len() == 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn yanked_files_are_served_hidden_or_rejected() {
    let files = vec![("demo-1.0.tar.gz", None, false), ("demo-2.0.tar.gz", None, true)];
    let index = index(files);
    for (yanked, shown, status) in [(Yanked::Keep, 2, 200), (Yanked::Hide, 1, 200), (Yanked::Refuse, 1, 403)]
    {
        let proxy = start(&[&index], Rules { yanked, ..Rules::default() });
        assert_eq!(page(&proxy, "/simple/demo/").await.0.len(), shown, "{yanked:?}");
        assert_eq!(proxy.get("/simple/demo/demo-1.0.tar.gz", &[]).await.status(), 200);
        let response = proxy.get("/simple/demo/demo-2.0.tar.gz", &[]).await;
        assert_eq!(response.status(), status, "{yanked:?}");
        if status == 403 {
            refused(response, "Yanked File Refused By This Proxy", "yanked").await;
        }
    }
}
