//! Documents of the JSON API: the files that rules forbid are removed from them, and upload times are read from them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use tightwire_json::{RawValue, from_slice, from_str, to_raw_value, to_vec};

use crate::Error;
use crate::error::Kind;
use crate::page::FileFacts;

type Files<'d> = Vec<&'d RawValue>;

/// Files of all versions, and those of the newest one.
#[derive(Deserialize)]
struct Uploads {
    releases: Option<BTreeMap<String, Vec<Upload>>>,
    urls: Option<Vec<Upload>>,
}

#[derive(Deserialize)]
struct Upload {
    filename: String,
    digests: Option<Digests>,
    size: Option<u64>,
    upload_time_iso_8601: Option<String>,
    /// In UTC, without an offset.
    upload_time: Option<String>,
}

#[derive(Deserialize)]
struct Digests {
    sha256: Option<String>,
}

/// Returns the names of the files of a project with their lengths and upload times. Files without a SHA-256 or a time are
/// left out. Fails if the document is malformed ([`Error::is_page`]).
pub(crate) fn uploads(document: &[u8]) -> Result<impl Iterator<Item = (String, FileFacts)>, Error> {
    let uploads: Uploads = from_slice(document).map_err(malformed)?;
    let files = uploads.releases.into_iter().flatten().flat_map(|(_, files)| files);
    let files = files.chain(uploads.urls.into_iter().flatten());
    Ok(files.filter_map(|Upload { filename, digests, size, upload_time_iso_8601, upload_time }| {
        let time = upload_time_iso_8601.or_else(|| upload_time.map(|time| time + "Z"))?;
        Some((filename, FileFacts::uploaded(&digests?.sha256?, size, &time)?))
    }))
}

#[cold]
fn malformed(error: tightwire_json::Error) -> Error {
    Error::with(Kind::Page, "a document of the JSON API").caused_by(error)
}

#[derive(Deserialize)]
struct FileName<'d> {
    #[serde(borrow)]
    filename: Cow<'d, str>,
}

/// Removes the files that do not pass the filter from the fields `releases` and `urls`, and versions that lose all
/// their files from `releases`. Returns `None` if nothing is removed. Fails if the document is malformed
/// ([`Error::is_page`]).
pub(crate) fn filtered(document: &[u8], is_listed: impl Fn(&str) -> bool) -> Result<Option<Vec<u8>>, Error> {
    filter(document, is_listed).map_err(malformed)
}

fn filter(document: &[u8], is_listed: impl Fn(&str) -> bool) -> tightwire_json::Result<Option<Vec<u8>>> {
    let mut fields: BTreeMap<String, &RawValue> = from_slice(document)?;
    let urls: Option<Files<'_>> = fields.get("urls").map_or(Ok(None), |urls| from_str(urls.get()))?;
    let releases: Option<BTreeMap<String, Files<'_>>> =
        fields.get("releases").map_or(Ok(None), |releases| from_str(releases.get()))?;
    let mut is_changed = false;
    let mut keep = |files: &mut Files<'_>| -> tightwire_json::Result<bool> {
        let (mut kept, before) = (Vec::with_capacity(files.len()), files.len());
        for file in files.drain(..) {
            let FileName { filename } = from_str(file.get())?;
            if is_listed(&filename) {
                kept.push(file);
            }
        }
        *files = kept;
        is_changed |= files.len() < before;
        Ok(before == 0 || !files.is_empty())
    };
    let urls = match urls {
        Some(mut urls) => {
            keep(&mut urls)?;
            Some(to_raw_value(&urls)?)
        }
        None => None,
    };
    let releases = match releases {
        Some(releases) => {
            let mut kept = BTreeMap::new();
            for (version, mut files) in releases {
                if keep(&mut files)? {
                    kept.insert(version, files);
                }
            }
            Some(to_raw_value(&kept)?)
        }
        None => None,
    };
    if !is_changed {
        return Ok(None);
    }
    for (name, value) in [("urls", &urls), ("releases", &releases)] {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    }
    to_vec(&fields).map(Some)
}

