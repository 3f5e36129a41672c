//! What a page tells of a file.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::Page;
use super::checksum::{Checksum, bytes_of};
use super::json::number;
use super::scan::Scanner;
use crate::Error;

/// What is kept of a file beside its object.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// In the document of the page.
    pub(super) object: Range<u32>,
    /// In the texts of the page.
    pub(super) name: Range<u32>,
    pub(super) url: Range<u32>,
    /// Whether the metadata are made here.
    pub(super) is_made: bool,
}

pub(super) fn range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// A file of a [`Page`].
#[derive(Clone, Copy)]
pub struct File<'p> {
    pub(super) page: &'p Page,
    pub(super) record: &'p Record,
}

impl<'p> File<'p> {
    /// The name: ASCII without blanks and characters that have a meaning in paths and URLs.
    pub fn name(&self) -> &'p str {
        &self.page.texts[range(&self.record.name)]
    }

    /// Where the upstream has the file, absolute or relative to the upstream's page.
    pub fn url(&self) -> &'p str {
        &self.page.texts[range(&self.record.url)]
    }

    /// What else the upstream tells, of what is known here. It is read each time: of most files nobody asks for it.
    pub fn details(&self) -> Details<'p> {
        let mut details = Details::default();
        let mut is_standard = false;
        // The object was stepped over before, so that this can fail only for a text with an invalid escape in it.
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
                // The first of these keys is the one of the standard, whatever their order.
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
        if let (true, Metadata::Present(Some(sha256))) = (self.record.is_made, details.metadata) {
            details.metadata = Metadata::Made(sha256);
        }
        details
    }

    /// The object of the file as JSON.
    pub(super) fn object(&self) -> &'p [u8] {
        &self.page.json[range(&self.record.object)]
    }
}

/// What an upstream tells of a [`File`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Details<'p> {
    /// The SHA-256 of its content.
    pub sha256: Option<[u8; 32]>,
    /// The strongest hash of its content, if that is another than SHA-256.
    pub checksum: Option<Checksum>,
    /// Its length in bytes.
    pub size: Option<u64>,
    /// The versions of Python that it is for.
    pub requires_python: Option<Cow<'p, str>>,
    /// When it was put there, as `yyyy-mm-ddThh:mm:ss.ffffffZ`.
    pub upload_time: Option<Cow<'p, str>>,
    /// Whether the metadata of the wheel are a file of their own, with `.metadata` behind the URL.
    pub metadata: Metadata,
    /// The strongest hash of those metadata, if that is another than SHA-256.
    pub metadata_checksum: Option<Checksum>,
    /// Whether the file was withdrawn, and why: installers take it only if nothing else will do.
    pub yanked: Option<Cow<'p, str>>,
    /// Whether there is a signature, with `.asc` behind the URL.
    pub has_signature: Option<bool>,
    /// Where its attestations are.
    pub provenance: Option<Cow<'p, str>>,
}

/// What an upstream tells of the metadata of a [`File`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metadata {
    /// Nothing.
    #[default]
    Untold,
    /// They are not a file of their own.
    Absent,
    /// They are one, with this SHA-256.
    Present(Option<[u8; 32]>),
    /// It says nothing. They were read out of the wheel here, and have this SHA-256.
    Made([u8; 32]),
}

fn text<'a>(scanner: &mut Scanner<'a>) -> Result<Option<Cow<'a, str>>, Error> {
    if scanner.peek() == Some(b'"') {
        return scanner.text().map(Some);
    }
    scanner.value()?;
    Ok(None)
}

/// The SHA-256 of an object of hashes.
pub(super) fn sha256(object: &[u8]) -> Option<[u8; 32]> {
    hashes(&mut Scanner::new(object)).ok()?.0
}

/// The SHA-256, and the strongest of the other hashes unless SHA-256 is stronger.
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
