//! File source with scripted faults.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use bytes::Bytes;
use futures_util::StreamExt;
use pypi_proxy::Error;
use pypi_proxy::store::{Digest, Download, Expected, FetchState, FileSource, Key, Store};
use pypi_proxy::upstream::{FileBody, Validators};

#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Bytes before the connection breaks; `None` for all.
    pub(crate) bytes: Option<usize>,
    /// Whether it breaks with an error instead of an early end.
    pub(crate) fails: bool,
    /// Whether it starts at the requested offset instead of the start of the file.
    pub(crate) resumes: bool,
    pub(crate) chunk: usize,
    pub(crate) delay: Duration,
    pub(crate) tells_len: bool,
    pub(crate) etag: &'static str,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            bytes: None,
            fails: false,
            resumes: true,
            chunk: 10_000,
            delay: Duration::ZERO,
            tells_len: true,
            etag: "\"v1\"",
        }
    }
}

#[derive(Clone)]
pub(crate) struct ScriptedSource {
    pub(crate) content: Bytes,
    script: Arc<Mutex<VecDeque<Connection>>>,
    opened: Arc<AtomicUsize>,
}

impl ScriptedSource {
    /// Uses the connections in order. Further connections have no faults.
    pub(crate) fn new(content: impl Into<Bytes>, script: impl IntoIterator<Item = Connection>) -> Self {
        let script = Arc::new(Mutex::new(script.into_iter().collect()));
        Self { content: content.into(), script, opened: Arc::default() }
    }

    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }

    pub(crate) fn digest(&self) -> Digest {
        digest_of(&self.content)
    }

    pub(crate) fn key(&self) -> Key {
        Key::Digest(self.digest())
    }

    pub(crate) fn download(&self, store: &Store) -> Download {
        self.download_as(store, self.key(), self.expected())
    }

    /// Starts a download that expects other content.
    pub(crate) fn download_as(&self, store: &Store, key: Key, expected: Expected) -> Download {
        match store.fetch(key, expected, self.clone()) {
            FetchState::InFlight(download) => download,
            FetchState::Stored(_) => panic!("it is there already"),
        }
    }

    pub(crate) fn expected(&self) -> Expected {
        Expected { sha256: Some(self.digest()), size: Some(self.content.len() as u64), ..Expected::default() }
    }
}

pub(crate) fn digest_of(content: &[u8]) -> Digest {
    Digest(digest(&SHA256, content).as_ref().try_into().unwrap())
}

/// Pseudo-random content. It starts and ends as a ZIP archive, which is checked of wheels without a hash.
pub(crate) fn content(len: usize) -> Bytes {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ len as u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend_from_slice(&next());
    }
    bytes.truncate(len);
    const END: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    if let Some(at) = len.checked_sub(END.len()).filter(|at| *at >= 2) {
        bytes[..2].copy_from_slice(b"PK");
        bytes[at..].copy_from_slice(END);
    }
    bytes.into()
}

impl FileSource for ScriptedSource {
    async fn open(&mut self, from: u64, _known: &Validators) -> Result<FileBody, Error> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        let plan = self.script.lock().unwrap().pop_front().unwrap_or_default();
        let start = if plan.resumes { from } else { 0 };
        let rest = self.content.slice(usize::try_from(start).unwrap()..);
        let rest = rest.slice(..plan.bytes.unwrap_or(rest.len()).min(rest.len()));
        let chunks: Vec<_> = rest.chunks(plan.chunk).map(Bytes::copy_from_slice).collect();
        let stream = futures_util::stream::iter(chunks).then(move |chunk| async move {
            if !plan.delay.is_zero() {
                tokio::time::sleep(plan.delay).await;
            }
            Ok(chunk)
        });
        let failure = plan.fails.then(|| Err("{".parse::<Digest>().unwrap_err()));
        let stream = stream.chain(futures_util::stream::iter(failure));
        let len = plan.tells_len.then_some(self.content.len() as u64);
        let validators = Validators { etag: Some(plan.etag.into()), last_modified: None };
        Ok(FileBody::new(start, len, validators, stream))
    }
}
