//! Parses project pages in JSON.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;

use super::evidence::Evidence;
use super::file::{FileRecord, range};
use super::links::{Link, Links};
use super::scan::{Scanner, number};
use super::{ApiVersion, Page, ProjectStatus};
use crate::error::Kind;
use crate::file_name;
use crate::name::is_file_name;
use crate::{Error, ProjectName};

/// Start of the document for clients. Every document with a list of files has at least as many bytes before the first
/// file, so the document can be rewritten in place.
pub(super) const START: &[u8] = b"{\"files\":[";
/// Inserted into files without hashes. PEP 691 requires the field, and installers reject a page without it.
const NO_HASHES: &[u8] = b",\"hashes\":{}";
/// Maximum length in bytes of a document whose files are linked by their paths. Rewriting it may triple its length, and
/// positions have 32 bits.
const MAX_LINKED: usize = 1 << 30;
/// Appended to the name of a file whose provenance is requested.
const PROVENANCE: &str = ".provenance";

/// Facts about the files of a page, for fields that the index does not send.
pub(crate) trait Facts {
    /// Returns the SHA-256 of the metadata of a wheel with this name and SHA-256.
    fn metadata(&self, _wheel: &str, _sha256: &[u8; 32]) -> Option<[u8; 32]> {
        None
    }

    /// Returns whether the upload time of any file is known.
    fn has_times(&self) -> bool {
        false
    }

    /// Returns the upload time of a file with this name and SHA-256.
    fn time(&self, _file: &str, _sha256: &[u8; 32]) -> Option<&str> {
        None
    }
}

/// No facts.
pub(crate) struct NoFacts;

impl Facts for NoFacts {}

/// Function that returns the metadata of wheels.
struct MetadataFn<F>(F);

impl<F: Fn(&str, &[u8; 32]) -> Option<[u8; 32]>> Facts for MetadataFn<F> {
    fn metadata(&self, wheel: &str, sha256: &[u8; 32]) -> Option<[u8; 32]> {
        (self.0)(wheel, sha256)
    }
}

impl Page {
    /// Parses a page in the format `application/vnd.pypi.simple.v1+json`.
    ///
    /// Files with an invalid name or URL are [skipped](Self::skipped). Unknown fields are preserved. The page is
    /// rewritten in the memory of `document`.
    ///
    /// # Errors
    ///
    /// Fails if the document is not JSON in UTF-8, has an API version other than 1, has a file without a name or URL,
    /// or has an object with duplicate keys or a key with an escape, which clients could interpret differently
    /// ([`Error::is_page`]).
    pub fn from_json(document: Vec<u8>) -> Result<Self, Error> {
        Self::parse(document, Links::Names, &NoFacts)
    }

    /// Like [`Page::from_json`], but links files to their paths at the index, relative to the root of the proxy.
    ///
    /// `page` is the path of the page at the index; it ends with a slash. A file is linked by its name as in
    /// [`Page::from_json`] if its URL has a query, if its path has dot segments, empty segments or unusual characters,
    /// if it is below `/simple/` or another endpoint of the proxy, or if it does not end with the name of a file of this
    /// project.
    ///
    /// ```
    /// use pypi_proxy::{Page, ProjectName};
    ///
    /// let upstream = br#"{"files": [{"filename": "six-1.16.0.tar.gz", "hashes": {},
    ///     "url": "https://files.example.org/packages/ab/cd/six-1.16.0.tar.gz"}]}"#;
    /// let page = Page::from_json_at(upstream.to_vec(), &ProjectName::parse("six")?, "/simple/six/")?;
    /// let file = page.file("six-1.16.0.tar.gz").unwrap();
    /// assert_eq!(file.link(), "../../packages/ab/cd/six-1.16.0.tar.gz");
    /// # Ok::<(), pypi_proxy::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`Page::from_json`], or if it is not the page of this project: it has no file of the project, and neither
    /// its name nor an API version.
    pub fn from_json_at(document: Vec<u8>, project: &ProjectName, page: &str) -> Result<Self, Error> {
        Self::parse(document, Links::Paths { project, page, base: None }, &NoFacts)
    }

