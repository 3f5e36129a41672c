//! Files on a page.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::Page;
use super::scan::{Scanner, number};
use crate::Error;
use crate::hash::{Checksum, bytes_of};

/// Position of a file in the page's document.
#[derive(Clone, Debug)]
pub(super) struct FileRecord {
    /// Range of the JSON object in the document.
    pub(super) object: Range<u32>,
    pub(super) name: Range<u32>,
    pub(super) url: Range<u32>,
    /// Range of the link in the page's document.
    pub(super) link: Range<u32>,
    /// URL of the provenance; empty for none.
    pub(super) provenance: Range<u32>,
    /// The metadata hash was added by the proxy.
    pub(super) is_extracted: bool,
}

pub(super) fn range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// A file of a [`Page`].
#[derive(Clone, Copy)]
pub struct File<'p> {
    pub(super) page: &'p Page,
    pub(super) record: &'p FileRecord,
}

impl<'p> File<'p> {
    /// Returns the file name: ASCII without characters that are special in paths or URLs. It may have spaces.
    pub fn name(&self) -> &'p str {
        &self.page.texts[range(&self.record.name)]
    }

    /// Returns the URL of the file at the upstream, absolute or relative to the upstream's page.
    pub fn url(&self) -> &'p str {
        &self.page.texts[range(&self.record.url)]
    }

    /// Returns the page of the file.
    #[cfg(feature = "proxy")]
    pub(crate) fn page(&self) -> &'p Page {
        self.page
    }

    /// Returns the link to the file for clients, relative to the page.
    pub fn link(&self) -> &'p str {
        std::str::from_utf8(&self.page.json[range(&self.record.link)]).unwrap_or_default()
    }

    /// Returns the URL of the file's provenance (PEP 740) at the upstream, absolute or relative to the upstream's page.
    pub fn provenance(&self) -> Option<&'p str> {
        let url = &self.page.texts[range(&self.record.provenance)];
        (!url.is_empty()).then_some(url)
    }

    /// Parses the other known fields. They are not stored, because they are needed for few files.
    pub fn details(&self) -> Details<'p> {
        let mut details = Details::default();
        let mut is_standard = false;
        // Parsing can fail only at an invalid escape in a string, because the syntax was checked when the page was
        // parsed.
        let _ = Scanner::new(self.object()).object(|scanner, key| {
            match key {
                b"hashes" => (details.sha256, details.checksum) = hashes(scanner)?,
                b"size" => details.size = number(scanner.raw()?),
                b"requires-python" => details.requires_python = text(scanner)?,
                b"upload-time" => details.upload_time = text(scanner)?,
                b"provenance" => details.provenance = text(scanner)?,
                b"gpg-sig" => details.has_signature = Some(scanner.raw()? == b"true"),
                b"yanked" => {
                    details.yanked = match scanner.peek() {
                        Some(b'"') => text(scanner)?,
                        _ => (scanner.raw()? == b"true").then_some(Cow::Borrowed("")),
                    }
                }
                // `core-metadata` is the standard key and takes precedence over the older ones, in any order.
                b"core-metadata" => {
                    (details.metadata, details.metadata_checksum) = metadata(scanner)?;
                    is_standard = true;
                }
                b"dist-info-metadata" | b"data-dist-info-metadata" if !is_standard => {
                    (details.metadata, details.metadata_checksum) = metadata(scanner)?;
                }
                _ => scanner.pass()?,
            }
            Ok(())
        });
        if let (true, Metadata::Present(Some(sha256))) = (self.record.is_extracted, details.metadata) {
            details.metadata = Metadata::Extracted(sha256);
        }
        details
    }

    pub(super) fn object(&self) -> &'p [u8] {
        &self.page.json[range(&self.record.object)]
    }
}

/// Known fields of a [`File`] besides its name and URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Details<'p> {
    /// SHA-256 of the content.
    pub sha256: Option<[u8; 32]>,
    /// Strongest other hash of the content, unless SHA-256 is stronger.
    pub checksum: Option<Checksum>,
    /// Length in bytes.
    pub size: Option<u64>,
    /// Compatible Python versions, as a version specifier.
    pub requires_python: Option<Cow<'p, str>>,
    /// Upload time as `yyyy-mm-ddThh:mm:ss.ffffffZ`.
    pub upload_time: Option<Cow<'p, str>>,
    /// Whether the wheel's metadata can be fetched separately, from the URL with `.metadata` appended.
    pub metadata: Metadata,
    /// Strongest other hash of the metadata, unless SHA-256 is stronger.
    pub metadata_checksum: Option<Checksum>,
    /// Reason of a yanked file, possibly empty. Installers use a yanked file only if an exact version requires it.
    pub yanked: Option<Cow<'p, str>>,
    /// Whether there is a signature at the URL with `.asc` appended.
    pub has_signature: Option<bool>,
    /// Link to the provenance on the page for clients: the file name with `.provenance` appended. [`File::provenance`] is
    /// the upstream's URL.
    pub provenance: Option<Cow<'p, str>>,
}

/// Availability of a wheel's metadata as a separate file (PEP 658).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metadata {
    /// The page does not say.
    #[default]
    Unknown,
    /// Not available.
    Absent,
    /// Available, with this SHA-256 if the page has one.
    Present(Option<[u8; 32]>),
    /// The page does not say. The proxy extracted the metadata from the wheel; this is its SHA-256.
    Extracted([u8; 32]),
}

fn text<'a>(scanner: &mut Scanner<'a>) -> Result<Option<Cow<'a, str>>, Error> {
    if scanner.peek() == Some(b'"') {
        return scanner.text().map(Some);
    }
    scanner.value()?;
    Ok(None)
}

/// Returns the SHA-256 from a JSON object of hashes.
pub(super) fn sha256(object: &[u8]) -> Option<[u8; 32]> {
    hashes(&mut Scanner::new(object)).ok()?.0
}

/// Parses an object of hashes: the SHA-256, and the strongest other hash unless SHA-256 is stronger.
fn hashes(scanner: &mut Scanner<'_>) -> Result<(Option<[u8; 32]>, Option<Checksum>), Error> {
    if scanner.peek() != Some(b'{') {
        scanner.value()?;
        return Ok((None, None));
    }
    let (mut sha256, mut strongest) = (None, None);
    scanner.object(|scanner, key| {
        match key {
            b"sha256" => sha256 = text(scanner)?.and_then(|hex| bytes_of(&hex)),
            b"md5" | b"sha1" | b"sha224" | b"sha384" | b"sha512" => {
                let algorithm = std::str::from_utf8(key).unwrap_or_default();
                let checksum = text(scanner)?.and_then(|hex| Checksum::parse(algorithm, &hex));
                strongest = strongest.max(checksum);
            }
            _ => scanner.pass()?,
        }
        Ok(())
    })?;
    Ok((sha256, strongest.filter(|strongest| sha256.is_none() || strongest.is_strong())))
}

fn metadata(scanner: &mut Scanner<'_>) -> Result<(Metadata, Option<Checksum>), Error> {
    Ok(match scanner.peek() {
        Some(b'{') => {
            let (sha256, checksum) = hashes(scanner)?;
            (Metadata::Present(sha256), checksum)
        }
        _ if scanner.raw()? == b"true" => (Metadata::Present(None), None),
        _ => (Metadata::Absent, None),
    })
}

impl fmt::Debug for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("name", &self.name())
            .field("details", &self.details())
            .finish_non_exhaustive()
    }
}
