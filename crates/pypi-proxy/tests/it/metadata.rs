//! Metadata extracted from wheels of an index that only has links.

use std::io::Read as _;

use bytes::Bytes;
use rawzip::CompressionMethod;

use crate::support::proxy::{RunningProxy, start};
use crate::support::source::content;
use crate::support::wheel::archive;
use crate::support::{HTML, Server, ranged, respond};

const TEXT: &[u8] = b"Metadata-Version: 2.1\nName: Demo\nVersion: 1.0\n";

/// Index with one wheel, with or without support for ranges.
async fn index(name: &'static str, wheel: Vec<u8>, has_ranges: bool) -> (Server, RunningProxy) {
    let wheel = Bytes::from(wheel);
    let server = Server::start(move |path, headers| {
        let wheel = wheel.clone();
        async move {
            if path.ends_with('/') {
                return respond(200, &[HTML], format!("<a href=\"/f/{name}\">{name}</a>"));
            }
            match path.ends_with(".whl") {
                true if has_ranges => ranged(&headers, &[], &wheel),
                true => respond(200, &[], wheel),
                false => respond(404, &[], ""),
            }
        }
    })
    .await;
    let proxy = start(&[server.url("/simple")]).await;
    (server, proxy)
}

async fn metadata(proxy: &RunningProxy, name: &str) -> (u16, Bytes) {
    let response = proxy.get(&format!("/simple/demo/{name}.metadata"), &[]).await;
    (response.status().as_u16(), response.bytes().await.unwrap_or_default())
}

const NAME: &str = "Demo-1.0-py3-none-any.whl";

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
        let (server, proxy) = index(NAME, archive(&files, method), true).await;
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
    let (server, proxy) = index(NAME, archive(&files, CompressionMethod::STORE), true).await;
    assert_eq!(metadata(&proxy, NAME).await, (200, TEXT.into()));
    assert_eq!(server.count(), 3);
    let (server, proxy) = index(NAME, archive(&files, CompressionMethod::STORE), false).await;
    assert_eq!(metadata(&proxy, NAME).await, (200, TEXT.into()));
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn a_central_directory_larger_than_the_tail_is_read_completely() {
    let names: Vec<String> =
        (0..3000).map(|number| format!("demo/module_with_a_long_name_{number:06}.py")).collect();
    let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"pass"[..])).collect();
    files.insert(0, ("demo-1.0.dist-info/METADATA", TEXT));
    let (server, proxy) = index(NAME, archive(&files, CompressionMethod::DEFLATE), true).await;
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
        let (_server, proxy) = index(NAME, wheel, true).await;
        let (status, _) = metadata(&proxy, NAME).await;
        assert_eq!(status, 404, "{number}");
        assert_eq!(proxy.store.stats().files, 0);
    }
}

#[tokio::test]
async fn metadata_is_compressed_as_the_client_accepts() {
    let text: Vec<u8> = TEXT.iter().copied().chain(b"Keywords: something\n".repeat(200)).collect();
    let wheel = archive(&[("demo-1.0.dist-info/METADATA", &text)], CompressionMethod::DEFLATE);
    let (_server, proxy) = index(NAME, wheel, true).await;
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
