//! A page in all formats and content codings.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::iter;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use bytes::Bytes;
use http::HeaderValue;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::document::Document;
use crate::metrics::Counter;
use crate::page::{self, Page};
use crate::store::read_at;
use crate::{Coding, Form, system};

/// Sources of a merged page, and the effect of the rules.
#[derive(Default)]
pub(super) struct Origin {
    /// Pages of the upstreams that have the project, with the upstreams' numbers.
    pub(super) parts: Vec<(usize, Arc<Page>)>,
    /// Names of files of these pages that are not on the merged page, because another upstream has the version.
    pub(super) hidden: HashSet<Box<str>>,
    /// Whether rules may refuse files of the project.
    pub(super) is_restricted: bool,
    /// Number of removed files by rule.
    pub(super) removed: Option<HeaderValue>,
    pub(super) generation: u64,
    /// Whether no request is sent to any upstream, as the page in HTML says.
    pub(super) is_offline: bool,
}

/// Estimated overhead of a name in a set, in bytes.
const HIDDEN_NAME: usize = 48;
/// Number of content codings.
const CODINGS: usize = 4;

/// A page, with the formats and content codings that were requested so far.
pub struct RenderedPage {
    /// The document for clients.
    pub(super) content: Document,
    origin: Origin,
    hash: u128,
    /// Hash of the upstream URLs, which are not part of the page that clients see.
    locations: u64,
    modified: SystemTime,
    rules_generation: AtomicU64,
    /// The variants in HTML, then those in JSON; one per content coding.
    variants: [OnceCell<Variant>; 2 * CODINGS],
    file_requests: Counter,
    pub(super) filtered: Mutex<Option<FilteredDocument>>,
}

/// A document without the files that a project's page does not list.
pub(super) struct FilteredDocument {
    pub(super) page: Weak<RenderedPage>,
    /// `None` if the page lists all files.
    pub(super) document: Option<Arc<RenderedPage>>,
}

/// Text on pages in HTML while the proxy is offline.
const OFFLINE: &[u8] = b"<p>This proxy is offline. Only cached files are available.</p>\n";

/// Response body in one format and content coding.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Encoded bytes.
    pub body: PageBytes,
    /// Strong entity tag, different for each format and coding.
    pub etag: HeaderValue,
}

impl RenderedPage {
    pub(super) fn new(content: Document, modified: SystemTime, origin: Origin) -> Self {
        let mut locations = xxhash_rust::xxh3::Xxh3Default::new();
        for (index, page) in &origin.parts {
            locations.update(&index.to_le_bytes());
            locations.update(page.locations().as_bytes());
        }
        Self {
            hash: xxhash_rust::xxh3::xxh3_128(content.json()),
            locations: locations.digest(),
            content,
            modified,
            rules_generation: AtomicU64::new(origin.generation),
            origin,
            variants: Default::default(),
            file_requests: Counter::default(),
            filtered: Mutex::default(),
        }
    }

    /// Returns the file of this name and the number of its upstream: the first one that has the file.
    pub fn file(&self, name: &str) -> Option<(usize, page::File<'_>)> {
        let hidden = &self.origin.hidden;
        if !hidden.is_empty() && hidden.contains(name) {
            return None;
        }
        self.parts().iter().find_map(|(index, page)| Some((*index, page.file(name)?)))
    }

    /// Returns the pages of the upstreams that have the project, with the upstreams' numbers.
    pub(crate) fn parts(&self) -> &[(usize, Arc<Page>)] {
        &self.origin.parts
    }

    /// Returns a page with the files of one upstream.
    pub(crate) fn only(&self, part: &(usize, Arc<Page>)) -> Self {
        let (parts, is_restricted) = (vec![part.clone()], self.is_restricted());
        let origin = Origin { parts, is_restricted, ..Origin::default() };
        Self::new(Document::Project(part.1.clone()), self.modified, origin)
    }

