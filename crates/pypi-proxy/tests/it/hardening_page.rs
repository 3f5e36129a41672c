//! Pages of a hostile index that JSON parsers could interpret differently.

use pypi_proxy::{Page, ProjectList};

const FILE: &str = r#"{"filename":"a-1.whl","url":"u","hashes":{}}"#;
const EVIL: &str = r#"{"filename":"a-2.whl","url":"https://evil.example.org/a-2.whl","hashes":{}}"#;

/// Writes a key with an escape, so that it reads the same.
fn escaped(key: &str) -> String {
    let (front, last) = key.split_at(key.len() - 1);
    format!("{front}\\u{:04x}", last.as_bytes()[0])
}

#[track_caller]
fn refused(document: &str) {
    for page in [
        Page::from_json(document.as_bytes().to_vec()),
        Page::from_json_with_metadata(document.as_bytes().to_vec(), |_, _| Some([7; 32])),
    ] {
        assert!(page.is_err_and(|error| error.is_page()), "{document}");
    }
}

#[test]
fn duplicate_file_lists_are_rejected_in_any_spelling() {
    for key in
        ["files".to_owned(), escaped("files"), r"\u0066iles".into(), r"\u0066\u0069\u006c\u0065\u0073".into()]
    {
        refused(&format!(r#"{{"files":[{FILE}],"{key}":[{EVIL}]}}"#));
        refused(&format!(r#"{{"{key}":[{EVIL}],"files":[{FILE}]}}"#));
    }
    // Also without the plain key: such a document would be passed on without being rewritten.
    refused(&format!(r#"{{"{}":[{EVIL}]}}"#, escaped("files")));
    refused(&format!(r#"{{"meta":{{}},"files":[{FILE}],"x":{{"{}":1}}}}"#, escaped("files")));
}

#[test]
fn duplicate_keys_of_a_page_are_rejected() {
    let page = |more: &str| format!(r#"{{"files":[{FILE}]{more}}}"#);
    for key in ["meta", "name", "versions", "project-status", "alternate-locations", "x"] {
        let value = match key {
            "meta" | "project-status" => "{}",
            "versions" => "[]",
            _ => "\"a\"",
        };
        let one = page(&format!(r#","{key}":{value}"#));
        assert!(Page::from_json(one.clone().into_bytes()).is_ok(), "{one}");
        for again in [key.to_owned(), escaped(key)] {
            refused(&page(&format!(r#","{key}":{value},"{again}":{value}"#)));
        }
    }
    for (object, key) in
        [("meta", "api-version"), ("meta", "_last-serial"), ("meta", "x"), ("project-status", "status")]
    {
        for again in [key.to_owned(), escaped(key)] {
            refused(&page(&format!(r#","{object}":{{"{key}":"1.0","{again}":"1.0"}}"#)));
        }
    }
}

#[test]
fn duplicate_keys_of_a_file_are_rejected() {
    let file = |more: &str| format!(r#"{{"files":[{{"filename":"a-1.whl","url":"u"{more}}}]}}"#);
    for key in [
        "filename",
        "url",
        "hashes",
        "core-metadata",
        "dist-info-metadata",
        "data-dist-info-metadata",
        "provenance",
        "requires-python",
        "size",
        "upload-time",
        "yanked",
        "gpg-sig",
        "x",
    ] {
        let first =
            if matches!(key, "filename" | "url") { String::new() } else { format!(r#","{key}":"a""#) };
        assert!(Page::from_json(file(&first).into_bytes()).is_ok(), "{key}");
        for again in [key.to_owned(), escaped(key)] {
            refused(&file(&format!(r#"{first},"{again}":"https://evil.example.org/""#)));
        }
        refused(&file(&format!(r#","{}":"https://evil.example.org/""#, escaped(key))));
    }
    for object in ["hashes", "core-metadata"] {
        for again in ["sha256".to_owned(), escaped("sha256")] {
            refused(&file(&format!(r#","{object}":{{"sha256":"00","{again}":"11"}}"#)));
        }
    }
}

#[test]
fn duplicate_keys_of_a_list_are_rejected() {
    for again in ["projects".to_owned(), escaped("projects")] {
        let document = format!(r#"{{"projects":[],"{again}":[{{"name":"a"}}]}}"#);
        assert!(ProjectList::from_json(document.into_bytes()).unwrap_err().is_page());
    }
    for again in ["name".to_owned(), escaped("name")] {
        let document = format!(r#"{{"projects":[{{"name":"a","{again}":"b"}}]}}"#);
        assert!(ProjectList::from_json(document.into_bytes()).unwrap_err().is_page());
    }
}

#[test]
fn escapes_in_values_are_preserved() {
    let document = format!(r#"{{"files":[{FILE}],"name":"\u0061","x":{{"y":"fil\u0065s"}}}}"#);
    let page = Page::from_json(document.into_bytes()).unwrap();
    assert_eq!(page.name(), "a");
    assert!(std::str::from_utf8(page.json()).unwrap().contains(r#""x":{"y":"fil\u0065s"}"#));
}
