//! Writes project pages as JSON and HTML.

use std::collections::HashSet;
use std::io::Write as _;

use bytes::Bytes;

use super::scan::Scanner;
use super::{ApiVersion, Details, File, Metadata, Page, json};
use crate::Error;

impl Page {
    /// Returns the page in the format `application/vnd.pypi.simple.v1+json`.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    /// Appends everything after the list of files to the JSON document.
    pub(super) fn write_end(&self, out: &mut Vec<u8>) {
        // Writing to a vector can't fail.
        let _ = write!(out, r#"],"meta":{{"api-version":"{}""#, self.api_version);
        if let Some(serial) = self.serial {
            let _ = write!(out, r#","_last-serial":{serial}"#);
        }
        out.extend_from_slice(&self.meta);
        out.extend_from_slice(b"},\"name\":");
        let _ = ::tightwire_json::to_buf(out, &self.name);
        out.extend_from_slice(&self.other_fields);
        if let Some(versions) = &self.versions {
            out.extend_from_slice(b",\"versions\":[");
            out.extend_from_slice(versions);
            out.push(b']');
        }
        out.push(b'}');
    }

    /// Merges the pages of several indexes. If several have a file of the same name, the first one wins; versions are
    /// united; all other fields are those of the first page.
    ///
    /// [`File::url`](super::File::url) of the merged page is the bare file name.
    ///
    /// # Errors
    ///
    /// Fails if the page gets larger than 2 GiB ([`Error::is_limit`]).
    pub fn merge<'p>(pages: impl IntoIterator<Item = &'p Self>) -> Result<Self, Error> {
        let pages: Vec<_> = pages.into_iter().collect();
        let mut merged = match pages.first() {
            Some(first) => (*first).clone(),
            None => Self::empty(),
        };
        merged.api_version = pages.iter().map(|page| page.api_version).min().unwrap_or(ApiVersion::MIN);
        // Serials of different indexes can't be compared.
        merged.serial = merged.serial.filter(|_| pages.len() == 1);
        merged.versions = union(&pages);
        let mut names = HashSet::new();
        let mut out = json::START.to_vec();
        for file in pages.iter().flat_map(|page| page.files()) {
            if names.insert(file.name()) {
                if names.len() > 1 {
                    out.push(b',');
                }
                out.extend_from_slice(file.object());
            }
        }
        merged.write_end(&mut out);
        Self::from_json(out)
    }

    /// Returns the page in the format `application/vnd.pypi.simple.v1+html`. That format is frozen: later fields exist
    /// in JSON only.
    pub fn to_html(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.json.len());
        out.extend_from_slice(b"<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n");
        let _ = writeln!(out, "<meta name=\"pypi:repository-version\" content=\"{}\">", self.api_version);
        let (status, reason) = self.status();
        meta(&mut out, "pypi:project-status", status.as_deref());
        meta(&mut out, "pypi:project-status-reason", reason.as_deref());
        out.extend_from_slice(b"<title>Links for ");
        escape(&mut out, &self.name);
        out.extend_from_slice(b"</title>\n</head>\n<body>\n<h1>Links for ");
        escape(&mut out, &self.name);
        out.extend_from_slice(b"</h1>\n");
        for file in self.files() {
            let details = file.details();
            // File names need no escaping, neither in HTML nor in a URL.
            let name = file.name();
            out.extend_from_slice(b"<a href=\"");
            out.extend_from_slice(name.as_bytes());
            if let Some(sha256) = details.sha256 {
                out.extend_from_slice(b"#sha256=");
                super::file::hex(&mut out, &sha256);
            } else if let Some(checksum) = details.checksum {
                let _ = write!(out, "#{checksum}");
            }
            out.push(b'"');
            attributes(&mut out, &details);
            out.push(b'>');
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"</a><br>\n");
        }
        out.extend_from_slice(b"</body>\n</html>\n");
        out
    }

    /// Parses `project-status`: the status and its reason.
    fn status(&self) -> (Option<String>, Option<String>) {
        let (mut status, mut reason) = (None, None);
        let other_fields = [b"{", self.other_fields.strip_prefix(b",").unwrap_or_default(), b"}"].concat();
        // The syntax was checked when the page was parsed.
        let _ = Scanner::new(&other_fields).object(|scanner, key| {
            if key != b"project-status" || scanner.peek() != Some(b'{') {
                return scanner.pass();
            }
            scanner.object(|scanner, key| {
                match (key, scanner.peek()) {
                    (b"status", Some(b'"')) => status = Some(scanner.text()?.into_owned()),
                    (b"reason", Some(b'"')) => reason = Some(scanner.text()?.into_owned()),
                    _ => scanner.pass()?,
                }
                Ok(())
            })
        });
        (status, reason)
    }
}

