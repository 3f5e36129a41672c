//! Project pages in JSON: preserved, replaced and rejected fields.

use proptest::prelude::*;
use pypi_proxy::{ApiVersion, Metadata, Page};
use tightwire_json::Value;

use crate::page_model;

fn page(document: &str) -> Page {
    Page::from_json(document.as_bytes().to_vec()).unwrap_or_else(|error| panic!("{document}: {error}"))
}

fn value(page: &Page) -> Value {
    tightwire_json::from_slice(page.json())
        .unwrap_or_else(|error| panic!("{}: {error}", String::from_utf8_lossy(page.json())))
}

#[test]
fn all_fields_except_the_url_are_preserved() {
    let upstream = r#" {"meta" : {"api-version": "1.4", "_last-serial": 77, "tracks": ["https://example.org/simple/a/"]},
        "name": "Über", "alternate-locations": [], "project-status": {"status": "active"}, "versions": ["1.0", "2.0"],
        "files": [
          {"filename": "a-1.0.tar.gz", "url": "https://files.example.org/x/a-1.0.tar.gz", "hashes": {"sha256": "00", "md5": "ff"},
           "yanked": "broken \"build\"", "x": {"url": "https://example.org/kept"}},
          {"size": 7, "url":"../../y/b.whl?token=1", "filename":"a-2.0-py3-none-any.whl", "hashes":{}, "core-metadata": {"sha256": "11"}}
        ] , "own": null } "#;
    let mut expected: Value = tightwire_json::from_str(upstream).unwrap();
    expected["files"][0]["url"] = "a-1.0.tar.gz".into();
    expected["files"][1]["url"] = "a-2.0-py3-none-any.whl".into();
    let page = page(upstream);
    assert_eq!(value(&page), expected);
    assert_eq!((page.name(), page.last_serial(), page.api_version()), ("Über", Some(77), ApiVersion::MAX));
    let urls: Vec<_> = page.files().map(|file| (file.name(), file.url())).collect();
    let expected = [
        ("a-1.0.tar.gz", "https://files.example.org/x/a-1.0.tar.gz"),
        ("a-2.0-py3-none-any.whl", "../../y/b.whl?token=1"),
    ];
    assert_eq!(urls, expected);
}

#[test]
fn known_fields_of_a_file_are_parsed() {
    let sha = "0123456789abcdefABCDEF".to_owned() + &"0".repeat(42);
    let page = page(&format!(
        r#"{{"files": [{{"filename":"a-1.whl","url":"u","hashes":{{"md5":"x","sha256":"{sha}"}},"size":34,"requires-python":">=3",
            "upload-time":"2024-01-01T00:00:00Z","data-dist-info-metadata":true,"core-metadata":{{"sha256":"{sha}"}},
            "dist-info-metadata":false,"yanked":true,"gpg-sig":false,"provenance":"https://example.org/p"}},
           {{"filename":"a-2.whl","url":"u","size":-1,"yanked":false,"hashes":null,"core-metadata":false,"provenance":null}},
           {{"filename":"a-3.whl","url":"u","data-dist-info-metadata":true,"yanked":""}}]}}"#
    ));
    let first = page.file("a-1.whl").unwrap().details();
    assert_eq!(first.sha256.unwrap()[..4], [0x01, 0x23, 0x45, 0x67]);
    assert_eq!(first.metadata, Metadata::Present(first.sha256));
    assert_eq!((first.size, first.requires_python.as_deref()), (Some(34), Some(">=3")));
    assert_eq!(
        (first.upload_time.as_deref(), first.yanked.as_deref()),
        (Some("2024-01-01T00:00:00Z"), Some(""))
    );
    assert_eq!(
        (first.has_signature, first.provenance.as_deref()),
        (Some(false), Some("https://example.org/p"))
    );
    let second = page.file("a-2.whl").unwrap().details();
    assert_eq!(
        (second.size, second.yanked, second.sha256, second.metadata),
        (None, None, None, Metadata::Absent)
    );
    assert_eq!(page.file("a-3.whl").unwrap().details().metadata, Metadata::Present(None));
    assert!(page.file("a-4.whl").is_none());
}

#[test]
fn a_file_without_hashes_gets_an_empty_object() {
    let page =
        page(r#"{"files":[{"filename":"a-1.whl","url":"u"},{"filename":"a-2.whl","url":"u"}],"name":"a"}"#);
    for file in value(&page)["files"].as_array().unwrap() {
        assert_eq!(file["hashes"], serde_json::json!({}));
        assert_eq!(file["url"], file["filename"]);
    }
}

#[test]
fn invalid_files_are_skipped() {
    let page = page(
        r#"{"files":[{"filename":"../a","url":"u"},{"filename":"a-1.whl","url":"u"},{"filename":".tmp","url":"u"},
           {"filename":"a-2.whl","url":""},{"filename":"a-3.whl","url":"a\u0000b"},{"filename":"a%2f","url":"u"}]}"#,
    );
    assert_eq!((page.files().len(), page.skipped()), (1, 5));
    assert_eq!(value(&page)["files"].as_array().unwrap().len(), 1);
}

