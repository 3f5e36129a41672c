//! Proxies that wait for each other: they stream the download of the lease owner, and one of them requests a page.

use std::sync::{Arc, LazyLock};

use object_store::path::Path;
use object_store::{Attribute, ObjectStore, ObjectStoreExt as _, PutOptions};
use pypi_proxy::bucket;
use pypi_proxy::bucket::{Bucket, ConditionalWrites};
use tokio::sync::Semaphore;

use crate::bucket::{SMALL, config, fetch, fetch_all, file_path, metric, paths, settle, start, start_fleet};
use crate::support::faulty::{Fault, Faulty};
use crate::support::prelude::*;

/// Large enough to be streamed.
const HUGE: (&str, usize) = ("demo-3.0.whl", 9 << 20);
/// Bytes of it before the gate of the index.
const FIRST: usize = 5 << 20;
const HUGE_PATH: &str = "/f/demo-3.0.whl";
const LEASE: Duration = Duration::from_secs(2);
static CONTENT: LazyLock<Bytes> = LazyLock::new(|| content(HUGE.1));
static HASH: LazyLock<String> = LazyLock::new(|| digest_of(&CONTENT).to_string());
static PAGE: LazyLock<String> =
    LazyLock::new(|| hashed_page([(HUGE.0, CONTENT.clone()), (SMALL.0, content(SMALL.1))]));

/// Index whose first response with the file stops at a gate.
fn gated_index(gate: &Arc<Semaphore>) -> Server {
    let gate = gate.clone();
    Server::start(move |request| match &*request.path {
        "/simple/demo/" => respond(200, &[JSON], PAGE.clone()),
        "/f/demo-1.0.whl" => ranged(request, &[], &content(SMALL.1)),
        HUGE_PATH => {
            let mut steps = ranged(request, &[], &CONTENT);
            if request.nth == 0 {
                let (first, rest) = (CONTENT.slice(..FIRST), CONTENT.slice(FIRST..));
                steps.splice(1..2, [Step::Send(first), Step::Gate(gate.clone()), Step::Send(rest)]);
            }
            steps
        }
        _ => respond(404, &[], ""),
    })
}

fn lease_config() -> bucket::Config {
    bucket::Config { lease_duration: LEASE, ..config() }
}

/// A client that has received the first bytes of the file.
struct Waiting {
    response: Response,
    received: Vec<u8>,
}

impl Waiting {
    /// Requests the file and reads the bytes before the gate.
    async fn start(proxy: &RunningProxy) -> Self {
        let response = proxy.get("/simple/demo/demo-3.0.whl", &[]).await;
        assert_eq!(response.status(), 200);
        let mut waiting = Self { response, received: Vec::new() };
        while waiting.received.len() < FIRST {
            let chunk = waiting.response.chunk().await.unwrap().unwrap();
            waiting.received.extend_from_slice(&chunk);
        }
        assert_eq!(waiting.received.len(), FIRST);
        waiting
    }

    /// Reads the rest.
    async fn end(self) {
        let Self { response, mut received } = self;
        received.extend_from_slice(&response.bytes().await.unwrap());
        assert!(received == *CONTENT, "{} bytes", received.len());
    }
}

fn is_requested(index: &Server, count: usize) -> bool {
    index.count_of(HUGE_PATH) >= count
}

/// Ranges of the requests for the file.
fn ranges(index: &Server) -> Vec<String> {
    let requests = index.requests().into_iter().filter(|request| request.path == HUGE_PATH);
    requests.map(|request| request.header("range").to_owned()).collect()
}

fn rest() -> String {
    format!("bytes={FIRST}-")
}

/// Waits until only files and pages are left.
async fn is_clean(objects: &Arc<Faulty>) {
    let objects: Arc<dyn ObjectStore> = objects.clone();
    until("leases and parts are deleted", async || {
        let mut left = Vec::new();
        for below in ["leases", "wanted", "parts", "checks"] {
            left.extend(paths(&objects, &format!("p/q/{below}")).await);
        }
        left.is_empty()
    })
    .await;
}

