//! Indexes behind logins, firewalls and object stores, as deployments have them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use pypi_proxy::page_cache::{self, Claims, PageCache};
use pypi_proxy::{Error, Page, ProjectName};
use tokio::sync::Semaphore;

use crate::support::prelude::*;

const PLAIN: (&str, &str) = ("content-type", "text/plain");
const PLAIN_JSON: (&str, &str) = ("content-type", "application/json");
const FILE: &str = "demo-1.0.tar.gz";

fn demo() -> ProjectName {
    ProjectName::parse("demo").unwrap()
}

/// Responses with status 200 to a request for the page of `demo` that are not this page.
const OTHER_PAGES: [((&str, &str), &str); 14] = [
    (HTML, "<html><title>Sign in</title><form action='/login'><input name=user></form></html>"),
    (HTML, "<html><title>Network login</title><a href='https://login.example.org/'>log in</a></html>"),
    (HTML, "<title>Help</title><a href='/static/manual-1.0.zip'>manual</a>"),
    (HTML, "<script>document.write('<a href=\"demo-1.0.zip\">x</a>')</script>"),
    (HTML, "<!-- <a href=demo-1.0.zip>x</a> --><h1>Welcome</h1>"),
    (HTML, "<title>Links for other</title>"),
    (HTML, "<meta name=pypi:repository-version content=1.0><title>Links for other</title>"),
    (HTML, ""),
    (PLAIN, "Blocked by the firewall"),
    (PLAIN, "<title>Links for demo</title><a href=demo-1.0.zip>x</a>"),
    (JSON, "{}"),
    (PLAIN_JSON, "[]"),
    (PLAIN_JSON, r#"{"files":[]}"#),
    (JSON, r#"{"meta":{"api-version":"1.0"},"name":"other","files":[]}"#),
];

/// Empty pages of `demo`.
const EMPTY_PAGES: [((&str, &str), &str); 7] = [
    (HTML, "<meta name=pypi:repository-version content=1.0><title>Links for demo</title>"),
    (HTML, "<meta name=api-version value=2><title>Simple Index</title>"),
    (HTML, "<html><title>Links for Demo</title><h1>Links for Demo</h1></html>"),
    (HTML, "<title>Index of /simple/demo/</title><a href=../>../</a>"),
    (JSON, r#"{"meta":{"api-version":"1.0"},"name":"Demo","files":[]}"#),
    (PLAIN_JSON, r#"{"meta":{"api-version":"1.4"},"name":"demo","files":[],"versions":[]}"#),
    (PLAIN_JSON, "\u{feff}{\"name\":\"demo\",\"files\":[]}"),
];

/// Lists with `demo`; whether they are lists of projects.
const LISTS: [((&str, &str), &str, bool); 13] = [
    (JSON, r#"{"projects":[{"name":"demo"}]}"#, true),
    (JSON, r#"{"meta":{"api-version":"1.0"},"projects":[]}"#, true),
    (HTML, "<title>Simple index</title><a href=demo/>demo</a>", true),
    (HTML, "<title>root/dev: simple list</title><a href=demo>demo</a>", true),
    (HTML, "<title>Index of /simple/</title><a href=demo/>demo..&gt;</a>", true),
    (HTML, "<a href='/simple/demo/'>Demo</a><a href='../'>up</a>", true),
    (HTML, "<title>Our packages</title><a href='https://x.example.org/simple/demo/'>demo/</a>", true),
    (HTML, "<title>Sign in</title><a href='demo/'>demo</a><form><input></form>", false),
    (HTML, "<title>Portal</title><a href='/demo/'>demo</a>", false),
    (HTML, "<a href='demo/'>more about it</a>", false),
    (HTML, "<p>nothing</p>", false),
    (PLAIN, "demo", false),
    (JSON, r#"{"projects":[]}"#, false),
];

/// Index that sends this response for all pages, or 404 once `is_gone` is set.
fn answering(
    (content_type, body): ((&'static str, &'static str), &'static str),
    is_gone: &Arc<AtomicBool>,
) -> Server {
    let is_gone = is_gone.clone();
    Server::start(move |_| match is_gone.load(Ordering::Relaxed) {
        true => respond(404, &[], ""),
        false => respond(200, &[content_type], body),
    })
}

fn with_demo() -> Server {
    file_index([(FILE, Bytes::from_static(b"x"))])
}

/// Cache of a private index and a public one, which revalidates all pages.
fn private_and_public(private: &str, public: &Server, claims: &Claims) -> PageCache {
    let upstreams = [private.to_owned(), public.url("/simple/")]
        .map(|url| upstream(&url, |config| config.ttl = Duration::ZERO));
    let config = page_cache::Config {
        private: vec![0],
        claims: claims.clone(),
        stale_if_error: Duration::ZERO,
        stale_while_revalidate: Duration::ZERO,
        negative_ttl: Duration::ZERO,
        ..page_cache::Config::default()
    };
    PageCache::new(upstreams.into(), config)
}

async fn count(pages: &PageCache) -> Result<usize, Error> {
    Ok(pages.project(&demo()).await?.page.file(FILE).iter().count())
}

#[tokio::test(flavor = "multi_thread")]
async fn other_pages_neither_claim_names_nor_replace_pages() {
    let public = with_demo();
    for other in OTHER_PAGES {
        let is_gone = Arc::new(AtomicBool::new(false));
        let private = answering(other, &is_gone);
        let (url, claims) = (private.url("/simple/"), Claims::default());
        let pages = private_and_public(&url, &public, &claims);
        assert!(count(&pages).await.unwrap_err().is_page(), "{other:?}");
        is_gone.store(true, Ordering::Relaxed);
        assert_eq!(count(&pages).await.unwrap(), 1, "{other:?}");
        // It does not replace a good page either.
        let good = Arc::new(AtomicBool::new(true));
        let is_good = good.clone();
        let index = Server::start(move |_| match is_good.load(Ordering::Relaxed) {
            true => respond(200, &[JSON], page("demo", &[(FILE, "x")])),
            false => respond(200, &[other.0], other.1),
        });
        let proxy = start_with(&[index.url("/simple/")], Setup::always_revalidate);
        assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 200);
        good.store(false, Ordering::Relaxed);
        let response = proxy.get("/simple/demo/", &[]).await;
        assert_eq!(response.headers()["x-cache"], "stale", "{other:?}");
        assert!(response.text().await.unwrap().contains(FILE), "{other:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_pages_claim_their_names_until_they_are_purged() {
    let public = with_demo();
    for empty in EMPTY_PAGES {
        let is_gone = Arc::new(AtomicBool::new(false));
        let private = answering(empty, &is_gone);
        let claims = Claims::default();
        let pages = private_and_public(&private.url("/simple/"), &public, &claims);
        assert_eq!(count(&pages).await.unwrap(), 0, "{empty:?}");
        is_gone.store(true, Ordering::Relaxed);
        assert!(count(&pages).await.unwrap_err().is_not_found(), "{empty:?}");
        assert_eq!(claims.names(), [(private.url("/simple/"), vec![demo()])]);
        pages.purge(Some(&demo())).await.unwrap();
        assert!(!claims.remove(&demo()).unwrap());
        assert_eq!(count(&pages).await.unwrap(), 1, "{empty:?}");
    }
}

/// A wrong page, requested before the purge that removes its claim, arrives after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_that_began_before_a_purge_claims_nothing() {
    let (public, claims, gate) = (with_demo(), Claims::default(), Arc::new(Semaphore::new(0)));
    let step = Step::Gate(gate.clone());
    let private = Server::start(move |request| match request.nth {
        0 if request.path == "/simple/" => {
            [vec![step.clone()], respond(200, &[JSON], r#"{"projects":[{"name":"demo"},{"name":"own"}]}"#)]
                .concat()
        }
        0 => [vec![step.clone()], respond(200, &[JSON], page("demo", &[]))].concat(),
        _ => respond(404, &[], ""),
    });
    let pages = private_and_public(&private.url("/simple/"), &public, &claims);
    let purge = async {
        until("both are requested", async || private.count() == 2).await;
        pages.purge(Some(&demo())).await.unwrap();
        gate.add_permits(2);
    };
    let _ = tokio::join!(count(&pages), pages.list(), purge);
    let own = ProjectName::parse("own").unwrap();
    assert_eq!(claims.names(), [(private.url("/simple/"), vec![own])]);
    assert_eq!(count(&pages).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_told_from_other_pages() {
    let public = with_demo();
    for (content_type, body, is_list) in LISTS {
        let server = answering((content_type, body), &Arc::default());
        let claims = Claims::default();
        let pages = private_and_public(&server.url("/simple/"), &public, &claims);
        let listed = pages.list().await;
        assert_eq!(listed.is_ok(), is_list, "{body} {listed:?}");
        let has_name = claims.names().iter().any(|(_, names)| names.contains(&demo()));
        assert_eq!(has_name, is_list && body.contains("demo"), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_from_another_origin_claim_nothing() {
    let (other, public) = (with_demo(), with_demo());
    let location = other.url("/simple/demo/");
    let is_gone = Arc::new(AtomicBool::new(false));
    let gone = is_gone.clone();
    let private = Server::start(move |request| match (gone.load(Ordering::Relaxed), &*request.path) {
        (true, _) => respond(404, &[], ""),
        (_, "/old/demo/") => respond(302, &[("location", "/simple/demo/")], ""),
        (_, "/old/") => respond(302, &[("location", &location.replace("demo/", ""))], ""),
        _ => respond(302, &[("location", &location)], ""),
    });
    let claims = Claims::default();
    let pages = private_and_public(&private.url("/old/"), &public, &claims);
    assert_eq!(count(&pages).await.unwrap(), 1);
    pages.list().await.unwrap();
    assert_eq!(claims.names(), [(private.url("/old/"), vec![])]);
    is_gone.store(true, Ordering::Relaxed);
    assert_eq!(count(&pages).await.unwrap(), 1);
    assert!(public.count() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn relative_urls_refer_to_the_page_that_a_redirect_led_to() {
    const JSON_PAGE: &str =
        r#"{"files": [{"filename": "demo-1.0.zip", "url": "f/demo-1.0.zip", "hashes": {}}]}"#;
    for (content_type, page) in [(HTML, "<a href='f/demo-1.0.zip'>demo</a>"), (JSON, JSON_PAGE)] {
        let new = Server::start(move |request| match &*request.path {
            "/new/demo/index.html" => respond(200, &[content_type], page),
            "/new/demo/f/demo-1.0.zip" => respond(200, &[], zip()),
            _ => respond(404, &[], ""),
        });
        let location = new.url("/new/demo/index.html");
        let index = Server::start(move |_| respond(301, &[("location", &location)], ""));
        let dir = tempfile::tempdir().unwrap();
        // From the index, and from the page on disk.
        for file in ["/new/demo/f/demo-1.0.zip", "/simple/demo/demo-1.0.zip"] {
            let proxy = Setup::new(dir.path(), &[index.url("/simple/")]).start().await;
            let page = proxy.json("/simple/demo/", &[("accept", JSON.1)]).await;
            assert_eq!(page["files"][0]["url"], "../../new/demo/f/demo-1.0.zip");
            let response = proxy.get(file, &[]).await;
            assert_eq!(
                (response.status().as_u16(), response.bytes().await.unwrap()),
                (200, zip().into()),
                "{file}"
            );
            proxy.stop().await;
        }
        assert_eq!(index.count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_an_open_index_is_no_failure_of_the_next_one() {
    let public = with_demo();
    let file = format!("/simple/demo/{FILE}");
    // Status, statuses that mean missing, credentials; status with one index, and with another one behind it.
    for (status, missing, user, alone, followed) in [
        (403, &[][..], "", 403, 200),
        (401, &[], "", 403, 200),
        (403, &[403], "", 404, 200),
        (400, &[], "", 502, 502),
        (400, &[400], "", 404, 200),
        (403, &[], "user:secret@", 403, 403),
        (401, &[], "user:secret@", 403, 403),
        (403, &[403], "user:secret@", 404, 200),
    ] {
        let server = Server::start(move |_| respond(status, &[], "<Error/>"));
        let url = server.url("/simple/").replace("http://", &format!("http://{user}"));
        for (indexes, expected) in [(vec![url.clone()], alone), (vec![url, public.url("/simple/")], followed)]
        {
            let proxy = start_with(&indexes, |setup| setup.upstreams[0].missing_statuses = missing.to_vec());
            for path in ["/simple/demo/", &file] {
                let response = proxy.get(path, &[]).await;
                assert_eq!(response.status(), expected, "{status} {missing:?} {user} {path}");
                let text = response.text().await.unwrap();
                assert!(!text.contains("secret"), "{text}");
                assert_eq!(text.contains("missing_statuses"), expected == 403, "{text}");
            }
        }
    }
}

fn zip() -> Vec<u8> {
    let mut output = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut output);
    archive.new_dir("demo/").create().unwrap();
    archive.finish().unwrap();
    output
}

fn gzip() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    std::io::Write::write_all(&mut encoder, &content(5000)).unwrap();
    encoder.finish().unwrap()
}

/// Compressed files of a few bytes. The end of the first one is not aligned to bytes.
const BZIP2: &[u8] =
    b"BZh91AY&SY\x19\x31\x65\x3d\x00\x00\x00\x81\x00\x02\x44\xa0\x00\x21\x9a\x68\x33\x4d\x07\x33\x8b\
    \xb9\x22\x9c\x28\x48\x0c\x98\xb2\x9e\x80";
const XZ: &[u8] =
    b"\xfd7zXZ\0\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\x01\x00\x04hello\
    \x00\x00\x00\x00\xb1\x37\xb9\xdb\xe5\xda\x1e\x9b\x00\x01\x1d\x05\xb8\x2d\x80\xaf\x1f\xb6\xf3\x7d\x01\x00\
    \x00\x00\x00\x04YZ";

#[tokio::test(flavor = "multi_thread")]
async fn files_without_a_hash_are_checked_before_they_are_stored() {
    let (zip, gzip) = (zip(), gzip());
    let cut = |bytes: &[u8]| bytes[..bytes.len() - 5].to_vec();
    let files: Vec<(&str, Vec<u8>, bool)> = vec![
        ("demo-1.0-py3-none-any.whl", zip.clone(), true),
        ("demo-1.0.zip", [&zip[..zip.len() - 2], b"\x03\0abc"].concat(), true),
        ("demo-1.0.tar.gz", gzip.clone(), true),
        ("demo-1.0.tar.bz2", BZIP2.to_vec(), true),
        ("demo-1.1.tar.bz2", b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0".to_vec(), true),
        ("demo-1.0.tar.xz", XZ.to_vec(), true),
        ("demo-1.1.tar.xz", [XZ, &[0; 4]].concat(), true),
        ("demo-2.0-py3-none-any.whl", b"\n<!DOCTYPE html><title>Sign in</title>".to_vec(), false),
        ("demo-2.0.tar.gz", b"<html>blocked</html>".to_vec(), false),
        ("demo-2.0.tar.bz2", b"\xef\xbb\xbf<?xml version='1.0'?><Error/>".to_vec(), false),
        ("demo-2.1-py3-none-any.whl", b"Blocked by the firewall".to_vec(), false),
        ("demo-2.2-py3-none-any.whl", cut(&zip), false),
        ("demo-2.1.tar.gz", cut(&gzip), false),
        ("demo-2.2.tar.gz", gzip[..20].to_vec(), false),
        ("demo-2.1.tar.bz2", BZIP2[..BZIP2.len() - 1].to_vec(), false),
        ("demo-2.2.tar.bz2", b"BZh".to_vec(), false),
        ("demo-2.1.tar.xz", XZ[..XZ.len() - 1].to_vec(), false),
        ("demo-2.2.tar.xz", XZ[..30].to_vec(), false),
        ("demo-2.2.zip", Vec::new(), false),
        ("demo-2.3.tar.gz", Vec::new(), false),
        ("demo-2.4.tar.gz", b"{\"errors\": []}".to_vec(), false),
        ("demo-2.4.egg", Vec::new(), false),
        ("demo-2.5.tar.gz", b"Blocked by the firewall".to_vec(), false),
        ("demo-2.5.TGZ", zip.clone(), false),
        ("demo-2.5.tar.bz2", gzip.clone(), false),
        ("demo-2.5.tar.xz", b"Blocked by the firewall".to_vec(), false),
        ("demo-1.0-py3-none-any.whl.metadata", b"Metadata-Version: 2.1\nName: demo\n".to_vec(), true),
        ("demo-2.0-py3-none-any.whl.metadata", b"Not found".to_vec(), false),
        ("demo-2.1-py3-none-any.whl.metadata", gzip.clone(), false),
    ];
    let entry = |(name, ..): &(&str, Vec<u8>, bool)| json!({"filename": name, "url": format!("/f/{name}"), "hashes": {}});
    let page = page_of(&files.iter().map(entry).collect::<Vec<_>>());
    let bodies = files.clone();
    let index = Server::start(move |request| match request.path.strip_prefix("/f/") {
        None => respond(200, &[JSON], page.clone()),
        Some(file) => {
            let (_, body, _) = bodies.iter().find(|(name, ..)| *name == file).unwrap();
            // Without a length, the end of the connection is the end of the body.
            let has_length = file.ends_with(".zip") || file.ends_with(".tar.gz");
            if has_length {
                respond(200, &[], body.clone())
            } else {
                vec![head(200, &[]), Step::Send(body.clone().into())]
            }
        }
    });
    let proxy = start(&[index.url("/simple/")]);
    for (name, body, is_good) in files {
        let path = format!("/simple/demo/{name}");
        for nth in 0..2 {
            let response = proxy.get(&path, &[]).await;
            let is_immutable = response
                .headers()
                .get("cache-control")
                .is_some_and(|value| value.to_str().unwrap().contains("immutable"));
            assert_eq!(is_immutable, is_good && nth > 0, "{name}");
            let status = response.status();
            let received = response.bytes().await;
            let is_served = status == 200 && received.is_ok_and(|received| received == body);
            assert_eq!(is_served, is_good, "{name}");
        }
        assert_eq!(index.count_of(&format!("/f/{name}")), if is_good { 1 } else { 2 }, "{name}");
    }
}

#[tokio::test]
async fn archives_with_a_content_encoding_are_passed_on() {
    let content = Bytes::from(gzip());
    for coding in ["gzip", "x-gzip", "identity", "br"] {
        let (page, sent) = (hashed_page([(FILE, content.clone())]), content.clone());
        let index = Server::start(move |request| match &*request.path {
            "/simple/demo/" => respond(200, &[JSON], page.clone()),
            _ => ranged(request, &[("content-encoding", coding)], &sent),
        });
        let proxy = start(&[index.url("/simple/")]);
        for headers in [&[][..], &[("range", "bytes=0-9")]] {
            let response = proxy.get(&format!("/simple/demo/{FILE}"), headers).await;
            assert_eq!(response.headers().get("content-encoding"), None, "{coding}");
            let end = if headers.is_empty() { content.len() } else { 10 };
            assert_eq!(response.bytes().await.unwrap(), content.slice(..end), "{coding}");
        }
    }
}

#[tokio::test]
async fn long_names_and_names_with_spaces_are_served() {
    let long = format!("demo-1.0+{}.tar.gz", "x".repeat(255 - 16));
    assert_eq!(long.len(), 255);
    let spaced = "My demo-1.0 final.zip";
    let body = Bytes::from_static(b"content");
    for is_json in [true, false] {
        let urls = [format!("/f/{long}"), format!("/f/{spaced}")];
        let (page, kind) = if is_json {
            let mut files = [listed(&long, &body), listed(spaced, &body)];
            files[0]["provenance"] = "/p".into();
            (page_of(&files), JSON)
        } else {
            (urls.map(|url| format!("<a href='{url}#sha256={}'>x</a>", digest_of(&body))).concat(), HTML)
        };
        let content = body.clone();
        let index = Server::start(move |request| match &*request.path {
            "/simple/demo/" => respond(200, &[kind], page.clone()),
            _ => respond(200, &[], content.clone()),
        });
        let proxy = start(&[index.url("/simple/")]);
        let page = proxy.json("/simple/demo/", &[("accept", JSON.1)]).await;
        assert_eq!((&page["name"], filenames(&page)), (&"demo".into(), vec![&*long, spaced]));
        for file in page["files"].as_array().unwrap() {
            let link = url::Url::parse(&proxy.url("/simple/demo/"))
                .unwrap()
                .join(file["url"].as_str().unwrap())
                .unwrap();
            let response = proxy.get(link.path(), &[]).await;
            assert_eq!(response.bytes().await.unwrap(), body, "{link}");
        }
    }
}

#[test]
fn tags_in_scripts_and_comments_are_no_files() {
    let html = "<title>Links for Demo</title><script>'<a href=demo-9.0.zip>'</script><style><a href=demo-8.0.zip></style>\
        <!-- <a href=demo-7.0.zip>x</a> --><textarea><a href=demo-6.0.zip></textarea><a href=demo-1.0.zip>x</a>";
    let page = Page::from_html(html.as_bytes()).unwrap();
    assert_eq!(page.files().map(|file| file.name()).collect::<Vec<_>>(), ["demo-1.0.zip"]);
    assert_eq!(page.name(), "demo");
}

#[tokio::test]
async fn uploads_get_a_reason() {
    let proxy = start(&[with_demo().url("/simple/")]);
    for (method, path) in
        [(Method::POST, "/"), (Method::POST, "/legacy/"), (Method::POST, "/simple/"), (Method::PUT, "/x")]
    {
        let response = proxy.send(method, path, &[]).await;
        assert_eq!(
            (response.status().as_u16(), &response.headers()["allow"]),
            (405, &"GET, HEAD".parse().unwrap())
        );
        let reason = response.extensions().get::<hyper::ext::ReasonPhrase>().unwrap();
        assert_eq!(reason.as_bytes(), b"Uploads Are Not Supported By This Proxy");
        assert!(response.text().await.unwrap().contains("read-only"));
    }
}
