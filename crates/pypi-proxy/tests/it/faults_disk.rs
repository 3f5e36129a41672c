//! Disk faults, changes of the folder by others, and unreachable indexes.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use pypi_proxy::store;
use pypi_proxy::store::Store;

use crate::support::prelude::*;
use crate::support::proxy::open;

/// A mounted file system. Dropping it unmounts it.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// Mounts a small file system in memory. Returns `None` and reports it if mounting is not permitted.
    pub(crate) fn small(path: &Path, bytes: u64) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        let size = format!("size={bytes},mode=700");
        Self::done(path, run(&["mount", "-t", "tmpfs", "-o", &size, "tmpfs"], path))
    }

    /// Mounts a folder read-only over itself.
    pub(crate) fn cover(path: &Path) -> Option<Self> {
        let small = Self::done(path, run(&["mount", "--bind", &path.display().to_string()], path))?;
        assert!(run(&["mount", "-o", "remount,bind,ro"], path));
        Some(small)
    }

    fn done(path: &Path, is_mounted: bool) -> Option<Self> {
        if !is_mounted {
            skip("a file system can only be mounted by root");
        }
        is_mounted.then(|| Self(path.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Unmounts even while files are open.
        run(&["umount", "-l"], &self.0);
    }
}

fn run(command: &[&str], path: &Path) -> bool {
    let output = Command::new(command[0]).args(&command[1..]).arg(path).output();
    output.is_ok_and(|output| output.status.success())
}

const LEN: usize = 3_000_000;

/// File number `number` of the index.
fn wheel(number: usize) -> Bytes {
    content(LEN + number)
}

/// Index whose files take 100 ms each.
fn index() -> Server {
    let wheels: Vec<_> = (0..8).map(wheel).collect();
    Server::start(move |request| match &*request.path {
        "/simple/demo/" => {
            let file = |(number, wheel): (usize, &Bytes)| (format!("demo-{number}.0.whl"), wheel.clone());
            let page = hashed_page(wheels.iter().enumerate().map(file));
            respond(200, &[JSON, ("etag", "\"page\"")], page)
        }
        "/simple/other/" => respond(200, &[JSON], page("other", &[("other-1.0.whl", "/f/other")])),
        path => {
            let number: Option<usize> = path.strip_prefix("/f/demo-").map(|rest| rest[..1].parse().unwrap());
            let Some(number) = number else { return respond(404, &[], "") };
            slow(&wheels[number], LEN / 10 + 1, Duration::from_millis(10))
        }
    })
}

fn path(number: usize) -> String {
    format!("/simple/demo/demo-{number}.0.whl")
}

async fn fetch(proxy: &RunningProxy, number: usize) {
    let response = proxy.get(&path(number), &[]).await;
    assert_eq!(response.status(), 200);
    let bytes = response.bytes().await.unwrap();
    assert!(bytes == wheel(number), "{number}: {}", bytes.len());
}

/// Fetches a file by several concurrent clients, one during the download, and one afterwards.
async fn fetch_often(proxy: &RunningProxy, number: usize) {
    let late = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        fetch(proxy, number).await;
    };
    tokio::join!(join_all((0..5).map(|_| fetch(proxy, number))), late);
    fetch(proxy, number).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_served_with_a_full_disk() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let Some(_small) = Mount::small(&dir.path().join("cache"), 1_000_000) else { return };
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    for number in 0..3 {
        fetch_often(&proxy, number).await;
    }
    assert_eq!((proxy.store.stats().files, files_below(&dir.path().join("cache/partial")).len()), (0, 0));
    assert!(proxy.store.stats().unwritten >= 3);
    assert_eq!(proxy.get("/simple/other/", &[]).await.status(), 200);
    let reasons = proxy.json("/health", &[]).await["data"]["reasons"].to_string();
    assert!(reasons.contains("is full"), "{reasons}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_served_with_a_read_only_disk() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    fetch(&proxy, 0).await;
    let Some(cover) = Mount::cover(&cache) else { return };
    // Stored files are served, others are passed on.
    fetch(&proxy, 0).await;
    fetch_often(&proxy, 1).await;
    assert_eq!((index.count_of("/f/demo-0.0.whl"), proxy.store.stats().files), (1, 1));
    assert_eq!(proxy.get("/simple/other/", &[]).await.status(), 200);
    let refused = proxy.send(Method::DELETE, "/cache/demo/demo-0.0.whl", &PURGE).await;
    assert_eq!(refused.status(), 500);
    assert!(refused.text().await.unwrap().contains("cache directory"));
    drop(cover);
    fetch(&proxy, 2).await;
    assert_eq!(proxy.store.stats().files, 2);
}

#[test]
fn an_unwritable_folder_is_reported_at_startup() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("ro")).unwrap();
    if let Some(_cover) = Mount::cover(&dir.path().join("ro")) {
        let error = Store::open(store::Config::new(dir.path().join("ro/cache"))).unwrap_err();
        assert!(error.is_storage() && !error.is_busy(), "{error:?}");
    }
    std::fs::write(dir.path().join("file"), "x").unwrap();
    assert!(Store::open(store::Config::new(dir.path().join("file"))).unwrap_err().is_storage());
    assert!(Store::open(store::Config::new(dir.path().join("file/cache"))).unwrap_err().is_storage());
    assert!(Store::open(store::Config::new("/proc/no-such")).unwrap_err().is_storage());
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_served_with_an_unwritable_folder() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    for part in ["partial", "pages", "refs"] {
        let path = dir.path().join("cache").join(part);
        std::fs::remove_dir_all(&path).unwrap();
        std::fs::write(&path, "in the way").unwrap();
    }
    for number in 0..3 {
        fetch_often(&proxy, number).await;
    }
    assert!(proxy.store.stats().unwritten >= 3);
    // Make it writable again.
    std::fs::remove_file(dir.path().join("cache/partial")).unwrap();
    std::fs::create_dir(dir.path().join("cache/partial")).unwrap();
    fetch_often(&proxy, 3).await;
    assert_eq!((proxy.store.stats().files, index.count_of("/f/demo-3.0.whl")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_served_after_the_folder_was_deleted() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    fetch(&proxy, 0).await;
    let remove = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        // The proxy may still write to it.
        while let Err(error) = std::fs::remove_dir_all(&cache) {
            assert_eq!(error.kind(), std::io::ErrorKind::DirectoryNotEmpty);
        }
    };
    tokio::join!(fetch(&proxy, 1), remove);
    for number in 0..3 {
        fetch_often(&proxy, number).await;
    }
    assert_eq!(proxy.get("/simple/other/", &[]).await.status(), 200);
    assert_eq!(proxy.send(Method::DELETE, "/cache", &PURGE).await.status(), 200);
    assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 200);
    proxy.stop().await;
    // The remaining content is still recognized as a cache.
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    fetch_often(&proxy, 4).await;
    assert_eq!(proxy.store.stats().files, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_in_the_folder_are_not_followed() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let outside = dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "secret").unwrap();
    drop(open(store::Config::new(&cache)).await.unwrap());
    let place = |wheel: Bytes| stored_path(&cache, digest_of(&wheel));
    // A link in place of a file, and a link to a named pipe without a writer.
    let first = place(wheel(0));
    std::fs::create_dir_all(first.parent().unwrap()).unwrap();
    symlink(outside.join("secret"), &first).unwrap();
    let second = place(wheel(1));
    std::fs::create_dir_all(second.parent().unwrap()).unwrap();
    let pipe = Command::new("mkfifo").arg(&second).status().unwrap();
    assert!(pipe.success());
    // A folder in place of a file.
    std::fs::create_dir_all(place(wheel(2))).unwrap();
    // Links among pages, references and partial files.
    std::fs::create_dir(cache.join("pages/0000000000000000")).unwrap();
    symlink(outside.join("secret"), cache.join("pages/0000000000000000/demo")).unwrap();
    symlink(&outside, cache.join("refs/other")).unwrap();
    symlink(outside.join("secret"), cache.join("partial/1-1")).unwrap();
    symlink(&outside, cache.join("files/zz")).unwrap();
    let stranger = first.with_file_name("stranger");
    std::fs::write(&stranger, "x").unwrap();
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    for number in 0..4 {
        let done = tokio::time::timeout(TIMEOUT, fetch(&proxy, number)).await;
        done.unwrap();
    }
    proxy.get("/simple/other/other-1.0.whl", &[]).await;
    let verified = proxy.store.verify(|_, _| {}).unwrap();
    assert_eq!((verified.good, verified.bad.len()), (3, 0), "a folder stays");
    assert_eq!(proxy.send(Method::DELETE, "/cache", &PURGE).await.status(), 200);
    proxy.store.collect(None, 0).unwrap();
    proxy.stop().await;
    assert!(stranger.exists());
    assert_eq!(files_below(&outside), [outside.join("secret")]);
    assert_eq!(std::fs::read(outside.join("secret")).unwrap(), b"secret");
}

