//! Writes project pages as JSON and HTML.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write as _;

use bytes::Bytes;

use super::links::Links;
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
    /// [`File::url`](super::File::url) of the merged page is the link of the file on its page.
    ///
    /// # Errors
    ///
    /// Fails if the page gets larger than 2 GiB ([`Error::is_limit`]).
    pub fn merge<'p>(pages: impl IntoIterator<Item = &'p Self>) -> Result<Self, Error> {
        Self::merge_files(&pages.into_iter().collect::<Vec<_>>(), |_| true)
    }

    /// Like [`Page::merge`], but only with the files that pass the filter.
    pub(crate) fn merge_files(
        pages: &[&Self],
        is_included: impl Fn(&File<'_>) -> bool,
    ) -> Result<Self, Error> {
        let mut merged = match pages.first() {
            Some(first) => (*first).clone(),
            None => Self::empty(),
        };
        merged.api_version = pages.iter().map(|page| page.api_version).min().unwrap_or(ApiVersion::MIN);
        // Serials of different indexes can't be compared.
        merged.serial = merged.serial.filter(|_| pages.len() == 1);
        merged.versions = union(pages);
        let mut names = HashSet::new();
        let mut out = Vec::new();
        let files = pages.iter().flat_map(|page| page.files());
        write_files(&mut out, files.filter(|file| is_included(file) && names.insert(file.name())));
        merged.write_end(&mut out);
        Self::parse(out, Links::Unchanged, &json::NoFacts)
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
        for (name, urls) in
            [("pypi:tracks", self.tracks()), ("pypi:alternate-locations", self.alternate_locations())]
        {
            urls.iter().for_each(|url| meta(&mut out, name, Some(url)));
        }
        out.extend_from_slice(b"<title>Links for ");
        escape(&mut out, &self.name);
        out.extend_from_slice(b"</title>\n</head>\n<body>\n<h1>Links for ");
        escape(&mut out, &self.name);
        out.extend_from_slice(b"</h1>\n");
        for file in self.files() {
            let details = file.details();
            // Names and links need no escaping, neither in HTML nor in a URL.
            let name = file.name();
            out.extend_from_slice(b"<a href=\"");
            out.extend_from_slice(file.link().as_bytes());
            if let Some(sha256) = details.sha256 {
                out.extend_from_slice(b"#sha256=");
                crate::hash::append_hex(&mut out, &sha256);
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

    /// Returns the status of the project as the index spells it, and its reason (PEP 792).
    pub fn status(&self) -> (Option<String>, Option<String>) {
        let (mut status, mut reason) = (None, None);
        let other_fields = [b"{", self.other_fields.strip_prefix(b",").unwrap_or_default(), b"}"].concat();
        // The syntax was checked when the page was parsed.
        let _ = Scanner::new(&other_fields).object(|scanner, key| {
            let value = scanner.raw()?;
            if key == b"project-status" {
                let (text, why) = json::status_and_reason(value);
                (status, reason) = (text.map(Cow::into_owned), why.map(Cow::into_owned));
            }
            Ok(())
        });
        (status, reason)
    }
}

/// Unites the versions of all pages. Returns `None` unless every page has versions.
fn union(pages: &[&Page]) -> Option<Vec<u8>> {
    let mut known = HashSet::new();
    let mut out = Vec::new();
    for page in pages {
        append_items(&mut out, page.versions.as_deref()?, |version| known.insert(version.to_vec()));
    }
    Some(out)
}

/// Appends the items of a JSON array that pass the filter.
pub(super) fn append_items(out: &mut Vec<u8>, items: &[u8], mut is_included: impl FnMut(&[u8]) -> bool) {
    let list = [b"[", items, b"]"].concat();
    // The syntax was checked when the page was parsed.
    let _ = Scanner::new(&list).array(|scanner| {
        let item = scanner.raw()?;
        if is_included(item) {
            if !out.is_empty() {
                out.push(b',');
            }
            out.extend_from_slice(item);
        }
        Ok(())
    });
}

/// Writes the start of a JSON page with the elements of its array `files`. The caller writes the end.
pub(super) fn write_files<'p>(out: &mut Vec<u8>, files: impl Iterator<Item = File<'p>>) {
    out.extend_from_slice(json::START);
    for (index, file) in files.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(file.object());
    }
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
                    crate::hash::append_hex(out, sha256);
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