    /// Like [`Page::from_json`], with metadata that was extracted from wheels.
    ///
    /// Calls `metadata` with the name and SHA-256 of each wheel whose metadata the upstream does not mention. The
    /// returned SHA-256 is added to the page as [`Metadata::Extracted`](super::Metadata::Extracted).
    ///
    /// # Errors
    ///
    /// Same as [`Page::from_json`].
    pub fn from_json_with_metadata(
        document: Vec<u8>,
        metadata: impl Fn(&str, &[u8; 32]) -> Option<[u8; 32]>,
    ) -> Result<Self, Error> {
        Self::parse(document, Links::Names, &MetadataFn(metadata))
    }

    pub(crate) fn parse(document: Vec<u8>, mut links: Links<'_>, facts: &impl Facts) -> Result<Self, Error> {
        check(&document)?;
        let has_times = facts.has_times();
        let project = if let Links::Paths { project, .. } = links { Some(project) } else { None };
        if matches!(links, Links::Paths { .. }) && document.len() > MAX_LINKED {
            links = Links::Names;
        }
        let mut page = Self::empty();
        let mut files = Vec::new();
        let mut scanner = Scanner::new(&document);
        let mut has_files = false;
        let mut evidence = Evidence::default();
        scanner.object(|scanner, key| match key {
            b"meta" => page.read_meta(scanner, &mut evidence),
            b"name" => {
                page.name = scanner.text()?.into_owned();
                Ok(())
            }
            b"versions" => {
                let list = scanner.raw()?.strip_prefix(b"[").and_then(|list| list.strip_suffix(b"]"));
                page.versions = Some(list.ok_or_else(|| scanner.error("not a list"))?.to_vec());
                Ok(())
            }
            b"files" => {
                has_files = true;
                scanner.array(|scanner| {
                    files.extend(page.read_file(scanner, links, facts, has_times)?);
                    // A redirect may have lengthened the URLs.
                    check_len(page.texts.len())
                })
            }
            b"project-status" => {
                let value = scanner.raw()?;
                let (status, _) = status_and_reason(value);
                page.status = status.map(|status| ProjectStatus::parse(&status)).unwrap_or_default();
                append_value(&mut page.other_fields, key, value);
                Ok(())
            }
            _ => append_field(&mut page.other_fields, key, scanner),
        })?;
        scanner.end()?;
        if !has_files {
            return Err(scanner.error("the list of files is missing"));
        }
        if let Some(project) = project {
            evidence.name = Some(std::mem::take(&mut page.name)).filter(|name| !name.is_empty());
            let names = files.iter().map(|file| &page.texts[range(&file.name)]);
            evidence.check(Some(project), names.map(|name| file_name::belongs(name, project.as_str())))?;
            project.as_str().clone_into(&mut page.name);
        }
        page.rewrite(document, links.page(), &files)?;
        Ok(page)
    }

    pub(crate) fn empty() -> Self {
        Self {
            api_version: ApiVersion::MIN,
            serial: None,
            status: ProjectStatus::default(),
            meta: Vec::new(),
            other_fields: Vec::new(),
            name: String::new(),
            versions: None,
            files: Vec::new(),
            json: Bytes::new(),
            texts: String::new(),
            skipped: 0,
            sorted: OnceLock::new(),
        }
    }

    fn read_meta(&mut self, scanner: &mut Scanner<'_>, evidence: &mut Evidence) -> Result<(), Error> {
        scanner.object(|scanner, key| match key {
            b"api-version" => {
                self.api_version = version(scanner)?;
                evidence.has_version = true;
                Ok(())
            }
            b"_last-serial" => {
                self.serial = number(scanner.raw()?);
                Ok(())
            }
            _ => append_field(&mut self.meta, key, scanner),
        })
    }

