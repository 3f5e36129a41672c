//! Upstream faults: each response is the intact file or a clear error, and the proxy keeps working.

use crate::support::prelude::*;

const LEN: usize = 200_000;

/// Fields of a file on its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageFields {
    HashAndSize,
    Hash,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Good,
    Bad,
}

struct Case {
    name: &'static str,
    page_fields: PageFields,
    response: fn(&Request, &Bytes) -> Vec<Step>,
    end: End,
    /// Maximum requests for the file per client.
    max_requests: usize,
    stall: Duration,
}

/// Stall timeout for cases in which the server never sends the rest.
const SHORT: Duration = Duration::from_secs(1);
/// Stall timeout for cases in which the server sends the rest after a pause.
const SOME: Duration = Duration::from_secs(5);

/// Continues without a pause.
const NEXT: Step = Step::Wait(Duration::ZERO);

const CASES: &[Case] = {
    use End::{Bad, Good};
    use PageFields::{Hash, HashAndSize, Nothing};
    const fn case(
        name: &'static str,
        page_fields: PageFields,
        end: End,
        max_requests: usize,
        response: fn(&Request, &Bytes) -> Vec<Step>,
    ) -> Case {
        Case { name, page_fields, response, end, max_requests, stall: TIMEOUT }
    }
    const fn stalls(case: Case, stall: Duration) -> Case {
        Case { stall, ..case }
    }
    &[
        case("good", HashAndSize, Good, 1, |_, wheel| respond(200, &[], wheel.clone())),
        stalls(case("silent", HashAndSize, Bad, 3, |_, _| vec![Step::Stall]), SHORT),
        stalls(case("silent-after-head", Hash, Bad, 3, |_, _| told("200000", Step::Stall)), SHORT),
        stalls(case("stalls", HashAndSize, Bad, 4, |_, wheel| part(wheel, LEN, LEN / 2, Step::Stall)), SHORT),
        stalls(
            case("stalls-once", HashAndSize, Good, 2, |request, wheel| match request.nth {
                0 => part(wheel, LEN, LEN / 2, Step::Stall),
                _ => rest(request, wheel, "\"v1\""),
            }),
            SOME,
        ),
        case("slow", HashAndSize, Good, 1, |_, wheel| slow(wheel, LEN / 4, Duration::from_millis(400))),
        case("resets", HashAndSize, Bad, 4, |_, wheel| part(wheel, LEN, LEN / 2, Step::Reset)),
        case("resets-once", HashAndSize, Good, 2, |request, wheel| match request.nth {
            0 => part(wheel, LEN, LEN / 2, Step::Reset),
            _ => rest(request, wheel, "\"v1\""),
        }),
        case("resets-once-and-tells-nothing", Nothing, Good, 2, |request, wheel| match request.nth {
            0 => part(wheel, LEN, LEN / 2, Step::Reset),
            _ => rest(request, wheel, "\"v1\""),
        }),
        // Without support for ranges, each attempt gets further.
        case("resets-without-ranges", HashAndSize, Good, 3, |request, wheel| match request.nth {
            0 => part(wheel, LEN, LEN / 3, Step::Reset),
            1 => part(wheel, LEN, LEN / 2, Step::Reset),
            _ => respond(200, &[], wheel.clone()),
        }),
        case("resets-at-once", HashAndSize, Bad, 3, |_, _| vec![Step::Reset]),
        case("closes-early", HashAndSize, Bad, 4, |_, wheel| told("200000", half(wheel))),
        case("closes-early-without-length", Hash, Bad, 1, |_, wheel| vec![head(200, &[]), half(wheel)]),
        case("closes-early-and-tells-nothing", Nothing, Bad, 4, |_, wheel| told("200000", half(wheel))),
        case("tells-less", HashAndSize, Bad, 1, |_, wheel| part(wheel, LEN / 2, LEN, NEXT)),
        case("tells-less-of-a-hash", Hash, Bad, 1, |_, wheel| part(wheel, LEN / 2, LEN, NEXT)),
        case("tells-more", HashAndSize, Bad, 1, |_, wheel| part(wheel, LEN * 2, LEN, NEXT)),
        case("tells-more-of-a-hash", Hash, Bad, 4, |_, wheel| part(wheel, LEN * 2, LEN, NEXT)),
        case("sends-more", HashAndSize, Bad, 1, |_, wheel| {
            vec![head(200, &[]), Step::Send(wheel.clone()), Step::Send(wheel.clone())]
        }),
        case("tells-nonsense", HashAndSize, Bad, 3, |_, wheel| told("-1", Step::Send(wheel.clone()))),
        case("two-lengths", HashAndSize, Bad, 3, |_, wheel| {
            let both = [("content-length", "200000"), ("content-length", "100000")];
            vec![head(200, &both), Step::Send(wheel.clone())]
        }),
        case("chunks-that-are-none", HashAndSize, Bad, 3, |_, _| chunked("zz\r\n")),
        case("a-chunk-without-end", HashAndSize, Bad, 3, |_, _| chunked("ffffffffffffffff\r\nabc")),
        case("no-http", HashAndSize, Bad, 3, |_, _| vec![Step::Send("SSH-2.0-x\r\n".into())]),
        // Other bytes with the same validators.
        case("changes", HashAndSize, Bad, 2, |request, wheel| match request.nth {
            0 => part(wheel, LEN, LEN / 2, Step::Reset),
            _ => rest(request, &wheel.iter().map(|byte| byte ^ 1).collect(), "\"v1\""),
        }),
        case("changes-and-tells", Nothing, Bad, 2, |request, wheel| match request.nth {
            0 => part(wheel, LEN, LEN / 2, Step::Reset),
            _ => rest(request, &wheel.iter().map(|byte| byte ^ 1).collect(), "\"v2\""),
        }),
        case("another-part", HashAndSize, Bad, 4, |request, wheel| match request.nth {
            0 => part(wheel, LEN, LEN / 2, Step::Reset),
            _ => respond(206, &[("content-range", "bytes 150000-199999/200000")], wheel.slice(150_000..)),
        }),
        case("a-part-of-another-length", HashAndSize, Bad, 2, |request, wheel| match request.nth {
            0 => part(wheel, LEN, LEN / 2, Step::Reset),
            _ => respond(206, &[("content-range", "bytes 100000-199999/300000")], wheel.slice(100_000..)),
        }),
        case("a-part-of-nothing", HashAndSize, Bad, 3, |_, wheel| {
            respond(206, &[("content-range", "bytes 9-1/2")], wheel.clone())
        }),
        case("flipped", HashAndSize, Bad, 1, |_, wheel| {
            respond(200, &[], wheel.iter().map(|byte| byte ^ 1).collect::<Bytes>())
        }),
        case("a-page", Hash, Bad, 1, |_, _| {
            respond(200, &[("content-type", "text/html")], "<h1>log in</h1>".repeat(1000))
        }),
        case("encoded", HashAndSize, Good, 1, |_, wheel| {
            respond(200, &[("content-encoding", "gzip")], wheel.clone())
        }),
        case("203", Nothing, Good, 1, |_, wheel| respond(203, &[], wheel.clone())),
        case("500", HashAndSize, Bad, 3, |_, _| respond(500, &[], "secret")),
        case("503", HashAndSize, Bad, 3, |_, _| respond(503, &[("retry-after", "3600")], "secret")),
        case("429", HashAndSize, Bad, 3, |_, _| respond(429, &[("retry-after", "x")], "secret")),
        case("503-once", HashAndSize, Good, 2, |request, wheel| match request.nth {
            0 => respond(503, &[("retry-after", "1")], ""),
            _ => respond(200, &[], wheel.clone()),
        }),
        case("401", HashAndSize, Bad, 1, |_, _| respond(401, &[], "secret")),
        case("404", HashAndSize, Bad, 1, |_, _| respond(404, &[], "secret")),
        case("304", HashAndSize, Bad, 3, |_, _| respond(304, &[], "")),
        case("204", HashAndSize, Bad, 3, |_, _| vec![head(204, &[])]),
        case("loops", HashAndSize, Bad, 20, |request, _| {
            respond(302, &[("location", &format!("{}?{}", request.path, request.nth))], "")
        }),
        case("nowhere", HashAndSize, Bad, 3, |_, _| respond(302, &[("location", "http://[x/")], "")),
        case("without-a-place", HashAndSize, Bad, 3, |_, _| respond(302, &[], "")),
    ]
};

