//! File store: shared downloads, verification, eviction, recovery, and files without SHA-256.

use std::io::{Read as _, Seek as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA224, SHA256, SHA384, SHA512, digest};
use futures_util::{StreamExt, TryStreamExt};
use proptest::prelude::*;
use pypi_proxy::Error;
use pypi_proxy::store::{Config, Expected, Key, Reader, Reference, Store, StoredFile};

use crate::support::prelude::*;
use crate::support::proxy::open as reopened;

fn open(dir: &tempfile::TempDir) -> Store {
    Store::open(config(dir)).unwrap()
}

fn config(dir: &tempfile::TempDir) -> Config {
    Config { stall_timeout: Duration::from_millis(300), ..Config::new(dir.path().join("cache")) }
}

async fn collect(reader: Reader) -> Result<Vec<u8>, Error> {
    reader
        .try_fold(Vec::new(), |mut all, chunk| async move {
            all.extend_from_slice(&chunk);
            Ok(all)
        })
        .await
}

fn read(stored: &StoredFile) -> Vec<u8> {
    let (mut file, mut bytes) = (&*stored.file, Vec::new());
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, stored.len);
    bytes
}

/// Number of files below a subfolder of the cache.
fn files(dir: &tempfile::TempDir, part: &str) -> usize {
    files_below(&dir.path().join("cache").join(part)).len()
}

#[tokio::test]
async fn the_first_bytes_are_available_before_the_download_ends() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let slow = Connection { delay: Duration::from_millis(20), ..Connection::default() };
    let source = ScriptedSource::new(content(100_000), [slow]);
    let download = source.download(&store);
    let first = download.reader(None).next().await.unwrap().unwrap();
    assert!(!first.is_empty() && first.len() < 50_000);
    assert!(store.in_flight(&source.key()).is_some());
    // The download continues without readers.
    assert_eq!(download.done().await.unwrap().unwrap().len, 100_000);
    assert!(store.in_flight(&source.key()).is_none());
}

#[tokio::test]
async fn corrupt_content_never_looks_complete() {
    let whole = content(200_000);
    let mut flipped = whole.to_vec();
    flipped[150_000] ^= 1;
    let longer = [&whole[..], b"x"].concat();
    let expected = Expected { sha256: Some(digest_of(&whole)), size: Some(200_000), ..Expected::default() };
    let without_size = Expected { size: None, ..expected };
    let untold = Connection { tells_len: false, ..Connection::default() };
    let cases: [(&str, Bytes, Expected, Connection); 6] = [
        ("flipped", flipped.clone().into(), expected, Connection::default()),
        ("flipped, length not told", flipped.into(), without_size, untold.clone()),
        ("longer", longer.clone().into(), expected, untold.clone()),
        ("another length is told", longer.into(), expected, Connection::default()),
        ("shorter, length not told", whole.slice(..100_000), without_size, untold),
        ("empty", Bytes::new(), without_size, Connection::default()),
    ];
    for (name, bytes, expected, connection) in cases {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        let source = ScriptedSource::new(bytes.clone(), vec![connection; 8]);
        let key = Key::Digest(digest_of(&whole));
        let download = source.download_as(&store, key, expected);
        let mut reader = download.reader(None);
        let mut len = 0;
        let end = loop {
            match reader.next().await {
                Some(Ok(chunk)) => len += chunk.len(),
                end => break end,
            }
        };
        assert!(matches!(&end, Some(Err(error)) if error.is_corrupt()), "{name}: {end:?}");
        assert!(reader.next().await.is_none());
        // A client that knows the length detects the truncation.
        assert!(expected.size.is_none() || len < whole.len(), "{name}");
        assert!(download.done().await.unwrap_err().is_corrupt(), "{name}");
        assert_eq!((files(&dir, "files"), files(&dir, "partial")), (0, 0), "{name}");
        assert_eq!((store.stats().corrupt, store.stats().files), (1, 0));
    }
}

#[tokio::test]
async fn the_least_recently_used_file_is_evicted_without_breaking_readers() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(Config { max_bytes: 250_000, ..config(&dir) }).unwrap();
    let sources: Vec<_> = (0..3).map(|number| ScriptedSource::new(content(100_000 + number), [])).collect();
    sources[0].download(&store).done().await.unwrap();
    sources[1].download(&store).done().await.unwrap();
    let first = store.get(&sources[0].digest()).unwrap();
    let second = store.get(&sources[1].digest()).unwrap();
    store.get(&sources[0].digest()).unwrap();
    sources[2].download(&store).done().await.unwrap();
    assert!(store.get(&sources[1].digest()).is_none());
    assert_eq!(read(&second), sources[1].content);
    assert_eq!(read(&first), sources[0].content);
    assert!(store.get(&sources[0].digest()).is_some() && store.get(&sources[2].digest()).is_some());
    assert_eq!((store.stats().evicted, files(&dir, "files")), (1, 2));
    // The order survives a restart.
    drop(store);
    let old = SystemTime::now() - Duration::from_secs(1000);
    let path = stored_path(&dir.path().join("cache"), sources[2].digest());
    std::fs::File::open(path).unwrap().set_modified(old).unwrap();
    let store = reopened(Config { max_bytes: 250_000, ..config(&dir) }).await.unwrap();
    until("the files are found", async || store.stats().files == 2).await;
    sources[1].download(&store).done().await.unwrap();
    assert!(store.get(&sources[2].digest()).is_none());
    assert!(store.get(&sources[0].digest()).is_some());
}