    /// Returns a page of a project that no upstream has.
    pub(crate) fn nothing() -> Self {
        let content = Document::Project(Arc::new(Page::empty()));
        Self::new(content, SystemTime::UNIX_EPOCH, Origin::default())
    }

    pub(super) fn is_project(&self) -> bool {
        matches!(self.content, Document::Project(_))
    }

    /// Returns the numbers of the upstreams whose pages were merged.
    pub(super) fn indexes(&self) -> impl Iterator<Item = usize> {
        self.parts().iter().map(|(index, _)| *index)
    }

    /// Returns the names of all files. A file of several upstreams occurs several times.
    pub(crate) fn file_names(&self) -> impl Iterator<Item = &str> {
        self.parts().iter().flat_map(|(_, page)| page.files().map(|file| file.name()))
    }

    pub(crate) fn count_file_request(&self) {
        self.file_requests.add(1);
    }

    /// Returns the number of file requests, including those of earlier versions of this page.
    pub(super) fn file_requests(&self) -> u64 {
        self.file_requests.get()
    }

    pub(super) fn inherit_counts(&self, before: &Self) {
        self.file_requests.add(before.file_requests());
    }

    /// Returns when the content last changed.
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// Returns the upstream's serial number of the page, if it sends one.
    pub fn last_serial(&self) -> Option<u64> {
        self.content.serial()
    }

    /// Returns whether rules may refuse files of the project, so that each request has to be checked.
    pub(crate) fn is_restricted(&self) -> bool {
        self.origin.is_restricted
    }

    /// Returns how many files each rule removed, such as `min_age=2, yanked=1`; `None` if it is none.
    pub fn removed(&self) -> Option<&HeaderValue> {
        self.origin.removed.as_ref()
    }

    /// Number of changes of the rules when they were last applied.
    pub(super) fn rules_generation(&self) -> u64 {
        self.rules_generation.load(Ordering::Relaxed)
    }

    /// Records that the same page was created with the current rules.
    pub(super) fn confirm_rules(&self, newer: &Self) {
        self.rules_generation.store(newer.rules_generation(), Ordering::Relaxed);
    }

    /// Returns whether the content, the file URLs and the effect of the rules are the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.locations == other.locations
            && (self.is_restricted(), self.removed()) == (other.is_restricted(), other.removed())
    }

    pub(super) fn size_in_memory(&self) -> u64 {
        let content = match &self.content {
            Document::List(list) => list.size_in_memory(),
            // With the filtered document.
            Document::Json { json, .. } => 2 * json.len() + size_of::<Self>(),
            Document::Project(merged) => {
                let own = self.parts().iter().filter(|(_, page)| !Arc::ptr_eq(page, merged));
                let own = own.map(|(_, page)| page.size_in_memory()).sum::<usize>();
                let hidden = self.origin.hidden.iter().map(|name| name.len() + HIDDEN_NAME);
                merged.size_in_memory() + own + hidden.sum::<usize>()
            }
        } as u64;
        // Variants that are not encoded yet are estimated at half of the content.
        let encoded =
            self.variants.iter().filter_map(OnceCell::get).map(|variant| variant.body.len()).sum::<u64>();
        content + encoded.max(content / 2)
    }

    /// Returns the page in this format and coding. The first call encodes it on a blocking thread.
    pub async fn variant(&self, form: Form, coding: Coding) -> Variant {
        let is_json = form == Form::Json;
        let cell = &self.variants[usize::from(is_json) * CODINGS + coding as usize];
        if let Some(variant) = cell.get() {
            return variant.clone();
        }
        let is_offline = self.origin.is_offline;
        cell.get_or_init(|| async {
            let work: Box<dyn FnOnce() -> Option<PageBytes> + Send> = match &self.content {
                Document::Project(page) if !is_json => {
                    let page = page.clone();
                    Box::new(move || encode(with_notice(iter::once(page.to_html()), is_offline), coding).ok())
                }
                Document::List(list) if !is_json => {
                    let list = list.clone();
                    Box::new(move || encode(with_notice(list.html(), is_offline), coding).ok())
                }
                content => {
                    let json = content.json().clone();
                    Box::new(move || encode(iter::once(json), coding).ok())
                }
            };
            let body = encode_on_thread(work).await;
            Variant { body, etag: self.etag(is_json, coding) }
        })
        .await
        .clone()
    }

    fn etag(&self, is_json: bool, coding: Coding) -> HeaderValue {
        let form = match (is_json, self.origin.is_offline) {
            (true, _) => 'j',
            (false, false) => 'h',
            (false, true) => 'o',
        };
        let coding = coding.content_encoding().unwrap_or("identity");
        // Hexadecimal digits and letters are always a valid header value.
        HeaderValue::from_str(&format!("\"{:032x}-{form}-{coding}\"", self.hash))
            .unwrap_or_else(|_| HeaderValue::from_static("\"\""))
    }
}

