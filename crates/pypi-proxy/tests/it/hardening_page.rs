//! Pages of a hostile index that JSON parsers could interpret differently.

use pypi_proxy::{Error, Page, ProjectList};

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
const FILE: [&str; 11] = [
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
];

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
    for key in FILE {
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
    for key in FILE {
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
