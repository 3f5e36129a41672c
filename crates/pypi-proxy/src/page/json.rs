//! Reading the JSON form of a project's page.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;

use super::file::{Record, range};
use super::scan::Scanner;
use super::{ApiVersion, Page};
use crate::Error;
use crate::error::Kind;
use crate::name::is_file_name;

/// What the document that a client gets begins with. Whatever document has a list of files has as many bytes in front of
/// the first of them, so that there is room for it.
pub(super) const START: &[u8] = b"{\"files\":[";
/// Put in for files that have none: installers refuse a page without this member, which the standard demands.
const NO_HASHES: &[u8] = b",\"hashes\":{}";

impl Page {
    /// Reads a page in the form `application/vnd.pypi.simple.v1+json`.
    ///
    /// Files whose names or URLs can't be used are [skipped](Self::skipped). Everything that is not known is kept. The
    /// memory of the document becomes that of the page.
    ///
    /// # Errors
    ///
    /// Fails if it is not JSON in UTF-8, if it is of another version than 1, if a file has no name or URL, and if an object
    /// has two equal keys or a key with an escape, which clients could read as another one ([`Error::is_page`]).
    pub fn from_json(document: Vec<u8>) -> Result<Self, Error> {
        Self::from_json_with_metadata(document, |_, _| None)
    }

    /// The same, with metadata that were read out of wheels.
    ///
    /// `metadata` is called with the name and the SHA-256 of each wheel whose metadata the upstream does not mention.
    /// The SHA-256 that it returns is put on the page: [`Metadata::Made`](super::Metadata::Made).
    ///
    /// # Errors
    ///
    /// As [`Page::from_json`].
    pub fn from_json_with_metadata(
        document: Vec<u8>,
        metadata: impl Fn(&str, &[u8; 32]) -> Option<[u8; 32]>,
    ) -> Result<Self, Error> {
        check(&document)?;
        let mut page = Self::empty();
        let mut found = Vec::new();
        let mut scanner = Scanner::new(&document);
        let mut has_files = false;
        scanner.object(|scanner, key| match key {
            b"meta" => page.read_meta(scanner),
            b"name" => {
                page.name = scanner.text()?.into_owned();
                Ok(())
            }
            b"versions" => {
                let list = scanner.raw()?.strip_prefix(b"[").and_then(|list| list.strip_suffix(b"]"));
                page.versions = Some(list.ok_or_else(|| scanner.error("no list"))?.to_vec());
                Ok(())
            }
            b"files" => {
                has_files = true;
                scanner.array(|scanner| {
                    found.extend(page.read_file(scanner, &metadata)?);
                    Ok(())
                })
            }
            _ => keep(&mut page.members, key, scanner),
        })?;
        scanner.end()?;
        if !has_files {
            return Err(scanner.error("there is no list of files"));
        }
        page.rewrite(document, &found);
        Ok(page)
    }

    pub(super) fn empty() -> Self {
        Self {
            api_version: ApiVersion::MIN,
            serial: None,
            meta: Vec::new(),
            members: Vec::new(),
            name: String::new(),
            versions: None,
            files: Vec::new(),
            json: Bytes::new(),
            texts: String::new(),
            skipped: 0,
            order: OnceLock::new(),
        }
    }

    fn read_meta(&mut self, scanner: &mut Scanner<'_>) -> Result<(), Error> {
        scanner.object(|scanner, key| match key {
            b"api-version" => {
                self.api_version = version(scanner)?;
                Ok(())
            }
            b"_last-serial" => {
                self.serial = number(scanner.raw()?);
                Ok(())
            }
            _ => keep(&mut self.meta, key, scanner),
        })
    }