impl fmt::Debug for RenderedPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderedPage").field("content", &self.content).finish_non_exhaustive()
    }
}

/// Adds a notice to a page in HTML.
fn with_notice(chunks: impl Iterator<Item = Vec<u8>>, is_offline: bool) -> impl Iterator<Item = Vec<u8>> {
    const BODY: &[u8] = b"<body>\n";
    let mut is_due = is_offline;
    chunks.map(move |mut chunk| {
        // Names before the body are escaped.
        if is_due && let Some(at) = memchr::memmem::find(&chunk, BODY) {
            let at = at + BODY.len();
            chunk.splice(at..at, OFFLINE.iter().copied());
            is_due = false;
        }
        chunk
    })
}

async fn encode_on_thread(work: impl FnOnce() -> Option<PageBytes> + Send + 'static) -> PageBytes {
    match system::spawn_blocking(work).await {
        // The encoder could not allocate its memory.
        Ok(None) => PageBuffer::default().finish(),
        Ok(Some(bytes)) => bytes,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, together with all tasks that wait for this.
            Err(_) => PageBuffer::default().finish(),
        },
    }
}

const GZIP_LEVEL: flate2::Compression = flate2::Compression::new(4);

/// Encodes the concatenated chunks without a copy of the whole: a project list may be large.
pub(crate) fn encode(chunks: impl Iterator<Item: AsRef<[u8]>>, coding: Coding) -> io::Result<PageBytes> {
    fn fill<W: Write>(mut out: W, chunks: impl Iterator<Item: AsRef<[u8]>>) -> io::Result<W> {
        for chunk in chunks {
            out.write_all(chunk.as_ref())?;
        }
        Ok(out)
    }
    let out = PageBuffer::default();
    let out = match coding {
        Coding::Identity => fill(out, chunks)?,
        // Level 1 is as small as level 19, because hashes do not compress, and takes a tenth of the time of gzip.
        Coding::Zstd => fill(zstd::Encoder::new(out, 1)?, chunks)?.finish()?,
        Coding::Deflate => fill(flate2::write::ZlibEncoder::new(out, GZIP_LEVEL), chunks)?.finish()?,
        Coding::Gzip => fill(flate2::write::GzEncoder::new(out, GZIP_LEVEL), chunks)?.finish()?,
    };
    Ok(out.finish())
}

/// Minimum size for a memory file: below it, copying is cheaper than `sendfile`.
const MEMORY_FILE_MIN: usize = 32 * 1024;
/// Maximum memory files at a time, because the process may be limited to few open files.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MAX_MEMORY_FILES: usize = 256;

static MEMORY_FILES: AtomicUsize = AtomicUsize::new(0);

/// Bytes of an encoded page: on the heap or, if they are many and the system is Linux, in a memory file (`memfd`) that
/// the kernel sends without a copy.
#[derive(Clone, Debug)]
pub struct PageBytes(Storage);

#[derive(Clone, Debug)]
enum Storage {
    Bytes(Bytes),
    File(Arc<MemoryFile>, u64),
}

