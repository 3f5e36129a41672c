//! Metadata of wheels, and facts about files that the index lacks, extracted from wheels and downloads.

use std::io::{Read as _, Write as _};

use rawzip::{CompressionMethod, ZipArchiveWriter};

use crate::support::prelude::*;

const TEXT: &[u8] = b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n";
const WHEEL: &str = "demo-1.0-py3-none-any.whl";
/// File name that is not normalized.
const NAME: &str = "Demo-1.0-py3-none-any.whl";
const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

/// A file of the index: its name and content, and whether the page has its hash.
type File = (&'static str, Bytes, bool);

/// Index in JSON or HTML with these files, with or without support for ranges.
fn index(is_json: bool, files: Vec<File>, has_ranges: bool) -> Server {
    let link = |(name, content, has_hash): &File| match has_hash {
        true => format!("<a href='/f/{name}#sha256={}'>x</a>", digest_of(content)),
        false => format!("<a href='/f/{name}'>x</a>"),
    };
    let page = match is_json {
        true => hashed_page(files.iter().map(|(name, content, _)| (*name, content.clone()))),
        false => files.iter().map(link).collect(),
    };
    let kind = if is_json { JSON } else { HTML };
    Server::start(move |request| {
        if request.path.ends_with('/') {
            return match request.header("if-none-match") {
                "" => respond(200, &[kind, ("etag", "\"1\"")], page.clone()),
                _ => respond(304, &[], ""),
            };
        }
        let times = [("last-modified", MODIFIED)];
        match files.iter().find(|(name, ..)| request.path.strip_prefix("/f/") == Some(name)) {
            Some((_, content, _)) if has_ranges => ranged(request, &times, content),
            Some((_, content, _)) => respond(200, &times, content.clone()),
            None => respond(404, &[], ""),
        }
    })
}

/// Builds a wheel with these files, stored or deflated.
pub(crate) fn archive(files: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut out = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut out);
    for (name, content) in files {
        let (mut entry, config) = archive.new_file(*name).compression_method(method).start().unwrap();
        let descriptor = if method == CompressionMethod::DEFLATE {
            let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
            let mut writer = config.wrap(encoder);
            writer.write_all(content).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            descriptor
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content).unwrap();
            writer.finish().unwrap().1
        };
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}

/// Index with one wheel without a hash, and a proxy of it.
fn with_wheel(wheel: Vec<u8>, has_ranges: bool) -> (Server, RunningProxy) {
    let server = index(false, vec![(NAME, wheel.into(), false)], has_ranges);
    let proxy = start(&[server.url("/simple")]);
    (server, proxy)
}

/// Starts a proxy that revalidates on every request.
fn revalidating(index: &Server) -> RunningProxy {
    start_with(&[index.url("/simple")], Setup::always_revalidate)
}

async fn get(proxy: &RunningProxy, name: &str) -> (u16, Bytes) {
    let response = proxy.get(&format!("/simple/demo/{name}"), &[]).await;
    (response.status().as_u16(), response.bytes().await.unwrap_or_default())
}

async fn metadata(proxy: &RunningProxy, name: &str) -> (u16, Bytes) {
    get(proxy, &format!("{name}.metadata")).await
}

/// Returns the files of the page in their order.
async fn files(proxy: &RunningProxy) -> Vec<Value> {
    let page = proxy.json("/simple/demo/", &[("accept", JSON.1)]).await;
    page["files"].as_array().unwrap().to_vec()
}

/// Waits until the files on the page have changed and returns them.
async fn changed(proxy: &RunningProxy, before: &[Value]) -> Vec<Value> {
    until("the page changes", async || files(proxy).await != before).await;
    files(proxy).await
}

