//! Versions of the layouts of cache directories and buckets: older ones are read, newer and damaged ones are rejected and
//! stay unchanged.
//!
//! `tests/data/layout-1` has a cache directory and the objects of a bucket of the first release. A new version of a
//! layout gets files of its own, which this command writes with the program:
//! `WRITE_LAYOUT=1 cargo test -p pypi-proxy --test it layout::write`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use futures_util::TryStreamExt as _;
use object_store::path::Path as ObjectPath;
use object_store::{Attribute, ObjectStore, ObjectStoreExt as _, PutOptions};
use pypi_proxy::bucket::Bucket;
use pypi_proxy::store::{self, PagesDir, Store};
use rawzip::CompressionMethod;

use crate::bucket::{config, memory, metric, paths, settle, share};
use crate::metadata::archive;
use crate::support::faulty::{Fault, Faulty};
use crate::support::prelude::*;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/layout-1");
/// Index of the files in `DATA`. It does not exist.
const INDEX: &str = "http://index.example.org/simple/";
const SOURCE: (&str, &[u8]) = ("demo-1.0.tar.gz", b"source of demo 1.0\n");
const WHEEL: &str = "plain-1.0-py3-none-any.whl";
const HASHED: &str = "hashed-1.0-py3-none-any.whl";
const CACHE_MARKER: &str = "pypi-proxy-cache";
const BUCKET_MARKER: &str = "p/q/pypi-proxy-bucket";
/// Number of stored files: a source, and two wheels with their metadata.
const FILES: u64 = 5;
/// Contents of markers that state no version.
const DAMAGED: [&[u8]; 6] = [b"", b"x", b"01\n", b"1\n1\n", b"\xff\n", &[b'1'; 100_000]];

/// Metadata of the wheel of a project.
fn metadata(project: &str) -> String {
    format!("Metadata-Version: 2.1\nName: {project}\nVersion: 1.0\n")
}

fn wheel(project: &str) -> Bytes {
    let path = format!("{project}-1.0.dist-info/METADATA");
    archive(&[(&path, metadata(project).as_bytes())], CompressionMethod::STORE).into()
}

/// Public and private index with pages in JSON and HTML, with and without hashes, and documents.
fn index() -> Server {
    Server::start(|request| match &*request.path {
        "/simple/" => respond(200, &[JSON], r#"{"projects":[{"name":"demo"},{"name":"plain"}]}"#),
        "/simple/demo/" => {
            let mut file = listed(SOURCE.0, SOURCE.1);
            file["provenance"] = "/provenance".into();
            respond(200, &[JSON, ("etag", "\"1\"")], page_of(&[file]))
        }
        "/simple/plain/" => respond(200, &[HTML], format!("<a href='/f/{WHEEL}'>{WHEEL}</a>")),
        "/simple/hashed/" => {
            let sha256 = digest_of(&wheel("hashed"));
            respond(200, &[HTML], format!("<a href='/f/{HASHED}#sha256={sha256}'>{HASHED}</a>"))
        }
        "/private/simple/" => respond(200, &[JSON], r#"{"projects":[{"name":"secret"}]}"#),
        "/private/simple/secret/" => respond(200, &[JSON], page("secret", &[])),
        "/provenance" => {
            let provenance = r#"{"version":1,"attestation_bundles":[]}"#;
            respond(200, &[("content-type", "application/json")], provenance)
        }
        "/pypi/demo/json" => {
            let document = r#"{"info":{"name":"demo","version":"1.0"},"urls":[],"releases":{}}"#;
            respond(200, &[("content-type", "application/json")], document)
        }
        path => match path.strip_prefix("/f/") {
            Some(name) if name == SOURCE.0 => ranged(request, &[], &Bytes::from_static(SOURCE.1)),
            Some(WHEEL) => ranged(request, &[], &wheel("plain")),
            Some(HASHED) => ranged(request, &[], &wheel("hashed")),
            _ => respond(404, &[], ""),
        },
    })
}

const PATHS: [&str; 11] = [
    "/simple/",
    "/simple/demo/",
    "/simple/demo/demo-1.0.tar.gz",
    "/simple/demo/demo-1.0.tar.gz.provenance",
    "/simple/plain/",
    "/simple/plain/plain-1.0-py3-none-any.whl",
    "/simple/plain/plain-1.0-py3-none-any.whl.metadata",
    "/simple/hashed/",
    "/simple/hashed/hashed-1.0-py3-none-any.whl",
    "/simple/hashed/hashed-1.0-py3-none-any.whl.metadata",
    "/pypi/demo/json",
];

/// Requests all paths below a URL, pages also as HTML, and checks the files.
async fn responses(url: &str) -> BTreeMap<String, Bytes> {
    let client = crate::support::proxy::client();
    let mut found = BTreeMap::new();
    for (path, accept) in PATHS.iter().flat_map(|path| [JSON, HTML].map(|(_, accept)| (path, accept))) {
        let response = client.get(format!("{url}{path}")).header("accept", accept).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        found.insert(format!("{path} {accept}"), response.bytes().await.unwrap());
    }
    let of = |path: &str| &found[&format!("{path} {}", HTML.1)];
    assert_eq!(of(PATHS[2]), SOURCE.1);
    for (project, path) in [("plain", 5), ("hashed", 8)] {
        assert_eq!(of(PATHS[path]), &wheel(project));
        assert_eq!(of(PATHS[path + 1]), &metadata(project));
    }
    found
}

/// Contents of all files below a folder, and `None` for folders, by path.
fn snapshot(dir: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(snapshot(&path));
            found.insert(path, None);
        } else {
            found.insert(path.clone(), fs::read(path).ok());
        }
    }
    found
}