impl PageBytes {
    /// Returns the length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a page is not empty")]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Storage::Bytes(bytes) => bytes.len() as u64,
            Storage::File(_, len) => *len,
        }
    }

    /// Returns the bytes. Those of a memory file are copied.
    ///
    /// # Errors
    ///
    /// Fails if the file can't be read.
    pub fn bytes(&self) -> io::Result<Bytes> {
        match &self.0 {
            Storage::Bytes(bytes) => Ok(bytes.clone()),
            Storage::File(file, len) => {
                // As long as bytes that were in memory.
                let mut bytes = vec![0; usize::try_from(*len).unwrap_or_default()];
                read_at(&file.file, &mut bytes, 0)?;
                Ok(bytes.into())
            }
        }
    }

    pub(crate) fn into_parts(self) -> Result<Bytes, (Arc<MemoryFile>, u64)> {
        match self.0 {
            Storage::Bytes(bytes) => Ok(bytes),
            Storage::File(file, len) => Err((file, len)),
        }
    }
}

#[derive(Default)]
pub(super) struct PageBuffer {
    /// Content until the memory file is created.
    bytes: Vec<u8>,
    file: Option<MemoryFile>,
    len: u64,
    has_failed: bool,
}

impl PageBuffer {
    pub(super) fn finish(self) -> PageBytes {
        match self.file {
            Some(file) => PageBytes(Storage::File(Arc::new(file), self.len)),
            None => PageBytes(Storage::Bytes(self.bytes.into())),
        }
    }
}

impl Write for PageBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_none() && !self.has_failed && self.bytes.len() + bytes.len() >= MEMORY_FILE_MIN {
            self.file = MemoryFile::new(&self.bytes);
            self.has_failed = self.file.is_none();
            if self.file.is_some() {
                self.bytes = Vec::new();
            }
        }
        if let Some(file) = &mut self.file
            && file.file.write_all(bytes).is_err()
        {
            // Memory files are exhausted: continue on the heap.
            self.bytes = vec![0; usize::try_from(self.len).unwrap_or_default()];
            read_at(&file.file, &mut self.bytes, 0)?;
            (self.file, self.has_failed) = (None, true);
        }
        if self.file.is_none() {
            self.bytes.extend_from_slice(bytes);
        }
        self.len += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file without a disk (`memfd`).
#[derive(Debug)]
pub(crate) struct MemoryFile {
    file: File,
}

impl MemoryFile {
    /// Creates a file with these bytes, or `None` if there are too many files or the system refuses.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn new(bytes: &[u8]) -> Option<Self> {
        use rustix::fs::{MemfdFlags, memfd_create};

        // From here on, dropping the file reduces the count.
        let more = |count| (count < MAX_MEMORY_FILES).then_some(count + 1);
        MEMORY_FILES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        let created = memfd_create("page", MemfdFlags::CLOEXEC).ok();
        let Some(file) = created.map(File::from) else {
            MEMORY_FILES.fetch_sub(1, Ordering::Relaxed);
            return None;
        };
        let mut memory = Self { file };
        memory.file.write_all(bytes).ok().map(|()| memory)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn new(_: &[u8]) -> Option<Self> {
        None
    }

    pub(crate) fn as_file(&self) -> &File {
        &self.file
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        MEMORY_FILES.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_are_stored_in_memory_files() {
        for (len, is_file) in
            [(0, false), (MEMORY_FILE_MIN - 1, false), (MEMORY_FILE_MIN, cfg!(target_os = "linux"))]
        {
            let bytes: Bytes = (0..len).map(|at| (at % 251) as u8).collect();
            let mut buffer = PageBuffer::default();
            bytes.chunks(1000).for_each(|chunk| buffer.write_all(chunk).unwrap());
            let page = buffer.finish();
            assert_eq!((page.len(), page.bytes().unwrap()), (len as u64, bytes));
            assert_eq!(page.into_parts().is_err(), is_file);
        }
    }
}
