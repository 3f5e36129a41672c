//! The program when it is killed and under heavy load.
#![cfg(feature = "cli")]

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt as _;

use crate::support::prelude::*;
use crate::support::program::{program, run, serve};

/// Fixed numbers, because each processor would add threads, which have their own memory.
const AS_EVERYWHERE: [(&str, &str); 2] = [("TOKIO_WORKER_THREADS", "2"), ("MALLOC_ARENA_MAX", "8")];

const ROUNDS: usize = 50;
const FILES: usize = 4;

fn name(round: usize, number: usize) -> String {
    format!("demo-{round}.{number}.whl")
}

fn wheel(round: usize, number: usize) -> Bytes {
    content(100_000 + round * FILES + number)
}

/// Index whose files take some time each.
fn slow_index() -> Server {
    let rounds = 0..ROUNDS;
    let all =
        rounds.flat_map(|round| (0..FILES).map(move |number| (name(round, number), wheel(round, number))));
    let all: Vec<_> = all.collect();
    let page = hashed_page(all.iter().cloned());
    Server::start(move |received| {
        let Some(file) = received.path.strip_prefix("/f/") else {
            return respond(200, &[JSON], page.clone());
        };
        let (_, wheel) = all.iter().find(|(name, _)| name == file).unwrap();
        assert_eq!(received.header("range"), "", "a new program does not know earlier downloads");
        slow(wheel, 10_000, Duration::from_millis(4))
    })
}

/// Downloads a file. Returns its bytes, and whether the response was complete.
async fn fetch(url: String, count: &AtomicUsize) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let Ok(response) = reqwest::get(url).await else { return (bytes, false) };
    if response.status() != 200 {
        return (bytes, false);
    }
    let mut body = response.bytes_stream();
    loop {
        match body.next().await {
            Some(Ok(chunk)) => {
                count.fetch_add(chunk.len(), Ordering::Relaxed);
                bytes.extend_from_slice(&chunk);
            }
            Some(Err(_)) => return (bytes, false),
            None => return (bytes, true),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_program_never_stores_or_sends_corrupt_bytes() {
    let index = slow_index();
    let dir = tempfile::tempdir().unwrap();
    let url = index.url("/simple/");
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "never")];
    let mut whole = 0;
    for round in 0..ROUNDS {
        let proxy = serve(dir.path(), &env).await;
        // Files of this round, and those of the last round, which may be stored.
        let rounds = [round, round.saturating_sub(1)];
        let wanted = rounds.into_iter().flat_map(|round| (0..FILES).map(move |number| (round, number)));
        let count = Arc::new(AtomicUsize::new(0));
        let clients = wanted.map(|(round, number)| {
            let (url, count) = (format!("{}/simple/demo/{}", proxy.url, name(round, number)), count.clone());
            async move { (wheel(round, number), fetch(url, &count).await) }
        });
        let clients = tokio::spawn(join_all(clients.collect::<Vec<_>>()));
        // From before the first byte to after the last one, which all clients receive in the last round.
        let is_last = round + 1 == ROUNDS;
        let enough = if is_last { usize::MAX } else { round * 2 * FILES * 100_000 / ROUNDS };
        while count.load(Ordering::Relaxed) < enough && !clients.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        proxy.kill().await;
        for (wheel, (bytes, is_whole)) in clients.await.unwrap() {
            assert!(wheel.starts_with(&bytes), "{round}: {} bytes", bytes.len());
            assert!(!is_whole || bytes.len() == wheel.len(), "{round}: {} bytes", bytes.len());
            whole += usize::from(is_whole);
        }
        let (code, out) = run(dir.path(), &[], &["verify"]).await;
        assert_eq!(code, 0, "{round}: {out}");
        assert!(out.contains(" are good"), "{round}: {out}");
    }
    // It was killed early and late.
    assert!(whole > 0 && whole < ROUNDS * FILES * 2, "{whole}");
    let proxy = serve(dir.path(), &env).await;
    let all = (0..ROUNDS).flat_map(|round| (0..FILES).map(move |number| (round, number)));
    for (round, number) in all {
        let url = format!("{}/simple/demo/{}", proxy.url, name(round, number));
        assert!(fetch(url, &AtomicUsize::new(0)).await == (wheel(round, number).to_vec(), true), "{round}");
    }
}