#[tokio::test]
async fn metadata_is_read_from_the_end_of_the_wheel() {
    let large = content(2_000_000);
    for (method, folder) in [
        (CompressionMethod::STORE, "demo-1.0.dist-info/METADATA"),
        (CompressionMethod::DEFLATE, "Demo-1.0.dist-info/METADATA"),
    ] {
        let files: [(&str, &[u8]); 4] = [
            ("demo/__init__.py", b""),
            ("demo/large.bin", &large),
            (folder, TEXT),
            ("demo-1.0.dist-info/RECORD", b"x"),
        ];
        let (server, proxy) = with_wheel(archive(&files, method), true);
        let page = proxy.get("/simple/demo/", &[]).await.text().await.unwrap();
        // Without a hash on the page, the wheel could be another one next time.
        assert!(!page.contains("metadata"), "{page}");
        assert_eq!(metadata(&proxy, NAME).await, (200, TEXT.into()));
        // The page, and the end of the wheel.
        assert_eq!(server.count(), 2);
        assert_eq!(server.last()["range"], "bytes=-65536");
        assert_eq!(metadata(&proxy, NAME).await, (200, TEXT.into()));
        assert_eq!(server.count(), 2);
    }
}

#[tokio::test]
async fn further_ranges_of_the_wheel_are_fetched_as_needed() {
    let large = content(1_000_000);
    let files: [(&str, &[u8]); 2] = [("demo-1.0.dist-info/METADATA", TEXT), ("demo/large.bin", &large)];
    let (server, proxy) = with_wheel(archive(&files, CompressionMethod::STORE), true);
    assert_eq!(metadata(&proxy, NAME).await, (200, TEXT.into()));
    assert_eq!(server.count(), 3);
    let (server, proxy) = with_wheel(archive(&files, CompressionMethod::STORE), false);
    assert_eq!(metadata(&proxy, NAME).await, (200, TEXT.into()));
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn a_central_directory_larger_than_the_tail_is_read_completely() {
    let names: Vec<String> =
        (0..3000).map(|number| format!("demo/module_with_a_long_name_{number:06}.py")).collect();
    let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"pass"[..])).collect();
    files.insert(0, ("demo-1.0.dist-info/METADATA", TEXT));
    let (server, proxy) = with_wheel(archive(&files, CompressionMethod::DEFLATE), true);
    assert_eq!(metadata(&proxy, NAME).await, (200, TEXT.into()));
    assert!(server.count() <= 20, "{}", server.count());
}

#[tokio::test]
async fn invalid_wheels_have_no_metadata() {
    let good = archive(&[("demo-1.0.dist-info/METADATA", TEXT)], CompressionMethod::STORE);
    let other = archive(
        &[("other-1.0.dist-info/METADATA", TEXT), ("x/demo-1.0.dist-info/METADATA", TEXT)],
        CompressionMethod::STORE,
    );
    let mut flipped = good.clone();
    let at = flipped.windows(4).position(|window| window == b"Name").unwrap();
    flipped[at] ^= 1;
    let bomb = archive(&[("demo-1.0.dist-info/METADATA", &vec![b' '; 20 << 20])], CompressionMethod::DEFLATE);
    let cases =
        [content(100_000).to_vec(), Vec::new(), other, flipped, good[..good.len() - 10].to_vec(), bomb];
    for (number, wheel) in cases.into_iter().enumerate() {
        let (_server, proxy) = with_wheel(wheel, true);
        let (status, _) = metadata(&proxy, NAME).await;
        assert_eq!(status, 404, "{number}");
        assert_eq!(proxy.store.stats().files, 0);
    }
}