/// Checks that the filter accepts or rejects any document without a panic, and that its result is a document.
#[cfg(fuzzing)]
pub fn check(document: &[u8]) {
    let removes = |file: &str| !file.len().is_multiple_of(2);
    if let Ok(Some(filtered)) = filter(document, |file| !removes(file)) {
        assert!(matches!(filter(&filtered, |file| !removes(file)), Ok(None)), "nothing is left to remove");
    }
}

#[cfg(test)]
mod tests {
    use tightwire_json::{Value, json};

    use super::*;

    #[test]
    fn files_that_are_not_listed_are_removed() {
        let file = |name: &str| json!({"filename": name, "size": 1.50, "url": format!("https://files.example.org/{name}")});
        let document = json!({
            "info": {"version": "2.0", "project_urls": {"D\"oc": null}},
            "last_serial": 7,
            "releases": {"0.1": [], "1.0": [file("a-1.0.zip"), file("b-1.0.zip")], "2.0": [file("b-2.0.zip")]},
            "urls": [file("b-2.0.zip")],
            "vulnerabilities": [{"id": "X-1"}],
        });
        let text = document.to_string();
        assert!(filtered(text.as_bytes(), |_| true).unwrap().is_none());
        let kept = filtered(text.as_bytes(), |file| file.starts_with('a')).unwrap().unwrap();
        let mut expected = document.clone();
        expected["releases"] = json!({"0.1": [], "1.0": [file("a-1.0.zip")]});
        expected["urls"] = json!([]);
        assert_eq!(from_slice::<Value>(&kept).unwrap(), expected);
        // Without releases, as in the document of a version.
        let text = json!({"info": {}, "urls": [file("b-2.0.zip")]}).to_string();
        let kept = filtered(text.as_bytes(), |_| false).unwrap().unwrap();
        assert_eq!(kept, br#"{"info":{},"urls":[]}"#);
    }

    #[test]
    fn upload_times_are_read() {
        let sha256 = "0a".repeat(32);
        let document = json!({
            "releases": {"1.0": [
                {"filename": "a-1.0.zip", "size": 5, "digests": {"sha256": sha256, "md5": "x"},
                    "upload_time": "2024-01-10T00:00:00", "upload_time_iso_8601": "2024-01-10T00:00:00.5Z"},
                {"filename": "a-1.0.exe", "digests": {"md5": "x"}, "upload_time": "2024-01-10T00:00:00"},
                {"filename": "a-1.0.whl", "digests": {"sha256": sha256}},
            ]},
            "urls": [{"filename": "a-2.0.zip", "digests": {"sha256": sha256}, "upload_time": "2024-01-11T00:00:00"}],
        });
        let found: Vec<_> = uploads(document.to_string().as_bytes()).unwrap().collect();
        let expected =
            |name: &str, size, time| (name.to_owned(), FileFacts::uploaded(&sha256, size, time).unwrap());
        assert_eq!(
            found,
            [
                expected("a-1.0.zip", Some(5), "2024-01-10T00:00:00.5Z"),
                expected("a-2.0.zip", None, "2024-01-11T00:00:00Z"),
            ]
        );
        for text in ["", "[]", r#"{"urls":{}}"#, r#"{"releases":{"1.0":[{}]}}"#] {
            assert!(uploads(text.as_bytes()).is_err_and(|error| error.is_page()), "{text}");
        }
    }

    #[test]
    fn malformed_documents_are_rejected() {
        for text in [
            "",
            "[]",
            "{",
            r#"{"urls":{}}"#,
            r#"{"urls":[1]}"#,
            r#"{"urls":[{}]}"#,
            r#"{"releases":[]}"#,
            r#"{"releases":{"1.0":{}}}"#,
            r#"{"releases":{"1.0":[{"filename":1}]}}"#,
        ] {
            assert!(filtered(text.as_bytes(), |_| true).unwrap_err().is_page(), "{text}");
        }
        for text in ["{}", r#"{"urls":null,"releases":null}"#, r#"{"urls":[],"releases":{}}"#] {
            assert!(filtered(text.as_bytes(), |_| true).unwrap().is_none(), "{text}");
            assert_eq!(uploads(text.as_bytes()).unwrap().count(), 0);
        }
    }
}