#[tokio::test]
async fn a_file_and_its_reference_fit_into_the_limit() {
    // The reference counts as a block of 4096 bytes. In the second row, it takes the place of an older copy of the file.
    for (max_bytes, has_copy) in [(104_096, false), (202_000, true)] {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(Config { max_bytes, ..config(&dir) }).unwrap();
        let source = ScriptedSource::new(content(100_000), []);
        if has_copy {
            source.download(&store).done().await.unwrap();
        }
        let project = pypi_proxy::ProjectName::parse("demo").unwrap();
        let url = "https://files.example.org/demo-1.0.zip";
        let reference = Reference::new(project, "demo-1.0.zip", &[url]);
        let download = source.download_as(&store, Key::Reference(reference.clone()), Expected::default());
        let stored = download.done().await.unwrap().unwrap();
        assert_eq!(store.lookup(&reference), Some(stored.digest));
        assert_eq!((files(&dir, "files"), files(&dir, "refs")), (1, 1), "{max_bytes}");
        assert_eq!(store.stats().evicted, u64::from(has_copy));
    }
}

#[tokio::test]
async fn unused_files_are_deleted_after_their_ttl() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let (old, new) = (ScriptedSource::new(content(10), []), ScriptedSource::new(content(20), []));
    for source in [&old, &new] {
        source.download(&store).done().await.unwrap();
    }
    let wanted = SystemTime::now() - Duration::from_secs(3600);
    store.get(&old.digest()).unwrap().file.set_modified(wanted).unwrap();
    drop(store);
    let ttl = Some(Duration::from_secs(1800));
    let store = reopened(Config { unused_ttl: ttl, ..config(&dir) }).await.unwrap();
    until("a file is deleted", async || files(&dir, "files") == 1 && store.stats().files == 1).await;
    assert!(store.get(&old.digest()).is_none() && store.get(&new.digest()).is_some());
}

#[tokio::test]
async fn clients_are_served_if_the_disk_is_not_writable() {
    let dir = tempfile::tempdir().unwrap();
    // The reader of the first file is never dropped, even on a busy machine.
    let window = |lag| Config { max_memory_buffer: 50_000, reader_timeout: lag, ..config(&dir) };
    let store = Store::open(window(TIMEOUT)).unwrap();
    // The folder for partial files is missing.
    std::fs::remove_dir(dir.path().join("cache/partial")).unwrap();
    let source = ScriptedSource::new(content(1_000_000), []);
    let held = source.download(&store);
    let (fast, slow) = (held.reader(None), held.reader(None));
    // Reserved bytes are kept like those of a reader.
    let download = store.in_flight(&source.key()).unwrap();
    drop(held);
    let slow = slow.then(|chunk| async {
        tokio::time::sleep(Duration::from_micros(200)).await;
        chunk
    });
    let slow = async { slow.try_fold(0, |sum, chunk| async move { Ok(sum + chunk.len()) }).await };
    let (fast, slow) = tokio::join!(collect(fast), slow);
    assert_eq!(fast.unwrap(), source.content);
    assert_eq!(slow.unwrap(), 1_000_000);
    assert!(download.done().await.unwrap().is_none());
    assert_eq!(store.stats().unwritten, 1);
    // A reader without progress blocks the others only until the timeout.
    drop((download, store));
    let store = reopened(window(Duration::from_secs(3))).await.unwrap();
    std::fs::remove_dir(dir.path().join("cache/partial")).unwrap();
    let source = ScriptedSource::new(content(1_000_001), []);
    let download = source.download(&store);
    let (good, mut still) = (download.reader(None), download.reader(None));
    assert_eq!(collect(good).await.unwrap(), source.content);
    let mut len = 0;
    let error = loop {
        match still.next().await.unwrap() {
            Ok(chunk) => len += chunk.len(),
            Err(error) => break error,
        }
    };
    assert!(error.is_storage() && len < 1_000_001, "{error}");
}