#[tokio::test]
async fn a_folder_with_a_linked_subfolder_is_rejected() {
    for part in ["files", "partial", "refs", "pages", "pypi-proxy-cache"] {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("cache");
        drop(Store::open(store::Config::new(&cache)).unwrap());
        let target = dir.path().join("target");
        std::fs::rename(cache.join(part), &target).unwrap();
        symlink(&target, cache.join(part)).unwrap();
        let error = open(store::Config::new(&cache)).await.unwrap_err();
        assert!(error.is_storage() && !error.is_busy(), "{part}: {error:?}");
    }
}

#[tokio::test]
async fn partial_files_of_a_crash_are_deleted_and_not_served() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    fetch(&proxy, 0).await;
    proxy.stop().await;
    let pages = std::fs::read_dir(cache.join("pages")).unwrap().next().unwrap().unwrap().path();
    std::fs::create_dir(cache.join("refs/demo")).unwrap();
    let left = [cache.join("partial/77-0"), pages.join(".tmpabcdef"), cache.join("refs/demo/.tmpabcdef")];
    for path in &left {
        std::fs::write(path, "half").unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(10);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
    }
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    for name in ["77-0", ".tmpabcdef", "%2etmpabcdef"] {
        assert_eq!(proxy.get(&format!("/simple/demo/{name}"), &[]).await.status(), 404);
    }
    fetch(&proxy, 0).await;
    until("partial files are deleted", async || !left.iter().any(|path| path.exists())).await;
    assert_eq!(index.count_of("/f/demo-0.0.whl"), 1);
}

