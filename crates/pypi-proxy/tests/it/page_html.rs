//! Project pages in HTML: parsing those of mirrors, and rendering.

use pypi_proxy::{Metadata, Page};

fn page(document: &str) -> Page {
    Page::from_html(document.as_bytes()).unwrap()
}

const SHA: &str = "1e61c37477a1626458e36f7b1d82aa5c9b094fa4802892072e49de9c60c4c926";

#[test]
fn links_of_various_mirrors_are_parsed() {
    let page = page(&format!(
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
    assert_eq!(
        (files[1].sha256, files[1].yanked.as_deref(), files[1].has_signature),
        (None, Some(""), Some(true))
    );
    assert!(matches!(files[1].metadata, Metadata::Present(Some(_))));
    assert_eq!(files[2].metadata, Metadata::Present(None));
    assert_eq!(files[2].provenance.as_deref(), Some("https://example.org/p"));
    let json = tightwire_json::from_slice::<tightwire_json::Value>(page.json()).unwrap();
    assert_eq!(
        (&json["meta"]["api-version"], &json["project-status"]["status"]),
        (&"1.0".into(), &"archived".into())
    );
}

#[test]
fn a_base_makes_urls_absolute() {
    let page = page(
        r#"<base href="https://example.org/x/"><a href="six-1.0.zip">six</a><base href="https://example.org/y/">"#,
    );
    assert_eq!(page.file("six-1.0.zip").unwrap().url(), "https://example.org/x/six-1.0.zip");
}

#[test]
fn unsupported_versions_are_rejected() {
    assert!(
        Page::from_html(br#"<meta name="pypi:repository-version" content="2.0">"#).unwrap_err().is_page()
    );
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
    assert!(
        html.contains(&format!("<a href=\"a-1.0.tar.gz#sha256={SHA}\" data-requires-python=\"")),
        "{html}"
    );
    let again = Page::from_html(html.as_bytes()).unwrap();
    for (first, second) in page.files().zip(again.files()) {
        assert_eq!((first.name(), first.details()), (second.name(), second.details()));
    }
    assert_eq!(
        tightwire_json::from_slice::<tightwire_json::Value>(again.json()).unwrap()["project-status"]["reason"],
        "\"<>&"
    );
}