async fn streamed(proxy: &RunningProxy) -> f64 {
    metric(proxy, "leases_total{outcome=\"streamed\"}").await
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_proxies_stream_the_download_of_the_lease_owner() {
    let (objects, gate) = (Faulty::new(Fault::None), Arc::new(Semaphore::new(0)));
    let (index, shared) = (gated_index(&gate), objects.clone() as Arc<dyn ObjectStore>);
    let fleet = start_fleet(3, &index, &shared);
    let first = Waiting::start(&fleet[0]).await;
    let others = join_all(fleet[1..].iter().map(Waiting::start)).await;
    // The owner still downloads the file.
    assert!(!objects.has(&file_path(&CONTENT)));
    gate.add_permits(1);
    join_all(others.into_iter().chain([first]).map(Waiting::end)).await;
    assert_eq!(index.count_of(HUGE_PATH), 1);
    settle(&fleet).await;
    assert_eq!((streamed(&fleet[0]).await, streamed(&fleet[1]).await), (0.0, 1.0));
    assert_eq!(streamed(&fleet[2]).await, 1.0);
    is_clean(&objects).await;
    // Every proxy has the file.
    join_all(fleet.iter().map(|proxy| fetch(proxy, HUGE.0, HUGE.1))).await;
    assert_eq!(index.count_of(HUGE_PATH), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_proxy_continues_the_download_of_a_dead_owner() {
    let (objects, gate) = (Faulty::new(Fault::None), Arc::new(Semaphore::new(0)));
    let index = Arc::new(gated_index(&gate));
    let bucket = |objects: &Arc<Faulty>| Bucket::new(objects.clone(), lease_config());
    // Tasks of the owner end with its runtime.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (owned_index, owned_bucket) = (index.clone(), bucket(&objects));
    runtime.spawn(async move {
        let owner = start(&owned_index, owned_bucket);
        let _waiting = Waiting::start(&owner).await;
        std::future::pending::<()>().await;
    });
    until("the owner downloads", async || is_requested(&index, 1)).await;
    let fleet: Vec<_> = (0..2).map(|_| start(&index, bucket(&objects))).collect();
    let waiting = join_all(fleet.iter().map(Waiting::start)).await;
    runtime.shutdown_background();
    join_all(waiting.into_iter().map(Waiting::end)).await;
    // One of them has requested the rest, and the other one has streamed it.
    assert_eq!(ranges(&index), [String::new(), rest()]);
    settle(&fleet).await;
    is_clean(&objects).await;
    assert!(objects.has(&file_path(&CONTENT)));
}

/// The owner, another proxy, or both lose the connection to the bucket. The first bytes are not downloaded again.
#[tokio::test(flavor = "multi_thread")]
async fn a_partition_does_not_affect_streaming_clients() {
    for (is_owner_cut, is_other_cut) in [(true, false), (false, true), (true, true)] {
        let (objects, gate) = (Faulty::new(Fault::None), Arc::new(Semaphore::new(0)));
        let index = gated_index(&gate);
        let links = [objects.connect(), objects.connect()];
        let [owner, other] =
            links.each_ref().map(|link| start(&index, Bucket::new(link.clone(), lease_config())));
        let first = Waiting::start(&owner).await;
        let second = Waiting::start(&other).await;
        for (link, is_cut) in links.iter().zip([is_owner_cut, is_other_cut]) {
            link.set(if is_cut { Fault::Failing } else { Fault::None });
        }
        // The other proxy completes the file although the owner makes no progress.
        second.end().await;
        assert_eq!(ranges(&index), [String::new(), rest()], "{is_owner_cut} {is_other_cut}");
        gate.add_permits(1);
        first.end().await;
        links.iter().for_each(|link| link.set(Fault::None));
        assert_eq!(index.count_of(HUGE_PATH), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_an_owner_that_lost_its_lease_is_used() {
    let (objects, gate) = (Faulty::new(Fault::None), Arc::new(Semaphore::new(0)));
    let index = gated_index(&gate);
    let fleet: Vec<_> = (0..2).map(|_| start(&index, Bucket::new(objects.clone(), lease_config()))).collect();
    let first = Waiting::start(&fleet[0]).await;
    let second = Waiting::start(&fleet[1]).await;
    let lease = Path::from(format!("p/q/leases/{}", *HASH));
    objects.put(&lease, r#"{"owner":"0-0","seconds":3600.0,"beat":7}"#.into()).await.unwrap();
    until("the lease is lost", async || metric(&fleet[0], "leases_total{outcome=\"lost\"}").await == 1.0)
        .await;
    gate.add_permits(1);
    join_all([first, second].map(Waiting::end)).await;
    settle(&fleet).await;
    assert_eq!(index.count_of(HUGE_PATH), 1);
    // It belongs to another proxy.
    assert!(objects.has(&lease));
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_a_slow_owner_has_a_limit() {
    let (objects, gate) = (Faulty::new(Fault::None), Arc::new(Semaphore::new(0)));
    let index = gated_index(&gate);
    let impatient = bucket::Config { lease_wait: Duration::from_secs(3), ..lease_config() };
    let owner = start(&index, Bucket::new(objects.clone(), lease_config()));
    let first = Waiting::start(&owner).await;
    let other = start(&index, Bucket::new(objects.clone(), impatient));
    Waiting::start(&other).await.end().await;
    assert_eq!(ranges(&index), [String::new(), rest()]);
    gate.add_permits(1);
    first.end().await;
}

/// Parts are not verified before they are sent. The hash of the whole file is.
#[tokio::test(flavor = "multi_thread")]
async fn corrupt_parts_end_in_an_error_and_are_deleted() {
    let gate = Arc::new(Semaphore::new(1));
    let damaged = Bytes::from(vec![1; FIRST]);
    // Without a length, that on the page applies.
    for (file_len, is_used) in [(HUGE.1.to_string(), true), ("x".into(), true), ("7".into(), false)] {
        let (objects, index) = (Faulty::new(Fault::None), gated_index(&gate));
        let name = &*HASH;
        let document = r#"{"owner":"0-0","seconds":2.0,"beat":7}"#;
        objects.put(&Path::from(format!("p/q/leases/{name}")), document.into()).await.unwrap();
        let attribute = (Attribute::Metadata("file-length".into()), file_len);
        let options = PutOptions { attributes: [attribute].into_iter().collect(), ..PutOptions::default() };
        let part = Path::from(format!("p/q/parts/{name}/{:016x}", 0));
        objects.put_opts(&part, damaged.clone().into(), options).await.unwrap();
        let proxy = start(&index, Bucket::new(objects.clone(), lease_config()));
        let response = proxy.get("/simple/demo/demo-3.0.whl", &[]).await;
        let body = response.bytes().await;
        assert_eq!(body.is_err(), is_used);
        assert!(body.is_err() || body.is_ok_and(|body| body == *CONTENT));
        gate.add_permits(1);
        fetch(&proxy, HUGE.0, HUGE.1).await;
        settle(std::slice::from_ref(&proxy)).await;
        until("the part is deleted", async || !objects.has(&part)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_cost_as_many_operations_as_documented() {
    let (objects, gate) = (Faulty::new(Fault::None), Arc::new(Semaphore::new(0)));
    let index = gated_index(&gate);
    let links = [objects.connect(), objects.connect()];
    let fleet = links.each_ref().map(|link| start(&index, Bucket::new(link.clone(), config())));
    let small_path = file_path(&content(SMALL.1));
    let small_hash = small_path.filename().unwrap();
    let operations =
        |number: usize, name: &str, hash: &str| links[number].operations(&format!("{name}/{hash}"));
    // A new file, and then one that the bucket has.
    fetch(&fleet[0], SMALL.0, SMALL.1).await;
    settle(&fleet).await;
    fetch(&fleet[1], SMALL.0, SMALL.1).await;
    let of_file = links.each_ref().map(|link| link.operations(small_path.as_ref()));
    assert_eq!(of_file, [vec!["get", "get", "put"], vec!["get"]]);
    assert_eq!(operations(0, "leases", small_hash), ["create", "delete"]);
    for number in 0..2 {
        assert!(
            operations(number, "wanted", small_hash).is_empty()
                && operations(number, "parts", small_hash).is_empty()
        );
    }
    // A large file that another proxy waits for.
    let first = Waiting::start(&fleet[0]).await;
    // No other proxy waits yet.
    assert!(operations(0, "parts", &HASH).is_empty());
    let second = Waiting::start(&fleet[1]).await;
    gate.add_permits(1);
    join_all([first, second].map(Waiting::end)).await;
    settle(&fleet).await;
    let (parts, read) = (operations(0, "parts", &HASH), operations(1, "parts", &HASH));
    let count = |of: &[&str], wanted| of.iter().filter(|operation| **operation == wanted).count();
    assert!(count(&parts, "put") > FIRST / 100_000 && count(&parts, "put") == count(&parts, "delete"));
    assert_eq!(parts.len(), 2 * count(&parts, "put"));
    assert!(read.len() > FIRST / 100_000 && count(&read, "get") == read.len());
    let wanted = operations(0, "wanted", &HASH);
    assert!(count(&wanted, "get") >= 1 && count(&wanted, "delete") == 1);
    assert_eq!(operations(1, "wanted", &HASH), ["create"]);
    is_clean(&objects).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn buckets_without_conditional_writes_are_used_without_leases() {
    for (fault, found) in
        [(Fault::Unconditional, ConditionalWrites::Ignored), (Fault::Rejecting, ConditionalWrites::Rejected)]
    {
        let (objects, gate) = (Faulty::new(fault), Arc::new(Semaphore::new(3)));
        let (index, shared) = (gated_index(&gate), objects.clone() as Arc<dyn ObjectStore>);
        assert_eq!(Bucket::new(objects.clone(), config()).check().await.unwrap(), found);
        let fleet = start_fleet(3, &index, &shared);
        for proxy in &fleet {
            until("it is found", async || metric(proxy, "has_leases").await == 0.0).await;
        }
        for (name, len) in [SMALL, HUGE] {
            fetch_all(&fleet, (name, len)).await;
            assert!((1..=3).contains(&index.count_of(&format!("/f/{name}"))));
        }
        settle(&fleet).await;
        // No operation is wasted.
        assert!(objects.operations("leases/").is_empty() && objects.operations("parts/").is_empty());
        let requests = index.requests().len();
        let late = start_fleet(1, &index, &shared);
        let pages = async || paths(&shared, "p/q/pages").await.len() == 1;
        until("the page is shared", pages).await;
        fetch_all(&late, HUGE).await;
        fetch_all(&late, SMALL).await;
        assert_eq!(index.requests().len(), requests);
        is_clean(&objects).await;
    }
}

/// Index whose page takes some time. Its first response for the project `late` has another status.
fn page_index(time: Duration) -> Server {
    Server::start(move |request| {
        let mut steps = match &*request.path {
            "/simple/demo/" if request.header("if-none-match") == "\"page\"" => {
                respond(304, &[("etag", "\"page\"")], "")
            }
            "/simple/demo/" => respond(200, &[JSON, ("etag", "\"page\"")], page_of(&[])),
            "/simple/late/" if request.nth == 0 => respond(503, &[], ""),
            "/simple/late/" => respond(200, &[JSON], page("late", &[])),
            _ => respond(404, &[], ""),
        };
        steps.insert(0, Step::Wait(time));
        steps
    })
}

fn start_page_fleet(index: &Server, objects: &Arc<Faulty>, ttl: Duration) -> Vec<RunningProxy> {
    let proxy = |_| {
        let bucket = Bucket::new(objects.clone(), config());
        start_with(&[index.url("/simple")], |setup| {
            setup.ttl(ttl);
            setup.pages.stale_while_revalidate = Duration::ZERO;
            setup.pages.stale_wait = TIMEOUT;
            setup.pages.bucket = Some(bucket.clone());
            setup.store.bucket = Some(bucket);
        })
    };
    (0..5).map(proxy).collect()
}

async fn statuses(fleet: &[RunningProxy], path: &str) -> Vec<u16> {
    join_all(fleet.iter().map(async |proxy| proxy.get(path, &[]).await.status().as_u16())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_proxy_requests_a_missing_or_stale_page() {
    let (objects, index) = (Faulty::new(Fault::None), page_index(Duration::from_millis(100)));
    // The time of the last revalidation is stored in whole seconds.
    let ttl = Duration::from_secs(3);
    let fleet = start_page_fleet(&index, &objects, ttl);
    assert_eq!(statuses(&fleet, "/simple/demo/").await, [200; 5]);
    assert_eq!(index.count(), 1);
    tokio::time::sleep(ttl + Duration::from_secs(1)).await;
    assert_eq!(statuses(&fleet, "/simple/demo/").await, [200; 5]);
    assert_eq!(index.count(), 2);
    let mut acquired = 0.0;
    for proxy in &fleet {
        acquired += metric(proxy, "page_leases_total{outcome=\"acquired\"}").await;
    }
    assert!(acquired >= 2.0);
    is_clean(&objects).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_and_missing_pages_release_their_lease() {
    let (objects, index) = (Faulty::new(Fault::None), page_index(Duration::from_millis(100)));
    let fleet = start_page_fleet(&index, &objects, TIMEOUT);
    assert_eq!(statuses(&fleet, "/simple/there-is-none/").await, [404; 5]);
    assert!(index.count() <= 5);
    // One of them gets an error. The others request the page themselves.
    let mut found = statuses(&fleet, "/simple/late/").await;
    found.sort_unstable();
    assert_eq!(found[..4], [200; 4], "{found:?}");
    is_clean(&objects).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_owner_of_a_page_lease_does_not_block_the_page() {
    let (objects, index) = (Faulty::new(Fault::None), page_index(Duration::ZERO));
    let fleet = start_page_fleet(&index, &objects, TIMEOUT);
    assert_eq!(fleet[0].get("/simple/demo/", &[]).await.status(), 200);
    let shared: Arc<dyn ObjectStore> = objects.clone();
    until("the page is shared", async || paths(&shared, "p/q/pages").await.len() == 1).await;
    let page = paths(&shared, "p/q/pages").await.remove(0);
    is_clean(&objects).await;
    let lease = Path::from(page.replace("/pages/", "/leases/pages/"));
    for owner in [r#"{"owner":"0-0","seconds":0.4,"beat":7}"#, "nonsense"] {
        objects.delete(&Path::from(&*page)).await.unwrap();
        objects.put(&lease, owner.into()).await.unwrap();
        let wait = bucket::Config { page_wait: Duration::from_millis(500), ..config() };
        let proxy = start(&index, Bucket::new(objects.clone(), wait));
        assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 200);
        // The page is shared again, and the lease is released.
        until("the page is shared", async || objects.has(&Path::from(&*page))).await;
        is_clean(&objects).await;
    }
}