#[tokio::test]
async fn a_file_larger_than_the_cache_evicts_nothing() {
    let index = index();
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.store.max_bytes = LEN as u64 + 3;
        // File facts would take room as well.
        setup.pages.wheel_metadata = false;
    });
    fetch(&proxy, 0).await;
    fetch_often(&proxy, 5).await;
    assert_eq!((proxy.store.stats().files, proxy.store.stats().evicted), (1, 0));
    fetch(&proxy, 0).await;
    assert_eq!(index.count_of("/f/demo-0.0.whl"), 1);
}

#[tokio::test]
async fn without_a_cache_redirected_files_are_not_downloaded() {
    let index = index();
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.store.max_bytes = 0;
        setup.serve.redirect_after = Some(Duration::ZERO);
    });
    let response = proxy.get(&path(0), &[]).await;
    assert_eq!(response.status(), 302);
    assert_eq!(response.headers()["location"], index.url("/f/demo-0.0.whl"));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(index.count_of("/f/demo-0.0.whl"), 0);
}

#[tokio::test]
async fn after_a_restart_cached_entries_are_served_without_the_index() {
    let index = index();
    let dir = tempfile::tempdir().unwrap();
    let urls = [index.url("/simple")];
    // Pages are always stale.
    let setup = || {
        let mut setup = Setup::new(dir.path(), &urls);
        setup.ttl(Duration::ZERO);
        setup
    };
    let mut proxy = setup().start().await;
    fetch(&proxy, 0).await;
    let page = proxy.get("/simple/demo/", &[]).await.bytes().await.unwrap();
    assert_eq!(page.len(), proxy.get("/simple/demo/", &[]).await.bytes().await.unwrap().len());
    index.stop().await;
    for is_restarted in [false, true] {
        if is_restarted {
            proxy.stop().await;
            proxy = setup().start().await;
        }
        let response = proxy.get("/simple/demo/", &[]).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["x-cache"], "stale");
        assert_eq!(response.bytes().await.unwrap(), page);
        fetch(&proxy, 0).await;
        let head = proxy.send(Method::HEAD, &path(0), &[]).await;
        assert_eq!(head.headers()["content-length"], LEN.to_string());
        // Missing pages are errors of the index, not 404.
        assert_eq!(proxy.get("/simple/other/", &[]).await.status(), 502);
        assert_eq!(proxy.get(&path(1), &[]).await.status(), 502);
        assert_eq!(proxy.get("/simple/demo/demo-9.0.whl", &[]).await.status(), 404);
    }
}