#[tokio::test]
async fn verify_finds_corrupt_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let sources: Vec<_> = (0..3).map(|number| ScriptedSource::new(content(1000 + number), [])).collect();
    for source in &sources {
        source.download(&store).done().await.unwrap();
    }
    let path = |source: &ScriptedSource| stored_path(&dir.path().join("cache"), source.digest());
    let mut bytes = sources[0].content.to_vec();
    bytes[0] ^= 1;
    std::fs::write(path(&sources[0]), bytes).unwrap();
    // A truncated file is detected without reading it.
    std::fs::write(path(&sources[1]), "short").unwrap();
    drop(store);
    let store = reopened(Config { max_open_files: 0, ..config(&dir) }).await.unwrap();
    let mut seen = 0;
    let verified = store.verify(|_, _| seen += 1).unwrap();
    let bad = std::collections::BTreeSet::from([sources[0].digest(), sources[1].digest()]);
    let found = verified.bad.iter().copied().collect();
    assert_eq!((verified.good, verified.bytes, found, seen), (1, 1002, bad, 3));
    assert!(store.get(&sources[0].digest()).is_none());
    assert!(store.remove(&sources[2].digest()).unwrap());
    assert!(!store.remove(&sources[2].digest()).unwrap());
    assert!(store.get(&sources[2].digest()).is_none());
}

prop_compose! {
    fn connection()(bytes in proptest::option::of(0usize..4000), fails: bool, resumes: bool, chunk in 1usize..3000) -> Connection {
        Connection { bytes, fails, resumes, chunk, ..Connection::default() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For arbitrary connection faults, readers get the file or an error.
    #[test]
    fn readers_get_the_file_or_an_error(
        len in 0usize..5000,
        script in proptest::collection::vec(connection(), 0..4),
        ranges in proptest::collection::vec((0u64..5000, 0u64..5000), 1..5),
        tells_len: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let store = open(&dir);
            let script: Vec<_> = script.into_iter().map(|connection| Connection { tells_len, ..connection }).collect();
            let source = ScriptedSource::new(content(len), script);
            let download = source.download(&store);
            let results = join_all(ranges.iter().map(|(start, len)| collect(download.reader(Some(*start..*start + *len))))).await;
            let is_good = download.done().await.is_ok();
            for ((start, count), result) in ranges.iter().zip(results) {
                let end = usize::try_from(start + count).unwrap().min(len);
                let start = usize::try_from(*start).unwrap().min(end);
                match result {
                    Ok(bytes) => assert_eq!(bytes, source.content[start..end]),
                    Err(_) => assert!(!is_good),
                }
            }
            assert_eq!(store.get(&source.digest()).is_some(), is_good);
        });
    }
}

const WHEEL: &str = "demo-1.0-py3-none-any.whl";

/// Hash of some content. MD5 is only known for the content of these tests.
fn hash(algorithm: &str, content: &[u8]) -> String {
    let algorithm = match algorithm {
        "sha1" => &SHA1_FOR_LEGACY_USE_ONLY,
        "sha224" => &SHA224,
        "sha256" => &SHA256,
        "sha384" => &SHA384,
        "sha512" => &SHA512,
        _ if content == GOOD => return "900150983cd24fb0d6963f7d28e17f72".into(),
        _ => return "0".repeat(32),
    };
    digest(algorithm, content).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

const GOOD: &[u8] = b"abc";
const ALGORITHMS: [&str; 6] = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];

/// Index with one wheel and its metadata, listed with this page.
fn index(page: impl Into<Bytes>, is_json: bool, file: &'static [u8]) -> (Server, RunningProxy) {
    let page = page.into();
    let server = Server::start(move |request| match &*request.path {
        "/simple/demo/" => respond(200, &[if is_json { JSON } else { HTML }], page.clone()),
        _ => respond(200, &[], file),
    });
    let proxy = start(&[server.url("/simple")]);
    (server, proxy)
}

fn page(hashes: &Value) -> String {
    let file = json!({"filename": WHEEL, "url": "/f/a.whl", "hashes": hashes, "size": GOOD.len(), "core-metadata": hashes});
    json!({"files": [file]}).to_string()
}

/// Returns whether a file was sent completely and is stored.
async fn is_served(proxy: &RunningProxy, name: &str) -> bool {
    let response = proxy.get(&format!("/simple/demo/{name}"), &[]).await;
    let is_whole = response.status() == 200 && response.bytes().await.is_ok_and(|bytes| bytes == GOOD);
    assert_eq!(proxy.store.stats().files, u64::from(is_whole), "{name}");
    is_whole
}