/// Copies a folder. Other users can't write to the copy, whatever the umask is.
fn copy(from: &Path, to: &Path) {
    fs::DirBuilder::new().mode(0o700).create(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            _ = fs::copy(entry.path(), target).unwrap()
        }
    }
}

/// Cache directory of the first release below a new folder.
fn cache() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    copy(&Path::new(DATA).join("cache"), &cache);
    (dir, cache)
}

async fn objects_of(objects: &dyn ObjectStore) -> BTreeMap<String, Bytes> {
    let list: Vec<_> = objects.list(None).try_collect().await.unwrap();
    let mut found = BTreeMap::new();
    for object in list {
        let bytes = objects.get(&object.location).await.unwrap().bytes().await.unwrap();
        found.insert(object.location.to_string(), bytes);
    }
    found
}

/// Objects of the first release, with the metadata that files have.
async fn load(objects: &dyn ObjectStore) {
    let dir = Path::new(DATA).join("bucket");
    for path in files_below(&dir) {
        let name = path.strip_prefix(&dir).unwrap().to_str().unwrap();
        let mut options = PutOptions::default();
        if let Some((_, sha256)) =
            name.split_once("files/sha256/").and_then(|(_, rest)| rest.rsplit_once('/'))
        {
            options.attributes.insert(Attribute::Metadata("sha256".into()), sha256.to_owned().into());
        }
        objects.put_opts(&ObjectPath::from(name), fs::read(&path).unwrap().into(), options).await.unwrap();
    }
}

