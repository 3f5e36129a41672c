//! Removes files from a page.

use std::collections::HashSet;

use super::json::NoFacts;
use super::links::Links;
use super::render::{append_items, write_files};
use super::{File, Page};
use crate::Error;
use crate::file_name;

impl Page {
    /// Returns the page with the files that pass the filter, and without versions that have no such file. Returns
    /// `None` if all files pass.
    ///
    /// [`File::url`] of the new page is the link of the file. Fails if the page gets larger than 2 GiB
    /// ([`Error::is_limit`]).
    pub(crate) fn filtered(
        &self,
        mut is_included: impl FnMut(File<'_>) -> bool,
    ) -> Result<Option<Self>, Error> {
        let (included, excluded): (Vec<_>, Vec<_>) = self.files().partition(|file| is_included(*file));
        if excluded.is_empty() {
            return Ok(None);
        }
        let mut lost_versions: HashSet<_> = excluded.iter().filter_map(|file| version(file.name())).collect();
        for version in included.iter().filter_map(|file| version(file.name())) {
            lost_versions.remove(&version);
        }
        let envelope = Self {
            api_version: self.api_version,
            serial: self.serial,
            status: self.status,
            meta: self.meta.clone(),
            other_fields: self.other_fields.clone(),
            name: self.name.clone(),
            versions: self.versions.as_deref().map(|versions| without_versions(versions, &lost_versions)),
            ..Self::empty()
        };
        let mut out = Vec::with_capacity(self.json.len());
        write_files(&mut out, included.iter().copied());
        envelope.write_end(&mut out);
        Self::parse(out, Links::Unchanged, &NoFacts).map(Some)
    }
}

/// Removes versions from the items of a JSON array.
fn without_versions(versions: &[u8], lost_versions: &HashSet<String>) -> Vec<u8> {
    let mut out = Vec::with_capacity(versions.len());
    append_items(&mut out, versions, |version| {
        let text = std::str::from_utf8(version).unwrap_or_default().trim_matches('"');
        !lost_versions.contains(&text.to_ascii_lowercase())
    });
    out
}

/// Returns the version in a file name, in lower case. If the page spells it differently, the version stays on the page,
/// which the standard allows.
fn version(file: &str) -> Option<String> {
    file_name::version_text(file).map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_parsed_from_file_names() {
        for (file, expected) in [
            ("demo-1.0-py3-none-any.whl", Some("1.0")),
            ("demo_x-1.0+Local.1-2-cp39-abi3-linux.whl", Some("1.0+local.1")),
            ("demo-x-1.0RC1.tar.gz", Some("1.0rc1")),
            ("demo-1!2.0.zip", Some("1!2.0")),
            ("demo-1.0.exe", None),
            ("demo.tar.gz", None),
        ] {
            assert_eq!(version(file).as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn other_fields_are_preserved() {
        let document = br#"{"meta":{"api-version":"1.4","_last-serial":7,"x":1},"name":"Demo","files":[
            {"filename":"demo-1.0.tar.gz","url":"https://files.example.org/demo-1.0.tar.gz","hashes":{},"x":[1]},
            {"filename":"demo-2.0.tar.gz","url":"../2","hashes":{}}],
            "versions":["1.0","2.0"],"project-status":{"status":"active"}}"#;
        let page = Page::from_json(document.to_vec()).unwrap();
        assert!(page.filtered(|_| true).unwrap().is_none());
        let page = page.filtered(|file| file.name().contains("1.0")).unwrap().unwrap();
        assert_eq!((page.name(), page.last_serial(), page.files().len()), ("Demo", Some(7), 1));
        let json: tightwire_json::Value = tightwire_json::from_slice(page.json()).unwrap();
        let expected = tightwire_json::json!({
            "meta": {"api-version": "1.4", "_last-serial": 7, "x": 1}, "name": "Demo", "versions": ["1.0"],
            "files": [{"filename": "demo-1.0.tar.gz", "url": "demo-1.0.tar.gz", "hashes": {}, "x": [1]}],
            "project-status": {"status": "active"},
        });
        assert_eq!(json, expected);
        let nothing = page.filtered(|_| false).unwrap().unwrap();
        let json: tightwire_json::Value = tightwire_json::from_slice(nothing.json()).unwrap();
        assert_eq!(
            (&json["files"], &json["versions"]),
            (&tightwire_json::json!([]), &tightwire_json::json!([]))
        );
    }
}
