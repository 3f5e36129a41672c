//! Index pages in JSON and HTML, and the list of all projects.

use proptest::prelude::*;
use pypi_proxy::{ApiVersion, Error, Metadata, Page, ProjectList};
use tightwire_json::{Value, json};

use crate::page_model;

fn parsed(document: &str) -> Page {
    Page::from_json(document.as_bytes().to_vec()).unwrap_or_else(|error| panic!("{document}: {error}"))
}

fn from_html(document: &str) -> Page {
    Page::from_html(document.as_bytes()).unwrap()
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
    let page = parsed(upstream);
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
    let page = parsed(&format!(
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
    assert_eq!(first.upload_time.as_deref(), Some("2024-01-01T00:00:00Z"));
    assert_eq!((first.yanked.as_deref(), first.has_signature), (Some(""), Some(false)));
    assert_eq!(first.provenance.as_deref(), Some("a-1.whl.provenance"));
    assert_eq!(page.file("a-1.whl").unwrap().provenance(), Some("https://example.org/p"));
    let second = page.file("a-2.whl").unwrap().details();
    assert_eq!((second.size, second.yanked, second.sha256), (None, None, None));
    assert_eq!(second.metadata, Metadata::Absent);
    assert_eq!(page.file("a-3.whl").unwrap().details().metadata, Metadata::Present(None));
    assert!(page.file("a-4.whl").is_none());
}

#[test]
fn invalid_files_are_skipped() {
    let page = parsed(
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
        r#"{"files":[{"filename":1,"url":"u"}]}"#,
        r#"{"files":[{"filename":"\ud800","url":"u"}]}"#,
        r#"{"files":[],"meta":{"api-version":"2.0"}}"#,
        r#"{"files":[],"meta":{"api-version":"1"}}"#,
        r#"{"files":[],"versions":{}}"#,
        r#"{"files":[]} x"#,
        r#"{"files":[]"#,
    ];
    for document in wrong {
        assert!(Page::from_json(document.as_bytes().to_vec()).unwrap_err().is_page(), "{document}");
    }
    let html = br#"<meta name="pypi:repository-version" content="2.0">"#;
    assert!(Page::from_html(html).unwrap_err().is_page());
    let error = Page::from_json(b"{\"files\":[\xff]}".to_vec()).unwrap_err();
    assert_eq!((error.is_page(), error.offset()), (true, Some(10)));
}

#[test]
fn a_newer_version_is_passed_on_as_the_newest_known() {
    for version in ["1.9", "1.400"] {
        let page = parsed(&format!(r#"{{"meta":{{"api-version":"{version}"}},"files":[]}}"#));
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
            file.insert("hashes".into(), json!({"sha256": "00"}));
        }
        file.insert("url".into(), url.into());
        if let Some(size) = size {
            file.insert("size".into(), size.into());
        }
        if let Some(more) = more {
            file.insert("x-more".into(), json!([more, {"url": 1}]));
        }
        file.into()
    }
}

proptest! {
    /// Compares rewriting in place with parsing and serializing.
    #[test]
    fn rewriting_matches_a_parse_and_serialize_model(files in proptest::collection::vec(file(), 0..8), pretty: bool) {
        let upstream = json!({"files": files, "name": "a", "x": {"y": []}});
        let document = if pretty { tightwire_json::to_vec_pretty(&upstream) } else { tightwire_json::to_vec(&upstream) }.unwrap();
        let mut expected = upstream;
        expected["meta"] = json!({"api-version": "1.0"});
        for file in expected["files"].as_array_mut().unwrap() {
            file["url"] = file["filename"].clone();
            if file.get("hashes").is_none() {
                file["hashes"] = json!({});
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
        document in r#"\{"files":\[(\{"filename":"a-1[ .]whl","url":"[a-z/:]{0,5}"(,"[a-z-]{0,9}":[0-9a-z"{}\[\],:]{0,9}){0,2}\},?){0,3}\](,"[a-z]{0,3}":[0-9"a-z\\]{0,6})?\}"#,
    ) {
        page_model::json(document.as_bytes());
    }

    #[test]
    fn arbitrary_links_do_not_panic(document in r#"(<a href=["']?[a-z0-9./#%&=-]{0,12}["']?( data-[a-z-]{0,14}(="?[a-z&;<>=]{0,6}"?)?){0,2}>?[a-z<]{0,3}(</a>)?){0,4}"#) {
        page_model::html(document.as_bytes());
    }

    #[test]
    fn arbitrary_headers_do_not_panic(value in "(bytes=[0-9-]{0,9})?[a-z0-9*/+;=., -]{0,60}", len: u64) {
        page_model::headers(&value, len);
    }
}

const SHA: &str = "1e61c37477a1626458e36f7b1d82aa5c9b094fa4802892072e49de9c60c4c926";

#[test]
fn links_of_various_mirrors_are_parsed() {
    let page = from_html(&format!(
        r#"<html><head><meta name="pypi:repository-version" content="1.3"><meta name='pypi:project-status' content='archived'>
        <title>Index of /six</title></head><body>
        <a href="../">../</a>
        <A HREF='/f/six-1.0.tar.gz#sha256={SHA}&amp;egg=six' DATA-REQUIRES-PYTHON='&gt;=2.7,&lt;4'
           data-yanked="no &quot;good&quot;">six-1.0.ta..&gt;</A>
        <a data-yanked href=six-1.1%2Blocal-py3-none-any.whl?x=1#sha256=zz data-core-metadata="sha256={SHA}" data-gpg-sig=true>x</a>
        <a href="https://example.org/about">about</a> <a>no link</a> <a href="a-%ff.whl">bad</a>
        <!-- <a href="six-9.0.tar.gz">commented</a> -->
        <a href="six-2.0.zip" data-dist-info-metadata="true" data-provenance="https://example.org/p">six-2.0.zip</a>"#
    ));
    let names: Vec<_> = page.files().map(|file| (file.name(), file.url())).collect();
    let expected = [
        ("six-1.0.tar.gz", "/f/six-1.0.tar.gz"),
        ("six-1.1+local-py3-none-any.whl", "six-1.1%2Blocal-py3-none-any.whl?x=1"),
        ("six-2.0.zip", "six-2.0.zip"),
    ];
    assert_eq!(names, expected);
    let files: Vec<_> = page.files().map(|file| file.details()).collect();
    assert_eq!(files[0].sha256.map(|sha| sha[0]), Some(0x1e));
    assert_eq!(files[0].requires_python.as_deref(), Some(">=2.7,<4"));
    assert_eq!(files[0].yanked.as_deref(), Some("no \"good\""));
    assert_eq!((files[1].sha256, files[1].has_signature), (None, Some(true)));
    assert_eq!(files[1].yanked.as_deref(), Some(""));
    assert!(matches!(files[1].metadata, Metadata::Present(Some(_))));
    assert_eq!(files[2].metadata, Metadata::Present(None));
    assert_eq!(files[2].provenance.as_deref(), Some("six-2.0.zip.provenance"));
    let json = value(&page);
    assert_eq!(json["meta"]["api-version"], "1.0");
    assert_eq!(json["project-status"]["status"], "archived");
}

#[test]
fn a_base_makes_urls_absolute() {
    let page = from_html(
        r#"<base href="https://example.org/x/"><a href="six-1.0.zip">six</a><base href="https://example.org/y/">"#,
    );
    assert_eq!(page.file("six-1.0.zip").unwrap().url(), "https://example.org/x/six-1.0.zip");
}

#[test]
fn rendered_html_round_trips_and_is_escaped() {
    let upstream = format!(
        r#"{{"name": "a<script>", "project-status": {{"status": "quarantined", "reason": "\"<>&"}}, "files": [
          {{"filename": "a-1.0.tar.gz", "url": "u", "hashes": {{"sha256": "{SHA}"}}, "requires-python": "\"><script>alert('1')</script>",
           "yanked": "<b>", "core-metadata": {{"sha256": "{SHA}"}}, "gpg-sig": true, "provenance": "https://example.org/?a=1&b"}},
          {{"filename": "a-2.0.tar.gz", "url": "u", "core-metadata": true}}]}}"#
    );
    let page = Page::from_json(upstream.into_bytes()).unwrap();
    let html = String::from_utf8(page.to_html()).unwrap();
    assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
    for end in ["<!DOCTYPE html>\n<html>\n<head>\n", "</head>\n<body>\n", "</body>\n</html>\n"] {
        assert_eq!(html.matches(end).count(), 1, "{html}");
    }
    let link = format!("<a href=\"a-1.0.tar.gz#sha256={SHA}\" data-requires-python=\"");
    assert!(html.contains(&link), "{html}");
    let again = Page::from_html(html.as_bytes()).unwrap();
    for (first, second) in page.files().zip(again.files()) {
        assert_eq!((first.name(), first.details()), (second.name(), second.details()));
    }
    assert_eq!(value(&again)["project-status"]["reason"], "\"<>&");
}

fn list(names: &[&str]) -> ProjectList {
    let projects: Vec<_> =
        names.iter().map(|name| tightwire_json::json!({"name": name, "_last-serial": 1})).collect();
    ProjectList::from_json(tightwire_json::to_vec(&tightwire_json::json!({"projects": projects})).unwrap())
        .unwrap()
}

fn names(list: &ProjectList) -> Vec<&str> {
    list.names().collect()
}

#[test]
fn lists_are_passed_on_unchanged() {
    let upstream = br#" {"projects": [ {"_last-serial": 5, "name" : "Foo.Bar"} ], "meta": {"api-version": "1.1", "x": 1}} "#;
    let list = ProjectList::from_json(upstream.to_vec()).unwrap();
    assert_eq!(list.json()[..], upstream[..]);
    assert_eq!(names(&list), ["Foo.Bar"]);
}

#[test]
fn invalid_lists_are_rejected() {
    let wrong = [
        "",
        "{}",
        r#"{"projects":1}"#,
        r#"{"projects":[{}]}"#,
        r#"{"projects":[{"name":1}]}"#,
        r#"{"projects":[{"name":"../a"}]}"#,
        r#"{"projects":[{"name":"\u0061"}]}"#,
        r#"{"projects":[],"meta":{"api-version":"2.0"}}"#,
    ];
    for document in wrong {
        assert!(ProjectList::from_json(document.as_bytes().to_vec()).unwrap_err().is_page(), "{document}");
    }
}

#[test]
fn projects_without_a_valid_name_are_left_out_of_lists() {
    let upstream =
        br#"{"meta":{"api-version":"1.4"},"projects":[{"name":"../a"},{},{"name":1},{"name":"six","x":2}]}"#;
    let list = ProjectList::from_json(upstream.to_vec()).unwrap();
    assert_eq!((names(&list), list.skipped()), (vec!["six"], 3));
    assert_eq!(list.json()[..], br#"{"meta":{"api-version":"1.0"},"projects":[{"name":"six"}]}"#[..]);
}

#[test]
fn html_lists_are_parsed() {
    let html = br#"<a href="/simple/foo-bar/">Foo.Bar</a><a href="six">six</a><a href="../">up</a><a href="b/?x=1#y">b</a><a>c</a>"#;
    let list = ProjectList::from_html(html).unwrap();
    assert_eq!(names(&list), ["foo-bar", "six", "b"]);
    let json: Value = tightwire_json::from_slice(list.json()).unwrap();
    assert_eq!(json["projects"][2]["name"], "b");
}

#[test]
fn lists_are_merged_by_normalized_names() {
    let merged = ProjectList::merge([&list(&["Zope", "foo.bar", "a"]), &list(&["Foo_Bar", "b"])]).unwrap();
    assert_eq!(names(&merged), ["a", "b", "foo.bar", "Zope"]);
}

#[test]
fn html_lists_round_trip() {
    let long: Vec<String> = (0..3000).map(|number| format!("p{number:05}")).collect();
    let list = list(&long.iter().map(String::as_str).collect::<Vec<_>>());
    let html: Vec<u8> = list.html().flatten().collect();
    assert_eq!(names(&ProjectList::from_html(&html).unwrap()), long);
}

/// Members of a page beside its files. `KEY` repeats the key in the first column.
const PAGE: [(&str, &str); 11] = [
    ("files", r#""KEY":[{"filename":"a-2.whl","url":"https://evil.example.org/a-2.whl"}]"#),
    ("meta", r#""meta":{},"KEY":{}"#),
    ("name", r#""name":"a","KEY":"a""#),
    ("versions", r#""versions":[],"KEY":[]"#),
    ("project-status", r#""project-status":{},"KEY":{}"#),
    ("alternate-locations", r#""alternate-locations":"a","KEY":"a""#),
    ("x", r#""x":"a","KEY":"a""#),
    ("api-version", r#""meta":{"api-version":"1.0","KEY":"1.0"}"#),
    ("_last-serial", r#""meta":{"_last-serial":"1.0","KEY":"1.0"}"#),
    ("x", r#""meta":{"x":"1.0","KEY":"1.0"}"#),
    ("status", r#""project-status":{"status":"1.0","KEY":"1.0"}"#),
];

/// Keys of a file, besides those of its name and URL.
const FILE: &str = "hashes core-metadata dist-info-metadata data-dist-info-metadata provenance requires-python size \
    upload-time yanked gpg-sig x";

/// Spellings of a key that read the same; only the first has no escapes.
fn spellings(key: &str) -> [String; 3] {
    let escaped = |text: &str| -> String { text.bytes().map(|byte| format!("\\u{byte:04x}")).collect() };
    let (front, last) = key.split_at(key.len() - 1);
    [key.to_owned(), front.to_owned() + &escaped(last), escaped(key)]
}

fn parse(document: &str) -> Result<(), Error> {
    let with_metadata = Page::from_json_with_metadata(document.as_bytes().to_vec(), |_, _| Some([7; 32]));
    let page = Page::from_json(document.as_bytes().to_vec());
    assert_eq!(page.is_ok(), with_metadata.is_ok(), "{document}");
    page.map(drop)
}

/// Checks that a document is rejected if `KEY` is this key in any spelling, and accepted if it is another key.
#[track_caller]
fn check(key: &str, document: &str, parse: fn(&str) -> Result<(), Error>) {
    for again in spellings(key) {
        let document = document.replace("KEY", &again);
        assert!(parse(&document).is_err_and(|error| error.is_page()), "{document}");
    }
    let document = document.replace("KEY", "other");
    assert!(parse(&document).is_ok(), "{document}");
}

#[test]
fn duplicate_keys_are_rejected_in_any_spelling() {
    let file = r#"{"filename":"a-1.whl","url":"u"}"#;
    for (key, members) in PAGE {
        check(key, &format!(r#"{{"files":[{file}],{members}}}"#), parse);
        check(key, &format!(r#"{{{members},"files":[{file}]}}"#), parse);
    }
    let of_file = |members: &str| format!(r#"{{"files":[{{"filename":"a-1.whl","url":"u",{members}}}]}}"#);
    for key in ["filename", "url"] {
        check(key, &of_file(r#""KEY":"https://evil.example.org/""#), parse);
    }
    for key in FILE.split(' ') {
        check(key, &of_file(&format!(r#""{key}":"a","KEY":"https://evil.example.org/""#)), parse);
    }
    for object in ["hashes", "core-metadata"] {
        check("sha256", &of_file(&format!(r#""{object}":{{"sha256":"00","KEY":"11"}}"#)), parse);
    }
    let list = |document: &str| ProjectList::from_json(document.as_bytes().to_vec()).map(drop);
    check("projects", r#"{"projects":[],"KEY":[{"name":"a"}]}"#, list);
    check("name", r#"{"projects":[{"name":"a","KEY":"b"}]}"#, list);
}

/// Such a document would be passed on without being rewritten.
#[test]
fn escaped_keys_are_rejected_without_the_plain_key() {
    for document in [r#"{"files":[{"filename":"a","url":"u"}],"x":{"KEY":1}}"#, r#"{"KEY":[]}"#] {
        assert!(parse(&document.replace("KEY", &spellings("files")[1])).is_err(), "{document}");
    }
    for key in FILE.split(' ') {
        let document = format!(r#"{{"files":[{{"filename":"a","url":"u","{}":"b"}}]}}"#, spellings(key)[1]);
        assert!(parse(&document).is_err(), "{document}");
    }
}

#[test]
fn escapes_in_values_are_preserved() {
    let document = r#"{"files":[{"filename":"a-1.whl","url":"u"}],"name":"\u0061","x":{"y":"fil\u0065s"}}"#;
    let page = Page::from_json(document.as_bytes().to_vec()).unwrap();
    assert_eq!(page.name(), "a");
    assert!(std::str::from_utf8(page.json()).unwrap().contains(r#""x":{"y":"fil\u0065s"}"#));
}