#[test]
fn other_documents_than_pages_of_version_1_are_rejected() {
    let wrong = [
        "",
        "[]",
        "{}",
        r#"{"files":{}}"#,
        r#"{"files":[1]}"#,
        r#"{"files":[{}]}"#,
        r#"{"files":[{"filename":"a"}]}"#,
        r#"{"files":[{"url":"a"}]}"#,
        r#"{"files":[{"filename":"a","url":"u","url":"v"}]}"#,
        r#"{"files":[{"filename":"a","filename":"b","url":"v"}]}"#,
        r#"{"files":[{"filename":"a","url":"u","\u0075rl":"v"}]}"#,
        r#"{"files":[{"filename":1,"url":"u"}]}"#,
        r#"{"files":[{"filename":"\ud800","url":"u"}]}"#,
        r#"{"files":[],"files":[]}"#,
        r#"{"files":[],"meta":{"api-version":"2.0"}}"#,
        r#"{"files":[],"meta":{"api-version":"1"}}"#,
        r#"{"files":[],"versions":{}}"#,
        r#"{"files":[]} x"#,
        r#"{"files":[]"#,
    ];
    for document in wrong {
        assert!(Page::from_json(document.as_bytes().to_vec()).unwrap_err().is_page(), "{document}");
    }
    let error = Page::from_json(b"{\"files\":[\xff]}".to_vec()).unwrap_err();
    assert_eq!((error.is_page(), error.offset()), (true, Some(10)));
}

#[test]
fn a_newer_version_is_passed_on_as_the_newest_known() {
    for version in ["1.9", "1.400"] {
        let page = page(&format!(r#"{{"meta":{{"api-version":"{version}"}},"files":[]}}"#));
        assert_eq!(value(&page)["meta"]["api-version"], "1.4");
    }
}

prop_compose! {
    fn file()(name in "[a-z]{1,12}-[0-9]\\.whl", url in "[!-~]{1,40}", size: Option<u32>, has_hashes: bool, url_first: bool,
              more in proptest::option::of("[ -~äß\\\\\"]{0,20}")) -> Value {
        let mut file = tightwire_json::Map::new();
        if url_first {
            file.insert("url".into(), url.clone().into());
        }
        file.insert("filename".into(), name.into());
        if has_hashes {
            file.insert("hashes".into(), serde_json::json!({"sha256": "00"}));
        }
        file.insert("url".into(), url.into());
        if let Some(size) = size {
            file.insert("size".into(), size.into());
        }
        if let Some(more) = more {
            file.insert("x-more".into(), serde_json::json!([more, {"url": 1}]));
        }
        file.into()
    }
}

proptest! {
    /// Compares rewriting in place with parsing and serializing.
    #[test]
    fn rewriting_matches_a_parse_and_serialize_model(files in proptest::collection::vec(file(), 0..8), pretty: bool) {
        let upstream = serde_json::json!({"files": files, "name": "a", "x": {"y": []}});
        let document = if pretty { tightwire_json::to_vec_pretty(&upstream, "  ") } else { tightwire_json::to_vec(&upstream) }.unwrap();
        let mut expected = upstream;
        expected["meta"] = serde_json::json!({"api-version": "1.0"});
        for file in expected["files"].as_array_mut().unwrap() {
            file["url"] = file["filename"].clone();
            if file.get("hashes").is_none() {
                file["hashes"] = serde_json::json!({});
            }
        }
        let page = Page::from_json(document).unwrap();
        prop_assert_eq!(value(&page), expected);
        for (file, upstream) in page.files().zip(&files) {
            prop_assert_eq!(Some(file.url()), upstream["url"].as_str());
            prop_assert_eq!(Some(file.name()), upstream["filename"].as_str());
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(document in proptest::collection::vec(any::<u8>(), 0..64)) {
        page_model::json(&document);
        page_model::html(&document);
    }

    #[test]
    fn arbitrary_json_does_not_panic(
        document in r#"\{"files":\[(\{"filename":"a-1.whl","url":"[a-z/:]{0,5}"(,"[a-z-]{0,9}":[0-9a-z"{}\[\],:]{0,9}){0,2}\},?){0,3}\](,"[a-z]{0,3}":[0-9"a-z\\]{0,6})?\}"#,
    ) {
        page_model::json(document.as_bytes());
    }

    #[test]
    fn arbitrary_links_do_not_panic(document in r#"(<a href=["']?[a-z0-9./#%&=-]{0,12}["']?( data-[a-z-]{0,14}(="?[a-z&;<>=]{0,6}"?)?){0,2}>?[a-z<]{0,3}(</a>)?){0,4}"#) {
        page_model::html(document.as_bytes());
    }

    #[test]
    fn arbitrary_headers_do_not_panic(value in "[a-z0-9*/+;=., -]{0,40}", len: u64) {
        page_model::headers(&value, len);
    }
}