    /// Parses a file. Returns `None` if its name or URL is invalid.
    fn read_file(
        &mut self,
        scanner: &mut Scanner<'_>,
        links: Links<'_>,
        facts: &impl Facts,
        has_times: bool,
    ) -> Result<Option<ParsedFile>, Error> {
        scanner.peek();
        let start = scanner.position();
        let (mut name, mut url) = (None, None);
        let mut url_value = 0..0;
        let mut provenance_value = None;
        let mut hashes = None;
        // Without known times, no key is compared.
        let (mut has_metadata, mut has_time) = (false, !has_times);
        scanner.object(|scanner, key| {
            match key {
                b"filename" => name = Some(scanner.text()?),
                b"url" => {
                    scanner.peek();
                    let from = scanner.position();
                    url = Some(scanner.text()?);
                    url_value = from..scanner.position();
                }
                b"hashes" => hashes = Some(scanner.value()?),
                b"provenance" if scanner.peek() == Some(b'"') => provenance_value = Some(scanner.value()?),
                _ => {
                    // `core-metadata`, or a name that PEP 714 replaces.
                    has_metadata = has_metadata || key.ends_with(b"-metadata");
                    has_time = has_time || key == b"upload-time";
                    scanner.value()?;
                }
            }
            Ok(())
        })?;
        let (Some(name), Some(url)) = (name, url) else {
            return Err(scanner.error("a file without a name or URL"));
        };
        let url = if url.contains(' ') { url.trim().replace(' ', "%20").into() } else { url };
        let url = links.resolve(url);
        if !is_file_name(&name) || !is_url(&url) {
            self.skipped += 1;
            return Ok(None);
        }
        let lacks_metadata = !has_metadata && name.ends_with(".whl");
        let mut inserted = if hashes.is_some() { Vec::new() } else { NO_HASHES.to_vec() };
        let mut is_extracted = false;
        if lacks_metadata || !has_time {
            // Facts have the hash of their file: another file may have had this name.
            let hashes = hashes.and_then(|place| scanner.slice(&place));
            if let Some(sha256) = hashes.and_then(|hashes| super::file::sha256(hashes.as_bytes())) {
                if let Some(metadata) = facts.metadata(&name, &sha256).filter(|_| lacks_metadata) {
                    inserted.extend_from_slice(b",\"core-metadata\":{\"sha256\":\"");
                    crate::hash::append_hex(&mut inserted, &metadata);
                    inserted.extend_from_slice(b"\"}");
                    is_extracted = true;
                }
                if let Some(time) = facts.time(&name, &sha256).filter(|_| !has_time) {
                    append_value(&mut inserted, b"upload-time", format!("\"{time}\"").as_bytes());
                }
            }
        }
        let object = start..scanner.position();
        // The document grows by less than its length.
        let path = links.path(&name, &url, url.len() + object.len());
        let encoded = name.contains(' ').then(|| name.replace(' ', "%20"));
        let (name, url) = self.store_texts(&name, &url);
        let encoded = encoded.map_or_else(|| name.clone(), |encoded| self.store_text(&encoded));
        let link = match (path, links) {
            (Some((folder, at)), _) => {
                Link { folder, rest: url.start + u32::try_from(at).unwrap_or_default()..url.end }
            }
            (None, Links::Unchanged) => Link { folder: 0, rest: url.clone() },
            (None, _) => Link { folder: 0, rest: encoded.clone() },
        };
        let provenance = provenance_value.as_ref().and_then(|place| scanner.slice(place));
        let provenance = provenance.and_then(|text| Scanner::new(text.as_bytes()).text().ok());
        let provenance = provenance.map(|url| links.resolve(url));
        let provenance = self.store_text(provenance.as_deref().filter(|url| is_url(url)).unwrap_or_default());
        Ok(Some(ParsedFile {
            object,
            url_value,
            provenance_value,
            inserted,
            is_extracted,
            name,
            encoded,
            url,
            link,
            provenance,
        }))
    }

    fn store_text(&mut self, text: &str) -> Range<u32> {
        let start = self.texts.len();
        self.texts.push_str(text);
        positions(&(start..self.texts.len()))
    }

    /// Stores the URL and the name of a file. Most URLs end with the name; the name is then stored as a range of the
    /// URL.
    fn store_texts(&mut self, name: &str, url: &str) -> (Range<u32>, Range<u32>) {
        let start = self.texts.len();
        self.texts.push_str(url);
        let end = self.texts.len();
        let name = if url.ends_with(name) {
            end - name.len()..end
        } else {
            self.texts.push_str(name);
            end..self.texts.len()
        };
        (positions(&name), positions(&(start..end)))
    }