/// Announces a length, followed by a step.
fn told(length: &str, then: Step) -> Vec<Step> {
    vec![head(200, &[("content-length", length)]), then]
}

fn chunked(body: &'static str) -> Vec<Step> {
    vec![head(200, &[("transfer-encoding", "chunked")]), Step::Send(body.into())]
}

fn half(wheel: &Bytes) -> Step {
    Step::Send(wheel.slice(..LEN / 2))
}

/// Sends part of the file and then another step.
fn part(wheel: &Bytes, announced: usize, sent: usize, then: Step) -> Vec<Step> {
    let head = head(200, &[("content-length", &announced.to_string()), ("etag", "\"v1\"")]);
    vec![head, Step::Send(wheel.slice(..sent)), then]
}

fn rest(request: &Request, wheel: &Bytes, etag: &str) -> Vec<Step> {
    assert!(request.from(wheel.len()) > 0, "{request:?}");
    ranged(request, &[("etag", etag)], wheel)
}

fn name(case: &Case) -> String {
    format!("{}-1.0.whl", case.name)
}

/// Each case has a file with its own hash.
fn wheel(case: &Case) -> Bytes {
    let mut bytes = content(LEN).to_vec();
    bytes[2..2 + case.name.len()].copy_from_slice(case.name.as_bytes());
    bytes.into()
}

