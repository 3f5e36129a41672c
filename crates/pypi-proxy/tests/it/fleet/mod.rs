//! Several instances of the program that share a bucket on a real S3 server.
//!
//! `FLEET_JARS` is the folder with the jar of s3proxy, `FLEET_GO` the one with the server of toxiproxy, and
//! `FLEET_PYTHON` an interpreter in whose environment rclone is installed. Tests without their servers are reported as
//! skipped. `FLEET_SERVER` selects another server than s3proxy, and `FLEET_SCALE=full` the number of files and clients
//! in [`Scale::full`].
#![cfg(feature = "cli")]

mod bucket;
mod index;
mod instance;

use std::path::PathBuf;

use bucket::Bucket;
use index::Index;
use instance::{Instance, Load, ask_all, client, end, get, instances};

use crate::support::prelude::*;
use crate::support::s3::{Kind, SECRET};

#[derive(Clone, Copy)]
struct Scale {
    clients: usize,
    files: usize,
    /// Duration of the outage of the bucket.
    away: Duration,
}

impl Scale {
    const fn full() -> Self {
        Self { clients: 100, files: 200, away: Duration::from_secs(30) }
    }

    fn wanted() -> Self {
        match std::env::var("FLEET_SCALE").as_deref() {
            Ok("full") => Self::full(),
            _ => Self { clients: 30, files: 48, away: Duration::from_secs(4) },
        }
    }
}

/// Typical lengths of files; few of them need a multipart upload.
fn len(number: usize) -> usize {
    if number % 24 == 7 { 6 << 20 } else { 5_000 + number % 20 * 10_000 }
}

/// Returns the path in a variable, or reports that it is not set.
fn given(name: &str) -> Option<PathBuf> {
    test_support::optional::variable(name).map(PathBuf::from)
}

