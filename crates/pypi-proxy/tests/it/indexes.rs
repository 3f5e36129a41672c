//! Several indexes with the same project: strategies, PEP 708, and private indexes with faults.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use pypi_proxy::page_cache::{Claims, IndexStrategy, PageCache};
use pypi_proxy::rules::{ProjectPattern, Rules};
use pypi_proxy::store::PagesDir;
use pypi_proxy::upstream::Upstream;
use pypi_proxy::{Coding, Error, Form, ProjectName, page_cache};

use crate::support::prelude::*;

const LONG: Duration = Duration::from_secs(3600);

fn name(text: &str) -> ProjectName {
    ProjectName::parse(text).unwrap()
}

fn pattern(text: &str) -> ProjectPattern {
    ProjectPattern::parse(text).unwrap()
}

/// Index with these files of the project `demo`, and with fields of its page.
fn index(files: &'static [&'static str], more: Value) -> Server {
    Server::start(move |request| match &*request.path {
        "/simple/demo/" => {
            let files: Vec<_> = files.iter().map(|file| listed(file, b"x")).collect();
            let mut page = json!({"meta": {"api-version": "1.1"}, "name": "demo", "files": files});
            for (key, value) in more.as_object().unwrap() {
                page[&**key] = value.clone();
            }
            respond(200, &[JSON], page.to_string())
        }
        _ => respond(404, &[], ""),
    })
}

fn upstreams(servers: &[&Server], ttl: Duration) -> Vec<Arc<Upstream>> {
    servers.iter().map(|server| upstream(&server.url("/simple"), |config| config.ttl = ttl)).collect()
}

async fn files(pages: &PageCache, project: &str) -> Result<Vec<String>, Error> {
    let served = pages.project(&name(project)).await?;
    let variant = served.page.variant(Form::Json, Coding::Identity).await;
    let page: Value = tightwire_json::from_slice(&variant.body.bytes().unwrap()).unwrap();
    Ok(filenames(&page).into_iter().map(str::to_owned).collect())
}

