//! Parses arbitrary text as the path of a request for a file, and as the URL of a file on a page. Each link on a page must
//! lead to the file.
#![no_main]

use pypi_proxy::serve::file_name_of_path;
use pypi_proxy::{Page, ProjectName};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Some(name) = file_name_of_path(text) {
        let path = text.trim_start_matches('/');
        assert!(!path.contains("//") && !path.contains("/.") && !path.starts_with('.') && !name.contains('/'));
    }
    let (name, url) = text.split_once('\n').unwrap_or(("a-1.zip", text));
    let page = tightwire_json::json!({"files": [{"filename": name, "url": url}]}).to_string();
    let project = ProjectName::parse("a").unwrap();
    for place in ["/simple/a/", "/pypi/simple/a/", "/a/"] {
        let page = Page::from_json_at(page.clone().into_bytes(), &project, place).unwrap();
        for file in page.files() {
            let Some(path) = file.link().strip_prefix("../..") else {
                assert_eq!(file.link(), file.name());
                continue;
            };
            assert_eq!(file_name_of_path(path).as_deref(), Some(file.name()));
        }
    }
});