/// Asserts that the instance works although the bucket does not.
async fn is_degraded(instance: &Instance) {
    instance.becomes("degraded").await;
    assert_eq!(instance.text("/readyz").await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_file_is_downloaded_once_and_available_to_new_instances() {
    let Some(bucket) = Bucket::start(Kind::wanted()).await else { return };
    let scale = Scale::wanted();
    let index = Index::start(scale.files, len, Duration::ZERO);
    let fleet: [Instance; 3] = instances(&index, &bucket.endpoint(), &[]).await;
    ask_all(scale.clients, &fleet.each_ref(), &index.files, scale.files * 2 / 5).await;
    let most = if bucket.kind.has_conditions() { 1 } else { 3 };
    index.was_asked(&index.files, 1..=most);
    bucket.settles(scale.files).await;
    end(fleet).await;

    index.stop().await;
    let new = Instance::start(&index, &bucket.endpoint(), &[]).await;
    for file in index.files.iter() {
        let (status, page) = new.text(&file.page()).await;
        assert_eq!(status, 200, "{page}");
    }
    ask_all(4, &[&new], &index.files, scale.files / 4).await;
    new.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_with_small_caches_evict_while_serving() {
    let Some(bucket) = Bucket::start(Kind::wanted()).await else { return };
    let scale = Scale::wanted();
    let index = Index::start(scale.files, |number| 20_000 + number * 100, Duration::ZERO);
    // A tenth of the files.
    let size = (scale.files * 2_500).to_string();
    let fleet: [Instance; 3] =
        instances(&index, &bucket.endpoint(), &[("GROXPI_LOCAL_CACHE_SIZE", &size)]).await;
    for _ in 0..3 {
        ask_all(scale.clients / 2, &fleet.each_ref(), &index.files, scale.files / 2).await;
        // A file evicted before its upload would have to be downloaded again.
        bucket.settles(scale.files).await;
    }
    if bucket.kind.has_conditions() {
        index.was_asked(&index.files, 1..=1);
    }
    end(fleet).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn network_faults_of_the_bucket_do_not_affect_responses() {
    let Some(bucket) = Bucket::start(Kind::wanted()).await else { return };
    let Some(network) = bucket::Network::start(bucket.address()).await else { return };
    let toxics = [
        ("latency", json!({"latency": 300, "jitter": 100})),
        ("reset_peer", json!({"timeout": 0})),
        ("limit_data", json!({"bytes": 20_000})),
        ("bandwidth", json!({"rate": 500})),
        ("timeout", json!({"timeout": 0})),
    ];
    let each = 8;
    let index = Index::start(each * toxics.len(), |number| 50_000 + number, Duration::ZERO);
    let settings = [("PYPI_PROXY_BUCKET_TIMEOUT", "1s"), ("PYPI_PROXY_LEASE_WAIT", "3s")];
    let far = Instance::start(&index, &network.endpoint, &settings).await;
    let near = Instance::start(&index, &bucket.endpoint(), &settings).await;
    for (files, (kind, attributes)) in index.files.chunks(each).zip(toxics) {
        // Half of the files are in the bucket, the others have to be uploaded over the faulty network or downloaded
        // again.
        let (there, new) = files.split_at(each / 2);
        ask_all(4, &[&near], there, there.len()).await;
        network.spoil(kind, "upstream", attributes.clone()).await;
        network.spoil(kind, "downstream", attributes).await;
        ask_all(4, &[&far], files, files.len()).await;
        network.heal().await;
        far.becomes("ok").await;
        ask_all(4, &[&near, &far], new, new.len()).await;
    }
    assert!(!far.log().contains(SECRET));
    end([near, far]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bucket_errors_do_not_lose_files() {
    let Some(bucket) = Bucket::start(Kind::wanted()).await else { return };
    let index = Index::start(12, |number| 50_000 + number, Duration::ZERO);
    let secret = ("AWS_SECRET_ACCESS_KEY", "hunter2-hunter2");
    for setting in [secret, ("GROXPI_S3_BUCKET", "no-such-bucket")] {
        let instance = Instance::start(&index, &bucket.endpoint(), &[setting]).await;
        ask_all(6, &[&instance], &index.files, 12).await;
        is_degraded(&instance).await;
        for path in ["/health", "/metrics"] {
            assert!(!instance.text(path).await.1.contains("hunter2"), "{path}");
        }
        assert!(!instance.log().contains("hunter2"));
        // It does not log each request that the bucket rejected.
        let lines = instance.log().lines().filter(|line| line.contains("\"WARN\"")).count();
        assert!((1..=6).contains(&lines), "{lines} lines: {}", instance.log());
        instance.end().await;
    }
    assert!(bucket.objects("files").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_conditional_writes_objects_are_complete() {
    let Some(mut bucket) = Bucket::start(Kind::Rclone).await else { return };
    let scale = Scale::wanted();
    let index = Index::start(scale.files, len, Duration::ZERO);
    let fleet: [Instance; 3] =
        instances(&index, &bucket.endpoint(), &[("PYPI_PROXY_BUCKET_TIMEOUT", "2s")]).await;
    let (first, rest) = index.files.split_at(scale.files / 2);
    ask_all(scale.clients, &fleet.each_ref(), first, first.len()).await;
    bucket.settles(first.len()).await;
    // Instances may download a file concurrently, but none more than once.
    index.was_asked(first, 1..=3);
    let all = fleet.each_ref();
    let asking = ask_all(scale.clients, &all, rest, rest.len());
    let dying = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        bucket.kill().await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        bucket.start_again().await;
    };
    tokio::join!(asking, dying);
    join_all(fleet.iter().map(|instance| instance.becomes("ok"))).await;
    let clients = client();
    for (file, instance) in index.files.iter().zip(fleet.iter().cycle()) {
        get(&clients, &instance.url, file).await.unwrap();
    }
    bucket.is_whole();
    end(fleet).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_instances_complete_downloads_of_a_dead_one() {
    let Some(bucket) = Bucket::start(Kind::wanted()).await else { return };
    // Each file takes six seconds.
    let index = Index::start(2, |number| (6 << 20) + number, Duration::from_millis(60));
    let settings = [("PYPI_PROXY_LEASE_DURATION", "4s"), ("PYPI_PROXY_LEASE_WAIT", "60s")];
    let [mut first, second, third] = instances(&index, &bucket.endpoint(), &settings).await;
    // Without conditional writes, a lease does not prevent concurrent downloads.
    let (alone, again) = if bucket.kind.has_conditions() { (1, 2) } else { (3, 6) };
    for file in index.files.iter() {
        let (url, wanted) = (first.url.clone(), file.clone());
        let leader = tokio::spawn(async move { get(&client(), &url, &wanted).await });
        let begins = async || index.requests_for(file) > 0 && bucket.objects("leases").len() == 1;
        until("the first has the lease and downloads", begins).await;
        let files = [file.clone()];
        let others = [&second, &third];
        let waiting = ask_all(6, &others, &files, 1);
        let dying = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            index.was_asked(&files, 1..=alone);
            first.kill().await
        };
        let ((), dead) = tokio::join!(waiting, dying);
        assert!(leader.await.unwrap().is_err(), "a part of a file looks like a part");
        dead.verify().await;
        first = dead.start_again().await;
        // One other instance has started over; the rest use its upload.
        index.was_asked(&files, 2..=again);
        ask_all(1, &[&first], &files, 1).await;
        index.was_asked(&files, 2..=again);
    }
    bucket.settles(2).await;
    end([first, second, third]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_instances_stream_the_download_of_another_one() {
    let Some(bucket) = Bucket::start(Kind::wanted()).await.filter(|bucket| bucket.kind.has_conditions())
    else {
        return;
    };
    // It takes twelve seconds.
    let index = Index::start(1, |_| 12 << 20, Duration::from_millis(60));
    let settings = [
        ("PYPI_PROXY_LEASE_DURATION", "4s"),
        ("PYPI_PROXY_LEASE_WAIT", "60s"),
        ("PYPI_PROXY_S3_PART_SIZE", "5 MiB"),
    ];
    let [first, second, third] = instances(&index, &bucket.endpoint(), &settings).await;
    let file = &index.files[0];
    let (url, wanted) = (first.url.clone(), file.clone());
    let leader = tokio::spawn(async move { get(&client(), &url, &wanted).await });
    until("the first downloads", async || index.requests_for(file) > 0).await;
    let streams = [&second, &third].map(async |instance| {
        let mut response = client().get(format!("{}{}", instance.url, file.path())).send().await.unwrap();
        let mut received = Vec::new();
        while received.len() < 1 << 20 {
            received.extend_from_slice(&response.chunk().await.unwrap().unwrap());
        }
        (response, received)
    });
    let streams = join_all(streams).await;
    assert!(bucket.files().is_empty() && !leader.is_finished());
    let dead = first.kill().await;
    for (response, mut received) in streams {
        received.extend_from_slice(&response.bytes().await.unwrap());
        assert!(received == file.content, "{} bytes", received.len());
    }
    let ranges = index.ranges(file);
    let start = |range: &str| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<u32>().ok();
    assert!(ranges.len() == 2 && start(&ranges[0]).is_none(), "{ranges:?}");
    assert!(start(&ranges[1]).is_some_and(|start| start >= 1 << 20), "{ranges:?}");
    let is_clean = async || ["parts", "wanted"].iter().all(|below| bucket.objects(below).is_empty());
    until("the parts are deleted", is_clean).await;
    bucket.settles(1).await;
    end([dead.start_again().await, second, third]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_instance_requests_a_page() {
    let Some(bucket) = Bucket::start(Kind::wanted()).await.filter(|bucket| bucket.kind.has_conditions())
    else {
        return;
    };
    let index = Index::start(24, |_| 1000, Duration::from_millis(60));
    let settings = [("PYPI_PROXY_PAGE_WAIT", "30s")];
    let fleet: [Instance; 3] = instances(&index, &bucket.endpoint(), &settings).await;
    for file in index.files.iter() {
        let path = file.page();
        let pages = join_all(fleet.iter().map(|instance| instance.text(&path))).await;
        assert!(pages.iter().all(|(status, _)| *status == 200), "{pages:?}");
        assert_eq!(index.requests_for_page(file), 1);
    }
    end(fleet).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bucket_can_stall_and_die_under_load() {
    let Some(mut bucket) = Bucket::start(Kind::wanted()).await else { return };
    let scale = Scale::wanted();
    let index = Index::start(scale.files * 5, len, Duration::ZERO);
    let settings = [("PYPI_PROXY_BUCKET_TIMEOUT", "1s"), ("PYPI_PROXY_LEASE_WAIT", "3s")];
    let fleet: [Instance; 3] = instances(&index, &bucket.endpoint(), &settings).await;
    let (known, new) = index.files.split_at(scale.files / 2);
    let (last, new) = new.split_last().unwrap();
    for instance in &fleet {
        ask_all(4, &[instance], known, known.len()).await;
    }
    let load = Load::start(scale.clients / 3, &fleet.each_ref(), known, new);
    tokio::time::sleep(Duration::from_secs(1)).await;

    bucket.pause();
    is_degraded(&fleet[0]).await;
    let before = load.answered();
    tokio::time::sleep(scale.away).await;
    assert!(load.answered() > before, "clients are answered meanwhile");
    bucket.go_on();
    for instance in &fleet {
        instance.becomes("ok").await;
    }

    bucket.kill().await;
    is_degraded(&fleet[0]).await;
    tokio::time::sleep(scale.away / 2).await;
    bucket.start_again().await;
    for instance in &fleet {
        instance.becomes("ok").await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    load.end().await;

    // Normal operation again: each download is available to the next instance through the bucket.
    let before = bucket.files().len();
    ask_all(1, &[&fleet[0]], std::slice::from_ref(last), 1).await;
    let arrives = async || bucket.files().len() > before;
    until("a new file gets into the bucket", arrives).await;
    ask_all(1, &[&fleet[1]], std::slice::from_ref(last), 1).await;
    index.was_asked(std::slice::from_ref(last), 1..=1);
    end(fleet).await;
}