#[tokio::test]
async fn invalid_responses_do_not_replace_cached_pages() {
    // A page, an invalid page, an older page, no response, and a newer page.
    let index = Server::start(|request| match request.nth {
        0 => respond(
            200,
            &[JSON],
            r#"{"meta":{"_last-serial":7},"files":[{"filename":"demo-1.whl","url":"x"}]}"#,
        ),
        1 => respond(200, &[JSON], "{\"files\":7}"),
        2 => respond(200, &[JSON], r#"{"meta":{"api-version":"1.0","_last-serial":6},"files":[]}"#),
        3 => vec![Step::Reset],
        _ => respond(200, &[JSON], r#"{"meta":{"api-version":"1.0","_last-serial":8},"files":[]}"#),
    });
    let dir = tempfile::tempdir().unwrap();
    let setup = || {
        let mut setup = Setup::new(dir.path(), &[index.url("/simple")]);
        setup.always_revalidate();
        setup
    };
    for start in 0..5 {
        let proxy = setup().start().await;
        let page = proxy.get("/simple/demo/", &[]).await;
        assert_eq!(page.status(), 200, "{start}");
        let is_newer = index.count() > 4;
        assert_eq!(page.headers()["x-pypi-last-serial"], if is_newer { "8" } else { "7" }, "{start}");
        assert_eq!(page.text().await.unwrap().contains("demo-1.whl"), !is_newer, "{start}");
        proxy.stop().await;
    }
    assert!(index.count() >= 4);
}

#[tokio::test]
async fn revalidation_and_removal_are_persisted() {
    let index = Server::start(|request| match request.nth {
        0 => respond(200, &[JSON, ("etag", "\"v1\"")], page("demo", &[("a-1.whl", "x")])),
        1 => vec![head(304, &[])],
        2 => respond(404, &[], ""),
        _ => vec![Step::Reset],
    });
    let dir = tempfile::tempdir().unwrap();
    let setup = |ttl| {
        let mut setup = Setup::new(dir.path(), &[index.url("/simple")]);
        setup.always_revalidate();
        setup.ttl(ttl);
        setup
    };
    let day = Duration::from_secs(86400);
    // Requests to the index, and the status for the client.
    for (ttl, requests, status) in [(day, 1, 200), (day, 1, 200), (Duration::ZERO, 2, 200), (day, 2, 200)] {
        if ttl.is_zero() {
            // Long ago, except for the response that comes now.
            let pages = dir.path().join("cache/pages");
            let folder = std::fs::read_dir(pages).unwrap().next().unwrap().unwrap().path();
            let file = std::fs::File::options().write(true).open(folder.join("demo")).unwrap();
            file.set_modified(std::time::SystemTime::now() - day * 2).unwrap();
        }
        let proxy = setup(ttl).start().await;
        assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), status);
        assert_eq!(index.requests().len(), requests);
        proxy.stop().await;
    }
    let proxy = setup(Duration::ZERO).start().await;
    assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 404);
    proxy.stop().await;
    // A deleted project does not come back.
    let proxy = setup(day).start().await;
    assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 502);
}

struct Panics;

impl store::FileSource for Panics {
    async fn open(
        &mut self,
        _from: u64,
        _known: &pypi_proxy::upstream::Validators,
    ) -> Result<pypi_proxy::upstream::FileBody, pypi_proxy::Error> {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn a_panic_in_a_download_fails_its_readers() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(store::Config::new(dir.path().join("cache"))).unwrap();
    let key = store::Key::Digest(digest_of(b"x"));
    for failed in 1..3 {
        let filling = store.fetch(key.clone(), store::Expected::default(), Panics);
        let store::FetchState::InFlight(download) = filling else { panic!("it is not there") };
        let error = tokio::time::timeout(TIMEOUT, download.done()).await.unwrap().unwrap_err();
        assert!(error.is_upstream(), "{error:?}");
        assert!(store.in_flight(&key).is_none());
        assert_eq!(store.stats().failed, failed);
    }
    assert_eq!(files_below(&dir.path().join("cache/partial")).len(), 0);
}