    /// Rewrites the upstream's document for clients, in place: a link is usually shorter than the URL it replaces.
    /// `page` is the path of the page at the index. Fails if the document gets larger than 4 GiB.
    fn rewrite(&mut self, mut document: Vec<u8>, page: &str, files: &[ParsedFile]) -> Result<(), Error> {
        // Maximum number of bytes by which the write position would get ahead of the read position.
        let (mut shift_by, mut at) = (0, START.len());
        for file in files {
            let mut from = file.object.start;
            for (value, replacement) in file.replacements() {
                at += value.start - from + replacement.len(file);
                shift_by = shift_by.max(at.saturating_sub(value.end));
                from = value.end;
            }
            at += file.object.end - from + 1 + file.inserted.len();
            shift_by = shift_by.max(at.saturating_sub(file.object.end));
        }
        // Positions have 32 bits.
        if u32::try_from(at.max(document.len() + shift_by)).is_err() {
            return Err(Error::with(Kind::Limit, "the page is larger than 4 GiB"));
        }
        if shift_by > 0 {
            document.splice(0..0, std::iter::repeat_n(b' ', shift_by));
        }
        self.files.reserve_exact(files.len());
        let mut at = write_bytes(&mut document, START, 0);
        for file in files {
            let start = at;
            let (mut from, mut link) = (file.object.start, 0..0);
            for (value, replacement) in file.replacements() {
                at = move_bytes(&mut document, from + shift_by..value.start + shift_by, at);
                let start = at;
                for part in replacement.parts(file, page, &self.texts) {
                    at = write_bytes(&mut document, part.as_bytes(), at);
                }
                if matches!(replacement, Replacement::File) {
                    // Without the quotes.
                    link = start + 1..at - 1;
                }
                from = value.end;
            }
            let link = positions(&link);
            at = move_bytes(&mut document, from + shift_by..file.object.end - 1 + shift_by, at);
            at = write_bytes(&mut document, &file.inserted, at);
            at = write_bytes(&mut document, b"}", at);
            let (name, url) = (file.name.clone(), file.url.clone());
            self.files.push(FileRecord {
                object: positions(&(start..at)),
                name,
                url,
                link,
                provenance: file.provenance.clone(),
                is_extracted: file.is_extracted,
            });
            at = write_bytes(&mut document, b",", at);
        }
        document.truncate(if files.is_empty() { at } else { at - 1 });
        self.write_end(&mut document);
        self.json = document.into();
        Ok(())
    }
}

/// Positions of a file in the upstream's document.
struct ParsedFile {
    object: Range<usize>,
    /// Includes the quotes.
    url_value: Range<usize>,
    /// Present if it is a string; includes the quotes.
    provenance_value: Option<Range<usize>>,
    /// Fields that the upstream does not send, as JSON text with leading commas.
    inserted: Vec<u8>,
    /// The metadata hash was added by the proxy.
    is_extracted: bool,
    name: Range<u32>,
    /// Name as a part of a URL.
    encoded: Range<u32>,
    url: Range<u32>,
    link: Link,
    /// Empty if it is not a URL.
    provenance: Range<u32>,
}

/// Replacement of a URL.
#[derive(Clone, Copy)]
enum Replacement {
    File,
    Provenance,
    Null,
}

impl Replacement {
    fn len(self, file: &ParsedFile) -> usize {
        match self {
            Self::File => file.link.len() + 2,
            Self::Provenance => file.encoded.len() + PROVENANCE.len() + 2,
            Self::Null => 4,
        }
    }

    /// Returns slices whose concatenation is the new JSON value.
    fn parts<'t>(self, file: &ParsedFile, page: &'t str, texts: &'t str) -> [&'t str; 5] {
        match self {
            Self::File => {
                let (root, folder) = file.link.parts(page).unwrap_or_default();
                ["\"", root, folder, &texts[range(&file.link.rest)], "\""]
            }
            Self::Provenance => ["\"", &texts[range(&file.encoded)], PROVENANCE, "\"", ""],
            Self::Null => ["null", "", "", "", ""],
        }
    }
}

