//! Export of a cache.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;

use super::manifest::{Blob, BlobKind, DocumentEntry, FactsEntry, FileEntry, Manifest, PageEntry};
use super::stream::Writer;
use super::{ExportOptions, ExportReport, unwritten};
use crate::error::Kind;
use crate::page_cache::{DiskCache, unix_seconds};
use crate::resource::Resource;
use crate::serve::Proxy;
use crate::store::{Digest, FileFromStart};
use crate::upstream::Upstream;
use crate::{Error, ProjectName};

/// Suffixes of the files that belong to a file: itself, its metadata and signature.
const SUFFIXES: [&str; 3] = ["", ".metadata", ".asc"];

/// Compression level. Higher levels do not make wheels smaller.
const LEVEL: i32 = 3;

/// Where the content of a blob comes from.
enum Origin {
    /// The file name in the cache.
    Document(Arc<Upstream>, String),
    Facts(ProjectName),
    File,
    Page(Arc<Upstream>, Option<ProjectName>),
}

/// Contents of an archive to be written.
struct Contents {
    manifest: Manifest,
    origins: BTreeMap<Blob, Origin>,
    /// Selected files that are not stored.
    missing: Vec<(ProjectName, String)>,
}

impl Proxy {
    /// Writes the cached pages and files to an archive. `progress` is called with the number of bytes written of the
    /// total, which compression does not change.
    ///
    /// Only the disk is read: no request is sent, and rules do not apply. Blocks the thread.
    ///
    /// # Errors
    ///
    /// Fails if a selected project is not cached ([`Error::is_not_found`]), a stored file is damaged
    /// ([`Error::is_corrupt`]) or can't be read, pages are not stored on disk ([`Error::is_storage`]), or the archive can't be
    /// written ([`Error::is_archive`]). A partial archive is useless.
    pub async fn export(
        &self,
        options: &ExportOptions<'_>,
        out: impl Write,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<ExportReport, Error> {
        let Contents { manifest, origins, missing } = self.contents(options).await?;
        let blobs = manifest.blobs()?;
        let total: u64 = blobs.values().sum();
        let (digest, out) = if options.is_compressed {
            let mut encoder = zstd::Encoder::new(out, LEVEL).map_err(unwritten)?;
            encoder.include_checksum(true).map_err(unwritten)?;
            let (digest, encoder) =
                self.write(&manifest, &blobs, &origins, encoder, |done| progress(done, total))?;
            (digest, encoder.finish().map_err(unwritten)?)
        } else {
            self.write(&manifest, &blobs, &origins, out, |done| progress(done, total))?
        };
        let mut out = out;
        out.flush().map_err(unwritten)?;
        let files = || blobs.iter().filter(|(blob, _)| blob.kind == BlobKind::File);
        Ok(ExportReport {
            manifest: digest,
            pages: manifest.pages.len() as u64,
            files: files().count() as u64,
            bytes: files().map(|(_, size)| size).sum(),
            indexes: manifest.indexes,
            missing,
        })
    }

    fn write<W: Write>(
        &self,
        manifest: &Manifest,
        blobs: &BTreeMap<Blob, u64>,
        origins: &BTreeMap<Blob, Origin>,
        out: W,
        mut progress: impl FnMut(u64),
    ) -> Result<(Digest, W), Error> {
        let (mut writer, digest) = Writer::new(out, manifest)?;
        let (disk, mut done) = (self.pages().disk()?, 0);
        for (blob, size) in blobs {
            let name = blob.to_string();
            let gone = || Error::with(Kind::Storage, format!("{name} disappeared during the export"));
            let found = match origins.get(blob).ok_or_else(gone)? {
                Origin::Document(upstream, document) => {
                    let (document, _) = disk.load(upstream, document).ok_or_else(gone)?;
                    writer.entry(&name, *size, &mut &document[..])?
                }
                Origin::Facts(project) => {
                    let facts = disk.facts_json(project).ok_or_else(gone)?;
                    writer.entry(&name, *size, &mut &facts[..])?
                }
                Origin::File => {
                    let stored = self.store().get(&blob.digest).ok_or_else(gone)?;
                    writer.entry(&name, *size, &mut FileFromStart::new(&stored.file))?
                }
                Origin::Page(upstream, project) => {
                    let resource = Resource::page(project.as_ref());
                    let (_, page) = disk.load(upstream, &resource.entry()).ok_or_else(gone)?;
                    writer.entry(&name, *size, &mut &page.body.bytes[..])?
                }
            };
            if found != blob.digest {
                let text = format!("{name} is damaged (run pypi-proxy verify)");
                return Err(Error::with(Kind::Corrupt, text));
            }
            done += size;
            progress(done);
        }
        Ok((digest, writer.finish()?))
    }

    /// Returns the contents of the archive.
    async fn contents(&self, options: &ExportOptions<'_>) -> Result<Contents, Error> {
        let upstreams = self.distinct_upstreams();
        let url = |upstream: &Arc<Upstream>| upstream.page_url(None).to_string();
        let manifest = Manifest::new(upstreams.iter().map(url).collect());
        let mut contents = Contents { manifest, origins: BTreeMap::new(), missing: Vec::new() };
        let disk = self.pages().disk()?;
        let cached: BTreeSet<_> =
            upstreams.iter().flat_map(|upstream| disk.projects(upstream.id())).collect();
        let selected = match &options.projects {
            None => cached,
            Some(projects) => {
                let selected: BTreeSet<_> = projects.iter().cloned().map(Some).collect();
                if let Some(Some(project)) = selected.difference(&cached).next() {
                    let text = format!("{project} is not in the cache (download it with pypi-proxy warm)");
                    return Err(Error::with(Kind::NotFound, text));
                }
                selected
            }
        };
        for (index, upstream) in upstreams.iter().enumerate() {
            for project in &selected {
                add_page(disk, index, upstream, project.as_ref(), &mut contents);
            }
        }
        for project in selected.iter().flatten() {
            if let Some(facts) = disk.facts_json(project) {
                let digest = Digest::of(&facts);
                let blob = Blob { kind: BlobKind::Facts, digest };
                contents.origins.insert(blob, Origin::Facts(project.clone()));
                let (size, sha256) = (facts.len() as u64, digest.to_string());
                contents.manifest.facts.push(FactsEntry { project: project.to_string(), sha256, size });
            }
            self.add_files(project, options, &mut contents).await;
        }
        let manifest = &mut contents.manifest;
        manifest.documents.sort_unstable_by(|a, b| (a.index, &a.name).cmp(&(b.index, &b.name)));
        manifest.files.sort_unstable_by(|a, b| (&a.project, &a.name).cmp(&(&b.project, &b.name)));
        manifest.files.dedup_by(|a, b| (&a.project, &a.name) == (&b.project, &b.name));
        Ok(contents)
    }

    /// Adds the stored files of a project, of every proxy that shares the store.
    async fn add_files(&self, project: &ProjectName, options: &ExportOptions<'_>, contents: &mut Contents) {
        let Contents { manifest, origins, missing } = contents;
        for proxy in self.members() {
            let Some(cached) = proxy.pages().stored_content(project).await else { continue };
            for name in cached.page.file_names() {
                let sha256 = cached.page.file(name).and_then(|(_, file)| file.details().sha256).map(Digest);
                let stored = || proxy.stored_file(&cached, project, name).map(|stored| stored.digest);
                let sha256 = sha256.or_else(|| options.files.and_then(|_| stored()));
                if options.files.is_some_and(|is_selected| !is_selected(project, name, sha256.as_ref())) {
                    continue;
                }
                for suffix in SUFFIXES {
                    let name = format!("{name}{suffix}");
                    let Some(stored) = proxy.stored_file(&cached, project, &name) else {
                        if suffix.is_empty() && options.files.is_some() {
                            missing.push((project.clone(), name));
                        }
                        continue;
                    };
                    origins.insert(Blob { kind: BlobKind::File, digest: stored.digest }, Origin::File);
                    let (sha256, size) = (stored.digest.to_string(), stored.len);
                    manifest.files.push(FileEntry { project: project.to_string(), name, sha256, size });
                }
            }
        }
    }
}

fn add_page(
    disk: &DiskCache,
    index: usize,
    upstream: &Arc<Upstream>,
    project: Option<&ProjectName>,
    contents: &mut Contents,
) {
    let Contents { manifest, origins, .. } = contents;
    if let Some((_, page)) = disk.load(upstream, &Resource::page(project).entry()) {
        let digest = Digest::of(&page.body.bytes);
        origins
            .insert(Blob { kind: BlobKind::Page, digest }, Origin::Page(upstream.clone(), project.cloned()));
        manifest.pages.push(PageEntry {
            index,
            project: project.map(ToString::to_string),
            is_json: page.body.is_json,
            is_redirected: page.body.is_redirected,
            base: page.body.base.map(|base| (*base).into()),
            etag: page.body.validators.etag,
            last_modified: page.body.validators.last_modified,
            serial: page.body.serial,
            checked: unix_seconds(page.checked),
            modified: unix_seconds(page.modified),
            sha256: digest.to_string(),
            size: page.body.bytes.len() as u64,
        });
    }
    let Some(project) = project else { return };
    for name in disk.documents(upstream.id(), project) {
        let Some((document, page)) = disk.load(upstream, &name) else { continue };
        let digest = Digest::of(&document);
        origins.insert(
            Blob { kind: BlobKind::Document, digest },
            Origin::Document(upstream.clone(), name.clone()),
        );
        manifest.documents.push(DocumentEntry {
            index,
            project: project.to_string(),
            name,
            checked: unix_seconds(page.checked),
            sha256: digest.to_string(),
            size: document.len() as u64,
        });
    }
}