/// Starts a proxy of an index in a process with a bucket only. Pages of any age are served.
fn start_shared(index: &str, bucket: Bucket, is_offline: bool) -> RunningProxy {
    start_with(&[index.to_owned()], |setup| {
        setup.upstreams[0].offline = is_offline;
        setup.pages.stale_if_error = Duration::from_secs(100 * 365 * 86_400);
        setup.pages.bucket = Some(bucket.clone());
        setup.store.bucket = Some(bucket);
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_the_first_release_are_served() {
    let objects = memory();
    load(&*objects).await;
    let before = objects_of(&*objects).await;
    assert_eq!(before[BUCKET_MARKER], "1\n");
    let proxy = start_shared(INDEX, share(&objects), true);
    responses(&proxy.url("")).await;
    settle(std::slice::from_ref(&proxy)).await;
    assert_eq!(metric(&proxy, "corrupt_total").await, 0.0);
    let verified = share(&objects).verify(|_, _| ()).await.unwrap();
    assert_eq!((verified.good, verified.bad.len()), (FILES, 0));
    proxy.stop().await;
    let is_kept = async || {
        let now = objects_of(&*objects).await;
        before.iter().all(|(path, content)| now.get(path) == Some(content))
    };
    assert!(is_kept().await);
}

/// The file is in the bucket, the page is not.
async fn fetch(proxy: &RunningProxy) {
    let response = proxy.get(PATHS[2], &[]).await;
    assert_eq!((response.status().as_u16(), response.bytes().await.unwrap()), (200, SOURCE.1.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_mark_a_new_bucket_and_read_the_marker_once() {
    for fault in [Fault::None, Fault::Unconditional, Fault::Rejecting] {
        let (objects, index) = (Faulty::new(fault), index());
        let buckets = [(); 3].map(|()| Bucket::new(objects.clone(), config()));
        for checked in join_all(buckets.iter().map(Bucket::check_layout)).await {
            checked.unwrap();
        }
        assert!(!objects.has(&BUCKET_MARKER.into()), "a check writes nothing");
        let checks = join_all(buckets.iter().map(Bucket::check)).await;
        assert!(checks.iter().all(Result::is_ok), "{checks:?}");
        let marker = || objects.operations(BUCKET_MARKER);
        let before = marker();
        let fleet = buckets.map(|bucket| start_shared(&index.url("/simple/"), bucket, false));
        for _ in 0..3 {
            join_all(fleet.iter().map(fetch)).await;
            join_all(fleet.iter().map(|proxy| proxy.get("/simple/", &[]))).await;
        }
        settle(&fleet).await;
        assert_eq!(marker(), before, "{fault:?}");
        assert_eq!(objects_of(&*objects).await[BUCKET_MARKER], "1\n");
        // A later proxy reads the marker once.
        let before = marker();
        let late = Bucket::new(objects.clone(), config());
        late.check_layout().await.unwrap();
        late.check().await.unwrap();
        assert_eq!(marker()[before.len()..], ["get"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_without_a_marker_has_the_first_layout() {
    let (objects, index) = (Faulty::new(Fault::None), index());
    load(&*objects).await;
    objects.delete(&BUCKET_MARKER.into()).await.unwrap();
    // Even if it can't be marked.
    objects.set(Fault::Full);
    let proxy = start_shared(&index.url("/simple/"), Bucket::new(objects.clone(), config()), false);
    fetch(&proxy).await;
    assert_eq!(index.count_of("/f/demo-1.0.tar.gz"), 0);
    assert!(!objects.has(&BUCKET_MARKER.into()));
    objects.set(Fault::None);
    until("it is marked", async || {
        proxy.get("/health", &[]).await;
        proxy.get("/simple/plain/", &[]).await;
        objects.has(&BUCKET_MARKER.into())
    })
    .await;
    assert_eq!(objects_of(&*objects).await[BUCKET_MARKER], "1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_or_damaged_bucket_is_not_used() {
    let newer: &[u8] = b"2\n";
    for marker in [newer].into_iter().chain(DAMAGED) {
        let (objects, index) = (Faulty::new(Fault::None), index());
        load(&*objects).await;
        objects.put(&BUCKET_MARKER.into(), Bytes::from_static(marker).into()).await.unwrap();
        let before = objects_of(&*objects).await;
        let bucket = || Bucket::new(objects.clone(), config());
        let part = if marker == newer {
            "has version 2, but this program supports at most version 1"
        } else {
            "expected the version"
        };
        for error in [
            bucket().check_layout().await.unwrap_err(),
            bucket().check().await.unwrap_err(),
            bucket().verify(|_, _| ()).await.unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(error.is_bucket_layout() && error.is_bucket(), "{error:?}");
            assert!(text.contains(part) && text.contains(BUCKET_MARKER), "{text}");
        }
        if marker != newer {
            // Failed uploads below are repeated for seconds.
            continue;
        }
        // A proxy that can't read the marker at its start finds out later.
        let proxy = start_shared(&index.url("/simple/"), bucket(), false);
        fetch(&proxy).await;
        assert_eq!(index.count_of("/f/demo-1.0.tar.gz"), 1);
        let purged = proxy.send(Method::DELETE, "/cache/demo", &PURGE).await;
        assert_ne!(purged.status(), 200);
        until("the reason is shown", async || {
            let health = proxy.json("/health", &[]).await;
            health["data"]["reasons"][0].as_str().is_some_and(|reason| reason.contains(part))
        })
        .await;
        settle(std::slice::from_ref(&proxy)).await;
        assert_eq!(objects_of(&*objects).await, before);
        // Used again after a repair.
        objects.put(&BUCKET_MARKER.into(), "1\n".into()).await.unwrap();
        until("the page is shared", async || {
            proxy.get("/health", &[]).await;
            proxy.get("/simple/plain/", &[]).await;
            proxy.send(Method::DELETE, "/cache/plain", &PURGE).await.status() == 200
        })
        .await;
    }
}

#[tokio::test]
async fn a_damaged_cache_directory_is_rejected_and_unchanged() {
    let newer: &[u8] = b"2\n";
    for content in [newer].into_iter().chain(DAMAGED) {
        let (_dir, cache) = cache();
        fs::write(cache.join(CACHE_MARKER), content).unwrap();
        is_rejected(&cache, if content == newer { "has version 2" } else { "expected the version" });
    }
    let (_dir, cache) = cache();
    let marker = cache.join(CACHE_MARKER);
    fs::set_permissions(&marker, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&marker).is_err() {
        is_rejected(&cache, "can't be read");
    }
    fs::remove_file(&marker).unwrap();
    is_rejected(&cache, "not a cache of this proxy: it has other content");
    fs::create_dir(&marker).unwrap();
    is_rejected(&cache, "its marker is not a file");
}

fn is_rejected(cache: &Path, part: &str) {
    let before = snapshot(cache);
    let error = Store::open(store::Config::new(cache)).unwrap_err();
    let text = error.to_string();
    assert!(error.is_storage() && !error.is_busy(), "{error:?}");
    assert!(text.contains(part) && text.contains(cache.to_str().unwrap()), "{text}");
    assert!(snapshot(cache) == before, "{text}");
}

#[tokio::test]
async fn a_crash_while_a_cache_directory_is_created_has_no_effect() {
    let dir = tempfile::tempdir().unwrap();
    // Killed before the folder, the marker, or its content was written.
    for (name, steps) in [("a", 0), ("b", 1), ("c", 2)] {
        let cache = dir.path().join(name);
        if steps > 0 {
            fs::DirBuilder::new().mode(0o755).create(&cache).unwrap();
        }
        if steps > 1 {
            fs::write(cache.join(CACHE_MARKER), "").unwrap();
        }
        PagesDir::of_cache(&cache).unwrap();
        drop(Store::open(store::Config::new(&cache)).unwrap());
        assert_eq!(fs::read_to_string(cache.join(CACHE_MARKER)).unwrap(), "1\n");
        PagesDir::of_cache(&cache).unwrap();
    }
}

/// Writes the objects of a bucket. `HTTP_PROXY` is the index.
#[tokio::test(flavor = "multi_thread")]
async fn write_bucket() {
    let Some(target) = std::env::var_os("WRITE_LAYOUT_BUCKET") else { return };
    let objects = memory();
    let proxy = start_shared(INDEX, share(&objects), false);
    for path in PATHS {
        assert_eq!(proxy.get(path, &[]).await.status(), 200, "{path}");
    }
    settle(std::slice::from_ref(&proxy)).await;
    until("pages are shared", async || paths(&objects, "p/q/pages").await.len() == 6).await;
    until("leases are released", async || paths(&objects, "p/q/leases").await.is_empty()).await;
    proxy.stop().await;
    for (path, content) in objects_of(&*objects).await {
        let path = Path::new(&target).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

#[cfg(feature = "cli")]
mod program {
    use std::fs::File;

    use super::*;
    use crate::support::program::{Served, run, serve};

    const PRIVATE: &str = "http://index.example.org/private/simple/";

    /// Settings of a proxy of [`INDEX`] and [`PRIVATE`] behind an HTTP proxy.
    fn env(http_proxy: &str) -> [(&str, &str); 6] {
        [
            ("HTTP_PROXY", http_proxy),
            ("PYPI_PROXY_INDEX_URL", INDEX),
            ("PYPI_PROXY_EXTRA_INDEX_URLS", PRIVATE),
            ("PYPI_PROXY_PRIVATE_INDEXES", "2"),
            ("PYPI_PROXY_STALE_WHILE_REVALIDATE", "0"),
            ("PYPI_PROXY_STALE_IF_ERROR", "0"),
        ]
    }

    const SECRET: &str = "/simple/secret/";

    async fn status(proxy: &Served, path: &str) -> u16 {
        reqwest::get(format!("{}{path}", proxy.url)).await.unwrap().status().as_u16()
    }

    /// Fills the cache directory below a folder.
    async fn fill(dir: &Path) {
        let index = index();
        let cache = dir.join("cache");
        let http_proxy = index.url("");
        let env = [&env(&http_proxy)[..], &[("PYPI_PROXY_CACHE_DIR", cache.to_str().unwrap())]].concat();
        let proxy = serve(dir, &env).await;
        responses(&proxy.url).await;
        assert_eq!(status(&proxy, SECRET).await, 200);
        until("facts are stored", async || {
            fs::read_to_string(cache.join("pages/facts/hashed")).is_ok_and(|facts| facts.contains("metadata"))
        })
        .await;
        proxy.end(rustix::process::Signal::TERM).await;
    }

    /// Returns the responses of an offline proxy with the cache directory below a folder, and the paths of its files. Checks
    /// that all of them are counted.
    async fn offline(dir: &Path) -> (BTreeMap<String, Bytes>, Vec<PathBuf>) {
        let index = Server::start(|_| respond(503, &[], ""));
        let cache = dir.join("cache");
        let http_proxy = index.url("");
        let offline = [("PYPI_PROXY_CACHE_DIR", cache.to_str().unwrap()), ("PYPI_PROXY_OFFLINE", "true")];
        let proxy = serve(dir, &[&env(&http_proxy)[..], &offline].concat()).await;
        let found = responses(&proxy.url).await;
        assert_eq!(status(&proxy, SECRET).await, 200);
        let mut files = files_below(&cache);
        files.sort_unstable();
        files.iter_mut().for_each(|file| *file = file.strip_prefix(&cache).unwrap().to_owned());
        let counted = files
            .iter()
            .filter(|file| !file.starts_with(CACHE_MARKER) && !file.starts_with("claims"))
            .count();
        until("the folder is scanned", async || {
            let metrics = reqwest::get(format!("{}/metrics", proxy.url)).await.unwrap().text().await.unwrap();
            let entries = metrics.lines().filter_map(|line| line.strip_prefix("pypi_proxy_cache_entries{"));
            let sum: f64 = entries.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum();
            sum == counted as f64
        })
        .await;
        assert_eq!(index.count(), 0);
        proxy.end(rustix::process::Signal::TERM).await;
        (found, files)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn write() {
        if std::env::var_os("WRITE_LAYOUT").is_none() {
            return;
        }
        let _ = fs::remove_dir_all(DATA);
        fs::create_dir_all(DATA).unwrap();
        let dir = tempfile::tempdir().unwrap();
        fill(dir.path()).await;
        copy(&dir.path().join("cache"), &Path::new(DATA).join("cache"));
        let (index, bucket) = (index(), Path::new(DATA).join("bucket"));
        let mut tests = tokio::process::Command::new(std::env::current_exe().unwrap());
        tests.args(["--exact", "layout::write_bucket"]);
        tests
            .env("HTTP_PROXY", index.url(""))
            .env("NO_PROXY", "127.0.0.1")
            .env("WRITE_LAYOUT_BUCKET", bucket);
        assert!(tests.status().await.unwrap().success());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_cache_directory_of_the_first_release_is_served() {
        let (dir, cache) = cache();
        let fresh = tempfile::tempdir().unwrap();
        fill(fresh.path()).await;
        assert_eq!(offline(dir.path()).await, offline(fresh.path()).await);
        let claims = files_below(&cache.join("claims"));
        assert_eq!(fs::read_to_string(&claims[0]).unwrap(), format!("# {PRIVATE}\nsecret\n"));

        let env =
            [&env("http://127.0.0.1:9")[..], &[("PYPI_PROXY_CACHE_DIR", cache.to_str().unwrap())]].concat();
        let archive = dir.path().join("archive.tar").display().to_string();
        let expect = async |args: &[&str], expected: i32, part: &str| {
            let (code, out) = run(dir.path(), &env, args).await;
            assert!(code == expected && out.contains(part), "{args:?}: {code}: {out}");
        };
        expect(&["verify"], 0, &format!("{FILES} files (")).await;
        expect(
            &["verify", "--provenance"],
            1,
            "demo-1.0.tar.gz: provenance does not verify: it has no attestation",
        )
        .await;
        expect(&["stats"], 0, &format!("files       {FILES}\n")).await;
        expect(&["gc"], 0, &format!("removed 0 files (0 B); {FILES} files (")).await;
        expect(&["export", &archive], 0, &format!(" and {FILES} files (")).await;
        expect(&["import", &archive], 0, &format!(" and {FILES} files were in the cache already")).await;

        // The public index alone.
        let offline = [env[1], env[6], ("PYPI_PROXY_OFFLINE", "true")];
        let (code, out) = run(dir.path(), &offline, &["explain", "demo"]).await;
        assert!(code == 0 && out.contains("1.0: 1 allowed"), "{code}: {out}");

        // The recorded name is not taken from the public index, although its page is gone and the private index is down.
        let index = Server::start(|request| match &*request.path {
            "/simple/secret/" => respond(200, &[JSON], page("secret", &[])),
            "/simple/other/" => respond(200, &[JSON], page("other", &[])),
            path if path.starts_with("/private/simple/secret") => respond(503, &[], ""),
            _ => respond(404, &[], ""),
        });
        fs::remove_dir_all(cache.join("pages")).unwrap();
        let url = index.url("");
        let proxy = serve(dir.path(), &[&env[1..], &[("HTTP_PROXY", &*url)]].concat()).await;
        assert_eq!((status(&proxy, SECRET).await, status(&proxy, "/simple/other/").await), (502, 200));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_newer_cache_directory_is_rejected_by_all_commands() {
        let (dir, cache) = cache();
        let requirements = dir.path().join("requirements.txt").display().to_string();
        fs::write(&requirements, "demo==1.0\n").unwrap();
        let archive = dir.path().join("archive.tar").display().to_string();
        let env =
            [&env("http://127.0.0.1:9")[..], &[("PYPI_PROXY_CACHE_DIR", cache.to_str().unwrap())]].concat();
        let (code, out) = run(dir.path(), &env, &["export", &archive]).await;
        assert_eq!(code, 0, "{out}");
        let other = dir.path().join("other.tar").display().to_string();
        let marker = cache.join(CACHE_MARKER);
        fs::write(&marker, "2\n").unwrap();
        let before = snapshot(dir.path());
        // Also while a newer program uses the folder.
        let lock = File::open(&marker).unwrap();
        for is_used in [false, true] {
            if is_used {
                lock.try_lock().unwrap();
            }
            let commands: [&[&str]; 10] = [
                &["serve", "--listen", "127.0.0.1:0"],
                &["check"],
                &["warm", &requirements],
                &["export", &other],
                &["import", &archive],
                &["gc"],
                &["verify"],
                &["verify", "--provenance"],
                &["stats"],
                &["explain", "demo"],
            ];
            for args in commands {
                let (code, out) = run(dir.path(), &env, args).await;
                let expected = format!(
                    "{}: the layout has version 2, but this program supports at most version 1 (upgrade pypi-proxy, or \
                     use another directory)",
                    marker.display()
                );
                assert!(code == 1 && out.contains(&expected), "{args:?}: {code}: {out}");
                assert!(snapshot(dir.path()) == before, "{args:?}");
            }
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn programs_that_create_a_cache_directory_at_the_same_time_do_not_damage_it() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..3 {
            let cache = dir.path().join(round.to_string()).display().to_string();
            let env = [("PYPI_PROXY_CACHE_DIR", &*cache)];
            for (code, out) in join_all((0..8).map(|_| run(dir.path(), &env, &["gc"]))).await {
                let is_busy = code == 1 && out.contains("another proxy uses the cache directory");
                assert!(is_busy || code == 0 && out.contains("removed 0 files"), "{code}: {out}");
            }
            assert_eq!(fs::read_to_string(Path::new(&cache).join(CACHE_MARKER)).unwrap(), "1\n");
        }
    }

    /// Settings of a bucket at this address.
    fn s3(endpoint: &str) -> [(&str, &str); 6] {
        [
            ("PYPI_PROXY_STORAGE_TYPE", "s3"),
            ("PYPI_PROXY_S3_BUCKET", "wheels"),
            ("PYPI_PROXY_S3_PREFIX", "p/q"),
            ("PYPI_PROXY_S3_ENDPOINT", endpoint),
            ("PYPI_PROXY_S3_ACCESS_KEY_ID", "key"),
            ("PYPI_PROXY_S3_SECRET_ACCESS_KEY", "hunter2"),
        ]
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_program_does_not_start_with_a_newer_bucket() {
        let bucket = Server::start(|request| match &*request.path {
            "/wheels/p/q/pypi-proxy-bucket" => {
                let modified = ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT");
                respond(200, &[("etag", "\"1\""), modified], "2\n")
            }
            _ => respond(500, &[], ""),
        });
        let dir = tempfile::tempdir().unwrap();
        let requirements = dir.path().join("requirements.txt").display().to_string();
        fs::write(&requirements, "demo==1.0\n").unwrap();
        let index = index();
        let (endpoint, url) = (bucket.url(""), index.url("/simple/"));
        let env = [&s3(&endpoint)[..], &[("PYPI_PROXY_INDEX_URL", &*url)]].concat();
        let commands: [&[&str]; 4] = [
            &["serve", "--listen", "127.0.0.1:0"],
            &["check"],
            &["warm", &requirements],
            &["verify", "--bucket"],
        ];
        for args in commands {
            let (code, out) = run(dir.path(), &env, args).await;
            let expected = "bucket is unusable: object p/q/pypi-proxy-bucket: the layout has version 2, but this program \
                            supports at most version 1 (upgrade pypi-proxy, or use another prefix)";
            assert!(code == 1 && out.contains(expected), "{args:?}: {code}: {out}");
        }
        // Nothing but the marker was requested, once by each command.
        let requests: Vec<_> =
            bucket.requests().into_iter().map(|request| (request.method, request.path)).collect();
        assert_eq!(requests, vec![("GET".into(), "/wheels/p/q/pypi-proxy-bucket".into()); commands.len()]);
        assert!(!index.paths().iter().any(|path| path.starts_with("/f/")));
        // It starts without a bucket, and serves.
        let env = [&s3("http://127.0.0.1:9")[..], &[("PYPI_PROXY_INDEX_URL", &*url)]].concat();
        let proxy = serve(dir.path(), &env).await;
        assert_eq!(status(&proxy, PATHS[2]).await, 200);
    }
}
