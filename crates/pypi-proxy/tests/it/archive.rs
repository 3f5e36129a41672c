//! Export and import of a cache, in the process of the test.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::digest::{SHA512, digest};
use pypi_proxy::archive::{
    ExportOptions, ExportReport, ImportOptions, ImportReport, check_archive, entry, with_manifest,
};
use pypi_proxy::page_cache::{self, PageCache};
use pypi_proxy::serve::{self, Proxy};
use pypi_proxy::store::{self, Store};
use pypi_proxy::{Error, ProjectName};

use crate::faults_disk::Mount;
use crate::support::prelude::*;
use crate::support::proxy::open;

const WHEEL: &str = "demo-1.0-py3-none-any.whl";
const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Paths of everything that the index has, with the contents of files.
fn files() -> Vec<(&'static str, Bytes)> {
    vec![
        ("/simple/demo/demo-1.0-py3-none-any.whl", content(3000)),
        ("/simple/demo/demo-1.0-py3-none-any.whl.metadata", content(600)),
        ("/simple/plain/plain-1.0.tar", content(1500)),
        ("/simple/summed/summed-1.0.tar.gz", content(1700)),
    ]
}

/// Index with a project in JSON with hashes and metadata, and two projects in HTML: without hashes, and with a hash
/// other than SHA-256.
fn index() -> Server {
    let mut listed = listed(WHEEL, &content(3000));
    listed["core-metadata"] = json!({"sha256": digest_of(&content(600)).to_string()});
    let demo = page_of(&[listed]);
    let sha512: String =
        digest(&SHA512, &content(1700)).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let summed = format!("<a href=\"/f/summed-1.0.tar.gz#sha512={sha512}\">summed-1.0.tar.gz</a>");
    Server::start(move |request| {
        if let Some(name) = request.path.strip_prefix("/f/") {
            let found = files().into_iter().find(|(path, _)| path.ends_with(&format!("/{name}")));
            return found
                .map_or_else(|| respond(404, &[], ""), |(_, content)| ranged(request, &[], &content));
        }
        match &*request.path {
            "/simple/" => respond(200, &[JSON], r#"{"projects":[{"name":"Demo"}]}"#),
            "/simple/demo/" => respond(200, &[JSON, ("etag", "\"demo\"")], demo.clone()),
            "/simple/plain/" => respond(200, &[HTML], "<a href=\"/f/plain-1.0.tar\">plain-1.0.tar</a>"),
            "/simple/summed/" => respond(200, &[HTML], summed.clone()),
            _ => respond(404, &[], ""),
        }
    })
}

/// A proxy without a server, and its store.
struct Local {
    proxy: Proxy,
    store: Store,
}

impl Local {
    async fn open(dir: &Path, indexes: &[&str]) -> Self {
        let upstreams: Vec<_> =
            indexes.iter().map(|url| upstream(url, |config| config.offline = true)).collect();
        let store = open(store::Config::new(dir.join("cache"))).await.unwrap();
        let config = page_cache::Config { dir: Some(store.pages_dir()), ..page_cache::Config::default() };
        let pages = PageCache::new(upstreams.clone(), config);
        let proxy = Proxy::new(upstreams, pages, store.clone(), serve::Config::default());
        Self { proxy, store }
    }

    async fn export(&self, options: &ExportOptions<'_>) -> Result<(Vec<u8>, ExportReport), Error> {
        let mut archive = Vec::new();
        let report = self.proxy.export(options, &mut archive, |_, _| ()).await?;
        Ok((archive, report))
    }

    async fn import(&self, archive: &[u8]) -> Result<ImportReport, Error> {
        self.proxy.import(&ImportOptions::default(), archive, |done, total| assert!(done <= total)).await
    }
}

/// Starts a proxy that is offline, with the cache below a folder.
async fn offline(dir: &Path, indexes: &[&str]) -> RunningProxy {
    let indexes: Vec<_> = indexes.iter().map(|url| (*url).to_owned()).collect();
    let mut setup = Setup::new(dir, &indexes);
    setup.upstreams.iter_mut().for_each(|upstream| upstream.offline = true);
    setup.pages.stale_if_error = CENTURY;
    setup.start().await
}

/// Requests everything through a proxy of the index. Returns an archive of its cache, and the URL of the index.
async fn filled(dir: &Path) -> (Vec<u8>, String) {
    let index = index();
    let url = index.url("/simple/");
    let proxy = Setup::new(dir, std::slice::from_ref(&url)).start().await;
    for path in ["/simple/", "/simple/demo/", "/simple/plain/", "/simple/summed/"] {
        assert_eq!(proxy.get(path, &[]).await.status(), 200, "{path}");
    }
    fetch_all(&proxy).await;
    proxy.stop().await;
    let (archive, report) = Local::open(dir, &[&url]).await.export(&ExportOptions::default()).await.unwrap();
    assert_eq!((report.pages, report.files, report.bytes), (4, 4, 6800));
    assert_eq!((report.indexes, report.missing), (vec![url.clone()], Vec::new()));
    (archive, url)
}

async fn fetch_all(proxy: &RunningProxy) {
    for (path, content) in files() {
        let response = proxy.get(path, &[]).await;
        assert_eq!(response.status(), 200, "{path}");
        assert!(response.bytes().await.unwrap() == content, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_archive_serves_everything_without_the_index() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (archive, url) = filled(first.path()).await;
    let local = Local::open(second.path(), &[&url]).await;
    let report = local.import(&archive).await.unwrap();
    assert_eq!((report.pages, report.files, report.bytes, report.unbound_files), (4, 4, 6800, 0));
    // Again, nothing changes.
    let report = local.import(&archive).await.unwrap();
    assert_eq!((report.pages, report.kept_pages, report.files, report.stored_files), (0, 4, 0, 4));
    assert_eq!(report.unbound_files, 0);
    // The same contents result in the same bytes, and compression loses nothing.
    let again = local.export(&ExportOptions::default()).await.unwrap().0;
    assert!(again == archive);
    let compressed = ExportOptions { is_compressed: true, ..ExportOptions::default() };
    let small = local.export(&compressed).await.unwrap().0;
    assert!(small.len() < archive.len() && small == local.export(&compressed).await.unwrap().0);
    assert_eq!(zstd::decode_all(&small[..]).unwrap(), archive);
    assert_eq!(local.import(&small).await.unwrap().kept_pages, 4);
    drop(local);

    let proxy = offline(second.path(), &[&url]).await;
    fetch_all(&proxy).await;
    for path in ["/simple/", "/simple/demo/", "/simple/plain/"] {
        let response = proxy.get(path, &[("accept", "text/html")]).await;
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["x-pypi-proxy-offline"], "true", "{path}");
        let page = response.text().await.unwrap();
        assert_eq!(
            page.matches("<p>This proxy is offline. Only cached files are available.</p>").count(),
            1,
            "{page}"
        );
    }
    let response = proxy.get("/simple/demo/", &[("accept", JSON.1)]).await;
    assert_eq!(&response.headers()["x-pypi-proxy-offline"], "true");
    for path in ["/simple/other/", "/simple/other/other-1.0.tar.gz"] {
        let response = proxy.get(path, &[]).await;
        assert_eq!(response.status(), 504, "{path}");
        assert_eq!(response.headers()["x-pypi-proxy-offline"], "true", "{path}");
        let problem: Value = tightwire_json::from_str(&response.text().await.unwrap()).unwrap();
        assert!(problem["detail"].as_str().unwrap().contains("add it with pypi-proxy import"), "{problem}");
    }
    let status = proxy.get("/status", &[]).await.text().await.unwrap();
    assert!(status.contains("Offline: serving the cache only"), "{status}");
    assert_eq!(proxy.json("/status.json", &[]).await["texts"]["state"], "Offline: serving the cache only");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_online_proxy_shows_no_notice() {
    let index = index();
    let proxy = start(&[index.url("/simple/")]);
    let response = proxy.get("/simple/demo/", &[("accept", "text/html")]).await;
    assert!(!response.headers().contains_key("x-pypi-proxy-offline"));
    assert!(!response.text().await.unwrap().contains("offline"));
}

#[tokio::test(flavor = "multi_thread")]
async fn selected_projects_and_files_are_exported() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_, url) = filled(first.path()).await;
    let local = Local::open(first.path(), &[&url]).await;
    let name = |name: &str| ProjectName::parse(name).unwrap();
    let export = |names: &[&str]| ExportOptions {
        projects: Some(names.iter().map(|one| name(one)).collect()),
        ..ExportOptions::default()
    };
    let (archive, report) = local.export(&export(&["plain"])).await.unwrap();
    assert_eq!((report.pages, report.files), (1, 1));
    let target = Local::open(second.path(), &[&url]).await;
    target.import(&archive).await.unwrap();
    drop(target);
    let proxy = offline(second.path(), &[&url]).await;
    assert_eq!(proxy.get("/simple/plain/plain-1.0.tar", &[]).await.bytes().await.unwrap(), content(1500));
    assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 504);

    let error = local.export(&export(&["demo", "other"])).await.unwrap_err();
    assert!(error.is_not_found() && error.to_string().contains("other is not in the cache"), "{error}");
    let none = |_: &ProjectName, _: &str, _: Option<&store::Digest>| false;
    let report = local.export(&ExportOptions { files: Some(&none), ..export(&["demo"]) }).await.unwrap().1;
    assert_eq!((report.pages, report.files), (1, 0));
    // A selected file that is not stored is reported.
    assert!(local.store.remove(&digest_of(&content(3000))).unwrap());
    let all = |_: &ProjectName, _: &str, _: Option<&store::Digest>| true;
    let report = local.export(&ExportOptions { files: Some(&all), ..export(&["demo"]) }).await.unwrap().1;
    assert_eq!((report.files, report.missing), (1, vec![(name("demo"), WHEEL.to_owned())]));
    // A damaged file is not exported.
    std::fs::write(
        stored_path(&first.path().join("cache"), digest_of(&content(1500))),
        content(1501).slice(1..),
    )
    .unwrap();
    let error = local.export(&export(&["plain"])).await.unwrap_err();
    assert!(error.is_corrupt() && error.to_string().contains("run pypi-proxy verify"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn truncated_and_changed_archives_are_rejected() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (archive, url) = filled(first.path()).await;
    // Every changed byte is detected.
    check_archive(&archive).unwrap();
    let mut changed = archive.clone();
    for at in 0..archive.len() {
        changed[at] ^= 1 << (at % 8);
        assert!(check_archive(&changed).is_err(), "{at}");
        changed[at] = archive[at];
    }
    let local = Local::open(second.path(), &[&url]).await;
    let mut rejected = 0;
    for len in (0..archive.len()).step_by(512).chain([1, 511, 513, archive.len() - 1]) {
        let error = local.import(&archive[..len]).await.unwrap_err();
        assert!(error.is_archive() && error.to_string().contains("truncated"), "{len}: {error}");
        rejected += 1;
    }
    for at in (0..archive.len()).step_by(101) {
        changed[at] ^= 0x40;
        let error = local.import(&changed).await.unwrap_err();
        assert!(error.is_archive() || error.is_limit(), "{at}: {error}");
        changed[at] = archive[at];
        rejected += 1;
    }
    assert_eq!(rejected, archive.len().div_ceil(512) + 4 + archive.len().div_ceil(101));
    for more in [&[0][..], &archive] {
        let error = local.import(&[&archive, more].concat()).await.unwrap_err();
        assert!(error.to_string().contains("unexpected bytes after the end"), "{error}");
    }
    // The remaining files are intact, and no others are left over.
    assert_eq!(local.store.verify(|_, _| ()).unwrap().bad, []);
    assert_eq!(files_below(&second.path().join("cache/partial")), [""; 0].map(std::path::PathBuf::from));
    assert_eq!(local.import(&archive).await.unwrap().stored_files, 4);
    assert!(local.export(&ExportOptions::default()).await.unwrap().0 == archive);

    // A few bits of a compressed archive have no meaning. Then everything is intact.
    let compressed = ExportOptions { is_compressed: true, ..ExportOptions::default() };
    let small = local.export(&compressed).await.unwrap().0;
    let (mut accepted, mut rejected) = (0, 0);
    for at in (0..small.len()).step_by(29).chain(0..32) {
        let mut changed = small.clone();
        changed[at] ^= 1 << (at % 8);
        match local.import(&changed).await {
            Ok(report) => {
                assert_eq!(report.stored_files, 4);
                accepted += 1;
            }
            Err(_) => rejected += 1,
        }
    }
    assert!(accepted < 5 && rejected > small.len() / 29, "{accepted} {rejected}");
    for len in (0..small.len()).step_by(97) {
        assert!(local.import(&small[..len]).await.unwrap_err().is_archive(), "{len}");
    }
    let error = local.import(&[&small[..], b"x"].concat()).await.unwrap_err();
    assert!(error.to_string().contains("unexpected bytes after the end"), "{error}");
    assert_eq!(local.store.verify(|_, _| ()).unwrap().bad, []);
    assert!(local.export(&ExportOptions::default()).await.unwrap().0 == archive);
}

/// A manifest with one page, one file and one set of facts.
fn manifest(url: &str) -> Value {
    json!({
        "format": "pypi-proxy archive", "version": 1, "indexes": [url],
        "facts": [{"project": "demo", "sha256": digest_of(FACTS).to_string(), "size": FACTS.len()}],
        "files": [{"project": "demo", "name": WHEEL, "sha256": digest_of(b"wheel").to_string(), "size": 5}],
        "documents": [],
        "pages": [{"index": 0, "project": "demo", "is_json": false, "etag": null, "last_modified": null, "serial": null,
            "checked": 1, "modified": 1, "sha256": digest_of(PAGE).to_string(), "size": PAGE.len()}],
    })
}

const FACTS: &[u8] = br#"{"demo-1.0-py3-none-any.whl":{"size":5}}"#;
const PAGE: &[u8] = b"<a href=\"/f/demo-1.0-py3-none-any.whl\">demo-1.0-py3-none-any.whl</a>";

/// An archive with this manifest and these contents, by their folders.
fn archive(manifest: &Value, contents: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = with_manifest(manifest.to_string().as_bytes());
    for (folder, content) in contents {
        archive.extend(entry(&format!("{folder}/{}", digest_of(content)), content));
    }
    archive.extend([0; 1024]);
    archive
}

/// Corrects the checksum of the first header.
fn resummed(mut archive: Vec<u8>) -> Vec<u8> {
    archive[148..156].fill(b' ');
    let sum: u32 = archive[..512].iter().map(|byte| u32::from(*byte)).sum();
    archive[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    archive
}

#[tokio::test(flavor = "multi_thread")]
async fn malicious_archives_store_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let url = "https://packages.example.org/simple/";
    let contents = [("facts", FACTS), ("files", b"wheel"), ("pages", PAGE)];
    let local = Local::open(dir.path(), &[url]).await;
    let mut cases: Vec<(Vec<u8>, &str)> = Vec::new();
    let id = &*format!("demo@{}", "0".repeat(32));
    let mut changed = manifest(url);
    changed["documents"] = json!([{"index": 0, "project": "demo", "name": id, "checked": 1, "sha256": digest_of(b"{}").to_string(), "size": 2}]);
    let with_document = [&[("documents", &b"{}"[..])], &contents[..]].concat();
    cases.push((archive(&changed, &with_document), "is malformed"));
    for (path, value, expected) in [
        ("/format", json!("other"), "not written by pypi-proxy export"),
        ("/version", json!(2), "its format version is 2, but this program reads version 1"),
        ("/version", json!("1"), "malformed manifest"),
        ("/more", json!(1), "malformed manifest"),
        ("/indexes/0", json!("https://user:hunter2@packages.example.org/simple/"), "invalid URL of an index"),
        ("/indexes/0", json!("file:///etc/passwd"), "invalid URL of an index"),
        ("/indexes/0", json!("https://other.example.org/simple/"), "not an index of this proxy"),
        ("/files/0/name", json!("../../etc/passwd"), "invalid name of a file"),
        ("/files/0/name", json!("/etc/passwd"), "invalid name of a file"),
        ("/files/0/name", json!(".hidden"), "invalid name of a file"),
        ("/files/0/project", json!("../etc"), "invalid name of a project"),
        ("/files/0/project", json!("Demo"), "invalid name of a project"),
        ("/files/0/sha256", json!("12"), "invalid SHA-256"),
        ("/files/0/sha256", json!("../../../../etc/passwd"), "invalid SHA-256"),
        ("/files/0/sha256", json!("AB".repeat(32)), "invalid SHA-256"),
        ("/files/0/size", json!(u64::MAX), "the maximum is"),
        ("/files/0/size", json!(-1), "malformed manifest"),
        ("/files/0/size", json!(6), "expected the entry files/"),
        ("/facts/0/size", json!(1_u64 << 40), "the maximum is"),
        ("/facts/0/project", json!("@list"), "invalid name of a project"),
        ("/pages/0/size", json!(1_u64 << 40), "max_page_size"),
        ("/pages/0/index", json!(1), "a page of an unknown index"),
        ("/pages/0/project", json!("a/b"), "invalid name of a project"),
        (
            "/documents",
            json!([{"index": 7, "project": "demo", "name": id, "checked": 1, "sha256": "", "size": 1}]),
            "unknown index",
        ),
        (
            "/documents",
            json!([{"index": 0, "project": "demo", "name": "../x", "checked": 1, "sha256": "", "size": 1}]),
            "name of a document",
        ),
        (
            "/documents",
            json!([{"index": 0, "project": "x", "name": id, "checked": 1, "sha256": "", "size": 1}]),
            "name of a document",
        ),
        (
            "/documents",
            json!([{"index": 0, "project": "demo", "name": id, "checked": 1, "sha256": digest_of(b"{}").to_string(), "size": 2}]),
            "expected the entry documents/",
        ),
    ] {
        let mut changed = manifest(url);
        match path.rsplit_once('/').unwrap() {
            ("", name) => changed[name] = value,
            (parent, name) => match name.parse::<usize>() {
                Ok(index) => changed.pointer_mut(parent).unwrap()[index] = value,
                Err(_) => changed.pointer_mut(parent).unwrap()[name] = value,
            },
        }
        cases.push((archive(&changed, &contents), expected));
    }
    let mut twice = manifest(url);
    let file = twice["files"][0].clone();
    twice["files"] = json!([file, file]);
    cases.push((archive(&twice, &contents), "duplicate or unsorted"));
    let mut sizes = manifest(url);
    let mut file = sizes["files"][0].clone();
    (file["name"], file["size"]) = (json!("z.whl"), json!(7));
    sizes["files"] = json!([sizes["files"][0], file]);
    cases.push((archive(&sizes, &contents), "has two sizes"));
    // Entries other than those in the manifest.
    let start = with_manifest(manifest(url).to_string().as_bytes());
    for name in ["../../etc/passwd", "/etc/passwd", "facts/../../x"] {
        cases.push(([start.clone(), entry(name, FACTS)].concat(), "expected the entry facts/"));
    }
    let mut link = entry(&format!("facts/{}", digest_of(FACTS)), FACTS);
    // A symbolic link.
    link[156] = b'2';
    cases.push(([start.clone(), resummed(link)].concat(), "expected the entry facts/"));
    let mut huge = start.clone();
    huge[124..135].copy_from_slice(b"01000000001");
    cases.push((resummed(huge), "the manifest is larger than"));
    let mut huge = start.clone();
    huge[124..136].copy_from_slice(&[0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    cases.push((resummed(huge), "the manifest is larger than"));
    cases.push(([start.clone(), entry("facts/x", b"")].concat(), "expected the entry facts/"));
    let wrong = [entry(&format!("facts/{}", digest_of(FACTS)), &[b' '; 40][..FACTS.len()])].concat();
    cases.push(([start, wrong].concat(), "the hash of facts/"));
    // Facts that the proxy does not write, and a malformed page.
    for facts in [
        &br#"{"a.whl":{"time":"\"}]"}}"#[..],
        br#"{"../a":{"size":1}}"#,
        br#"{"a.whl":{"wheel":"x"}}"#,
        b"[]",
    ] {
        let mut changed = manifest(url);
        changed["facts"][0]["sha256"] = json!(digest_of(facts).to_string());
        changed["facts"][0]["size"] = json!(facts.len());
        cases.push((archive(&changed, &[("facts", facts), contents[1], contents[2]]), "is malformed"));
    }
    let mut file = content(5000).to_vec();
    file[257..265].copy_from_slice(b"ustar\x0000");
    cases.extend([(Vec::new(), "truncated"), (file, "not written by pypi-proxy export")]);
    cases.push((b"PK\x03\x04".repeat(1000), "not written by pypi-proxy export"));
    cases.push(([&[0x28, 0xb5, 0x2f, 0xfd][..], &content(500)].concat(), ""));
    for (archive, expected) in cases {
        let error = local.import(&archive).await.unwrap_err();
        assert!(error.is_archive() || error.is_limit(), "{error}");
        assert!(
            error.to_string().contains(expected) && !error.to_string().contains("hunter2"),
            "{expected}: {error}"
        );
    }
    // Facts are read first.
    let parts =
        ["files", "pages", "partial", "refs"].map(|part| files_below(&dir.path().join("cache").join(part)));
    let stored: Vec<_> =
        parts.concat().into_iter().filter(|path| !path.ends_with("pages/facts/demo")).collect();
    assert_eq!(stored, [""; 0].map(std::path::PathBuf::from));
    // The page is read last, so what precedes it is stored.
    let mut changed = manifest(url);
    changed["pages"][0]["is_json"] = json!(true);
    let error = local.import(&archive(&changed, &contents)).await.unwrap_err();
    assert!(error.is_archive() && error.to_string().contains("the page of demo is malformed"), "{error}");
    assert_eq!(local.store.stats().files, 1);
    local.import(&archive(&manifest(url), &contents)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_can_be_imported_for_another_index() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (archive, url) = filled(first.path()).await;
    let other = "https://mirror.example.org/team/simple/";
    let local = Local::open(second.path(), &[other]).await;
    let error = local.import(&archive).await.unwrap_err();
    let expected = format!("it has pages of {url}, which is not an index of this proxy");
    assert!(error.is_archive() && error.to_string().contains(&expected), "{error}");
    // The spelling of URLs does not matter.
    let indexes =
        BTreeMap::from([(url.trim_end_matches('/').to_owned(), other.trim_end_matches('/').to_owned())]);
    let options = ImportOptions { indexes, max_bytes: None };
    let report = local.proxy.import(&options, &archive[..], |_, _| ()).await.unwrap();
    assert_eq!((report.pages, report.files, report.unbound_files), (4, 4, 0));
    drop(local);
    fetch_all(&offline(second.path(), &[other]).await).await;
    let wrong = BTreeMap::from([(url, "https://no.example.org/".to_owned())]);
    let local = Local::open(first.path(), &[other]).await;
    let options = ImportOptions { indexes: wrong, max_bytes: None };
    let error = local.proxy.import(&options, &archive[..], |_, _| ()).await.unwrap_err();
    assert!(error.to_string().contains("https://no.example.org/, which is not an index"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_pages_are_kept() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let version = Arc::new(AtomicUsize::new(1));
    let current = version.clone();
    let index = Server::start(move |request| match &*request.path {
        "/simple/demo/" => {
            let name = format!("demo-{}.0.tar", current.load(Ordering::Relaxed));
            let serial = current.load(Ordering::Relaxed).to_string();
            let page = format!("<a href=\"/f/{name}\">{name}</a>");
            respond(200, &[HTML, ("x-pypi-last-serial", &serial)], page)
        }
        path => respond(200, &[], path.to_owned()),
    });
    let url = index.url("/simple/");
    let fill = async |dir: &Path, version: &str| {
        let mut setup = Setup::new(dir, std::slice::from_ref(&url));
        setup.always_revalidate();
        let proxy = setup.start().await;
        assert_eq!(proxy.get(&format!("/simple/demo/demo-{version}.0.tar"), &[]).await.status(), 200);
        proxy.stop().await;
    };
    fill(first.path(), "1").await;
    let old = Local::open(first.path(), &[&url]).await.export(&ExportOptions::default()).await.unwrap().0;
    version.store(2, Ordering::Relaxed);
    fill(second.path(), "2").await;
    let local = Local::open(second.path(), &[&url]).await;
    let newer = local.export(&ExportOptions::default()).await.unwrap().0;
    let report = local.import(&old).await.unwrap();
    assert_eq!((report.pages, report.kept_pages, report.files, report.unbound_files), (0, 1, 1, 0));
    assert!(local.export(&ExportOptions::default()).await.unwrap().0 == newer);
    // The other way round, the newer page replaces the older one.
    let local = Local::open(first.path(), &[&url]).await;
    assert_eq!(local.import(&newer).await.unwrap().pages, 1);
    drop(local);
    let proxy = offline(first.path(), &[&url]).await;
    assert_eq!(filenames(&proxy.json("/simple/demo/", &[("accept", JSON.1)]).await), ["demo-2.0.tar"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_do_not_fit_their_page_are_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let url = "https://packages.example.org/simple/";
    let page = format!("<a href=\"/f/{WHEEL}#sha512={}\">{WHEEL}</a>", "ab".repeat(64));
    let mut changed = manifest(url);
    changed["pages"][0]["sha256"] = json!(digest_of(page.as_bytes()).to_string());
    changed["pages"][0]["size"] = json!(page.len());
    let contents = [("facts", FACTS), ("files", b"wheel"), ("pages", page.as_bytes())];
    let local = Local::open(dir.path(), &[url]).await;
    let report = local.import(&archive(&changed, &contents)).await.unwrap();
    assert_eq!((report.files, report.unbound_files), (1, 1));
    drop(local);
    let proxy = offline(dir.path(), &[url]).await;
    assert_eq!(proxy.get(&format!("/simple/demo/{WHEEL}"), &[]).await.status(), 504);
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_besides_pages_are_moved() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_, url) = filled(first.path()).await;
    let pages = files_below(&first.path().join("cache/pages"));
    let page = pages.iter().find(|path| path.ends_with("demo") && !path.ends_with("facts/demo")).unwrap();
    let name = format!("demo@{}", "0f".repeat(16));
    for name in [&*name, "demo@x", "other@", "x@00"] {
        std::fs::copy(page, page.with_file_name(name)).unwrap();
    }
    let archive = Local::open(first.path(), &[&url]).await.export(&ExportOptions::default()).await.unwrap().0;
    let local = Local::open(second.path(), &[&url]).await;
    local.import(&archive).await.unwrap();
    local.import(&archive).await.unwrap();
    assert!(local.export(&ExportOptions::default()).await.unwrap().0 == archive);
    let pages = files_below(&second.path().join("cache/pages"));
    let documents: Vec<_> = pages.iter().filter(|path| path.to_str().unwrap().contains('@')).collect();
    assert!(documents.len() == 2 && documents.iter().any(|path| path.ends_with(&name)), "{documents:?}");
    assert_eq!(
        std::fs::read(page).unwrap(),
        std::fs::read(documents.iter().find(|path| path.ends_with(&name)).unwrap()).unwrap()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn imports_are_limited_and_fail_on_a_full_or_read_only_disk() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (archive, url) = filled(first.path()).await;
    let local = Local::open(second.path(), &[&url]).await;
    let options = ImportOptions { max_bytes: Some(6799), ..ImportOptions::default() };
    let error = local.proxy.import(&options, &archive[..], |_, _| ()).await.unwrap_err();
    assert!(error.is_limit() && error.to_string().contains("set cache_size, now 6799"), "{error}");
    assert_eq!(local.store.stats().files, 0);
    drop(local);
    {
        let third = tempfile::tempdir().unwrap();
        let Some(_small) = Mount::small(&third.path().join("cache"), 32 << 10) else { return };
        let local = Local::open(third.path(), &[&url]).await;
        let error = local.import(&archive).await.unwrap_err();
        assert!(error.is_storage(), "{error}");
        assert_eq!(local.store.verify(|_, _| ()).unwrap().bad, []);
        assert_eq!(files_below(&third.path().join("cache/partial")), [""; 0].map(std::path::PathBuf::from));
    }
    let local = Local::open(second.path(), &[&url]).await;
    {
        let Some(_cover) = Mount::cover(&second.path().join("cache")) else { return };
        assert!(local.import(&archive).await.unwrap_err().is_storage());
    }
    // Nothing was lost: once the disk is writable, the import succeeds.
    let report = local.import(&archive).await.unwrap();
    assert_eq!(report.files + report.stored_files, 4);
    // A writer that fails.
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for is_compressed in [false, true] {
        let options = ExportOptions { is_compressed, ..ExportOptions::default() };
        let error = local.proxy.export(&options, Full(100), |_, _| ()).await.unwrap_err();
        assert!(error.is_archive() && error.to_string().contains("can't be written"), "{error}");
    }
}
