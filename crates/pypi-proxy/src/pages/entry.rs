//! A page in all its forms.

use std::fmt;
use std::io::{self, Write};
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use http::HeaderValue;
use tokio::sync::OnceCell;

use super::Held;
use super::held::Holder;
use crate::page::{File, Page, ProjectList};
use crate::{Coding, Form};

/// What there is a page of.
#[derive(Debug)]
pub(super) enum Content {
    Project {
        /// The pages of the indexes that have the project, in their order.
        parts: Vec<(usize, Arc<Page>)>,
        /// What clients get of them.
        merged: Arc<Page>,
    },
    List(Arc<ProjectList>),
}

const FORMS: usize = 2;
const CODINGS: usize = 4;

/// A page, and its forms and codings as far as somebody asked for them.
pub struct Entry {
    pub(super) content: Content,
    hash: u128,
    /// Hash of where the files are, which clients do not see.
    locations: u64,
    modified: SystemTime,
    serial: Option<u64>,
    variants: [OnceCell<Variant>; FORMS * CODINGS],
    /// How often one of its files was asked for.
    wanted: AtomicU64,
}

/// What is sent.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The bytes.
    pub body: Held,
    /// A strong tag, another for each form and coding.
    pub etag: HeaderValue,
}

impl Entry {
    pub(super) fn new(content: Content, modified: SystemTime) -> Self {
        let (json, serial) = match &content {
            Content::Project { merged, .. } => (merged.json(), merged.last_serial()),
            Content::List(list) => (list.json(), None),
        };
        let hash = xxhash_rust::xxh3::xxh3_128(json);
        let mut locations = xxhash_rust::xxh3::Xxh3Default::new();
        if let Content::Project { parts, .. } = &content {
            for (index, page) in parts {
                locations.update(&index.to_le_bytes());
                locations.update(page.locations().as_bytes());
            }
        }
        let locations = locations.digest();
        Self {
            content,
            hash,
            locations,
            modified,
            serial,
            variants: Default::default(),
            wanted: AtomicU64::new(0),
        }
    }

    /// The file of this name, and the number of the index that it is from: the first that has it.
    pub fn file(&self, name: &str) -> Option<(usize, File<'_>)> {
        let Content::Project { parts, .. } = &self.content else { return None };
        parts.iter().find_map(|(index, page)| Some((*index, page.file(name)?)))
    }

    /// Notes that one of its files was asked for.
    pub(crate) fn want(&self) {
        self.wanted.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that was so, for the pages of this project before this one as well.
    pub(super) fn wanted(&self) -> u64 {
        self.wanted.load(Ordering::Relaxed)
    }

    pub(super) fn follow(&self, before: &Self) {
        self.wanted.fetch_add(before.wanted(), Ordering::Relaxed);
    }

    /// When the page was found to be another than before.
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// The number that the index counts its changes with.
    pub fn last_serial(&self) -> Option<u64> {
        self.serial
    }

    /// Whether it has the same content as another, with its files in the same places.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.hash == other.hash && self.locations == other.locations
    }

    /// Bytes in memory.
    pub(super) fn weight(&self) -> u64 {
        let content = match &self.content {
            Content::List(list) => list.weight(),
            Content::Project { parts, merged } => {
                let own = parts.iter().filter(|(_, page)| !Arc::ptr_eq(page, merged));
                merged.weight() + own.map(|(_, page)| page.weight()).sum::<usize>()
            }
        } as u64;
        // What is not made yet is counted with what it will be about.
        let made =
            self.variants.iter().filter_map(OnceCell::get).map(|variant| variant.body.len()).sum::<u64>();
        content + made.max(content / 2)
    }

    /// The page as a client wants it. The first time it is made, on a thread for such work.
    pub async fn variant(&self, form: Form, coding: Coding) -> Variant {
        let form = if form == Form::Json { Kind::Json } else { Kind::Html };
        let cell = &self.variants[form as usize * CODINGS + coding as usize];
        if let Some(variant) = cell.get() {
            return variant.clone();
        }
        cell.get_or_init(|| async {
            let work: Box<dyn FnOnce() -> Option<Held> + Send> = match (form, &self.content) {
                (Kind::Json, content) => {
                    let json = match content {
                        Content::Project { merged, .. } => merged.json().clone(),
                        Content::List(list) => list.json().clone(),
                    };
                    Box::new(move || hold(iter::once(json), coding).ok())
                }
                (Kind::Html, Content::Project { merged, .. }) => {
                    let page = merged.clone();
                    Box::new(move || hold(iter::once(page.to_html()), coding).ok())
                }
                (Kind::Html, Content::List(list)) => {
                    let list = list.clone();
                    Box::new(move || hold(list.html(), coding).ok())
                }
            };
            let body = on_a_thread(work).await;
            Variant { body, etag: self.etag(form, coding) }
        })
        .await
        .clone()
    }

    fn etag(&self, form: Kind, coding: Coding) -> HeaderValue {
        let form = if form == Kind::Json { 'j' } else { 'h' };
        let coding = coding.content_encoding().unwrap_or("identity");
        // Digits and letters are always a value.
        HeaderValue::from_str(&format!("\"{:032x}-{form}-{coding}\"", self.hash))
            .unwrap_or_else(|_| HeaderValue::from_static("\"\""))
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("content", &self.content).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json = 0,
    Html = 1,
}

async fn on_a_thread(work: impl FnOnce() -> Option<Held> + Send + 'static) -> Held {
    match tokio::task::spawn_blocking(work).await {
        // An encoder could not be made, for want of memory.
        Ok(None) => Holder::default().finish(),
        Ok(Some(held)) => held,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, and so is whoever waits for this.
            Err(_) => Holder::default().finish(),
        },
    }
}

const LEVEL: flate2::Compression = flate2::Compression::new(4);

/// Holds what the pieces are together. A list may be long: it is never there twice.
pub(crate) fn hold(pieces: impl Iterator<Item: AsRef<[u8]>>, coding: Coding) -> io::Result<Held> {
    fn all(pieces: impl Iterator<Item: AsRef<[u8]>>, out: &mut impl Write) -> io::Result<()> {
        for piece in pieces {
            out.write_all(piece.as_ref())?;
        }
        Ok(())
    }
    let mut out = Holder::default();
    match coding {
        Coding::Identity => all(pieces, &mut out)?,
        Coding::Zstd => {
            // Hashes do not get smaller by more effort: level 1 is as small as level 19, and a tenth of the time of gzip.
            let mut encoder = zstd::Encoder::new(out, 1)?;
            all(pieces, &mut encoder)?;
            out = encoder.finish()?;
        }
        Coding::Deflate => {
            let mut encoder = flate2::write::ZlibEncoder::new(out, LEVEL);
            all(pieces, &mut encoder)?;
            out = encoder.finish()?;
        }
        Coding::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(out, LEVEL);
            all(pieces, &mut encoder)?;
            out = encoder.finish()?;
        }
    }
    Ok(out.finish())
}
