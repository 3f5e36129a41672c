//! Import of an archive into a cache.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::manifest::{
    Blob, BlobKind, DocumentEntry, FileEntry, Limits, Manifest, PageEntry, parse_digest, parse_project,
};
use super::stream::Reader;
use super::{ImportOptions, ImportReport, damaged};
use crate::error::Kind;
use crate::page_cache::{Imported, MAX_FACTS, StoredPage};
use crate::serve::Proxy;
use crate::store::{CacheArea, Digest};
use crate::upstream::{PageBody, Upstream, Validators};
use crate::{Error, upstream};

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

impl Proxy {
    /// Stores the pages and files of an archive. `progress` is called with the number of bytes read of the total.
    ///
    /// The manifest is checked before anything is stored, and every entry before it is stored. If the archive turns out
    /// to be damaged later, the entries before the damage stay in the cache; importing an intact archive adds the others.
    /// An entry that the cache has already is verified, but not stored again. Pages that the cache has in the same or a
    /// newer version are kept, so that archives can be imported in any order. Blocks the thread.
    ///
    /// # Errors
    ///
    /// Fails if the archive is damaged, truncated or of an unknown version, or has pages of an index that this proxy does
    /// not have ([`Error::is_archive`]); if an entry is larger than this proxy allows, or the files exceed
    /// [`ImportOptions::max_bytes`] ([`Error::is_limit`]); or if the cache can't be written ([`Error::is_storage`]).
    pub async fn import(
        &self,
        options: &ImportOptions,
        archive: impl Read,
        progress: impl FnMut(u64, u64),
    ) -> Result<ImportReport, Error> {
        let mut archive = BufReader::new(archive);
        let is_compressed = archive.fill_buf().map_err(unread)?.starts_with(&ZSTD_MAGIC);
        if !is_compressed {
            return Ok(self.import_tar(options, archive, progress).await?.0);
        }
        let decoder = zstd::Decoder::with_buffer(archive).map_err(unread)?.single_frame();
        let (report, decoder) = self.import_tar(options, decoder, progress).await?;
        match decoder.finish().fill_buf().map_err(unread)? {
            [] => Ok(report),
            _ => Err(damaged("unexpected bytes after the end")),
        }
    }

    async fn import_tar<R: Read>(
        &self,
        options: &ImportOptions,
        input: R,
        progress: impl FnMut(u64, u64),
    ) -> Result<(ImportReport, R), Error> {
        let (reader, manifest, digest) = Reader::new(input)?;
        let upstreams = self.importing_upstreams(options, &manifest)?;
        let blobs = manifest.blobs()?;
        let max_page = upstreams.iter().map(|upstream| upstream.max_page()).min().unwrap_or(u64::MAX);
        let limits = Limits { facts: MAX_FACTS, file: self.store().max_file(), page: max_page };
        manifest.check_sizes(limits)?;
        self.check_room(options, &blobs)?;
        let report = ImportReport {
            manifest: digest,
            pages: 0,
            kept_pages: 0,
            files: 0,
            bytes: 0,
            stored_files: 0,
            unbound_files: 0,
            cache_bytes: 0,
        };
        let mut import = Import {
            proxy: self,
            manifest: &manifest,
            upstreams: &upstreams,
            other: BTreeSet::new(),
            report,
        };
        let input = import.entries(reader, &blobs, progress)?;
        import.bind_files().await?;
        import.report.cache_bytes = self.cache_bytes();
        Ok((import.report, input))
    }