#[tokio::test]
async fn every_hash_algorithm_is_verified() {
    for algorithm in ALGORITHMS {
        for (of, is_good) in [(GOOD, true), (&b"abd"[..], false)] {
            let hash = hash(algorithm, of);
            let html = format!("<a href=\"/f/{WHEEL}#{algorithm}={hash}\">x</a>");
            let (_server, proxy) = index(html, false, GOOD);
            assert_eq!(is_served(&proxy, WHEEL).await, is_good, "{algorithm} in HTML");
            let upper = json!({algorithm: hash.to_uppercase()});
            for name in [WHEEL.to_owned(), format!("{WHEEL}.metadata")] {
                let (_server, proxy) = index(page(&upper), true, GOOD);
                assert_eq!(is_served(&proxy, &name).await, is_good, "{algorithm} of {name}");
            }
        }
    }
}

#[tokio::test]
async fn the_strongest_hash_is_verified() {
    for (at, weak) in ALGORITHMS.iter().enumerate() {
        for strong in &ALGORITHMS[at + 1..] {
            let hashes = json!({*weak: hash(weak, GOOD), *strong: hash(strong, b"abd")});
            let (_server, proxy) = index(page(&hashes), true, GOOD);
            assert!(!is_served(&proxy, WHEEL).await, "{strong} beside {weak}");
            let hashes = json!({*strong: hash(strong, GOOD), *weak: hash(weak, GOOD)});
            let (_server, proxy) = index(page(&hashes), true, GOOD);
            assert!(is_served(&proxy, WHEEL).await, "{strong} beside {weak}");
        }
    }
}

#[tokio::test]
async fn invalid_hashes_are_ignored() {
    for hashes in [
        json!({}),
        json!({"md5": "00"}),
        json!({"blake2b": "00", "sha512": 7}),
        json!({"sha1": "zz".repeat(20)}),
    ] {
        let (_server, proxy) = index(page(&hashes), true, GOOD);
        assert!(is_served(&proxy, WHEEL).await, "{hashes}");
    }
}

/// HTML pages contain hashes other than SHA-256, too.
#[tokio::test]
async fn html_pages_contain_the_hash() {
    let hash = hash("sha512", GOOD);
    let (_server, proxy) = index(page(&json!({"sha512": hash})), true, GOOD);
    let html = proxy.get("/simple/demo/", &[("accept", "text/html")]).await.text().await.unwrap();
    assert!(html.contains(&format!("href=\"{WHEEL}#sha512={hash}\"")), "{html}");
    assert!(html.contains(&format!("data-core-metadata=\"sha512={hash}\"")), "{html}");
}

/// Index with a wheel without a hash, with content of this length at every URL.
fn nameless(path: &'static str, len: usize) -> Server {
    Server::start(move |request| match &*request.path {
        "/simple/demo/" => respond(200, &[HTML], format!("<a href=\"{path}/{WHEEL}\">x</a>")),
        _ => respond(200, &[], content(len)),
    })
}

#[tokio::test]
async fn files_without_a_hash_are_bound_to_their_index() {
    let (first, second) = (nameless("/f", 100), nameless("/f", 200));
    let dir = tempfile::tempdir().unwrap();
    for (index, len) in [(&first, 100), (&second, 200), (&first, 100)] {
        let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
        let path = format!("/simple/demo/{WHEEL}");
        assert_eq!(proxy.get(&path, &[]).await.bytes().await.unwrap(), content(len));
        proxy.stop().await;
    }
    // The stored file is reused for its own index.
    assert_eq!(first.count_of(&format!("/f/{WHEEL}")), 1);
}

#[tokio::test]
async fn files_without_a_hash_are_bound_to_their_url_and_page() {
    let number = Arc::new(AtomicUsize::new(0));
    let now = number.clone();
    // Each page lists another URL, or a hash with an unsupported algorithm.
    let server = Server::start(move |request| {
        let number = now.load(Ordering::Relaxed);
        match &*request.path {
            "/simple/demo/" => {
                let link = match number {
                    0 => format!("/f/{WHEEL}"),
                    1 => format!("/g/{WHEEL}"),
                    2 => format!("/g/{WHEEL}?token=2"),
                    _ => format!("/g/{WHEEL}?token=2#md5={}", hash("md5", GOOD)),
                };
                respond(200, &[HTML], format!("<a href=\"{link}\">x</a>"))
            }
            _ if number == 3 => respond(200, &[], GOOD),
            _ => respond(200, &[], content(100 + number)),
        }
    });
    let proxy = start_with(&[server.url("/simple")], Setup::always_revalidate);
    for at in 0..4 {
        number.store(at, Ordering::Relaxed);
        let expected = if at == 3 { Bytes::from_static(GOOD) } else { content(100 + at) };
        for _ in 0..2 {
            let path = format!("/simple/demo/{WHEEL}");
            assert_eq!(proxy.get(&path, &[]).await.bytes().await.unwrap(), expected, "{at}");
        }
    }
    let fetched = server.paths().iter().filter(|path| !path.starts_with("/simple/")).count();
    assert_eq!(fetched, 4);
}