#[tokio::test]
async fn metadata_is_compressed_as_the_client_accepts() {
    let text: Vec<u8> = TEXT.iter().copied().chain(b"Keywords: something\n".repeat(200)).collect();
    let wheel = archive(&[("demo-1.0.dist-info/METADATA", &text)], CompressionMethod::DEFLATE);
    let (_server, proxy) = with_wheel(wheel, true);
    assert_eq!(metadata(&proxy, NAME).await, (200, text.clone().into()));
    let path = format!("/simple/demo/{NAME}.metadata");
    let mut tags = Vec::new();
    for (accepted, coding) in
        [("gzip", Some("gzip")), ("gzip, zstd", Some("zstd")), ("deflate", Some("deflate")), ("br", None)]
    {
        let response = proxy.get(&path, &[("accept-encoding", accepted)]).await;
        let field = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!((response.status().as_u16(), field("content-encoding").as_deref()), (200, coding));
        assert_eq!(field("vary").as_deref(), Some("Accept-Encoding"));
        let (tag, len) = (field("etag").unwrap(), field("content-length").unwrap());
        let body = response.bytes().await.unwrap();
        assert_eq!(len, body.len().to_string());
        let mut plain = Vec::new();
        match coding {
            Some("gzip") => flate2::read::GzDecoder::new(&*body).read_to_end(&mut plain).unwrap(),
            Some("deflate") => flate2::read::ZlibDecoder::new(&*body).read_to_end(&mut plain).unwrap(),
            Some(_) => zstd::Decoder::new(&*body).unwrap().read_to_end(&mut plain).unwrap(),
            None => (&*body).read_to_end(&mut plain).unwrap(),
        };
        assert_eq!(plain, text, "{accepted}");
        let response = proxy.get(&path, &[("accept-encoding", accepted), ("if-none-match", &tag)]).await;
        assert_eq!(response.status(), 304);
        tags.push(tag);
    }
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 4, "each coding has a tag of its own");
    // A range applies to the uncompressed text.
    let response = proxy.get(&path, &[("accept-encoding", "gzip"), ("range", "bytes=0-15")]).await;
    assert!(response.status() == 206 && !response.headers().contains_key("content-encoding"));
    assert_eq!(response.bytes().await.unwrap(), text[..16]);
}

/// Index in HTML with a wheel, a source archive, and a file without a hash.
fn three_files() -> (Server, Bytes) {
    let filler = content(200_000);
    let parts = [("demo/data", &*filler), ("demo-1.0.dist-info/METADATA", TEXT)];
    let wheel = Bytes::from(archive(&parts, CompressionMethod::STORE));
    let files = vec![
        (WHEEL, wheel.clone(), true),
        ("demo-1.0.tar.gz", content(500), true),
        ("demo-0.9.tar", content(400), false),
    ];
    (index(false, files, true), wheel)
}

#[tokio::test]
async fn downloaded_files_get_a_size_and_time() {
    let (index, _) = three_files();
    let proxy = revalidating(&index);
    let before = files(&proxy).await;
    assert!(before.iter().all(|file| file.get("size").is_none() && file.get("upload-time").is_none()));
    for name in ["demo-0.9.tar", "demo-1.0.tar.gz"] {
        assert_eq!(get(&proxy, name).await.0, 200);
    }
    let after = changed(&proxy, &before).await;
    assert_eq!((&after[1]["size"], &after[1]["upload-time"]), (&500.into(), &"1994-11-06T08:49:37Z".into()));
    // Without a hash, it could be another file next time.
    assert_eq!(after[2], before[2]);
    // Now the length is known without a request.
    let requests = index.count();
    let head = proxy.send(Method::HEAD, "/simple/demo/demo-1.0.tar.gz", &[]).await;
    assert_eq!(head.headers()["content-length"], "500");
    assert_eq!(index.paths()[requests..], ["/simple/demo/"]);
    // The facts survive a restart. Purging removes them.
    let facts = |proxy: &RunningProxy| proxy.dir().join("cache/pages/facts/demo");
    until("facts are stored", async || facts(&proxy).exists()).await;
    let again = revalidating(&index);
    std::fs::create_dir_all(facts(&again).parent().unwrap()).unwrap();
    std::fs::copy(facts(&proxy), facts(&again)).unwrap();
    assert_eq!(files(&again).await, after);
    proxy.send(Method::DELETE, "/cache/demo", &PURGE).await;
    assert!(!facts(&proxy).exists());
}

#[tokio::test]
async fn extracted_metadata_has_a_hash() {
    let (index, wheel) = three_files();
    let proxy = revalidating(&index);
    let before = files(&proxy).await;
    assert!(before[0].get("core-metadata").is_none());
    assert_eq!(metadata(&proxy, WHEEL).await, (200, TEXT.into()));
    let after = changed(&proxy, &before).await;
    assert_eq!(after[0]["core-metadata"]["sha256"], digest_of(TEXT).to_string());
    assert_eq!(after[0]["size"], wheel.len());
    assert_eq!(after[0]["upload-time"], "1994-11-06T08:49:37Z");
    // The metadata is extracted again if it was deleted.
    proxy.store.remove(&digest_of(TEXT)).unwrap();
    assert_eq!(metadata(&proxy, WHEEL).await, (200, TEXT.into()));
    assert!(!index.paths().iter().any(|path| path.ends_with(".metadata")));
}