    /// Returns the upstreams for the indexes in the archive.
    fn importing_upstreams(
        &self,
        options: &ImportOptions,
        manifest: &Manifest,
    ) -> Result<Vec<Arc<Upstream>>, Error> {
        let own = self.distinct_upstreams();
        let normal = |url: &str| upstream::Config::new(url).map(|config| config.url.to_string());
        let mut indexes = BTreeMap::new();
        for (from, to) in &options.indexes {
            indexes.insert(normal(from)?, normal(to)?);
        }
        let find = |url: &String| {
            let url = indexes.get(url).unwrap_or(url);
            own.iter().find(|upstream| upstream.page_url(None).as_str() == url).cloned().ok_or_else(|| {
                damaged(format!(
                    "it has pages of {url}, which is not an index of this proxy (set index_url or extra_index_urls to it, \
                     or map it to an index with --index)"
                ))
            })
        };
        // An index without pages does not matter.
        let is_used = |index: usize| {
            manifest.pages.iter().any(|page| page.index == index)
                || manifest.documents.iter().any(|document| document.index == index)
        };
        let upstreams = manifest.indexes.iter().enumerate().map(|(index, url)| match find(url) {
            Err(error) if is_used(index) => Err(error),
            Err(_) => own.first().cloned().ok_or_else(|| damaged("this proxy has no index")),
            found => found,
        });
        let upstreams: Vec<_> = upstreams.collect::<Result<_, _>>()?;
        let used = (0..upstreams.len()).filter(|index| is_used(*index));
        let ids: BTreeSet<_> = used.clone().map(|index| upstreams[index].id()).collect();
        if ids.len() != used.count() {
            return Err(damaged("two indexes of the archive are mapped to one of this proxy"));
        }
        Ok(upstreams)
    }

    fn cache_bytes(&self) -> u64 {
        CacheArea::ALL.into_iter().map(|area| self.store().usage(area).bytes).sum()
    }

    fn check_room(&self, options: &ImportOptions, blobs: &BTreeMap<Blob, u64>) -> Result<(), Error> {
        let Some(max) = options.max_bytes else { return Ok(()) };
        // Completes the index of the folder.
        self.store().collect(None, u64::MAX)?;
        let is_new = |blob: &Blob| blob.kind == BlobKind::File && self.store().get(&blob.digest).is_none();
        let new = blobs.iter().filter(|(blob, _)| is_new(blob)).map(|(_, size)| *size);
        let needed = new.fold(self.cache_bytes(), u64::saturating_add);
        if needed > max {
            let text = format!("the cache would have {needed} bytes (set cache_size, now {max})");
            return Err(Error::with(Kind::Limit, text));
        }
        Ok(())
    }
}

struct Import<'i> {
    proxy: &'i Proxy,
    manifest: &'i Manifest,
    /// The upstream of each index in the archive.
    upstreams: &'i [Arc<Upstream>],
    /// Projects of which the cache has another page.
    other: BTreeSet<String>,
    report: ImportReport,
}