fn page_of_cases() -> String {
    let file = |case: &Case| {
        let wheel = wheel(case);
        let mut file = listed(&name(case), &wheel);
        if case.page_fields == PageFields::Nothing {
            file["hashes"] = json!({});
        }
        if case.page_fields != PageFields::HashAndSize {
            file.as_object_mut().unwrap().remove("size");
        }
        file
    };
    page_of(&CASES.iter().map(file).collect::<Vec<_>>())
}

/// Downloads a file. Returns its content or the error.
async fn fetch(proxy: &RunningProxy, path: &str) -> Result<Bytes, String> {
    let response = proxy.client.get(proxy.url(path)).send().await.map_err(|error| error.to_string())?;
    let status = response.status();
    let bytes = response.bytes().await.map_err(|error| error.to_string())?;
    if status == 200 { Ok(bytes) } else { Err(format!("{status} {}", String::from_utf8_lossy(&bytes))) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_faulty_download_is_intact_or_an_error() {
    let index = Server::start(|request| match request.path.strip_prefix("/f/") {
        None => respond(200, &[JSON], page_of_cases()),
        Some(file) => {
            let file = file.split('?').next().unwrap();
            let case = CASES.iter().find(|case| name(case) == file).unwrap();
            (case.response)(request, &wheel(case))
        }
    });
    let stalls = [TIMEOUT, SHORT, SOME];
    let urls = [index.url("/simple")];
    let start_with_stall = |stall| start_with(&urls, move |setup| setup.store.stall_timeout = stall);
    let proxies = stalls.map(start_with_stall);
    join_all(CASES.iter().map(|case| async {
        let proxy = &proxies[stalls.iter().position(|stall| *stall == case.stall).unwrap()];
        let (index, wheel) = (&index, wheel(case));
        let path = format!("/simple/demo/{}", name(case));
        // Concurrent clients get the same result.
        let (first, second) = tokio::join!(fetch(proxy, &path), fetch(proxy, &path));
        for result in [first, second] {
            let end = if result.is_ok() { End::Good } else { End::Bad };
            assert_eq!(end, case.end, "{}: {:?}", case.name, result.map(|bytes| bytes.len()));
            match result {
                Ok(bytes) => assert!(bytes == wheel, "{}", case.name),
                Err(text) => assert!(!text.contains("secret"), "{}: {text}", case.name),
            }
        }
        let file = format!("/f/{}", name(case));
        let requests =
            index.requests().iter().filter(|request| request.path.split('?').next() == Some(&file)).count();
        // If the first download ends before the second request, the latter starts a new one.
        let times = if case.end == End::Bad { 2 } else { 1 };
        assert!(requests <= case.max_requests * times, "{}: {requests} times", case.name);
    }))
    .await;
    for (proxy, stall) in proxies.iter().zip(stalls) {
        let good = CASES.iter().filter(|case| case.end == End::Good && case.stall == stall).count() as u64;
        assert_eq!((proxy.store.stats().files, proxy.store.stats().in_flight), (good, 0));
        let verified = proxy.store.verify(|_, _| {}).unwrap();
        assert_eq!((verified.good, verified.bad.len()), (good, 0));
        assert_eq!(proxy.get("/simple/demo/", &[]).await.status(), 200);
    }
    let stats = proxies[0].store.stats();
    assert!(stats.resumed > 0 && stats.corrupt > 0 && stats.failed > 0, "{stats:?}");
    assert_eq!(proxies[0].get("/simple/demo/404-1.0.whl", &[]).await.status(), 404);
    assert_eq!(fetch(&proxies[0], "/simple/demo/good-1.0.whl").await.unwrap(), wheel(&CASES[0]));
}

#[tokio::test]
async fn ranges_of_files_that_are_not_stored_are_exact_or_errors() {
    let wheel = content(LEN);
    let own = wheel.clone();
    let index = Server::start(move |request| {
        let file = request.path.strip_prefix("/f/");
        let Some(file) = file else { return respond(200, &[JSON], parts_page(&own)) };
        let part = |range: &str, bytes: Bytes| respond(206, &[("content-range", range)], bytes);
        match file.split('-').next().unwrap() {
            "right" => part("bytes 100-199/200000", own.slice(100..200)),
            "whole" => respond(200, &[], own.clone()),
            "earlier" => part("bytes 50-149/200000", own.slice(50..150)),
            "longer" => part("bytes 100-299/200000", own.slice(100..300)),
            "another" => part("bytes 100-199/300000", own.slice(100..200)),
            "short" => part("bytes 100-199/200000", own.slice(100..150)),
            "bare" => respond(206, &[], own.slice(100..200)),
            "more" => part("bytes 100-199/200000", own.slice(100..300)),
            _ => respond(416, &[("content-range", "bytes */10")], ""),
        }
    });
    let proxy = start(&[index.url("/simple")]);
    for (name, is_good) in PARTS {
        let url = proxy.url(&format!("/simple/demo/{name}-1.0.whl"));
        let response = proxy.client.get(url).header("range", "bytes=100-199").send().await;
        let Ok(response) = response else {
            assert!(!is_good, "{name}");
            continue;
        };
        let (status, range) = (response.status(), response.headers().get("content-range").cloned());
        let bytes = response.bytes().await;
        match (is_good, status.as_u16(), bytes) {
            (true, 206, Ok(bytes)) => {
                assert_eq!(range.unwrap(), "bytes 100-199/200000", "{name}");
                assert_eq!(bytes, wheel.slice(100..200), "{name}");
            }
            (true, 200, Ok(bytes)) => assert_eq!(bytes, wheel, "{name}"),
            (false, 502, _) | (false, _, Err(_)) => {}
            (_, status, bytes) => panic!("{name}: {status} {bytes:?}"),
        }
    }
    assert_eq!(proxy.store.stats().files, 0);
}

const PARTS: [(&str, bool); 9] = [
    ("right", true),
    ("whole", true),
    ("earlier", false),
    ("longer", false),
    ("another", false),
    ("short", false),
    ("bare", false),
    ("more", true),
    ("none", false),
];

fn parts_page(wheel: &[u8]) -> String {
    let file = |(name, _): &(&str, bool)| {
        let mut file = listed(&format!("{name}-1.0.whl"), name.as_bytes());
        file["size"] = wheel.len().into();
        file
    };
    page_of(&PARTS.iter().map(file).collect::<Vec<_>>())
}

#[tokio::test]
async fn failed_pages_are_errors_and_are_retried() {
    let good = page("good", &[("good-1.0.whl", "/f/x")]);
    let index = Server::start(move |request| match &*request.path {
        "/simple/" if request.nth == 0 => respond(500, &[], "secret"),
        "/simple/" => respond(200, &[JSON], r#"{"projects":[{"name":"good"}]}"#),
        "/simple/silent/" => vec![Step::Stall],
        "/simple/half/" => {
            vec![head(200, &[JSON, ("content-length", "5000")]), Step::Send("{".into()), Step::Stall]
        }
        "/simple/reset/" => vec![head(200, &[JSON, ("content-length", "5000")]), Step::Reset],
        "/simple/short/" => vec![head(200, &[JSON, ("content-length", "5000")]), Step::Send("{".into())],
        "/simple/huge-head/" => respond(200, &[JSON, ("x-long", &"x".repeat(2 << 20))], good.clone()),
        "/simple/many-heads/" => {
            let headers: Vec<_> = (0..5000).map(|_| ("x-many", "1")).collect();
            respond(200, &headers, good.clone())
        }
        "/simple/many-codings/" => respond(200, &[JSON, ("content-encoding", "gzip, gzip, gzip")], "x"),
        "/simple/no-gzip/" => respond(200, &[JSON, ("content-encoding", "gzip")], good.clone()),
        "/simple/status-500/" => respond(500, &[], "secret"),
        "/simple/status-503/" => respond(503, &[("retry-after", "60")], "secret"),
        "/simple/status-429/" => respond(429, &[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")], "secret"),
        "/simple/status-999/" => respond(999, &[], "secret"),
        "/simple/not-modified/" => respond(304, &[], ""),
        "/simple/loop/" => respond(301, &[("location", "/simple/loop/")], ""),
        path if path.starts_with("/simple/loop-grows/") => {
            respond(301, &[("location", &format!("{path}x/"))], "")
        }
        _ => respond(200, &[JSON], good.clone()),
    });
    // One proxy with a short timeout for silent servers, and one for the other cases.
    let urls = [index.url("/simple")];
    let short = start_with(&urls, |setup| setup.upstreams[0].read_timeout = SHORT);
    let proxy = start(&urls);
    let cases = [
        ("silent", 504),
        ("half", 504),
        ("reset", 502),
        ("short", 502),
        ("huge-head", 502),
        ("many-heads", 502),
        ("many-codings", 502),
        ("no-gzip", 502),
        ("status-500", 502),
        ("status-503", 503),
        ("status-429", 503),
        ("status-999", 502),
        ("not-modified", 502),
        ("loop", 502),
        ("loop-grows", 502),
    ];
    join_all(cases.map(|(name, status)| {
        let proxy = if status == 504 { &short } else { &proxy };
        async move {
            let response = proxy.get(&format!("/simple/{name}/"), &[]).await;
            assert_eq!(response.status(), status, "{name}");
            assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
            let text = response.text().await.unwrap();
            let is_clean = !text.contains("secret") && !text.contains("127.0.0.1");
            assert!(text.len() > 10 && is_clean, "{name}: {text}");
        }
    }))
    .await;
    assert_eq!(proxy.get("/simple/good/", &[]).await.status(), 200);
    // A failed list is not an empty list, and is requested again.
    assert_eq!(proxy.get("/simple/", &[]).await.status(), 502);
    assert!(proxy.get("/simple/", &[]).await.text().await.unwrap().contains("good"));
    index.stop().await;
    let unreachable = proxy.get("/simple/other/", &[]).await;
    assert_eq!(unreachable.status(), 502);
    assert!(!unreachable.text().await.unwrap().contains("127.0.0.1"));
    assert_eq!(proxy.get("/livez", &[]).await.status(), 200);
}

#[tokio::test]
async fn a_disconnected_client_does_not_cancel_the_download() {
    let wheel = content(LEN);
    let own = wheel.clone();
    let index = Server::start(move |request| match &*request.path {
        "/simple/demo/" => respond(200, &[JSON], hashed_page([("demo-1.0.whl", own.clone())])),
        _ => slow(&own, LEN / 2, Duration::from_millis(200)),
    });
    let proxy = start(&[index.url("/simple")]);
    for _ in 0..3 {
        let mut response = proxy.get("/simple/demo/demo-1.0.whl", &[]).await;
        assert!(wheel.starts_with(&response.chunk().await.unwrap().unwrap()));
        drop(response);
    }
    let other = proxy.get("/simple/demo/demo-1.0.whl", &[]).await;
    assert_eq!(other.bytes().await.unwrap(), wheel);
    assert_eq!((proxy.store.stats().files, index.count_of("/f/demo-1.0.whl")), (1, 1));
}

#[tokio::test]
async fn retry_after_of_the_index_is_respected() {
    let index = Server::start(|request| match &*request.path {
        "/simple/demo/" => {
            let files = [("a-1.0.whl", "/f/a"), ("b-1.0.whl", "/f/b")];
            respond(200, &[JSON], page("demo", &files))
        }
        _ => respond(429, &[("retry-after", "300")], ""),
    });
    let proxy = start(&[index.url("/simple")]);
    // An immediate retry would make it worse, and waiting five minutes is up to the client.
    for path in ["/simple/busy/", "/simple/demo/a-1.0.whl"] {
        for _ in 0..5 {
            let response = proxy.get(path, &[]).await;
            assert_eq!(response.status(), 503, "{path}");
            let wait: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
            assert!((150..=300).contains(&wait), "{path}: {wait}");
        }
    }
    assert_eq!((index.count_of("/simple/busy/"), index.count_of("/f/a")), (1, 5));
}

#[tokio::test]
async fn files_are_fetched_only_from_allowed_hosts() {
    // A server that only the proxy can reach.
    let inner = Server::start(|_| respond(200, &[], "inner secret"));
    let port = inner.address().port();
    let index = Server::start(move |request| {
        let to = |place: &str| respond(302, &[("location", place)], "");
        let secret = format!("http://localhost:{port}/latest/meta-data");
        match &*request.path {
            "/simple/demo/" => {
                let (user, other) = (format!("http://u:p@127.0.0.1:{port}/x"), secret.as_str());
                let files = [
                    ("link-1.0.whl", other),
                    ("user-1.0.whl", &user),
                    ("file-1.0.whl", "file:///etc/passwd"),
                    ("ftp-1.0.whl", "ftp://127.0.0.1/x"),
                    ("data-1.0.whl", "data:text/plain,x"),
                    ("script-1.0.whl", "javascript:alert(1)"),
                    ("bad-1.0.whl", "http://[x/"),
                    ("moved-1.0.whl", "/f/moved"),
                    ("moved-twice-1.0.whl", "/f/moved-twice"),
                    ("moved-to-a-file-1.0.whl", "/f/moved-to-a-file"),
                    ("moved-to-a-user-1.0.whl", "/f/moved-to-a-user"),
                ];
                let page = page("demo", &files).replace("\"size\":1", "\"size\":12");
                respond(200, &[JSON], page)
            }
            "/simple/moved/" | "/f/moved" => to(&secret),
            "/f/moved-twice" => to("/f/moved"),
            "/f/moved-to-a-file" => to("file:///etc/passwd"),
            "/f/moved-to-a-user" => to(&format!("http://u:p@127.0.0.1:{port}/")),
            _ => respond(404, &[], ""),
        }
    });
    let hosts = Some(vec!["files.example.org".to_owned()]);
    let proxy = start_with(&[index.url("/simple")], |setup| setup.upstreams[0].file_hosts = hosts);
    let page = proxy.json("/simple/demo/?format=json", &[]).await;
    let names = filenames(&page);
    assert_eq!(names.len(), 11);
    for name in names {
        for suffix in ["", ".metadata", ".asc"] {
            for range in [&[][..], &[("range", "bytes=0-4")]] {
                let response = proxy.get(&format!("/simple/demo/{name}{suffix}"), range).await;
                let status = response.status().as_u16();
                assert!(matches!(status, 403 | 404 | 502), "{name}{suffix}: {status}");
                assert!(!response.text().await.unwrap().contains("root:"));
            }
        }
    }
    assert_eq!(proxy.get("/simple/moved/", &[]).await.status(), 403);
    assert_eq!(inner.requests().len(), 0);
    // An index on this machine may redirect to another one, unless allowed hosts are configured.
    let proxy = start(&[index.url("/simple")]);
    let text = proxy.get("/simple/demo/link-1.0.whl", &[]).await.text().await.unwrap();
    assert_eq!((&*text, inner.requests().len()), ("inner secret", 1));
}

#[tokio::test]
async fn upstream_data_can_not_inject_headers() {
    let index = Server::start(|request| {
        let odd = [
            ("etag", "\"a\u{80}\u{1f600}\"; x"),
            ("last-modified", "yesterday\tx"),
            ("location", "/x%0d%0aset-cookie: a=b"),
            ("x-pypi-last-serial", "7 8"),
            ("set-cookie", "a=b"),
            ("cache-control", "max-age=99999999999999999999"),
            ("x-accel-redirect", "/etc/passwd"),
        ];
        match &*request.path {
            "/simple/demo/" => {
                let files = [
                    ("demo-1.0.whl", "/f/demo-1.0.whl%0d%0aset-cookie:%20a=b"),
                    ("demo-2.0.whl", "/f/x\r\nset-cookie: a=b"),
                    ("demo-3.0.whl\r\nset-cookie: a=b", "/f/x"),
                    ("demo-4.0\"><script>alert(1)</script>.whl", "/f/x"),
                    ("../../demo-5.0.whl", "/f/x"),
                    ("..%2fdemo-6.0.whl", "/f/x"),
                    ("demo-7.0\u{0}.whl", "/f/x"),
                    ("demo-8.0\u{202e}.whl", "/f/x"),
                ];
                let mut headers = odd.to_vec();
                headers.push(JSON);
                respond(200, &headers, page("demo", &files))
            }
            "/simple/bare/" => {
                let mut bytes =
                    b"HTTP/1.1 200 OK\r\netag: \"a\rset-cookie: x=y\"\r\ncontent-length: 2\r\n\r\n{}"
                        .to_vec();
                bytes.push(0);
                vec![Step::Send(bytes.into())]
            }
            path => {
                let mut headers = odd.to_vec();
                headers.push(("content-disposition", "attachment; filename=../../x"));
                let body = if path.contains("set-cookie") { "x" } else { "y" };
                respond(200, &headers, body)
            }
        }
    });
    for redirect_after in [None, Some(Duration::ZERO)] {
        let setup = |setup: &mut Setup| setup.serve.redirect_after = redirect_after;
        let proxy = start_with(&[index.url("/simple")], setup);
        let names =
            ["demo-1.0.whl", "demo-2.0.whl", "demo-1.0.whl.asc"].map(|name| format!("/simple/demo/{name}"));
        let pages = ["/simple/demo/", "/simple/demo/?format=json", "/simple/bare/"].map(str::to_owned);
        for path in pages.iter().chain(&names).chain(&names) {
            let response = proxy.get(path, &[]).await;
            let allowed = "content-type content-length etag cache-control vary last-modified x-cache \
                date accept-ranges location transfer-encoding x-pypi-last-serial";
            for (name, value) in response.headers() {
                assert!(allowed.split(' ').any(|allowed| name == allowed), "{path}: {name}");
                assert!(value.as_bytes().iter().all(|byte| matches!(byte, b' '..=b'~')), "{path}: {name}");
            }
            let text = response.text().await.unwrap_or_default();
            assert!(!text.contains("<script>") && !text.contains("../"), "{path}: {text}");
        }
        for path in ["demo-3.0.whl", "demo-4.0.whl", "demo-5.0.whl", "demo-6.0.whl", "demo-7.0%00.whl"] {
            assert_eq!(proxy.get(&format!("/simple/demo/{path}"), &[]).await.status(), 404, "{path}");
        }
    }
}

#[tokio::test]
async fn hostile_pages_are_parsed_or_rejected() {
    let deep = |open: &str, count: usize| open.repeat(count);
    let pages: Vec<(&str, (&str, &str), Vec<u8>)> = vec![
        ("deep-json", JSON, deep("[", 200_000).into()),
        ("deep-object", JSON, deep("{\"a\":", 200_000).into()),
        ("deep-member", JSON, format!("{{\"files\":[],\"x\":{}{}}}", deep("[", 5000), deep("]", 5000)).into()),
        ("no-files", JSON, "{}".into()),
        ("files-no-list", JSON, "{\"files\":{\"a\":1}}".into()),
        ("files-null", JSON, "{\"files\":[null,1,\"x\",[],{}]}".into()),
        ("twice", JSON, "{\"files\":[],\"files\":[{\"filename\":\"a-1.whl\",\"url\":\"x\"}]}".into()),
        ("numbers", JSON, format!("{{\"files\":[{{\"filename\":\"a-1.whl\",\"url\":\"x\",\"size\":{}}}]}}", "9".repeat(30)).into()),
        ("size-less", JSON, "{\"files\":[{\"filename\":\"a-1.whl\",\"url\":\"x\",\"size\":-1}]}".into()),
        ("hash", JSON, "{\"files\":[{\"filename\":\"a-1.whl\",\"url\":\"x\",\"hashes\":{\"sha256\":\"../../x\"}}]}".into()),
        ("no-text", JSON, b"{\"files\":[{\"filename\":\"\xff\xfe\"}]}".to_vec()),
        ("half-pair", JSON, "{\"files\":[{\"filename\":\"a-1.whl\",\"url\":\"\\ud800\"}]}".into()),
        ("zeros", JSON, vec![0; 100_000]),
        ("bom", JSON, "\u{feff}{\"files\":[]}".into()),
        ("cut", JSON, "{\"files\":[{\"filename\":\"a-1.whl\"".into()),
        ("empty", JSON, Vec::new()),
        ("name", JSON, "{\"name\":\"</title><script>alert(1)</script>\",\"files\":[]}".into()),
        (
            "marks",
            JSON,
            "{\"files\":[{\"filename\":\"a-1.whl\",\"url\":\"x\",\"hashes\":{},\"yanked\":\"\\\"><script>alert(1)</script>\",\"requires-python\":\"\\\"><script>alert(1)</script>\"}]}"
                .into(),
        ),
        ("deep-html", HTML, deep("<div><a href=x>", 100_000).into()),
        ("open", HTML, format!("<a href=\"{}", "x".repeat(1 << 20)).into()),
        ("attributes", HTML, format!("<a {}>a-1.whl</a>", deep("data-x=1 ", 100_000)).into()),
        ("comment", HTML, format!("<!--{}", deep("--!", 100_000)).into()),
        ("entities", HTML, format!("<a href=\"x\">{}</a>", deep("&amp", 100_000)).into()),
        ("many", HTML, deep("<a href=a-1.whl>a-1.whl</a>", 20_000).into()),
        ("base", HTML, "<base href=\"javascript:alert(1)\"><a href=a-1.whl>a-1.whl</a>".into()),
        ("fragment", HTML, "<a href=\"a-1.whl#sha256=../../../x\">a-1.whl</a>".into()),
        ("script", HTML, "<a href=\"a-1.whl\" data-yanked='\"><script>alert(1)</script>'>a-1.whl</a>".into()),
        ("no-text-html", HTML, b"<a href=\"\xff\xfe\">\xff</a>".to_vec()),
        ("utf-16", HTML, "<a href=x>".encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("other-type", ("content-type", "image/png"), vec![0x89, b'P', b'N', b'G', 0, 0]),
    ];
    let own = pages.clone();
    let index = Server::start(move |request| {
        let page = own.iter().find(|(name, ..)| request.path == format!("/simple/{name}/"));
        page.map_or_else(|| respond(404, &[], ""), |(_, kind, body)| respond(200, &[*kind], body.clone()))
    });
    let proxy = start(&[index.url("/simple")]);
    for (name, ..) in &pages {
        for query in ["", "?format=json"] {
            let response = proxy.get(&format!("/simple/{name}/{query}"), &[]).await;
            let status = response.status().as_u16();
            assert!(matches!(status, 200 | 502), "{name}{query}: {status}");
            let text = response.text().await.unwrap();
            // JSON may contain it as text.
            assert!(!query.is_empty() || !text.contains("<script>"), "{name}{query}");
            if status == 200 && !query.is_empty() {
                let page: Value = tightwire_json::from_str(&text).unwrap();
                for file in page["files"].as_array().unwrap() {
                    assert!(!file["filename"].as_str().unwrap().contains('/'), "{name}");
                    let url = file["url"].as_str().unwrap();
                    let path = url.strip_prefix("../../").unwrap_or(url);
                    assert!(path.ends_with(file["filename"].as_str().unwrap()), "{name}: {url}");
                    assert!(!path.contains("..") && !path.contains(':'), "{name}: {url}");
                }
            }
        }
        for path in ["a-1.whl", "a-1.whl.metadata", "a-1.whl.asc"] {
            let response = proxy.get(&format!("/simple/{name}/{path}"), &[]).await;
            assert!(response.status().as_u16() >= 400, "{name}/{path}: {}", response.status());
        }
    }
    assert_eq!(proxy.get("/livez", &[]).await.status(), 200);
}