#[tokio::test]
async fn the_length_is_found_with_a_part_of_the_file() {
    let path = format!("/simple/demo/{WHEEL}");
    for is_head in [false, true] {
        let (index, wheel) = three_files();
        let proxy = revalidating(&index);
        let before = files(&proxy).await;
        if is_head {
            let head = proxy.send(Method::HEAD, &path, &[]).await;
            assert_eq!(head.headers()["content-length"], wheel.len().to_string());
            assert_eq!(index.last()["range"], "bytes=0-0");
        } else {
            let part = proxy.get(&path, &[("range", "bytes=-100")]).await;
            assert_eq!((part.status().as_u16(), part.bytes().await.unwrap().len()), (206, 100));
        }
        assert_eq!(changed(&proxy, &before).await[0]["size"], wheel.len());
        let missing = proxy.send(Method::HEAD, "/simple/demo/demo-0.9.tar", &[]).await;
        assert_eq!(missing.headers()["content-length"], "400");
        assert!(!is_head || proxy.store.stats().fetched == 0);
    }
}

const BAD: &str = "demo-2.0-py3-none-any.whl";

/// Index with a valid and an invalid wheel, without metadata.
fn good_and_bad(is_json: bool) -> (Server, [Bytes; 2]) {
    let good = archive(&[("demo-1.0.dist-info/METADATA", TEXT)], CompressionMethod::DEFLATE);
    let wheels = [good.into(), content(5000)];
    let [good, bad] = wheels.clone();
    (index(is_json, vec![(WHEEL, good, true), (BAD, bad, true)], false), wheels)
}

async fn listed_metadata(proxy: &RunningProxy) -> Vec<Value> {
    files(proxy).await.iter().map(|file| file["core-metadata"].clone()).collect()
}

#[tokio::test]
async fn pages_list_extracted_metadata() {
    for is_json in [true, false] {
        let (index, [good, bad]) = good_and_bad(is_json);
        let proxy = revalidating(&index);
        assert_eq!(listed_metadata(&proxy).await, [Value::Null, Value::Null]);
        assert_eq!(get(&proxy, BAD).await, (200, bad));
        assert_eq!(get(&proxy, WHEEL).await, (200, good));
        let fetched = index.count();
        let expected = json!({"sha256": digest_of(TEXT).to_string()});
        until("metadata is listed", async || listed_metadata(&proxy).await[0] == expected).await;
        // All listed metadata is available, extracted from the stored wheel.
        assert_eq!(metadata(&proxy, WHEEL).await, (200, TEXT.into()));
        assert!(!index.paths()[fetched..].iter().any(|path| path.starts_with("/f/")));
        // Unreadable metadata is not listed, and is no error of the proxy.
        assert_eq!(listed_metadata(&proxy).await[1], Value::Null);
        assert_eq!(metadata(&proxy, BAD).await.0, 404);
        let html = proxy.get("/simple/demo/", &[("accept", "text/html")]).await.text().await.unwrap();
        assert!(html.contains(&format!("data-core-metadata=\"sha256={}\"", digest_of(TEXT))), "{html}");
        assert_eq!(html.matches("data-core-metadata").count(), 1);
        // A wheel that was stored before is searched at the next request, once.
        for _ in 0..3 {
            get(&proxy, BAD).await;
        }
        assert_eq!(proxy.store.stats().corrupt, 0);
    }
}

#[tokio::test]
async fn without_the_setting_no_metadata_is_extracted() {
    let (index, [good, _]) = good_and_bad(true);
    let proxy = start_with(&[index.url("/simple")], |setup| {
        setup.always_revalidate();
        setup.pages.wheel_metadata = false;
    });
    assert_eq!(get(&proxy, WHEEL).await, (200, good));
    for _ in 0..3 {
        assert!(listed_metadata(&proxy).await.iter().all(Value::is_null));
    }
    for name in [WHEEL, BAD] {
        assert_eq!(metadata(&proxy, name).await.0, 404);
    }
}