/// Many clients request the same file during its download.
async fn crowd(clients: usize, len: usize, max_peak: u64) {
    let wheel = content(len);
    let own = wheel.clone();
    let page = hashed_page([("demo-1.0.whl", wheel.clone())]);
    let index = Server::start(move |received| {
        if !received.path.starts_with("/f/") {
            return respond(200, &[JSON], page.clone());
        }
        // All clients have connected before the second half is sent.
        slow(&own, own.len() / 2, Duration::from_millis(500))
    });
    let dir = tempfile::tempdir().unwrap();
    let url = index.url("/simple/");
    let env = [
        ("PYPI_PROXY_INDEX_URL", &*url),
        ("PYPI_PROXY_DOWNLOAD_TIMEOUT", "never"),
        ("PYPI_PROXY_ACCESS_LOG", "false"),
        AS_EVERYWHERE[0],
        AS_EVERYWHERE[1],
    ];
    let proxy = serve(dir.path(), &env).await;
    let url = format!("{}/simple/demo/demo-1.0.whl", proxy.url);
    let tasks: Vec<_> = (0..clients).map(|_| tokio::spawn(compare(url.clone(), wheel.clone()))).collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(index.count_of("/f/demo-1.0.whl"), 1);
    assert_eq!(index.count_of("/simple/demo/"), 1);
    if let Some(peak) = proxy.peak() {
        #[allow(clippy::print_stdout, reason = "a number for who wants to see it")]
        {
            println!("peak: {peak} bytes");
        }
        assert!(peak <= max_peak, "{peak} bytes");
    }
    proxy.kill().await;
    let (code, out) = run(dir.path(), &[], &["verify"]).await;
    assert!(code == 0 && out.starts_with("1 files"), "{out}");
}

/// Downloads the file and compares each byte, which is stricter than a hash and faster.
async fn compare(url: String, wheel: Bytes) {
    let mut response = reqwest::get(url).await.unwrap();
    assert_eq!(response.status(), 200);
    let mut rest = &wheel[..];
    while let Some(chunk) = response.chunk().await.unwrap() {
        rest = rest.strip_prefix(&chunk[..]).unwrap_or_else(|| panic!("{} bytes before the end", rest.len()));
    }
    assert!(rest.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_clients_share_one_download_in_bounded_memory() {
    // One megabyte per client. A typical large wheel, 30 GB in total, takes minutes without optimization.
    let len = std::env::var("CROWD_BYTES").map_or(5_000_000, |bytes| bytes.parse().unwrap());
    crowd(500, len, 64 << 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_pages_and_decompression_bombs_are_bounded_in_memory() {
    // Hundreds of times larger after decompression.
    let spaces = vec![b' '; 256 << 20];
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&spaces).unwrap();
    let gzip = Bytes::from(encoder.finish().unwrap());
    let zstd = Bytes::from(zstd::bulk::compress(&spaces, 1).unwrap());
    drop(spaces);
    let index = Server::start(move |request| match &*request.path {
        "/simple/html/" => {
            let line = Bytes::from("<a href=\"x-1.0.whl\">x-1.0.whl</a><br>\n".repeat(28_000));
            let mut steps = vec![head(200, &[HTML])];
            steps.extend((0..100).map(|_| Step::Send(line.clone())));
            steps
        }
        "/simple/told/" => respond(200, &[HTML], vec![b' '; 9 << 20]),
        "/simple/gzip/" => respond(200, &[JSON, ("content-encoding", "gzip")], gzip.clone()),
        "/simple/zstd/" => respond(200, &[JSON, ("content-encoding", "zstd")], zstd.clone()),
        _ => respond(200, &[JSON], page("demo", &[])),
    });
    let dir = tempfile::tempdir().unwrap();
    let url = index.url("/simple/");
    let [threads, arenas] = AS_EVERYWHERE;
    let env = [("PYPI_PROXY_INDEX_URL", &*url), ("PYPI_PROXY_MAX_PAGE_SIZE", "8 MiB"), threads, arenas];
    let proxy = serve(dir.path(), &env).await;
    for name in ["html", "told", "gzip", "zstd"].repeat(2) {
        let response = reqwest::get(format!("{}/simple/{name}/", proxy.url)).await.unwrap();
        assert_eq!(response.status(), 502, "{name}");
        assert!(response.text().await.unwrap().contains("limit"), "{name}");
    }
    let response = reqwest::get(format!("{}/simple/demo/", proxy.url)).await.unwrap();
    assert_eq!(response.status(), 200);
    if let Some(peak) = proxy.peak() {
        assert!(peak < 80 << 20, "{peak} bytes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_folders_and_addresses_end_the_program_with_an_error() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("precious"), "x").unwrap();
    let folder = dir.path().display().to_string();
    let env = [("PYPI_PROXY_INDEX_URL", "http://127.0.0.1:9/simple/"), ("PYPI_PROXY_CACHE_DIR", &*folder)];
    let (code, out) = run(dir.path(), &env, &["serve", "--listen", "127.0.0.1:0"]).await;
    assert!(code == 1 && out.contains("not a cache of this proxy"), "{code}: {out}");
    assert_eq!(std::fs::read(dir.path().join("precious")).unwrap(), b"x");
    let own = [env[0]];
    let first = serve(dir.path(), &own).await;
    let listen = first.address().to_owned();
    let (code, out) = run(dir.path(), &own, &["serve", "--listen", "127.0.0.1:0"]).await;
    assert!(code == 1 && out.contains("another proxy"), "{code}: {out}");
    let other = dir.path().join("other").display().to_string();
    let env = [env[0], ("PYPI_PROXY_CACHE_DIR", &*other)];
    let output = program(dir.path(), &env, &["serve", "--listen", &listen]).output().await.unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && text.contains(&listen), "{text}");
}