impl ParsedFile {
    /// Returns the values to replace, in the order of the document.
    fn replacements(&self) -> impl Iterator<Item = (&Range<usize>, Replacement)> {
        let provenance = self.provenance_value.as_ref().map(|value| {
            let is_url = !self.provenance.is_empty();
            (value, if is_url { Replacement::Provenance } else { Replacement::Null })
        });
        let is_before = |(value, _): &(&Range<usize>, Replacement)| value.start < self.url_value.start;
        let file = (&self.url_value, Replacement::File);
        let (before, after) = (provenance.filter(is_before), provenance.filter(|it| !is_before(it)));
        before.into_iter().chain([file]).chain(after)
    }
}

fn move_bytes(document: &mut [u8], from: Range<usize>, at: usize) -> usize {
    let len = from.len();
    document.copy_within(from, at);
    at + len
}

fn write_bytes(document: &mut [u8], bytes: &[u8], at: usize) -> usize {
    document[at..at + bytes.len()].copy_from_slice(bytes);
    at + bytes.len()
}

/// Converts positions to 32 bits. They fit: `check` limits the document to 2 GiB, and `rewrite` the result to 4 GiB.
pub(super) fn positions(range: &Range<usize>) -> Range<u32> {
    let position = |at| u32::try_from(at).unwrap_or(u32::MAX);
    position(range.start)..position(range.end)
}

/// Fails unless the document is UTF-8 and at most 2 GiB.
pub(super) fn check(document: &[u8]) -> Result<(), Error> {
    if let Err(error) = simdutf8::compat::from_utf8(document) {
        return Err(Error::with(Kind::Page, "not UTF-8").at(error.valid_up_to() as u64));
    }
    check_len(document.len())
}

fn check_len(len: usize) -> Result<(), Error> {
    // Positions have 32 bits, and rewriting may lengthen the document.
    match i32::try_from(len) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::with(Kind::Limit, "the page is larger than 2 GiB")),
    }
}

/// Fails unless the API version in `meta` is 1.
pub(super) fn read_version(scanner: &mut Scanner<'_>, evidence: &mut Evidence) -> Result<(), Error> {
    scanner.object(|scanner, key| match key {
        b"api-version" => {
            evidence.has_version = true;
            version(scanner).map(drop)
        }
        _ => scanner.pass(),
    })
}

fn version(scanner: &mut Scanner<'_>) -> Result<ApiVersion, Error> {
    let text = scanner.text()?;
    let minor = text.strip_prefix("1.").filter(|minor| minor.bytes().all(|byte| byte.is_ascii_digit()));
    let minor = minor.ok_or_else(|| scanner.error("unsupported API version"))?;
    // A minor version that does not fit is newer than every known one.
    Ok(ApiVersion { minor: minor.parse().unwrap_or(u8::MAX) }.min(ApiVersion::MAX))
}

/// Appends a field with a leading comma.
fn append_field(other_fields: &mut Vec<u8>, key: &[u8], scanner: &mut Scanner<'_>) -> Result<(), Error> {
    append_value(other_fields, key, scanner.raw()?);
    Ok(())
}

fn append_value(other_fields: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    other_fields.extend_from_slice(b",\"");
    other_fields.extend_from_slice(key);
    other_fields.extend_from_slice(b"\":");
    other_fields.extend_from_slice(value);
}

/// Parses the value of `project-status`: the status and its reason. Both are `None` unless it is an object.
pub(super) fn status_and_reason(value: &[u8]) -> (Option<Cow<'_, str>>, Option<Cow<'_, str>>) {
    let (mut status, mut reason) = (None, None);
    // Fails only if the value is not an object or has an invalid escape in a string.
    let _ = Scanner::new(value).object(|scanner, key| {
        match (key, scanner.peek()) {
            (b"status", Some(b'"')) => status = Some(scanner.text()?),
            (b"reason", Some(b'"')) => reason = Some(scanner.text()?),
            _ => scanner.pass()?,
        }
        Ok(())
    });
    (status, reason)
}

/// Returns whether the text may be a URL. [`Upstream`](crate::upstream) decides later whether it may be fetched.
fn is_url(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte > b' ' && byte != 0x7f)
}