#[tokio::test]
async fn the_strategy_selects_files_and_indexes() {
    let first = index(&["demo-1.0-py3-none-any.whl", "demo-2.0.tar.gz", "odd.exe"], json!({}));
    // It has another file of version 2.0, and other names.
    let second = index(
        &["demo-1.0-py3-none-any.whl", "demo-2.0-py3-none-any.whl", "demo-3.0.tar.gz", "even.exe"],
        json!({"meta": {"api-version": "1.1", "tracks": [first.url("/simple/demo/")]}}),
    );
    for (strategy, expected) in [
        (IndexStrategy::FirstIndex, &["demo-1.0-py3-none-any.whl", "demo-2.0.tar.gz", "odd.exe"][..]),
        (
            IndexStrategy::UnsafeFirstMatch,
            &["demo-1.0-py3-none-any.whl", "demo-2.0.tar.gz", "odd.exe", "demo-3.0.tar.gz", "even.exe"],
        ),
        (
            IndexStrategy::UnsafeBestMatch,
            &[
                "demo-1.0-py3-none-any.whl",
                "demo-2.0.tar.gz",
                "odd.exe",
                "demo-2.0-py3-none-any.whl",
                "demo-3.0.tar.gz",
                "even.exe",
            ],
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let config =
            page_cache::Config { dir: Some(dir.path().into()), strategy, ..page_cache::Config::default() };
        let contacted = second.count_of("/simple/demo/");
        // The second time from the disk.
        for _ in 0..2 {
            let pages = PageCache::new(upstreams(&[&first, &second], LONG), config.clone());
            assert_eq!(files(&pages, "demo").await.unwrap(), expected, "{strategy:?}");
            let page = pages.project(&name("demo")).await.unwrap().page;
            for file in [
                "demo-1.0-py3-none-any.whl",
                "demo-2.0.tar.gz",
                "demo-2.0-py3-none-any.whl",
                "demo-3.0.tar.gz",
            ] {
                let found = page.file(file).map(|(index, _)| index);
                let is_first = file.starts_with("demo-1.0") || file == "demo-2.0.tar.gz";
                let is_listed = expected.contains(&file);
                assert_eq!(found, is_listed.then_some(usize::from(!is_first)), "{strategy:?} {file}");
            }
        }
        let contacted = second.count_of("/simple/demo/") - contacted;
        assert_eq!(contacted, usize::from(strategy != IndexStrategy::FirstIndex), "{strategy:?}");
    }
    // The next index is contacted if the first one does not have the project.
    let pages = PageCache::new(upstreams(&[&second, &first], LONG), page_cache::Config::default());
    assert!(files(&pages, "other").await.unwrap_err().is_not_found());
    assert_eq!((first.count_of("/simple/other/"), second.count_of("/simple/other/")), (1, 1));
}

#[tokio::test]
async fn a_project_that_appears_in_an_earlier_index_moves_there() {
    let status = Arc::new(AtomicU16::new(404));
    let current = status.clone();
    let first = Server::start(move |_| {
        respond(current.load(Ordering::Relaxed), &[JSON], page("demo", &[("demo-1.0.tar.gz", "u")]))
    });
    let second = index(&["demo-2.0.tar.gz"], json!({}));
    let config =
        page_cache::Config { stale_while_revalidate: Duration::ZERO, ..page_cache::Config::default() };
    let pages = PageCache::new(upstreams(&[&first, &second], Duration::ZERO), config);
    assert_eq!(files(&pages, "demo").await.unwrap(), ["demo-2.0.tar.gz"]);
    status.store(200, Ordering::Relaxed);
    assert_eq!(files(&pages, "demo").await.unwrap(), ["demo-1.0.tar.gz"]);
    let contacted = second.count();
    assert_eq!(files(&pages, "demo").await.unwrap(), ["demo-1.0.tar.gz"]);
    assert_eq!(second.count(), contacted);
    // And back.
    status.store(404, Ordering::Relaxed);
    assert_eq!(files(&pages, "demo").await.unwrap(), ["demo-2.0.tar.gz"]);
    // A failure of the first index is no reason to use the second one.
    status.store(500, Ordering::Relaxed);
    let strict = page_cache::Config { stale_if_error: Duration::ZERO, ..page_cache::Config::default() };
    let pages = PageCache::new(upstreams(&[&first, &second], LONG), strict);
    assert!(files(&pages, "demo").await.unwrap_err().is_upstream());
}

#[tokio::test]
async fn pages_are_united_only_if_they_are_of_one_project() {
    let first = index(&["demo-1.0.tar.gz"], json!({}));
    let url = first.url("/simple/demo/");
    let unrelated = index(&["demo-2.0.tar.gz"], json!({}));
    let tracking = index(&["demo-2.0.tar.gz"], json!({"meta": {"api-version": "1.2", "tracks": [url]}}));
    let html = Server::start(move |_| {
        let page = format!("<meta name=pypi:tracks content={url}><a href=demo-2.0.tar.gz>x</a>");
        respond(200, &[HTML], page)
    });
    let both = ["demo-1.0.tar.gz", "demo-2.0.tar.gz"];
    for strategy in [IndexStrategy::UnsafeFirstMatch, IndexStrategy::UnsafeBestMatch] {
        let config = page_cache::Config { strategy, ..page_cache::Config::default() };
        for second in [&tracking, &html] {
            let pages = PageCache::new(upstreams(&[&first, second], LONG), config.clone());
            assert_eq!(files(&pages, "demo").await.unwrap(), both, "{strategy:?}");
        }
        let pages = PageCache::new(upstreams(&[&first, &unrelated], LONG), config.clone());
        let contacted = unrelated.count();
        for _ in 0..2 {
            let error = files(&pages, "demo").await.unwrap_err();
            let text = error.to_string();
            assert!(error.is_forbidden() && text.contains("2 indexes have the project demo"), "{text}");
            assert!(text.contains("project_sources or merge_projects"), "{text}");
        }
        // Repeated requests contact no index.
        assert_eq!(unrelated.count(), contacted + 1);
        let exempt = page_cache::Config { merge_projects: vec![pattern("de*")], ..config.clone() };
        let pages = PageCache::new(upstreams(&[&first, &unrelated], LONG), exempt);
        assert_eq!(files(&pages, "demo").await.unwrap(), both);
        let rules = Rules { only_from: vec![(pattern("demo"), 1)], ..Rules::default() };
        let pages =
            PageCache::new(upstreams(&[&first, &unrelated], LONG), page_cache::Config { rules, ..config });
        assert_eq!(files(&pages, "demo").await.unwrap(), both[1..]);
    }
}

/// A private index that changes its behavior, and a public one that has every project.
struct Private {
    status: Arc<AtomicU16>,
    private: Server,
    public: Server,
    dir: tempfile::TempDir,
}

/// No response.
const SILENT: u16 = 0;

impl Private {
    fn start() -> Self {
        let status = Arc::new(AtomicU16::new(200));
        let current = status.clone();
        let private = Server::start(move |request| match (current.load(Ordering::Relaxed), &*request.path) {
            (SILENT, _) => vec![Step::Stall],
            (200, "/simple/") => {
                respond(200, &[JSON], r#"{"projects":[{"name":"Acme.Listed"},{"name":"acme"}]}"#)
            }
            (200, "/simple/acme/") => respond(200, &[JSON], page("acme", &[("acme-1.0.tar.gz", "u")])),
            (200, _) => respond(404, &[], ""),
            (status, _) => respond(status, &[], ""),
        });
        let public = Server::start(|request| match &*request.path {
            "/simple/" => respond(200, &[JSON], r#"{"projects":[{"name":"six"}]}"#),
            _ => respond(200, &[JSON], page(request.project(), &[("any-1.tar.gz", "u")])),
        });
        Self { status, private, public, dir: tempfile::tempdir().unwrap() }
    }

    fn pages_dir(&self) -> PagesDir {
        self.dir.path().join("pages").as_path().into()
    }

    /// Starts with the same disk. The private index is the first or the second one.
    fn restart(&self, is_first: bool, strategy: IndexStrategy) -> PageCache {
        std::fs::create_dir_all(self.dir.path().join("pages")).unwrap();
        let short = |server: &Server| {
            upstream(&server.url("/simple"), |config| {
                (config.ttl, config.read_timeout) = (Duration::ZERO, Duration::from_millis(200));
            })
        };
        let mut upstreams = vec![short(&self.private), short(&self.public)];
        if !is_first {
            upstreams.reverse();
        }
        PageCache::new(
            upstreams,
            page_cache::Config {
                dir: Some(self.pages_dir()),
                stale_while_revalidate: Duration::ZERO,
                stale_if_error: Duration::ZERO,
                negative_ttl: Duration::ZERO,
                private: vec![usize::from(!is_first)],
                claims: Claims::open(&self.pages_dir()).unwrap(),
                strategy,
                merge_projects: vec![pattern("*")],
                ..page_cache::Config::default()
            },
        )
    }

    fn set(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// Checks that the public index was never asked for these projects.
    fn is_secret(&self) {
        let paths = self.public.paths();
        assert!(!paths.iter().any(|path| path.contains("acme")), "{paths:?}");
    }
}

const STRATEGIES: [IndexStrategy; 3] =
    [IndexStrategy::FirstIndex, IndexStrategy::UnsafeFirstMatch, IndexStrategy::UnsafeBestMatch];

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_a_private_index_is_never_taken_from_a_public_one() {
    for (is_first, strategy) in [true, false].into_iter().flat_map(|first| STRATEGIES.map(|one| (first, one)))
    {
        let site = Private::start();
        let mut pages = site.restart(is_first, strategy);
        assert_eq!(files(&pages, "acme").await.unwrap(), ["acme-1.0.tar.gz"], "{is_first} {strategy:?}");
        assert_eq!(files(&pages, "six").await.unwrap().len(), 1);
        for is_restarted in [false, true, true] {
            if is_restarted {
                pages = site.restart(is_first, strategy);
            }
            for status in [404, 500, 503, 403, SILENT, 404] {
                site.set(status);
                let error = files(&pages, "acme").await.unwrap_err();
                assert_eq!(error.is_not_found(), status == 404, "{status} {strategy:?}: {error}");
            }
            // The copy on the disk is gone, so that only the recorded name protects the project.
            pages.purge_all().await.unwrap();
            assert!(files(&pages, "acme").await.unwrap_err().is_not_found());
            // Projects that the private index does not have are public.
            assert_eq!(files(&pages, "six").await.unwrap().len(), 1);
        }
        site.is_secret();
        // The project is back.
        site.set(200);
        assert_eq!(files(&pages, "acme").await.unwrap(), ["acme-1.0.tar.gz"]);
        site.set(404);
        // The index can't be reached.
        site.private.stop().await;
        let pages = site.restart(is_first, strategy);
        assert!(files(&pages, "acme").await.unwrap_err().is_upstream());
        site.is_secret();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_project_list_of_a_private_index_claims_its_names() {
    let site = Private::start();
    let pages = site.restart(false, IndexStrategy::FirstIndex);
    // The page of the public index is cached before the private index lists the name.
    assert_eq!(files(&pages, "acme-listed").await.unwrap().len(), 1);
    pages.list().await.unwrap();
    assert!(files(&pages, "acme-listed").await.unwrap_err().is_not_found());
    let public = site.public.count_of("/simple/acme-listed/");
    site.set(404);
    for _ in 0..2 {
        let pages = site.restart(false, IndexStrategy::UnsafeBestMatch);
        assert!(files(&pages, "acme-listed").await.unwrap_err().is_not_found());
        assert!(files(&pages, "acme").await.unwrap_err().is_not_found());
    }
    assert_eq!(site.public.count_of("/simple/acme-listed/"), public);
    let file = std::fs::read_dir(site.dir.path().join("pages/claims")).unwrap().next().unwrap().unwrap();
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert_eq!(text, format!("# {}\nacme-listed\nacme\n", site.private.url("/simple/")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_page_of_a_private_index_is_served_while_it_is_down() {
    let site = Private::start();
    let config = page_cache::Config {
        stale_while_revalidate: Duration::ZERO,
        private: vec![0],
        ..page_cache::Config::default()
    };
    let pages = PageCache::new(upstreams(&[&site.private, &site.public], Duration::ZERO), config);
    assert_eq!(files(&pages, "acme").await.unwrap(), ["acme-1.0.tar.gz"]);
    site.set(500);
    assert_eq!(files(&pages, "acme").await.unwrap(), ["acme-1.0.tar.gz"]);
    site.is_secret();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_becomes_private_claims_its_cached_projects() {
    let site = Private::start();
    let config = page_cache::Config { dir: Some(site.pages_dir()), ..page_cache::Config::default() };
    std::fs::create_dir_all(site.dir.path().join("pages")).unwrap();
    let before = PageCache::new(upstreams(&[&site.private, &site.public], LONG), config);
    assert_eq!(files(&before, "acme").await.unwrap(), ["acme-1.0.tar.gz"]);
    before.list().await.unwrap();
    site.set(404);
    let pages = site.restart(true, IndexStrategy::FirstIndex);
    for project in ["acme", "acme-listed"] {
        assert!(files(&pages, project).await.unwrap_err().is_not_found(), "{project}");
    }
    site.is_secret();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_a_private_index_is_served_by_no_other_index() {
    let site = Private::start();
    let claims = Claims::default();
    let new = |server: &Server, private: &[usize]| {
        let config = page_cache::Config {
            private: private.to_vec(),
            claims: claims.clone(),
            ..page_cache::Config::default()
        };
        PageCache::new(upstreams(&[server], LONG), config)
    };
    let (public, private) = (new(&site.public, &[]), new(&site.private, &[0]));
    assert_eq!(files(&public, "acme").await.unwrap().len(), 1);
    assert_eq!(files(&private, "acme").await.unwrap().len(), 1);
    assert!(files(&public, "acme").await.unwrap_err().is_not_found());
    assert_eq!(files(&public, "six").await.unwrap().len(), 1);
    assert_eq!(files(&private, "acme").await.unwrap().len(), 1);
}

fn claims_file(dir: &Path, bytes: &[u8]) -> std::path::PathBuf {
    std::fs::create_dir_all(dir.join("claims")).unwrap();
    let path = dir.join("claims/0123456789abcdef");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn malformed_claims_are_an_error_and_an_incomplete_line_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Claims::open(&dir.path().into()).map(drop);
    for (text, line) in
        [(&b"# x\nacme\n../x\n"[..], "line 3"), (b"a b\n", "line 1"), (b"\xff\n", "can't be read")]
    {
        claims_file(dir.path(), text);
        let error = open().unwrap_err();
        assert!(error.is_storage(), "{error}");
        assert!(error.to_string().contains(line), "{error}");
    }
    let path = claims_file(dir.path(), b"# x\n\nAcme.Core\nacme-to");
    open().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"# x\n\nAcme.Core\n");
    // Files of other programs are ignored.
    std::fs::write(dir.path().join("claims/notes.txt"), "a b").unwrap();
    open().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_holds_if_it_can_not_be_stored() {
    let site = Private::start();
    std::fs::create_dir_all(site.dir.path().join("pages")).unwrap();
    let pages = site.restart(true, IndexStrategy::FirstIndex);
    // A file in place of the folder.
    std::fs::write(site.dir.path().join("pages/claims"), "x").unwrap();
    assert_eq!(files(&pages, "acme").await.unwrap(), ["acme-1.0.tar.gz"]);
    site.set(404);
    assert!(files(&pages, "acme").await.unwrap_err().is_not_found());
    site.is_secret();
    // It is stored with the next one.
    std::fs::remove_file(site.dir.path().join("pages/claims")).unwrap();
    site.set(200);
    pages.list().await.unwrap();
    let claims = files_below(&site.dir.path().join("pages/claims"));
    assert!(std::fs::read_to_string(&claims[0]).unwrap().ends_with("\nacme\nacme-listed\n"));
}

#[tokio::test]
async fn offline_mode_serves_projects_of_any_index() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (index(&[], json!({})), index(&["demo-2.0.tar.gz"], json!({})));
    first.stop().await;
    let config = page_cache::Config {
        dir: Some(dir.path().into()),
        stale_if_error: Duration::from_secs(1 << 30),
        ..page_cache::Config::default()
    };
    let online = PageCache::new(upstreams(&[&second], LONG), config.clone());
    files(&online, "demo").await.unwrap();
    for strategy in STRATEGIES {
        let all =
            [&first, &second].map(|server| upstream(&server.url("/simple"), |config| config.offline = true));
        let offline = PageCache::new(all.to_vec(), page_cache::Config { strategy, ..config.clone() });
        assert_eq!(files(&offline, "demo").await.unwrap(), ["demo-2.0.tar.gz"], "{strategy:?}");
        assert!(files(&offline, "other").await.unwrap_err().is_offline());
    }
}
