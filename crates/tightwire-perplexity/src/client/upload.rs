//! Uploads: files that are read when a call is sent, and request bodies that report their progress.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::multipart::Form;
use super::plan::{Body, Plan};
use super::random;
use crate::error::{Error, Result};

/// Maximum bytes between two reports.
const PIECE: usize = 64 << 10;

impl Plan {
    /// Reads the file of the body into memory.
    pub(super) async fn load_file(&mut self) -> Result<()> {
        let Some((purpose, path)) = self.file.take() else { return Ok(()) };
        let content = tokio::fs::read(&path).await;
        let content = content.map_err(|error| Error::invalid("file", "cannot be read").with_source(error))?;
        let filename = path.file_name().unwrap_or_default().to_string_lossy();
        self.body = Body::Form(Form::new(&[("purpose", purpose.as_str())], &filename, &content, random())?);
        Ok(())
    }
}

/// A callback with the bytes sent so far and the total; see [`Call::on_upload`](super::Call::on_upload).
#[derive(Clone)]
pub(crate) struct UploadHook(pub(super) Arc<dyn Fn(u64, u64) + Send + Sync>);

impl fmt::Debug for UploadHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UploadHook")
    }
}

impl UploadHook {
    /// Returns a body that reports to this hook.
    pub(super) fn observe(&self, body: Bytes) -> reqwest::Body {
        let total = body.len() as u64;
        reqwest::Body::wrap(Observed { rest: body, total, hook: self.clone() })
    }
}

struct Observed {
    rest: Bytes,
    total: u64,
    hook: UploadHook,
}

impl http_body::Body for Observed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let len = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(len);
        (self.hook.0)(self.total - self.rest.len() as u64, self.total);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