impl Import<'_> {
    /// Reads and stores all entries.
    fn entries<R: Read>(
        &mut self,
        mut reader: Reader<R>,
        blobs: &BTreeMap<Blob, u64>,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<R, Error> {
        let manifest = self.manifest;
        let pages = group(manifest.pages.iter().map(|entry| (&entry.sha256, entry)))?;
        let documents = group(manifest.documents.iter().map(|entry| (&entry.sha256, entry)))?;
        let facts = group(manifest.facts.iter().map(|entry| (&entry.sha256, &entry.project)))?;
        let total: u64 = blobs.values().fold(0, |sum, size| sum.saturating_add(*size));
        let mut done = 0;
        for (blob, size) in blobs {
            let name = blob.to_string();
            let wrong = || damaged(format!("the hash of {name} is wrong"));
            let mut count = |bytes: usize| {
                done += bytes as u64;
                progress(done, total);
            };
            if blob.kind == BlobKind::File {
                let is_new = self.proxy.store().insert(&blob.digest, *size, |sink| {
                    let found = reader.entry(&name, *size, &mut |bytes| {
                        count(bytes.len());
                        sink(bytes)
                    })?;
                    if found == blob.digest { Ok(()) } else { Err(wrong()) }
                })?;
                self.report.files += u64::from(is_new);
                self.report.stored_files += u64::from(!is_new);
                self.report.bytes += if is_new { *size } else { 0 };
                continue;
            }
            let mut content = Vec::new();
            let found = reader.entry(&name, *size, &mut |bytes| {
                count(bytes.len());
                content.extend_from_slice(bytes);
                Ok(())
            })?;
            if found != blob.digest {
                return Err(wrong());
            }
            match blob.kind {
                BlobKind::Document => {
                    for entry in documents.get(&blob.digest).into_iter().flatten() {
                        self.document(entry, &content)?;
                    }
                }
                BlobKind::Facts => {
                    for project in facts.get(&blob.digest).into_iter().flatten() {
                        if !self.proxy.pages().import_facts(&parse_project(project)?, &content)? {
                            return Err(damaged(format!("{name} is malformed")));
                        }
                    }
                }
                BlobKind::Page => {
                    for entry in pages.get(&blob.digest).into_iter().flatten() {
                        self.page(entry, &content)?;
                    }
                }
                // Handled above.
                BlobKind::File => {}
            }
        }
        reader.finish()
    }

    fn page(&mut self, entry: &PageEntry, content: &[u8]) -> Result<(), Error> {
        let upstream = &self.upstreams[entry.index];
        let project = entry.project.as_deref().map(parse_project).transpose()?;
        let validators = Validators { etag: entry.etag.clone(), last_modified: entry.last_modified.clone() };
        let reservation = upstream.budget().reserve();
        let body = PageBody {
            bytes: content.to_vec(),
            is_json: entry.is_json,
            has_page_type: true,
            is_redirected: entry.is_redirected,
            base: entry.base.as_ref().and_then(|base| base.parse().ok()).map(Box::new),
            validators,
            serial: entry.serial,
            reservation,
        };
        let page = StoredPage { body, checked: time(entry.checked), modified: time(entry.modified) };
        let imported = self.proxy.pages().import_page(upstream, project.as_ref(), page).map_err(|error| {
            if !error.is_page() {
                return error;
            }
            let name = entry.project.as_deref().unwrap_or("the list of projects");
            damaged(format!("the page of {name} is malformed")).caused_by(error)
        })?;
        match imported {
            Imported::New => self.report.pages += 1,
            Imported::Same => self.report.kept_pages += 1,
            Imported::Other => {
                self.report.kept_pages += 1;
                self.other.extend(entry.project.clone());
            }
        }
        Ok(())
    }

    fn document(&self, entry: &DocumentEntry, content: &[u8]) -> Result<(), Error> {
        let (upstream, project) = (&self.upstreams[entry.index], parse_project(&entry.project)?);
        let checked = time(entry.checked);
        self.proxy
            .pages()
            .import_document(upstream, &project, &entry.name, content, checked)?
            .map(drop)
            .ok_or_else(|| damaged(format!("the document {} is malformed", entry.name)))
    }

    /// Binds files whose page has no SHA-256 to the index and URL.
    async fn bind_files(&mut self) -> Result<(), Error> {
        let mut projects: BTreeMap<&str, Vec<&FileEntry>> = BTreeMap::new();
        for entry in &self.manifest.files {
            projects.entry(&entry.project).or_default().push(entry);
        }
        for (name, files) in projects {
            let project = parse_project(name)?;
            for proxy in self.proxy.members() {
                let Some(cached) = proxy.pages().stored_content(&project).await else { continue };
                for file in &files {
                    // A newer page may list another file by this name.
                    if !proxy.is_reference(&cached, &project, &file.name) {
                        continue;
                    }
                    if self.other.contains(name)
                        || !proxy.bind(&cached, &project, &file.name, &parse_digest(&file.sha256)?)?
                    {
                        self.report.unbound_files += 1;
                    }
                }
            }
        }
        Ok(())
    }
}

fn group<'m, T>(entries: impl Iterator<Item = (&'m String, T)>) -> Result<BTreeMap<Digest, Vec<T>>, Error> {
    let mut groups: BTreeMap<_, Vec<T>> = BTreeMap::new();
    for (sha256, entry) in entries {
        groups.entry(parse_digest(sha256)?).or_default().push(entry);
    }
    Ok(groups)
}

/// Returns a time in the past.
fn time(seconds: u64) -> SystemTime {
    let now = SystemTime::now();
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(now).min(now)
}

#[cold]
fn unread(error: io::Error) -> Error {
    damaged("it can't be read").caused_by(error)
}
