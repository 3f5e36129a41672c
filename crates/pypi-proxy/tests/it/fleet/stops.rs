//! Failures: an instance stops during a download, and the bucket stops under load.

use crate::fleet::bucket::{Bucket, Kind};
use crate::fleet::index::Index;
use crate::fleet::instance::{Instance, Load, ask_all, client, end, get, instances};
use crate::fleet::{Scale, is_degraded, len};
use crate::support::prelude::*;

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