/// Unites the versions of all pages. Returns `None` unless every page has versions.
fn union(pages: &[&Page]) -> Option<Vec<u8>> {
    let mut known = HashSet::new();
    let mut out = Vec::new();
    for page in pages {
        let list = [b"[", page.versions.as_deref()?, b"]"].concat();
        // The syntax was checked when the page was parsed.
        let _ = Scanner::new(&list).array(|scanner| {
            let version = scanner.raw()?;
            if known.insert(version.to_vec()) {
                if !out.is_empty() {
                    out.push(b',');
                }
                out.extend_from_slice(version);
            }
            Ok(())
        });
    }
    Some(out)
}

fn attributes(out: &mut Vec<u8>, details: &Details<'_>) {
    if let Some(versions) = &details.requires_python {
        attribute(out, "data-requires-python", versions);
    }
    let sha256 = match details.metadata {
        Metadata::Present(sha256) => Some(sha256),
        Metadata::Extracted(sha256) => Some(Some(sha256)),
        Metadata::Unknown | Metadata::Absent => None,
    };
    if let Some(sha256) = sha256 {
        for name in ["data-dist-info-metadata", "data-core-metadata"] {
            let _ = write!(out, " {name}=\"");
            match (&sha256, &details.metadata_checksum) {
                (Some(sha256), _) => {
                    out.extend_from_slice(b"sha256=");
                    super::file::hex(out, sha256);
                }
                (None, Some(checksum)) => {
                    let _ = write!(out, "{checksum}");
                }
                (None, None) => out.extend_from_slice(b"true"),
            }
            out.push(b'"');
        }
    }
    if let Some(reason) = &details.yanked {
        attribute(out, "data-yanked", reason);
    }
    if let Some(has_signature) = details.has_signature {
        attribute(out, "data-gpg-sig", if has_signature { "true" } else { "false" });
    }
    if let Some(url) = &details.provenance {
        attribute(out, "data-provenance", url);
    }
}

fn attribute(out: &mut Vec<u8>, name: &str, value: &str) {
    let _ = write!(out, " {name}=\"");
    escape(out, value);
    out.push(b'"');
}

fn meta(out: &mut Vec<u8>, name: &str, content: Option<&str>) {
    if let Some(content) = content {
        let _ = write!(out, "<meta name=\"{name}\" content=\"");
        escape(out, content);
        out.extend_from_slice(b"\">\n");
    }
}

/// Escapes text and attribute values.
fn escape(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\'' => out.extend_from_slice(b"&#x27;"),
            byte => out.push(byte),
        }
    }
}

impl Page {
    /// Returns the page with the files that pass the filter, and without versions that have no such file. Returns
    /// `None` if all files pass.
    ///
    /// [`File::url`] of the new page is the bare file name.
    ///
    /// # Errors
    ///
    /// Fails if the page gets larger than 2 GiB ([`Error::is_limit`]).
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
            meta: self.meta.clone(),
            other_fields: self.other_fields.clone(),
            name: self.name.clone(),
            versions: self.versions.as_deref().map(|versions| without_versions(versions, &lost_versions)),
            ..Self::empty()
        };
        let mut out = Vec::with_capacity(self.json.len());
        out.extend_from_slice(json::START);
        for (index, file) in included.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(file.object());
        }
        envelope.write_end(&mut out);
        Self::from_json(out).map(Some)
    }
}

/// Removes versions from the items of a JSON array.
fn without_versions(versions: &[u8], lost_versions: &HashSet<String>) -> Vec<u8> {
    let list = [b"[", versions, b"]"].concat();
    let mut out = Vec::with_capacity(versions.len());
    // The syntax was checked when the page was parsed.
    let _ = Scanner::new(&list).array(|scanner| {
        let version = scanner.raw()?;
        let text = std::str::from_utf8(version).unwrap_or_default().trim_matches('"');
        if !lost_versions.contains(&text.to_ascii_lowercase()) {
            if !out.is_empty() {
                out.push(b',');
            }
            out.extend_from_slice(version);
        }
        Ok(())
    });
    out
}

/// Parses the version from a file name, in lower case. If the page spells it differently, the version stays on the
/// page, which the standard allows.
fn version(file: &str) -> Option<String> {
    let version = if file.ends_with(".whl") || file.ends_with(".egg") {
        file.split('-').nth(1)?
    } else {
        let ends = [".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz", ".tar"];
        let stem = ends.iter().find_map(|end| file.strip_suffix(end))?;
        stem.rsplit_once('-')?.1
    };
    Some(version.to_ascii_lowercase())
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
        let json: serde_json::Value = serde_json::from_slice(page.json()).unwrap();
        let expected = serde_json::json!({
            "meta": {"api-version": "1.4", "_last-serial": 7, "x": 1}, "name": "Demo", "versions": ["1.0"],
            "files": [{"filename": "demo-1.0.tar.gz", "url": "demo-1.0.tar.gz", "hashes": {}, "x": [1]}],
            "project-status": {"status": "active"},
        });
        assert_eq!(json, expected);
        let nothing = page.filtered(|_| false).unwrap().unwrap();
        let json: serde_json::Value = serde_json::from_slice(nothing.json()).unwrap();
        assert_eq!((&json["files"], &json["versions"]), (&serde_json::json!([]), &serde_json::json!([])));
    }
}