    /// `None` for a file that can't be used.
    fn read_file(
        &mut self,
        scanner: &mut Scanner<'_>,
        metadata: impl Fn(&str, &[u8; 32]) -> Option<[u8; 32]>,
    ) -> Result<Option<Found>, Error> {
        scanner.peek();
        let start = scanner.position();
        let (mut name, mut url) = (None, None);
        let mut url_value = 0..0;
        let mut hashes = None;
        let mut has_metadata = false;
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
                _ => {
                    has_metadata |= key.ends_with(b"-metadata");
                    scanner.value()?;
                }
            }
            Ok(())
        })?;
        let (Some(name), Some(url)) = (name, url) else {
            return Err(scanner.error("a file without name or URL"));
        };
        if !is_file_name(&name) || !is_url(&url) {
            self.skipped += 1;
            return Ok(None);
        }
        let mut made = None;
        if !has_metadata && name.ends_with(".whl") {
            let hashes = hashes.as_ref().and_then(|place| scanner.slice(place));
            let sha256 = hashes.and_then(|hashes| super::file::sha256(hashes.as_bytes()));
            made = sha256.and_then(|sha256| metadata(&name, &sha256));
        }
        let (name, url) = self.put_texts(&name, &url);
        let object = start..scanner.position();
        Ok(Some(Found { object, url_value, has_hashes: hashes.is_some(), made, name, url }))
    }

    /// Keeps the name and the URL of a file; the one is mostly part of the other.
    fn put_texts(&mut self, name: &str, url: &str) -> (Range<u32>, Range<u32>) {
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

    /// Makes of the upstream's document the one for clients, in its memory: a name is nearly always shorter than its URL.
    fn rewrite(&mut self, mut document: Vec<u8>, found: &[Found]) {
        // How far writing would be ahead of reading, at most.
        let (mut slack, mut at) = (0, START.len());
        for file in found {
            at += file.url_value.start - file.object.start + file.name.len() + 2;
            slack = slack.max(at.saturating_sub(file.url_value.end));
            at += file.object.end - file.url_value.end + 1;
            at += file.more().iter().map(|more| more.len()).sum::<usize>();
            slack = slack.max(at.saturating_sub(file.object.end));
        }
        if slack > 0 {
            document.splice(0..0, std::iter::repeat_n(b' ', slack));
        }
        self.files.reserve_exact(found.len());
        let mut at = put_bytes(&mut document, START, 0);
        for file in found {
            let start = at;
            at = shift(&mut document, file.object.start + slack..file.url_value.start + slack, at);
            at = put_bytes(&mut document, b"\"", at);
            at = put_bytes(&mut document, self.texts[range(&file.name)].as_bytes(), at);
            at = put_bytes(&mut document, b"\"", at);
            at = shift(&mut document, file.url_value.end + slack..file.object.end - 1 + slack, at);
            for more in file.more() {
                at = put_bytes(&mut document, &more, at);
            }
            at = put_bytes(&mut document, b"}", at);
            let (name, url) = (file.name.clone(), file.url.clone());
            self.files.push(Record {
                object: positions(&(start..at)),
                name,
                url,
                is_made: file.made.is_some(),
            });
            at = put_bytes(&mut document, b",", at);
        }
        document.truncate(if found.is_empty() { at } else { at - 1 });
        self.write_end(&mut document);
        self.json = document.into();
    }
}

/// Where the parts of a file are in the upstream's document.
struct Found {
    object: Range<usize>,
    /// With its quotes.
    url_value: Range<usize>,
    has_hashes: bool,
    /// The SHA-256 of metadata that the upstream does not mention.
    made: Option<[u8; 32]>,
    name: Range<u32>,
    url: Range<u32>,
}

impl Found {
    /// The members that are put in.
    fn more(&self) -> [Cow<'static, [u8]>; 2] {
        let metadata = self.made.map(|sha256| {
            let mut more = b",\"core-metadata\":{\"sha256\":\"".to_vec();
            super::render::hex(&mut more, &sha256);
            more.extend_from_slice(b"\"}");
            more
        });
        let no_hashes: &[u8] = if self.has_hashes { b"" } else { NO_HASHES };
        [no_hashes.into(), metadata.unwrap_or_default().into()]
    }
}

fn shift(document: &mut [u8], from: Range<usize>, at: usize) -> usize {
    let len = from.len();
    document.copy_within(from, at);
    at + len
}

fn put_bytes(document: &mut [u8], bytes: &[u8], at: usize) -> usize {
    document[at..at + bytes.len()].copy_from_slice(bytes);
    at + bytes.len()
}

/// The length of a document fits, and what is added to it is less than its own length.
pub(super) fn positions(range: &Range<usize>) -> Range<u32> {
    let position = |at| u32::try_from(at).unwrap_or(u32::MAX);
    position(range.start)..position(range.end)
}

/// Fails unless a document is UTF-8 and small enough for places in 32 bits.
pub(super) fn check(document: &[u8]) -> Result<(), Error> {
    if let Err(error) = simdutf8::compat::from_utf8(document) {
        return Err(Error::with(Kind::Page, "not UTF-8").at(error.valid_up_to() as u64));
    }
    // Rewriting may make it longer, by less than its own length.
    match i32::try_from(document.len()) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::with(Kind::Limit, "the size of a page")),
    }
}

/// Fails if `meta` tells of another version than 1.
pub(super) fn read_version(scanner: &mut Scanner<'_>) -> Result<(), Error> {
    scanner.object(|scanner, key| match key {
        b"api-version" => version(scanner).map(drop),
        _ => scanner.pass(),
    })
}

fn version(scanner: &mut Scanner<'_>) -> Result<ApiVersion, Error> {
    let text = scanner.text()?;
    let minor = text.strip_prefix("1.").filter(|minor| minor.bytes().all(|byte| byte.is_ascii_digit()));
    let minor = minor.ok_or_else(|| scanner.error("another version of the API"))?;
    // One with more digits is newer than all that are known.
    Ok(ApiVersion { minor: minor.parse().unwrap_or(u8::MAX) }.min(ApiVersion::MAX))
}

/// Appends a member with a comma in front.
fn keep(members: &mut Vec<u8>, key: &[u8], scanner: &mut Scanner<'_>) -> Result<(), Error> {
    let value = scanner.raw()?;
    members.extend_from_slice(b",\"");
    members.extend_from_slice(key);
    members.extend_from_slice(b"\":");
    members.extend_from_slice(value);
    Ok(())
}

pub(super) fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// What a file may be fetched from. Whether it is allowed to is decided when it is.
fn is_url(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte > b' ' && byte != 0x7f)
}
