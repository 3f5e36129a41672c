//! The commands `export`, `import` and `warm` with lock files.
#![cfg(feature = "cli")]

use std::path::Path;

use rustix::process::Signal;

use crate::support::prelude::*;
use crate::support::program::{program, serve};

const WHEEL: &str = "demo-1.0-py3-none-any.whl";
const NATIVE: &str = "demo-1.0-cp313-cp313-win_amd64.whl";
const SOURCE: &str = "demo-1.0.tar";

fn index() -> Server {
    file_index([(WHEEL, content(1000)), (NATIVE, content(1001)), (SOURCE, content(1002))])
}

/// Runs a command with the cache below a folder. Checks its exit code, and that its output contains a text. Returns the
/// output, errors first.
async fn expect(dir: &Path, url: &str, args: &[&str], code: i32, part: &str) -> String {
    let cache = dir.join("cache");
    let env = [("PYPI_PROXY_INDEX_URL", url), ("PYPI_PROXY_CACHE_DIR", cache.to_str().unwrap())];
    let output = program(dir, &env, args).output().await.unwrap();
    let text = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
    assert!(output.status.code() == Some(code) && text.contains(part), "{args:?}: {}: {text}", output.status);
    text
}

/// Writes a file and returns its path.
fn write(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn hash(len: usize) -> String {
    digest_of(&content(len)).to_string()
}

/// Lock files of all formats, with the same three files.
fn locks() -> [(&'static str, String); 6] {
    let files = [(WHEEL, hash(1000)), (NATIVE, hash(1001)), (SOURCE, hash(1002))];
    let [wheel, native, source] = files.each_ref().map(|(name, hash)| {
        format!("{{ url = \"https://files.example.org/{name}\", hash = \"sha256:{hash}\" }}")
    });
    let named =
        files.each_ref().map(|(name, hash)| format!("{{file = \"{name}\", hash = \"sha256:{hash}\"}}"));
    let tables = files.each_ref().map(|(name, hash)| {
        format!("{{name = \"{name}\", url = \"https://files.example.org/{name}\", hashes = {{sha256 = \"{hash}\"}}}}")
    });
    let hashes = files.each_ref().map(|(_, hash)| format!("\"sha256:{hash}\""));
    let poetry = format!(
        "[[package]]\nname = \"demo\"\nversion = \"1.0\"\nfiles = [{}]\n\n[metadata]\nlock-version = \"2.1\"\n",
        named.join(", ")
    );
    [
        (
            "uv.lock",
            format!(
                "version = 1\n[[package]]\nname = \"app\"\nversion = \"1\"\nsource = {{ virtual = \".\" }}\n[[package]]\nname = \
                 \"demo\"\nversion = \"1.0\"\nsource = {{ registry = \"https://packages.example.org/simple\" }}\nsdist = {source}\n\
                 wheels = [{wheel}, {native}]\n"
            ),
        ),
        ("poetry.lock", poetry.clone()),
        ("pdm.lock", poetry),
        (
            "pylock.toml",
            format!(
                "lock-version = \"1.0\"\ncreated-by = \"x\"\n[[packages]]\nname = \"demo\"\nwheels = [{}, {}]\nsdist = {}\n",
                tables[0], tables[1], tables[2]
            ),
        ),
        (
            "Pipfile.lock",
            format!(
                r#"{{"_meta": {{"sources": []}}, "default": {{"demo": {{"hashes": [{}], "version": "==1.0"}}}}, "develop": {{}}}}"#,
                hashes.join(", ")
            ),
        ),
        (
            "requirements.txt",
            format!(
                "demo==1.0 --hash=sha256:{} --hash=sha256:{} --hash=sha256:{}\n",
                files[0].1, files[1].1, files[2].1
            ),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn warm_reads_all_lock_files_and_continues() {
    let index = index();
    let url = index.url("/simple/");
    for (name, text) in locks() {
        let dir = tempfile::tempdir().unwrap();
        let file = write(dir.path(), name, &text);
        let output = expect(dir.path(), &url, &["warm", &file, "--match", "linux"], 0, "2 files (").await;
        assert_eq!(
            output.contains("uv.lock:3: app: skipped, not a project of an index"),
            name == "uv.lock",
            "{output}"
        );
        // The rest, also by contents instead of the name.
        let before = index.count();
        let file = write(dir.path(), "some.lock", &text);
        expect(dir.path(), &url, &["warm", &file], 0, "; 2 files were stored already").await;
        let paths = index.paths().split_off(before);
        assert_eq!(paths, [format!("/f/{NATIVE}")], "{name}");
        expect(dir.path(), &url, &["warm", &file, &file], 0, "0 files (0 B)").await;
        // Through a running proxy.
        let cache = dir.path().join("cache");
        let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_CACHE_DIR", cache.to_str().unwrap())];
        let proxy = serve(dir.path(), &env).await;
        let args = ["warm", &file, "--proxy", &proxy.url];
        expect(dir.path(), &url, &args, 0, "0 files (0 B)").await;
        let log = proxy.end(Signal::TERM).await;
        assert!(log.contains("\"method\":\"HEAD\"") && !log.contains(".whl\",\"method\":\"GET\""), "{log}");
        assert_eq!(index.count(), before + 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn warm_reports_malformed_locks_and_missing_files() {
    let index = index();
    let (url, dir) = (index.url("/simple/"), tempfile::tempdir().unwrap());
    let file = write(dir.path(), "uv.lock", "version = 1\nx y\n");
    expect(dir.path(), &url, &["warm", &file], 1, "uv.lock can't be read: malformed lock file: line 2: ")
        .await;
    let file = write(dir.path(), "Pipfile.lock", "{\"default\": []}");
    expect(dir.path(), &url, &["warm", &file], 1, "expected a group of packages").await;
    assert_eq!(index.count(), 0);
    std::fs::File::create(dir.path().join("uv.lock")).unwrap().set_len((32 << 20) + 1).unwrap();
    expect(dir.path(), &url, &["warm", dir.path().join("uv.lock").to_str().unwrap()], 1, "larger than").await;
    let text = locks()[1].1.replace(&hash(1001), &hash(7)).replace(NATIVE, "demo-9.0.zip");
    let file = write(dir.path(), "poetry.lock", &text);
    let output = expect(dir.path(), &url, &["warm", &file], 1, "demo: demo-9.0.zip is not on its page").await;
    assert!(output.contains("problems: 1") && output.contains("2 files ("), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn warm_verifies_files_without_a_hash_on_the_page_and_retries() {
    let index = Server::start(|request| match &*request.path {
        "/simple/demo/" => {
            respond(200, &[HTML], format!("<a href=/f/{WHEEL}>x</a><a href=/f/{SOURCE}>x</a>"))
        }
        // The first attempt fails.
        path if path.ends_with(".tar") && request.nth < 3 => respond(503, &[], ""),
        path if path.ends_with(".tar") => respond(200, &[], content(1002)),
        _ => respond(200, &[], content(999)),
    });
    let (url, dir) = (index.url("/simple/"), tempfile::tempdir().unwrap());
    let text =
        locks()[1].1.replace(&format!("{{file = \"{NATIVE}\", hash = \"sha256:{}\"}}, ", hash(1001)), "");
    let file = write(dir.path(), "poetry.lock", &text);
    let args = ["warm", &file, "--download-retries", "1"];
    let output = expect(dir.path(), &url, &args, 1, "the file does not have the hash in the lock file").await;
    assert!(output.contains(WHEEL) && output.contains("1 files (1002 B)"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn archives_move_a_cache_to_a_machine_without_a_network() {
    let index = index();
    let url = index.url("/simple/");
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = |name: &str| first.path().join(name).to_str().unwrap().to_owned();
    let (tar, zst, part) = (path("a.tar"), path("a.tar.zst"), path("part.tar"));
    expect(first.path(), &url, &["export", &tar], 1, "there is no cache yet").await;
    let lock = write(first.path(), "uv.lock", &locks()[0].1);
    expect(first.path(), &url, &["warm", &lock], 0, "3 files").await;
    let output =
        expect(first.path(), &url, &["export", &tar], 0, "1 pages and 3 files (2.93 KiB) exported").await;
    assert!(output.contains(&format!("index    {url}\nmanifest ")), "{output}");
    expect(first.path(), &url, &["export", &zst], 0, "").await;
    let plain = std::fs::read(&tar).unwrap();
    assert_eq!(zstd::decode_all(&std::fs::read(&zst).unwrap()[..]).unwrap(), plain);
    if is_available("tar") {
        let listed = std::process::Command::new("tar").args(["tvf", &tar]).output().unwrap();
        let text = String::from_utf8(listed.stdout).unwrap();
        assert!(listed.status.success() && text.lines().count() >= 5, "{text}");
        assert!(text.lines().all(|line| line.starts_with("-rw-r--r-- 0/0")), "{text}");
    }
    // Selected files only.
    let requirements = write(first.path(), "one.txt", &format!("demo==1.0 --hash=sha256:{}\n", hash(1002)));
    expect(first.path(), &url, &["export", &part, "--requirements", &requirements], 0, "1 pages and 1 files")
        .await;
    let requirements = write(first.path(), "none.txt", "demo==1.0\nother\n");
    let args = ["export", &*part, "--requirements", &requirements];
    let before = std::fs::read(&part).unwrap();
    expect(first.path(), &url, &args, 1, "other is not in the cache (download it with pypi-proxy warm)")
        .await;
    assert_eq!(std::fs::read(&part).unwrap(), before, "the previous archive stays");
    assert!(!Path::new(&(part.clone() + ".partial")).exists());
    let requirements = write(first.path(), "old.txt", "demo<1\n");
    expect(first.path(), &url, &["export", &path("old.tar"), "--requirements", &requirements], 0, "0 files")
        .await;
    // A pipe or device stays as well.
    let _pipe = std::os::unix::net::UnixListener::bind(path("pipe")).unwrap();
    expect(
        first.path(),
        &url,
        &["export", &path("pipe")],
        1,
        "pipe can't be written: it is not a regular file",
    )
    .await;
    let lock = write(first.path(), "poetry.lock", &locks()[1].1);
    std::fs::remove_file(stored_path(&first.path().join("cache"), digest_of(&content(1001)))).unwrap();
    let output = expect(first.path(), &url, &["export", &part, "--requirements", &lock], 0, "2 files").await;
    assert!(output.contains(&format!("{NATIVE}: not in the cache")), "{output}");

    index.stop().await;
    let other = "https://other.example.org/simple";
    expect(second.path(), other, &["import", &tar], 1, "which is not an index of this proxy (set index_url")
        .await;
    expect(second.path(), &url, &["import", &tar, "--cache-size", "2000"], 1, "(set cache_size, now 2000)")
        .await;
    expect(second.path(), &url, &["import", &path("none.tar")], 1, "none.tar: No such file").await;
    expect(second.path(), &url, &["import", first.path().to_str().unwrap()], 1, "can't be read").await;
    expect(second.path(), &url, &["import", &lock], 1, "archive error: it is truncated").await;
    expect(second.path(), &url, &["import", &tar, "--index", "x"], 2, "OLD=NEW").await;
    expect(
        second.path(),
        &url,
        &["import", &zst],
        0,
        "1 pages and 3 files (2.93 KiB) imported\n0 pages and 0",
    )
    .await;
    expect(
        second.path(),
        &url,
        &["import", &tar],
        0,
        "0 pages and 0 files (0 B) imported\n1 pages and 3 files",
    )
    .await;
    let again = path("again.tar");
    expect(second.path(), &url, &["export", &again], 0, "").await;
    assert!(std::fs::read(&again).unwrap() == plain);
    let map = format!("{url}={other}");
    let third = tempfile::tempdir().unwrap();
    expect(third.path(), other, &["import", &tar, "--index", &map], 0, "3 files").await;

    let cache = second.path().join("cache");
    let env = [
        ("PYPI_PROXY_INDEX_URL", &*url),
        ("PYPI_PROXY_OFFLINE", "true"),
        ("PYPI_PROXY_CACHE_DIR", cache.to_str().unwrap()),
    ];
    let proxy = serve(second.path(), &env).await;
    for (name, len) in [(WHEEL, 1000), (NATIVE, 1001), (SOURCE, 1002)] {
        let response = reqwest::get(format!("{}/simple/demo/{name}", proxy.url)).await.unwrap();
        assert_eq!(response.bytes().await.unwrap(), content(len));
    }
    // Both commands need the cache for themselves.
    for command in ["export", "import"] {
        expect(
            second.path(),
            &url,
            &[command, &tar],
            1,
            "another proxy uses the cache directory (stop it first)",
        )
        .await;
    }
    assert!(std::fs::read(&tar).unwrap() == plain);
    // Projects that are not cached can't be downloaded now.
    let requirements = write(second.path(), "r.txt", "missing\n");
    let args = ["warm", &requirements, "--proxy", &proxy.url];
    expect(
        second.path(),
        &url,
        &args,
        1,
        "missing: the proxy responded with status 504 Gateway Timeout: the proxy is offline",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_exports_imports_and_downloads_lose_nothing() {
    const FILES: usize = 30;
    let names: Vec<&'static str> = (0..FILES).map(|number| &*format!("demo-{number}.0.zip").leak()).collect();
    let index = file_index(names.iter().enumerate().map(|(number, name)| (*name, content(400_000 + number))));
    let url = index.url("/simple/");
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let pins: String = (0..FILES)
        .map(|number| format!("demo=={number}.0 --hash=sha256:{}\n", hash(400_000 + number)))
        .collect();
    let pins = write(first.path(), "r.txt", &pins);
    let tar = first.path().join("a.tar").to_str().unwrap().to_owned();
    // Kills a command after a time. Returns whether it was still running.
    let killed = async |dir: &Path, args: &[&str], time: u64| {
        let cache = dir.join("cache");
        let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_CACHE_DIR", cache.to_str().unwrap())];
        let mut command = program(dir, &env, args);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(time)).await;
        let is_running = child.try_wait().unwrap().is_none();
        child.kill().await.unwrap();
        is_running
    };
    let mut count = 0;
    for round in 0..6 {
        count += usize::from(killed(first.path(), &["warm", &pins], 20 + 15 * round).await);
    }
    expect(first.path(), &url, &["warm", &pins], 0, "").await;
    for path in names.iter().map(|name| format!("/f/{name}")) {
        // A download that was killed is repeated, but none that is stored.
        assert!((1..=7).contains(&index.count_of(&path)), "{path}");
    }
    for round in 0..6 {
        count += usize::from(killed(first.path(), &["export", &tar], 15 + 10 * round).await);
        if let Ok(archive) = std::fs::read(&tar) {
            pypi_proxy::archive::check_archive(&archive).unwrap();
        }
    }
    expect(first.path(), &url, &["export", &tar], 0, "30 files").await;
    assert!(!Path::new(&(tar.clone() + ".partial")).exists());
    for round in 0..6 {
        count += usize::from(killed(second.path(), &["import", &tar], 15 + 10 * round).await);
    }
    assert!(count > 0, "no command was killed");
    expect(second.path(), &url, &["verify"], 0, "").await;
    expect(second.path(), &url, &["import", &tar], 0, "").await;
    let again = first.path().join("again.tar").to_str().unwrap().to_owned();
    expect(second.path(), &url, &["export", &again], 0, "30 files").await;
    assert!(std::fs::read(&again).unwrap() == std::fs::read(&tar).unwrap());
    assert_eq!(files_below(&second.path().join("cache/partial")), [""; 0].map(std::path::PathBuf::from));
}

#[tokio::test(flavor = "multi_thread")]
async fn archives_have_the_named_indexes() {
    let (main, named) = (index(), file_index([("demo-2.0.zip", content(2000))]));
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let url = main.url("/simple/");
    let text = format!("[index.torch]\nindex_url = \"{}\"\n", named.url("/simple/"));
    let config = write(first.path(), "config.toml", &text);
    let serving = async |dir: &Path, more: &[(&str, &str)]| {
        let cache = dir.join("cache");
        let env = [
            ("PYPI_PROXY_INDEX_URL", &*url),
            ("PYPI_PROXY_CONFIG", &*config),
            ("PYPI_PROXY_CACHE_DIR", cache.to_str().unwrap()),
        ];
        serve(dir, &[&env, more].concat()).await
    };
    let fetch = async |proxy: &str| {
        for (path, len) in
            [(format!("/simple/demo/{SOURCE}"), 1002), ("/torch/simple/demo/demo-2.0.zip".into(), 2000)]
        {
            let response = reqwest::get(format!("{proxy}{path}")).await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            assert_eq!(response.bytes().await.unwrap(), content(len), "{path}");
        }
    };
    let proxy = serving(first.path(), &[]).await;
    fetch(&proxy.url).await;
    proxy.end(Signal::TERM).await;
    let tar = first.path().join("a.tar").to_str().unwrap().to_owned();
    let with_config = ["--config", &*config];
    let args = [&["export", &*tar][..], &with_config].concat();
    let output = expect(first.path(), &url, &args, 0, "2 pages and 2 files").await;
    assert!(output.contains(&named.url("/simple/")), "{output}");
    expect(second.path(), &url, &["import", &tar], 1, "which is not an index of this proxy").await;
    let args = [&["import", &*tar][..], &with_config].concat();
    expect(second.path(), &url, &args, 0, "2 pages and 2 files").await;
    main.stop().await;
    named.stop().await;
    let proxy = serving(second.path(), &[("PYPI_PROXY_OFFLINE", "true")]).await;
    fetch(&proxy.url).await;
}
