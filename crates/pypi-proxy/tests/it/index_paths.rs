//! Files by their paths at the index, as in lock files that were created without the proxy.

use pypi_proxy::page_cache::IndexStrategy;
use pypi_proxy::rules::{ProjectPattern, ProjectSelector, Rules, UnknownAge};

use crate::support::prelude::*;

const WHEEL: &str = "demo-1.0-py3-none-any.whl";
const PATH: &str = "/packages/ab/cd/demo-1.0-py3-none-any.whl";

/// Host with these files at these paths. A path without content is 404.
fn host(files: impl IntoIterator<Item = (&'static str, Bytes)>) -> Server {
    let files: Vec<_> = files.into_iter().collect();
    Server::start(move |request| match files.iter().find(|(path, _)| request.path == *path) {
        Some((_, content)) => ranged(request, &[("etag", "\"1\"")], content),
        None => respond(404, &[], ""),
    })
}

/// Name, URL and content.
type Entry = (&'static str, String, Bytes);

/// Index with pages of these projects.
fn index(projects: &[(&'static str, &[Entry])]) -> Server {
    let page = |files: &[Entry]| {
        let files = files.iter().map(|(name, url, content)| {
            let mut file = listed(name, content);
            file["url"] = url.clone().into();
            file
        });
        page_of(&files.collect::<Vec<_>>())
    };
    let named = |name: &str, page: String| {
        Bytes::from(page.replace(r#""name":"demo""#, &format!(r#""name":"{name}""#)))
    };
    let pages: Vec<_> = projects.iter().map(|(name, files)| (*name, named(name, page(files)))).collect();
    Server::start(move |request| {
        let name = request.project();
        match pages.iter().find(|(project, _)| *project == name) {
            Some((_, page)) => respond(200, &[JSON], page.clone()),
            None => respond(404, &[], ""),
        }
    })
}

fn entries(entries: &[&str]) -> Vec<ProjectSelector> {
    entries.iter().map(|entry| ProjectSelector::parse(entry).unwrap()).collect()
}

async fn status(proxy: &RunningProxy, path: &str) -> u16 {
    let response = proxy.get(path, &[]).await;
    let status = response.status().as_u16();
    response.bytes().await.unwrap();
    status
}

#[tokio::test]
async fn pages_link_files_at_their_paths() {
    let (wheel, sdist) = (content(200_000), content(1000));
    let files = host([(PATH, wheel.clone()), ("/packages/ef/demo-1.0.tar.gz", sdist.clone())]);
    let index = index(&[(
        "demo",
        &[
            (WHEEL, files.url(PATH), wheel.clone()),
            ("demo-1.0.tar.gz", files.url("/packages/ef/demo-1.0.tar.gz"), sdist.clone()),
            ("demo-2.0.tar.gz", files.url("/packages/ef/demo-2.0.tar.gz?token=1"), sdist.clone()),
        ],
    )]);
    let proxy = start(&[index.url("/simple")]);
    for (page, link) in [("/simple/demo/", "../../"), ("/index/demo/", "../../")] {
        let json = proxy.json(page, &[("accept", "application/vnd.pypi.simple.v1+json")]).await;
        let urls: Vec<_> = json["files"].as_array().unwrap().iter().map(|file| &file["url"]).collect();
        assert_eq!(
            urls[..2],
            [&format!("{link}{}", &PATH[1..]), &format!("{link}packages/ef/demo-1.0.tar.gz")]
        );
        // A URL with a query has no path that stands for it.
        assert_eq!(urls[2], "demo-2.0.tar.gz");
        let html = proxy.get(page, &[("accept", "text/html")]).await.text().await.unwrap();
        let expected = format!("<a href=\"{link}{}#sha256={}\"", &PATH[1..], digest_of(&wheel));
        assert!(html.contains(&expected), "{html}");
    }
    let cold = proxy.get(PATH, &[]).await;
    assert_eq!((cold.status().as_u16(), &cold.headers()["x-cache"]), (200, &"miss".parse().unwrap()));
    assert_eq!(cold.headers()["content-type"], "application/zip");
    assert_eq!(cold.bytes().await.unwrap(), wheel);
    // The same file at each of its URLs, downloaded once.
    for path in [PATH, &format!("/{PATH}"), &format!("/simple/demo/{WHEEL}"), &format!("/index/demo/{WHEEL}")]
    {
        let hit = proxy.get(path, &[]).await;
        assert_eq!(hit.headers()["x-cache"], "hit", "{path}");
        let etag = hit.headers()["etag"].to_str().unwrap().to_owned();
        assert_eq!(etag, format!("\"{}\"", digest_of(&wheel)));
        assert_eq!(hit.bytes().await.unwrap(), wheel, "{path}");
        assert_eq!(proxy.get(path, &[("if-none-match", &etag)]).await.status(), 304);
        let part = proxy.get(path, &[("range", "bytes=-100")]).await;
        assert_eq!((part.status().as_u16(), part.bytes().await.unwrap()), (206, wheel.slice(199_900..)));
        let head = proxy.send(Method::HEAD, path, &[]).await;
        assert_eq!(head.headers()["content-length"], "200000");
    }
    assert_eq!(proxy.send(Method::POST, PATH, &[]).await.status(), 405);
    assert_eq!(files.count_of(PATH), 1);
    assert_eq!(index.count(), 1);
    let samples = proxy.metrics().await;
    assert_eq!(samples[r#"pypi_proxy_http_requests_total{route="file",code="2xx"}"#], 13.0);
}

#[tokio::test]
async fn a_path_works_before_its_page() {
    let (wheel, metadata) = (content(5000), Bytes::from("Metadata-Version: 2.1\n"));
    let files = host([
        ("/f/Foo_Bar-1.0-py3-none-any.whl", wheel.clone()),
        ("/f/Foo_Bar-1.0-py3-none-any.whl.metadata", metadata.clone()),
        ("/f/Foo_Bar-1.0-py3-none-any.whl.asc", metadata.clone()),
        ("/f/foo-bar-2-1.0-3.tar.gz", wheel.clone()),
        ("/f/foo_bar-1.0%2Blocal.zip", wheel.clone()),
    ]);
    let (url, name) = (files.url("/f/Foo_Bar-1.0-py3-none-any.whl"), "Foo_Bar-1.0-py3-none-any.whl");
    let (mut with_metadata, second) = (listed(name, &wheel), "foo-bar-2-1.0-3.tar.gz");
    with_metadata["url"] = url.into();
    with_metadata["core-metadata"] = json!({"sha256": digest_of(&metadata).to_string()});
    with_metadata["gpg-sig"] = true.into();
    let mut local = listed("foo_bar-1.0+local.zip", &wheel);
    local["url"] = files.url("/f/foo_bar-1.0%2Blocal.zip").into();
    let mut odd = listed(second, &wheel);
    odd["url"] = files.url("/f/foo-bar-2-1.0-3.tar.gz").into();
    let (page, odd) = (page_of(&[with_metadata, local]), page_of(&[odd]));
    let index = Server::start(move |request| match &*request.path {
        "/simple/foo-bar/" => respond(200, &[JSON], page.clone()),
        "/simple/foo-bar-2/" => respond(200, &[JSON], odd.clone()),
        _ => respond(404, &[], ""),
    });
    let proxy = start(&[index.url("/simple")]);
    let get = async |path: &str| proxy.get(path, &[]).await.bytes().await.unwrap();
    // Metadata first, as installers do.
    assert_eq!(get("/f/Foo_Bar-1.0-py3-none-any.whl.metadata").await, metadata);
    assert_eq!(get("/f/Foo_Bar-1.0-py3-none-any.whl").await, wheel);
    assert_eq!(get("/f/Foo_Bar-1.0-py3-none-any.whl.asc").await, metadata);
    // Either spelling of a path.
    assert_eq!(get("/f/foo_bar-1.0%2Blocal.zip").await, wheel);
    assert_eq!(get("/f/foo_bar-1.0+local.zip").await, wheel);
    // An ambiguous name: the project may be `foo-bar-2-1-0`, `foo-bar-2` or `foo-bar`.
    assert_eq!(get("/f/foo-bar-2-1.0-3.tar.gz").await, wheel);
    assert_eq!(index.paths(), ["/simple/foo-bar/", "/simple/foo-bar-2-1-0/", "/simple/foo-bar-2/"]);
    let json = proxy.json("/simple/foo-bar/", &[("accept", "application/vnd.pypi.simple.v1+json")]).await;
    assert_eq!(json["files"][1]["url"], "../../f/foo_bar-1.0%2Blocal.zip");
}

#[tokio::test]
async fn a_moved_file_is_found_by_its_name() {
    let wheel = content(1000);
    let files = host([(PATH, wheel.clone())]);
    let index = index(&[("demo", &[(WHEEL, files.url(PATH), wheel.clone())])]);
    let proxy = start(&[index.url("/simple")]);
    for path in [format!("/old/place/{WHEEL}"), format!("/{WHEEL}")] {
        assert_eq!(proxy.get(&path, &[]).await.bytes().await.unwrap(), wheel, "{path}");
    }
    assert_eq!(files.paths(), [PATH]);
}

#[tokio::test]
async fn unlisted_files_come_from_the_host_of_the_listed_ones() {
    let wheel = content(1000);
    let path = "/packages/zz/demo-0.9-py3-none-any.whl";
    let files = host([
        (PATH, wheel.clone()),
        (path, content(500)),
        ("/packages/zz/demo-0.9-py3-none-any.whl.metadata", "Name: demo".into()),
        ("/other/demo-0.9-py3-none-any.whl", wheel.slice(..10)),
    ]);
    let index = index(&[("demo", &[(WHEEL, files.url(PATH), wheel.clone())]), ("empty", &[])]);
    let dir = tempfile::tempdir().unwrap();
    let setup = || Setup::new(dir.path(), &[index.url("/simple")]);
    let proxy = setup().start().await;
    let cold = proxy.get(path, &[]).await;
    assert_eq!(cold.headers()["x-cache"], "miss");
    assert_eq!(cold.bytes().await.unwrap(), content(500));
    let part = proxy.get(path, &[("range", "bytes=10-19")]).await;
    assert_eq!((part.status().as_u16(), part.bytes().await.unwrap()), (206, content(500).slice(10..20)));
    assert_eq!(status(&proxy, &format!("{path}.metadata")).await, 200);
    assert_eq!(files.count_of(path), 1);
    // Missing at the host as well; outside of the folder of the listed files; without metadata on the page.
    assert_eq!(status(&proxy, "/packages/zz/demo-0.8-py3-none-any.whl").await, 404);
    assert_eq!(status(&proxy, "/other/demo-0.9-py3-none-any.whl").await, 404);
    assert_eq!(files.count_of("/other/demo-0.9-py3-none-any.whl"), 0);
    let requests = files.count();
    // The host of the index, which has neither.
    assert_eq!(status(&proxy, "/packages/empty-1.0.zip").await, 404);
    assert_eq!(status(&proxy, "/packages/missing-1.0.zip").await, 404);
    assert_eq!(index.count_of("/packages/empty-1.0.zip") + index.count_of("/packages/missing-1.0.zip"), 2);
    assert_eq!(files.count(), requests);
    proxy.stop().await;
    // The stored file and its page are enough.
    let mut offline = setup();
    offline.upstreams[0].offline = true;
    let proxy = offline.start().await;
    let hit = proxy.get(path, &[]).await;
    assert_eq!((hit.status().as_u16(), hit.headers()["x-cache"].to_str().unwrap()), (200, "hit"));
    assert_eq!(hit.bytes().await.unwrap(), content(500));
    let page = proxy.json("/simple/demo/", &[("accept", "application/vnd.pypi.simple.v1+json")]).await;
    assert_eq!(page["files"][0]["url"], format!("../..{PATH}"));
    assert_eq!(status(&proxy, "/packages/zz/demo-0.8-py3-none-any.whl").await, 504);
}

/// An index below a folder of a host, with credentials for all of the host.
#[tokio::test]
async fn credentials_apply_to_the_folder_of_the_index() {
    let server = Server::start(|request| match &*request.path {
        _ if request.header("authorization").is_empty() => respond(401, &[], ""),
        "/team/simple/demo/" => {
            respond(200, &[JSON], page("demo", &[(WHEEL, "../../packages/x/demo-1.0-py3-none-any.whl")]))
        }
        // The page has its size, so that it is not checked.
        path if path.contains("/x/") => respond(200, &[], "x"),
        path if path.ends_with(".whl") => respond(200, &[], content(100)),
        _ => respond(404, &[], ""),
    });
    let url = server.url("/team/simple/").replace("http://", "http://reader:secret@");
    let proxy = start(&[url]);
    assert_eq!(status(&proxy, "/team/packages/x/demo-1.0-py3-none-any.whl").await, 200);
    assert_eq!(status(&proxy, "/team/packages/y/demo-2.0-py3-none-any.whl").await, 200);
    assert_eq!(status(&proxy, "/team/packages/y/other-2.0-py3-none-any.whl").await, 200);
    let requests = server.count();
    for path in
        ["/other/demo-2.0-py3-none-any.whl", "/teams/demo-2.0-py3-none-any.whl", "/demo-2.0-py3-none-any.whl"]
    {
        assert_eq!(status(&proxy, path).await, 404, "{path}");
    }
    assert_eq!(server.count(), requests);
}

#[tokio::test]
async fn rules_apply_to_paths() {
    let wheel = content(1000);
    let files = host([
        (PATH, wheel.clone()),
        ("/packages/evil-1.0-2.zip", wheel.clone()),
        ("/packages/demo-2.0.zip", wheel.clone()),
    ]);
    let index = index(&[
        ("demo", &[(WHEEL, files.url(PATH), wheel.clone())]),
        ("evil", &[("evil-1.0-2.zip", files.url("/packages/evil-1.0-2.zip"), wheel.clone())]),
    ]);
    let deny = Rules { deny: entries(&["evil"]), ..Rules::default() };
    let proxy = start_with(&[index.url("/simple")], |setup| setup.pages.rules = deny);
    // The project may be `evil` or `evil-1-0`.
    let refused = proxy.get("/packages/evil-1.0-2.zip", &[]).await;
    assert_eq!(refused.status(), 403);
    assert!(refused.text().await.unwrap().contains("denies the project"));
    assert_eq!(index.count_of("/simple/evil/"), 0);
    assert_eq!(status(&proxy, PATH).await, 200);

    let allow = Rules { allow: entries(&["demo"]), ..Rules::default() };
    let proxy = start_with(&[index.url("/simple")], |setup| setup.pages.rules = allow);
    assert_eq!(status(&proxy, "/packages/evil-1.0-2.zip").await, 403);
    assert_eq!(status(&proxy, "/packages/demo-2.0.zip").await, 200);

    // The version is known although no page lists the file.
    let deny = Rules { deny: entries(&["demo >=2"]), ..Rules::default() };
    let proxy = start_with(&[index.url("/simple")], |setup| setup.pages.rules = deny);
    for path in ["/packages/demo-2.0.zip", "/packages/demo-2.0-py3-none-any.whl.metadata"] {
        let refused = proxy.get(path, &[]).await;
        assert_eq!(refused.status(), 403, "{path}");
        assert!(refused.headers().contains_key("x-pypi-proxy-rule"), "{:?}", refused.headers());
    }
    assert_eq!(status(&proxy, PATH).await, 200);

    // No file of a quarantined project.
    let page =
        json!({"meta": {"api-version": "1.4"}, "files": [], "project-status": {"status": "quarantined"}});
    let quarantined = Server::start(move |_| respond(200, &[JSON], page.to_string()));
    let proxy = start(&[quarantined.url("/simple")]);
    assert_eq!(status(&proxy, PATH).await, 403);
    assert_eq!(quarantined.paths(), ["/simple/demo/"]);

    // Neither file has an upload time.
    for (unknown, expected) in [(UnknownAge::Deny, 403), (UnknownAge::Allow, 200)] {
        let rules = Rules { min_age: Duration::from_secs(1), min_age_unknown: unknown, ..Rules::default() };
        let proxy = start_with(&[index.url("/simple")], |setup| setup.pages.rules = rules);
        assert_eq!(status(&proxy, PATH).await, expected);
        assert_eq!(status(&proxy, "/packages/demo-2.0.zip").await, expected);
    }

    // Hosts of files that the operator does not allow.
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.upstreams[0].file_hosts = Some(vec!["files.example.org".into()]);
    });
    let listed = json!({"meta": {"api-version": "1.0"}, "files": [{"filename": WHEEL, "hashes": {},
        "url": "http://localhost:1/f/demo-1.0-py3-none-any.whl"}]})
    .to_string();
    let other = Server::start(move |_| respond(200, &[JSON], listed.clone()));
    let strict = start_with(&[other.url("/simple")], |setup| {
        setup.upstreams[0].file_hosts = Some(vec!["files.example.org".into()]);
    });
    for path in ["/f/demo-1.0-py3-none-any.whl", "/f/demo-2.0-py3-none-any.whl"] {
        assert_eq!(status(&strict, path).await, 403, "{path}");
    }
    assert_eq!(status(&proxy, PATH).await, 200, "the host of the index");
}

/// A lock file of the second index gets the files of the second index.
#[tokio::test]
async fn the_path_selects_one_of_several_indexes() {
    let html = |path: &str, content: &Bytes| {
        format!("<a href=\"{path}/{WHEEL}#sha256={}\">x</a>", digest_of(content))
    };
    let contents = [content(1000), content(700)];
    let [first, second] =
        [("/a", contents[0].clone()), ("/b", contents[1].clone())].map(|(path, content)| {
            let page = html(path, &content);
            Server::start(move |request| match &*request.path {
                "/simple/demo/" => respond(200, &[HTML], page.clone()),
                other if other.starts_with(path) => ranged(request, &[], &content),
                _ => respond(404, &[], ""),
            })
        });
    let proxy = start_with(&[first.url("/simple"), second.url("/simple")], |setup| {
        setup.always_revalidate();
        setup.pages.strategy = IndexStrategy::UnsafeBestMatch;
        setup.pages.merge_projects = vec![ProjectPattern::parse("demo").unwrap()];
    });
    let get = async |path: String| proxy.get(&path, &[]).await.bytes().await.unwrap();
    for _ in 0..2 {
        assert_eq!(get(format!("/b/{WHEEL}")).await, contents[1]);
        assert_eq!(get(format!("/a/{WHEEL}")).await, contents[0]);
        assert_eq!(get(format!("/c/{WHEEL}")).await, contents[0]);
        assert_eq!(get(format!("/simple/demo/{WHEEL}")).await, contents[0]);
    }
    // The page links the file of the first index. Its size is that of the first file.
    until("the size is listed", async || {
        let page = proxy.json("/simple/demo/", &[("accept", "application/vnd.pypi.simple.v1+json")]).await;
        assert_eq!(page["files"][0]["url"], format!("../../a/{WHEEL}"));
        assert_ne!(page["files"][0]["size"], 700);
        page["files"][0]["size"] == 1000
    })
    .await;
    // An unlisted file of either index.
    assert_eq!(get("/b/demo-2.0.zip".into()).await, contents[1]);
}

#[tokio::test]
async fn failures_of_the_index_and_the_host_are_reported() {
    let wheel = content(100_000);
    let sent = wheel.clone();
    let path = "/packages/demo-0.9.zip";
    // The first connection breaks after half of the file.
    let files = Server::start(move |request| match (&*request.path, request.nth) {
        ("/packages/demo-0.9.zip", 0) => {
            vec![
                head(200, &[("content-length", "100000"), ("etag", "\"1\"")]),
                Step::Send(sent.slice(..50_000)),
                Step::Reset,
            ]
        }
        ("/packages/demo-0.9.zip", _) => ranged(request, &[("etag", "\"1\"")], &sent),
        ("/packages/demo-0.8.zip", _) => respond(500, &[], "secret"),
        _ => respond(404, &[], ""),
    });
    let listed = index(&[("demo", &[(WHEEL, files.url(PATH), content(10))])]);
    let proxy = start(&[listed.url("/simple")]);
    assert_eq!(proxy.get(path, &[]).await.bytes().await.unwrap(), wheel);
    assert_eq!(status(&proxy, "/packages/demo-0.8.zip").await, 502);
    // The page lists the file, but the host lost it.
    assert_eq!(status(&proxy, PATH).await, 404);
    // No page, so it is unknown which index has the project.
    let broken = Server::start(|_| respond(500, &[], "secret"));
    let proxy = start(&[broken.url("/simple"), listed.url("/simple")]);
    let response = proxy.get(path, &[]).await;
    assert_eq!(response.status(), 502);
    assert!(!response.text().await.unwrap().contains("secret"));
    let gone = start(&["http://127.0.0.1:1/simple".to_owned()]);
    assert_eq!(status(&gone, path).await, 502);
}
