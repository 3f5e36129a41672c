//! Properties of all pages, for the tests and the fuzz targets.

use pypi_proxy::{ByteRange, Coding, Form, Page, ProjectList, ProjectName};
use tightwire_json::Value;

/// Checks a document in JSON: if it is accepted, it is valid JSON, and the output equals it except for the URLs.
pub(crate) fn json(document: &[u8]) {
    let with_metadata = Page::from_json_with_metadata(document.to_vec(), |_, _| Some([7; 32]));
    let project = ProjectName::parse("a").unwrap();
    let with_paths = Page::from_json_at(document.to_vec(), &project, "/pypi/simple/a/");
    let pages = [Page::from_json(document.to_vec()), with_metadata, with_paths];
    for (page, (makes_metadata, has_paths)) in
        pages.into_iter().zip([(false, false), (true, false), (false, true)])
    {
        let Ok(page) = page else { continue };
        // Lone surrogates are passed on.
        let (Ok(before), Ok(after)) =
            (tightwire_json::from_slice::<Value>(document), tightwire_json::from_slice::<Value>(page.json()))
        else {
            assert!(
                document.windows(3).any(|window| window.eq_ignore_ascii_case(b"\\ud")) || is_odd(document)
            );
            continue;
        };
        let files = after["files"].as_array().unwrap();
        assert_eq!(files.len(), page.files().len());
        assert_eq!(files.len() + page.skipped(), before["files"].as_array().unwrap().len());
        for (value, file) in files.iter().zip(page.files()) {
            assert_eq!(value["url"], file.link());
            let encoded = file.name().replace(' ', "%20");
            let path = file.link().strip_prefix("../../").filter(|_| has_paths);
            match path {
                // The last segment may be encoded.
                Some(path) => {
                    assert!(!path.split('/').any(|part| part.is_empty() || part.starts_with('.')), "{path}");
                    assert!(path.ends_with(file.name()) || path.contains('%'), "{path}");
                    assert!(!path.contains(['"', '<', '>', '&', '\'', '?', '#', '\\', ' ']), "{path}");
                }
                None => assert_eq!(file.link(), encoded),
            }
            assert_eq!(value["filename"], file.name());
            match value.get("provenance").and_then(Value::as_str) {
                Some(link) => assert_eq!(link.strip_suffix(".provenance"), Some(&*encoded)),
                None => assert_eq!(file.provenance(), None),
            }
            assert!(value.get("hashes").is_some());
            let is_known = file.name().ends_with(".whl") && file.details().sha256.is_some();
            assert!(!makes_metadata || !is_known || value.as_object().unwrap().len() > 3);
        }
        for (key, value) in before.as_object().unwrap() {
            if !matches!(key.as_str(), "files" | "meta") {
                assert_eq!(after.get(key), Some(value), "{key}");
            }
        }
        html(&page.to_html());
    }
    if let Ok(list) = ProjectList::from_json(document.to_vec()) {
        let html: Vec<u8> = list.html().flatten().collect();
        assert_eq!(ProjectList::from_html(&html).unwrap().names().len(), list.names().len());
    }
}

/// Returns whether the document has numbers out of range, or is nested more deeply than the reference parser allows.
fn is_odd(document: &[u8]) -> bool {
    document.iter().any(|byte| matches!(byte, b'e' | b'E')) || document.len() > 200
}

/// Checks a document in HTML: the rendered page parses to the same content.
pub(crate) fn html(document: &[u8]) {
    if let Ok(page) = Page::from_html(document) {
        let again = Page::from_html(&page.to_html()).unwrap();
        assert_eq!(page.files().len(), again.files().len());
        assert_eq!(page.tracks(), again.tracks());
        assert_eq!(page.alternate_locations(), again.alternate_locations());
        for (first, second) in page.files().zip(again.files()) {
            assert_eq!((first.name(), first.details()), (second.name(), second.details()));
        }
    }
    let _ = ProjectList::from_html(document);
}

/// Checks the parsers of request headers.
pub(crate) fn headers(value: &str, len: u64) {
    if let ByteRange::Part { start, end } = ByteRange::parse(value, len) {
        assert!(start < end && end <= len);
    }
    let _ = (Form::from_accept(value), Form::from_query(value), Coding::from_accept(value));
}
